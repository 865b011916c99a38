"""Models on disk: a folder with `config.json` and `model.safetensors`. No pickle.

`model.safetensors` carries a digest of its tensors and of the config it belongs to, so damage is found when loading
and not when driving. Each file is replaced atomically, and a folder never changes architecture.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from wiser.names import perhaps
from wiser.weights import ModelError, check_fit, digest_of, read_header, read_pair, write_pair
from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.model import DreamerV3
from wiser.worldmodel.protocol import WorldModel

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT, VERSION = "wiser-dreamerv3", 1
SHIPPED = (Path(__file__).parents[1] / "agents").resolve()
"""In a checkout a link to `models/`, which has them all; in a wheel some of them."""


def save(model: DreamerV3, folder: str | Path, half: bool = False) -> Path:
    """Write `model` to `folder`, replacing an earlier version of the same architecture; `half` = 16 bits per weight."""
    folder = Path(folder)
    config = folder / CONFIG
    if config.exists() and _read_config(config) != model.config:
        raise ModelError(f"{folder} already holds a model with another config: choose another folder or remove it")
    kind = torch.float16 if half else torch.float32
    weights = {name: value.detach().to("cpu", kind).contiguous() for name, value in model.state_dict().items()}
    header = {"format": FORMAT, "version": VERSION, "config": model.config.to_json()}
    write_pair(config, header, folder / WEIGHTS, weights)
    return folder


def load(path_or_name: str | Path, device: str = "cpu") -> Any:
    """Load a model folder, or a shipped model by name, ready to act. Raises `ModelError` if anything is wrong.

    What comes back is a `WorldModel` of the format that the folder's `config.json` names, one of `FORMATS`.
    """
    folder = find(path_or_name)
    kind = read_header(folder / CONFIG, "format", "version", "config")["format"]
    if kind not in FORMATS:
        raise ModelError(f"{folder / CONFIG}: format {kind!r}; this installation reads {', '.join(FORMATS)}")
    return FORMATS[kind](folder, device)


def _load_dreamer(folder: Path, device: str) -> DreamerV3:
    config = _read_config(folder / CONFIG)
    stored = read_pair(folder / CONFIG, FORMAT, folder / WEIGHTS)
    weights = {name: value.float() for name, value in stored.items()}
    with torch.inference_mode(False), torch.no_grad():
        model = DreamerV3(config)
        check_fit(folder / WEIGHTS, weights, model.state_dict())
        model.load_state_dict(weights)
    model.folder, model.digest = folder, digest_of(stored)
    return model.to(device).eval().requires_grad_(False)


FORMATS: dict[str, Callable[[Path, str], WorldModel]] = {FORMAT: _load_dreamer}
"""How folders are read, by the `format` in their `config.json`: (folder, device) -> model. Add your own."""


def find(path_or_name: str | Path) -> Path:
    """Resolve a folder path or the name of a shipped model."""
    for folder in (Path(path_or_name), SHIPPED / path_or_name):
        if (folder / CONFIG).is_file():
            return folder
    offer = f"shipped models: {', '.join(shipped())}" if shipped() else "no models are shipped with this installation"
    called = repr(str(path_or_name)) + perhaps(str(path_or_name), shipped())
    raise ModelError(f"no model at {called}: expected a folder with {CONFIG} and {WEIGHTS}; {offer}")


def shipped() -> list[str]:
    """Names of the shipped models."""
    return sorted(config.parent.relative_to(SHIPPED).as_posix() for config in SHIPPED.glob(f"**/{CONFIG}"))


def _read_config(path: Path) -> DreamerConfig:
    header = read_header(path, "format", "version", "config")
    if header["version"] != VERSION:
        raise ModelError(f"{path}: {FORMAT} version {header['version']!r}, this release reads version {VERSION}")
    try:
        return DreamerConfig.from_json(header["config"])
    except (ValueError, TypeError) as error:
        raise ModelError(f"{path} is not a readable model config: {error}") from error
