"""Models on disk: round trip, atomic, and one clear error for every kind of damage."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import wiser
from tests import tiny
from wiser.guard import Guard
from wiser.weights import ModelError, digest_of, sha256
from wiser.worldmodel import store
from wiser.worldmodel.store import CONFIG, WEIGHTS

SENSORS = (tiny.image("camera"), tiny.vector("speed"))


@pytest.fixture
def folder(tmp_path):
    return wiser.save(tiny.model(SENSORS), tmp_path / "agent")


@pytest.mark.parametrize("fusion", ["late", "channels"])
@pytest.mark.parametrize("tower", ["conv", "strided", "patch"])
@pytest.mark.parametrize("actions", [tiny.DISCRETE, tiny.CONTINUOUS])
def test_round_trip_acts_the_same(tmp_path, fusion, tower, actions) -> None:
    model = tiny.model(SENSORS, actions, fusion=fusion, tower=tower)
    wiser.save(model, tmp_path)
    loaded = wiser.load(tmp_path)
    assert loaded.config == model.config
    assert loaded.folder == tmp_path
    obs = tiny.batch(SENSORS, 3, np.random.default_rng(0))
    first, second = Guard(model, rows=3), Guard(loaded, rows=3)
    for _ in range(3):
        assert np.array_equal(first.act(obs)[0], second.act(obs)[0])
        assert torch.equal(first.belief.deter, second.belief.deter)


def test_saving_again_replaces_the_weights(folder) -> None:
    other = tiny.model(SENSORS, seed=1)
    wiser.save(other, folder)
    assert torch.equal(wiser.load(folder).posterior.from_deter.weight, other.posterior.from_deter.weight)
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS]


def test_a_folder_never_changes_architecture(folder) -> None:
    with pytest.raises(ModelError, match="another config"):
        wiser.save(tiny.model(SENSORS, deter=64), folder)
    wiser.load(folder)


def test_a_model_written_before_a_field_existed_can_be_saved_again(folder) -> None:
    header = json.loads((folder / CONFIG).read_text())
    assert header["config"].pop("decoder") is True
    (folder / CONFIG).write_text(json.dumps(header))
    wiser.save(tiny.model(SENSORS, seed=1), folder)
    assert wiser.load(folder).decodes == ("camera", "speed")
    with pytest.raises(ModelError, match="another config"):
        wiser.save(tiny.model(SENSORS, decoder=False), folder)


@pytest.mark.parametrize("fusion", ["late", "channels"])
def test_a_model_without_a_decoder_is_one_when_loaded(tmp_path, fusion: str) -> None:
    model = tiny.model(SENSORS, fusion=fusion, decoder=False)
    loaded = wiser.load(wiser.save(model, tmp_path, half=True))
    assert loaded.decodes == ()
    assert loaded.config == model.config


def test_loading_under_inference_mode_is_fine(folder) -> None:
    with torch.inference_mode():
        model = wiser.load(folder)
    Guard(model).act(tiny.observation(SENSORS, np.random.default_rng(0)))


def test_truncated_weights(folder) -> None:
    data = (folder / WEIGHTS).read_bytes()
    for length in (0, 7, 100, len(data) // 2, len(data) - 1):
        (folder / WEIGHTS).write_bytes(data[:length])
        with pytest.raises(ModelError, match=WEIGHTS):
            wiser.load(folder)


def test_any_flipped_byte(folder) -> None:
    data = (folder / WEIGHTS).read_bytes()
    for position in np.random.default_rng(0).integers(0, len(data), 60):
        damaged = bytearray(data)
        damaged[position] ^= 0x41
        (folder / WEIGHTS).write_bytes(damaged)
        with pytest.raises(ModelError, match=WEIGHTS):
            wiser.load(folder)


def rewrite(folder, change) -> None:
    """Change the tensors and forge a matching digest, as a foreign tool would."""
    weights = load_file(folder / WEIGHTS)
    change(weights)
    config = sha256((folder / CONFIG).read_bytes())
    metadata = {"format": store.FORMAT, "config": config, "digest": digest_of(weights)}
    save_file(weights, folder / WEIGHTS, metadata)


def test_foreign_and_missing_keys(folder) -> None:
    rewrite(folder, lambda w: w.update(extra=w.pop("posterior.from_deter.weight")))
    with pytest.raises(ModelError, match=r"foreign extra; missing posterior\.from_deter\.weight"):
        wiser.load(folder)


def test_wrong_shape(folder) -> None:
    rewrite(folder, lambda w: w.update({"posterior.from_deter.bias": torch.zeros(3)}))
    with pytest.raises(ModelError, match=r"shape \(3,\) instead of \(24,\)"):
        wiser.load(folder)


def test_weights_of_another_library(folder) -> None:
    save_file({"a": torch.zeros(2)}, folder / WEIGHTS)
    with pytest.raises(ModelError, match="not written by this library"):
        wiser.load(folder)


def test_config_of_another_model(folder, tmp_path) -> None:
    other = wiser.save(tiny.model(SENSORS, hidden=32), tmp_path / "other")
    (folder / CONFIG).write_bytes((other / CONFIG).read_bytes())
    with pytest.raises(ModelError, match="does not belong"):
        wiser.load(folder)


@pytest.mark.parametrize("change", ["version", "format", "unknown field", "missing field", "no json", "bad sensor"])
def test_damaged_config(folder, change: str) -> None:
    header = json.loads((folder / CONFIG).read_text())
    if change in ("version", "format"):
        header[change] = 99
    elif change == "unknown field":
        header["config"]["wings"] = 2
    elif change == "missing field":
        del header["config"]["deter"]
    elif change == "bad sensor":
        header["config"]["sensors"] = [3]
    (folder / CONFIG).write_text("{" if change == "no json" else json.dumps(header))
    with pytest.raises(ModelError, match=r"config\.json"):
        wiser.load(folder)


def test_no_such_model() -> None:
    with pytest.raises(ModelError, match="no model at 'nowhere'"):
        wiser.load("nowhere")


def test_failed_write_leaves_the_old_file(folder, monkeypatch) -> None:
    before = (folder / WEIGHTS).read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("wiser.files.os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left on device; the previous file is untouched"):
        wiser.save(tiny.model(SENSORS, seed=5), folder)
    assert (folder / WEIGHTS).read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS]
