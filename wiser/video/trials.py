"""The paper's experiment on clips whose true continuation is known: broken, treated, gone on from, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from wiser import seeds
from wiser.checks import at_least
from wiser.guard import Mode
from wiser.video.corrupt import FAULTS, Corruption, corrupt
from wiser.video.gate import Gated, Gating
from wiser.video.predictor import Pixels, Predictor, pixels
from wiser.video.quality import continuation_errors
from wiser.video.treatments import GATES, generate

CLEAN = "none"
Scorer = Callable[[Pixels, Pixels | None, str], Mapping[str, float | None]]
"""(T, H, W, 3) frames, a reference picture (H, W, 3), a prompt -> scores by name, None where there is none."""
Trial = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """What is done with each clip."""

    gates: tuple[str, ...] = ("none", "paper")
    faults: tuple[str, ...] = FAULTS
    proportion: float = 0.75
    intensity: float = 1.0
    preset: str = "paper"
    given: int = 12
    """Frames of a clip that are seen, and may be broken: three quarters of twelve are a whole number."""
    horizon: int = 8
    """Frames after them that are generated, and compared with what really came."""
    seeds: int = 3
    """How often each clip is broken and gone on from, differently each time."""

    def __post_init__(self) -> None:
        at_least(1, given=self.given, horizon=self.horizon, seeds=self.seeds)
        for fault in self.faults:
            Corruption(fault, self.proportion, self.intensity, self.preset)


def trials(
    name: str,
    frames: Pixels,
    model: Predictor,
    gating: Gating,
    plan: Experiment,
    scorer: Scorer | None = None,
    prompt: str = "",
) -> Iterator[Trial]:
    """All trials of one clip: clean, and broken by each fault at the same frames. Other clips are broken elsewhere."""
    if len(frames) < plan.given + plan.horizon:
        raise ValueError(f"a clip of {len(frames)} frames has no {plan.given} to see and {plan.horizon} to come")
    seen, truth = frames[: plan.given], frames[plan.given : plan.given + plan.horizon]
    for seed in range(plan.seeds):
        own = int(seeds.stream("video/trials", seed, crc32(name.encode())).generate_state(1)[0])
        for fault in (CLEAN, *plan.faults):
            share = 0.0 if fault == CLEAN else plan.proportion
            harm = Corruption(plan.faults[0] if fault == CLEAN else fault, share, plan.intensity, plan.preset, own)
            broken, which = corrupt(seen, harm)
            for gate in plan.gates:
                gated = GATES[gate](broken, model, gating, own)
                made = pixels(generate(model, gated, plan.horizon, own))
                scores = {} if scorer is None else scorer(made, seen[-1], prompt)
                yield {
                    "clip": name, "fault": fault, "seed": seed, "gate": gate,
                    **continuation_errors(made, truth), **_decisions(gated, which), **_quality(scores),
                }  # fmt: skip


def _quality(scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """Scores by name, and their mean where none is missing, which is the paper's quality score."""
    known = [value for value in scores.values() if value is not None]
    mean = {"mean": float(np.mean(known))} if len(known) == len(scores) > 1 else {}
    return {f"quality/{name}": value for name, value in {**scores, **mean}.items()}


def _decisions(gated: Gated, which: NDArray[np.bool_]) -> dict[str, int]:
    """How many of the judged frames were accepted, and so on, of those that were broken and of the others."""
    truth = which[gated.start :].tolist()
    return {
        f"{mode.name.lower()}/{word}": sum(
            found == mode and hit == state for found, hit in zip(gated.modes, truth, strict=True)
        )
        for mode in Mode
        for word, state in (("broken", True), ("clean", False))
    }
