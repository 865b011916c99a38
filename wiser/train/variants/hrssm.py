"""HRSSM (Sun et al., ICML 2024): a world model without a decoder, learnt from masked views and a slow copy of itself.

The online branch is the model; it is shown images with cubes of space and time cut out. The target branch is a slow
copy that sees all of them. What the one makes of the masked view is to match what the other makes of the whole one
(`match_loss`), and states are to lie as far apart as what comes of them (`bisimulation_loss`). Hybrid is the posterior
of the target branch: it rests on the recurrent state of the online one. Imagination starts from it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.train.config import TrainConfig
from wiser.train.unroll import Observed, Seen, Sequences, Unrolled
from wiser.train.variants.variant import Variant
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import feature_size, features
from wiser.worldmodel.dreamer.layers import init_weight
from wiser.worldmodel.latents import one_hot_sample
from wiser.worldmodel.protocol import Belief

LARGEST_GAP = 2.0
"""Of two rewards, as the method expects them: between 0 and 2."""


class HRSSM(Variant):
    """Images behind cube masks, a slow target branch, and two losses in latent space instead of reconstruction."""

    shape: ClassVar[Mapping[str, Any]] = {"decoder": False}

    def __init__(self, config: TrainConfig, model: DreamerV3) -> None:
        super().__init__(config, model)
        size = feature_size(model.config)
        self.projection = nn.Linear(size, config.match_size, bias=False)
        init_weight(self.projection.weight, size)
        self.target = Target(model, self.projection)
        self.span = RewardSpan()

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """Every sensor; images with the same cubes greyed out in all rows, other ones for each sensor."""
        masked = {name: self._grey(x, generator) if x.ndim == 5 else x for name, x in obs.items()}
        return super().show(masked, generator)

    def _grey(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Images (B, T, H, W, C) with what a new mask hides in mid grey: about zero, once they are centred."""
        config = self.config
        hidden = cube_mask(x.shape[1:4], config.mask_patch, config.mask_steps, config.mask_share, generator)
        return x.masked_fill(hidden[None, ..., None], 128 if x.dtype == torch.uint8 else 0.5)

    @torch.no_grad()
    def starts(self, model: DreamerV3, batch: Sequences, unrolled: Unrolled, generator: torch.Generator) -> Belief:
        """The hybrid posterior of the whole view."""
        return self.target.posterior_at(unrolled.belief.deter, batch.obs, generator)

    def terms(self, model: DreamerV3, observed: Observed, generator: torch.Generator) -> dict[str, Tensor]:
        """Latent match and bisimulation, weighted."""
        config, batch, hybrid, unrolled = self.config, observed.batch, observed.starts, observed.unrolled
        seen, whole = observed.features, features(hybrid)  # (B, T, F); the second without gradients
        match = match_loss(self.projection(seen), self.target.projection(whole).detach())
        expected = Belief(unrolled.belief.deter[:, 1:], sample(unrolled.prior[:, 1:], generator))
        foreseen = self.target.prior_after(_before_last(hybrid), batch.action[:, 1:], generator)
        goes_on = ~batch.first[:, 1:]  # (B, T - 1): where another episode begins nothing follows
        reward = batch.signals["reward"]
        span = config.reward_span or self.span(reward)
        bisimulation = bisimulation_loss(
            seen[:, :-1][goes_on],
            whole[:, :-1][goes_on],
            features(expected)[goes_on],
            features(foreseen)[goes_on],
            reward[:, :-1][goes_on] * (LARGEST_GAP / span),
            config.bisimulation_discount,
        )
        return {"match": config.match_scale * match, "bisimulation": config.bisimulation_scale * bisimulation}

    @torch.no_grad()
    def follow(self, model: DreamerV3) -> None:
        """The target branch takes over a little of the online one."""
        fast, slow = branch(model, self.projection), branch(self.target, self.target.projection)
        torch._foreach_lerp_(list(slow), list(fast), self.config.target_rate)


class Target(nn.Module):
    """A slow copy of encoder, recurrent model and projection. Nothing here has gradients."""

    def __init__(self, model: DreamerV3, projection: nn.Linear) -> None:
        super().__init__()
        self.fusion, self.gru = copy.deepcopy(model.fusion), copy.deepcopy(model.gru)
        self.prior, self.posterior = copy.deepcopy(model.prior), copy.deepcopy(model.posterior)
        self.projection = copy.deepcopy(projection)
        self.requires_grad_(False)

    @torch.no_grad()
    def posterior_at(self, deter: Tensor, obs: Mapping[str, Tensor], generator: torch.Generator) -> Belief:
        """What is believed at recurrent states (B, T, D) after all of the readings (B, T, *shape)."""
        shape = deter.shape[:2]
        embedded = self.fusion.embed({name: x.flatten(0, 1) for name, x in obs.items()})
        every = torch.ones((shape.numel(), 1, len(obs)), dtype=torch.bool, device=deter.device)
        sensors = self.fusion.first_layer(embedded, every)  # (B * T, 1, H)
        logprobs = self.posterior(deter.flatten(0, 1), sensors)[:, 0].unflatten(0, shape)  # (B, T, S, C)
        return Belief(deter.detach(), sample(logprobs, generator))

    @torch.no_grad()
    def prior_after(self, belief: Belief, action: Tensor, generator: torch.Generator) -> Belief:
        """What is expected one step after beliefs (B, T, ...), once actions (B, T, A) are done."""
        flat = (x.flatten(0, 1) for x in (belief.deter, belief.stoch, action))
        deter = self.gru(*flat).unflatten(0, action.shape[:2])  # (B, T, D)
        return Belief(deter, sample(self.prior(deter), generator))


class RewardSpan(nn.Module):
    """Running width of rewards, from their 5th to their 95th percentile; begins with that of the first batch."""

    low: Tensor
    high: Tensor
    batches: Tensor

    def __init__(self, decay: float = 0.99, least: float = 1e-3) -> None:
        super().__init__()
        self.decay, self.least = decay, least
        for name in ("low", "high", "batches"):
            self.register_buffer(name, torch.zeros(()))

    @torch.no_grad()
    def forward(self, reward: Tensor) -> Tensor:
        """Take in new rewards and give the width."""
        quantiles = torch.quantile(reward.flatten(), reward.new_tensor([0.05, 0.95]))
        rate = torch.where(self.batches > 0, 1 - self.decay, 1.0)
        for bound, found in zip((self.low, self.high), quantiles, strict=True):
            bound.lerp_(found, rate)
        self.batches += 1
        return (self.high - self.low).clamp(min=self.least)


def cube_mask(shape: tuple[int, ...], patch: int, steps: int, share: float, generator: torch.Generator) -> Tensor:
    """What is hidden of images over time, (T, H, W): a share of patches, others after every so many steps.

    As many patches of `patch` x `patch` pixels as fit fill the image, stretched where it is no multiple of them.
    """
    length, height, width = shape
    rows, columns = max(1, height // patch), max(1, width // patch)
    blocks = -(-length // steps)
    draws = torch.rand((blocks, rows * columns), generator=generator, device=generator.device)
    hidden = draws.argsort(-1).argsort(-1) < int(share * rows * columns)  # (blocks, patches)
    row = torch.arange(height, device=draws.device) * rows // height
    column = torch.arange(width, device=draws.device) * columns // width
    images = hidden.view(blocks, rows, columns)[:, row[:, None], column]  # (blocks, H, W)
    return images.repeat_interleave(steps, 0)[:length]


def match_loss(online: Tensor, target: Tensor) -> Tensor:
    """Mean squared distance of directions (..., n): twice one minus their cosine."""
    gap = F.normalize(online, dim=-1, eps=1e-3) - F.normalize(target, dim=-1, eps=1e-3)
    return gap.square().sum(-1).mean()


def bisimulation_loss(
    online: Tensor, target: Tensor, online_next: Tensor, target_next: Tensor, reward: Tensor, discount: float
) -> Tensor:
    """SimSR: cosine distances between all pairs of n states, regressed on what they differ by in reward and future.

    Features of the states and of their predicted successors, (n, F) each, and rewards (n,). Gradients reach `online`
    only. No two rewards count as further apart than 2, which they are not if they lie in [0, 2] as expected.
    """
    if not len(online):
        return online.sum()
    gaps = (reward[:, None] - reward).abs().clamp(max=LARGEST_GAP)  # (n, n)
    goal = gaps + discount * cosine_distances(online_next, target_next)
    return F.huber_loss(cosine_distances(online, target.detach()), goal.detach())


def cosine_distances(one: Tensor, other: Tensor) -> Tensor:
    """1 - cosine of all pairs: (n, F), (m, F) -> (n, m)."""
    return 1 - F.normalize(one, dim=-1) @ F.normalize(other, dim=-1).T


def sample(logprobs: Tensor, generator: torch.Generator) -> Tensor:
    """One-hot samples (..., S, C), without gradients."""
    noise = torch.rand(logprobs.shape[:-1], generator=generator, device=generator.device)
    return one_hot_sample(logprobs.detach(), noise)


def branch(model: DreamerV3 | Target, projection: nn.Linear) -> Iterator[Tensor]:
    """The weights that both branches have, in the same order."""
    for module in (model.fusion, model.gru, model.prior, model.posterior, projection):
        yield from module.parameters()


def _before_last(belief: Belief) -> Belief:
    return Belief(belief.deter[:, :-1], belief.stoch[:, :-1])
