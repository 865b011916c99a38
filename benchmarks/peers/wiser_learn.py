"""Ours on a small task: `wiser.train.loop.train` with the presets `nano pure`, the recipe and the networks set.

Image towers are convolutions as published, so that both contenders have the same networks; no expert, no cloning, no
augmentation, every step decoded and imagined from. Steps are counted as the trainer takes them: where an environment is
reset by a step of its own, that step counts, though it is no transition.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from serve import parameter_count
from small_tasks import EPISODES, Curve, Options, options

import wiser
from wiser.train.config import TrainConfig, stack
from wiser.train.loop import build_model, train


def configuration(run: Options) -> TrainConfig:
    """The recipe in our words. Evaluations come at the ends of segments, so these are as long."""
    recipe = run.recipe
    every = recipe.every // (recipe.rows * recipe.steps_per_update)
    return replace(
        stack(["nano", "pure"]),
        env=run.task,
        tower="conv",
        seed=run.seed,
        updates=recipe.updates,
        rows=recipe.rows,
        steps_per_update=recipe.steps_per_update,
        prefill=recipe.prefill,
        batch=recipe.batch,
        length=recipe.length,
        learning_rate=recipe.rate,
        warmup=recipe.warmup,
        segment=every,
        evaluate_every=every,
        evaluate_episodes=EPISODES,
        threads=1,
    )


def main() -> None:
    run = options()
    recipe, config = run.recipe, configuration(run)
    curve = Curve(run, f"wiser {wiser.__version__}", parameter_count(build_model(config)))

    def report(entry: dict[str, Any]) -> None:
        if "score" in entry:
            steps = recipe.begin + entry["update"] * recipe.rows * recipe.steps_per_update
            curve.add(steps, entry["score"], entry.get("scores"))

    with tempfile.TemporaryDirectory() as folder:
        train(config, Path(folder), report)
    curve.close()


if __name__ == "__main__":
    main()
