"""What helps a small agent to learn: another's weights, soft labels, greedy environments, a stronger pull."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.envs.driving import expert
from wiser.envs.driving.tasks import ACCELERATIONS
from wiser.train.collect import Collector, replay_fields
from wiser.train.config import stack
from wiser.train.learner import Learner, scale_gradient
from wiser.train.loop import build_model
from wiser.train.replay import Replay
from wiser.train.warmstart import carry_over

STEERS = (-0.9, -0.3, 0.0, 0.3, 0.9)
CONFIG = replace(
    stack(["driving/stop-sign", "nano", "base", "driving/single"]), rows=4, batch=4, length=8, capacity=400, threads=1
)


def test_an_agent_takes_over_what_belongs_to_its_sensors() -> None:
    front, side, range_finder = tiny.image("front"), tiny.image("side"), tiny.vector("range")
    source, model = tiny.model((front, side, range_finder), seed=1), tiny.model((range_finder, front), seed=2)
    carry_over(model, source)
    rng = np.random.default_rng(0)
    obs = tiny.tensors(tiny.batch((front, side, range_finder), 3, rng))
    belief = source.initial(3)
    first = torch.ones(3, dtype=torch.bool)
    action = torch.zeros(3, source.actions.size)
    ours, theirs = (m.predict(belief, action, first) for m in (model, source))
    assert torch.equal(ours.logprobs, theirs.logprobs)
    assert torch.equal(model.fusion.towers[1](obs["front"]), source.fusion.towers[0](obs["front"]))
    assert torch.equal(model.decode(belief)["range"], source.decode(belief)["range"])


def test_a_sensor_the_other_does_not_know_keeps_its_own_weights() -> None:
    source, model = tiny.model((tiny.image("front"),), seed=1), tiny.model((tiny.image("rear"),), seed=2)
    before = [p.clone() for p in model.fusion.parameters()]
    carry_over(model, source)
    assert all(torch.equal(a, b) for a, b in zip(before, model.fusion.parameters(), strict=True))
    assert torch.equal(model.gru.gates.weight, source.gru.gates.weight)


def test_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="another size"):
        carry_over(tiny.model((tiny.image("front"),)), tiny.model((tiny.image("front"),), deter=64))


def test_soft_labels_have_the_mean_of_the_command_and_agree_with_the_nearest_action() -> None:
    rng = np.random.default_rng(0)
    commands = np.stack([rng.uniform(-3, 3, 200), rng.uniform(-1, 1, 200)], 1)
    soft = expert.to_probabilities(commands, STEERS).reshape(200, 3, 5)
    np.testing.assert_allclose(soft.sum((1, 2)), 1.0, atol=1e-6)
    assert ((soft > 0).sum((1, 2)) <= 4).all()
    pedal = (soft.sum(2) * np.array(ACCELERATIONS)).sum(1)
    np.testing.assert_allclose(pedal, (commands[:, 0] * expert.EAGER).clip(-2, 2), atol=1e-5)
    wheel = (soft.sum(1) * np.array(STEERS)).sum(1)
    np.testing.assert_allclose(wheel, commands[:, 1].clip(-0.9, 0.9), atol=1e-5)
    nearest = expert.to_discrete(commands, STEERS)
    np.testing.assert_array_equal(soft.reshape(200, 15).argmax(1), nearest)


def test_gradients_are_scaled_and_values_are_not() -> None:
    x = torch.randn(5, requires_grad=True)
    y = scale_gradient(x, 30.0)
    y.sum().backward()
    assert torch.equal(y, x)
    assert torch.equal(x.grad, torch.full((5,), 30.0))


def test_the_last_environments_act_greedily() -> None:
    model = build_model(CONFIG)
    torch.manual_seed(0)
    with torch.no_grad():
        model.actor.out.weight.normal_()
    replay = Replay(replay_fields(model), CONFIG.rows, CONFIG.capacity)
    collector = Collector(replace(CONFIG, greedy_share=0.5), model, replay, seed=0)
    acted = []
    for _ in range(12):
        collector.step(0.0)
        acted.append((collector.action, model.act(collector.guard.belief).argmax(1).numpy()))
    chosen, modes = np.stack([a for a, _ in acted]), np.stack([m for _, m in acted])
    assert (chosen[:, 2:] == modes[:, 2:]).all()
    assert (chosen[:, :2] != modes[:, :2]).any()


def test_a_share_of_imagination_learns_too() -> None:
    model = build_model(CONFIG)
    replay = Replay(replay_fields(model), CONFIG.rows, CONFIG.capacity)
    collector = Collector(CONFIG, model, replay, seed=0)
    for _ in range(20):
        collector.step(0.5)
    learner = Learner(replace(CONFIG, imagine_share=0.5, decode_share=0.5), model)
    before = model.actor.out.weight.clone()
    terms = learner.update(replay, np.random.default_rng(0), 0)
    assert all(torch.isfinite(value) for value in terms.values())
    assert not torch.equal(before, model.actor.out.weight)
