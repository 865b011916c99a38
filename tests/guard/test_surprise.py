"""Bayesian surprise is a KL divergence: never negative, finite, and equal to an independent computation."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy

from wiser.guard.look import surprise
from wiser.worldmodel.latents import one_hot_mode, one_hot_sample, unimix_logprobs
from wiser.worldmodel.protocol import Prior

logits = arrays(np.float32, (2, 3, 5), elements=st.floats(-1e4, 1e4, width=32))


def prior_of(values: np.ndarray) -> Prior:
    return Prior(torch.zeros(2, 1), unimix_logprobs(torch.from_numpy(values), 0.01))


@given(logits, logits)
def test_never_negative_and_finite(q: np.ndarray, p: np.ndarray) -> None:
    nats = surprise(unimix_logprobs(torch.from_numpy(q), 0.01)[:, None], prior_of(p))
    assert torch.isfinite(nats).all()
    assert (nats >= 0).all()


@given(logits, logits)
def test_equals_scipy(q: np.ndarray, p: np.ndarray) -> None:
    prior = prior_of(p)
    posterior = unimix_logprobs(torch.from_numpy(q), 0.01)
    expected = entropy(posterior.double().exp(), prior.logprobs.double().exp(), axis=-1).sum(-1)
    np.testing.assert_allclose(surprise(posterior[:, None], prior)[:, 0], expected, atol=1e-4)


@given(logits)
def test_zero_when_nothing_was_learnt(q: np.ndarray) -> None:
    prior = prior_of(q)
    assert (surprise(prior.logprobs[:, None], prior) == 0).all()


def test_undefined_surprise_is_infinite_so_that_it_is_never_chosen() -> None:
    assert surprise(torch.full((1, 1, 2, 2), torch.nan), Prior(torch.zeros(1, 1), torch.zeros(1, 2, 2))) == torch.inf


@given(logits)
def test_unimix_is_the_mixture(q: np.ndarray) -> None:
    mixed = unimix_logprobs(torch.from_numpy(q), 0.01).exp()
    soft = torch.softmax(torch.from_numpy(q).double(), -1)
    torch.testing.assert_close(mixed.double(), 0.99 * soft + 0.01 / 5, atol=1e-6, rtol=1e-4)


def test_sampling_follows_the_probabilities() -> None:
    probabilities = torch.tensor([0.1, 0.0, 0.6, 0.3])
    noise = torch.rand(100_000, generator=torch.Generator().manual_seed(0))
    samples = one_hot_sample(probabilities.log().expand(100_000, 4), noise)
    torch.testing.assert_close(samples.mean(0), probabilities, atol=0.006, rtol=0)
    assert one_hot_sample(probabilities.log(), torch.tensor(1.0)).tolist() == [0, 0, 0, 1], "noise may round up to 1"
    assert one_hot_mode(probabilities.log()).tolist() == [0, 0, 1, 0]
