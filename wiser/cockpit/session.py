"""Two copies of the same agent in the same episode, with the same sensors broken by the same hand."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace

import numpy as np

from wiser.cockpit.catalogue import Choice
from wiser.cockpit.side import Side
from wiser.envs.domain import domain_of
from wiser.evaluate.treatments import find_treatment, resolve_name
from wiser.faults import FAULTS, Signal
from wiser.guard.calibration import beside
from wiser.options import to_words
from wiser.record import About, Recorder, Recording
from wiser.record.step import Step
from wiser.worldmodel.protocol import WorldModel
from wiser.worldmodel.store import load

LONGEST = 500  # steps that are kept for download: 0.5 GB at most, with six cameras


class Session:
    """Needs no server and no clock: `step` drives both sides once. Same choice, same clicks, same episode."""

    choice: Choice
    agent: WorldModel
    recorder: Recorder

    def __init__(self, choice: Choice) -> None:
        self.sides: tuple[Side, ...] = ()
        self._begin(choice, load(choice.agent))

    def restart(self, choice: Choice | None = None) -> None:
        """Begin the episode anew, or another one; a ValueError says why that one cannot be driven, and this goes on."""
        choice = choice or self.choice
        same = choice.agent == self.choice.agent
        self._begin(choice, self.agent if same else load(choice.agent))

    def _begin(self, choice: Choice, agent: WorldModel) -> None:
        treatments = [replace(find_treatment(name), blind_limit=choice.blind_limit) for name in choice.treatments]
        sides = tuple(Side(agent, choice.env, how, choice.seed, choice.env_options) for how in treatments)
        self.close()
        self.choice, self.agent, self.sides = choice, agent, sides
        self.lanes = name_lanes(choice.treatments)
        about = About(
            f"{choice.agent} in the cockpit", choice.env, choice.agent, (choice.seed,), command(choice),
            steps_per_second=domain_of(choice.env).steps_per_second,
        )  # fmt: skip
        self.resolved = tuple(resolve_name(name, agent) for name in choice.treatments)
        lanes = dict(zip(self.lanes, self.resolved, strict=True))
        self.recorder = Recorder(agent.sensors, lanes, about, beside(agent.folder, agent.digest), limit=LONGEST)
        self.steps = 0
        self._rng = np.random.default_rng(choice.seed)

    @property
    def over(self) -> bool:
        """Whether the episode has ended on both sides."""
        return all(side.outcome for side in self.sides)

    @property
    def faults(self) -> dict[str, tuple[str, float]]:
        """{sensor: (fault, intensity)} of what is switched on."""
        return dict(self.sides[0].faults)

    def step(self) -> tuple[Step | None, ...]:
        """Drive both sides once: what each saw, and what its guard made of it; None where the episode is over."""
        self.steps += 1
        pairs = zip(self.sides, self.lanes, strict=True)
        return tuple(None if side.outcome else side.step(self.recorder, lane) for side, lane in pairs)

    def break_sensor(self, name: str, fault: str, intensity: float = 1.0) -> None:
        """Break a sensor on both sides, from the next observation on. It has one fault at a time."""
        self._check(name)
        if fault not in self.faults_of(name):
            raise ValueError(f"{fault!r} cannot break {name}; there are {', '.join(self.faults_of(name))}")
        for side in self.sides:
            side.break_sensor(name, fault, intensity)

    def heal_sensor(self, name: str | None = None) -> None:
        """Heal a sensor on both sides, or all of them."""
        if name is not None:
            self._check(name)
        for side in self.sides:
            for sensor in self.sensor_names if name is None else (name,):
                side.heal_sensor(sensor)

    def surprise_me(self) -> str:
        """Heal everything, then break some sensors in some way, drawn from the seed; says what happened."""
        sensors = list(self.sensor_names)
        count = int(self._rng.integers(1, max(2, len(sensors))))  # one of several is left alone
        chosen = sorted(self._rng.permutation(sensors)[:count].tolist())
        common = [fault for fault in FAULTS if all(fault in self.faults_of(name) for name in chosen)]
        fault, intensity = str(self._rng.choice(common)), round(float(self._rng.uniform(0.5, 1.0)), 2)
        self.heal_sensor()
        for name in chosen:
            self.break_sensor(name, fault, intensity)
        return f"{fault} {intensity:g} on {', '.join(chosen).replace('_', ' ')}"

    @property
    def sensor_names(self) -> tuple[str, ...]:
        """The agent's sensors."""
        return tuple(sensor.name for sensor in self.agent.sensors)

    def faults_of(self, name: str) -> tuple[str, ...]:
        """The faults that can break a sensor."""
        space = self.sides[0].env.single_observation_space[name]
        signal = Signal.from_space(space)
        return () if signal is None else tuple(fault for fault in FAULTS if _applies(fault, signal, space.shape))

    def recording(self) -> Recording:
        """The episode so far."""
        return self.recorder.recording()

    def close(self) -> None:
        """Let go of what the simulators hold."""
        for side in self.sides:
            side.close()

    def _check(self, name: str) -> None:
        if name not in self.sensor_names:
            raise ValueError(f"this agent has no sensor {name!r}; there are {', '.join(self.sensor_names)}")


def command(choice: Choice) -> str:
    """What opens a cockpit with this choice; the clicks are yours."""
    given = asdict(choice)
    options = to_words(given.pop("env_options"))
    pairs = [(f"--{name.replace('_', '-')}", str(value)) for name, value in given.items() if value is not None]
    words = [word for pair in pairs for word in pair]
    return shlex.join(["wiser", "cockpit", *words, *(["--env-options", *options] if options else [])])


def name_lanes(treatments: tuple[str, str]) -> tuple[str, str]:
    """What the sides are called; each its own name."""
    left, right = ("unguarded" if treatment == "none" else "guarded" for treatment in treatments)
    return (left, right) if left != right else (f"{left}, left", f"{right}, right")


def _applies(fault: str, signal: Signal, shape: tuple[int, ...]) -> bool:
    try:
        FAULTS[fault].check(signal, shape)
    except ValueError:
        return False
    return True
