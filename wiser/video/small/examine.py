"""Every control and figure of a trained small model, as Markdown and as a sheet to look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from diffusers import Cosmos2_5_PredictBasePipeline

from wiser import seeds
from wiser.video.small.clips import Clip, film, to_unit, to_video
from wiser.video.small.controls import (
    forgetful,
    generate,
    influence,
    own_share,
    prediction_errors,
    reconstruct,
    stillness,
)
from wiser.video.small.detection import INTENSITIES, detection_table
from wiser.video.small.plan import PICTURES

Table = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Report:
    """What was found on clips that nothing was trained on."""

    clips: int
    invented: float
    """Motion that the codec shows where nothing moves, of what it would have shown out of habit."""
    followed: float
    """Motion that it shows, of what is there."""
    flicker: float
    """Mean squared error that its pictures have of each other where nothing moves, in [0, 1]."""
    own: list[float]
    """Of the change that each latent makes, the part in its own pictures."""
    seeds_apart: float
    """Mean squared difference of two predictions of the same future, in [0, 1]."""
    after_one: dict[str, float]
    after_five: dict[str, float]
    """Mean squared errors of what follows."""
    detection: Table


def examine(pipeline: Cosmos2_5_PredictBasePipeline, clips: int, sound: int, broken: int) -> Report:
    """Measure a model: on so many clips, and on pictures of other ones, sound and broken."""
    first = seeds.SHIPPING.start
    films = [film(seed, PICTURES) for seed in range(first, first + clips)]
    invented, followed, flicker = np.array([stillness(pipeline.vae, clip) for clip in films]).mean(0).tolist()
    moved = torch.stack([influence(pipeline.vae, *pair) for pair in zip(films, films[1:] + films[:1], strict=True)])
    twice = [[generate(pipeline, clip[:1], PICTURES, 4, seed) for clip in films[:4]] for seed in (0, 1)]
    apart = (torch.stack(twice[0]) - torch.stack(twice[1]))[:, 1:].square().mean()
    places = np.cumsum([first + clips, sound, sound, broken]).tolist()
    usual, clean, harmed = (range(*ends) for ends in pairwise(places))
    return Report(
        clips=clips,
        invented=invented,
        followed=followed,
        flicker=flicker,
        own=own_share(moved.mean(0)).tolist(),
        seeds_apart=float(apart),
        after_one=prediction_errors(pipeline, films, 1),
        after_five=prediction_errors(pipeline, films, 5),
        detection=detection_table(pipeline, usual, clean, harmed),
    )


def tables(report: Report) -> str:
    """The figures as Markdown."""
    lines = [
        f"mean squared error, {report.clips} clips | pictures 1 to 8 after one | pictures 5 to 8 after five",
        "--- | --- | ---",
        *(f"{name} | {error:.5f} | {report.after_five[name]:.5f}" for name, error in report.after_one.items()),
    ]
    text = "\n".join(f"| {line} |" for line in lines)
    names = list(report.detection["all"])
    lines = [" | ".join(("AUC", *names)), " | ".join(["---"] * (1 + len(names)))]
    for fault, areas in report.detection.items():
        lines.append(" | ".join((fault, *(" ".join(f"{area:.2f}" for area in areas[name]) for name in names))))
    text += f"\n\nIntensities {', '.join(map(str, INTENSITIES))}\n\n" + "\n".join(f"| {line} |" for line in lines)
    own = ", ".join(f"{share:.2f}" for share in report.own)
    return (
        f"{text}\n\nMotion that the codec shows: {report.followed:.2f} of what is there, {report.invented:.3f} where "
        f"nothing moves (flicker {report.flicker:.5f}). Share of each latent's change in its own pictures: {own}. "
        f"Two seeds apart: {report.seeds_apart:.5f}."
    )


def sheet(pipeline: Cosmos2_5_PredictBasePipeline, clips: list[Clip]) -> Clip:
    """Of each clip, from above: truth, codec alone, after one picture twice, after five, random transformer."""
    blank, rows = forgetful(pipeline, seed=0), []
    for clip in clips:
        made = (generate(pipeline, clip[:1], PICTURES, 10, seed) for seed in (0, 1))
        after_five, nothing = generate(pipeline, clip[:5], PICTURES, 10, 0), generate(blank, clip[:1], PICTURES, 4, 0)
        shown = (to_unit(reconstruct(pipeline.vae, to_video([clip])))[0], *made, after_five, nothing)
        films = [clip, *((255 * each).round().to(torch.uint8).numpy() for each in shown)]  # (T, H, W, 3) each
        rows += [np.concatenate(list(each), 1) for each in films]  # (H, T W, 3)
    return np.concatenate(rows)
