"""Ready scorers for those who name one, as `wiser.video.quality:proxy`: functions of a video and what it was to be."""

from __future__ import annotations

from functools import cache

from wiser.video.quality.backbones import Backbones
from wiser.video.quality.released import Weights, load_released
from wiser.video.quality.scoring import Scores, score
from wiser.video.quality.stand_ins import load_proxies
from wiser.video.quality.views import Frames, Picture


def pai(frames: Frames, reference: Picture | None = None, prompt: str | None = None) -> Scores:
    """PAI-Bench's dimensions by its own networks, as far as they can be loaded without being told where they are."""
    return score(frames, reference, prompt, backbones=_released())


def proxy(frames: Frames, reference: Picture | None = None, prompt: str | None = None) -> Scores:
    """The same formulas by networks whose weights come inside packages; names begin with `proxy_`."""
    return score(frames, reference, prompt, backbones=_proxies())


@cache
def _released() -> Backbones:
    return _not_none(load_released(Weights()))


@cache
def _proxies() -> Backbones:
    return _not_none(load_proxies())


def _not_none(backbones: Backbones) -> Backbones:
    if not backbones.networks:
        raise ValueError(f"there is nothing to score with: {'; '.join(dict.fromkeys(backbones.missing.values()))}")
    return backbones
