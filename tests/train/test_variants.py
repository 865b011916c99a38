"""What each variant of training lets the encoder see."""

import numpy as np
import pytest
import torch
from scipy import stats

from tests import tiny
from wiser.train.config import TrainConfig
from wiser.train.loop import build_model
from wiser.train.unroll import Seen
from wiser.train.variants import VARIANTS, Variant, find_variant


def dice() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def shown(obs: dict[str, torch.Tensor], variant: str, **settings: float) -> Seen:
    return find_variant(variant)(TrainConfig(variant=variant, **settings), tiny.model(tiny.images(1))).show(obs, dice())


def numbers(rows: int, steps: int) -> dict[str, torch.Tensor]:
    """Readings of four sensors."""
    return {name: torch.zeros(rows, steps, 2) for name in "abcd"}


@pytest.mark.parametrize("variant", ["base", "augmented"])
def test_every_sensor_is_seen_without_dropout(variant: str) -> None:
    masks = shown(numbers(3, 5), variant).masks
    assert masks.shape == (3, 5, 4)
    assert masks.dtype == torch.bool
    assert masks.all()


@pytest.mark.parametrize("variant", ["dropout", "tokens"])
def test_dropout_is_algorithm_1_at_every_step(variant: str) -> None:
    """u ~ Uniform{0..N-1} sensors are masked, any of them: never all."""
    masks = shown(numbers(100, 80), variant).masks
    masked = (~masks).sum(-1).flatten().numpy()
    counts = np.bincount(masked, minlength=5)
    assert counts[4] == 0
    assert stats.chisquare(counts[:4]).pvalue > 1e-3
    np.testing.assert_allclose(masks.float().mean((0, 1)), 1 - 1.5 / 4, atol=0.02)


def observations() -> dict[str, torch.Tensor]:
    return {
        "camera": torch.full((40, 25, 16, 16, 3), 128, dtype=torch.uint8),
        "depth": torch.full((40, 25, 8, 8, 1), 0.5),
        "speed": torch.full((40, 25, 3), 7.0),
    }


@pytest.mark.parametrize("variant", ["base", "dropout", "tokens"])
def test_readings_are_left_alone_without_augmentation(variant: str) -> None:
    obs = observations()
    assert shown(obs, variant).obs is obs


@pytest.mark.parametrize("std", [0.1, 0.05])
def test_augmentation_is_normal_noise_of_a_strength_drawn_for_every_frame(std: float) -> None:
    obs = observations()
    noisy = shown(obs, "augmented", noise_std=std).obs
    assert noisy["speed"] is obs["speed"]
    assert torch.equal(obs["camera"], observations()["camera"]), "targets are not touched"
    for name, centre in (("camera", 128 / 255), ("depth", 0.5)):
        noise = (noisy[name] - centre).flatten(2)  # (B, T, pixels)
        strengths = noise.std(-1).flatten().numpy()
        assert stats.kstest(strengths, stats.uniform(0, std).cdf).pvalue > 1e-3
        strong = noise.flatten(0, 1)[strengths > 0.8 * std]
        scaled = (strong / strong.std(-1, keepdim=True)).flatten().numpy()[:4000]
        assert stats.kstest(scaled, stats.norm.cdf).pvalue > 1e-3
    extreme = {"camera": torch.tensor([0, 255], dtype=torch.uint8).view(1, 2, 1, 1, 1).expand(1, 2, 9, 9, 3)}
    clipped = shown(extreme, "augmented").obs["camera"]
    assert 0 <= float(clipped.min()) <= float(clipped.max()) <= 1


def test_variants_go_by_name_and_more_can_be_added(monkeypatch) -> None:
    with pytest.raises(ValueError, match="no variant 'wings'; there are augmented, base, dropout, hrssm, tokens"):
        find_variant("wings")

    class Wings(Variant):
        pass

    monkeypatch.setitem(VARIANTS, "wings", Wings)
    assert find_variant("wings") is Wings


def test_only_the_variant_with_tokens_asks_for_a_model_that_has_some() -> None:
    settings = {"env": "CartPole-v1", "size": "nano"}
    for variant, missing in (("base", "zero"), ("dropout", "zero"), ("tokens", "token")):
        assert build_model(TrainConfig(variant=variant, **settings)).config.missing == missing
