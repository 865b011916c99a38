"""A run that was stopped, however, goes on to the weights of one that was not."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

import wiser
from wiser.train import checkpoint, learner, log
from wiser.train.config import TrainConfig, stack
from wiser.train.loop import train
from wiser.train.teaching import Teaching

SMALL = replace(
    stack(["driving/stop-sign", "nano", "dropout", "driving/single"]),
    updates=12, rows=2, batch=2, length=8, prefill=12, capacity=400, segment=4, evaluate_every=12, evaluate_episodes=1,
    log_every=2, threads=1,
)  # fmt: skip


def quiet(line: dict) -> None:
    pass


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    train(SMALL, folder, quiet)
    return folder


def weights(folder) -> dict[str, torch.Tensor]:
    return wiser.load(folder / "model").state_dict()


def assert_same(a, b) -> None:
    first, second = weights(a), weights(b)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert said(a) == said(b)


def said(folder) -> list[dict]:
    """The log, apart from how fast it went."""
    return [{name: value for name, value in entry.items() if name != "rate"} for entry in log.read(folder)]


def test_a_run_leaves_an_agent_a_log_and_an_evaluation(uninterrupted) -> None:
    lines = log.read(uninterrupted)
    assert [line["update"] for line in lines if "rate" in line] == [2, 4, 6, 8, 10, 12]
    assert "score" in lines[-1]
    assert all(np.isfinite(value) for line in lines for value in line.values() if isinstance(value, float))


def test_tensorboard_shows_what_the_log_says(uninterrupted) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(uninterrupted / "tensorboard")).Reload()
    lines = log.read(uninterrupted)
    shown = {event.step: event.value for event in events.Scalars("training/dynamics")}
    assert shown == pytest.approx({line["update"]: line["dynamics"] for line in lines if "rate" in line})
    assert [event.value for event in events.Scalars("evaluation/score")] == pytest.approx([lines[-1]["score"]])


def test_a_log_line_cut_short_by_a_kill_is_dropped(tmp_path) -> None:
    (tmp_path / "log.jsonl").write_text('{"update": 2, "rate": 1.0}\n{"update": 4, "ra')
    log.Log(tmp_path, 2).close()
    assert log.read(tmp_path) == [{"update": 2, "rate": 1.0}]


def test_same_seed_same_weights(uninterrupted, tmp_path) -> None:
    train(SMALL, tmp_path, quiet)
    assert_same(uninterrupted, tmp_path)


def test_stopped_after_a_segment_and_in_the_middle_of_one(uninterrupted, tmp_path) -> None:
    for stop_at in (6, 10):

        def interrupt(line: dict, stop_at: int = stop_at) -> None:
            if line["update"] == stop_at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(SMALL, tmp_path, interrupt)
    train(SMALL, tmp_path, quiet)
    assert_same(uninterrupted, tmp_path)


def test_killed_at_any_moment(uninterrupted, tmp_path) -> None:
    """kill -9, ten times at random moments; each time the run goes on from a sound checkpoint."""
    code = (
        "import sys; from pathlib import Path; from wiser.train import checkpoint; from wiser.train.loop import train\n"
        "folder = Path(sys.argv[1]); print('ready', flush=True)\n"
        "train(checkpoint.config_of(folder), folder, lambda line: None)"
    )
    checkpoint.begin(tmp_path, SMALL)
    rng = np.random.default_rng(0)
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.2, 4.0))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if (tmp_path / "model" / "config.json").exists() and (tmp_path / checkpoint.STATE).exists():
            wiser.load(tmp_path / "model")
    train(SMALL, tmp_path, quiet)
    assert_same(uninterrupted, tmp_path)


def test_matrix_products_are_as_exact_as_asked_for_and_afterwards_as_before(tmp_path) -> None:
    before, seen = torch.get_float32_matmul_precision(), set()

    def stop(line: dict) -> None:
        seen.add(torch.get_float32_matmul_precision())
        raise KeyboardInterrupt

    for precision in ("medium", "high"):
        with pytest.raises(KeyboardInterrupt):
            train(replace(SMALL, precision=precision), tmp_path / precision, stop)
    assert seen == {"medium", "high"}
    assert torch.get_float32_matmul_precision() == before == "highest"


def test_another_config_is_refused(uninterrupted) -> None:
    with pytest.raises(ValueError, match="another seed"):
        train(replace(SMALL, seed=1), uninterrupted, quiet)
    with pytest.raises(ValueError, match="not a run"):
        checkpoint.config_of(uninterrupted / "model")


@pytest.mark.parametrize("variant", ["base", "dropout", "augmented"])
def test_a_run_of_each_variant_shows_the_encoder_what_it_promises(variant: str, tmp_path, monkeypatch) -> None:
    """Two sensors, two updates: which of them were hidden, and whether the pictures are those the camera took."""
    seen = []

    def watched(model, batch, masks, *rest):
        seen.append((batch.obs["birdeye_raw"], masks))
        return observe(model, batch, masks, *rest)

    observe = learner.observe
    monkeypatch.setattr(learner, "observe", watched)
    sensors = ("birdeye_raw", "lidar")
    train(replace(SMALL, sensors=sensors, variant=variant, updates=2, segment=2), tmp_path, quiet)
    pictures, masks = (torch.stack(values) for values in zip(*seen, strict=True))
    assert masks.shape == (2, 2, 8, 2)
    assert bool(masks.all()) == (variant != "dropout")
    assert bool(masks.any(-1).all()), "never both of them"
    stored = np.fromfile(tmp_path / "replay" / "sensor%2Fbirdeye_raw.bin", np.uint8).reshape(2, 200, 64, 64, 3)
    taken = {frame.tobytes() for frame in stored[:, :20].reshape(-1, 64, 64, 3)}
    if variant == "augmented":
        assert pictures.dtype == torch.float32
        assert not {frame.mul(255).round().byte().numpy().tobytes() for frame in pictures.flatten(0, 2)} <= taken
    else:
        assert {frame.numpy().tobytes() for frame in pictures.flatten(0, 2)} <= taken
    agent = wiser.load(tmp_path / "model")
    assert [sensor.name for sensor in agent.sensors] == list(sensors)


def test_presets_stack_and_mistakes_are_named() -> None:
    config = stack(["driving/four-lane", "nano", "dropout"])
    assert (config.env, config.size, config.variant) == ("wiser/FourLane-v0", "nano", "dropout")
    with pytest.raises(ValueError, match="there are augmented"):
        stack(["no"])
    with pytest.raises(ValueError, match="unknown fields"):
        TrainConfig.from_dict({"wings": 2})
    fading = replace(config, updates=100, cloning=1.0, cloning_end=0.5, cloning_floor=0.1, cooldown=0.0)
    assert [round(Teaching(fading).weight(u), 3) for u in (0, 25, 50, 99)] == [1.0, 0.55, 0.1, 0.1]
    assert [round(Teaching(fading).share(u), 3) for u in (0, 25, 50, 99)] == [0.5, 0.25, 0.0, 0.0]
    cooling = replace(fading, cooldown=0.5)
    assert [round(cooling.rate_factor(u), 3) for u in (0, 50, 75, 100)] == [1.0, 1.0, 0.55, 0.1]
    assert fading.rate_factor(99) == 1.0
