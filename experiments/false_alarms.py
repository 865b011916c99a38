"""How many readings of sound sensors do the witnesses suspect, how many do they mask? From the clean cells of a sweep.

Suspicion above 1 is suspicion; intervals resample episodes.
Run: python experiments/false_alarms.py results/driving/start
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from wiser.evaluate.histogram import bin_of
from wiser.evaluate.ledger import Ledger
from wiser.evaluate.records import CLEAN


def share(part: list[int], whole: list[int], resamples: int = 4000) -> str:
    """In 1,000, with a 95 % bootstrap interval."""
    parts, wholes, rng = np.array(part, float), np.array(whole, float), np.random.default_rng(0)
    drawn = rng.integers(len(parts), size=(resamples, len(parts)))
    low, high = np.quantile(1000 * parts[drawn].sum(1) / wholes[drawn].sum(1), (0.025, 0.975))
    return f"{1000 * parts.sum() / wholes.sum():5.1f} [{low:.1f}, {high:.1f}]"


def main(folder: Path) -> None:
    """Print a line per task."""
    with TemporaryDirectory() as spare:
        ledger = Ledger.of(folder, restored=Path(spare))
        for row in sorted(ledger.cells(), key=lambda row: row["task"]):
            if row["disturbance"] != CLEAN or not row["treatment"].startswith("witnesses@"):
                continue
            found = [episode.detection for episode in ledger.episodes(row["key"])]
            readings = [one.clean_steps * len(one.sensors) for one in found]
            suspected = [sum(one.score_healthy.counts[int(bin_of(1.0)) :]) for one in found]
            masked = [sum(one.sensor_alarms) for one in found]
            print(f"{row['task']:10s} suspected {share(suspected, readings)}, masked {share(masked, readings)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
