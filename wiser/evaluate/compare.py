"""Drive episodes with an agent under several treatments and say how each did: what `wiser eval` does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from wiser.checks import check_file
from wiser.envs.domain import domain_of
from wiser.evaluate import statistics
from wiser.evaluate.benchmark import describe, figures_of
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.records import Episode
from wiser.evaluate.rehearse import rehearse
from wiser.evaluate.treatments import Treatment
from wiser.evaluate.watch import RecordEpisode
from wiser.faults import Scenario
from wiser.guard.calibration import beside
from wiser.record import About, Recorder, check_target, export
from wiser.rollout import Disturbance, Trial, mention_home
from wiser.worldmodel.protocol import WorldModel


def compare(
    model: WorldModel, name: str, treatments: Mapping[str, Treatment], trial: Trial, record: Path | None
) -> None:
    """Print a line per treatment; with `record`, write their first episodes to that file."""
    console = Console()
    if not treatments:
        raise ValueError("name at least one treatment, such as none or greedy")
    rehearse(model, trial.env, trial.options, [trial.disturbance], treatments.values(), trial.processes)
    mention_home(model, trial.env)
    recorder = None if record is None else _recorder(model, name, trial, tuple(treatments), record)
    for lane, treatment in treatments.items():
        driven = _drive(model, treatment, trial, recorder, lane)
        console.print(_line(lane, driven, trial), highlight=False, soft_wrap=True)
    if recorder is not None and record is not None:
        console.print(f"Recorded: {export(recorder.recording(), record)}", soft_wrap=True)


def _recorder(model: Any, agent: str, trial: Trial, lanes: tuple[str, ...], target: Path) -> Recorder:
    """A recorder whose recording can be written to `target`, which is checked before anything is driven."""
    check_target(target)
    check_file(target)
    speed = domain_of(trial.env).steps_per_second
    about = About(f"{agent}: {_what(trial.disturbance)}", trial.env, agent, (trial.seed,), steps_per_second=speed)
    return Recorder(model.sensors, {name: name for name in lanes}, about, beside(model.folder, model.digest))


def _what(disturbance: Disturbance | None) -> str:
    """What is wrong, in a few words."""
    if disturbance is None:
        return "clean"
    return describe(disturbance) if isinstance(disturbance, Scenario) else disturbance.name


def _drive(model: Any, treatment: Treatment, trial: Trial, recorder: Recorder | None, lane: str) -> list[Episode]:
    if recorder is None:
        return run_episodes(model, treatment, trial)
    fault = trial.disturbance.name if trial.disturbance else ""
    return run_episodes(model, treatment, trial, RecordEpisode(recorder, lane, model, fault), watched=(0,))


def _line(name: str, driven: list[Episode], trial: Trial) -> str:
    """How a treatment did."""
    score = statistics.mean([[episode.score for episode in driven]], np.random.default_rng(trial.seed))
    more = "".join(f", {title} {text}" for title, text in figures_of(trial.env, driven).items())
    return (
        f"{name:16s} score {score.value:8.1f} ({score.low:.1f} to {score.high:.1f}, 95 %){more}, {len(driven)} episodes"
    )
