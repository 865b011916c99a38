"""Networks on disk: ours and other libraries', and one clear error for whatever cannot be used."""

import json
import pickle

import pytest
import torch
from safetensors.torch import save_file

from wiser.guard.learned import ResNet18, Restormer, read_network, write_network
from wiser.guard.learned.files import build_network
from wiser.weights import ModelError

SMALL = {"width": 4, "blocks": [1, 1, 1, 1], "refinement": 1, "heads": [1, 1, 1, 1]}


def test_what_was_written_is_read_at_half_precision(tmp_path) -> None:
    for kind, network in (("resnet18", ResNet18(2, 4)), ("restormer", Restormer(2, **SMALL))):
        path = write_network(kind, network, tmp_path, "depth", frames=3)
        assert path == tmp_path / f"{kind}.safetensors"
        assert json.loads((tmp_path / f"{kind}.json").read_text())["about"] == {"frames": 3}
        state = torch.get_rng_state()
        loaded, sensor = read_network(kind, path)
        assert torch.equal(torch.get_rng_state(), state), "loading draws no random numbers"
        assert (sensor, loaded.settings) == ("depth", network.settings)
        assert not loaded.training
        for name, value in network.state_dict().items():
            stored = value.half().float() if value.ndim > 1 else value
            assert torch.equal(loaded.state_dict()[name], stored)


def test_large_statistics_survive(tmp_path) -> None:
    """Variances of pixels from 0 to 255 are beyond what 16 bits hold."""
    network = ResNet18(1, 4)
    network.bn1.running_var.fill_(1e6)
    loaded, _ = read_network("resnet18", write_network("resnet18", network, tmp_path, "x"))
    assert float(loaded.bn1.running_var[0]) == 1e6


@pytest.mark.parametrize("wrapped", ["params", "state_dict", None])
def test_files_of_other_libraries_are_read_without_json(tmp_path, wrapped) -> None:
    network = ResNet18(channels=1, width=8)
    weights = network.state_dict()
    torch.save({wrapped: weights} if wrapped else weights, tmp_path / "theirs.pth")
    save_file(weights, tmp_path / "theirs.safetensors")
    for name in ("theirs.pth", "theirs.safetensors"):
        loaded, sensor = read_network("resnet18", tmp_path / name)
        assert (sensor, loaded.settings) == (None, {"channels": 1, "width": 8})
        assert torch.equal(loaded.fc.weight, network.fc.weight)


@pytest.mark.parametrize("settings", [{"channels": 1, "norm_bias": False}, {"channels": 3, "norm_bias": True}])
def test_published_restormers_differ_in_channels_and_norms(settings) -> None:
    assert Restormer.settings_of(Restormer(**settings, **SMALL).state_dict()) == settings


def test_a_published_restormer_is_read_by_its_path(tmp_path) -> None:
    """Of its real size, as the authors save it."""
    with torch.device("meta"):
        shapes = Restormer(channels=1).state_dict()
    nothing = {name: torch.zeros_like(x, device="cpu") for name, x in shapes.items()}
    torch.save({"params": nothing}, tmp_path / "gray.pth")
    loaded, _ = read_network("restormer", tmp_path / "gray.pth")
    assert loaded.settings == Restormer.settings_of(shapes) | {
        "width": 48, "blocks": [4, 6, 6, 8], "refinement": 4, "heads": [1, 2, 4, 8], "expansion": 2.66
    }  # fmt: skip
    picture = torch.rand(1, 8, 8, 1)
    assert torch.equal(loaded(picture), picture), "what it puts out is added to the picture"


class Attack:
    """Runs code when it is unpickled by somebody careless."""

    def __reduce__(self):
        return (pytest.fail, ("code of a file was run",))


def test_code_in_a_file_is_not_run(tmp_path) -> None:
    (tmp_path / "bad.pth").write_bytes(pickle.dumps({"params": Attack()}))
    torch.save({"params": Attack()}, tmp_path / "zipped.pth")
    for name in ("bad.pth", "zipped.pth"):
        with pytest.raises(ModelError, match=f"{name} is no file of weights alone"):
            read_network("resnet18", tmp_path / name)


def test_what_does_not_fit_is_named(tmp_path) -> None:
    path = write_network("resnet18", ResNet18(3, 4), tmp_path, "camera")
    save_file({"a": torch.zeros(2)}, tmp_path / "foreign.safetensors")
    with pytest.raises(ModelError, match="no weights of restormer"):
        read_network("restormer", tmp_path / "foreign.safetensors")
    with pytest.raises(ModelError, match="wanted is wiser-restormer"):
        read_network("restormer", path)
    with pytest.raises(ValueError, match=r"resnet18 has no settings \['wings'\]; there are channels, width"):
        build_network("resnet18", {"wings": 2})
    header = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps({**header, "sensor": "other"}))
    with pytest.raises(ModelError, match=r"does not belong to the resnet18\.json beside it"):
        read_network("resnet18", path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ModelError, match="truncated"):
        read_network("resnet18", path)
