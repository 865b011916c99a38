"""Measure what is normal: the unguarded agent on clean sensors, and every score on the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wiser.guard.blindness import BlindRuns
from wiser.guard.calibration import Calibration
from wiser.guard.guard import Guard
from wiser.guard.judges import Measuring
from wiser.guard.scores import known_scores, measure_scores
from wiser.worldmodel.protocol import WorldModel


class Calibrator:
    """Records the scores of clean steps. Act with its `guard`, and let it take down each step.

    >>> calibrator = Calibrator(model, rows=1)
    >>> action, _ = calibrator.guard.act(observation)
    >>> calibrator.take()
    >>> calibrator.calibration().save(folder)

    `wiser.rollout.calibrate` does that in a Gymnasium environment.
    """

    def __init__(
        self,
        model: WorldModel,
        rows: int,
        scores: Sequence[str] | None = None,
        judges: Sequence[Measuring] = (),
        sample_actions: bool = False,
    ) -> None:
        """Prepare for `rows` environments.

        scores: names from `SCORES`, of all sensors and where it makes sense of each alone; None = all the model can
            give: `surprise`, `isolated_surprise/<sensor>`, and for models that decode `reconstruction` (context-free, M
            of the paper), `reconstruction/<sensor>` (from that sensor alone) and `context` (in-context reconstruction).
        judges: those whose own statistics are recorded too; they watch and decide nothing.
        sample_actions: draw actions instead of taking the most likely one, as the agent will when it is guarded.
        """
        self.guard = Guard(model, "none", rows=rows, sample_actions=sample_actions)
        self._asked = known_scores(model, scores)
        self._judges = tuple(judges)
        self._meters = [judge.measure(model, rows) for judge in judges]
        self._recorded: dict[str, list[np.ndarray[Any, Any]]] = defaultdict(list)
        self._began: list[np.ndarray[Any, Any]] = []
        self._blind = BlindRuns(model, rows, self.guard.draws)

    @torch.no_grad()
    def take(self) -> None:
        """Take down the step that the guard just acted on."""
        evidence = self.guard.evidence
        if evidence is None:
            raise ValueError("nothing to take down: act with the calibrator's guard first")
        found = measure_scores(evidence.look, self._asked)
        for meter in self._meters:
            found |= meter(evidence)
        self._blind.take(evidence, self.guard.belief)
        self._began.append(evidence.begin.cpu().numpy())
        for name, values in found.items():
            self._recorded[name].append(values.cpu().numpy())

    def calibration(self, **about: Any) -> Calibration:
        """What is normal so far; first frames are summarised apart."""
        if not self._began:
            raise ValueError("a calibration needs at least one step")
        begin = np.stack(self._began)  # (T, B)
        frames = {name: np.stack(values) for name, values in self._recorded.items()}
        found = self._summary(frames, begin, about)
        for judge in self._judges:
            frames |= judge.conclude(found, frames, begin)
        return self._summary(frames, begin, about) if self._judges else found

    def _summary(
        self, frames: Mapping[str, NDArray[Any]], begin: NDArray[np.bool_], about: Mapping[str, Any]
    ) -> Calibration:
        later, at_first = ({name: values[rows] for name, values in frames.items()} for rows in (~begin, begin))
        return Calibration.of(later, at_first, self.guard.model.digest, self._blind.horizon(), **about)
