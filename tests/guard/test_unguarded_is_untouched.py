"""With every sensor trusted and the guard off, the guarded agent is the unguarded one, bit for bit."""

from zlib import crc32

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import tiny
from wiser.guard import Guard
from wiser.worldmodel.latents import one_hot_mode, one_hot_sample
from wiser.worldmodel.protocol import Belief


def unguarded(model, stream, rows: int, noise=None):
    """DreamerV3's own loop: no guard anywhere."""
    belief, action = model.initial(rows), torch.zeros(rows, model.actions.size)
    first = torch.ones(rows, dtype=torch.bool)
    for obs in stream:
        prior = model.predict(belief, action, first)
        everything = torch.ones(rows, 1, len(model.sensors), dtype=torch.bool)
        logprobs = model.infer(prior, model.embed(tiny.tensors(obs)), everything)[:, 0]
        if noise is None:
            belief = Belief(prior.deter, one_hot_mode(logprobs))
            action = model.act(belief)
        else:
            belief = Belief(prior.deter, one_hot_sample(logprobs, noise(model.config.stoch)))
            action = model.act(belief, noise(model.actions.size))
        first = torch.zeros(rows, dtype=torch.bool)
        yield belief, action


@pytest.mark.parametrize("tower", ["conv", "patch"])
@pytest.mark.parametrize("fusion", ["late", "channels"])
@given(count=st.integers(1, 4), rows=st.integers(1, 5), seed=st.integers(0, 1000))
def test_bit_for_bit(fusion: str, tower: str, count: int, rows: int, seed: int) -> None:
    model = tiny.model(tiny.images(count), seed=seed, fusion=fusion, tower=tower)
    rng = np.random.default_rng(seed)
    stream = [tiny.batch(model.sensors, rows, rng) for _ in range(4)]
    guard = Guard(model, judge="none", rows=rows, sample_latents=False)
    for obs, (belief, action) in zip(stream, unguarded(model, stream, rows), strict=True):
        chosen, verdict = guard.act(obs)
        assert torch.equal(guard.belief.deter, belief.deter)
        assert torch.equal(guard.belief.stoch, belief.stoch)
        assert np.array_equal(chosen, action.argmax(-1).numpy())
        assert verdict.trusted.all()


@pytest.mark.parametrize("actions", [tiny.DISCRETE, tiny.CONTINUOUS])
def test_bit_for_bit_when_sampling(actions) -> None:
    model = tiny.model((*tiny.images(2), tiny.vector("speed")), actions)
    rng = np.random.default_rng(0)
    stream = [tiny.batch(model.sensors, 3, rng) for _ in range(10)]
    streams = [np.random.SeedSequence(7 + row, spawn_key=(crc32(b"guard"),)) for row in range(3)]
    generators = [np.random.default_rng(stream) for stream in streams]

    def noise(count: int) -> torch.Tensor:
        return torch.tensor(np.stack([g.random(count) for g in generators]), dtype=torch.float32)

    guard = Guard(model, judge="none", rows=3, sample_actions=True, seed=7)
    for obs, (belief, action) in zip(stream, unguarded(model, stream, 3, noise), strict=True):
        chosen, _ = guard.act(obs)
        assert torch.equal(guard.belief.stoch, belief.stoch)
        if actions.discrete:
            assert np.array_equal(chosen, action.argmax(-1).numpy())
        else:
            low, high = np.array(actions.low), np.array(actions.high)
            assert np.allclose(chosen, low + (action.numpy() + 1) / 2 * (high - low), atol=1e-6)
            assert (chosen >= low).all()
            assert (chosen <= high).all()
