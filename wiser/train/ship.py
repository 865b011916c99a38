"""`python -m wiser.train.ship RUN NAME`: make a finished run a shipped agent, measured and calibrated, with a card."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tyro
import yaml

from wiser import seeds
from wiser.envs.domain import domain_of, find_task, measures_of, references
from wiser.rollout import calibrate
from wiser.rollout.home import TRAINING
from wiser.threads import use_threads
from wiser.train import checkpoint, log
from wiser.train.config import TrainConfig
from wiser.train.score import evaluate
from wiser.worldmodel.store import SHIPPED, load, save

EVALUATION_SEED, CALIBRATION_SEED = seeds.SHIPPING.start, seeds.CALIBRATION.start


def ship(
    run: Path,
    name: str,
    command: str,
    episodes: int = 100,
    rows: int = 16,
    steps: int = 1000,
    threads: int | None = None,
    into: Path = SHIPPED,
) -> Path:
    """Copy a run's agent to `models/NAME` at half precision, then measure and calibrate that copy.

    Args:
        run: the folder of a finished run.
        name: what the agent is called: task/variant.
        command: the command that trained it, for the card.
        episodes: clean episodes of the final evaluation.
        rows: environments of the calibration.
        steps: steps of each of them.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
        into: another folder than that of the shipped agents.
    """
    use_threads(threads)
    config = checkpoint.config_of(run)
    if log.read(run)[-1]["update"] < config.updates:
        raise ValueError(f"{run} is not finished: wiser train --resume {run}")
    folder = save(load(run / "model"), into / name, half=True)
    model = load(folder)
    result = evaluate(config, model, episodes, EVALUATION_SEED)
    calibrate(model, config.env, rows, steps, seed=CALIBRATION_SEED, options=config.env_options).save(folder)
    (folder / TRAINING).write_text(yaml.safe_dump(config.to_dict(), sort_keys=False))
    (folder / "README.md").write_text(card(name, command, config, result, episodes, hours(run, config)))
    print(f"{folder}: {json.dumps(result)}")
    return folder


def hours(run: Path, config: TrainConfig) -> float:
    """Time spent between the first and the last log line of every segment, from their rates."""
    entries = log.read(run)
    seconds = [config.log_every * config.batch * config.length / entry["rate"] for entry in entries if "rate" in entry]
    return sum(seconds) / 3600


def card(name: str, command: str, config: TrainConfig, result: dict[str, float], episodes: int, spent: float) -> str:
    """Everything one should know before using the agent."""
    task = find_task(config.env)
    half = 1.96 * result["score_std"] / np.sqrt(episodes)
    help_from_expert = (
        f"{config.expert_share:.0%} of the environments at first; "
        f"cloning weight {config.cloning} fading to {config.cloning_floor}"
    )
    share = "not known: nobody measured a random policy and an expert here"
    if references(config.env) is not None:
        middle, low, high = (task.normalise(result["score"] + side * half) for side in (0, -1, 1))
        share = f"{middle:.2f} ({low:.2f} to {high:.2f})"
    declared = measures_of(config.env)
    further = "".join(f"| {m.title} | {m.text(result[name])} |\n" for name, m in declared.items() if name in result)
    summed = "".join(f"| {name} | {result[name]:.2f} |\n" for name in domain_of(config.env).summaries)
    chance = f"{result['random_score']:.1f}" if "random_score" in result else "not known"
    return f"""# {name}

| | |
| --- | --- |
| trained by | `{command}` |
| started from | {config.start or "new weights"} |
| seed | {config.seed} |
| updates | {config.updates:,} of {config.batch} x {config.length} steps |
| environment steps | {config.updates * config.rows * config.steps_per_update:,} |
| time | {spent:.1f} h |
| sensors | {", ".join(config.sensors) or "all"} |
| help from the expert | {help_from_expert} |
| clean score | {result["score"]:.1f} ± {half:.1f} (95 %), {episodes} episodes from seed {EVALUATION_SEED} |
| score of a random policy | {chance} |
| expert-normalised | {share} |
{summed}{further}
`training.yaml`: every setting of that run. Stored at half precision; measured as stored.
`calibration.json`: clean statistics from seed {CALIBRATION_SEED}.
"""


if __name__ == "__main__":
    tyro.cli(ship)
