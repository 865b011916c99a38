"""Small random models and observations for all tests."""

from __future__ import annotations

import numpy as np
import torch

from wiser.worldmodel.dreamer import DreamerConfig, DreamerV3
from wiser.worldmodel.protocol import Actions, Sensor

DISCRETE = Actions(5)
CONTINUOUS = Actions(2, False, (-3.0, -1.0), (3.0, 1.0))


def image(name: str, size: int = 16, channels: int = 3) -> Sensor:
    return Sensor(name, (size, size, channels))


def vector(name: str, size: int = 3) -> Sensor:
    return Sensor(name, (size,), "float32", -float("inf"), float("inf"))


def images(count: int) -> tuple[Sensor, ...]:
    return tuple(image(f"camera{i}") for i in range(count))


def config(sensors: tuple[Sensor, ...], actions: Actions = DISCRETE, **changes: object) -> DreamerConfig:
    sizes = {"deter": 32, "hidden": 24, "classes": 4, "depth": 2, "units": 16, "stoch": 6, "blocks": 4}
    return DreamerConfig(sensors=sensors, actions=actions, **{**sizes, **changes})


def model(sensors: tuple[Sensor, ...], actions: Actions = DISCRETE, seed: int = 0, **changes: object) -> DreamerV3:
    """A random model whose sensors all matter: every weight is disturbed, biases and output layers included."""
    built = DreamerV3(config(sensors, actions, **changes), seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    return built.eval().requires_grad_(False)


def reading(sensor: Sensor, rng: np.random.Generator) -> np.ndarray:
    if sensor.dtype == "uint8":
        return rng.integers(0, 256, sensor.shape, dtype=np.uint8)
    return rng.standard_normal(sensor.shape).astype(np.float32)


def observation(sensors: tuple[Sensor, ...], rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {sensor.name: reading(sensor, rng) for sensor in sensors}


def batch(sensors: tuple[Sensor, ...], rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {sensor.name: np.stack([reading(sensor, rng) for _ in range(rows)]) for sensor in sensors}


def tensors(obs: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(value) for name, value in obs.items()}
