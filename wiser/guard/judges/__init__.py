"""Ways to trust, one file each; `judge.py` says what they have in common."""

from collections.abc import Collection

from wiser.guard.calibration import Calibration, beside
from wiser.guard.judges.calibrated import Calibrated
from wiser.guard.judges.chain import Chain
from wiser.guard.judges.exhaustive import Exhaustive
from wiser.guard.judges.greedy import Greedy
from wiser.guard.judges.judge import Equipped, Evidence, Judge, Measuring, Meter, Ruling, Sitting
from wiser.guard.judges.random_mask import RandomMask
from wiser.guard.judges.rejection import Rejection
from wiser.guard.judges.trust_all import TrustAll
from wiser.guard.judges.witnesses import Witnesses
from wiser.guard.scores import is_given
from wiser.worldmodel.protocol import WorldModel

__all__ = [
    "AUTO",
    "JUDGES",
    "Calibrated",
    "Chain",
    "Equipped",
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
    "Witnesses",
    "find_judge",
    "judge_by_name",
    "measuring_judges",
    "preferred_judge",
]

JUDGES: dict[str, Judge] = {
    "none": TrustAll(),
    "greedy": Greedy(),
    "exhaustive": Exhaustive(),
    "calibrated": Calibrated(),
    "witnesses": Witnesses(),
    "random": RandomMask(),
    "reject": Rejection(),
    "predict": Rejection(score="either", denoiser=None, transitions="keep"),
}
"""Those that go by a name. Add your own."""

AUTO = "auto"
"""Stands for the first of `PREFERRED`, or `PREFERRED_ALONE`, whose needs a calibration meets."""
PREFERRED = ("witnesses", "calibrated", "greedy")
"""For several sensors, the best first. The last needs no calibration."""
PREFERRED_ALONE = ("predict", "none")
"""For a single sensor, which can only be believed or not."""


def find_judge(
    judge: str | Judge, model: WorldModel, calibration: Calibration | None = None
) -> tuple[Judge, Calibration | None]:
    """The judge that a name stands for with this model, and a calibration: the one given, else that beside the weights.

    The latter is looked for only where it matters.
    """
    if calibration is None and (judge == AUTO or judge_by_name(judge).needs):
        calibration = beside(model.folder, model.digest)
    return judge_by_name(preferred_judge(model, calibration) if judge == AUTO else judge), calibration


def preferred_judge(model: WorldModel, calibration: Calibration | None) -> str:
    """What `auto` stands for: the name of the model's best judge that can work with this calibration, or without."""
    known = calibration.scores.keys() if calibration else ()
    names = PREFERRED if len(model.sensors) > 1 else PREFERRED_ALONE
    return next(name for name in names if _can_work(JUDGES[name], model, known))


def _can_work(judge: Judge, model: WorldModel, known: Collection[str]) -> bool:
    """Whether everything is known that a judge needs; what the model cannot give is not missed, unless that is all."""
    given = [need for need in judge.needs if is_given(model, need)]
    return all(need in known for need in given) and bool(given) == bool(judge.needs)


def measuring_judges() -> list[Measuring]:
    """Those of `JUDGES` that have statistics of their own to record in a calibration."""
    return [judge for judge in JUDGES.values() if isinstance(judge, Measuring)]


def judge_by_name(judge: str | Judge) -> Judge:
    """Resolve a name from `JUDGES`, or pass an object through."""
    if not isinstance(judge, str):
        return judge
    if judge not in JUDGES:
        raise ValueError(f"unknown judge {judge!r}; choose from {', '.join((*JUDGES, AUTO))} or pass an object")
    return JUDGES[judge]
