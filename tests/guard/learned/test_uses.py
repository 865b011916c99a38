"""What rejection does with learned scores: the right sensor, the right class, the right threshold, clear errors."""

import math

import numpy as np
import pytest
import torch

import wiser
from tests import tiny
from tests.calibrating import calibrate
from wiser.guard import Chain, Greedy, Guard, Mode, Rejection
from wiser.guard.learned import ResNet18, Restormer, write_network
from wiser.guard.scores import find_score, known_scores

SENSORS = (tiny.image("camera"), tiny.image("thermal"))


def bright_is_corrupted(channels: int = 3) -> ResNet18:
    """A network whose answer is known: logits (0, mean pixel of the frame - 100)."""
    network = ResNet18(channels, width=4)
    with torch.no_grad():
        for value in network.state_dict().values():
            if value.is_floating_point():
                value.zero_()
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_var.fill_(1.0 - module.eps)
                module.weight.fill_(1.0)
        network.conv1.weight[0, 0, 3, 3] = 1.0  # brightness in the first channel ...
        for stage in (network.layer1, network.layer2, network.layer3, network.layer4):
            if stage[0].downsample is not None:
                stage[0].downsample[0].weight[0, 0] = 1.0  # ... goes around all blocks
        network.fc.weight[1, 0], network.fc.bias[1] = 1.0, -100.0
    return network


@pytest.fixture
def agent(tmp_path):
    wiser.save(tiny.model(SENSORS), tmp_path)
    write_network("resnet18", bright_is_corrupted(), tmp_path, "thermal")
    return wiser.load(tmp_path)


def frames(camera: int, thermal: int) -> dict[str, np.ndarray]:
    return {"camera": np.full((1, 16, 16, 3), camera, np.uint8), "thermal": np.full((1, 16, 16, 3), thermal, np.uint8)}


def test_the_score_is_minus_log_the_probability_of_clean(agent) -> None:
    guard = Guard(agent, Rejection("resnet18", denoiser=None), rows=1)
    for thermal in (0, 97, 100, 103, 255):
        _, verdict = guard.act(frames(255 - thermal, thermal))
        probability = 1 / (1 + math.exp(thermal - 100))
        nats = -math.log(probability)
        assert verdict.scores["score"][0] == pytest.approx(nats, rel=2e-3, abs=1e-6)
        assert (verdict.mode[0] == Mode.GROUNDED) == (probability > 0.5)


def test_repaired_frames_are_scored_as_pixels_too(agent, monkeypatch) -> None:
    """Floats in [0, 1] are the same picture as bytes."""

    def halve(look):
        return {name: x.float() / 255 / 2 for name, x in look.obs.items()}

    guard = Guard(agent, Rejection("resnet18", denoiser=halve), rows=1)
    assert guard.act(frames(0, 190))[1].mode[0] == Mode.DENOISED
    assert guard.act(frames(0, 210))[1].mode[0] == Mode.PREDICTIVE


def test_rows_where_its_sensor_is_not_in_use_cannot_pass(agent) -> None:
    score = find_score("resnet18").ready(agent)
    guard = Guard(agent, "none", rows=1)
    guard.act(frames(0, 0))
    look = guard.evidence.look
    assert float(score(look)) < 0.1
    assert float(score(look.trusting(torch.tensor([[True, False]])))) == math.inf


def test_the_threshold_is_its_own_unless_it_is_told_otherwise(agent) -> None:
    assert Rejection("resnet18").needs == ()
    assert Rejection("resnet18", tau=0.1).needs == ()
    assert Rejection("resnet18", tau="calibrated").needs == ("resnet18",)
    assert Rejection("surprise", tau="calibrated").needs == ("surprise",)
    with pytest.raises(ValueError, match="tau is a number, 'calibrated' or None"):
        Rejection("resnet18", tau="estimated")
    rng = np.random.default_rng(0)

    def step(actions):
        return frames(0, int(rng.integers(90, 96))), np.array([actions is None])

    calibration = calibrate(agent, step, 1, 60, 2, scores=("resnet18",))
    usual = calibration.stats("resnet18")
    assert 1e-5 < usual.mean < 0.02
    guard = Guard(agent, Rejection("resnet18", denoiser=None, tau="calibrated"), rows=1, calibration=calibration)
    guard.act(frames(0, 90))
    modes = [int(guard.act(frames(0, thermal))[1].mode[0]) for thermal in (94, 99)]
    assert modes == [Mode.GROUNDED, Mode.PREDICTIVE], "99 is still more likely clean, and yet unusual"


def test_it_is_calibrated_along_with_the_others_where_its_weights_are(agent) -> None:
    assert set(known_scores(agent)) == {"surprise", "reconstruction", "context", "resnet18"}
    (agent.folder / "resnet18.safetensors").unlink()
    assert set(known_scores(agent)) == {"surprise", "reconstruction", "context"}
    agent.folder = None
    assert set(known_scores(agent)) == {"surprise", "reconstruction", "context"}
    with pytest.raises(ValueError, match="no folder"):
        Guard(agent, Rejection("resnet18"))


def test_weights_that_are_not_there_or_not_for_this_agent_are_named(agent, tmp_path) -> None:
    with pytest.raises(ValueError, match=r"no weights of restormer at .*: `wiser learn restormer AGENT ENV`"):
        Guard(agent, Rejection(tau=1.0, denoiser="restormer"))
    with pytest.raises(ValueError, match=r"no weights of resnet18 at nowhere\.safetensors"):
        Guard(agent, Rejection("resnet18@nowhere.safetensors"))
    other = tmp_path / "other"
    with pytest.raises(ValueError, match="this agent has no image 'radar'; its images are camera, thermal"):
        Guard(agent, Rejection(f"resnet18@{write_network('resnet18', ResNet18(3, 4), other, 'radar')}"))
    with pytest.raises(ValueError, match="is for pictures of 1 channels, camera has 3"):
        Guard(agent, Rejection(f"resnet18@{write_network('resnet18', ResNet18(1, 4), other, 'camera')}"))
    torch.save(ResNet18(3, 4).state_dict(), other / "theirs.pth")
    with pytest.raises(ValueError, match="looks at one sensor's frames; its images are camera, thermal"):
        Guard(agent, Rejection(f"resnet18@{other}/theirs.pth"))


def test_judges_tell_which_weights_they_use(agent, tmp_path) -> None:
    beside = tmp_path / "resnet18.safetensors"
    small = Restormer(width=4, blocks=(1, 1, 1, 1), refinement=1, heads=(1, 1, 1, 1))
    other = write_network("restormer", small, tmp_path / "other", "camera")
    learned = Rejection("resnet18", denoiser=f"restormer@{other}")
    assert learned.files(agent) == (beside, other)
    assert Chain(Greedy(), learned).files(agent) == (beside, other)
    assert Rejection().files(agent) == ()
