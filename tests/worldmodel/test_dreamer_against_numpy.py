"""The networks against a plain numpy transcription of DreamerV3's equations, written independently."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.worldmodel.dreamer.heads import TwoHotHead, features
from wiser.worldmodel.dreamer.maths import symexp, symlog, twohot_bins, twohot_cross_entropy, twohot_mean
from wiser.worldmodel.protocol import Belief


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def norm_act(x, scale):
    x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-4) * scale
    return x * sigmoid(x)


def dense(w, name, x):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def log_unimix(logits):
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return np.log(0.99 * e / e.sum(-1, keepdims=True) + 0.01 / logits.shape[-1])


def block_dense(w, name, groups):
    """groups: list of one input array (B, in / blocks) per block."""
    out = [group @ w[f"{name}.weight"][g] for g, group in enumerate(groups)]
    return np.concatenate(out, -1) + w[f"{name}.bias"]


def block_gru(w, deter, stoch, action, blocks):
    mixed = [
        norm_act(dense(w, f"gru.from_{name}.0", x), w[f"gru.from_{name}.1.scale"])
        for name, x in (("deter", deter), ("stoch", stoch.reshape(len(stoch), -1)), ("action", action))
    ]
    own = np.split(deter, blocks, -1)
    x = block_dense(w, "gru.mix", [np.concatenate([part, *mixed], -1) for part in own])
    x = norm_act(x, w["gru.mix_norm.scale"])
    gates = block_dense(w, "gru.gates", np.split(x, blocks, -1))
    reset, candidate, update = [], [], []
    for group in np.split(gates, blocks, -1):
        for parts, gate in zip((reset, candidate, update), np.split(group, 3, -1), strict=True):
            parts.append(gate)
    reset, candidate, update = (np.concatenate(parts, -1) for parts in (reset, candidate, update))
    update = sigmoid(update - 1)
    return update * np.tanh(sigmoid(reset) * candidate) + (1 - update) * deter


@pytest.fixture
def case():
    model = tiny.model((tiny.image("camera"), tiny.vector("speed")))
    rng = np.random.default_rng(0)
    deter = rng.standard_normal((3, 32)).astype(np.float32)
    stoch = np.eye(4, dtype=np.float32)[rng.integers(0, 4, (3, 6))]
    action = np.eye(5, dtype=np.float32)[rng.integers(0, 5, 3)]
    weights = {name: value.double().numpy() for name, value in model.state_dict().items()}
    return model, weights, deter, stoch, action


def test_recurrent_step_and_prior(case) -> None:
    model, w, deter, stoch, action = case
    first = torch.tensor([False, True, False])
    prior = model.predict(Belief(*map(torch.from_numpy, (deter, stoch))), torch.from_numpy(action), first)
    keep = np.array([1.0, 0.0, 1.0])[:, None]
    expected = block_gru(w, deter * keep, stoch * keep[..., None], action * keep, blocks=4)
    np.testing.assert_allclose(prior.deter, expected, atol=1e-5)
    x = expected
    x = norm_act(dense(w, "prior.0.0", x), w["prior.0.1.scale"])
    x = norm_act(dense(w, "prior.0.2", x), w["prior.0.3.scale"])
    logits = dense(w, "prior.1.logits", x).reshape(3, 6, 4)
    np.testing.assert_allclose(prior.logprobs, log_unimix(logits), atol=1e-5)


def test_convolution_tower(case) -> None:
    model, w, *_ = case
    image = np.random.default_rng(1).random((2, 16, 16, 3)).astype(np.float32)
    x = image - 0.5
    for i in range(4):
        weight, bias = w[f"fusion.towers.0.convs.{i}.weight"], w[f"fusion.towers.0.convs.{i}.bias"]
        padded = np.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (1, 2))  # (B, H, W, C, 5, 5)
        x = np.einsum("bhwcij,ocij->bhwo", windows, weight) + bias
        b, h, width, c = x.shape
        x = x.reshape(b, h // 2, 2, width // 2, 2, c).max((2, 4))
        x = norm_act(x, w[f"fusion.towers.0.norms.{i}.scale"])
    expected = x.transpose(0, 3, 1, 2).reshape(2, -1)
    np.testing.assert_allclose(model.fusion.towers[0](torch.from_numpy(image)), expected, atol=1e-4)


def test_heads_start_neutral_and_policies_are_proper() -> None:
    head = TwoHotHead(tiny.config(tiny.images(1)), layers=1)
    belief = Belief(torch.randn(4, 32), torch.randn(4, 6, 4))
    assert torch.equal(head.mean(features(belief)), torch.zeros(4)), "an untrained reward or value is exactly 0"
    model = tiny.model(tiny.images(1))
    logprobs = model.actor.logprobs(features(belief))
    torch.testing.assert_close(logprobs.exp().sum(-1), torch.ones(4))
    assert (logprobs.exp() >= 0.01 / 5 - 1e-7).all(), "unimix leaves no action out"


def test_symlog_and_symexp_are_inverse() -> None:
    x = torch.tensor([-1e6, -3.0, -1e-3, 0.0, 0.5, 20.0, 1e8])
    torch.testing.assert_close(symexp(symlog(x)), x, rtol=1e-4, atol=1e-6)
    assert float(symlog(torch.tensor(np.e - 1))) == pytest.approx(1.0)


def test_twohot_by_hand() -> None:
    bins = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])
    table = torch.tensor(
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0.75, 0.25, 0], [0, 0, 0, 0.5, 0.5], [0, 0, 0, 0, 1]]
    )
    logprobs = torch.log_softmax(torch.randn(5, 5, generator=torch.Generator().manual_seed(0)), -1)
    found = twohot_cross_entropy(logprobs, torch.tensor([-5.0, -1.0, 0.25, 1.5, 9.0]), bins)
    torch.testing.assert_close(found, -(table * logprobs).sum(-1))
    torch.testing.assert_close(twohot_mean(table.log(), bins), torch.tensor([-2.0, -1.0, 0.25, 1.5, 2.0]))


def test_bins_are_symmetric_and_sorted() -> None:
    bins = twohot_bins(255)
    assert bins.shape == (255,)
    assert torch.equal(bins, -bins.flip(0))
    assert (bins.diff() > 0).all()
    assert float(bins[-1]) == pytest.approx(np.expm1(20), rel=1e-5)
