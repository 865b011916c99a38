"""Every term of the world model's loss, and where its gradient goes, against formulas written out by hand."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tests import tiny
from tests.train.test_unroll import SENSORS, part_of, sequences
from wiser.train.config import TrainConfig
from wiser.train.losses import world_model_loss
from wiser.train.unroll import Sequences, Unrolled, observe
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.protocol import Belief


def learning_model(seed: int = 0) -> DreamerV3:
    return tiny.model(SENSORS, seed=seed).requires_grad_(True)


def unrolled_from(model: DreamerV3, batch: Sequences) -> Unrolled:
    masks = torch.ones(*batch.first.shape, len(SENSORS), dtype=torch.bool)
    return observe(model, batch, masks, torch.Generator().manual_seed(0))


def gradients(model: DreamerV3, loss: Tensor) -> dict[str, Tensor]:
    """Of every weight; zero where the loss does not reach it."""
    names, weights = zip(*model.named_parameters(), strict=True)
    found = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True, materialize_grads=True)
    return dict(zip(names, found, strict=True))


def pull_of(term: str, model: DreamerV3, batch: Sequences, unrolled: Unrolled, free_nats: float) -> dict[str, Tensor]:
    """Gradient of one KL term: what its weight of 1 adds to the gradient of the whole loss."""

    def whole(scale: float) -> dict[str, Tensor]:
        scales = {"dynamics_scale": 0.0, "representation_scale": 0.0, f"{term}_scale": scale}
        total, _ = world_model_loss(TrainConfig(free_nats=free_nats, **scales), model, batch, unrolled, slice(0, 1))
        return gradients(model, total)

    with_it, without = whole(1.0), whole(0.0)
    return {name: with_it[name] - without[name] for name in with_it}


def reached(pull: dict[str, Tensor]) -> set[str]:
    return {name.split(".")[0] for name, gradient in pull.items() if gradient.abs().max() > 1e-6}


def first_step() -> Sequences:
    """One step of each row: nothing before it that a gradient could flow back to."""
    batch = sequences()
    return part_of(batch, slice(1))


def test_dynamics_trains_the_prior_and_representation_the_posterior() -> None:
    model, batch = learning_model(), first_step()
    unrolled = unrolled_from(model, batch)
    assert reached(pull_of("dynamics", model, batch, unrolled, 0.0)) == {"gru", "prior"}
    assert reached(pull_of("representation", model, batch, unrolled, 0.0)) == {"gru", "posterior", "fusion"}


@pytest.mark.parametrize("free", ["none", "half", "all"])
@pytest.mark.parametrize("term", ["dynamics", "representation"])
def test_each_kl_term_holds_one_side_still(term: str, free: str) -> None:
    """The exact gradient, through time as well: q ln(q / p) summed, the other side being mere numbers."""
    model, batch = learning_model(), sequences()
    unrolled = unrolled_from(model, batch)
    fixed_q, fixed_p = torch.tensor(unrolled.posterior.tolist()), torch.tensor(unrolled.prior.tolist())
    q, p = (fixed_q, unrolled.prior) if term == "dynamics" else (unrolled.posterior, fixed_p)
    nats = torch.stack([(q[..., s, :].exp() * (q[..., s, :] - p[..., s, :])).sum(-1) for s in range(6)]).sum(0)
    free_nats = {"none": 0.0, "half": nats.median().item() + 1e-3, "all": 1e6}[free]
    pressed = nats.detach() > free_nats
    assert int(pressed.sum()) == {"none": 18, "half": 9, "all": 0}[free]
    expected = gradients(model, (nats * pressed).sum() / pressed.numel())
    found = pull_of(term, model, batch, unrolled, free_nats)
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, atol=2e-4, rtol=1e-3, msg=name)
    if free == "all":
        assert reached(found) == set(), "below the free nats nothing is pressed"


def two_hot(value: float, bins: np.ndarray) -> np.ndarray:
    above = int(np.searchsorted(bins, value))
    share = (value - bins[above - 1]) / (bins[above] - bins[above - 1])
    weights = np.zeros(len(bins))
    weights[above - 1], weights[above] = 1 - share, share
    return weights


def test_reward_continuation_and_vectors_by_hand() -> None:
    model, batch = tiny.model(SENSORS), sequences(rows=2, steps=3)
    unrolled = unrolled_from(model, batch)
    _, terms = world_model_loss(TrainConfig(), model, batch, unrolled)
    x = features(unrolled.belief)

    even = np.linspace(-20, 20, 255)
    bins = np.sign(even) * np.expm1(np.abs(even))
    logits = model.reward(x).double().numpy()
    logprobs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    losses = [-two_hot(float(batch.signals["reward"][i]), bins) @ logprobs[i] for i in np.ndindex(2, 3)]
    assert float(terms["reward"]) == pytest.approx(np.mean(losses), rel=1e-4)

    alive = 1 / (1 + np.exp(-model.proceed(x).double().numpy()))
    truth = batch.proceed.numpy()
    assert set(truth.ravel()) == {0.0, 1.0}
    assert float(terms["continue"]) == pytest.approx(-np.log(np.where(truth == 1, alive, 1 - alive)).mean(), rel=1e-4)

    speed = model.decode(Belief(unrolled.belief.deter.flatten(0, 1), unrolled.belief.stoch.flatten(0, 1)))["speed"]
    logs = [np.sign(v) * np.log1p(np.abs(v)) for v in (speed.numpy(), batch.obs["speed"].flatten(0, 1).numpy())]
    assert float(terms["decode/speed"]) == pytest.approx(((logs[0] - logs[1]) ** 2).sum(1).mean(), rel=1e-4)


def test_only_the_steps_asked_for_are_decoded() -> None:
    model, batch = tiny.model(SENSORS), sequences(rows=2, steps=3)
    unrolled = unrolled_from(model, batch)
    some = torch.tensor([4, 1])  # row 1 step 1, row 0 step 1
    _, whole = world_model_loss(TrainConfig(), model, batch, unrolled)
    _, part = world_model_loss(TrainConfig(), model, batch, unrolled, some)
    errors = []
    for row, step in ((1, 1), (0, 1)):
        decoded = model.decode(Belief(unrolled.belief.deter[row, step, None], unrolled.belief.stoch[row, step, None]))
        errors.append(float(((decoded["camera"] - batch.obs["camera"][row, step] / 255) ** 2).sum()))
    assert float(part["decode/camera"]) == pytest.approx(np.mean(errors), rel=1e-4)
    assert part["dynamics"] == whole["dynamics"], "all steps count for the other terms"
    assert part["reward"] == whole["reward"]


def test_a_continue_head_that_learns_the_discount_by_hand() -> None:
    """Soft targets: 0.75 where life goes on and 0 where it ended, each against both outcomes."""
    model, batch = tiny.model(SENSORS), sequences(rows=2, steps=3)
    unrolled = unrolled_from(model, batch)
    _, terms = world_model_loss(TrainConfig(discount_horizon=4.0, continue_discount=True), model, batch, unrolled)
    _, plain = world_model_loss(TrainConfig(discount_horizon=4.0), model, batch, unrolled)
    alive = 1 / (1 + np.exp(-model.proceed(features(unrolled.belief)).double().numpy()))
    target = 0.75 * batch.proceed.numpy()
    assert set(target.ravel()) == {0.0, 0.75}
    by_hand = -(target * np.log(alive) + (1 - target) * np.log(1 - alive)).mean()
    assert float(terms["continue"]) == pytest.approx(by_hand, rel=1e-4)
    assert float(terms["continue"]) != pytest.approx(float(plain["continue"]), rel=1e-3)
    assert terms["reward"] == plain["reward"]
