"""PAI-Bench's own networks, with the weights that were released for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from wiser.extras import install_hint
from wiser.modules import import_from_here
from wiser.video.quality.backbones import Backbones
from wiser.video.quality.networks import Aesthetics, ClipPictures, DinoPictures, Embedding, Interpolator, Judge, ViClip

DINO_EPSILON = 1e-6
"""Of DINO's layer norms; the weights on the hub say 1e-12."""


@dataclass(frozen=True)
class Weights:
    """Where the weights of PAI-Bench's networks are; what has no place is left out."""

    clip: str = "openai/clip-vit-base-patch32"
    """CLIP ViT-B/32: a folder, or a name on the Hugging Face hub."""
    clip_large: str = "openai/clip-vit-large-patch14"
    """CLIP ViT-L/14, likewise."""
    aesthetic: Path | None = None
    """LAION's linear head: sa_0_4_vit_l_14_linear.pth."""
    dino: str = "facebook/dino-vitb16"
    """DINO ViT-B/16: a folder, or a name on the hub."""
    musiq: Path | None = None
    """MUSIQ trained on SPAQ: pyiqa's file; None: pyiqa downloads it."""
    dreamsim: Path = Path("models")
    """Folder that the package dreamsim keeps its weights in; it downloads them."""
    amt: str | None = None
    """AMT-S: a TorchScript file, or PACKAGE.MODULE:NAME of a function of a device that returns an `Interpolation`."""
    viclip: str | None = None
    """ViCLIP InternVid-10M-FLT: a TorchScript file, or PACKAGE.MODULE:NAME for a `VideoAndText`."""


def load_released(weights: Weights, device: str = "cpu") -> Backbones:
    """Load every network that can be loaded; the others are missing, each with its reason."""
    networks: dict[str, Any] = {}
    missing: dict[str, str] = {}
    place = torch.device(device)
    for names, load in LOADERS.items():
        try:
            network = load(weights, place)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            missing |= dict.fromkeys(names, str(error).strip().partition("\n")[0])
        else:
            networks |= dict.fromkeys(names, network)
    return Backbones(networks, missing)


def _clip(weights: Weights, device: torch.device) -> ClipPictures:
    return _read_clip(weights.clip, device)


def _read_clip(place: str, device: torch.device) -> ClipPictures:
    return ClipPictures(_transformers().CLIPVisionModelWithProjection.from_pretrained(place).eval().to(device))


def _dino(weights: Weights, device: torch.device) -> DinoPictures:
    kind = _transformers().ViTModel
    network = kind.from_pretrained(weights.dino, add_pooling_layer=False, layer_norm_eps=DINO_EPSILON)
    return DinoPictures(network.eval().to(device))


def _aesthetic(weights: Weights, device: torch.device) -> Aesthetics:
    if weights.aesthetic is None:
        raise ValueError("name the file of LAION's linear head, sa_0_4_vit_l_14_linear.pth")
    found = torch.load(weights.aesthetic, map_location="cpu", weights_only=True)
    head = torch.nn.Linear(found["weight"].shape[1], 1)
    head.load_state_dict(found)
    return Aesthetics(_read_clip(weights.clip_large, device), head.to(device))


def _musiq(weights: Weights, device: torch.device) -> Judge:
    try:
        from pyiqa.archs.musiq_arch import MUSIQ
    except ImportError as error:
        raise ImportError(f"MUSIQ is that of the package pyiqa, which needs torchvision: {error}") from error
    if weights.musiq is None:
        network = MUSIQ(pretrained="spaq")
    else:
        network = MUSIQ(pretrained=False, pretrained_model_path=str(weights.musiq))
    return Judge(network.eval().to(device), device)


def _dreamsim(weights: Weights, device: torch.device) -> Embedding:
    try:
        from dreamsim import dreamsim
    except ImportError as error:
        raise ImportError(f"DreamSim is the package dreamsim, which needs torchvision: {error}") from error
    return Embedding(dreamsim(pretrained=True, device=str(device), cache_dir=str(weights.dreamsim))[0], device)


def _amt(weights: Weights, device: torch.device) -> Any:
    if weights.amt is None:
        raise ValueError("no package has AMT-S: name a TorchScript file, or PACKAGE.MODULE:NAME that returns one")
    return _own(weights.amt, device) or Interpolator(torch.jit.load(weights.amt, map_location=device), 16, device)


def _viclip(weights: Weights, device: torch.device) -> Any:
    if weights.viclip is None:
        raise ValueError("no package has ViCLIP: name a TorchScript file, or PACKAGE.MODULE:NAME that returns one")
    if own := _own(weights.viclip, device):
        return own
    tokenizer = _transformers().CLIPTokenizer.from_pretrained(weights.clip_large)
    return ViClip(torch.jit.load(weights.viclip, map_location=device), tokenizer, device)


def _own(place: str, device: torch.device) -> Any:
    """What somebody else's function returns; None if `place` names a file."""
    if Path(place).is_file():
        return None
    module, colon, name = place.partition(":")
    if not colon:
        raise ValueError(f"there is no file {place}")
    try:
        return getattr(import_from_here(module), name)(device)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"no network {place!r}: {error}") from error


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise ImportError(f"CLIP and DINO are those of transformers: {install_hint('quality')}") from error
    return transformers


Loader = Callable[[Weights, torch.device], Any]
LOADERS: dict[tuple[str, ...], Loader] = {
    ("subject_consistency", "i2v_subject"): _dino,
    ("background_consistency",): _clip,
    ("motion_smoothness",): _amt,
    ("aesthetic_quality",): _aesthetic,
    ("imaging_quality",): _musiq,
    ("overall_consistency",): _viclip,
    ("i2v_background",): _dreamsim,
}
"""{dimensions: how to load the network behind them}."""
