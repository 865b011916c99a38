"""Denoisers by name, D of the paper: readings as they might have been."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from wiser.guard.look import Look
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief, unit_image

Denoiser = Callable[[Look], Mapping[str, Tensor]]
"""Maps a look to repaired readings, images as floats in [0, 1]."""


def posterior_reconstruction(look: Look) -> Mapping[str, Tensor]:
    """D of the paper: the readings as the model sees them in context."""
    return {**look.obs, **look.model.decode(look.belief)}


def prior_interpolation(look: Look) -> Mapping[str, Tensor]:
    """D of the ablation: half way between what was expected and what was read."""
    expected = look.model.decode(Belief(look.prior.deter, one_hot_mode(look.prior.logprobs)))
    return {**look.obs, **{name: torch.lerp(unit_image(look.obs[name]), x, 0.5) for name, x in expected.items()}}


DENOISERS: dict[str, Denoiser] = {"posterior": posterior_reconstruction, "interpolation": prior_interpolation}
"""Those that go by a name. Add your own."""
