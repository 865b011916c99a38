"""diffusers with what it takes from torchvision, which machines without a GPU often lack or have in a form that breaks.

Of torchvision, Cosmos needs one thing: the padding mask is resized to the latent grid. Nothing is changed where
torchvision can be imported.
"""

from __future__ import annotations

import importlib
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from wiser.extras import install_hint

NEEDED = "Cosmos needs diffusers and transformers"
_operators: list[torch.library.Library] = []  # a library that nobody holds takes its operators with it


def diffusers() -> Any:
    """The package `diffusers`; a one-line ImportError that says what to install where it is not there."""
    found = _torchvision()
    try:
        library = importlib.import_module("diffusers")
        transformer = importlib.import_module("diffusers.models.transformers.transformer_cosmos")
        _ = library.Cosmos2_5_PredictBasePipeline  # imported when it is asked for
    except (ImportError, AttributeError, RuntimeError) as error:
        raise ImportError(f"{NEEDED} (diffusers 0.42 or later): {install_hint('cosmos')}; {error}") from error
    if found is None and not hasattr(transformer, "transforms"):
        stand_in = SimpleNamespace(resize=_resize)
        vars(transformer)["transforms"] = SimpleNamespace(
            functional=stand_in, InterpolationMode=SimpleNamespace(NEAREST="nearest")
        )
    return library


def _torchvision() -> ModuleType | None:
    """The package, if it can be imported, with its operators declared if that is what it lacks; otherwise None."""
    try:
        return importlib.import_module("torchvision")
    except ModuleNotFoundError:
        return None
    except RuntimeError:  # operators built for another torch than this one: declared, all that is Python works
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _operators.append(library)
        return importlib.import_module("torchvision")


def _resize(x: torch.Tensor, size: list[int], interpolation: str) -> torch.Tensor:
    """What torchvision's resize does with a mask (B, C, H, W)."""
    return torch.nn.functional.interpolate(x, size, mode=interpolation)
