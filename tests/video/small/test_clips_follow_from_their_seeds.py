"""Clips are drawn from their seeds, and geometry is what it says."""

from itertools import pairwise

import numpy as np
import pytest

from wiser import seeds
from wiser.video.small.clips import FAULTS, crop, film, spoil, to_unit, to_video
from wiser.video.small.draw import main
from wiser.video.small.motion import pour, wander
from wiser.video.small.scene import GLASS, LINKS, SIDE, Look, below, elbow_of, turn

MOTIONS = pytest.mark.parametrize("motion", ["pour", "wander"])


@MOTIONS
def test_the_same_seed_draws_the_same_clip_and_another_one_another(motion):
    clip = film(7, 4, motion)
    assert clip.shape == (4, SIDE, SIDE, 3)
    assert clip.dtype == np.uint8
    np.testing.assert_array_equal(clip, film(7, 4, motion))
    assert (clip != film(8, 4, motion)).mean() > 0.5


@MOTIONS
def test_a_longer_clip_begins_with_the_same_pictures(motion):
    np.testing.assert_array_equal(film(3, 9, motion)[:5], film(3, 5, motion))


def test_what_is_poured_out_is_in_the_glass():
    for seed in range(20):
        poses = pour(Look.draw(seeds.generator("test", seed)), 60, seeds.generator("test", seed, 1))
        full = [pose for pose in poses if pose.glass < 1.0]
        sums = [pose.pitcher + pose.glass for pose in full]
        np.testing.assert_allclose(sums, sums[0], atol=1e-9)
        assert all(a.glass <= b.glass for a, b in pairwise(poses))


def test_it_pours_into_the_glass():
    """Trembling aside, the lip is above the glass whenever liquid flows."""
    poured = 0
    for seed in range(20):
        look = Look.draw(seeds.generator("test", seed))
        for pose in pour(look, 60, seeds.generator("test", seed, 1)):
            if pose.flow > 0:
                poured += 1
                assert abs(pose.shape[0, 0] - look.glass) < GLASS[0]
                assert pose.shape[0, 1] < 0.9 - GLASS[1]
    assert poured > 100


def test_wandering_turns_back():
    poses = wander(Look.draw(seeds.generator("test", 0)), 60, seeds.generator("test", 5))
    moves = np.diff([pose.hand[0] for pose in poses])
    assert (moves > 0).any()
    assert (moves < 0).any()


def test_an_arm_keeps_its_lengths():
    foot, hand = np.array((0.9, 0.8)), np.array((0.5, 0.4))
    elbow = elbow_of(foot, hand)
    assert np.hypot(*(elbow - foot)) == pytest.approx(LINKS[0])
    assert np.hypot(*(hand - elbow)) == pytest.approx(LINKS[1])


def test_liquid_lies_level():
    """The area of the part below a line, against points thrown at random."""
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) @ turn(0.4).T
    thrown = np.random.default_rng(0).uniform(-1, 1, (200_000, 2))
    inside = (np.abs(thrown @ turn(0.4)) < 0.5).all(1)
    for level in (-0.9, -0.3, 0.0, 0.35, 0.9):
        kept = below(corners, level)
        x, y = kept.T
        area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
        assert area == pytest.approx(4 * (inside & (thrown[:, 1] > level)).mean(), abs=0.01)


def test_half_of_the_codecs_clips_are_sound_and_the_others_broken_in_all_ways():
    clip = film(0, 3)
    rng = np.random.default_rng(0)
    broken = [(spoil(clip, rng) != clip).any((1, 2, 3)) for _ in range(200)]
    sound = np.mean([not each.any() for each in broken])
    assert 0.4 < sound < 0.65
    assert any(each.all() for each in broken)
    assert any(each.any() and not each.all() for each in broken)
    assert len(FAULTS) == 5


def test_a_window_is_the_same_of_every_picture():
    clip = np.broadcast_to(film(0, 1), (4, SIDE, SIDE, 3))
    window = crop(clip, 16, np.random.default_rng(1))
    assert window.shape == (4, 16, 16, 3)
    assert (window == window[:1]).all()


def test_there_and_back_between_bytes_and_what_a_codec_takes():
    clip = film(0, 2)
    video = to_video([clip])
    assert video.shape == (1, 3, 2, SIDE, SIDE)
    assert video.min() >= -1
    np.testing.assert_array_equal((to_unit(video)[0] * 255).round().numpy(), clip)


def test_clips_are_written_for_wiser_video(tmp_path, capsys):
    pytest.importorskip("av")
    from wiser.video.clips import find_clips, read_clip

    assert main(tmp_path, clips=2, pictures=3, first=5) == 0
    found = find_clips([tmp_path])
    assert [path.stem for path in found] == ["pouring-5", "pouring-6"]
    np.testing.assert_array_equal(read_clip(found[1]).frames, film(6, 3))
    assert main(tmp_path, clips=0) == 2
    assert "clips must be at least 1" in capsys.readouterr().err
