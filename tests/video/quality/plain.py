"""The same again in numpy, one number at a time where that is bearable: resizing, vision transformers, formulas."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import erf

CLIP_MEAN, CLIP_SPREAD = np.array([0.48145466, 0.4578275, 0.40821073]), np.array([0.26862954, 0.26130258, 0.27577711])
MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def triangle(x: float) -> float:
    return max(0.0, 1.0 - abs(x))


def cubic(a: float) -> Callable[[float], float]:
    """Keys' curve."""

    def curve(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0

    return curve


def weights(old: int, new: int, curve: Callable[[float], float], antialias: bool, step: float) -> np.ndarray:
    """(new, old): what every old pixel gives to every new one; `step` old pixels are one new one."""
    wide = max(step, 1.0) if antialias else 1.0
    matrix = np.zeros((new, old))
    for i in range(new):
        at = (i + 0.5) * step - 0.5
        for j in range(int(at) - int(3 * wide) - 3, int(at) + int(3 * wide) + 4):
            if antialias and not 0 <= j < old:
                continue  # the curve is cut off at the border; otherwise the border is repeated
            matrix[i, min(max(j, 0), old - 1)] += curve((j - at) / wide)
    return matrix / matrix.sum(1, keepdims=True)


def resize(
    picture: np.ndarray,
    size: tuple[int, int],
    mode: str,
    antialias: bool = False,
    steps: Sequence[float] | None = None,
) -> np.ndarray:
    """(H, W, C) -> (h, w, C)."""
    curve = triangle if mode == "bilinear" else cubic(-0.5 if antialias else -0.75)
    steps = steps or [old / new for old, new in zip(picture.shape[:2], size, strict=True)]
    down, across = (
        weights(old, new, curve, antialias, step) for old, new, step in zip(picture.shape[:2], size, steps, strict=True)
    )
    rows = np.tensordot(down, picture.astype(np.float64), (1, 0))  # (h, W, C)
    return np.tensordot(across, rows, (1, 1)).transpose(1, 0, 2)  # (h, w, C)


def middle(picture: np.ndarray, side: int) -> np.ndarray:
    top, left = (round((length - side) / 2.0) for length in picture.shape[:2])
    return picture[top : top + side, left : left + side]


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, epsilon: float) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * weight + bias


def patches(picture: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(H, W, 3) and (E, 3, P, P) -> (rows * columns, E)."""
    side = kernel.shape[-1]
    rows, columns = picture.shape[0] // side, picture.shape[1] // side
    cut = [
        picture[r * side : (r + 1) * side, c * side : (c + 1) * side] for r in range(rows) for c in range(columns)
    ]  # each (P, P, 3)
    return np.array([[(one * filtered.transpose(1, 2, 0)).sum() for filtered in kernel] for one in cut])


def attend(tokens: np.ndarray, w: Callable[[str], np.ndarray], out: str, heads: int) -> np.ndarray:
    query, key, value = (tokens @ w(f"{n}_proj.weight").T + w(f"{n}_proj.bias") for n in "qkv")
    width = tokens.shape[-1] // heads
    mixed = []
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        logits = query[:, part] @ key[:, part].T / np.sqrt(width)
        chances = np.exp(logits - logits.max(-1, keepdims=True))
        mixed.append(chances / chances.sum(-1, keepdims=True) @ value[:, part])
    return np.concatenate(mixed, -1) @ w(f"{out}.weight").T + w(f"{out}.bias")


def block(tokens: np.ndarray, w: Any, heads: int, clip: bool, epsilon: float) -> np.ndarray:
    """One layer, by the names that transformers gives its weights."""
    attention, out = ("self_attn.", "out_proj") if clip else ("attention.", "o_proj")
    first, second = ("layer_norm1", "layer_norm2") if clip else ("layernorm_before", "layernorm_after")
    x = layer_norm(tokens, w(first + ".weight"), w(first + ".bias"), epsilon)
    tokens = tokens + attend(x, lambda name: w(attention + name), out, heads)
    x = layer_norm(tokens, w(second + ".weight"), w(second + ".bias"), epsilon)
    x = x @ w("mlp.fc1.weight").T + w("mlp.fc1.bias")
    x = x / (1 + np.exp(-1.702 * x)) if clip else x * 0.5 * (1 + erf(x / np.sqrt(2)))
    return tokens + x @ w("mlp.fc2.weight").T + w("mlp.fc2.bias")


def named(network: Any) -> Callable[[str], np.ndarray]:
    return lambda name: network.state_dict()[name].double().numpy()


def clip(network: Any, picture: np.ndarray) -> np.ndarray:
    """OpenAI's CLIP: (H, W, 3) in [0, 1] -> (E,)."""
    w, heads, layers = named(network), network.config.num_attention_heads, network.config.num_hidden_layers
    home = "vision_model."
    seen = patches((picture - CLIP_MEAN) / CLIP_SPREAD, w(home + "embeddings.patch_embedding.weight"))
    tokens = np.concatenate([w(home + "embeddings.class_embedding")[None], seen])
    tokens = tokens + w(home + "embeddings.position_embedding.weight")
    tokens = layer_norm(tokens, w(home + "pre_layrnorm.weight"), w(home + "pre_layrnorm.bias"), 1e-5)
    for i in range(layers):
        tokens = block(tokens, lambda name, i=i: w(f"{home}encoder.layers.{i}.{name}"), heads, True, 1e-5)
    x = layer_norm(tokens[0], w(home + "post_layernorm.weight"), w(home + "post_layernorm.bias"), 1e-5)
    return w("visual_projection.weight") @ x


def dino(network: Any, picture: np.ndarray) -> np.ndarray:
    """DINO's ViT, with its positions stretched by a tenth of a patch more than fits: (H, W, 3) in [0, 1] -> (E,)."""
    w, heads, layers = named(network), network.config.num_attention_heads, network.config.num_hidden_layers
    kernel, positions = w("embeddings.patch_embeddings.projection.weight"), w("embeddings.position_embeddings")[0]
    seen = patches((picture - MEAN) / SPREAD, kernel) + w("embeddings.patch_embeddings.projection.bias")
    side, patch = int(np.sqrt(len(positions) - 1)), kernel.shape[-1]
    grid = positions[1:].reshape(side, side, -1)
    if picture.shape[:2] != (side * patch, side * patch):
        size = picture.shape[0] // patch, picture.shape[1] // patch
        grid = resize(grid, size, "bicubic", steps=[side / (length + 0.1) for length in size])
    tokens = np.concatenate([w("embeddings.cls_token")[0], seen])
    tokens = tokens + np.concatenate([positions[:1], grid.reshape(len(seen), -1)])
    for i in range(layers):
        tokens = block(tokens, lambda name, i=i: w(f"layers.{i}.{name}"), heads, False, 1e-6)
    return layer_norm(tokens[0], w("layernorm.weight"), w("layernorm.bias"), 1e-6)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def consistency(features: Sequence[np.ndarray]) -> float:
    total = 0.0
    for t in range(1, len(features)):
        previous = max(0.0, cosine(features[t - 1], features[t]))
        first = max(0.0, cosine(features[0], features[t]))
        total += (previous + first) / 2
    return total / (len(features) - 1)


def faithfulness(reference: np.ndarray, features: Sequence[np.ndarray]) -> float:
    to_reference = [max(0.0, cosine(reference, feature)) for feature in features]
    steps = [max(0.0, cosine(features[t - 1], features[t])) for t in range(1, len(features))]
    return 0.4 * max(to_reference) + 0.3 * sum(steps) / len(steps) + 0.3 * min(steps)
