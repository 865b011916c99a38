"""Greedy is Algorithm 2 and exhaustive is a loop over all subsets, whatever the fusion, sensor count and batch."""

import numpy as np
import pytest
import torch

from tests import naive, tiny
from wiser.guard import Exhaustive, Greedy
from wiser.guard.draws import RowDraws
from wiser.guard.look import Look
from wiser.worldmodel.protocol import Belief, Prior


def sensors_of(count: int, fusion: str):
    """A vector sensor among the images once there are three, so that both kinds are covered."""
    return tuple(tiny.vector("speed") if i == 2 else tiny.image(f"camera{i}") for i in range(count))


def look_at(model, rows: int, rng: np.random.Generator) -> Look:
    config = model.config
    deter = torch.from_numpy(rng.standard_normal((rows, config.deter)).astype(np.float32))
    codes = torch.from_numpy(rng.integers(0, config.classes, (rows, config.stoch)))
    stoch = torch.nn.functional.one_hot(codes, config.classes).float()
    action = torch.nn.functional.one_hot(torch.from_numpy(rng.integers(0, 5, rows)), 5).float()
    prior = model.predict(Belief(deter, stoch), action, torch.zeros(rows, dtype=torch.bool))
    obs = tiny.tensors(tiny.batch(model.sensors, rows, rng))
    return Look(model, prior, obs, model.embed(obs), torch.ones(rows, len(model.sensors), dtype=torch.bool))


def row(look: Look, index: int) -> tuple[Prior, dict[str, torch.Tensor]]:
    some = slice(index, index + 1)
    return Prior(look.prior.deter[some], look.prior.logprobs[some]), {k: v[some] for k, v in look.obs.items()}


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("fusion", ["late", "channels"])
@pytest.mark.parametrize("count", range(1, 9))
def test_greedy_is_algorithm_2(count: int, fusion: str, rows: int) -> None:
    model = tiny.model(sensors_of(count, fusion), fusion=fusion, seed=count)
    look = look_at(model, rows, np.random.default_rng(count * 10 + rows))
    for depth in (None, 0, 1, 3):
        for include_full in (False, True):
            choice = Greedy(depth, include_full).select(look, look.mask, RowDraws(0, rows))
            for i in range(rows):
                subset, latent = naive.algorithm2(model, *row(look, i), depth, include_full)
                assert choice.mask[i].tolist() == subset
                torch.testing.assert_close(choice.logprobs[i], latent, atol=1e-5, rtol=0)


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("fusion", ["late", "channels"])
@pytest.mark.parametrize("count", range(1, 9))
def test_exhaustive_is_the_loop_over_all_subsets(count: int, fusion: str, rows: int) -> None:
    model = tiny.model(sensors_of(count, fusion), fusion=fusion, seed=count)
    look = look_at(model, rows, np.random.default_rng(count * 10 + rows))
    choice = Exhaustive().select(look, look.mask, RowDraws(0, rows))
    for i in range(rows if count < 7 else 1):
        subset, latent = naive.exhaustive(model, *row(look, i))
        assert choice.mask[i].tolist() == subset
        torch.testing.assert_close(choice.logprobs[i], latent, atol=1e-5, rtol=0)


@pytest.mark.parametrize("fusion", ["late", "channels"])
def test_every_subset_agrees_with_encoding_it_from_raw_readings(fusion: str) -> None:
    model = tiny.model(sensors_of(5, fusion), fusion=fusion)
    look = look_at(model, 3, np.random.default_rng(0))
    masks = torch.tensor([[bool(code >> i & 1) for i in range(5)] for code in range(32)])
    logprobs, nats = look.infer(masks.expand(3, -1, -1))
    for code in range(32):
        expected = naive.posterior(model, look.prior, dict(look.obs), masks[code].tolist())
        torch.testing.assert_close(logprobs[:, code], expected, atol=1e-5, rtol=0)
        assert float(nats[1, code]) == pytest.approx(naive.surprise(expected[1], look.prior.logprobs[1]), abs=1e-4)


def test_required_sensors_are_never_masked_and_the_best_of_the_rest_is_found() -> None:
    model = tiny.model(tiny.images(5))
    look = look_at(model, 6, np.random.default_rng(3))
    for selector in (Greedy(required=("camera1", "camera4")), Exhaustive(required=("camera1", "camera4"))):
        choice = selector.select(look, look.mask, RowDraws(0, 6))
        assert choice.mask[:, [1, 4]].all()
    best = Exhaustive(required=("camera1", "camera4")).select(look, look.mask, RowDraws(0, 6))
    for i in range(6):
        prior, obs = row(look, i)
        subsets = [[a, True, b, c, True] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        values = [naive.surprise(naive.posterior(model, prior, obs, s)[0], prior.logprobs[0]) for s in subsets]
        assert best.mask[i].tolist() == [bool(x) for x in subsets[int(np.argmin(values))]]


def test_required_sensors_alone_are_used_when_nothing_else_is_healthy() -> None:
    model = tiny.model(tiny.images(3))
    look = look_at(model, 1, np.random.default_rng(0))
    healthy = torch.tensor([[False, True, False]])
    for include_full in (False, True):
        choice = Greedy(include_full=include_full, required=("camera1",)).select(look, healthy, RowDraws(0, 1))
        assert choice.mask.tolist() == [[False, True, False]]
        assert torch.isfinite(choice.surprise).all()


def test_unknown_required_sensor_is_named() -> None:
    model = tiny.model(tiny.images(2))
    look = look_at(model, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="radar"):
        Greedy(required=("radar",)).select(look, look.mask, RowDraws(0, 1))


def test_unhealthy_sensors_are_left_out_as_if_the_model_had_fewer() -> None:
    """With depth 1 the published algorithm masks one of the sensors that are there, not one that is gone already."""
    model = tiny.model(tiny.images(4))
    look = look_at(model, 8, np.random.default_rng(5))
    healthy = torch.ones(8, 4, dtype=torch.bool)
    healthy[:, 2] = False
    choice = Greedy(depth=1).select(look, healthy, RowDraws(0, 8))
    for i in range(8):
        prior, obs = row(look, i)
        alone = {
            k: naive.surprise(naive.posterior(model, prior, obs, [j == k for j in range(4)])[0], prior.logprobs[0])
            for k in (0, 1, 3)
        }
        worst = max(alone, key=lambda k: alone[k])
        subsets = [[j == k for j in range(4)] for k in (0, 1, 3)]
        subsets += [[j not in (2, worst) for j in range(4)], [j != 2 for j in range(4)]]
        values = [naive.surprise(naive.posterior(model, prior, obs, s)[0], prior.logprobs[0]) for s in subsets]
        assert choice.mask[i].tolist() == subsets[int(np.argmin(values))]


@pytest.mark.parametrize("selector", [Greedy(), Greedy(include_full=False), Exhaustive()])
def test_permuting_sensors_permutes_masks(selector) -> None:
    model = tiny.model(tiny.images(5))
    look = look_at(model, 12, np.random.default_rng(1))
    chosen = selector.select(look, look.mask, RowDraws(0, 12)).mask
    order = [3, 0, 4, 1, 2]
    renamed = tiny.model(tuple(model.sensors[i] for i in order))
    weights = model.state_dict()
    for new, old in enumerate(order):
        for part in ("fusion.towers", "fusion.projections", "decoders"):
            for key in [k for k in weights if k.startswith(f"{part}.{old}.")]:
                renamed.state_dict()[key.replace(f"{part}.{old}.", f"{part}.{new}.")].copy_(weights[key])
    for key in weights:
        if not key.startswith(("fusion", "decoders")):
            renamed.state_dict()[key].copy_(weights[key])
    again = Look(renamed, look.prior, look.obs, renamed.embed(look.obs), look.mask)
    assert torch.equal(selector.select(again, look.mask, RowDraws(0, 12)).mask, chosen[:, order])
