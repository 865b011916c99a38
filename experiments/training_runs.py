"""Train the agents of a list of recipes, one after another, with any seed.

Agents end in FOLDER/NAME-SEED/TASK/VARIANT, measured and calibrated as shipped ones are; a plan, or `wiser sweep
--training-runs`, names FOLDER/NAME-SEED. An agent that another one starts from is looked for there, too, or in --start.
What is finished is not trained again; what was stopped goes on.
Run, with R for python experiments/training_runs.py:
     R experiments/runs/driving.yaml --seeds 1 2 [--agents stop-sign/dropout ...]
     R experiments/runs/driving-resets.yaml --name resets --seeds 0 --start models
     R experiments/runs/driving-resets.yaml --name resets --seeds 1 --start runs/seed-1
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import yaml

from wiser.train.ship import ship

TOLD = "--threads 1 --segment 250 --precision medium"


def train(name: str, recipe: str, seed: int, place: Path, start: Path) -> None:
    """Train one agent, or go on, and ship it into a folder of its kind."""
    run, model = place / "training" / name.replace("/", "-"), place / name
    if (model / "README.md").is_file():
        return
    words = recipe.replace("--start ", f"--start {start}/").split() + f"--seed {seed} {TOLD}".split()
    new = ["--resume", str(run)] if (run / "config.yaml").is_file() else [*words, "--out", str(run)]
    subprocess.run([sys.executable, "-m", "wiser", "train", *new], check=True)
    ship(run, name, f"wiser train {' '.join(words)}", threads=1, into=place)


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", type=Path, help="a YAML file: agent: what `wiser train` is told")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--agents", nargs="+", help="only these")
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--name", default="seed")
    parser.add_argument("--start", type=Path, help="folder with agents to start from; by default those trained here")
    options = parser.parse_args()
    recipes = yaml.safe_load(options.recipes.read_text())
    if unknown := set(options.agents or ()) - set(recipes):
        parser.error(f"no recipe for {', '.join(sorted(unknown))}; there are {', '.join(recipes)}")
    for name, recipe in recipes.items():
        for seed in options.seeds if not options.agents or name in options.agents else ():
            place = options.folder / f"{options.name}-{seed}"
            train(name, recipe, seed, place, options.start or place)


if __name__ == "__main__":
    main()
