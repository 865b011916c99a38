"""Start decoders at the average picture.

A decoder that first has to learn the mean brightness sends large, uninformative gradients into the latents, which
settle on one constant code: a posterior that ignores its sensors and may take thousands of updates to recover.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.decoder import ConvDecoder, PatchDecoder
from wiser.worldmodel.protocol import unit_image

_OUTPUT_SCALE = 0.1  # of the last layer's initial weights: deviations from the mean start small


@torch.no_grad()
def start_at_mean(model: DreamerV3, obs: Mapping[str, Tensor]) -> None:
    """Set the image decoders of a new model so that they begin with the mean colour of `obs` (each (..., H, W, C))."""
    for name, decoder in zip(model.decodes, model.decoders, strict=True):
        if not isinstance(decoder, (ConvDecoder, PatchDecoder)):
            continue
        images = unit_image(obs[name])
        logits = torch.logit(images.flatten(0, -2).mean(0), eps=1e-3)  # (C,)
        last = decoder.convs[-1] if isinstance(decoder, ConvDecoder) else decoder.paint
        last.weight.mul_(_OUTPUT_SCALE)  # type: ignore[operator]
        last.bias.copy_(logits.repeat(last.bias.numel() // logits.numel()))  # type: ignore[operator]
