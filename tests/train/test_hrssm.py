"""HRSSM: masks, target branch and losses, against plain transcriptions, and what learns from what."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor
from torch.nn import functional as F

from tests import tiny
from tests.train.test_learner import CONFIG, Setup, copied
from tests.train.test_unroll import SENSORS, sequences
from wiser.train.config import TrainConfig
from wiser.train.unroll import Observed, Seen, Sequences, observe
from wiser.train.variants.hrssm import HRSSM, RewardSpan, bisimulation_loss, cube_mask, match_loss
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.latents import one_hot_sample
from wiser.worldmodel.protocol import Belief, Prior

HYBRID = replace(CONFIG, variant="hrssm", mask_patch=4, dynamics_scale=0.5)


def dice(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=dice(seed), dtype=torch.float64)


# --- masks ---


def test_half_of_six_by_six_patches_are_hidden_and_others_after_four_steps() -> None:
    hidden = cube_mask((11, 64, 64), patch=10, steps=4, share=0.5, generator=dice())
    assert hidden.shape == (11, 64, 64)
    blocks = [hidden[start : start + 4] for start in (0, 4, 8)]
    assert [len(block) for block in blocks] == [4, 4, 3]
    for block in blocks:
        assert torch.equal(block, block[:1].expand_as(block))
    assert len({block[0].numpy().tobytes() for block in blocks}) == 3
    for block in blocks:
        grid = block[0, 5::11, 5::11]  # a pixel in the middle of each patch
        assert grid.shape == (6, 6)
        assert int(grid.sum()) == 18
        upsampled = F.interpolate(grid[None, None].float(), size=(64, 64), mode="nearest")[0, 0]
        assert torch.equal(block[0], upsampled.bool())


def test_every_patch_is_as_likely_to_be_hidden() -> None:
    hidden = cube_mask((2000, 8, 12), patch=4, steps=1, share=0.34, generator=dice())
    counts = hidden[:, ::4, ::4].sum(0).flatten().numpy()
    assert counts.sum() == 2000 * 2, "two of six: a third of the patches, rounded down"
    assert stats.chisquare(counts).pvalue > 1e-3


def variant_of(model: DreamerV3, **settings: float) -> HRSSM:
    return HRSSM(TrainConfig(variant="hrssm", mask_patch=4, mask_steps=2, **settings), model)


def test_masked_pixels_are_mid_grey_in_all_rows_alike_and_nothing_else_is_touched() -> None:
    obs = {
        "camera": torch.randint(0, 128, (3, 5, 16, 16, 3), generator=dice(), dtype=torch.uint8),
        "depth": 0.4 * torch.rand((3, 5, 16, 16, 1), generator=dice()),
        "speed": torch.randn((3, 5, 2), generator=dice()),
    }
    given = {name: x.clone() for name, x in obs.items()}
    seen = variant_of(tiny.model(SENSORS)).show(obs, dice())
    assert all(torch.equal(obs[name], given[name]) for name in obs), "targets are not touched"
    assert seen.masks.shape == (3, 5, 3)
    assert seen.masks.all()
    assert torch.equal(seen.obs["speed"], obs["speed"])
    holes = []
    for name, grey in (("camera", 128), ("depth", 0.5)):
        hidden = (seen.obs[name] == grey).all(-1)  # (B, T, H, W)
        assert torch.equal(hidden, hidden[:1].expand_as(hidden))
        assert float(hidden[0].float().mean()) == 0.5
        assert torch.equal(seen.obs[name][~hidden], obs[name][~hidden])
        assert seen.obs[name].dtype == obs[name].dtype
        holes.append(hidden[0])
    assert not torch.equal(*holes), "each sensor has its own mask"
    again = variant_of(tiny.model(SENSORS)).show(obs, dice())
    assert torch.equal(again.obs["camera"], seen.obs["camera"])


# --- losses ---


def test_the_match_is_the_squared_distance_of_directions() -> None:
    one, other = numbers(2, 3, 5), numbers(2, 3, 5, seed=1)
    total = 0.0
    for a, b in zip(one.flatten(0, 1).numpy(), other.flatten(0, 1).numpy(), strict=True):
        total += ((a / np.sqrt((a * a).sum()) - b / np.sqrt((b * b).sum())) ** 2).sum()
    assert float(match_loss(one, other)) == pytest.approx(total / 6)
    assert float(match_loss(one, 7 * one)) == pytest.approx(0.0, abs=1e-12)


def plain_bisimulation(u, v, after_u, after_v, reward, discount) -> float:
    """All pairs, one by one."""

    def distance(a, b) -> float:
        return 1 - (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())

    total = 0.0
    for i in range(len(u)):
        for j in range(len(u)):
            goal = min(abs(reward[i] - reward[j]), 2.0) + discount * distance(after_u[i], after_v[j])
            gap = abs(distance(u[i], v[j]) - goal)
            total += 0.5 * gap**2 if gap < 1 else gap - 0.5
    return total / len(u) ** 2


@pytest.mark.parametrize("discount", [0.99, 0.5])
def test_bisimulation_is_that_of_all_pairs(discount: float) -> None:
    states = [numbers(7, 4, seed=seed) for seed in range(4)]
    reward = 2 * torch.rand(7, generator=dice(), dtype=torch.float64)
    reward[0], reward[1] = -5.0, 30.0  # as in driving: far outside
    expected = plain_bisimulation(*(x.numpy() for x in states), reward.numpy(), discount)
    assert float(bisimulation_loss(*states, reward, discount)) == pytest.approx(expected)


def test_bisimulation_moves_the_online_states_only() -> None:
    states = [numbers(5, 4, seed=seed).requires_grad_() for seed in range(4)]
    bisimulation_loss(*states, numbers(5), 0.99).backward()
    assert states[0].grad.abs().max() > 0
    assert all(x.grad is None for x in states[1:])
    nothing = bisimulation_loss(*(x[:0] for x in states), numbers(0), 0.99)
    assert nothing.item() == 0.0, "a batch of episodes of one step has no pairs"


def test_the_span_of_rewards_begins_with_the_first_batch_and_then_follows() -> None:
    span, (one, two) = RewardSpan(), (numbers(4, 9).float(), 3 + 5 * numbers(4, 9, seed=1).float())
    (low, high), (later_low, later_high) = (np.quantile(x, [0.05, 0.95]) for x in (one, two))
    assert float(span(one)) == pytest.approx(high - low, rel=1e-5)
    expected = 0.99 * high + 0.01 * later_high - 0.99 * low - 0.01 * later_low
    assert float(span(two)) == pytest.approx(expected, rel=1e-5)
    assert float(RewardSpan()(torch.zeros(3, 3))) > 0, "rewards that never differ are not divided by nothing"


# --- the two branches ---


class Branches:
    """A model, a variant whose target branch has other weights, and what both made of a batch."""

    def __init__(self, **settings: float) -> None:
        self.model = tiny.model(SENSORS, decoder=False).requires_grad_(True)
        self.variant = variant_of(self.model, **settings)
        other = tiny.model(SENSORS, seed=9)
        with torch.no_grad():
            for name in ("fusion", "gru", "prior", "posterior"):
                getattr(self.variant.target, name).load_state_dict(getattr(other, name).state_dict())
            self.variant.target.projection.weight += 0.1
        self.batch: Sequences = sequences()
        self.seen: Seen = self.variant.show(self.batch.obs, dice(5))
        shown = self.batch._replace(obs=self.seen.obs)
        self.unrolled = observe(self.model, shown, self.seen.masks, dice(6))
        self.starts = self.variant.starts(self.model, self.batch, self.unrolled, dice(7))
        x = features(self.unrolled.belief)
        self.observed = Observed(self.batch, self.seen, self.unrolled, x, self.starts)

    def terms(self) -> dict[str, Tensor]:
        return self.variant.terms(self.model, self.observed, dice(8))


def test_the_hybrid_posterior_is_the_targets_at_the_online_state_and_sees_everything() -> None:
    both = Branches()
    slow, deter = tiny.model(SENSORS, seed=9), both.unrolled.belief.deter.detach()
    rows, steps = both.batch.first.shape
    noise = torch.rand((rows, steps, slow.config.stoch), generator=dice(7))
    for t in range(steps):
        embedded = slow.embed({name: x[:, t] for name, x in both.batch.obs.items()})
        every = torch.ones(rows, 1, len(SENSORS), dtype=torch.bool)
        logprobs = slow.infer(Prior(deter[:, t], torch.empty(0)), embedded, every)[:, 0]
        assert torch.equal(both.starts.stoch[:, t], one_hot_sample(logprobs, noise[:, t]))
    assert torch.equal(both.starts.deter, deter)
    assert not both.starts.deter.requires_grad


def test_terms_are_the_losses_of_what_the_branches_say_written_out_step_by_step() -> None:
    both = Branches(match_scale=0.7, bisimulation_scale=0.3, bisimulation_discount=0.9)
    found, slow = both.terms(), tiny.model(SENSORS, seed=9)
    batch, (rows, steps) = both.batch, both.batch.first.shape
    draws = dice(8)
    shape = (rows, steps - 1, slow.config.stoch)
    expected_noise, foreseen_noise = (torch.rand(shape, generator=draws) for _ in range(2))
    low, high = np.quantile(batch.signals["reward"], [0.05, 0.95])
    pairs: list[list[np.ndarray]] = []
    with torch.no_grad():
        for b in range(rows):
            for t in range(steps - 1):
                if bool(batch.first[b, t + 1]):
                    continue
                here = Belief(both.starts.deter[b : b + 1, t], both.starts.stoch[b : b + 1, t])
                action, going = batch.action[b : b + 1, t + 1], torch.zeros(1, dtype=torch.bool)
                prior = slow.predict(here, action, going)
                foreseen = Belief(prior.deter, one_hot_sample(prior.logprobs, foreseen_noise[b : b + 1, t]))
                chances = both.unrolled.prior[b : b + 1, t + 1]
                expected = Belief(
                    both.unrolled.belief.deter[b : b + 1, t + 1], one_hot_sample(chances, expected_noise[b : b + 1, t])
                )
                reward = 2 * batch.signals["reward"][b, t] / (high - low)
                states = (both.observed.features[b, t], features(here)[0], features(expected)[0], features(foreseen)[0])
                pairs.append([x.numpy().astype(float) for x in (*states, reward)])
        assert 0 < len(pairs) < rows * (steps - 1)
        bisimulation = plain_bisimulation(*(list(column) for column in zip(*pairs, strict=True)), 0.9)
        match = match_loss(
            both.observed.features @ both.variant.projection.weight.T,
            features(both.starts) @ both.variant.target.projection.weight.T,
        )
    assert found["match"].item() == pytest.approx(0.7 * float(match), rel=1e-5)
    assert found["bisimulation"].item() == pytest.approx(0.3 * bisimulation, rel=1e-4)


def test_the_span_can_be_given() -> None:
    wide, given = Branches(reward_span=1e9).terms(), Branches(reward_span=1e-9).terms()
    assert wide["bisimulation"].item() < given["bisimulation"].item(), "rewards that hardly differ, and all of them"


def test_gradients_reach_what_sees_and_not_the_target() -> None:
    both = Branches()
    reached = {}
    for name, term in both.terms().items():
        names, weights = zip(*both.model.named_parameters(), *both.variant.named_parameters(), strict=True)
        known = [weight for weight in weights if weight.requires_grad]
        found = dict(zip(known, torch.autograd.grad(term, known, retain_graph=True, allow_unused=True), strict=True))
        reached[name] = {
            label.split(".")[0]
            for label, weight in zip(names, weights, strict=True)
            if found.get(weight) is not None and found[weight].any()
        }
    assert reached["match"] == {"fusion", "gru", "posterior", "projection"}
    assert reached["bisimulation"] == {"fusion", "gru", "posterior"}
    assert not any(weight.requires_grad for weight in both.variant.target.parameters())


def test_the_target_branch_is_an_exponential_average() -> None:
    """After k updates (1 - r)^k of where it began, and r (1 - r)^(k - i) of the model after update i."""
    setup = Setup(replace(HYBRID, target_rate=0.25))
    variant = setup.learner.variant

    def online() -> dict[str, Tensor]:
        kept = ("fusion", "gru", "prior", "posterior")
        own = {name: value for name, value in copied(setup.model).items() if name.split(".")[0] in kept}
        return own | {"projection.weight": variant.projection.weight.detach().clone()}

    begun, history = copied(variant.target), []
    assert begun.keys() == online().keys()
    assert all(torch.equal(begun[name], value) for name, value in online().items())
    for number in range(3):
        setup.update(number)
        history.append(online())
    moved = 0
    for name, value in variant.target.named_parameters():
        one, two, three = (weights[name] for weights in history)
        expected = 0.421875 * begun[name] + 0.140625 * one + 0.1875 * two + 0.25 * three
        torch.testing.assert_close(value, expected, atol=1e-6, rtol=1e-5)
        moved += not torch.equal(value, begun[name])
    assert moved > 20


def test_what_a_masked_image_is_in_the_target_follows_its_weights() -> None:
    """The fusion remembers it; a slow step must not leave the old one behind."""
    both = Branches()
    fusion = both.variant.target.fusion
    with torch.no_grad():
        before = fusion.blank_terms()
        both.variant.follow(both.model)
        assert not torch.equal(fusion.blank_terms(), before)
        assert torch.equal(fusion.blank_terms(), fusion._compute_blank_terms())


# --- in the learner ---


def test_imagination_starts_from_the_hybrid_posterior(monkeypatch) -> None:
    setup = Setup(HYBRID)
    with torch.no_grad():
        for weight in setup.learner.variant.target.posterior.parameters():
            weight += torch.randn(weight.shape, generator=dice())  # another mind than the model's
    setup.watch(monkeypatch, "observe", "imagine")
    noted: list[Belief] = []
    original = setup.learner.variant.starts
    monkeypatch.setattr(setup.learner.variant, "starts", lambda *args: noted.append(original(*args)) or noted[-1])
    setup.update()
    _, unrolled = setup.calls["observe"][0]
    (_, start, *_), _ = setup.calls["imagine"][0]
    assert torch.equal(start.stoch, noted[0].stoch.flatten(0, 1))
    assert torch.equal(start.deter, unrolled.belief.deter.flatten(0, 1))
    assert not torch.equal(start.stoch, unrolled.belief.stoch.detach().flatten(0, 1))


def test_the_encoder_sees_masked_images_and_nothing_is_decoded(monkeypatch) -> None:
    setup = Setup(replace(HYBRID, batch=4))
    setup.watch(monkeypatch, "observe", "world_model_loss")
    terms = setup.update()
    (_, seen, masks, *_), _ = setup.calls["observe"][0]
    (_, _, batch, *_), _ = setup.calls["world_model_loss"][0]
    changed = seen.obs["glow"] != batch.obs["glow"]
    assert 0.4 < float(changed.float().mean()) <= 0.5
    assert (seen.obs["glow"][changed] == 128).all()
    assert torch.equal(seen.obs["where"], batch.obs["where"])
    assert masks.all()
    assert set(terms) == {
        "dynamics", "representation", "reward", "continue", "match", "bisimulation", "actor", "critic", "replay_critic",
        "cloning", "imitation",
    }  # fmt: skip
