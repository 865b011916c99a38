"""The networks against a plain numpy transcription of DreamerV3's equations, written independently."""

import itertools

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.worldmodel.dreamer.encoder import ConvTower
from wiser.worldmodel.dreamer.heads import TwoHotHead, features
from wiser.worldmodel.dreamer.maths import symexp, symlog, twohot_bins, twohot_cross_entropy, twohot_mean
from wiser.worldmodel.latents import kl_categorical, unimix_logprobs
from wiser.worldmodel.protocol import Belief, Prior, Sensor


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


def conv_tower(w, name, image, shrink=None):
    """Image (B, H, W, C) in [0, 1] -> (B, E), channels last."""
    x = image - 0.5
    for i in range(4):
        weight, bias = w[f"{name}.convs.{i}.weight"], w[f"{name}.convs.{i}.bias"]
        padded = np.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (1, 2))  # (B, H, W, C, 5, 5)
        x = np.einsum("bhwcij,ocij->bhwo", windows, weight) + bias
        b, h, width, c = x.shape
        x = shrink(x) if shrink else x.reshape(b, h // 2, 2, width // 2, 2, c).max((2, 4))
        x = norm_act(x, w[f"{name}.norms.{i}.scale"])
    return x.reshape(len(x), -1)


def vector_tower(w, name, x):
    """Vector (B, n) -> (B, E)."""
    x = np.sign(x) * np.log(1 + np.abs(x))
    for i in range(3):
        x = norm_act(dense(w, f"{name}.layers.{2 * i}", x), w[f"{name}.layers.{2 * i + 1}.scale"])
    return x


def test_convolution_tower(case) -> None:
    model, w, *_ = case
    image = np.random.default_rng(1).random((2, 48, 32, 3)).astype(np.float32)
    expected = conv_tower(w, "fusion.towers.0", image)
    np.testing.assert_allclose(model.fusion.towers[0](torch.from_numpy(image)), expected, atol=1e-4)


def test_strided_tower_is_every_second_pixel_of_the_convolutions(case) -> None:
    _, w, *_ = case
    tower = ConvTower((48, 32, 3), 2, strided=True)
    tower.load_state_dict({name.removeprefix("fusion.towers.0."): torch.from_numpy(value).float()
                           for name, value in w.items() if name.startswith("fusion.towers.0.")})  # fmt: skip
    image = np.random.default_rng(1).random((2, 48, 32, 3)).astype(np.float32)
    expected = conv_tower(w, "fusion.towers.0", image, shrink=lambda x: x[:, ::2, ::2])
    np.testing.assert_allclose(tower(torch.from_numpy(image)).detach(), expected, atol=1e-4)


def patch_tower(w, name, image, size=8):
    """Image (B, H, W, C) in [0, 1] -> (B, E): patches, then 2x2 of those, each flattened row by row; black beyond."""
    features = []
    for picture in image - 0.5:
        height, width, channels = picture.shape
        rows, columns = (2 * int(np.ceil(side / (2 * size))) for side in (height, width))
        cells = {}
        for y, x in np.ndindex(rows, columns):
            places = [(size * y + i, size * x + j) for i in range(size) for j in range(size)]
            patch = [picture[a, b, c] if a < height and b < width else -0.5 for a, b in places for c in range(channels)]
            cells[y, x] = norm_act(dense(w, f"{name}.embed", np.array(patch)), w[f"{name}.embed_norm.scale"])
        merged = []
        for y, x in np.ndindex(rows // 2, columns // 2):
            four = np.concatenate([cells[2 * y + i, 2 * x + j] for i in (0, 1) for j in (0, 1)])
            merged.append(norm_act(dense(w, f"{name}.merge", four), w[f"{name}.merge_norm.scale"]))
        features.append(np.concatenate(merged))
    return np.stack(features)


PICTURES = (Sensor("camera", (32, 48, 3)), Sensor("depth", (16, 32, 1), "float32", 0.0, 1.0))


@pytest.mark.parametrize("size", [8, 7, 5])
@pytest.mark.parametrize("column", [0, 1])
def test_patch_tower(column: int, size: int) -> None:
    model = tiny.model(PICTURES, tower="patch", patch=size)
    w = {name: value.double().numpy() for name, value in model.state_dict().items()}
    rng = np.random.default_rng(1)
    obs = rng.integers(0, 256, (2, *PICTURES[column].shape), np.uint8)
    expected = patch_tower(w, f"fusion.towers.{column}", obs / 255, size)
    tower = model.fusion.towers[column]
    assert expected.shape == (2, tower.features)
    np.testing.assert_allclose(tower(torch.from_numpy(obs)), expected, atol=1e-5)
    np.testing.assert_allclose(tower(torch.from_numpy(obs / 255).float()), expected, atol=1e-5)


def spatial_start(w, name, deter, stoch, shape, blocks):
    """Belief -> (B, h, w, channels): each block of h writes its own channels everywhere, z writes all of them."""
    height, width, channels = shape
    own = [part @ w[f"{name}.from_deter.weight"][g] for g, part in enumerate(np.split(deter, blocks, -1))]
    bias = np.split(w[f"{name}.from_deter.bias"], blocks)
    own = [(x + b).reshape(-1, height, width, channels // blocks) for x, b in zip(own, bias, strict=True)]
    x = norm_act(dense(w, f"{name}.from_stoch.0.0", stoch.reshape(len(stoch), -1)), w[f"{name}.from_stoch.0.1.scale"])
    both = np.concatenate(own, -1) + dense(w, f"{name}.from_stoch.1", x).reshape(-1, height, width, channels)
    return norm_act(both, w[f"{name}.norm.scale"])


def patch_decoder(w, name, deter, stoch, shape, units, size):
    """Belief -> image (B, H, W, C) in (0, 1): every cell splits into four, each paints its patch; in whole cells."""
    height, width = (int(np.ceil(side / (2 * size))) for side in shape[:2])
    coarse = spatial_start(w, f"{name}.start", deter, stoch, (height, width, units), 4)
    image = np.zeros((len(deter), 2 * size * height, 2 * size * width, shape[2]))
    for b, y, x in np.ndindex(coarse.shape[:3]):
        four = dense(w, f"{name}.split", coarse[b, y, x]).reshape(2, 2, units)
        for i, j in np.ndindex(2, 2):
            cell = norm_act(four[i, j], w[f"{name}.norm.scale"])
            pixels = dense(w, f"{name}.paint", cell).reshape(size, size, -1)
            top, left = size * (2 * y + i), size * (2 * x + j)
            image[b, top : top + size, left : left + size] = sigmoid(pixels)
    return image


def conv_decoder(w, name, deter, stoch, shape, depth):
    """Belief -> image: four times every pixel doubled both ways, then a 5x5 convolution of the same size."""
    x = spatial_start(w, f"{name}.start", deter, stoch, (shape[0] // 16, shape[1] // 16, 4 * depth), 4)
    for i in range(4):
        large = np.pad(x.repeat(2, 1).repeat(2, 2), ((0, 0), (2, 2), (2, 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(large, (5, 5), (1, 2))
        x = np.einsum("bhwcij,ocij->bhwo", windows, w[f"{name}.convs.{i}.weight"]) + w[f"{name}.convs.{i}.bias"]
        x = norm_act(x, w[f"{name}.norms.{i}.scale"]) if i < 3 else sigmoid(x)
    return x


@pytest.mark.parametrize(("tower", "size"), [("patch", 8), ("patch", 7), ("conv", 8)])
def test_image_decoders(case, tower: str, size: int) -> None:
    """What is painted beyond the image is cut off, and counts for nothing."""
    _, _, deter, stoch, _ = case
    model = tiny.model(PICTURES, tower=tower, patch=size)
    w = {name: value.double().numpy() for name, value in model.state_dict().items()}
    belief = Belief(torch.from_numpy(deter), torch.from_numpy(stoch))
    decoded = model.decode(belief)
    truth = np.random.default_rng(3).integers(0, 256, (3, 32, 48, 3), np.uint8)
    for i, sensor in enumerate(PICTURES):
        if tower == "patch":
            expected = patch_decoder(w, f"decoders.{i}", deter, stoch, sensor.shape, 16, size)
        else:
            expected = conv_decoder(w, f"decoders.{i}", deter, stoch, sensor.shape, 2)
        height, width, _ = sensor.shape
        np.testing.assert_allclose(decoded[sensor.name], expected[:, :height, :width], atol=1e-5)
        target = truth if i == 0 else truth[:, :16, :32, :1] / np.float32(255)
        error = model.decoders[i].squared_error(belief, torch.from_numpy(target))
        gaps = expected[:, :height, :width] - (target / 255 if i == 0 else target)
        assert float(error) == pytest.approx((gaps**2).sum(), rel=1e-4)


def test_vector_decoder(case) -> None:
    model, w, deter, stoch, _ = case
    x = np.concatenate([deter, stoch.reshape(3, -1)], -1)
    for i in range(3):
        x = norm_act(dense(w, f"decoders.1.layers.{2 * i}", x), w[f"decoders.1.layers.{2 * i + 1}.scale"])
    logs = dense(w, "decoders.1.out", x)
    belief = Belief(torch.from_numpy(deter), torch.from_numpy(stoch))
    np.testing.assert_allclose(
        model.decode(belief)["speed"], np.sign(logs) * np.expm1(np.abs(logs)), rtol=1e-4, atol=1e-5
    )
    truth = np.array([[0.5, -200.0, 3.0]] * 3)
    error = model.decoders[1].squared_error(belief, torch.from_numpy(truth))
    assert float(error) == pytest.approx(((logs - np.sign(truth) * np.log1p(np.abs(truth))) ** 2).sum(), rel=1e-4)


def test_heads_on_the_belief(case) -> None:
    model, w, deter, stoch, _ = case
    x = np.concatenate([deter, stoch.reshape(3, -1)], -1)

    def mlp(name, layers):
        y = x
        for i in range(layers):
            y = norm_act(dense(w, f"{name}.{2 * i}", y), w[f"{name}.{2 * i + 1}.scale"])
        return y

    seen = features(Belief(torch.from_numpy(deter), torch.from_numpy(stoch)))
    np.testing.assert_allclose(seen, x)
    np.testing.assert_allclose(model.reward(seen), dense(w, "reward.logits", mlp("reward.layers", 1)), atol=1e-4)
    np.testing.assert_allclose(model.critic(seen), dense(w, "critic.logits", mlp("critic.layers", 3)), atol=1e-4)
    np.testing.assert_allclose(
        model.proceed(seen), dense(w, "proceed.layers.1", mlp("proceed.layers.0", 1))[:, 0], atol=1e-5
    )
    np.testing.assert_allclose(
        model.actor.logprobs(seen), log_unimix(dense(w, "actor.out", mlp("actor.layers", 3))), atol=1e-5
    )


@pytest.mark.parametrize("trusted", list(itertools.product((0, 1), repeat=3)))
def test_posterior_from_raw_readings(case, trusted) -> None:
    """q(z | h, x): one layer over [h, image, all vectors as one], masked sensors read zero; in float64 to 1e-9."""
    _, _, deter, *_ = case
    model = tiny.model((tiny.vector("wind", 2), tiny.image("camera"), tiny.vector("speed")))
    w = {name: value.double().numpy() for name, value in model.state_dict().items()}
    obs = tiny.batch(model.sensors, 3, np.random.default_rng(2))
    model.double()
    everything = np.ones((3, 1, 3), bool) & np.array(trusted, bool)
    prior = Prior(torch.from_numpy(deter).double(), torch.zeros(3, 6, 4).double())
    seen = {
        name: torch.from_numpy(x) if x.dtype == np.uint8 else torch.from_numpy(x).double() for name, x in obs.items()
    }
    found = model.infer(prior, model.embed(seen), torch.from_numpy(everything))[:, 0]
    image = conv_tower(w, "fusion.towers.0", trusted[1] * obs["camera"].astype(np.float64) / 255)
    both = np.concatenate([trusted[0] * obs["wind"], trusted[2] * obs["speed"]], -1)
    vectors = vector_tower(w, "fusion.vectors", both.astype(np.float64))
    parts = ("posterior.from_deter", "fusion.projections.0", "fusion.vectors.projection")
    columns = [w[f"{part}.weight"] for part in parts]
    x = np.concatenate([deter, image, vectors], -1) @ np.concatenate(columns, -1).T + w["posterior.from_deter.bias"]
    logits = dense(w, "posterior.head.logits", norm_act(x, w["posterior.norm.scale"])).reshape(3, 6, 4)
    np.testing.assert_allclose(found, log_unimix(logits), atol=1e-9)


def test_kl_from_logits() -> None:
    """Sum over latents and classes of q ln(q / p), both with 1 % of the uniform distribution mixed in."""
    q_logits, p_logits = np.random.default_rng(3).normal(0, 3, (2, 5, 6, 4))
    expected = np.zeros(5)
    for row, latent in np.ndindex(5, 6):
        for q, p in zip(log_unimix(q_logits[row, latent]), log_unimix(p_logits[row, latent]), strict=True):
            expected[row] += np.exp(q) * (q - p)
    found = kl_categorical(*(unimix_logprobs(torch.tensor(x).float(), 0.01) for x in (q_logits, p_logits)))
    np.testing.assert_allclose(found, expected, atol=1e-5)


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


def test_twohot_with_the_published_bins() -> None:
    """b = symexp(-20 .. 20); twohot(x) has |b[k + 1] - x| / |b[k + 1] - b[k]| at k and the rest at k + 1."""
    even = np.linspace(-20, 20, 255)
    bins = np.sign(even) * (np.exp(np.abs(even)) - 1)
    values = [-3e8, -512.5, -1.0, -0.3, 0.0, 1e-4, 0.2, 1.0, 41.7, 9999.0, 4e8]
    logits = np.random.default_rng(4).normal(0, 2, (len(values), 255))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    loss = []
    for value, row in zip(values, np.log(probabilities), strict=True):
        k = max(i for i in range(254) if bins[i] <= value)
        gap = bins[k + 1] - bins[k]
        loss.append(-(bins[k + 1] - value) / gap * row[k] - (value - bins[k]) / gap * row[k + 1])
    own, scores = twohot_bins(255), torch.tensor(logits).float()
    found = twohot_cross_entropy(torch.log_softmax(scores, -1), torch.tensor(values), own)
    np.testing.assert_allclose(found, loss, rtol=1e-5, atol=1e-5)
    gap = twohot_mean(scores, own).double().numpy() - (probabilities * bins).sum(-1)  # of terms that nearly cancel
    np.testing.assert_array_less(np.abs(gap), 1e-5 * (probabilities * np.abs(bins)).sum(-1))


def test_bins_are_symmetric_and_sorted() -> None:
    bins = twohot_bins(255)
    assert bins.shape == (255,)
    assert torch.equal(bins, -bins.flip(0))
    assert (bins.diff() > 0).all()
    assert float(bins[-1]) == pytest.approx(np.expm1(20), rel=1e-5)
