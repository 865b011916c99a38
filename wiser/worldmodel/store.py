"""Models on disk: a folder with `config.json` and `model.safetensors`. No pickle.

`model.safetensors` carries a digest of its tensors and of the config it belongs to, so damage is found when loading
and not when driving. Each file is replaced atomically, and a folder never changes architecture.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from wiser.files import write_atomic
from wiser.names import perhaps
from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.model import DreamerV3
from wiser.worldmodel.protocol import WorldModel

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT, VERSION = "wiser-dreamerv3", 1
SHIPPED = (Path(__file__).parents[1] / "agents").resolve()
"""In a checkout a link to `models/`, which has them all; in a wheel some of them."""


class ModelError(ValueError):
    """A model folder that cannot be used; the message says which file, what is wrong and what to do."""


def save(model: DreamerV3, folder: str | Path, half: bool = False) -> Path:
    """Write `model` to `folder`, replacing an earlier version of the same architecture; `half` = 16 bits per weight."""
    folder = Path(folder)
    header = {"format": FORMAT, "version": VERSION, "config": model.config.to_json()}
    text = json.dumps(header, indent=2) + "\n"
    existing = folder / CONFIG
    if existing.exists() and not _describes(existing, model.config):
        raise ModelError(f"{folder} already holds a model with another config: choose another folder or remove it")
    kind = torch.float16 if half else torch.float32
    weights = {name: value.detach().to("cpu", kind).contiguous() for name, value in model.state_dict().items()}
    metadata = {"format": FORMAT, "config": _sha256(text.encode()), "digest": _digest(weights)}
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(existing, text.encode())
    write_atomic(folder / WEIGHTS, to_bytes(weights, metadata))
    return folder


def load(path_or_name: str | Path, device: str = "cpu") -> Any:
    """Load a model folder, or a shipped model by name, ready to act. Raises `ModelError` if anything is wrong.

    What comes back is a `WorldModel` of the format that the folder's `config.json` names, one of `FORMATS`.
    """
    folder = find(path_or_name)
    kind = _read_header(folder / CONFIG)["format"]
    if kind not in FORMATS:
        raise ModelError(f"{folder / CONFIG}: format {kind!r}; this installation reads {', '.join(FORMATS)}")
    return FORMATS[kind](folder, device)


def _load_dreamer(folder: Path, device: str) -> DreamerV3:
    text, config = _read_config(folder / CONFIG)
    stored = _read_weights(folder / WEIGHTS, text)
    weights = {name: value.float() for name, value in stored.items()}
    with torch.inference_mode(False), torch.no_grad():
        model = DreamerV3(config)
        _check_fit(folder / WEIGHTS, weights, model.state_dict())
        model.load_state_dict(weights)
    model.folder, model.digest = folder, _digest(stored)
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


def _read_config(path: Path) -> tuple[bytes, DreamerConfig]:
    header = _read_header(path)
    if header["version"] != VERSION:
        raise ModelError(f"{path}: {FORMAT} version {header['version']!r}, this release reads version {VERSION}")
    try:
        return path.read_bytes(), DreamerConfig.from_json(header["config"])
    except (ValueError, TypeError) as error:
        raise ModelError(f"{path} is not a readable model config: {error}") from error


def _describes(path: Path, config: DreamerConfig) -> bool:
    """Whether a file holds this config, written now or before some field of it existed."""
    try:
        return _read_config(path)[1] == config
    except ModelError:
        return False


def _read_header(path: Path) -> dict[str, Any]:
    try:
        header = json.loads(path.read_bytes())
        return {name: header[name] for name in ("format", "version", "config")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is not a readable model config: {error}") from error


def _read_weights(path: Path, config_text: bytes) -> dict[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is missing, truncated or not a safetensors file: {error}") from error
    if metadata.get("format") != FORMAT:
        raise ModelError(f"{path} was not written by this library: no {FORMAT!r} mark in its metadata")
    if metadata.get("digest") != _digest(weights):
        raise ModelError(f"{path} is damaged: its content does not match its checksum; copy the file again")
    if metadata.get("config") != _sha256(config_text):
        raise ModelError(f"{path} does not belong to the {CONFIG} beside it; restore the pair from one copy")
    return weights


def _check_fit(path: Path, weights: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    problems = [f"missing {name}" for name in expected.keys() - weights.keys()]
    problems += [f"foreign {name}" for name in weights.keys() - expected.keys()]
    problems += [
        f"{name} has shape {tuple(weights[name].shape)} instead of {tuple(expected[name].shape)}"
        for name in expected.keys() & weights.keys()
        if weights[name].shape != expected[name].shape
    ]
    problems += [f"{name} is not finite" for name, value in weights.items() if not bool(torch.isfinite(value).all())]
    if problems:
        shown = "; ".join(sorted(problems)[:5]) + ("; ..." if len(problems) > 5 else "")
        raise ModelError(f"{path} does not fit its config: {shown}")


def _digest(weights: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
