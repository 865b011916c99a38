"""How long predictions hold without a sensor: a table, a closed form, a plain transcription, and who keeps to it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from examples.own_model import PLACES, RingFilter
from tests import tiny
from wiser.evaluate.treatments import Treatment
from wiser.guard import Calibration, CalibrationError, Calibrator, Guard, Mode
from wiser.guard.blindness import LONGEST, BlindRuns, steps_within
from wiser.worldmodel import store
from wiser.worldmodel.latents import kl_categorical
from wiser.worldmodel.protocol import Belief

SENSORS = (tiny.image("camera"), tiny.vector("speed"))


@pytest.mark.parametrize(
    ("medians", "band", "steps"),
    [([1, 2, 3, 9, 3], 3, 3), ([4, 1, 1], 3, 0), ([1, 2], 3, 2), ([1, float("nan"), 1], 3, 1)],
)
def test_steps_within_the_band(medians: list[float], band: float, steps: int) -> None:
    assert steps_within(medians, band) == steps


def test_the_horizon_of_an_exact_filter_is_as_computed() -> None:
    """In a world where every move succeeds, a blind belief is still right after n steps with probability
    1/12 + 11/12 * 0.8^n: more often than not up to n = 3, so that the prediction of the fourth step is the last good
    one."""
    assert 1 / 12 + 11 / 12 * 0.8**3 > 0.5 > 1 / 12 + 11 / 12 * 0.8**4
    rows, rng = 128, np.random.default_rng(3)
    calibrator, place = Calibrator(RingFilter(), rows, scores=("surprise",)), rng.integers(PLACES, size=rows)
    for step in range(1200):
        named = np.where(rng.random((3, rows)) < 0.95, place, rng.integers(PLACES, size=(3, rows)))
        obs = dict(zip(("north", "east", "west"), np.eye(PLACES, dtype=np.float32)[named], strict=True))
        calibrator.guard.act(obs, np.full(rows, step == 0))
        calibrator.take()
        actions = rng.integers(0, 3, rows)
        calibrator.guard.executed(actions)
        place = (place + actions - 1) % PLACES
    assert calibrator.calibration().horizon == 4


def test_every_row_is_blind_by_itself() -> None:
    """Against one row at a time, step by step, with the same draws."""
    model, rows, rng = tiny.model(SENSORS), 3, np.random.default_rng(0)
    guard = Guard(model, "none", rows=rows)
    runs, draws = BlindRuns(model, rows, guard.draws), guard.draws.apart("blind")
    blind, since, left = [model.initial(1)] * rows, [0] * rows, [0] * rows
    expected = []
    for step in range(90):
        first = np.array([step == 0, step in (0, 40), step in (0, 5)])
        guard.act(tiny.batch(SENSORS, rows, rng), first)
        assert guard.evidence is not None
        runs.take(guard.evidence, guard.belief)
        uniform = draws.uniform(guard.belief.stoch.shape[1])
        for row in range(rows):
            one, begins = slice(row, row + 1), bool(first[row])
            look = guard.evidence.look
            prior = model.predict(blind[row], guard.evidence.action[one], torch.tensor([begins]))
            features = model.embed({name: value[one] for name, value in look.obs.items()})
            seen = model.infer(prior, features, look.mask[one][:, None])[:, 0]
            since[row] += 1
            if not begins:
                expected.append((since[row], float(kl_categorical(seen, prior.logprobs))))
            left[row] = row * LONGEST // rows if begins else left[row] - 1
            if begins or left[row] < 0:
                blind[row], since[row] = Belief(guard.belief.deter[one], guard.belief.stoch[one]), 0
                left[row] = left[row] if begins else LONGEST
            else:
                total = prior.logprobs[0].exp().cumsum(1)  # (S, C)
                chosen = (total < torch.as_tensor(uniform[row], dtype=torch.float32)[:, None]).sum(1)
                chosen = chosen.clamp(max=total.shape[1] - 1)
                blind[row] = Belief(prior.deter, torch.eye(total.shape[1])[chosen][None])
    steps, nats, _ = (np.concatenate(values) for values in zip(*runs.recorded, strict=True))
    assert max(steps) == LONGEST + 1, "a stretch as long as can be"
    assert steps.tolist() == [count for count, _ in expected]
    np.testing.assert_allclose(nats, [value for _, value in expected], rtol=1e-3, atol=1e-4)


def test_a_guard_keeps_to_the_horizon_of_its_calibration(tmp_path) -> None:
    model, obs = tiny.model(SENSORS), tiny.observation(SENSORS, np.random.default_rng(0))
    usual = Calibration.of({"surprise": np.ones(9)}, horizon=2)

    def modes(**settings) -> list[Mode]:
        guard = Guard(model, "none", **settings)
        return [guard.act(reading)[1].mode for reading in (obs, {}, {}, {})]

    grounded, predictive = Mode.GROUNDED, Mode.PREDICTIVE
    assert modes(calibration=usual) == [grounded, predictive, predictive, Mode.FALLBACK]
    assert modes(calibration=usual, blind_limit=None) == [grounded] + 3 * [predictive]
    assert modes(calibration=replace(usual, horizon=None)) == modes() == [grounded] + 3 * [predictive]
    with pytest.raises(ValueError, match="'horizon' or None, got 'soon'"):
        Guard(model, "none", blind_limit="soon")

    store.save(model, tmp_path)
    loaded = store.load(tmp_path)
    replace(usual, weights=loaded.digest).save(tmp_path)
    assert Guard(loaded, "none").blind_limit is None, "nothing that needs a calibration"
    assert Guard(loaded, "none", fallback=lambda verdict: 1).blind_limit == 2
    assert Treatment(blind_limit="horizon").digest(loaded) == Treatment(blind_limit=2).digest(loaded)
    assert Treatment(blind_limit="horizon").digest(loaded) != Treatment().digest(loaded)


def test_a_horizon_is_kept_in_the_file_and_older_files_have_none(tmp_path) -> None:
    Calibration.of({"m": np.arange(10.0)}, horizon=7).save(tmp_path)
    assert Calibration.load(tmp_path).horizon == 7
    path = tmp_path / "calibration.json"
    body = json.loads(path.read_text())
    del body["horizon"]
    path.write_text(json.dumps(body))
    assert Calibration.load(tmp_path).horizon is None
    path.write_text(json.dumps({**body, "horizon": "far"}))
    with pytest.raises(CalibrationError, match="not a readable calibration"):
        Calibration.load(tmp_path)
