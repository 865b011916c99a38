"""What is scored, what is not and why; proxies are never taken for PAI-Bench's own."""

import numpy as np
import pytest
import torch

from tests.video.quality.clips import moving, noisy
from wiser.video.quality import DIMENSIONS, Backbones, Scores, continuation_errors, over_videos, score

FRAMES = moving()


def look(pixels: torch.Tensor) -> torch.Tensor:
    """Features: the mean of each colour in each quarter."""
    return torch.nn.functional.adaptive_avg_pool2d(pixels, 2).flatten(1)


def rate(pixels: torch.Tensor) -> torch.Tensor:
    return 10.0 * pixels.flatten(1).mean(1)


def between(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    return (before + after) / 2


class Both:
    def video(self, pixels: torch.Tensor) -> torch.Tensor:
        return look(pixels).mean(0)

    def text(self, prompt: str) -> torch.Tensor:
        return torch.arange(12.0) - len(prompt)


NETWORKS = {
    "subject_consistency": look,
    "background_consistency": look,
    "motion_smoothness": between,
    "aesthetic_quality": rate,
    "imaging_quality": rate,
    "overall_consistency": Both(),
    "i2v_subject": look,
    "i2v_background": look,
}
ALL = Backbones(NETWORKS)


def test_all_eight_have_a_mean() -> None:
    scores = score(FRAMES, FRAMES[0], "a square", backbones=ALL)
    assert list(scores) == list(DIMENSIONS) == list(NETWORKS)
    assert not scores.missing
    values = [value for value in scores.values() if value is not None]
    assert scores.mean() == pytest.approx(sum(values) / 8)


def test_the_normalised_mean_is_that_of_the_leaderboard() -> None:
    best = {"motion_smoothness": 0.9975, "overall_consistency": 0.364}
    worst = {"subject_consistency": 0.1462, "background_consistency": 0.2615, "motion_smoothness": 0.706}
    worst |= {"i2v_subject": 0.1462, "i2v_background": 0.2615}
    at_best = Scores({name: best.get(name, 1.0) for name in DIMENSIONS}, {}, 9)
    at_worst = Scores({name: worst.get(name, 0.0) for name in DIMENSIONS}, {}, 9)
    assert at_best.mean(normalised=True) == pytest.approx(1.0)
    assert at_worst.mean(normalised=True) == pytest.approx(0.0)


@pytest.mark.parametrize("name", DIMENSIONS)
def test_seven_have_no_mean(name: str) -> None:
    some = {other: network for other, network in NETWORKS.items() if other != name}
    scores = score(FRAMES, FRAMES[0], "a square", backbones=Backbones(some, {name: "it is lost"}))
    assert (scores[name], scores.missing, scores.mean()) == (None, {name: "it is lost"}, None)
    assert scores.mean(normalised=True) is None


def test_proxies_say_so_and_have_no_mean() -> None:
    scores = score(FRAMES, FRAMES[0], "a square", backbones=Backbones(NETWORKS, proxy=True))
    assert list(scores) == [f"proxy_{name}" for name in DIMENSIONS]
    assert None not in scores.values()
    assert scores.mean() is None
    assert over_videos([scores, scores]).mean() is None


def test_what_was_not_given_is_asked_for() -> None:
    scores = score(FRAMES[:2], backbones=Backbones({**NETWORKS, "aesthetic_quality": rate}))
    assert scores.missing == {
        "motion_smoothness": "it needs at least 3 frames",
        "overall_consistency": "it needs a prompt",
        "i2v_subject": "it needs a reference",
        "i2v_background": "it needs a reference",
    }
    assert score(FRAMES[:1], FRAMES[0], "", backbones=ALL).missing == {
        "subject_consistency": "it needs at least 2 frames",
        "background_consistency": "it needs at least 2 frames",
        "motion_smoothness": "it needs at least 3 frames",
        "overall_consistency": "it needs a prompt",
        "i2v_subject": "it needs at least 2 frames",
        "i2v_background": "it needs at least 2 frames",
    }
    assert score(FRAMES, backbones=Backbones({})).missing["imaging_quality"] == "no network was given for it"


def test_motion_is_judged_by_every_second_frame() -> None:
    for length in (3, 4, 5, 6):  # the last of an even number has no neighbour
        frames = noisy(FRAMES[:length])
        differences = []
        for t in range(1, length - 1, 2):
            made = (frames[t - 1].astype(int) + frames[t + 1]) // 2
            differences.append(np.abs(made - frames[t].astype(int)).mean())
        scores = score(frames, backbones=ALL)
        assert scores["motion_smoothness"] == pytest.approx((255 - np.mean(differences)) / 255, abs=1e-3 / 255)


def test_batches_do_not_matter() -> None:
    frames = np.concatenate([FRAMES] * 3)  # 18 frames, batches of 8
    means = [frame.mean() / 255.0 for frame in frames]
    scores = score(frames, backbones=Backbones({"imaging_quality": rate}))
    assert scores["imaging_quality"] == pytest.approx(np.mean(means) / 10, rel=1e-4)


def test_frames_weigh_the_same_in_consistency_and_videos_in_the_rest() -> None:
    short = Scores(dict.fromkeys(DIMENSIONS, 0.2), {}, 3)
    long = Scores(dict.fromkeys(DIMENSIONS, 0.8), {}, 11)
    both = over_videos([short, long])
    assert both.pop("subject_consistency") == pytest.approx((2 * 0.2 + 10 * 0.8) / 12)
    assert both.pop("background_consistency") == pytest.approx((2 * 0.2 + 10 * 0.8) / 12)
    assert all(value == pytest.approx(0.5) for value in both.values())
    assert len(both) == 6


def test_a_video_without_a_score_leaves_none_over_all() -> None:
    full = score(FRAMES, FRAMES[0], "a square", backbones=ALL)
    silent = score(FRAMES, FRAMES[0], backbones=ALL)
    both = over_videos([full, silent])
    assert both["overall_consistency"] is None
    assert both.missing == {"overall_consistency": "1 of 2 videos have none: it needs a prompt"}
    assert both["i2v_subject"] == pytest.approx(full["i2v_subject"])


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"a video is \(T, H, W, 3\) uint8"):
        score(FRAMES.astype(np.float32), backbones=ALL)
    with pytest.raises(ValueError, match=r"a video is \(T, H, W, 3\) uint8"):
        score(FRAMES[:0], backbones=ALL)
    with pytest.raises(ValueError, match=r"a reference picture is \(H, W, 3\) uint8"):
        score(FRAMES, FRAMES, backbones=ALL)
    with pytest.raises(ValueError, match="need videos"):
        over_videos([])
    with pytest.raises(ValueError, match="the same dimensions"):
        over_videos([score(FRAMES, backbones=ALL), score(FRAMES, backbones=Backbones(NETWORKS, proxy=True))])
    with pytest.raises(ValueError, match="cannot be compared with a truth"):
        continuation_errors(FRAMES, FRAMES[:-1])


def test_errors_grow_with_the_distance_from_the_truth() -> None:
    exact, near, far = (continuation_errors(made, FRAMES) for made in (FRAMES, noisy(FRAMES, 1, 10), noisy(FRAMES, 1)))
    assert exact == {"psnr": pytest.approx(100.0), "ssim": pytest.approx(1.0)}
    assert near["psnr"] == pytest.approx(20 * np.log10(255 / 10), abs=0.5)
    assert exact["ssim"] > near["ssim"] > far["ssim"]
