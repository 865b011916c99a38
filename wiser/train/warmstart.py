"""How a model begins: with the weights of another agent, or at least at the mean of what it is going to see.

A decoder that first has to learn the mean brightness sends large, uninformative gradients into the latents, which
settle on one constant code: a posterior that ignores its sensors and may take thousands of updates to recover.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.decoder import ConvDecoder, PatchDecoder
from wiser.worldmodel.dreamer.encoder import blank
from wiser.worldmodel.dreamer.fusion import LateFusion
from wiser.worldmodel.protocol import unit_image

_OUTPUT_SCALE = 0.1  # of the last layer's initial weights: deviations from the mean start small


@torch.no_grad()
def start_at_mean(model: DreamerV3, obs: Mapping[str, Tensor]) -> None:
    """Let the decoders of the images in `obs` begin with their mean colour; others stay as they are."""
    for name, decoder in zip(model.decodes, model.decoders, strict=True):
        if name not in obs or not isinstance(decoder, (ConvDecoder, PatchDecoder)):
            continue
        images = unit_image(obs[name])
        logits = torch.logit(images.flatten(0, -2).mean(0), eps=1e-3)  # (C,)
        last = decoder.convs[-1] if isinstance(decoder, ConvDecoder) else decoder.paint
        last.weight.mul_(_OUTPUT_SCALE)  # type: ignore[operator]
        last.bias.copy_(logits.repeat(last.bias.numel() // logits.numel()))  # type: ignore[operator]


@torch.no_grad()
def carry_over(model: DreamerV3, source: DreamerV3) -> None:
    """Take over the weights of an agent of the same sizes. Image towers and decoders go by their sensors' names.

    The agent may know more sensors; one it does not know keeps its own initial weights, and so do the tower of the
    vectors if these are not the same ones and the cost head if the agent has none. Tokens for missing sensors begin as
    what a zero reading is to that agent.
    """
    own, given = model.state_dict(), _zero_tokens(source) | source.state_dict()
    same_vectors = _vectors(model) == _vectors(source)
    for name, value in own.items():
        if name.startswith("fusion.vectors.") and not same_vectors:
            continue
        if name.startswith("cost.") and source.cost is None:
            continue
        match = re.match(r"(fusion\.towers|fusion\.projections|fusion\.tokens|decoders)\.(\d+)(.*)", name)
        if match:
            group, index, rest = match.groups()
            sensor, known = _owners(model, group)[int(index)], _owners(source, group)
            if sensor not in known:
                continue
            name = f"{group}.{known.index(sensor)}{rest}"
        if name not in given or given[name].shape != value.shape:
            raise ValueError(f"cannot start from an agent of another size: {name} does not fit")
        value.copy_(given[name])


def _zero_tokens(source: DreamerV3) -> dict[str, Tensor]:
    """Tokens with which a model begins just as an agent does for which what is missing is a zero reading."""
    fusion = source.fusion
    if not isinstance(fusion, LateFusion):
        return {}
    like = source.posterior.from_deter.weight
    towers = enumerate(zip(fusion.images, fusion.towers, strict=True))
    tokens = {f"fusion.tokens.{index}": tower(blank(sensor, like)) for index, (sensor, tower) in towers}
    if fusion.vectors is not None:
        tokens["fusion.vectors.token"] = like.new_zeros(len(fusion.vectors.owner))
    return tokens


def _owners(model: DreamerV3, group: str) -> list[str]:
    """The sensors that the members of a group of modules belong to."""
    if group == "decoders":
        return list(model.decodes)
    return [sensor.name for sensor in model.sensors if sensor.is_image]


def _vectors(model: DreamerV3) -> list[tuple[str, tuple[int, ...]]]:
    return [(sensor.name, sensor.shape) for sensor in model.sensors if not sensor.is_image]
