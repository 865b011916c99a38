"""What rejection does with these networks: look at one sensor's frames, or mend them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from wiser.guard.learned.files import read_network
from wiser.guard.learned.resnet import CLEAN, CORRUPTED
from wiser.guard.look import Look
from wiser.worldmodel.protocol import Sensor, WorldModel, unit_image


@dataclass(frozen=True)
class Learned:
    """Stands for a function of a look that needs weights, which are found only when there is a model."""

    name: str
    """Of the file of weights beside the model's own, without its suffix."""
    load: Callable[[Path, WorldModel], Callable[[Look], Any]]
    """Reads weights, for a model."""
    path: Path | None = None
    """The file of weights, where it is not beside the model's."""

    def file(self, model: WorldModel) -> Path:
        """Where the weights are, or should be."""
        if self.path is not None:
            return self.path
        if model.folder is None:
            raise ValueError(f"this model has no folder in which to look for weights: name a file, {self.name}@FILE")
        return model.folder / f"{self.name}.safetensors"

    def there(self, model: WorldModel) -> bool:
        """Whether there are weights."""
        return (self.path is not None or model.folder is not None) and self.file(model).is_file()

    def found(self, model: WorldModel) -> Path:
        """Where the weights are; a ValueError says how to get some where there are none."""
        file = self.file(model)
        if not file.is_file():
            raise ValueError(
                f"no weights of {self.name} at {file}: `wiser learn {self.name} AGENT ENV` makes them, "
                f"or name a file, {self.name}@FILE"
            )
        return file

    def ready(self, model: WorldModel) -> Callable[[Look], Any]:
        """The function, with its weights."""
        return self.load(self.found(model), model)


def corruption(path: Path, model: WorldModel) -> Callable[[Look], Tensor]:
    """Score: -log of the probability that the frame is clean, in nats; log 2 is where the classes change."""
    network, told = read_network("resnet18", path)
    sensor, column = _find_sensor(model, told, path, network.settings["channels"])
    network = network.to(model.initial(1).deter.device)

    def score(look: Look) -> Tensor:
        """(B,); +inf in rows where the sensor is not in use."""
        logits = network(look.obs[sensor.name])  # (B, 2)
        nats = F.softplus(logits[:, CORRUPTED] - logits[:, CLEAN])
        return torch.where(look.mask[:, column], nats, torch.inf)

    return score


def restoration(path: Path, model: WorldModel) -> Callable[[Look], Mapping[str, Tensor]]:
    """Denoiser: frames of one sensor as a Restormer mends them."""
    network, told = read_network("restormer", path)
    sensor, _ = _find_sensor(model, told, path, network.settings["channels"])
    network = network.to(model.initial(1).deter.device)

    def repair(look: Look) -> Mapping[str, Tensor]:
        """All readings; that sensor's as floats in [0, 1]."""
        mended = network(unit_image(look.obs[sensor.name])).clamp(0.0, 1.0)
        return {**look.obs, sensor.name: mended}

    return repair


def find_image(model: WorldModel, name: str | None) -> Sensor:
    """The image sensor of that name, or the only one there is."""
    images = {sensor.name: sensor for sensor in model.sensors if sensor.is_image}
    if name is None and len(images) == 1:
        return next(iter(images.values()))
    if name not in images:
        asked = "a network looks at one sensor's frames" if name is None else f"this agent has no image {name!r}"
        raise ValueError(f"{asked}; its images are {', '.join(images) or 'none'}")
    return images[name]


def _find_sensor(model: WorldModel, told: str | None, path: Path, channels: int) -> tuple[Sensor, int]:
    """The sensor that weights are for, and its column."""
    try:
        sensor = find_image(model, told)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if sensor.shape[2] != channels:
        raise ValueError(f"{path} is for pictures of {channels} channels, {sensor.name} has {sensor.shape[2]}")
    return sensor, model.sensors.index(sensor)
