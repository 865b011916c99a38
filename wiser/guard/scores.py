"""Scores by name: how odd the readings of a step are. Rejection judges by them, calibrations record them.

>>> SCORES["darkness"] = Score(lambda look: -look.obs["camera"].float().flatten(1).mean(1))
>>> calibrate(model, step, rows=16, steps=1000, scores=("darkness",)).save(folder)
>>> Guard(model, Rejection(score="darkness", denoiser=None))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch import Tensor

from wiser.guard.look import Look, reconstruction_error
from wiser.worldmodel.protocol import Sensor, WorldModel


@dataclass(frozen=True)
class Score:
    """One number per row for the sensors in use, and what it is called for a single one."""

    measure: Callable[[Look], Tensor]
    """Maps a look to (B,); higher is worse."""
    alone: str | None = None
    """Its name where one sensor alone is in use, which a calibration then records for each; None = it does not."""
    decodes: bool = False
    """Whether it compares readings with decoded ones: there is none of models and sensors without a decoder."""

    def singles(self, sensors: tuple[Sensor, ...]) -> list[str]:
        """What a calibration calls this score of each sensor alone; empty if it has none."""
        return [f"{self.alone}/{sensor.name}" for sensor in sensors] if self.alone else []


def in_context_surprise(look: Look) -> Tensor:
    """Bayesian surprise of the readings. (B,)."""
    return look.surprise


def context_free_reconstruction(look: Look) -> Tensor:
    """M of the paper: how badly the readings are rebuilt from themselves alone, h = h_0. (B,)."""
    return reconstruction_error(look, look.reset_belief)


def in_context_reconstruction(look: Look) -> Tensor:
    """How badly the readings are rebuilt with the context. (B,)."""
    return reconstruction_error(look, look.belief)


SCORES: dict[str, Score] = {
    "surprise": Score(in_context_surprise, alone="isolated_surprise"),
    "reconstruction": Score(context_free_reconstruction, alone="reconstruction", decodes=True),
    "context": Score(in_context_reconstruction, decodes=True),
}
"""Those that go by a name. Add your own."""


def known_scores(model: WorldModel, names: Iterable[str] | None = None) -> dict[str, Score]:
    """Look names up, or find all scores that the model can give. One that it cannot give is a ValueError."""
    if names is None:
        return {name: score for name, score in SCORES.items() if is_given(model, name)}
    found = {}
    for name in names:
        if name not in SCORES:
            raise ValueError(f"unknown score {name!r}; there are {', '.join(SCORES)}")
        if not is_given(model, name):
            raise ValueError(f"this model has no decoder, so that score {name!r} cannot be measured: leave it out")
        found[name] = SCORES[name]
    return found


def is_given(model: WorldModel, name: str) -> bool:
    """Whether the model can give what goes by this name in a calibration."""
    return name not in SCORES or not SCORES[name].decodes or bool(model.decodes)


def measure_scores(look: Look, scores: dict[str, Score]) -> dict[str, Tensor]:
    """What a calibration records of one look, (B,) each: every score of all sensors, and of each sensor alone."""
    found = {name: score.measure(look) for name, score in scores.items()}
    logprobs = look.infer(look.alone)[0]  # (B, N, S, C)
    for column, sensor in enumerate(look.model.sensors):
        single = look.trusting(look.alone[:, column], logprobs[:, column])
        for score in scores.values():
            if score.alone and (sensor.name in look.model.decodes or not score.decodes):
                found[f"{score.alone}/{sensor.name}"] = score.measure(single)
    return found
