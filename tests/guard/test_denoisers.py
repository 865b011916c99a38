"""Denoisers D, each against a direct computation; rows by themselves, nothing but finite numbers."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import DENOISERS, Denoiser, Guard, Mode, Rejection
from wiser.guard.denoisers import find_denoiser
from wiser.guard.learned import Restormer, write_network
from wiser.guard.look import Look
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief

SENSORS = (tiny.image("camera"), tiny.image("thermal"), tiny.vector("speed"))
SMALL = {"width": 4, "blocks": [1, 1, 1, 1], "refinement": 1, "heads": [1, 1, 1, 1]}


def look_at(model, obs: dict[str, torch.Tensor]) -> Look:
    rows = len(obs["camera"])
    start = model.initial(rows)
    prior = model.predict(start, start.deter.new_zeros(rows, 5), torch.ones(rows, dtype=torch.bool))
    return Look(model, prior, obs, model.embed(obs), torch.ones(rows, len(model.sensors), dtype=torch.bool))


def readings(rows: int = 3, sensors=SENSORS) -> dict[str, torch.Tensor]:
    return tiny.tensors(tiny.batch(sensors, rows, np.random.default_rng(0)))


def repaired(name: str, look: Look) -> dict[str, torch.Tensor]:
    return find_denoiser(name).ready(look.model)(look)


def expected(look: Look) -> dict[str, torch.Tensor]:
    return look.model.decode(Belief(look.prior.deter, one_hot_mode(look.prior.logprobs)))


def test_interpolate_is_half_way_to_the_expected_reading() -> None:
    look = look_at(tiny.model(SENSORS), readings())
    found, foreseen = repaired("interpolate", look), expected(look)
    torch.testing.assert_close(found["camera"], (look.obs["camera"] / 255 + foreseen["camera"]) / 2)
    torch.testing.assert_close(found["speed"], (look.obs["speed"] + foreseen["speed"]) / 2)


def nudged(look: Look, row: int, name: str, pixel: tuple[int, int, int], by: float) -> float:
    """Surprise of one row with one pixel a little brighter, in double precision."""
    images = {name: look.obs[name].double() / 255 for name in ("camera", "thermal")}
    images[name][row, *pixel] += by
    obs = {**images, "speed": look.obs["speed"].double()}
    return float(look_at(look.model, obs).surprise[row])


def test_published_interpolation_weighs_each_pixel_by_the_slope_of_its_own_rows_surprise() -> None:
    """w = 2 (g - 0.5)^3 + 0.5 with g by finite differences, pixel by pixel."""
    model = tiny.model(SENSORS).double()
    look = look_at(model, readings())
    found, foreseen, step = repaired("interpolate-published", look), expected(look), 1e-5
    assert torch.equal(found["speed"], look.obs["speed"]), "pixels only"
    rng, slopes = np.random.default_rng(1), []
    for _ in range(24):
        row, name = int(rng.integers(3)), str(rng.choice(["camera", "thermal"]))
        pixel = tuple(int(i) for i in rng.integers((16, 16, 3)))
        difference = nudged(look, row, name, pixel, step) - nudged(look, row, name, pixel, -step)
        slopes.append(g := abs(difference) / (2 * step))
        weight = 2 * (g - 0.5) ** 3 + 0.5
        read, foretold = float(look.obs[name][row, *pixel]) / 255, float(foreseen[name][row, *pixel])
        assert float(found[name][row, *pixel]) == pytest.approx((1 - weight) * read + weight * foretold, abs=1e-5)
    assert max(slopes) > 1e-3, "otherwise nothing was tested"


def test_the_weights_of_known_slopes(monkeypatch) -> None:
    """w(0) = 0.25, w(0.5) = 0.5, w(1) = 0.75, above 1 from 1.13 on, as in the authors' code; what is not finite is
    expected."""
    look = look_at(tiny.model(SENSORS), readings(1))
    slopes = torch.zeros(1, 16, 16, 3)
    slopes[0, 0, 0, 0], slopes[0, 0, 1, 0], slopes[0, 0, 2, 0] = 0.5, 1.0, 2.0
    slopes[0, 0, 3, 0], slopes[0, 0, 4, 0] = torch.nan, torch.inf
    monkeypatch.setattr("wiser.guard.denoisers._surprise_slopes", lambda look: {"camera": slopes})
    found, read, foretold = repaired("interpolate-published", look)["camera"], look.obs["camera"] / 255, expected(look)
    for column, weight in enumerate((0.5, 0.75, 7.25, 1.0, 1.0, 0.25)):
        mixed = torch.lerp(read[0, 0, column, 0], foretold["camera"][0, 0, column, 0], weight)
        assert float(found[0, 0, column, 0]) == pytest.approx(float(mixed), abs=1e-5)


def test_rows_are_repaired_as_if_they_were_alone(tmp_path) -> None:
    model = tiny.model(SENSORS)
    write_network("restormer", Restormer(**SMALL), tmp_path, "camera")
    obs = readings(3)
    for name in (*(name for name in DENOISERS if name != "restormer"), f"restormer@{tmp_path}/restormer.safetensors"):
        together = repaired(name, look_at(model, obs))
        alone = repaired(name, look_at(model, {key: x[1:2] for key, x in obs.items()}))
        for sensor in SENSORS:
            torch.testing.assert_close(together[sensor.name][1:2], alone[sensor.name], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_slopes_are_found_wherever_gradients_are_off(context) -> None:
    model = tiny.model(SENSORS)
    here = repaired("interpolate-published", look_at(model, readings()))
    with context():
        there = repaired("interpolate-published", look_at(model, readings()))
    torch.testing.assert_close(there["camera"], here["camera"])
    assert not there["camera"].requires_grad


def test_a_restormer_mends_the_frames_of_its_sensor(tmp_path) -> None:
    torch.manual_seed(0)
    network = Restormer(**SMALL)
    model, obs = tiny.model(SENSORS), readings()
    write_network("restormer", network, tmp_path, "thermal")
    stored = Restormer(**SMALL).eval()
    stored.load_state_dict({key: x.half().float() if x.ndim > 1 else x for key, x in network.state_dict().items()})
    found = repaired(f"restormer@{tmp_path}/restormer.safetensors", look_at(model, obs))
    torch.testing.assert_close(found["thermal"], stored(obs["thermal"] / 255).clamp(0, 1))
    assert torch.equal(found["camera"], obs["camera"])


def test_a_restormer_needs_no_decoder_and_a_reconstruction_does(tmp_path) -> None:
    model = tiny.model((tiny.image("camera"),))
    model.decodes, model.folder = (), tmp_path
    write_network("restormer", Restormer(**SMALL), tmp_path, "camera")
    guard = Guard(model, Rejection(score="surprise", denoiser="restormer", tau=0.0, tau_denoised=1e9))
    assert guard.act(tiny.observation(model.sensors, np.random.default_rng(0)))[1].mode == Mode.DENOISED
    for name in ("posterior", "interpolate", "interpolate-published"):
        with pytest.raises(ValueError, match="no decoder"):
            Guard(model, Rejection(score="surprise", denoiser=name, tau=1.0))


def test_an_own_denoiser_goes_by_its_name(monkeypatch) -> None:
    black = Denoiser(lambda look: {name: torch.zeros_like(x) for name, x in look.obs.items()})
    monkeypatch.setitem(DENOISERS, "black", black)
    assert find_denoiser("black") is black
    with pytest.raises(ValueError, match="denoiser 'black' has no weights"):
        find_denoiser("black@file.safetensors")
