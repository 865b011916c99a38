"""Streams compared over time, against a plain transcription and streams whose delay is known."""

import numpy as np
import torch

from wiser.guard.judges.witnesses.streams import Streams

GROUPS, CLASSES, PAST, FADE, NEAR = 4, 5, 12, 0.1, 3


def shows(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Probabilities of all groups, side by side, (*shape, S * C)."""
    return rng.dirichlet(np.full(CLASSES, 0.2), (*shape, GROUPS)).reshape(*shape, -1).astype(np.float32)


def run(streams: np.ndarray, begin: np.ndarray | None = None, credible: np.ndarray | None = None, held=None):
    """Streams (T, B, N, S * C), of sensors that have been `held` for so many steps (T, B, N); the last comparison."""
    steps, rows, count, _ = streams.shape
    compare = Streams(rows, count, PAST, FADE, NEAR)
    begin = np.arange(steps)[:, None] == np.zeros((1, rows)) if begin is None else begin
    sure = torch.from_numpy(np.ones((rows, count), bool) if credible is None else credible)
    held = np.zeros((steps, rows, count), np.float32) if held is None else held
    for shown, first, since in zip(streams, begin, held, strict=True):
        found = compare.compare(torch.from_numpy(shown), GROUPS, torch.from_numpy(first), sure, torch.from_numpy(since))
    return found


def plainly(stream: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lateness, delay and stillness of one row (T, N, S * C), written out."""
    steps, count, _ = stream.shape
    overlap = np.zeros((PAST, count, count))
    for t in range(steps):
        for k in range(min(PAST, t + 1)):
            for n, m in np.ndindex(count, count):
                overlap[k, n, m] += FADE * (stream[t, n] @ stream[t - k, m] / GROUPS - overlap[k, n, m])
    late, delay = np.full(count, -1.0), np.zeros(count, int)
    for n, m in np.ndindex(count, count):
        behind = overlap[NEAR:, n, m].max() - overlap[:NEAR, n, m].max()
        ahead = overlap[NEAR:, m, n].max() - overlap[:NEAR, m, n].max()
        if n != m and behind - ahead > late[n]:
            late[n], delay[n] = behind - ahead, NEAR + overlap[NEAR:, n, m].argmax()
    kept = np.array([overlap[:, n, n].mean() / overlap[0, n, n] for n in range(count)])
    return late, delay, kept - kept.min()


def test_it_is_what_it_says() -> None:
    stream = shows(np.random.default_rng(0), 30, 2, 3)
    found = run(stream)
    for row in range(2):
        late, delay, still = plainly(stream[:, row])
        np.testing.assert_allclose(found.late[row], late, atol=1e-5)
        np.testing.assert_array_equal(found.delay[row], delay)
        np.testing.assert_allclose(found.still[row], still, atol=1e-5)


def scene(rng: np.random.Generator, delays: list[int], steps: int = 80) -> np.ndarray:
    """One row of sensors (T, 1, N, S * C) that show the same world, each so many steps late."""
    world = np.repeat(shows(rng, steps), 2, 0)  # it changes every other step
    return np.stack([world[np.maximum(np.arange(steps) - delay, 0)] for delay in delays], 1)[:, None]


def test_one_fresh_sensor_convicts_five_late_ones() -> None:
    found = run(scene(np.random.default_rng(1), [7, 7, 0, 7, 7, 7]))
    late = np.array([True, True, False, True, True, True])
    assert found.late[0][late].min() > 0.2 > 0.0 >= found.late[0][~late].max()
    assert all(abs(delay - 7) <= 1 for delay in found.delay[0][late].tolist())


def test_who_is_not_credible_convicts_nobody() -> None:
    delays = [7, 7, 0, 7]
    found = run(scene(np.random.default_rng(1), delays), credible=np.array([[True, True, False, True]]))
    assert found.late[0].max() < 0.1


def test_a_moving_sensor_convicts_frozen_ones() -> None:
    streams = scene(np.random.default_rng(2), [0, 0, 0])
    streams[:, :, :2] = streams[0, :, :2]
    still = run(streams).still[0]
    assert still[:2].min() > 0.4
    assert still[2] == 0.0


def test_where_nothing_moves_nobody_is_still() -> None:
    streams = np.repeat(scene(np.random.default_rng(3), [0, 0, 0])[:1], 60, 0)
    np.testing.assert_allclose(run(streams).still, 0.0, atol=1e-5)


def test_a_row_that_begins_forgets() -> None:
    rng = np.random.default_rng(4)
    streams = shows(rng, 40, 2, 3)
    begin = np.zeros((40, 2), bool)
    begin[0] = begin[25, 0] = True
    found, alone = run(streams, begin), run(streams[25:, :1])
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_allclose(one[:1], other, atol=1e-5)


def test_agreement_of_a_sensor_that_is_held_is_the_mean_since_then() -> None:
    streams = shows(np.random.default_rng(5), 40, 1, 2)
    held = np.zeros((40, 1, 2), np.float32)
    held[34:, 0, 1] = np.arange(1, 7)  # six steps, the last of them the present one
    now = np.einsum("tnd,tmd->tnm", streams[:, 0], streams[:, 0]) / GROUPS  # (T, N, N)
    agreement = run(streams, held=held).agreement[0].numpy()
    np.testing.assert_allclose(agreement[1], now[34:, 1].mean(0), atol=1e-5)
    np.testing.assert_allclose(agreement[0], run(streams).agreement[0, 0], atol=1e-6)
    assert abs(agreement[1, 0] - agreement[0, 1]) > 0.01
