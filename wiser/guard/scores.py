"""Scores by name, M of the paper: how odd the readings of a step are. Rejection goes by them, calibrations record them.

>>> SCORES["darkness"] = Score(lambda look: -look.obs["camera"].float().flatten(1).mean(1))
>>> calibrate(model, step, rows=16, steps=1000, scores=("darkness",)).save(folder)
>>> Guard(model, Rejection(score="darkness", denoiser=None))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from torch import Tensor

from wiser.guard import plugins
from wiser.guard.learned import Learned, corruption
from wiser.guard.look import Look, reconstruction_error
from wiser.worldmodel.protocol import Sensor, WorldModel

Measure = Callable[[Look], Tensor]
"""Maps a look to (B,); higher is worse."""


@dataclass(frozen=True)
class Score:
    """One number per row for the sensors in use, and what it is called for a single one."""

    measure: Measure | Learned
    """What it is, or what it will be once its weights are found."""
    alone: str | None = None
    """Its name where one sensor alone is in use, which a calibration then records for each; None = it does not."""
    decodes: bool = False
    """Whether it compares readings with decoded ones: there is none of models and sensors without a decoder."""
    tau: float | None = None
    """Threshold that it brings along; None = calibrated."""

    def singles(self, sensors: tuple[Sensor, ...]) -> list[str]:
        """What a calibration calls this score of each sensor alone; empty if it has none."""
        return [f"{self.alone}/{sensor.name}" for sensor in sensors] if self.alone else []

    def ready(self, model: WorldModel) -> Measure:
        """What to measure of a look."""
        return self.measure.ready(model) if isinstance(self.measure, Learned) else self.measure

    def possible(self, model: WorldModel) -> bool:
        """Whether the model can give it, and its weights are there."""
        there = self.measure.there(model) if isinstance(self.measure, Learned) else True
        return there and bool(model.decodes or not self.decodes)


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
    "resnet18": Score(Learned("resnet18", corruption), tau=math.log(2)),
}
"""Those that go by a name. Add your own."""


def find_score(name: str) -> Score:
    """Look a name up, in any of the forms of `plugins`; an unknown one is a ValueError that lists the known ones."""
    found, weights = plugins.find("score", SCORES, name)
    score = found if isinstance(found, Score) else Score(found)
    if weights is None:
        return score
    if not isinstance(score.measure, Learned):
        raise ValueError(f"score {name.partition('@')[0]!r} has no weights: leave out @{weights}")
    return replace(score, measure=replace(score.measure, path=weights))


def known_scores(model: WorldModel, names: Iterable[str] | None = None) -> dict[str, Score]:
    """Look names up, or find all scores that the model can give, with their weights if they have some.

    One that it cannot give is a ValueError.
    """
    if names is None:
        everything = {name: find_score(name) for name in (*SCORES, *plugins.installed_names("score"))}
        found = {name: score for name, score in everything.items() if score.possible(model)}
    else:
        found = {name: find_score(name) for name in names}
    for name, score in found.items():
        if score.decodes and not model.decodes:
            raise ValueError(f"this model has no decoder, so that score {name!r} cannot be measured: leave it out")
    return {name: replace(score, measure=score.ready(model)) for name, score in found.items()}


def is_given(model: WorldModel, name: str) -> bool:
    """Whether the model can give what goes by this name in a calibration."""
    return name not in SCORES or not SCORES[name].decodes or bool(model.decodes)


def measure_scores(look: Look, scores: dict[str, Score]) -> dict[str, Tensor]:
    """What a calibration records of one look, (B,) each: every score of all sensors, and of each sensor alone."""
    measures = {name: score.ready(look.model) for name, score in scores.items()}
    found = {name: measure(look) for name, measure in measures.items()}
    logprobs = look.infer(look.alone)[0]  # (B, N, S, C)
    for column, sensor in enumerate(look.model.sensors):
        single = look.trusting(look.alone[:, column], logprobs[:, column])
        for name, score in scores.items():
            if score.alone and (sensor.name in look.model.decodes or not score.decodes):
                found[f"{score.alone}/{sensor.name}"] = measures[name](single)
    return found
