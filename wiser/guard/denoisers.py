"""Denoisers by name, D of the paper: readings as they might have been."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from wiser.guard import plugins
from wiser.guard.learned import Learned, restoration
from wiser.guard.look import Look
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief, Prior, WorldModel, unit_image

Repair = Callable[[Look], Mapping[str, Tensor]]
"""Maps a look to repaired readings, images as floats in [0, 1]."""


@dataclass(frozen=True)
class Denoiser:
    """A way to repair readings."""

    repair: Repair | Learned
    """What it does, or will do once its weights are found."""
    decodes: bool = False
    """Whether it needs a model with a decoder."""

    def ready(self, model: WorldModel) -> Repair:
        """What to do with a look."""
        return self.repair.ready(model) if isinstance(self.repair, Learned) else self.repair


def posterior_reconstruction(look: Look) -> Mapping[str, Tensor]:
    """D of the paper: the readings as the model sees them in context."""
    return {**look.obs, **look.model.decode(look.belief)}


def prior_interpolation(look: Look) -> Mapping[str, Tensor]:
    """D of the ablation as its text has it, a linear interpolation: half way between what was expected and read."""
    expected = _expected(look)
    return {**look.obs, **{name: torch.lerp(unit_image(look.obs[name]), x, 0.5) for name, x in expected.items()}}


def published_interpolation(look: Look) -> Mapping[str, Tensor]:
    """D of the ablation as the authors' code has it: pixels that surprise more move further to what was expected.

    The weight of what was expected is 2 (g - 0.5)^3 + 0.5 with g = |d surprise / d pixel|: 1/4 where a pixel does not
    matter, more than 1 from g = 1.13 on, so that pixels may leave [0, 1]. Each row has its own surprise, and what is
    not finite is what was expected. Vectors are left as they are.
    """
    slopes, expected, mixed = _surprise_slopes(look), _expected(look), {}
    for name, slope in slopes.items():
        weight = 2.0 * (slope - 0.5) ** 3 + 0.5  # (B, H, W, C)
        between = (1.0 - weight) * unit_image(look.obs[name]) + weight * expected[name]
        mixed[name] = torch.where(torch.isfinite(between), between, expected[name])
    return {**look.obs, **mixed}


def _expected(look: Look) -> dict[str, Tensor]:
    """Readings as the prior has them."""
    return look.model.decode(Belief(look.prior.deter, one_hot_mode(look.prior.logprobs)))


def _surprise_slopes(look: Look) -> dict[str, Tensor]:
    """|d surprise / d pixel| of each image that is decoded, (B, H, W, C): surprise of a row against its own pixels."""
    names = [sensor.name for sensor in look.model.sensors if sensor.is_image and sensor.name in look.model.decodes]
    with torch.inference_mode(False), torch.enable_grad():
        readings = {name: x.clone() for name, x in look.obs.items()}  # clones may be of use to autograd, whatever x is
        pixels = {name: unit_image(readings[name]).requires_grad_() for name in names}
        prior = Prior(look.prior.deter.clone(), look.prior.logprobs.clone())
        moved = replace(look, prior=prior, mask=look.mask.clone()).at({**readings, **pixels})
        slopes = torch.autograd.grad(moved.surprise.sum(), list(pixels.values()))
    return {name: slope.abs() for name, slope in zip(names, slopes, strict=True)}


DENOISERS: dict[str, Denoiser] = {
    "posterior": Denoiser(posterior_reconstruction, decodes=True),
    "interpolate": Denoiser(prior_interpolation, decodes=True),
    "interpolate-published": Denoiser(published_interpolation, decodes=True),
    "restormer": Denoiser(Learned("restormer", restoration)),
}
"""Those that go by a name. Add your own."""


def find_denoiser(name: str) -> Denoiser:
    """Look a name up, in any of the forms of `plugins`; an unknown one is a ValueError that lists the known ones."""
    found, weights = plugins.find("denoiser", DENOISERS, name)
    denoiser = found if isinstance(found, Denoiser) else Denoiser(found)
    if weights is None:
        return denoiser
    if not isinstance(denoiser.repair, Learned):
        raise ValueError(f"denoiser {name.partition('@')[0]!r} has no weights: leave out @{weights}")
    return replace(denoiser, repair=replace(denoiser.repair, path=weights))
