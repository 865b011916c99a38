"""The world-model loss: predict readings, reward and continuation; keep prior and posterior close."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from wiser.train.config import TrainConfig
from wiser.train.unroll import Sequences, Unrolled
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.latents import kl_categorical
from wiser.worldmodel.protocol import Belief


def world_model_loss(
    config: TrainConfig, model: DreamerV3, batch: Sequences, unrolled: Unrolled, decoded: Tensor | slice = slice(None)
) -> tuple[Tensor, dict[str, Tensor]]:
    """Total loss and its terms, each a mean over rows and steps. Targets are the readings as given: never masked.

    `decoded` are the steps to decode, indices into B * T; decoding is the dearest part, and some steps suffice.
    """
    belief = Belief(unrolled.belief.deter.flatten(0, 1), unrolled.belief.stoch.flatten(0, 1))  # (B * T, ...)
    x = features(belief)
    terms = {
        "dynamics": _free(config, kl_categorical(unrolled.posterior.detach(), unrolled.prior)),
        "representation": _free(config, kl_categorical(unrolled.posterior, unrolled.prior.detach())),
        "reward": model.reward.loss(x, batch.signals["reward"].flatten()).mean(),
        "continue": F.binary_cross_entropy_with_logits(model.proceed(x), config.continues(batch.proceed).flatten()),
    }
    belief = Belief(belief.deter[decoded], belief.stoch[decoded])
    for name, decoder in zip(model.decodes, model.decoders, strict=True):
        target = batch.obs[name].flatten(0, 1)[decoded]  # (decoded, *shape)
        terms[f"decode/{name}"] = decoder.squared_error(belief, target) / len(target)  # type: ignore[operator]
    scales = {"dynamics": config.dynamics_scale, "representation": config.representation_scale}
    total = torch.stack([scales.get(name, 1.0) * value for name, value in terms.items()]).sum()
    return total, {name: value.detach() for name, value in terms.items()}


def _free(config: TrainConfig, nats: Tensor) -> Tensor:
    return nats.clamp(min=config.free_nats).mean()
