"""DreamerV3 behind the seam: shapes, sizes, masked sensors, cached constants, and clear errors."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from tests import tiny
from wiser.worldmodel import Actions, Belief, Sensor, sensors_of
from wiser.worldmodel.dreamer import SIZES, DreamerConfig, DreamerV3
from wiser.worldmodel.dreamer.layers import NormAct

SENSORS = (tiny.image("camera", 32), tiny.vector("speed"), Sensor("bump", (), "float32", 0.0, 1.0))


@pytest.mark.parametrize("tower", ["conv", "strided", "patch"])
@pytest.mark.parametrize("actions", [tiny.DISCRETE, tiny.CONTINUOUS])
def test_shapes_and_ranges(tower, actions) -> None:
    model = tiny.model(SENSORS, actions, tower=tower)
    obs = tiny.tensors(tiny.batch(SENSORS, 4, np.random.default_rng(0)))
    prior = model.predict(model.initial(4), torch.zeros(4, actions.size), torch.ones(4, dtype=torch.bool))
    logprobs = model.infer(prior, model.embed(obs), torch.ones(4, 7, 3, dtype=torch.bool))
    assert prior.deter.shape == (4, 32)
    assert logprobs.shape == (4, 7, 6, 4)
    belief = Belief(prior.deter, logprobs[:, 0].exp())
    decoded = model.decode(belief)
    assert {name: tuple(x.shape) for name, x in decoded.items()} == {
        "camera": (4, 32, 32, 3),
        "speed": (4, 3),
        "bump": (4,),
    }
    assert 0 <= decoded["camera"].min() <= decoded["camera"].max() <= 1
    for noise in (None, torch.rand(4, actions.size)):
        action = model.act(belief, noise)
        assert action.shape == (4, actions.size)
        assert action.abs().max() <= 1


def test_rectangular_images_of_different_sizes() -> None:
    model = tiny.model((Sensor("wide", (32, 64, 3)), Sensor("gray", (16, 16, 1), "float32", 0.0, 1.0)))
    decoded = model.decode(model.initial(1))
    assert decoded["wide"].shape == (1, 32, 64, 3)
    assert decoded["gray"].shape == (1, 16, 16, 1)


@pytest.mark.parametrize("size", [size for size in SIZES if size not in ("50m", "100m", "200m")])
def test_sizes_build(size: str) -> None:
    model = DreamerV3(DreamerConfig.of_size(size, (Sensor("image", (64, 64, 3)),), Actions(15)))
    count = sum(parameter.numel() for parameter in model.parameters())
    nominal = {"nano": 1.5e6, "1m": 1e6, "12m": 12e6, "25m": 25e6}[size]
    assert 0.6 * nominal < count < 1.5 * nominal


def test_same_seed_same_weights_and_the_global_generator_is_left_alone() -> None:
    state = torch.get_rng_state()
    first, second, third = (DreamerV3(tiny.config(SENSORS), seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.actor.out.weight, third.actor.out.weight)


def test_constants_of_masked_sensors_follow_the_weights() -> None:
    """They are computed once; changing, loading or moving weights must not leave a stale one behind."""
    model = tiny.model(SENSORS)
    obs = tiny.tensors(tiny.batch(SENSORS, 2, np.random.default_rng(0)))
    prior = model.predict(model.initial(2), torch.zeros(2, 5), torch.ones(2, dtype=torch.bool))
    nothing = torch.zeros(2, 1, 3, dtype=torch.bool)

    def answer():
        with torch.no_grad():
            return model.infer(prior, model.embed(obs), nothing)

    before = answer()
    assert torch.equal(before, answer())
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        model.fusion.towers[0].convs[0].bias += 1
    changed = answer()
    assert not torch.equal(before, changed)
    with torch.enable_grad():
        torch.testing.assert_close(model.infer(prior, model.embed(obs), nothing), changed)
    model.load_state_dict(weights)
    assert torch.equal(answer(), before)
    model.load_state_dict(tiny.model(SENSORS, seed=9).state_dict(), assign=True)
    assert not torch.equal(answer(), before)


def test_gradients_reach_every_weight_of_the_posterior_path() -> None:
    model = DreamerV3(tiny.config(SENSORS))
    obs = tiny.tensors(tiny.batch(SENSORS, 2, np.random.default_rng(0)))
    prior = model.predict(model.initial(2), torch.zeros(2, 5), torch.ones(2, dtype=torch.bool))
    masks = torch.tensor([[[True, False, True]], [[False, True, False]]])
    model.infer(prior, model.embed(obs), masks).square().sum().backward()
    for part in (model.fusion, model.posterior):
        assert all(parameter.grad is not None for parameter in part.parameters())


def test_spaces_become_sensors_and_actions() -> None:
    box = gym.spaces.Box
    space = gym.spaces.Dict(image=box(0, 255, (16, 16, 3), np.uint8), pose=box(-np.inf, np.inf, (3,), np.float64))
    assert sensors_of(space) == (
        Sensor("image", (16, 16, 3)),
        Sensor("pose", (3,), "float32", -np.inf, np.inf),
    )
    assert Actions.from_space(gym.spaces.Discrete(4)) == Actions(4)
    assert Actions.from_space(box(-2, 1, (2,))) == Actions(2, False, (-2.0, -2.0), (1.0, 1.0))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tiny.config(()), "at least one sensor"),
        (lambda: tiny.config((tiny.image("a"), tiny.image("a"))), "repeat"),
        (lambda: tiny.config((tiny.image("a", 20),)), "multiples of 16"),
        (lambda: tiny.config((tiny.image("a"), tiny.image("b", 32)), fusion="channels"), "one height and width"),
        (lambda: tiny.config(tiny.images(1), deter=30), "multiple of blocks"),
        (lambda: DreamerConfig.of_size("3m", tiny.images(1), Actions(2)), "choose from nano"),
        (lambda: Sensor("a", (2, 2)), "neither"),
        (lambda: Sensor("a", (16, 16, 3), "float32", 0.0, 255.0), "uint8 in 0..255"),
        (lambda: Sensor.from_space("a", gym.spaces.Discrete(3)), "Box"),
        (lambda: Actions.from_space(gym.spaces.Box(-np.inf, np.inf, (2,))), "bounded"),
        (lambda: sensors_of(gym.spaces.Box(0, 1, (2,))), "Dict"),
        (lambda: tiny.model((tiny.vector("v"),), fusion="channels"), "at least one image"),
    ],
)
def test_mistakes_are_named(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_norm_and_activation_against_autograd() -> None:
    layer = NormAct(7).double()
    layer.scale.data.uniform_(0.5, 2.0, generator=torch.Generator().manual_seed(0))
    x = torch.randn(3, 2, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    composed = torch.nn.functional.silu(torch.nn.functional.rms_norm(x, (7,), layer.scale, 1e-4))
    torch.testing.assert_close(layer(x), composed)
    wanted = torch.autograd.grad(composed.sin().sum(), (x, layer.scale))
    found = torch.autograd.grad(layer(x).sin().sum(), (x, layer.scale))
    torch.testing.assert_close(found, wanted)
    assert torch.autograd.gradcheck(layer, (x,))


@pytest.mark.parametrize("tower", ["conv", "strided", "patch"])
@pytest.mark.parametrize("fusion", ["late", "channels"])
def test_bytes_and_unit_floats_are_the_same_picture_in_any_precision(fusion: str, tower: str) -> None:
    model = tiny.model(SENSORS, tower=tower, fusion=fusion).double()
    obs = tiny.tensors(tiny.batch(SENSORS, 2, np.random.default_rng(0)))
    prior = model.predict(model.initial(2), torch.zeros(2, 5).double(), torch.ones(2, dtype=torch.bool))
    masks = torch.tensor([[[True, False, True]], [[False, True, True]]])
    answers = [
        model.infer(prior, model.embed({**obs, "camera": x}), masks) for x in (obs["camera"], obs["camera"] / 255)
    ]
    torch.testing.assert_close(*answers, atol=1e-6, rtol=0)
