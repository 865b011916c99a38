"""How well scores tell broken pictures from sound ones: the world model's, the authors', and the codec's alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from diffusers import Cosmos2_5_PredictBasePipeline
from numpy.typing import NDArray

from wiser import seeds
from wiser.faults import apply
from wiser.video.small.clips import FAULTS, Clip, film
from wiser.video.small.controls import generate

SCORES = ("against the observed picture", "against the decoded picture", "codec alone")
"""M as the paper writes it; M as the authors' code has it; the error of the codec, which knows no dynamics."""
LEAST = 5
"""Pictures that must be generated: fewer share one latent, and the next picture would be the given one."""
INTENSITIES = (0.25, 0.5, 0.75)


def scores_of(pipeline: Cosmos2_5_PredictBasePipeline, picture: Clip, seed: int) -> NDArray[np.float64]:
    """The three scores of a picture (H, W, 3): mean squared errors in [0, 1], higher is worse."""
    decoded, following = generate(pipeline, picture[None], LEAST, 1, seed)[:2].numpy()
    observed = picture / 255.0
    pairs = ((following, observed), (following, decoded), (decoded, observed))
    return np.array([np.square(a - b).mean() for a, b in pairs])


def sound_scores(pipeline: Cosmos2_5_PredictBasePipeline, where: Sequence[int]) -> NDArray[np.float64]:
    """Scores of one picture from each clip of these seeds, (clips, 3)."""
    return np.stack([scores_of(pipeline, film(seed, 1)[0], seed) for seed in where])


def broken_scores(
    pipeline: Cosmos2_5_PredictBasePipeline, fault: str, intensity: float, where: Sequence[int]
) -> NDArray[np.float64]:
    """The same of broken pictures, (clips, 3)."""
    rows = []
    for seed in where:
        broken = apply(fault, film(seed, 1), intensity, seeds.generator(f"broken {fault}", seed))
        rows.append(scores_of(pipeline, broken[0], seed))
    return np.stack(rows)


def exceeds(broken: NDArray[np.float64], sound: NDArray[np.float64]) -> float:
    """Area under the ROC curve: how often a broken picture scores higher than a sound one, ties half."""
    differences = np.subtract.outer(broken, sound)
    return float((differences > 0).mean() + 0.5 * (differences == 0).mean())


def detection_table(
    pipeline: Cosmos2_5_PredictBasePipeline,
    sound: Sequence[int],
    broken: Sequence[int],
    intensities: Sequence[float] = INTENSITIES,
) -> dict[str, list[list[float]]]:
    """Of each fault, for each score, the area under the ROC curve at each intensity; and of all at once."""
    clean = sound_scores(pipeline, sound)  # (clips, 3)
    found = {
        fault: np.stack([broken_scores(pipeline, fault, intensity, broken) for intensity in intensities])
        for fault in FAULTS
    }  # (intensities, clips, 3) each
    table = {
        fault: [[exceeds(cell[:, i], clean[:, i]) for cell in cells] for i in range(len(SCORES))]
        for fault, cells in found.items()
    }
    whole = np.concatenate(list(found.values())).reshape(-1, len(SCORES))
    return table | {"all": [[exceeds(whole[:, i], clean[:, i])] for i in range(len(SCORES))]}
