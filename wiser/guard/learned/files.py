"""Files of these networks: NAME.safetensors with NAME.json beside it, or what other libraries have written."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wiser.guard.learned.resnet import ResNet18
from wiser.guard.learned.restormer import Restormer
from wiser.weights import ModelError, check_fit, read_header, read_pair, read_tensors, write_pair

NETWORKS: dict[str, type[ResNet18] | type[Restormer]] = {"resnet18": ResNet18, "restormer": Restormer}
"""By name, which is that of their files, too."""
VERSION = 1
_TORCH = (".pth", ".pt", ".ckpt")
_WRAPPED = ("params", "state_dict")  # keys that published files have their weights under


def write_network(kind: str, network: ResNet18 | Restormer, folder: Path, sensor: str, **about: Any) -> Path:
    """Write a network for frames of `sensor` to `folder`, at half precision, and how it was made; returns the file.

    What is not a matrix stays as precise as it is: it is small, and the statistics of batch norms may be large.
    """
    header = {"format": f"wiser-{kind}", "version": VERSION, "settings": network.settings, "sensor": sensor}
    weights = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    weights = {name: value.half() if value.ndim > 1 else value for name, value in weights.items()}
    path = folder / f"{kind}.safetensors"
    write_pair(path.with_suffix(".json"), {**header, "about": about}, path, weights)
    return path


def read_network(kind: str, path: Path) -> tuple[ResNet18 | Restormer, str | None]:
    """A network, ready to use, and the sensor that it is for if its file says so.

    Files without JSON beside them are those of other libraries, of networks as published. A .pth file is read without
    running any code that may be in it.
    """
    config, sensor = path.with_suffix(".json"), None
    with torch.inference_mode(False), torch.no_grad():
        if path.suffix in _TORCH or not config.is_file():
            weights = _read_torch(path) if path.suffix in _TORCH else read_tensors(path)[0]
            settings = _guess_settings(kind, weights, path)
        else:
            header = read_header(config, "format", "version", "settings", "sensor")
            if (header["format"], header["version"]) != (f"wiser-{kind}", VERSION):
                found = f"{header['format']} version {header['version']}"
                raise ModelError(f"{config}: {found}; wanted is wiser-{kind} version {VERSION}")
            weights, settings, sensor = read_pair(config, f"wiser-{kind}", path), header["settings"], header["sensor"]
        weights = {name: value.float() if value.is_floating_point() else value for name, value in weights.items()}
        network = build_network(kind, settings, "meta")
        check_fit(path, weights, network.state_dict())
        network.load_state_dict(weights, assign=True)
    return network.eval().requires_grad_(False), sensor


def build_network(kind: str, settings: Mapping[str, Any], device: str = "cpu") -> ResNet18 | Restormer:
    """A new network; a setting that it does not have is a ValueError that lists those it has."""
    known = signature(NETWORKS[kind]).parameters
    if unknown := set(settings) - set(known):
        raise ValueError(f"{kind} has no settings {sorted(unknown)}; there are {', '.join(known)}")
    with torch.device(device):
        return NETWORKS[kind](**settings)


def _read_torch(path: Path) -> dict[str, Tensor]:
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        found = next((found[key] for key in _WRAPPED if key in found), found)
        return {str(name): value.detach() for name, value in found.items()}
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError, AttributeError, TypeError) as error:
        raise ModelError(f"{path} is no file of weights alone: {str(error).splitlines()[0]}") from error


def _guess_settings(kind: str, weights: dict[str, Tensor], path: Path) -> dict[str, Any]:
    try:
        return NETWORKS[kind].settings_of(weights)
    except (KeyError, ValueError, IndexError) as error:
        raise ModelError(f"{path} has no weights of {kind}: {error} is missing") from error
