"""Frames are resized and cropped as by torchvision, the reference picture as by Pillow; both against plain sums."""

import numpy as np
import pytest
from PIL import Image

from tests.video.quality import plain
from wiser.video.quality.dimensions import CLIP, I2V_BACKGROUND, I2V_SUBJECT, IMAGING, PROMPT, SUBJECT
from wiser.video.quality.views import View, middle_frames

RNG = np.random.default_rng(0)
SMALL = {
    "subject": View(24, "shorter", "bilinear"),
    "clip": View(24, "shorter", "bicubic", crop=24),
    "prompt": View(24, "shorter", "bicubic", crop=24, whole=True),
    "imaging": View(50, "longer", "bilinear"),
    "i2v subject": View(32, "shorter", "bicubic", antialias=True, crop=24),
    "i2v background": View(24, "both", "bicubic", antialias=True),
}
"""The views of all dimensions, at a size that sums by hand can bear."""


def picture(height: int, width: int) -> np.ndarray:
    return RNG.integers(0, 256, (height, width, 3)).astype(np.uint8)


def by_hand(view: View, frame: np.ndarray) -> np.ndarray:
    seen = plain.resize(frame, view.resized(*frame.shape[:2]), view.mode, view.antialias)
    seen = np.round(np.clip(seen, 0, 255)) if view.whole else seen
    return (seen if view.crop is None else plain.middle(seen, view.crop)) / 255.0


@pytest.mark.parametrize("size", [(70, 127), (90, 61), (17, 20)], ids=str)
@pytest.mark.parametrize("name", SMALL)
def test_frames_are_resized_and_cropped_as_by_hand(name: str, size: tuple[int, int]) -> None:
    view, frames = SMALL[name], np.stack([picture(*size), picture(*size)])
    seen = view(frames).permute(0, 2, 3, 1).numpy()
    for one, frame in zip(seen, frames, strict=True):
        expected = by_hand(view, frame)
        assert one.shape == expected.shape
        apart = np.abs(one - expected)
        assert apart.max() < (1.01 / 255 if view.whole else 2e-5)  # a half may be rounded either way
        assert (apart > 2e-5).mean() < 1e-3


@pytest.mark.parametrize("name", ["i2v subject", "i2v background"])
def test_the_reference_is_resized_as_by_hand_and_rounded(name: str) -> None:
    view, reference = SMALL[name], picture(70, 127)
    seen = view.still(reference)[0].permute(1, 2, 0).numpy()
    assert np.abs(seen - np.clip(by_hand(view, reference), 0, 1)).max() < 1.6 / 255  # Pillow rounds twice
    assert np.allclose(seen * 255, np.round(seen * 255), atol=1e-4)


def test_antialiased_frames_look_as_pillow_shows_them() -> None:
    frame = picture(70, 127)
    shown = np.asarray(Image.fromarray(frame).resize((24, 24), Image.Resampling.BICUBIC)) / 255.0
    seen = SMALL["i2v background"](frame[None])[0].permute(1, 2, 0).numpy()
    assert np.abs(seen.clip(0, 1) - shown).max() < 1.6 / 255


def test_views_are_those_of_pai_bench() -> None:
    frame = picture(704, 1280)[None]
    shapes = {SUBJECT: (224, 407), CLIP: (224, 224), PROMPT: (224, 224), IMAGING: (281, 512)}
    shapes |= {I2V_SUBJECT: (224, 224), I2V_BACKGROUND: (224, 224)}
    for view, shape in shapes.items():
        assert tuple(view(frame).shape) == (1, 3, *shape)
    assert [view.antialias for view in shapes] == [False, False, False, False, True, True]
    assert [view.mode for view in shapes] == ["bilinear", "bicubic", "bicubic", "bilinear", "bicubic", "bicubic"]
    assert I2V_SUBJECT.resized(704, 1280) == (256, 465)
    assert SUBJECT.resized(9, 10) == (224, 248)  # 248.9
    assert IMAGING.resized(300, 512) == (300, 512)
    assert IMAGING.resized(1000, 513) == (512, 262)


def test_the_middle_of_every_part_is_chosen() -> None:
    assert middle_frames(16, 8) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert middle_frames(93, 8) == [5, 16, 28, 39, 51, 63, 74, 86]
    assert middle_frames(8, 8) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert middle_frames(3, 8) == [0, 1, 2, 2, 2, 2, 2, 2]
