"""Sequence replay: what comes out is what went in, in order, fresh first, bounded, and on disk when asked."""

import numpy as np
import pytest

from wiser.train.replay import Field, Replay

FIELDS = {"t": Field((), "int64"), "image": Field((2, 2), "uint8"), "deter": Field((3,), "float16")}


def filled(steps: int, rows: int = 3, capacity: int = 60, folder=None, sequence: int = 5) -> Replay:
    replay = Replay(FIELDS, rows, capacity, folder)
    extend(replay, steps, sequence)
    return replay


def extend(replay: Replay, steps: int, sequence: int = 5) -> None:
    for _ in range(steps):
        t = replay.head
        stamps = 1000 * np.arange(replay.rows) + t
        images = np.broadcast_to((stamps % 251)[:, None, None], (replay.rows, 2, 2))
        replay.add({"t": stamps, "image": images, "deter": np.full((replay.rows, 3), t)}, sequence)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("steps", [5, 13, 20, 47])
def test_sequences_are_consecutive_steps_of_one_row(steps: int, on_disk: bool, tmp_path) -> None:
    replay = filled(steps, folder=tmp_path if on_disk else None)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        sample = replay.sample(4, 5, rng)
        assert (np.diff(sample.steps["t"], axis=1) == 1).all()
        assert (sample.steps["t"] // 1000 == sample.rows[:, None]).all()
        assert (sample.steps["image"][..., 0, 0] == sample.steps["t"] % 251).all()
        known = ~sample.fresh_start
        assert (sample.before["t"][known] == sample.steps["t"][known, 0] - 1).all()
        seen |= set((sample.steps["t"] % 1000).ravel().tolist())
    assert seen == set(range(max(0, steps - 20), steps)), "every step that is kept, and no other, can be drawn"


def test_new_sequences_come_first_and_once() -> None:
    replay = filled(10)
    rng = np.random.default_rng(0)
    first = replay.sample(6, 5, rng)
    assert sorted(zip(first.rows.tolist(), first.starts.tolist(), strict=True)) == [
        (r, s) for r in range(3) for s in (0, 5)
    ]
    extend(replay, 5)
    second = replay.sample(4, 5, rng)
    assert second.starts[:3].tolist() == [10, 10, 10]
    assert sorted(second.rows[:3].tolist()) == [0, 1, 2]


def test_uniform_over_places() -> None:
    replay = filled(20)
    rng = np.random.default_rng(0)
    replay.sample(12, 5, rng)  # empties the queue
    starts = np.concatenate([replay.sample(8, 5, rng).starts for _ in range(2000)])
    counts = np.bincount(starts, minlength=16)
    assert (np.abs(counts - counts.mean()) < 5 * np.sqrt(counts.mean())).all()


def test_refreshed_values_come_back() -> None:
    replay = filled(30)
    rng = np.random.default_rng(0)
    sample = replay.sample(2, 5, rng)
    replay.refresh(sample, {"deter": np.full((2, 5, 3), 7.0, np.float16)})
    for row, start in zip(sample.rows.tolist(), sample.starts.tolist(), strict=True):
        assert (replay._gather("deter", np.array([row]), np.array([start]), 5) == 7).all()


def test_too_little_experience_is_a_clear_error() -> None:
    with pytest.raises(ValueError, match="no sequence of 5"):
        filled(4).sample(1, 5, np.random.default_rng(0))


def test_disk_replay_goes_on_where_it_was(tmp_path) -> None:
    replay = filled(12, folder=tmp_path)
    beliefs = np.full((2, 5, 3), 3.0, np.float16)
    replay.refresh(replay.sample(2, 5, np.random.default_rng(1)), {"deter": beliefs})
    state = replay.save(tag=7)
    expected = replay.sample(5, 5, np.random.default_rng(3))
    replay.refresh(expected, {"deter": np.full((5, 5, 3), 9.0, np.float16)})  # lost with the process
    extend(replay, 3)
    again = Replay(FIELDS, 3, 60, tmp_path)
    again.restore(state)
    found = again.sample(5, 5, np.random.default_rng(3))
    assert all(np.array_equal(expected.steps[name], found.steps[name]) for name in FIELDS)
    replay.save(tag=8)
    replay.forget(8)
    assert [path.name for path in tmp_path.glob("*.npy")] == ["deter.8.npy"]


def test_capacity_costs_nothing_until_it_is_used(tmp_path) -> None:
    fields = {"image": Field((64, 64, 3), "uint8")}
    replay = Replay(fields, 16, 5_000_000, tmp_path)  # 61 GB if it were written
    replay.add({"image": np.ones((16, 64, 64, 3), np.uint8)}, 32)
    used = (tmp_path / "image.bin").stat().st_blocks * 512
    assert used < 64 * 2**20
