"""Weights on disk: a safetensors file that carries a digest of its tensors and of the JSON it belongs to. No pickle.

So damage is found when weights are loaded and not when they are used. Each file is replaced atomically.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from wiser.files import write_atomic


class ModelError(ValueError):
    """Weights that cannot be used; the message says which file, what is wrong and what to do."""


def write_pair(config: Path, header: dict[str, Any], path: Path, weights: dict[str, Tensor]) -> None:
    """Write a JSON header, which has a `format`, and the weights that belong to it."""
    text = (json.dumps(header, indent=2) + "\n").encode()
    metadata = {"format": header["format"], "config": sha256(text), "digest": digest_of(weights)}
    config.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(config, text)
    write_atomic(path, to_bytes(weights, metadata))


def read_header(config: Path, *names: str) -> dict[str, Any]:
    """The named parts of a JSON header."""
    try:
        header = json.loads(config.read_bytes())
        return {name: header[name] for name in names}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{config} is not a readable model config: {error}") from error


def read_pair(config: Path, kind: str, path: Path) -> dict[str, Tensor]:
    """Weights of a format, undamaged and together with the header that they were written with."""
    weights, metadata = read_tensors(path)
    if metadata.get("format") != kind:
        raise ModelError(f"{path} was not written by this library: no {kind!r} mark in its metadata")
    if metadata.get("digest") != digest_of(weights):
        raise ModelError(f"{path} is damaged: its content does not match its checksum; copy the file again")
    if metadata.get("config") != sha256(config.read_bytes()):
        raise ModelError(f"{path} does not belong to the {config.name} beside it; restore the pair from one copy")
    return weights


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a safetensors file, whoever wrote it, and its metadata."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is missing, truncated or not a safetensors file: {error}") from error


def content_of(path: Path) -> str:
    """Digest of what a file of weights says.

    Of a safetensors file that is not one of its bytes: its metadata are written in any order. They name the JSON that
    belongs to it, if there is one.
    """
    if path.suffix != ".safetensors":
        return sha256(path.read_bytes())
    weights, metadata = read_tensors(path)
    return sha256(f"{digest_of(weights)} {metadata.get('config')}".encode())


def check_fit(path: Path, weights: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    """Raise unless names and shapes are those expected and all values finite."""
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


def digest_of(weights: dict[str, Tensor]) -> str:
    """Of names, types, shapes and values."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def sha256(data: bytes) -> str:
    """Of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()
