"""HRSSM in whole runs: presets, other agents' weights, going on, and whether anything is learnt."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import wiser
from tests import fake_world, tiny
from wiser.guard import Guard
from wiser.train import log
from wiser.train.config import TrainConfig, stack
from wiser.train.loop import Run, build_model, train
from wiser.train.variants.hrssm import HRSSM

SMALL = replace(
    stack(["nano", "hrssm"]), env=fake_world.VECTOR, rows=2, batch=4, length=8, prefill=20, capacity=400, updates=6,
    segment=6, life=100, warmup=0, imagine_steps=3, evaluate_every=100, evaluate_episodes=1, log_every=1, threads=1,
    mask_patch=4, cloning=1.0, cloning_floor=1.0, reward_scale=0.01,
)  # fmt: skip


def test_the_preset_stacks_on_driving() -> None:
    config = stack(["driving/four-lane", "driving/single", "nano", "hrssm"])
    assert (config.variant, config.sensors, config.size) == ("hrssm", ("birdeye_wpt",), "nano")
    assert (config.dynamics_scale, config.representation_scale, config.cloning) == (0.5, 0.1, 5.0)
    model = build_model(config)
    assert model.decodes == ()
    assert not any(name.startswith("decoders") for name in model.state_dict())
    assert build_model(replace(config, variant="base")).decodes == ("birdeye_wpt",)


def test_an_agent_without_a_decoder_starts_from_one_that_has_one() -> None:
    config = stack(["driving/stop-sign", "driving/single", "nano", "hrssm"])
    model, source = build_model(replace(config, start="stop-sign/dropout")), wiser.load("stop-sign/dropout")
    place = [sensor.name for sensor in source.sensors].index("birdeye_wpt")
    for ours, theirs in ((model.fusion.towers[0], source.fusion.towers[place]), (model.actor, source.actor)):
        for name, value in ours.state_dict().items():
            assert torch.equal(value, theirs.state_dict()[name])
    slow = HRSSM(config, model).target.fusion.towers[0].embed.weight
    assert torch.equal(slow, model.fusion.towers[0].embed.weight), "and so does the target branch"


@pytest.mark.parametrize("settings", [
    {"mask_share": 1.1}, {"mask_patch": 0}, {"mask_steps": 0}, {"match_size": 0}, {"target_rate": -0.1},
    {"match_scale": -1.0}, {"reward_span": float("nan")}, {"bisimulation_discount": float("inf")},
])  # fmt: skip
def test_settings_that_cannot_be_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        TrainConfig(**settings)


def test_a_run_resumes_exactly(tmp_path) -> None:
    whole = Run(SMALL, tmp_path / "whole")
    whole.segment(lambda line: None)
    for _ in range(3):
        part = Run(replace(SMALL, segment=2), tmp_path / "parts")
        part.segment(lambda line: None)
        part.save()
        part.close()
    assert whole.update == part.update == 6
    for name, module in whole.learner.modules.items():
        found = part.learner.modules[name].state_dict()
        assert found.keys() == module.state_dict().keys()
        for key, value in module.state_dict().items():
            assert torch.equal(value, found[key]), f"{name}.{key}"
    assert float(whole.learner.variant.span.batches) == 6
    whole.close()


def test_a_small_agent_learns_in_the_fake_world_and_acts_from_its_folder(tmp_path) -> None:
    config = replace(SMALL, updates=60, segment=60, learning_rate=1e-3, evaluate_every=60, log_every=10)
    train(config, tmp_path, lambda line: None)
    lines = [line for line in log.read(tmp_path) if "rate" in line]
    assert all(np.isfinite(value) for line in lines for value in line.values() if isinstance(value, float))
    assert not any(name.startswith("decode/") for name in lines[0])

    def loss(line: dict[str, float]) -> float:
        parts = ("reward", "continue", "match", "bisimulation", "cloning")
        return sum(line[name] for name in parts) + 0.5 * line["dynamics"] + 0.1 * line["representation"]

    first, last = (np.mean([loss(line) for line in some]) for some in (lines[:2], lines[-2:]))
    assert last < 0.8 * first
    for term in ("reward", "match", "bisimulation"):
        assert lines[-1][term] < lines[0][term], term
    model = wiser.load(tmp_path / "model")
    assert model.decodes == ()
    sensors, _ = fake_world.described()
    _, verdict = Guard(model, "none").act(tiny.observation(sensors, np.random.default_rng(0)))
    assert np.isfinite(verdict.surprise)
