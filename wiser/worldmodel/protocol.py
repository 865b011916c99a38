"""The seam: what a world model must offer so that the guard can protect it.

The guard is written against this file and nothing else. One step is

    predict (once)  ->  embed (each sensor once)  ->  infer (any number of subsets, one batch)  ->  decode, act

Letters used in every shape comment of the project: B rows (environments), T time, N sensors, K candidate subsets,
S x C latent groups x classes, D recurrent size, E features of one sensor, A action size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Sensor:
    """One sensor as the model knows it: an image (H, W, C), a vector (n,) or a scalar ().

    Images are uint8 in 0..255, or floats in [0, 1]; vectors are floats in their own units, and `low` and `high` bound
    all of their elements.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "uint8"
    low: float = 0.0
    high: float = 255.0

    def __post_init__(self) -> None:
        if len(self.shape) not in (0, 1, 3):
            raise ValueError(f"sensor {self.name!r}: shape {self.shape} is neither (H, W, C), (n,) nor ()")
        if not self.is_image and self.dtype != "float32":
            raise ValueError(f"sensor {self.name!r}: vectors are float32, not {self.dtype}")
        if self.is_image and (self.dtype, self.low, self.high) not in _IMAGE_FORMS:
            raise ValueError(
                f"sensor {self.name!r}: an image is uint8 in 0..255 or float32 in 0..1, "
                f"not {self.dtype} in {self.low}..{self.high}"
            )

    @property
    def is_image(self) -> bool:
        """Whether this sensor delivers pictures (H, W, C)."""
        return len(self.shape) == 3

    @property
    def size(self) -> int:
        """How many numbers one reading has."""
        return math.prod(self.shape)

    @classmethod
    def from_space(cls, name: str, space: gym.Space[Any]) -> Sensor:
        """Describe a Gymnasium `Box`."""
        if not isinstance(space, gym.spaces.Box):
            raise ValueError(f"sensor {name!r}: expected a Box space, got {space}")
        low, high = float(space.low.min()), float(space.high.max())
        dtype = str(np.dtype(str(space.dtype)))
        kind = "uint8" if dtype == "uint8" and len(space.shape) == 3 else "float32"
        return cls(name, tuple(space.shape), kind, low, high)


_IMAGE_FORMS = (("uint8", 0.0, 255.0), ("float32", 0.0, 1.0))


@dataclass(frozen=True)
class Actions:
    """The action space: `size` choices if discrete, else a vector of `size` numbers between `low` and `high`."""

    size: int
    discrete: bool = True
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    start: int = 0  # the environment's number of the first choice

    @classmethod
    def from_space(cls, space: gym.Space[Any]) -> Actions:
        """Describe a Gymnasium `Discrete` or a bounded one-dimensional `Box`."""
        if isinstance(space, gym.spaces.Discrete):
            return cls(int(space.n), start=int(space.start))
        if isinstance(space, gym.spaces.Box) and len(space.shape) == 1 and space.is_bounded():
            return cls(space.shape[0], False, tuple(space.low.tolist()), tuple(space.high.tolist()))
        raise ValueError(f"actions must be Discrete or a bounded one-dimensional Box, got {space}")


def sensors_of(space: gym.Space[Any]) -> tuple[Sensor, ...]:
    """Describe every sensor of a Gymnasium `Dict` observation space, in its order."""
    if not isinstance(space, gym.spaces.Dict):
        raise ValueError(f"observations must be a Dict of sensors, got {space}")
    return tuple(Sensor.from_space(name, part) for name, part in space.items())


def unit_image(x: Tensor) -> Tensor:
    """uint8 images in 0..255 -> floats in [0, 1]; floats as they are."""
    return x.float() * (1 / 255) if x.dtype == torch.uint8 else x


class Belief(NamedTuple):
    """What the agent holds to be true: recurrent state and one-hot latent."""

    deter: Tensor  # (B, D)
    stoch: Tensor  # (B, S, C)


class Prior(NamedTuple):
    """What the model expects before it looks."""

    deter: Tensor  # (B, D), h_t
    logprobs: Tensor  # (B, S, C), log p(z_t | h_t)


class WorldModel(Protocol):
    """A trained world model with an actor. All methods are batched over rows and draw no random numbers of their own.

    `act` samples when it is given uniform noise (B, A) in (0, 1), and takes the mode without it.
    """

    sensors: tuple[Sensor, ...]  # this order fixes the columns of every mask
    actions: Actions
    decodes: tuple[str, ...]  # sensors that `decode` returns; empty for decoder-free models
    folder: Path | None  # where it was loaded from; its calibration lies beside the weights
    digest: str | None  # of the weights as loaded, so that a calibration of other weights is not mistaken for theirs

    def initial(self, rows: int) -> Belief:
        """Return the belief before an episode."""

    def predict(self, belief: Belief, action: Tensor, first: Tensor) -> Prior:
        """Advance one step; rows with `first` (B,) start from the initial belief and a zero action."""

    def embed(self, obs: Mapping[str, Tensor]) -> Any:
        """Look at each sensor once. uint8 images are scaled by 1/255, floats are taken as they are."""

    def infer(self, prior: Prior, features: Any, masks: Tensor) -> Tensor:
        """Posterior log-probabilities (B, K, S, C) for candidate subsets `masks` (B, K, N), True = trusted.

        The prior is that of each row, or one of each row and subset, deter (B, K, D) and logprobs (B, K, S, C).
        """

    def decode(self, belief: Belief) -> dict[str, Tensor]:
        """Expected readings: images in [0, 1], vectors in their own units."""

    def act(self, belief: Belief, noise: Tensor | None = None) -> Tensor:
        """Choose actions (B, A): one-hot if discrete, else in [-1, 1]."""
