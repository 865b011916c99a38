"""The unroll over sequences equals stepping through the seam, and its gradients go where they should."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.train.config import TrainConfig
from wiser.train.losses import world_model_loss
from wiser.train.unroll import Sequences, observe, straight_through
from wiser.train.variants import dropout_masks
from wiser.train.warmstart import start_at_mean
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.latents import one_hot_mode, one_hot_sample
from wiser.worldmodel.protocol import Belief

SENSORS = (tiny.image("camera"), tiny.image("thermal"), tiny.vector("speed"))


def sequences(rows: int = 3, steps: int = 6, seed: int = 0) -> Sequences:
    rng = np.random.default_rng(seed)
    obs = {s.name: np.stack([tiny.batch(SENSORS, steps, rng)[s.name] for _ in range(rows)]) for s in SENSORS}
    first = torch.zeros(rows, steps, dtype=torch.bool)
    first[:, 0], first[1, steps // 2] = True, True
    action = torch.nn.functional.one_hot(torch.from_numpy(rng.integers(0, 5, (rows, steps))), 5).float()
    reward = torch.from_numpy(rng.normal(0, 10, (rows, steps))).float()
    return Sequences(tiny.tensors(obs), {"reward": reward}, action, first, (~first).float())


def part_of(batch: Sequences, piece: slice) -> Sequences:
    """Some of the steps."""
    named = ({name: x[:, piece] for name, x in values.items()} for values in (batch.obs, batch.signals))
    return Sequences(*named, batch.action[:, piece], batch.first[:, piece], batch.proceed[:, piece])


@pytest.mark.parametrize("fusion", ["late", "channels"])
def test_equals_stepping_through_the_seam(fusion: str) -> None:
    model, batch = tiny.model(SENSORS, fusion=fusion), sequences()
    masks = dropout_masks((3, 6), 3, torch.Generator().manual_seed(1))
    unrolled = observe(model, batch, masks, torch.Generator().manual_seed(2))
    noise = torch.rand((6, 3, model.config.stoch), generator=torch.Generator().manual_seed(2))
    belief = model.initial(3)
    for t in range(6):
        prior = model.predict(belief, batch.action[:, t], batch.first[:, t])
        features = model.embed({name: x[:, t] for name, x in batch.obs.items()})
        posterior = model.infer(prior, features, masks[:, t, None])[:, 0]
        belief = Belief(prior.deter, one_hot_sample(posterior, noise[t]))
        torch.testing.assert_close(unrolled.belief.deter[:, t], prior.deter)
        torch.testing.assert_close(unrolled.prior[:, t], prior.logprobs)
        torch.testing.assert_close(unrolled.posterior[:, t], posterior)
        torch.testing.assert_close(unrolled.belief.stoch[:, t], belief.stoch)


def test_masked_sensors_are_not_looked_at_but_are_still_targets() -> None:
    model, batch = tiny.model(SENSORS), sequences()
    masks = torch.ones(3, 6, 3, dtype=torch.bool)
    masks[..., 0] = False
    other = batch._replace(obs={**batch.obs, "camera": 255 - batch.obs["camera"]})
    seen = [observe(model, b, masks, torch.Generator().manual_seed(0)) for b in (batch, other)]
    assert torch.equal(seen[0].posterior, seen[1].posterior)
    terms = [world_model_loss(TrainConfig(), model, b, s)[1] for b, s in zip((batch, other), seen, strict=True)]
    assert terms[0]["decode/camera"] != terms[1]["decode/camera"], "the target is the real reading"
    assert terms[0]["decode/thermal"] == terms[1]["decode/thermal"]


def test_continuing_from_a_belief_equals_one_long_sequence() -> None:
    model, batch = tiny.model(SENSORS), sequences()
    masks = torch.ones(3, 6, 3, dtype=torch.bool)
    generator = torch.Generator().manual_seed(4)
    first = observe(model, part_of(batch, slice(0, 3)), masks[:, :3], generator)
    start = Belief(first.belief.deter[:, -1], first.belief.stoch[:, -1])
    second = observe(model, part_of(batch, slice(3, 6)), masks[:, 3:], generator, start)
    whole = observe(model, batch, masks, torch.Generator().manual_seed(4))
    torch.testing.assert_close(torch.cat([first.posterior, second.posterior], 1), whole.posterior)


def test_loss_terms_by_hand() -> None:
    model, batch = tiny.model(SENSORS), sequences(rows=2, steps=2)
    masks = torch.ones(2, 2, 3, dtype=torch.bool)
    unrolled = observe(model, batch, masks, torch.Generator().manual_seed(0))
    total, terms = world_model_loss(TrainConfig(), model, batch, unrolled)
    q, p = unrolled.posterior.numpy(), unrolled.prior.numpy()
    nats = (np.exp(q) * (q - p)).sum((-1, -2))
    assert float(terms["dynamics"]) == pytest.approx(np.maximum(1, nats).mean(), rel=1e-5)
    assert float(terms["representation"]) == pytest.approx(np.maximum(1, nats).mean(), rel=1e-5)
    decoded = model.decode(Belief(unrolled.belief.deter.flatten(0, 1), unrolled.belief.stoch.flatten(0, 1)))
    gap = decoded["camera"].numpy() - batch.obs["camera"].flatten(0, 1).numpy() / 255
    assert float(terms["decode/camera"]) == pytest.approx((gap**2).sum((1, 2, 3)).mean(), rel=1e-4)
    weights = {name: 0.1 if name == "representation" else 1.0 for name in terms}
    assert float(total) == pytest.approx(sum(weights[name] * float(value) for name, value in terms.items()), rel=1e-5)


def test_samples_are_one_hot_and_have_the_gradient_of_the_probabilities() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(5, 6, 4, generator=generator, requires_grad=True)
    logprobs = torch.log_softmax(logits, -1)
    drawn = straight_through(logprobs, torch.rand(5, 6, generator=generator))
    assert torch.equal(drawn.detach().round(), one_hot_mode(drawn.detach()))
    torch.testing.assert_close(drawn.detach(), drawn.detach().round())
    pull = torch.randn(5, 6, 4, generator=generator)
    found, expected = (torch.autograd.grad((x * pull).sum(), logits, retain_graph=True)[0] for x in
                       (drawn, torch.softmax(logits, -1)))  # fmt: skip
    torch.testing.assert_close(found, expected)


def test_what_is_decoded_teaches_the_towers() -> None:
    """Through the latent, which is the only way from a reading to its own reconstruction at the first step."""
    model, batch = tiny.model(SENSORS).requires_grad_(True), sequences(rows=3, steps=1)
    unrolled = observe(model, batch, torch.ones(3, 1, 3, dtype=torch.bool), torch.Generator().manual_seed(0))
    config = TrainConfig(dynamics_scale=0.0, representation_scale=0.0)
    world_model_loss(config, model, batch, unrolled)[0].backward()
    for part in (*model.fusion.towers, model.fusion.vectors, model.posterior):
        assert all(parameter.grad.abs().max() > 0 for parameter in part.parameters())


@pytest.mark.parametrize("tower", ["conv", "patch"])
def test_decoders_start_at_the_mean_colour(tower: str) -> None:
    model = DreamerV3(tiny.config(SENSORS, tower=tower))
    obs = {"camera": torch.full((4, 16, 16, 3), 51, dtype=torch.uint8), "thermal": torch.zeros(4, 16, 16, 3)}
    obs["speed"] = torch.zeros(4, 3)
    start_at_mean(model, obs)
    decoded = model.decode(model.initial(1))
    assert decoded["camera"].mean().item() == pytest.approx(0.2, abs=0.02)
    assert decoded["thermal"].mean().item() < 0.01


def test_a_few_updates_learn_something() -> None:
    model, batch = DreamerV3(tiny.config(SENSORS)), sequences(rows=2, steps=4)
    nothing = {name: torch.zeros_like(x) for name, x in batch.obs.items()}
    batch = batch._replace(obs=nothing, signals={"reward": torch.ones(2, 4)})
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    losses = []
    for update in range(30):
        masks = torch.ones(2, 4, 3, dtype=torch.bool)
        loss, _ = world_model_loss(
            TrainConfig(), model, batch, observe(model, batch, masks, torch.Generator().manual_seed(update))
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
