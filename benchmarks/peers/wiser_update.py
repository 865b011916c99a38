"""Ours: `Learner.update` as the training loop calls it, drawing from the replay and writing beliefs back included."""

from __future__ import annotations

import numpy as np
from serve import ACTIONS, IMAGE, SIZES, arguments, experience, parameter_count, serve

import wiser
from wiser.train.config import TrainConfig
from wiser.train.experience import replay_fields
from wiser.train.learner import Learner
from wiser.train.memory import keep_freed_memory
from wiser.train.replay import Replay
from wiser.worldmodel import Actions, Sensor
from wiser.worldmodel.dreamer import DreamerConfig, DreamerV3
from wiser.worldmodel.dreamer.config import Tower


def build(size: str, batch: int, length: int, tower: Tower = "conv") -> tuple[Learner, Replay]:
    """A new model of that size and a replay that holds one batch of random experience."""
    shape = DreamerConfig.of_size(size, (Sensor("image", IMAGE),), Actions(ACTIONS), tower=tower)
    assert all(getattr(shape, name) == value for name, value in SIZES[size].items()), "the sizes are not the peers'"
    model, config = DreamerV3(shape), TrainConfig(size=size, batch=batch, length=length)
    replay = Replay(replay_fields(config, model), batch, batch * (length + 1))
    steps, names = experience(batch, length + 1), {"image": "sensor/image", "reward": "signal/reward"}
    for t in range(length + 1):
        step = {names.get(name, name): value[:, t] for name, value in steps.items()}
        step["proceed"] = np.ones(batch, bool)
        step |= {"deter": np.zeros((batch, shape.deter)), "stoch": np.zeros((batch, shape.stoch))}
        replay.add(step, length)
    return Learner(config, model), replay


def main() -> None:
    options = arguments("--strided")
    keep_freed_memory()
    learner, replay = build(options.size, options.batch, options.length, "strided" if options.strided else "conv")
    rng = np.random.default_rng(0)
    count = parameter_count(learner.model)
    serve(lambda: learner.update(replay, rng, 0), version=f"wiser {wiser.__version__}", parameters=count)


if __name__ == "__main__":
    main()
