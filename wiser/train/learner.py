"""One gradient step: world model, actor and critic together, and what the run's parts add."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from wiser import seeds
from wiser.train import distributed
from wiser.train.config import TrainConfig
from wiser.train.experience import belief_before, pack_belief, to_tensors
from wiser.train.losses import world_model_loss
from wiser.train.objectives import find_objective
from wiser.train.optimiser import LaProp
from wiser.train.parts import build
from wiser.train.replay import Replay, Sample
from wiser.train.sampling import flag_share, share_of
from wiser.train.teaching import Teaching, is_taught
from wiser.train.unroll import Observed, observe
from wiser.train.variants import find_variant
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.protocol import Belief


class Learner:
    """Everything that learns, and how."""

    def __init__(self, config: TrainConfig, model: DreamerV3, rank: int = 0) -> None:
        self.config, self.model = config, model
        self.variant = build(find_variant(config.variant), config, model)
        self.objective = build(find_objective(config.objective), config, model)
        self.teaching = Teaching(config) if is_taught(config) else None
        self.modules: dict[str, nn.Module] = {"model": model, "variant": self.variant, "objective": self.objective}
        self.optimiser = LaProp(list(self.weights()), config.learning_rate, agc=config.agc, warmup=config.warmup)
        self.generator = torch.Generator(config.device)
        self.generator.manual_seed(int(seeds.stream("learner", config.seed, rank).generate_state(1)[0]))

    def weights(self) -> Iterator[Tensor]:
        """Every weight there is; frozen ones have no gradient and stay as they are."""
        for module in self.modules.values():
            yield from module.parameters()

    def update(self, replay: Replay, rng: np.random.Generator, update: int) -> dict[str, Tensor]:
        """Learn from one batch, the run's `update`-th; returns the terms of the loss."""
        config, model = self.config, self.model
        self.optimiser.param_groups[0]["lr"] = config.learning_rate * config.rate_factor(update)
        sample = replay.sample(config.batch, config.length, rng)
        fresh = flag_share(config.batch, config.fresh_share, self.generator)  # (B,)
        observed, total, terms = self._observe(sample, fresh)
        for name, value in self._further_terms(sample, observed, update):
            total = total + value
            _note(terms, name, value.detach())
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        distributed.average_gradients(self.weights())
        self.optimiser.step()
        for part in (self.variant, self.objective):
            part.follow(model)
        for name, value in self._figures():
            _note(terms, name, value)
        self._refresh(replay, sample, observed.unrolled.belief, ~fresh)
        return terms

    def _observe(self, sample: Sample, fresh: Tensor) -> tuple[Observed, Tensor, dict[str, Tensor]]:
        """What the model makes of a sample, and its own loss with the terms of it."""
        config, model, generator = self.config, self.model, self.generator
        batch = to_tensors(sample, model, config.device).begin_afresh(fresh)
        seen = self.variant.show(batch.obs, generator)
        start = belief_before(sample, model, config.device)
        unrolled = observe(model, batch._replace(obs=seen.obs), seen.masks, generator, start)
        decoded = share_of(batch.first.numel(), config.decode_share, generator)
        total, terms = world_model_loss(config, model, batch, unrolled, decoded)
        starts = self.variant.starts(model, batch, unrolled, generator)
        return Observed(batch, seen, unrolled, features(unrolled.belief), starts), total, terms

    def _further_terms(self, sample: Sample, observed: Observed, update: int) -> Iterator[tuple[str, Tensor]]:
        for part in (self.variant, self.objective):
            yield from part.terms(self.model, observed, self.generator).items()
        if self.teaching is not None:
            yield from self.teaching.terms(self.model, observed.features, sample, update).items()

    def _figures(self) -> Iterator[tuple[str, Tensor]]:
        for part in (self.variant, self.objective):
            yield from part.figures().items()
        if self.teaching is not None:
            yield from self.teaching.figures().items()

    @staticmethod
    def _refresh(replay: Replay, sample: Sample, belief: Belief, some: Tensor) -> None:
        """Write new beliefs back, but not of sequences that began afresh: they have forgotten what came before."""
        chosen = some.cpu().numpy()
        places = sample._replace(rows=sample.rows[chosen], starts=sample.starts[chosen])
        replay.refresh(places, pack_belief(Belief(belief.deter[some], belief.stoch[some])))


def _note(terms: dict[str, Tensor], name: str, value: Tensor) -> None:
    if name in terms:
        raise ValueError(f"two terms of the loss are called {name!r}")
    terms[name] = value
