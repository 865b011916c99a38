"""What helps a small agent to learn: another agent's weights, and the expert's soft labels."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.envs.driving import expert
from wiser.envs.driving.tasks import ACCELERATIONS
from wiser.train.warmstart import carry_over

STEERS = (-0.9, -0.3, 0.0, 0.3, 0.9)


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
    assert torch.equal(model.fusion.towers[0](obs["front"]), source.fusion.towers[0](obs["front"]))
    assert torch.equal(model.decode(belief)["range"], source.decode(belief)["range"])
    assert torch.equal(model.fusion.vectors.projection.weight, source.fusion.vectors.projection.weight)


def test_other_vectors_have_a_tower_of_their_own() -> None:
    source, model = tiny.model((tiny.vector("range", 3),), seed=1), tiny.model((tiny.vector("speed", 3),), seed=2)
    before = [p.clone() for p in model.fusion.parameters()]
    carry_over(model, source)
    assert all(torch.equal(a, b) for a, b in zip(before, model.fusion.parameters(), strict=True))


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
