"""The networks of PAI-Bench, of their real classes with small random weights: from a folder to the score."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tests.video.quality import plain
from tests.video.quality.clips import moving
from wiser.video.quality import Weights, load_released, score
from wiser.video.quality.networks import Interpolator, ViClip

transformers = pytest.importorskip("transformers", reason="pip install 'wiser-guard[quality]'")

FRAMES, REFERENCE = moving(), moving(1, 80, 90)[0]
SMALL = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12, "patch_size": 16}
NOWHERE = {"clip": "no/such/folder/here", "dino": "no/such/folder/here"}
CPU = torch.device("cpu")


def disturbed(network: nn.Module) -> nn.Module:
    """So that every weight and bias matters, and features point everywhere."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in network.parameters():
            value += 0.3 * torch.randn(value.shape, generator=generator)
    return network.eval()


def save_clip(folder: Path, patch: int) -> Path:
    config = transformers.CLIPVisionConfig(**{**SMALL, "patch_size": patch}, image_size=224, projection_dim=6)
    disturbed(transformers.CLIPVisionModelWithProjection(config)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    home = tmp_path_factory.mktemp("weights")
    disturbed(transformers.ViTModel(transformers.ViTConfig(**SMALL, image_size=224))).save_pretrained(home / "dino")
    torch.save(disturbed(nn.Linear(6, 1)).state_dict(), home / "head.pth")
    return Weights(
        clip=str(save_clip(home / "clip", 32)),
        clip_large=str(save_clip(home / "large", 28)),
        aesthetic=home / "head.pth",
        dino=str(home / "dino"),
    )


@pytest.fixture(scope="module")
def scores(weights: Weights) -> dict[str, float | None]:
    return score(FRAMES, REFERENCE, "a square", backbones=load_released(weights))


def network(kind: str, folder: str) -> nn.Module:
    return getattr(transformers, kind).from_pretrained(folder)


def clip_view(frame: np.ndarray) -> np.ndarray:
    height, width = frame.shape[:2]
    return plain.middle(plain.resize(frame, (224, 224 * width // height), "bicubic"), 224) / 255.0


def test_subjects_are_those_of_dino_without_a_crop(weights: Weights, scores: dict) -> None:
    vit = network("ViTModel", weights.dino)
    seen = [plain.resize(frame, (224, 311), "bilinear") / 255.0 for frame in FRAMES]
    expected = plain.consistency([plain.dino(vit, one) for one in seen])
    assert scores["subject_consistency"] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("size", [(224, 311), (256, 224)], ids=str)
def test_positions_are_stretched_as_by_dino(weights: Weights, size: tuple[int, int]) -> None:
    seen = np.random.default_rng(0).random((*size, 3))
    with torch.inference_mode():
        found = load_released(weights).networks["i2v_subject"](torch.from_numpy(seen).permute(2, 0, 1)[None].float())
    assert found[0].numpy() == pytest.approx(plain.dino(network("ViTModel", weights.dino), seen), abs=2e-5)


def test_backgrounds_are_those_of_clip(weights: Weights, scores: dict) -> None:
    vit = network("CLIPVisionModelWithProjection", weights.clip)
    expected = plain.consistency([plain.clip(vit, clip_view(frame)) for frame in FRAMES])
    assert scores["background_consistency"] == pytest.approx(expected, abs=2e-6)


def test_aesthetics_are_a_line_on_unit_features(weights: Weights, scores: dict) -> None:
    vit = network("CLIPVisionModelWithProjection", weights.clip_large)
    head = {name: value.numpy() for name, value in torch.load(weights.aesthetic).items()}
    features = [plain.clip(vit, clip_view(frame)) for frame in FRAMES]
    ratings = [head["weight"][0] @ (one / np.linalg.norm(one)) + head["bias"][0] for one in features]
    assert scores["aesthetic_quality"] == pytest.approx(np.mean(ratings) / 10, abs=2e-6)


def test_the_subject_is_looked_for_in_the_reference(weights: Weights, scores: dict) -> None:
    vit = network("ViTModel", weights.dino)
    seen = [plain.middle(plain.resize(frame, (256, 355), "bicubic", antialias=True), 224) / 255.0 for frame in FRAMES]
    reference = np.round(plain.resize(REFERENCE, (256, 288), "bicubic", antialias=True).clip(0, 255))
    expected = plain.faithfulness(
        plain.dino(vit, plain.middle(reference, 224) / 255.0), [plain.dino(vit, one) for one in seen]
    )
    assert scores["i2v_subject"] == pytest.approx(expected, abs=2e-4)  # Pillow rounds between its two passes, too


def test_what_cannot_be_loaded_says_why(weights: Weights) -> None:
    found = load_released(weights)
    assert set(found.networks) == {
        "subject_consistency", "i2v_subject", "background_consistency", "aesthetic_quality"
    }  # fmt: skip
    assert "AMT-S: name a TorchScript file" in found.missing["motion_smoothness"]
    assert "ViCLIP: name a TorchScript file" in found.missing["overall_consistency"]
    assert "pyiqa" in found.missing["imaging_quality"]
    assert "dreamsim" in found.missing["i2v_background"]
    nowhere = load_released(
        Weights(clip="no/such/folder/here", dino="no/such/folder/here", amt="no.pt", viclip="torch:no")
    )
    assert "no/such/folder/here" in nowhere.missing["i2v_subject"]
    assert "sa_0_4_vit_l_14_linear.pth" in nowhere.missing["aesthetic_quality"]
    assert nowhere.missing["motion_smoothness"] == "there is no file no.pt"
    assert "no network 'torch:no'" in nowhere.missing["overall_consistency"]


class Halfway(nn.Module):
    def forward(self, before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        return (before + after) / 2


class Both(nn.Module):
    """Features of a video: its mean colour over time; of a text: its tokens."""

    def video(self, frames: torch.Tensor) -> torch.Tensor:
        return torch.cat([frames.mean((3, 4)).flatten(1), frames.new_zeros(frames.shape[0], 8)], 1)

    def text(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens.float()


def save_both(path: Path) -> str:
    examples = {"video": torch.zeros(1, 8, 3, 224, 224), "text": torch.zeros(1, 32, dtype=torch.long)}
    torch.jit.trace_module(Both(), examples).save(str(path))
    return str(path)


def save_tokenizer(folder: Path) -> Path:
    """CLIP's tokenizer with single letters for words."""
    letters = [chr(c) for c in range(33, 127)]
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    transformers.CLIPTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_networks_of_no_package_come_as_torchscript(tmp_path: Path) -> None:
    torch.jit.script(Halfway()).save(str(tmp_path / "amt.pt"))
    places = {"amt": str(tmp_path / "amt.pt"), "viclip": save_both(tmp_path / "viclip.pt")}
    found = load_released(Weights(clip_large=str(save_tokenizer(tmp_path / "words")), **places, **NOWHERE))
    values = score(FRAMES, None, "a b", backbones=found)
    odd = np.abs((FRAMES[0:3:2].astype(int) + FRAMES[2:5:2]) // 2 - FRAMES[1:4:2])
    assert values["motion_smoothness"] == pytest.approx((255 - odd.mean()) / 255, abs=1e-4)

    chosen = [plain.resize(FRAMES[t], (224, 311), "bicubic") for t in (0, 1, 2, 3, 4, 5, 5, 5)]
    seen = [plain.middle(np.round(one.clip(0, 255)), 224) / 255.0 for one in chosen]
    colours = np.concatenate([((one - plain.CLIP_MEAN) / plain.CLIP_SPREAD).mean((0, 1)) for one in seen])
    start, end, letter_a, letter_b = 188, 189, 94 + ord("a") - 33, 94 + ord("b") - 33
    tokens = np.array([start, letter_a, letter_b, end] + [0] * 28)
    expected = plain.cosine(np.concatenate([colours, np.zeros(8)]), tokens)
    assert values["overall_consistency"] == pytest.approx(expected, abs=1e-4)


def test_a_long_prompt_is_cut_and_still_ends(tmp_path: Path) -> None:
    tokenizer = transformers.CLIPTokenizer.from_pretrained(save_tokenizer(tmp_path))
    tokens = ViClip(Both(), tokenizer, CPU).text("a &amp; b " * 40)
    assert tokens.shape == (32,)
    assert (tokens[0], tokens[1], tokens[2], tokens[-1]) == (188, 94 + ord("a") - 33, 94 + ord("&") - 33, 189)


def ours(device: torch.device) -> Halfway:
    return Halfway()


def test_networks_of_no_package_come_from_ones_own_function() -> None:
    found = load_released(Weights(**NOWHERE, amt=f"{__name__}:ours"))
    assert isinstance(found.networks["motion_smoothness"], Halfway)


def test_frames_are_padded_evenly_for_interpolation_and_cut_back() -> None:
    shown = []

    def network(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        shown.append(before)
        return after

    before, after = torch.rand(1, 3, 21, 32), torch.rand(1, 3, 21, 32)
    assert torch.equal(Interpolator(network, 16, CPU)(before, after), after)
    assert shown[0].shape == (1, 3, 32, 32)
    assert torch.equal(shown[0][:, :, 5:26], before)  # 5 above, 6 below
    assert torch.equal(shown[0][:, :, 4], before[:, :, 0])
