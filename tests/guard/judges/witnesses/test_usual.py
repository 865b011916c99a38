"""Scores as nats, evidence that adds up, and suspicion that ends: against closed forms and a state machine."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wiser.guard import Calibration
from wiser.guard.judges.witnesses.usual import Usual, accumulate, average, remember

CPU = torch.device("cpu")


def usual(**samples: np.ndarray) -> Usual:
    return Usual(Calibration.of(samples), list(samples), CPU)


def test_nats_of_an_exponential_score_are_a_line_beyond_all_that_was_seen() -> None:
    """P(score > x) = exp(-x / scale), so that nats are x / scale, in the far tail as well."""
    rng = np.random.default_rng(0)
    found = usual(one=rng.exponential(2.0, 400_000), two=rng.exponential(0.5, 400_000))
    at = torch.tensor([[1.0, 1.0], [12.0, 3.0], [30.0, 7.5]])
    torch.testing.assert_close(
        found.nats(at), torch.tensor([[0.5, 2.0], [6.0, 6.0], [15.0, 15.0]]), rtol=0.05, atol=0.02
    )


def test_clean_scores_of_any_kind_become_exponential() -> None:
    rng = np.random.default_rng(1)
    found = usual(normal=rng.normal(5, 3, 200_000)).nats(torch.from_numpy(rng.normal(5, 3, (200_000, 1))).float())
    for nats in (0.5, 1.0, 3.0, 5.0):
        assert (found > nats).float().mean().item() == pytest.approx(math.exp(-nats), rel=0.15)


@given(st.floats(0.0, 20.0))
def test_score_is_the_inverse_of_nats(nats: float) -> None:
    rng = np.random.default_rng(2)
    found = usual(one=rng.gamma(2.0, 1.0, 5000), two=rng.normal(0, 1, 5000))
    torch.testing.assert_close(found.nats(found.score(nats)[None]), torch.full((1, 2), nats), rtol=1e-3, atol=1e-3)


def test_a_score_that_never_varies_is_usual_and_anything_above_it_is_not() -> None:
    found = usual(constant=np.full(100, 0.25))
    below, same, above = found.nats(torch.tensor([[0.2], [0.25], [0.3]]))
    assert below == same == 0.0
    assert above > 10.0


@pytest.mark.parametrize("reference", [1.5, 2.5])
def test_totals_of_sound_steps_are_as_the_closed_form_says(reference: float) -> None:
    """A walk with steps Exp(1) - reference, kept at 0 or above, exceeds h with (1 - r) exp(-r h): overshoots of an
    exponential step are exponential again, and r is where the moment generating function of a step is 1."""
    low, high = 0.1, 1.0  # bisection for 1 - r = exp(-r reference)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.exp(-middle * reference) < 1 - middle else (low, middle)
    nats = torch.distributions.Exponential(1.0)
    torch.manual_seed(0)
    total, exceed, heights = torch.zeros(20_000), torch.zeros(3), torch.tensor([0.5, 2.0, 5.0])
    for step in range(400):
        total = accumulate(total, nats.sample(total.shape), reference)
        exceed += (total[:, None] > heights).float().mean(0) if step >= 100 else 0
    expected = (1 - low) * torch.exp(-low * heights)
    torch.testing.assert_close(exceed / 300, expected, rtol=0.05, atol=0.0)


def test_averages_forget_as_a_geometric_series() -> None:
    mean, steps = torch.zeros(()), [3.0, 0.0, 7.0, 1.0]
    for nats in steps:
        mean = average(mean, torch.tensor(nats))
    assert float(mean) == pytest.approx(sum(0.05 * 0.95 ** (3 - i) * nats for i, nats in enumerate(steps)))


@given(st.lists(st.floats(0.0, 15.0), min_size=1, max_size=40), st.floats(0.5, 12.0), st.sampled_from([0.25, 0.5, 1.0]))
def test_suspicion_begins_at_the_limit_and_ends_at_a_share_of_it(evidence, limit, recover) -> None:
    alarm, suspected = torch.zeros(()), False
    for nats in evidence:
        suspected = nats > limit or (suspected and nats > recover * limit)  # as one would write it for a known limit
        alarm = remember(alarm, torch.tensor(nats, dtype=torch.float64), recover)
        assert bool(alarm > limit) == suspected
