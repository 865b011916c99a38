"""How a model begins: with the weights of another agent, or at least at the scale of what it is going to see.

A decoder that first has to learn the mean brightness sends large, uninformative gradients into the latents, which
settle on one constant code: a posterior that ignores its sensors and may take thousands of updates to recover.
And a vector in units of its own, such as an angle that stays below a tenth, is to a new tower as good as constant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.decoder import ConvDecoder, PatchDecoder
from wiser.worldmodel.dreamer.maths import symlog
from wiser.worldmodel.protocol import unit_image

_OUTPUT_SCALE = 0.1  # of the last layer's initial weights: deviations from the mean start small
_CONSTANT = 1e-3  # spread, on the symlog scale, below which a number is taken as it is


@torch.no_grad()
def start_at_data(model: DreamerV3, obs: Mapping[str, Tensor]) -> None:
    """Let a new model begin with the mean colour of images, and the mean and spread of vectors, in `obs`."""
    _paint_the_mean(model, obs)
    for sensor, tower in model.fusion.vector_towers_by_sensor():
        seen = symlog(obs[sensor.name].float()).reshape(-1, sensor.size)  # (B * T, n)
        mean, spread = seen.mean(0), seen.std(0)
        first = tower.layers[0]
        first.weight.div_(torch.where(spread > _CONSTANT, spread, 1.0))  # type: ignore[operator]
        first.bias.sub_(first.weight @ mean)  # type: ignore[operator]


def _paint_the_mean(model: DreamerV3, obs: Mapping[str, Tensor]) -> None:
    for name, decoder in zip(model.decodes, model.decoders, strict=True):
        if not isinstance(decoder, (ConvDecoder, PatchDecoder)):
            continue
        images = unit_image(obs[name])
        logits = torch.logit(images.flatten(0, -2).mean(0), eps=1e-3)  # (C,)
        last = decoder.convs[-1] if isinstance(decoder, ConvDecoder) else decoder.paint
        last.weight.mul_(_OUTPUT_SCALE)  # type: ignore[operator]
        last.bias.copy_(logits.repeat(last.bias.numel() // logits.numel()))  # type: ignore[operator]


@torch.no_grad()
def carry_over(model: DreamerV3, source: DreamerV3) -> None:
    """Take over the weights of an agent of the same sizes. Towers and decoders go by their sensors' names.

    The agent may know more sensors; one it does not know keeps its own initial weights.
    """
    place = {sensor.name: i for i, sensor in enumerate(source.sensors)}
    own, given = model.state_dict(), source.state_dict()
    for name, value in own.items():
        match = re.match(r"(fusion\.towers|fusion\.projections|decoders)\.(\d+)\.(.*)", name)
        if match:
            group, index, rest = match.groups()
            sensor = model.sensors[int(index)].name
            if sensor not in place:
                continue
            name = f"{group}.{place[sensor]}.{rest}"
        if name not in given or given[name].shape != value.shape:
            raise ValueError(f"cannot start from an agent of another size: {name} does not fit")
        value.copy_(given[name])
