"""Training scores and denoisers: on frames that an agent sees, repeatably, and of use on frames they have not seen."""

import math

import numpy as np
import pytest
import torch

from tests import fake_world, tiny
from wiser.cli import run
from wiser.guard import Guard, Mode, Rejection
from wiser.guard.learned import read_network
from wiser.learn import learn
from wiser.learn.frames import FAINTEST, Pairs, batches, clean_frames, once, spoil
from wiser.learn.lessons import TakeNoiseOut, TellCorrupted
from wiser.worldmodel.store import save

MODEL = tiny.model(*fake_world.described(), tower="patch")
SMALL = {"width": 4, "blocks": [1, 1, 1, 1], "refinement": 1, "heads": [1, 1, 1, 1]}


def test_frames_are_what_the_sensor_shows_while_nothing_is_broken() -> None:
    """The glow of the fake world tells the step of the episode; episodes have 3, 2, ... steps and a frame more."""
    frames = clean_frames(MODEL, fake_world.VECTOR, "glow", 100, 7, {})
    assert (frames.shape, frames.dtype) == ((100, 16, 16, 1), np.uint8)
    steps = frames[::16, 0, 0, 0] // 20  # of the first of sixteen rows
    assert steps.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert all((frame == frame[0, 0]).all() for frame in frames)


def test_noise_is_gaussian_of_many_intensities_and_leaves_the_clean_frames_alone() -> None:
    grey = np.full((400, 32, 32, 1), 128, np.uint8)
    clean, noisy = spoil(grey, np.random.default_rng(0))
    assert torch.equal(clean, torch.full_like(clean, 128))
    spread = (noisy.float() - 128).flatten(1).std(1) / 255  # (frames,)
    assert FAINTEST * 0.2 * 0.9 < float(spread.min()) < 0.03
    assert 0.17 < float(spread.max()) < 0.21
    assert float(spread.mean()) == pytest.approx(0.2 * (1 + FAINTEST) / 2, rel=0.05)


def test_batches_draw_from_all_frames_and_the_examination_sees_each_once() -> None:
    frames = np.arange(10, dtype=np.uint8).reshape(10, 1, 1, 1)
    drawn = batches(frames, 64, np.random.default_rng(0))
    assert set(next(drawn).clean.flatten().tolist()) == set(range(10))
    assert not torch.equal(next(drawn).noisy, next(drawn).noisy)
    assert torch.cat([pairs.clean for pairs in once(frames, 4, np.random.default_rng(0))]).flatten().tolist() == list(
        range(10)
    )


@pytest.fixture(scope="module")
def classifier():
    return learn("resnet18", MODEL, fake_world.VECTOR, frames=400, updates=100, batch=32, settings={"width": 8})


def test_a_classifier_learns_to_tell_noise(classifier) -> None:
    assert classifier.held_out["accuracy"] > 0.9
    assert classifier.held_out["accuracy"] == pytest.approx(
        (classifier.held_out["accuracy_clean"] + classifier.held_out["accuracy_noisy"]) / 2
    )
    assert classifier.sensor == "glow"


def test_what_it_learnt_rejects_noisy_frames(classifier, tmp_path) -> None:
    path = classifier.save(tmp_path)
    guard = Guard(MODEL, Rejection(f"resnet18@{path}", denoiser=None), rows=12)
    glow = np.stack([np.full((16, 16, 1), 20 * (row % 4), np.uint8) for row in range(12)])
    obs = {"glow": glow, "where": np.zeros((12, 4), np.float32)}
    assert np.mean(guard.act(obs)[1].mode == Mode.GROUNDED) > 0.9
    noise = np.random.default_rng(0).normal(0, 40, glow.shape)
    loud = {**obs, "glow": (glow + noise).clip(0, 255).astype(np.uint8)}
    assert np.mean(guard.act(loud)[1].mode == Mode.PREDICTIVE) > 0.9


def test_a_restormer_learns_to_take_noise_out() -> None:
    learnt = learn("restormer", MODEL, fake_world.VECTOR, frames=400, updates=150, batch=8, settings=SMALL)
    assert learnt.held_out["psnr_mended"] > learnt.held_out["psnr_noisy"] + 1


def test_the_same_seed_learns_the_same_and_draws_nothing_of_others(classifier) -> None:
    state = torch.get_rng_state()
    settings = {"frames": 32, "updates": 2, "batch": 4, "settings": {"width": 2}}
    first, again, other = (learn("resnet18", MODEL, fake_world.VECTOR, seed=seed, **settings) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(first.network.parameters(), again.network.parameters(), strict=True))
    assert not torch.equal(first.network.fc.weight, other.network.fc.weight)
    assert first.held_out == again.held_out


class BrightIsCorrupted(torch.nn.Module):
    def forward(self, images: torch.Tensor) -> torch.Tensor:
        bright = images.float().flatten(1).mean(1) - 100
        return torch.stack([-bright, bright], 1)


def test_accuracy_counts_every_frame_once_clean_and_once_noisy() -> None:
    def shade(*values: int) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.uint8).view(-1, 1, 1, 1).expand(-1, 4, 4, 1)

    pairs = [Pairs(shade(90, 90, 110), shade(120, 80, 120)), Pairs(shade(90), shade(80))]
    found = TellCorrupted(BrightIsCorrupted()).examine(pairs)
    assert found == {"accuracy": 5 / 8, "accuracy_clean": 3 / 4, "accuracy_noisy": 2 / 4}
    loss = TellCorrupted(BrightIsCorrupted()).loss(pairs[0], torch.Generator().manual_seed(0))
    labels = torch.randint(2, (3,), generator=torch.Generator().manual_seed(0))
    shown = [(120, 80, 120)[row] if label else (90, 90, 110)[row] for row, label in enumerate(labels.tolist())]
    logits = [2 * (value - 100) * (1 if label else -1) for value, label in zip(shown, labels.tolist(), strict=True)]
    assert float(loss) == pytest.approx(np.mean([math.log1p(math.exp(-x)) for x in logits]), rel=1e-4)


def test_a_denoiser_is_examined_by_the_signal_to_noise_ratio() -> None:
    clean = torch.zeros(2, 4, 4, 1)
    noisy = torch.stack([torch.full((4, 4, 1), 0.1), torch.full((4, 4, 1), 0.01)])
    unchanged = TakeNoiseOut(torch.nn.Identity()).examine([Pairs(clean, noisy)])
    assert unchanged == {"psnr_noisy": pytest.approx(30.0), "psnr_mended": pytest.approx(30.0)}
    loss = TakeNoiseOut(torch.nn.Identity()).loss(Pairs(clean, noisy), torch.Generator())
    assert float(loss) == pytest.approx(0.055)


def test_mistakes_are_named_before_anything_is_driven() -> None:
    cases = {
        "nothing to learn is called 'vgg'; there are resnet18, restormer": {"kind": "vgg"},
        "frames must be at least 1": {"frames": 0},
        "updates must be at least 1": {"updates": 0},
        "this agent has no image 'where'; its images are glow": {"sensor": "where"},
        "resnet18 has no settings": {"settings": {"wings": 2}},
    }
    for message, wrong in cases.items():
        with pytest.raises(ValueError, match=message):
            learn(**{"kind": "resnet18", "model": MODEL, "env": "nowhere", **wrong})


def test_the_command_leaves_weights_beside_the_agents(tmp_path, capsys) -> None:
    folder = save(MODEL, tmp_path / "agent")
    words = ["learn", "resnet18", str(folder), fake_world.VECTOR, "--frames", "32", "--updates", "2", "--batch", "4"]
    assert run([*words, "--network", "width=2"]) == 0
    network, sensor = read_network("resnet18", folder / "resnet18.safetensors")
    assert (network.settings, sensor) == ({"channels": 1, "width": 2}, "glow")
    said = capsys.readouterr().out
    assert "accuracy" in said
    assert "on held-out frames" in said
