"""A chain is selection, then rejection of what was selected."""

import numpy as np
import pytest
import torch

from tests import naive, tiny
from wiser.guard import Calibrated, Chain, Evidence, Exhaustive, Greedy, Guard, Rejection, TrustAll
from wiser.guard.transitions import Source, Stage, next_stage
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief, Prior

SENSORS = tiny.images(3)
TAU, TAU_DENOISED = 0.297, 0.08  # in the midst of what random frames score, so that every source is met


def infer(model, prior: Prior, obs, trusted: list[bool]) -> Belief:
    return Belief(prior.deter, one_hot_mode(naive.posterior(model, prior, obs, trusted)))


def m_of(model, start: Prior, obs, trusted: list[bool]) -> float:
    """M: mean absolute error of what the trusted readings, in 0..255, are rebuilt to from themselves alone."""
    decoded = model.decode(infer(model, start, obs, trusted))
    used = [sensor.name for sensor, kept in zip(SENSORS, trusted, strict=True) if kept]
    return float(np.mean([(obs[name] / 255 - decoded[name]).abs().mean() for name in used]))


def by_hand(model, stream, firsts, actions):
    """Algorithm 2, M and the paper's table for one row, from raw readings: what each step must come to."""
    belief, action, stage = model.initial(1), torch.zeros(1, 5), Stage.CLEAN
    start = model.predict(model.initial(1), torch.zeros(1, 5), torch.ones(1, dtype=torch.bool))
    for obs, first, done in zip(stream, firsts, actions, strict=True):
        prior = model.predict(belief, action, torch.tensor([first]))
        subset, logprobs = naive.algorithm2(model, prior, obs, 1, True)
        repaired = {name: 255 * x for name, x in model.decode(infer(model, prior, obs, subset)).items()}
        c1, c2 = m_of(model, start, obs, subset) < TAU, m_of(model, start, repaired, subset) < TAU_DENOISED
        stage, source = next_stage(Stage.CLEAN if first else stage, c1, c2, False, "paper")
        belief = {
            Source.POSTERIOR: infer(model, prior, obs, subset),
            Source.POSTERIOR_RESET: infer(model, start, obs, subset),
            Source.DENOISED: infer(model, prior, repaired, subset),
            Source.DENOISED_RESET: infer(model, start, repaired, subset),
            Source.PRIOR: Belief(prior.deter, one_hot_mode(prior.logprobs)),
        }[source]
        yield subset, m_of(model, start, obs, subset), source, belief, naive.surprise(logprobs, prior.logprobs[0])
        action = torch.eye(5)[[done]]


def test_selection_then_rejection_is_what_it_was_as_two_arguments() -> None:
    model, rng = tiny.model(SENSORS), np.random.default_rng(1)
    stream = [tiny.batch(SENSORS, 1, rng) for _ in range(40)]
    firsts = [step in (0, 17) for step in range(40)]
    guard = Guard(model, Chain(Greedy(), Rejection(tau=TAU, tau_denoised=TAU_DENOISED)), rows=1, sample_latents=False)
    seen = []
    for obs, first in zip(stream, firsts, strict=True):
        action, verdict = guard.act(obs, first)
        seen.append((int(action[0]), verdict, guard.belief))
    expected = by_hand(model, [tiny.tensors(obs) for obs in stream], firsts, [action for action, *_ in seen])
    met = set()
    for (_, verdict, belief), (subset, score, source, hand, nats) in zip(seen, expected, strict=True):
        assert verdict.trusted[0].tolist() == [kept and source != Source.PRIOR for kept in subset]
        assert verdict.scores["score"][0] == pytest.approx(score, rel=1e-4)
        assert verdict.surprise[0] == pytest.approx(nats, abs=1e-4)
        assert verdict.reset[0] == (source in (Source.POSTERIOR_RESET, Source.DENOISED_RESET))
        torch.testing.assert_close(belief.deter, hand.deter, atol=1e-5, rtol=0)
        assert torch.equal(belief.stoch, hand.stoch)
        left_out, rejected = "more surprising than without it", "observation rejected"
        reasons = {s.name: rejected if kept else left_out for s, kept in zip(SENSORS, subset, strict=True)}
        distrusted = [s.name for s, kept in zip(SENSORS, verdict.trusted[0], strict=True) if not kept]
        assert verdict.reasons == [{name: reasons[name] for name in distrusted}]
        assert set(verdict.scores) == {"isolated_surprise", "score", "denoised", "context"}
        met.add(source)
    assert len(met) == len(Source), f"every source must be met, not only {met}"


class Counting:
    """A model that counts how often it infers."""

    def __init__(self, model) -> None:
        self.model, self.count = model, 0

    def __getattr__(self, name: str):
        return getattr(self.model, name)

    def infer(self, *given):
        self.count += 1
        return self.model.infer(*given)


@pytest.mark.parametrize(
    ("judge", "inferred"),
    [
        (TrustAll(), 1),
        (Greedy(), 2),
        (Exhaustive(), 1),
        (Rejection(tau=1e9), 2),  # in context, and after a reset for M
        (Chain(Exhaustive(), Rejection(tau=1e9)), 2),
        (Chain(Greedy(), Rejection(score="surprise", denoiser=None, tau=1e9)), 2),
    ],
)
def test_no_subset_is_inferred_twice(judge, inferred: int) -> None:
    model = Counting(tiny.model(SENSORS))
    guard = Guard(model, judge, rows=2)
    guard.act(tiny.batch(SENSORS, 2, np.random.default_rng(0)))
    assert model.count == inferred


def test_the_second_judge_sees_the_belief_that_the_first_hands_over() -> None:
    model = tiny.model(SENSORS)
    other = Prior(torch.randn(2, 32, generator=torch.Generator().manual_seed(0)), torch.full((2, 6, 4), 0.25).log())
    met: list[Evidence] = []

    class HandsOver:
        needs = ("one", "both")

        def start(self, *_):
            return self

        def rule(self, evidence):
            ruling = TrustAll().rule(evidence)
            return ruling._replace(prior=other, logprobs=other.logprobs, reset=torch.tensor([True, False]))

    def reject(look) -> torch.Tensor:
        met.append(look)
        return torch.tensor([0.0, 1.0])

    chain = Chain(HandsOver(), Rejection(score=reject, tau=0.5, denoiser=None))
    guard = Guard(model, chain, rows=2)
    _, verdict = guard.act(tiny.batch(SENSORS, 2, np.random.default_rng(0)))
    assert met[0].prior is other
    assert torch.equal(guard.belief.deter, other.deter), "accepted or rejected, it goes on from there"
    assert verdict.trusted.all(1).tolist() == [True, False]
    assert verdict.reset.tolist() == [True, False]


def test_a_chain_needs_what_its_judges_need() -> None:
    assert Chain(Greedy(), Rejection(tau=1.0)).needs == ()
    assert Chain(Calibrated(), Rejection(score="either")).needs == ("surprise", "reconstruction")
    with pytest.raises(ValueError, match="threshold for 'reconstruction'"):
        Guard(tiny.model(SENSORS), Chain(Greedy(), Rejection()))
