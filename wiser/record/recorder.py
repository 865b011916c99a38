"""Collects steps while lanes run, and makes a recording of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.guard import Calibration, Verdict
from wiser.record import step as take
from wiser.record.recording import About, Lane, Recording, stored_dtype, stored_shape
from wiser.record.step import Broken, Step
from wiser.worldmodel.protocol import Sensor

BAND = (0.01, 0.99)  # quantiles of clean scores between which a score counts as normal


class Recorder:
    """Records lanes, in any order and side by side.

    >>> recorder = Recorder(agent.sensors, {"unguarded": "none", "guarded": "greedy"}, About("Glare"))
    >>> recorder.add("guarded", obs, verdict, reward=reward, prediction=agent.decode(guard.belief))
    >>> recorder.recording().save("run.npz")
    """

    def __init__(
        self,
        sensors: Sequence[Sensor],
        lanes: Mapping[str, str] | Sequence[str],
        about: About,
        calibration: Calibration | None = None,
        limit: int | None = None,
    ) -> None:
        """Prepare.

        sensors: the model's, in its order.
        lanes: names, or {name: method}.
        about: what is recorded.
        calibration: says which scores are normal; they are drawn as a band.
        limit: of steps to keep; older ones are forgotten in all lanes alike. None keeps everything.
        """
        self.sensors, self.about, self.limit = tuple(sensors), about, limit
        self.methods = dict(lanes) if isinstance(lanes, Mapping) else dict.fromkeys(lanes, "")
        if not self.methods:
            raise ValueError("a recording needs at least one lane")
        self.bands = {} if calibration is None else _bands(calibration)
        self._steps: dict[str, deque[Step]] = {name: deque() for name in self.methods}
        self._forgotten = dict.fromkeys(self.methods, 0)  # steps of each lane
        self._outcome = dict.fromkeys(self.methods, "")

    def add(
        self,
        lane: str,
        obs: Any,
        verdict: Verdict,
        *,
        row: int | None = None,
        reward: Any = 0.0,
        measure: float | None = None,
        broken: Broken | None = None,
        prediction: Mapping[str, Any] | None = None,
        view: Any = None,
        outcome: str = "",
    ) -> Step:
        """Record one step: what was seen, what the guard said of it, and what the action then earned.

        row: which one, if observation, verdict, reward and prediction are those of a batch.
        measure: the running number to show; without it, the sum of the rewards.
        broken: the truth, `broken_now(...)`.
        prediction: what the model believes the sensors show, `model.decode(guard.belief)`.
        view: a picture of the world for people, as of `env.render()`.
        outcome: how the episode ended; the lane is over with it.
        """
        steps = self._open(lane)
        earned = float(np.asarray(reward)[row]) if row is not None and np.ndim(reward) else float(reward)
        step = Step(
            readings=take.take_readings(self.sensors, obs, row),
            predictions=take.take_predictions(self.sensors, prediction, row),
            view=take.take_view(view),
            verdict=take.take_verdict(verdict, row),
            broken=self._known(broken or {}),
            reward=earned,
            measure=(steps[-1].measure if steps else 0.0) + earned if measure is None else float(measure),
        )
        if steps and _extras(step) != _extras(steps[0]):
            raise ValueError(f"lane {lane!r}: view and predictions come with every step or with none, same in size")
        steps.append(step)
        self._outcome[lane] = outcome
        self._forget()
        return step

    def recording(self) -> Recording:
        """Everything so far; may be asked for while lanes still run."""
        empty = [name for name, steps in self._steps.items() if not steps]
        if empty:
            raise ValueError(f"nothing was recorded in {', '.join(map(repr, empty))}")
        return Recording(self.about, self.sensors, tuple(self._lane(name) for name in self.methods), self.bands)

    def _forget(self) -> None:
        """Keep the last `limit` moments of all lanes; a lane that ended before them keeps its last step."""
        if self.limit is None:
            return
        oldest = max(self._forgotten[name] + len(steps) for name, steps in self._steps.items()) - self.limit
        for name, steps in self._steps.items():
            while self._forgotten[name] < oldest and len(steps) > 1:
                steps.popleft()
                self._forgotten[name] += 1

    def _open(self, lane: str) -> deque[Step]:
        if lane not in self._steps:
            raise ValueError(f"no lane {lane!r}; there are {', '.join(map(repr, self._steps))}")
        if self._outcome[lane]:
            raise ValueError(f"lane {lane!r} is over: {self._outcome[lane]}")
        return self._steps[lane]

    def _known(self, broken: Broken) -> dict[str, tuple[str, float]]:
        unknown = broken.keys() - {sensor.name for sensor in self.sensors}
        if unknown:
            raise ValueError(
                f"broken sensors {sorted(unknown)} are unknown; there are {[s.name for s in self.sensors]}"
            )
        return {name: (str(fault), float(intensity)) for name, (fault, intensity) in broken.items() if intensity > 0}

    def _lane(self, name: str) -> Lane:
        steps, names = self._steps[name], [sensor.name for sensor in self.sensors]
        verdicts = [step.verdict for step in steps]
        truth = [[step.broken.get(sensor, ("", 0.0)) for sensor in names] for step in steps]
        return Lane(
            name=name,
            method=self.methods[name],
            outcome=self._outcome[name],
            readings={sensor.name: _frames(sensor, steps) for sensor in self.sensors},
            predictions={sensor: np.stack([s.predictions[sensor] for s in steps]) for sensor in steps[0].predictions},
            view=None if steps[0].view is None else np.stack([s.view for s in steps if s.view is not None]),
            present=np.array([[step.readings[sensor] is not None for sensor in names] for step in steps]),
            trusted=np.stack([take.flags(verdict.trusted) for verdict in verdicts]),
            healthy=np.stack([take.flags(verdict.healthy) for verdict in verdicts]),
            level=np.stack([take.numbers(verdict.level) for verdict in verdicts]).astype(np.int8),
            delay=np.stack([take.numbers(verdict.delay) for verdict in verdicts]),
            reason=np.array([[verdict.reasons.get(sensor, "") for sensor in names] for verdict in verdicts], np.str_),
            fault=np.array([[fault for fault, _ in row] for row in truth], np.str_),
            intensity=np.array([[intensity for _, intensity in row] for row in truth], np.float32),
            mode=np.array([int(verdict.mode) for verdict in verdicts], np.int8),
            surprise=np.array([float(verdict.surprise) for verdict in verdicts], np.float32),
            blind_steps=np.array([int(verdict.blind_steps) for verdict in verdicts], np.int32),
            reset=np.array([bool(verdict.reset) for verdict in verdicts]),
            reward=np.array([step.reward for step in steps], np.float32),
            measure=np.array([step.measure for step in steps], np.float32),
            scores=_scores(verdicts),
        )


def broken_now(names: Iterable[str], intensity: Any, fault: str) -> dict[str, tuple[str, float]]:
    """The truth of `SensorFaults`: `broken_now(env.sensor_names, info["fault_intensity"], "glare")`."""
    return {name: (fault, float(value)) for name, value in zip(names, intensity, strict=True) if value > 0}


def _frames(sensor: Sensor, steps: Iterable[Step]) -> NDArray[Any]:
    blank = np.zeros(stored_shape(sensor), stored_dtype(sensor))
    readings = (step.readings[sensor.name] for step in steps)
    return np.stack([blank if reading is None else reading for reading in readings])


def _scores(verdicts: list[Verdict]) -> dict[str, NDArray[np.float32]]:
    """Every score that was measured at some step; NaN at the others."""
    found = [{name: take.column(values) for name, values in verdict.scores.items()} for verdict in verdicts]
    shapes = {name: values.shape for scores in found for name, values in scores.items()}
    return {
        name: np.stack([scores.get(name, np.full(shape, np.nan, np.float32)) for scores in found])
        for name, shape in sorted(shapes.items())
    }


def _extras(step: Step) -> tuple[Any, ...]:
    return (None if step.view is None else step.view.shape, *sorted(step.predictions))


def _bands(calibration: Calibration) -> dict[str, tuple[float, float]]:
    low, high = BAND
    return {name: (calibration.quantile(name, low), calibration.quantile(name, high)) for name in calibration.scores}
