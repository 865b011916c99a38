"""Ways to treat the frames that a model goes on from, by name, and what it then generates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch import Tensor

from wiser.names import perhaps
from wiser.video.authors import AuthorsGating, authors_gate
from wiser.video.gate import Gated, Gating, gate, ungated
from wiser.video.predictor import Pixels, Predictor, Reconstructing, draws_of, unit
from wiser.video.verdicts import believed
from wiser.video.witnesses import witnesses

Treatment = Callable[[Pixels, Predictor, Gating, int], Gated]


def no_gate(clip: Pixels, model: Predictor, settings: Gating, seed: int) -> Gated:
    """Every frame is believed, as without WISER; as many of them condition the model as with a gate."""
    window = unit(clip[-settings.frames :])  # (N, H, W, 3)
    return Gated(ungated(clip, settings.condition), window, (believed(),) * len(window), len(clip) - len(window))


def predicting(clip: Pixels, model: Predictor, settings: Gating, seed: int) -> Gated:
    """Ours, the guard's `predict`: what is not clean is predicted, without D; predictions stay in the context."""
    return gate(clip, model, replace(settings, sigma=None, transitions="keep"), seed)


def as_published(clip: Pixels, model: Predictor, settings: Gating, seed: int) -> Gated:
    """The authors' own gate with their constants: it conditions the model on one frame, whatever is set."""
    if not isinstance(model, Reconstructing):
        raise ValueError("the authors' gate compares decoded frames, which only Cosmos has: use the gate 'paper'")
    return authors_gate(clip, model, AuthorsGating(), seed)


GATES: dict[str, Treatment] = {"none": no_gate, "paper": gate, "predict": predicting, "witnesses": witnesses,
                               "authors": as_published}  # fmt: skip
"""Those that go by a name."""


def check_gates(names: Sequence[str], condition: int) -> bool:
    """Whether any of these gates has thresholds to be calibrated; raises where one is unknown or not comparable."""
    for name in names:
        if name not in GATES:
            raise ValueError(f"unknown gate {name!r}{perhaps(name, GATES)}; there are {', '.join(GATES)}")
    if "authors" in names and condition != 1:
        raise ValueError("the authors' gate goes on from one frame: set --condition 1, so that all gates do")
    return bool({"paper", "predict", "witnesses"} & set(names))


def generate(model: Predictor, gated: Gated, count: int, seed: int) -> Tensor:
    """The next frames (count, H, W, 3): of one seed the same draws, whatever is gone on from."""
    return model.rollout(gated.context, count, draws_of("video/generate", seed))
