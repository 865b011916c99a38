"""The published way of doing things, written out plainly: mask raw readings, encode everything anew, one at a time."""

from __future__ import annotations

import torch
from torch import Tensor

from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.protocol import Prior


def masked(model: DreamerV3, obs: dict[str, Tensor], trusted: list[bool]) -> dict[str, Tensor]:
    pairs = zip(model.sensors, trusted, strict=True)
    return {s.name: obs[s.name] if keep else torch.zeros_like(obs[s.name]) for s, keep in pairs}


def encode(model: DreamerV3, obs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Features of a whole observation, and the first-layer weights they meet, both concatenated."""
    fusion = model.fusion
    scaled = {s.name: obs[s.name].float() / 255 if s.dtype == "uint8" else obs[s.name] for s in model.sensors}
    if model.config.fusion == "late":
        images = [s for s in model.sensors if s.is_image]
        features = [tower(scaled[s.name]) for s, tower in zip(images, fusion.towers, strict=True)]
        weights = [projection.weight for projection in fusion.projections]
    else:
        stack = torch.cat([scaled[s.name] for s in model.sensors if s.is_image], -1)
        features, weights = [fusion.tower(stack)], [fusion.projection.weight]
    if vectors := [scaled[s.name].flatten(1) for s in model.sensors if not s.is_image]:
        squashed = torch.cat([torch.sign(x) * torch.log(1 + x.abs()) for x in vectors], -1)
        features.append(fusion.vectors.layers(squashed))
        weights.append(fusion.vectors.projection.weight)
    return torch.cat(features, -1), torch.cat(weights, -1)


def posterior(model: DreamerV3, prior: Prior, obs: dict[str, Tensor], trusted: list[bool]) -> Tensor:
    """Log-probabilities (B, S, C) from raw readings with the others set to zero."""
    features, weights = encode(model, masked(model, obs, trusted))
    head = model.posterior
    everything = torch.cat([prior.deter, features], -1)
    first = everything @ torch.cat([head.from_deter.weight, weights], -1).T + head.from_deter.bias
    hidden = first / torch.sqrt((first**2).mean(-1, keepdim=True) + 1e-4) * head.norm.scale
    hidden = hidden * torch.sigmoid(hidden)
    logits = (hidden @ head.head.logits.weight.T + head.head.logits.bias).view(-1, *head.head.shape)
    probabilities = 0.99 * torch.softmax(logits, -1) + 0.01 / logits.shape[-1]
    return torch.log(probabilities)


def surprise(q: Tensor, p: Tensor) -> float:
    """KL of one row's posterior (S, C) from its prior."""
    return float((q.exp() * (q - p)).sum())


def algorithm2(
    model: DreamerV3, prior: Prior, obs: dict[str, Tensor], depth: int | None, include_full: bool
) -> tuple[list[bool], Tensor]:
    """Algorithm 2 line by line, for one row."""
    count = len(model.sensors)
    values, subsets, latents = [], [], []

    def consider(trusted: list[bool]) -> float:
        q = posterior(model, prior, obs, trusted)[0]
        values.append(surprise(q, prior.logprobs[0]))
        subsets.append(list(trusted))
        latents.append(q)
        return values[-1]

    isolated = [consider([i == k for i in range(count)]) for k in range(count)]
    order = sorted(range(count), key=lambda k: -isolated[k])
    trusted = [True] * count
    for i in range(min(count, count if depth is None else depth)):
        trusted[order[i]] = False
        consider(trusted)
    if include_full:
        consider([True] * count)
    best = values.index(min(values))
    return subsets[best], latents[best]


def exhaustive(model: DreamerV3, prior: Prior, obs: dict[str, Tensor]) -> tuple[list[bool], Tensor]:
    """Every subset, encoded one after another, for one row."""
    count = len(model.sensors)
    found = []
    for code in range(2**count):
        trusted = [bool(code >> i & 1) for i in range(count)]
        q = posterior(model, prior, obs, trusted)[0]
        found.append((surprise(q, prior.logprobs[0]), trusted, q))
    _, trusted, q = min(found, key=lambda item: item[0])
    return trusted, q
