"""Whether actions are drawn when an agent is evaluated is up to the domain, for everybody who drives."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from tests import fake_world, tiny
from wiser import seeds
from wiser.cockpit.side import Side
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.plan import Plan
from wiser.evaluate.relay import run_trials
from wiser.evaluate.treatments import TREATMENTS, Treatment
from wiser.learn.frames import clean_frames
from wiser.rollout import Trial, calibrate, waves
from wiser.train.config import TrainConfig
from wiser.train.score import evaluate
from wiser.worldmodel import store

DRIVERS = {
    "scores of training": lambda model, env: evaluate(TrainConfig(env=env), model, 2),
    "calibration": lambda model, env: calibrate(model, env, rows=2, steps=3, beginnings=2),
    "episodes": lambda model, env: run_episodes(model, TREATMENTS["greedy"], Trial(env, 2, 0)),
    "sweeps": lambda model, env: run_trials(model, TREATMENTS["none"], [Trial(env, 2, 0)]),
    "cockpit": lambda model, env: next(Side(model, env, TREATMENTS["none"], 0, {})._loop),
    "frames to learn from": lambda model, env: clean_frames(model, env, "glow", 20, 0, {}),
}


@pytest.fixture(scope="module")
def model():
    return tiny.model(*fake_world.described(), tower="patch")


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("env", "sampled"), [(fake_world.SAMPLED, True), (fake_world.STAGGERED, False)])
def test_everybody_who_drives_does_as_the_domain_says(driver, env, sampled, model, monkeypatch) -> None:
    drawn, act = [], type(model).act
    monkeypatch.setattr(
        type(model), "act", lambda self, belief, noise=None: drawn.append(noise is not None) or act(self, belief, noise)
    )
    DRIVERS[driver](model, env)
    assert drawn
    assert set(drawn) == {sampled}


@pytest.mark.parametrize(("env", "sampled"), [(fake_world.SAMPLED, True), (fake_world.STAGGERED, False)])
def test_actions_are_drawn_from_the_stream_of_their_row(env, sampled, model) -> None:
    """Of every row a latent and then an action, step by step, from the guard's draws of its seed."""
    dice = [seeds.generator("guard", 40 + row) for row in range(8)]
    unlike = 0
    (wave,) = waves(Trial(env, 8, 40), model, partial(Treatment().guard, model, env))
    for moment in wave.moments:
        odds = model.actor.logprobs(torch.cat([moment.belief.deter, moment.belief.stoch.flatten(1)], 1)).exp().numpy()
        likely = odds.argmax(1)
        for row, one in enumerate(dice):
            one.random(model.config.stoch)
            wanted = np.searchsorted(odds[row].cumsum(), one.random(4)[0], "right") if sampled else likely[row]
            assert moment.action[row] == 1 + wanted
            unlike += int(wanted != likely[row])
    assert (unlike > 0) == sampled


def test_sampled_episodes_are_the_same_in_any_rows(model) -> None:
    """Eight rows or eleven, alone or after another trial in the same rows: the same draws."""
    trials = [Trial(fake_world.SAMPLED, 11, 5), Trial(fake_world.SAMPLED, 9, 40)]
    together = [run_episodes(model, TREATMENTS["greedy"], trial) for trial in trials]
    few = [replace(trial, rows=8) for trial in trials]
    assert [run_episodes(model, TREATMENTS["greedy"], trial) for trial in few] == together
    assert run_trials(model, TREATMENTS["greedy"], few) == together


def test_cells_say_that_actions_were_sampled_and_others_stay_as_they_were(model, tmp_path) -> None:
    store.save(model, tmp_path)
    of = {}
    for env in (fake_world.SAMPLED, fake_world.STAGGERED):
        (job,) = Plan(tasks=(env,), agents=(str(tmp_path),), failures=(0,)).jobs()
        of[env] = job.cell.treatment
    assert of[fake_world.STAGGERED] == f"none@{TREATMENTS['none'].digest(model)}"
    assert of[fake_world.SAMPLED] == f"{of[fake_world.STAGGERED]} sampled"
