"""Ours: which frames of a video bear each other out. Without D, and without resets.

A frame is *usual* when it is as far from what the model makes of it alone as clean frames are: not further, and not
nearer either, for a white picture is foretold all too well. Two frames *bear each other out* when the later one is what
the model foretells of the earlier one, as nearly as on clean video. The largest set of usual frames that all bear each
other out is accepted. A frame's unlikeness is the worst of all this, as a multiple of what is rare on clean video:
below 1 it is accepted. Errors spread widely, in logarithms too, so that quantiles are asked and no deviations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser.video.gate import Gated, Gating, walk
from wiser.video.predictor import Pixels, Predictor, draws_of, unit

LEADS = 8
"""How far ahead frames are foretold."""
FLOOR = 1e-10
"""Errors below this are as good as none: ratios need an end."""
LIMIT = 1.0
"""Unlikeness from which on nothing is accepted."""


def foretelling(model: Predictor, frames: Tensor, index: int, seed: int) -> NDArray[np.float64]:
    """Mean squared errors of what follows from the first of these frames (T, H, W, 3) alone, (T,).

    The first is M: of that frame against the immediate next one. Then of each later frame against its own foretelling.
    """
    foretold = model.follow(frames[0], LEADS, draws_of("video/witnesses", seed, index))
    error = (torch.cat([foretold[:1], foretold[: len(frames) - 1]]) - frames).square().mean((1, 2, 3))  # (T,)
    return np.maximum(error.double().numpy(), FLOOR)


def unlikeness(model: Predictor, clip: Pixels, settings: Gating, seed: int) -> NDArray[np.float64]:
    """How far from clean video the last N frames are, (N, N): each by itself, then each pair; 1 is rare."""
    start, usual = max(0, len(clip) - settings.frames), np.array(settings.usual)  # (1 + leads, 2)
    frames = unit(clip[start:])
    apart = np.zeros((len(frames), len(frames)))  # of pairs too far apart nothing is known
    for i in range(len(frames)):
        errors = foretelling(model, frames[i : i + len(usual)], start + i, seed)  # (1 + leads,) or fewer
        apart[i, i : i + len(errors)] = errors / usual[: len(errors), 1]
        apart[i, i] = max(apart[i, i], usual[0, 0] / errors[0])
    return np.maximum(apart, apart.T)


def largest_agreeing(apart: NDArray[np.float64]) -> list[int]:
    """The most frames that are usual and all bear each other out; of sets as large, the one with the likeliest."""
    agreeing = nx.Graph()
    agreeing.add_nodes_from(np.flatnonzero(np.diag(apart) < LIMIT).tolist())
    agreeing.add_edges_from((i, j) for i in agreeing for j in agreeing if i < j and apart[i, j] < LIMIT)
    sets = [sorted(found) for found in nx.find_cliques(agreeing)]
    return min(sets, key=lambda found: (-len(found), _worst(apart, found)), default=[])


def witnesses(clip: Pixels, model: Predictor, settings: Gating, seed: int) -> Gated:
    """Accept the last frames of a clip (T, H, W, 3) that bear each other out; the others are predicted."""
    if not settings.usual:
        raise ValueError("the gate 'witnesses' asks how well clean frames are foretold: wiser video calibrate tells")
    apart = unlikeness(model, clip, settings, seed)
    kept = largest_agreeing(apart)
    worst = [_worst(apart, {place, *kept}, place) for place in range(len(apart))]
    start = len(clip) - len(apart)
    settings = replace(settings, tau=LIMIT, sigma=None, transitions="keep")
    return walk(clip, model, settings, seed, lambda seen: worst[seen.index - start], "unlikeness")


def _worst(apart: NDArray[np.float64], among: Sequence[int] | set[int], of: int | None = None) -> float:
    """The largest unlikeness among some frames, or of one of them with the others."""
    places = sorted(among)
    return float(apart[np.ix_(places if of is None else [of], places)].max())
