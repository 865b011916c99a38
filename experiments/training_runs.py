"""Train base, dropout and single-sensor agents of the three driving tasks again, with another seed.

The agents of seed S end in FOLDER/seed-S/TASK/VARIANT, measured and calibrated as shipped ones are; a plan, or `wiser
sweep --training-runs`, names that folder. With `--resets` single-sensor agents are trained so that they know what a
context reset leaves them with, from those of FOLDER/seed-S, into FOLDER/resets-S. What is finished is not trained
again; what was stopped goes on.
Run: python experiments/training_runs.py --seeds 1 2 [--agents stop-sign/dropout ...] [--folder runs]
     python experiments/training_runs.py --seeds 0 --resets --start models
     python experiments/training_runs.py --seeds 1 2 --resets
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from wiser.train.ship import ship

ALONE, HYBRID = "base driving/single", "hrssm driving/single --fresh-share 1"
RESETS = "--fresh-share 0.5 "  # half of the sequences begin from nothing, as after a context reset
RECIPES = {  # variant, agent to start from, updates; in an order in which every start is there already
    "stop-sign/dropout": ("dropout", "", 800),
    "stop-sign/base": ("base", "stop-sign/dropout", 800),
    "stop-sign/single": (ALONE, "stop-sign/dropout", 800),
    "stop-sign/hrssm": (HYBRID, "stop-sign/dropout", 400),
    "right-turn/base": ("base", "stop-sign/dropout", 2500),
    "right-turn/dropout": ("dropout", "right-turn/base", 1500),
    "right-turn/single": (ALONE, "right-turn/base", 1000),
    "right-turn/hrssm": (HYBRID, "right-turn/base", 1000),
    "four-lane/dropout": ("dropout", "right-turn/dropout", 3000),
    "four-lane/base": ("base", "four-lane/dropout", 2000),
    "four-lane/single": (ALONE, "four-lane/dropout", 1500),
    "four-lane/hrssm": (HYBRID, "four-lane/dropout", 1500),
}


def train(name: str, seed: int, folder: Path, start: str, resets: bool) -> None:
    """Train one agent, or go on, and ship it into the seed's folder."""
    home = folder / f"seed-{seed}"
    place = folder / f"resets-{seed}" if resets else home
    run, model = place / "training" / name.replace("/", "-"), place / name
    if (model / "README.md").is_file():
        return
    variant, other, updates = RECIPES[name]
    first = f"--start {f'{start or home}/{other}'} " if other else ""
    told = f"{RESETS * resets}--updates {updates} --seed {seed} --threads 1 --segment 250 --precision medium"
    words = f"driving/{name.partition('/')[0]} nano {variant} {first}{told}".split()
    new = ["--resume", str(run)] if (run / "config.yaml").is_file() else [*words, "--out", str(run)]
    subprocess.run([sys.executable, "-m", "wiser", "train", *new], check=True)
    ship(run, name, f"wiser train {' '.join(words)}", threads=1, into=place)


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--agents", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--start", default="", help="start from the agents there; by default from those of the seed")
    parser.add_argument("--resets", action="store_true", help="single-sensor agents that know context resets")
    options = parser.parse_args()
    wanted = [name for name in options.agents if not options.resets or RECIPES[name][0] == ALONE]
    for name in (name for name in RECIPES if name in wanted):
        for seed in options.seeds:
            train(name, seed, options.folder, options.start, options.resets)


if __name__ == "__main__":
    main()
