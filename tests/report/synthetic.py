"""Ledgers nobody had to sweep for: cells with the scores, surprise and verdicts that a test asks for."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wiser.evaluate import Cell, Detection, Episode, Histogram, Ledger
from wiser.evaluate.contenders import CONTENDERS
from wiser.evaluate.ledger import LEDGER
from wiser.evaluate.records import CLEAN

SENSORS = ("camera", "lidar")
CLEAN_FIELDS = {"disturbance": CLEAN, "intensity": 0.0, "proportion": 0.0, "failures": 0}


def detection(surprise: float, faulty: bool, caught: bool = True, steps: int = 10) -> Detection:
    """An episode of equal steps; a faulty one has its first sensor broken all along, caught at once or never."""
    values, none = Histogram.of([surprise] * steps), Histogram()
    return Detection(
        sensors=SENSORS,
        clean_steps=0 if faulty else steps,
        faulty_steps=steps if faulty else 0,
        alarms=0,
        sensor_alarms=(0, 0),
        exact=steps if faulty and caught else 0,
        hits=steps if faulty and caught else 0,
        distrusted=steps if faulty and caught else 0,
        broken=steps if faulty else 0,
        delays=(0,) if faulty and caught else (),
        missed=(steps - 1,) if faulty and not caught else (),
        surprise_clean=none if faulty else values,
        surprise_faulty=values if faulty else none,
        score_healthy=values,
        score_broken=values if faulty else none,
    )


def cell(**changes) -> Cell:
    fields = {
        "task": "StopSign", "agent": "stop-sign/dropout@0123", "contender": "confident", "disturbance": "glare",
        "intensity": 1.0, "proportion": 1.0, "failures": 1, "seed": 0, "episodes": 3, **changes,
    }  # fmt: skip
    known = CONTENDERS.get(fields["contender"])
    fields.setdefault("treatment", f"{known.treatment if known else 'own'}@0123")
    return Cell(**(fields | CLEAN_FIELDS if fields["failures"] == 0 else fields))


def add(
    folder: Path,
    scores: Sequence[float],
    surprise: Sequence[float] | None = None,
    caught: bool = True,
    seconds: float = 1.0,
    measures: dict[str, Sequence[float]] | None = None,
    **changes,
) -> None:
    """Write one cell with an episode per score; episode i has the environment's seed 100 * seed + i."""
    asked = cell(**changes)
    surprise = [1.0] * len(scores) if surprise is None else surprise
    episodes = [
        Episode(
            index=i,
            env_seed=100 * asked.seed + i,
            fault_seed=asked.seed,
            failed=("camera",) if asked.failures else (),
            score=score,
            length=10,
            outcome="over",
            measures={name: values[i] for name, values in (measures or {}).items()},
            detection=detection(surprise[i], asked.failures > 0, caught),
        )
        for i, score in enumerate(scores)
    ]
    Ledger.open(folder / LEDGER).write(asked, episodes, seconds)


def multi(folder: Path, tasks=("FourLane", "StopSign"), faults=("glare", "lag"), failures=range(6), episodes=8):
    """Scores that fall with failures, fast without a guard and slowly with one."""
    rng = np.random.default_rng(0)
    keeps = {"base": 0.55, "augmented": 0.65, "dropout": 0.72, "rme": 0.75, "confident": 0.97, "exhaustive": 0.98}
    for task in tasks:
        top = {"FourLane": 1050, "RightTurn": 320, "StopSign": 240}[task]
        for method, kept in keeps.items():
            clean = top * (0.93 if method == "rme" else 1.0)
            for fault in faults:
                pace = {"lag": 1.6, "gaussian": 0.4, "chrome": 0.6}.get(fault, 1.0)
                for failed in failures:
                    scores = clean * kept ** (pace * failed) * rng.normal(1, 0.12, episodes) - 8 * failed
                    faulty = failed > 0
                    add(
                        folder, scores.tolist(), rng.gamma(2 + 3 * faulty, 1.0, episodes).tolist(),
                        caught=method in ("confident", "exhaustive"), seconds=float(rng.uniform(0.5, 0.8)), task=task,
                        contender=method, disturbance=fault, failures=failed, agent=f"{task}/{method}@0123",
                    )  # fmt: skip


def single(folder: Path, tasks=("FourLane",), faults=("chrome", "glare"), episodes=6):
    """Surfaces over intensity and proportion that fall towards their far corner."""
    rng = np.random.default_rng(1)
    for task in tasks:
        for method, loss in {"single": 2.4, "filter": 1.9, "reject": 0.7}.items():
            add(folder, rng.normal(900, 40, episodes).tolist(), task=task, contender=method, failures=0)
            for place, fault in enumerate(faults):
                for intensity in (0.625, 0.75, 0.875, 1.0):
                    for proportion in (0.5, 0.625, 0.75, 0.875):
                        mean = 900 * (1 - loss * (1 + 0.2 * place) * intensity**2 * (proportion - 0.3) ** 1.2)
                        add(
                            folder, (mean + rng.normal(0, 60, episodes)).tolist(), task=task, contender=method,
                            disturbance=fault, intensity=intensity, proportion=proportion,
                        )  # fmt: skip


def rising(folder: Path, tasks=("StopSign",), faults=("gaussian", "glare"), episodes=8):
    """Surprise that grows with intensity."""
    rng = np.random.default_rng(2)
    for task in tasks:
        add(folder, [200.0] * episodes, rng.gamma(3, 1, episodes).tolist(), task=task, contender="dropout", failures=0)
        for place, fault in enumerate(faults):
            for intensity in (0.25, 0.5, 0.75, 1.0):
                surprise = rng.gamma(3, 1, episodes) * (1 + (1 + place) * intensity**1.5)
                add(
                    folder, [100.0] * episodes, surprise.tolist(), task=task, contender="dropout", disturbance=fault,
                    intensity=intensity, failures=5,
                )  # fmt: skip
