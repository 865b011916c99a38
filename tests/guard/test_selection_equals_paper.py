"""Greedy is Algorithm 2 and exhaustive is a loop over all subsets, whatever the fusion, sensor count and batch."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests import naive, tiny
from wiser.guard import (
    Calibrated,
    Calibration,
    Chain,
    Evidence,
    Exhaustive,
    Greedy,
    Guard,
    RandomMask,
    Rejection,
    Ruling,
)
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


def rule(judge, look: Look, healthy: torch.Tensor | None = None, calibration: Calibration | None = None) -> Ruling:
    """One step of a judge that has just started, at the beginning of an episode."""
    rows = len(look.mask)
    look = look if healthy is None else look.trusting(healthy)
    evidence = Evidence(look, torch.ones(rows, dtype=torch.bool), torch.zeros(rows, 5), RowDraws(0, rows))
    return judge.start(look.model, rows, calibration).rule(evidence)


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
            choice = rule(Greedy(depth, include_full), look)
            for i in range(rows):
                subset, latent = naive.algorithm2(model, *row(look, i), depth, include_full)
                assert choice.trusted[i].tolist() == subset
                torch.testing.assert_close(choice.logprobs[i], latent, atol=1e-5, rtol=0)


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("fusion", ["late", "channels"])
@pytest.mark.parametrize("count", range(1, 9))
def test_exhaustive_is_the_loop_over_all_subsets(count: int, fusion: str, rows: int) -> None:
    model = tiny.model(sensors_of(count, fusion), fusion=fusion, seed=count)
    look = look_at(model, rows, np.random.default_rng(count * 10 + rows))
    choice = rule(Exhaustive(), look)
    for i in range(rows):
        subset, latent = naive.exhaustive(model, *row(look, i))
        assert choice.trusted[i].tolist() == subset
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
    for judge in (Greedy(required=("camera1", "camera4")), Exhaustive(required=("camera1", "camera4"))):
        choice = rule(judge, look)
        assert choice.trusted[:, [1, 4]].all()
    best = rule(Exhaustive(required=("camera1", "camera4")), look)
    for i in range(6):
        prior, obs = row(look, i)
        subsets = [[a, True, b, c, True] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        values = [naive.surprise(naive.posterior(model, prior, obs, s)[0], prior.logprobs[0]) for s in subsets]
        assert best.trusted[i].tolist() == [bool(x) for x in subsets[int(np.argmin(values))]]


def test_required_sensors_alone_are_used_when_nothing_else_is_healthy() -> None:
    model = tiny.model(tiny.images(3))
    look = look_at(model, 1, np.random.default_rng(0))
    healthy = torch.tensor([[False, True, False]])
    for include_full in (False, True):
        choice = rule(Greedy(include_full=include_full, required=("camera1",)), look, healthy)
        assert choice.trusted.tolist() == [[False, True, False]]
        assert torch.isfinite(choice.surprise).all()


def test_unknown_required_sensor_is_named() -> None:
    model = tiny.model(tiny.images(2))
    for judge in (Greedy(required=("radar",)), Exhaustive(required=("radar",))):
        with pytest.raises(ValueError, match="radar"):
            Guard(model, judge)
    with pytest.raises(ValueError, match="tuple of names"):
        Guard(model, Greedy(required="camera0"))  # type: ignore[arg-type]


def test_impossible_settings_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        Greedy(depth=-1)
    with pytest.raises(ValueError, match="stops at 12"):
        Guard(tiny.model(tuple(tiny.vector(f"v{i}") for i in range(13))), "exhaustive")
    with pytest.raises(ValueError, match="choose from none"):
        Guard(tiny.model(tiny.images(1)), "greddy")


def test_unhealthy_sensors_are_left_out_as_if_the_model_had_fewer() -> None:
    """With depth 1 the published algorithm masks one of the sensors that are there, not one that is gone already."""
    model = tiny.model(tiny.images(4))
    look = look_at(model, 8, np.random.default_rng(5))
    healthy = torch.ones(8, 4, dtype=torch.bool)
    healthy[:, 2] = False
    choice = rule(Greedy(depth=1), look, healthy)
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
        assert choice.trusted[i].tolist() == subsets[int(np.argmin(values))]


def test_exhaustive_searches_the_subsets_of_the_healthy_sensors() -> None:
    """Even where an unhealthy one, which reads zero, would make no difference: it is not called trusted."""
    model = tiny.model(tiny.images(3))
    look = look_at(model, 6, np.random.default_rng(7))
    healthy = torch.tensor([[True, False, True], [False, True, True]] * 3)
    zeroed = {name: torch.where(healthy[:, i, None, None, None], x, 0) for i, (name, x) in enumerate(look.obs.items())}
    look = look.at(zeroed)
    choice = rule(Exhaustive(), look, healthy)
    for i in range(6):
        prior, obs = row(look, i)
        subsets = [[bool(code >> j & 1) for j in range(3)] for code in range(8)]
        subsets = [subset for subset in subsets if all(healthy[i, j] or not kept for j, kept in enumerate(subset))]
        values = [naive.surprise(naive.posterior(model, prior, obs, s)[0], prior.logprobs[0]) for s in subsets]
        assert choice.trusted[i].tolist() == subsets[int(np.argmin(values))]
    assert (choice.trusted.sum(1) > 1).any()


@pytest.mark.parametrize(
    "judge",
    [Greedy(), Greedy(None, include_full=False), Exhaustive(), Calibrated(0.5), Chain(Greedy(), Rejection(tau=0.29))],
)
@settings(max_examples=15)
@given(order=st.permutations(range(5)), seed=st.integers(0, 50))
def test_permuting_sensors_permutes_rulings(judge, order: list[int], seed: int) -> None:
    model = tiny.model(tiny.images(5), seed=seed)
    look = look_at(model, 4, np.random.default_rng(seed))
    usual = Calibration.of({f"isolated_surprise/camera{i}": np.array([2.0 + i, 4.0]) for i in range(5)})
    before = rule(judge, look, calibration=usual)
    renamed = tiny.model(tuple(model.sensors[i] for i in order))
    weights, places = model.state_dict(), renamed.state_dict()
    for key, value in weights.items():
        part = re.match(r"(fusion\.towers|fusion\.projections|decoders)\.(\d+)\.(.*)", key)
        if part:
            key = f"{part[1]}.{order.index(int(part[2]))}.{part[3]}"
        places[key].copy_(value)
    again = Look(renamed, look.prior, look.obs, renamed.embed(look.obs), look.mask)
    after = rule(judge, again, calibration=usual)
    assert torch.equal(after.trusted, before.trusted[:, order])
    torch.testing.assert_close(after.logprobs, before.logprobs, atol=1e-4, rtol=0)
    torch.testing.assert_close(after.surprise, before.surprise, atol=1e-4, rtol=0)
    for name, score in before.scores.items():
        moved = score[:, order] if score.ndim == 2 else score
        torch.testing.assert_close(after.scores[name], moved, atol=1e-4, rtol=0, equal_nan=True)
    for i, j in (~after.trusted).nonzero().tolist():
        assert after.why(i, j) == before.why(i, order[j])


def test_random_masking_as_intended_and_as_published() -> None:
    """RME: k ~ Uniform{0..N} inclusive, every sensor equally likely; as published, one mask for the whole run."""
    model = tiny.model(tiny.images(3))
    look = look_at(model, 400, np.random.default_rng(0))
    evidence = Evidence(look, torch.ones(400, dtype=torch.bool), torch.zeros(400, 5), RowDraws(0, 400))
    masks = torch.cat([RandomMask().rule(evidence).trusted for _ in range(20)])  # (8000, 3)
    counts = np.bincount((~masks).sum(1).numpy(), minlength=4)
    assert chisquare(counts).pvalue > 1e-3, "all may be masked, none may be"
    assert (masks.float().mean(0) - 0.5).abs().max() < 0.03
    once = torch.cat([RandomMask(redraw=False, seed=s).rule(evidence).trusted for s in (4, 4)])
    assert (once == once[0]).all()
    others = {tuple(RandomMask(redraw=False, seed=s).rule(evidence).trusted[0].tolist()) for s in range(20)}
    assert len(others) > 3


@pytest.mark.parametrize("seed", range(5))
def test_calibrated_trusts_what_is_usual_or_else_the_nearest_to_it(seed) -> None:
    model = tiny.model(sensors_of(4, "late"), seed=seed)
    look = look_at(model, 9, np.random.default_rng(seed))
    healthy = torch.from_numpy(np.random.default_rng(seed).random((9, 4)) < 0.8)
    healthy[0] = False
    nats = look.infer(torch.eye(4, dtype=torch.bool).expand(9, -1, -1))[1]
    clean = {f"isolated_surprise/{s.name}": nats[:, i].numpy() for i, s in enumerate(model.sensors)}
    calibration = Calibration.of(clean)
    limits = [calibration.quantile(name, 0.25) for name in clean]
    choice = rule(Calibrated(level=0.25), look, healthy, calibration)
    modes = set()
    for i in range(9):
        shares = {n: float(nats[i, n]) / limits[n] for n in range(4) if healthy[i, n]}
        usual = {n for n, share in shares.items() if share <= 1} or {min(shares, key=shares.get)} if shares else set()
        assert {n for n in range(4) if choice.trusted[i, n]} == usual
        modes.add(len(usual))
        if not shares:
            assert torch.isnan(choice.surprise[i])
        else:
            _, expected = look.infer(choice.trusted[:, None])
            assert choice.surprise[i] == pytest.approx(float(expected[i, 0]))
    assert len(modes) > 2, "rows with none, one and several"
    mask = rule(Calibrated(level=0.25, required=("speed",)), look, healthy, calibration).trusted
    assert torch.equal(mask[:, 2], healthy[:, 2])


def test_calibrated_needs_a_calibration() -> None:
    with pytest.raises(ValueError, match="needs a calibration"):
        Guard(tiny.model(sensors_of(3, "late")), "calibrated")
