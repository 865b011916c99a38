"""How an agent's sensors are treated: who judges them, what is done to them before, and what when nothing is left."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.checks import check_fields
from wiser.envs.domain import Rows, domain_of
from wiser.guard import AUTO, Equipped, Guard, Health, Judge, Rejection, find_judge, judge_by_name, preferred_judge
from wiser.guard.blindness import HORIZON, BlindLimit, blind_steps
from wiser.guard.calibration import beside
from wiser.names import perhaps
from wiser.options import read_settings
from wiser.weights import content_of
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class Treatment:
    """A guard's settings, and what is done to images before it sees them."""

    judge: str | Judge = "none"
    """Whom the guard asks which sensors to trust, by name or as an object."""
    median: bool = False
    """Whether images pass a 3x3 median filter first."""
    health: Health = field(default_factory=Health)
    """Which checks run before the model looks."""
    blind_limit: BlindLimit = None
    """Steps without a trusted sensor after which the domain's safe action is taken, if it has one: a number, `horizon`
    (what the agent's calibration has measured), or never."""
    about: str = ""
    """One line for tables and captions."""

    def __post_init__(self) -> None:
        blind_steps(self.blind_limit, None)  # a mistake is found now

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Treatment:
        """Read plain values, as a plan has them; `health` is a mapping, `judge` a name, or {name: {setting: value}}."""
        check_fields(cls, values, "a treatment")
        try:
            judge = _judge(values.get("judge", cls.judge))
            return cls(**{**values, "judge": judge, "health": Health(**values.get("health", {}))})
        except TypeError as error:
            raise ValueError(f"a treatment's health or blind limit: {error}") from error

    def guard(self, agent: WorldModel, env: str, made: Rows, rows: int, seed: int) -> Guard:
        """Guard the agent in `rows` environments; one seed gives every treatment the same draws."""
        domain = domain_of(env)
        safe = domain.fallback
        fallback = None if safe is None else lambda verdict: safe(env, made.single_action_space)
        return Guard(
            agent, self.judge, rows=rows, seed=seed, sample_actions=domain.sample_actions,
            health=self.health, blind_limit=self.blind_limit, fallback=fallback,
        )  # fmt: skip

    def digest(self, agent: WorldModel) -> str:
        """Digest of everything that decides how this agent's sensors are treated: settings, thresholds, weights."""
        judge, calibration = find_judge(self.judge, agent)
        limit = blind_steps(
            self.blind_limit, beside(agent.folder, agent.digest) if self.blind_limit == HORIZON else None
        )
        content = [_plain(judge), self.median, _plain(self.health), limit]
        if judge.needs:
            content.append(calibration.digest if calibration else None)
        if isinstance(judge, Equipped):
            content += [content_of(file) for file in judge.files(agent)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def prepare(self, obs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Readings as the guard gets them."""
        return {name: median_filter(value) for name, value in obs.items()} if self.median else obs


TREATMENTS: dict[str, Treatment] = {
    AUTO: Treatment(AUTO, about="the best way there is a calibration for: witnesses, or predict with one sensor"),
    "none": Treatment(about="every sensor trusted"),
    "random": Treatment("random", about="a random mask at every step"),
    "greedy": Treatment("greedy", about="greedy selection by surprise"),
    "exhaustive": Treatment("exhaustive", about="the least surprising of all subsets"),
    "calibrated": Treatment("calibrated", about="every sensor that is as surprising as it usually is"),
    "witnesses": Treatment("witnesses", about="every sensor that follows from what it showed before and is not late"),
    "median": Treatment(median=True, about="images behind a 3x3 median filter"),
    "reject": Treatment("reject", about="rejection sampling as in the paper"),
    "reject-reference": Treatment(
        Rejection(transitions="reference"), about="rejection sampling with the transitions of the published code"
    ),
    "predict": Treatment("predict", about="what is normal neither in itself nor in context is predicted instead"),
}


def find_treatment(name: str | Treatment) -> Treatment:
    """Look a treatment up, or pass one on; an unknown name is a ValueError that lists the known ones.

    Its judge may be told more: `reject:score=surprise,denoiser=null`, values as YAML has them.
    """
    if isinstance(name, Treatment):
        return name
    bare, colon, settings = name.partition(":")
    if bare not in TREATMENTS:
        raise ValueError(f"unknown treatment {bare!r}{perhaps(bare, TREATMENTS)}; there are {', '.join(TREATMENTS)}")
    found = TREATMENTS[bare]
    return (
        replace(found, judge=_told(found.judge, bare, read_settings(settings, "a judge")), about="") if colon else found
    )


def resolve_name(name: str, agent: WorldModel) -> str:
    """The treatment that `auto` stands for with this agent; any other name is passed on."""
    return preferred_judge(agent, beside(agent.folder, agent.digest)) if name == AUTO else name


def median_filter(images: NDArray[Any]) -> NDArray[Any]:
    """3x3 median of each channel, edges mirrored: (B, H, W, C) uint8; anything else is passed on."""
    if images.ndim != 4 or images.dtype != np.uint8:
        return images
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    return np.stack([cv2.medianBlur(image, 3)[1:-1, 1:-1] for image in framed]).reshape(images.shape)


def _judge(described: Any) -> str | Judge:
    """A judge by name, or by name and settings."""
    if not isinstance(described, Mapping):
        return str(described)
    if len(described) != 1:
        raise ValueError(f"a judge with settings is {{name: {{setting: value}}}}, got {dict(described)}")
    ((name, settings),) = described.items()
    return _told(name, name, settings)


def _told(judge: str | Judge, name: str, settings: Any) -> Judge:
    """A judge with some settings of its own."""
    judge = judge_by_name(judge)
    check_fields(type(judge), settings, f"judge {name!r}")
    changed: Judge = replace(judge, **settings)  # type: ignore[type-var]
    return changed


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
