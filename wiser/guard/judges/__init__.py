"""Ways to trust, one file each; `judge.py` says what they have in common."""

from wiser.guard.judges.calibrated import Calibrated
from wiser.guard.judges.chain import Chain
from wiser.guard.judges.exhaustive import Exhaustive
from wiser.guard.judges.greedy import Greedy
from wiser.guard.judges.judge import Evidence, Judge, Measuring, Meter, Ruling, Sitting
from wiser.guard.judges.random_mask import RandomMask
from wiser.guard.judges.rejection import Rejection
from wiser.guard.judges.trust_all import TrustAll

__all__ = [
    "JUDGES",
    "Calibrated",
    "Chain",
    "Evidence",
    "Exhaustive",
    "Greedy",
    "Judge",
    "Measuring",
    "Meter",
    "RandomMask",
    "Rejection",
    "Ruling",
    "Sitting",
    "TrustAll",
    "judge_by_name",
]

JUDGES: dict[str, Judge] = {
    "none": TrustAll(),
    "greedy": Greedy(),
    "exhaustive": Exhaustive(),
    "calibrated": Calibrated(),
    "random": RandomMask(),
    "reject": Rejection(),
    "predict": Rejection(score="either", denoiser=None, transitions="keep"),
}
"""Those that go by a name. Add your own."""


def judge_by_name(judge: str | Judge) -> Judge:
    """Resolve a name from `JUDGES`, or pass an object through."""
    if not isinstance(judge, str):
        return judge
    if judge not in JUDGES:
        raise ValueError(f"unknown judge {judge!r}; choose from {', '.join(JUDGES)} or pass an object")
    return JUDGES[judge]
