"""What is compared: each method is one of a task's agents with a way to treat its sensors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.guard import Guard, Judge, Rejection, judge_by_name
from wiser.guard.calibration import beside
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class Method:
    """An agent, a guard round it, and what is done to images before either sees them."""

    agent: str
    """Which of the task's agents: the last part of its name under `models/`."""
    judge: str | Judge = "none"
    """How the guard trusts, by name or as an object."""
    median: bool = False
    """Whether images pass a 3x3 median filter first."""
    about: str = ""
    """One line for tables and captions."""

    def guard(self, agent: WorldModel, rows: int | None, seed: int) -> Guard:
        """Guard the agent in `rows` environments, or in one (None); one seed gives every method the same draws."""
        return Guard(agent, self.judge, rows=rows, seed=seed)

    def treatment(self, agent: WorldModel) -> str:
        """Digest of everything that decides how this agent's sensors are treated: settings, and thresholds if any."""
        judge = judge_by_name(self.judge)
        content = [_plain(judge), self.median]
        if judge.needs:
            calibration = beside(agent.folder, agent.digest)
            content.append(calibration.digest if calibration else None)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def prepare(self, obs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Readings as the guard gets them."""
        return {name: median_filter(value) for name, value in obs.items()} if self.median else obs


METHODS: dict[str, Method] = {
    "base": Method("base", about="trained normally, every sensor trusted"),
    "augmented": Method("augmented", about="trained with Gaussian noise on its input, every sensor trusted"),
    "dropout": Method("dropout", about="trained with sensor dropout, every sensor trusted"),
    "rme": Method("dropout", "random", about="trained with sensor dropout, a random mask at every step"),
    "confident": Method("dropout", "greedy", about="trained with sensor dropout, greedy selection by surprise"),
    "exhaustive": Method("dropout", "exhaustive", about="trained with sensor dropout, the best of all subsets"),
    "calibrated": Method("dropout", "calibrated", about="trained with sensor dropout, every sensor that is usual"),
    "single": Method("single", about="one sensor, always trusted"),
    "filter": Method("single", median=True, about="one sensor behind a 3x3 median filter"),
    "reject": Method("single", "reject", about="one sensor, rejection sampling as in the paper"),
    "reject-reference": Method(
        "single",
        Rejection(transitions="reference"),
        about="one sensor, rejection sampling with the transitions of the published code",
    ),
    "predict": Method(
        "single",
        "predict",
        about="one sensor; what is normal neither in itself nor in context is predicted instead",
    ),
}


def _plain(settings: Any) -> Any:
    """Settings as JSON can write them, the same in every process."""
    if is_dataclass(settings):
        values = {field.name: _plain(getattr(settings, field.name)) for field in fields(settings)}
        return [type(settings).__qualname__, values]
    if isinstance(settings, (tuple, list)):
        return [_plain(value) for value in settings]
    if callable(settings):
        return f"{settings.__module__}.{settings.__qualname__}"
    return settings


def find_method(name: str) -> Method:
    """Look a method up; an unknown name is a ValueError that lists the known ones."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}; there are {', '.join(METHODS)}")
    return METHODS[name]


def median_filter(images: NDArray[Any]) -> NDArray[Any]:
    """3x3 median of each channel, edges mirrored: (B, H, W, C) uint8; anything else is passed on."""
    if images.ndim != 4 or images.dtype != np.uint8:
        return images
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    return np.stack([cv2.medianBlur(image, 3)[1:-1, 1:-1] for image in framed]).reshape(images.shape)
