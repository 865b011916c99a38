"""How well scores tell broken pictures from sound ones: those of a world model, and such as know no dynamics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from diffusers import Cosmos2_5_PredictBasePipeline
from numpy.typing import NDArray

from wiser import seeds
from wiser.faults import apply
from wiser.video.small.clips import FAULTS, Clip, film
from wiser.video.small.controls import generate
from wiser.video.small.plan import PICTURES

LEAST = 5
"""Pictures that must be generated: fewer share one latent, and the next picture would be the given one."""
CONTEXT = 5
"""Sound pictures before the one that is judged."""
INTENSITIES = (0.25, 0.5, 0.75)
MEASURED = ("M", "M, decoded", "codec alone", "in context", "picture before")
"""Mean squared errors: of this picture against the next one that the model makes of it alone, M as the paper has it; of
what the codec makes of it against that next one, M as the authors' code has it; of the codec, which knows no dynamics;
of this picture against what follows from five sound ones before it; against the last of these, without any model."""
EITHER_WAY = {"M, either way": 0, "codec, either way": 2}
"""How unusual a score is, high or low: its distance from the mean of logarithms on clips that are not judged."""
Scores = NDArray[np.float64]
"""(pictures, scores)."""


def scores_of(pipeline: Cosmos2_5_PredictBasePipeline, before: Clip, picture: Clip, seed: int) -> Scores:
    """The measured scores of a picture (H, W, 3) after five sound ones, in [0, 1] squared; higher is worse."""
    decoded, following = generate(pipeline, picture[None], LEAST, 1, seed)[:2].numpy()
    expected = generate(pipeline, before, PICTURES, 1, seed)[CONTEXT].numpy()
    observed, last = picture / 255.0, before[-1] / 255.0
    pairs = (following, observed), (following, decoded), (decoded, observed), (expected, observed), (last, observed)
    return np.array([np.square(a - b).mean() for a, b in pairs])


def score_clips(
    pipeline: Cosmos2_5_PredictBasePipeline, where: Sequence[int], fault: str | None = None, intensity: float = 0.0
) -> Scores:
    """Of the sixth picture of each of these seeds' clips, sound or broken."""
    rows = []
    for seed in where:
        clip = film(seed, CONTEXT + 1)
        judged = clip[CONTEXT:]
        if fault is not None:
            judged = apply(fault, judged, intensity, seeds.generator(f"broken {fault}", seed))
        rows.append(scores_of(pipeline, clip[:CONTEXT], judged[0], seed))
    return np.stack(rows)


def exceeds(broken: NDArray[np.float64], sound: NDArray[np.float64]) -> float:
    """Area under the ROC curve: how often a broken picture scores higher than a sound one, ties half."""
    differences = np.subtract.outer(broken, sound)
    return float((differences > 0).mean() + 0.5 * (differences == 0).mean())


def either_way(scores: Scores, usual: Scores) -> Scores:
    """The measured scores, and beside them how unusual some of them are, (pictures, scores)."""
    columns = list(EITHER_WAY.values())
    distance = np.abs(np.log(scores[:, columns]) - np.log(usual[:, columns]).mean(0))
    return np.concatenate((scores, distance), 1)


def detection_table(
    pipeline: Cosmos2_5_PredictBasePipeline,
    usual: Sequence[int],
    sound: Sequence[int],
    broken: Sequence[int],
    intensities: Sequence[float] = INTENSITIES,
) -> dict[str, dict[str, list[float]]]:
    """{fault: {score: areas under the ROC curve, one for each intensity}}; of "all" faults and intensities, one."""
    known = score_clips(pipeline, usual)
    clean = either_way(score_clips(pipeline, sound), known)
    found = {
        fault: [either_way(score_clips(pipeline, broken, fault, level), known) for level in intensities]
        for fault in FAULTS
    }
    found["all"] = [np.concatenate([cell for cells in found.values() for cell in cells])]
    names = (*MEASURED, *EITHER_WAY)
    return {
        fault: {name: [exceeds(cell[:, i], clean[:, i]) for cell in cells] for i, name in enumerate(names)}
        for fault, cells in found.items()
    }
