"""Sequences that begin from the initial belief: how many, and that nothing that came before them matters."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.train.test_learner import CONFIG, Setup
from wiser.train.sampling import flag_share

EIGHT = replace(CONFIG, batch=8)


@pytest.mark.parametrize(("share", "count", "expected"), [
    (0.0, 8, 0), (1.0, 8, 8), (0.5, 8, 4), (0.3, 10, 3), (0.06, 8, 0), (0.07, 8, 1), (0.99, 8, 8), (1.0, 1, 1),
])  # fmt: skip
def test_the_share_is_the_nearest_number(share: float, count: int, expected: int) -> None:
    flags = flag_share(count, share, torch.Generator().manual_seed(0))
    assert flags.shape == (count,)
    assert int(flags.sum()) == expected


def test_every_sequence_has_the_same_chance() -> None:
    generator = torch.Generator().manual_seed(0)
    often = torch.stack([flag_share(8, 0.25, generator) for _ in range(4000)]).float().mean(0)
    np.testing.assert_allclose(often, 0.25, atol=0.03)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_and_all_take_no_random_number(share: float) -> None:
    generator = torch.Generator().manual_seed(0)
    flag_share(8, share, generator)
    assert torch.equal(generator.get_state(), torch.Generator().manual_seed(0).get_state())


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (0.5, 4), (1.0, 8)])
def test_fresh_sequences_begin_from_the_initial_belief_and_no_action(monkeypatch, share: float, expected: int) -> None:
    """Each row alone: one recurrent step from nothing where it is fresh, from what is stored where it is not."""
    setup = Setup(replace(EIGHT, fresh_share=share))
    setup.replay._arrays["first"][:] = False  # one long episode: only the share can make a beginning
    untrained = copy.deepcopy(setup.model)
    setup.watch(monkeypatch, "observe")
    setup.update()
    (_, batch, _, _, start), unrolled = setup.calls["observe"][0]
    assert int(batch.first[:, 0].sum()) == expected
    assert not batch.first[:, 1:].any()
    for row in range(8):
        deter, stoch, action = start.deter[row, None], start.stoch[row, None], batch.action[row, :1]
        if batch.first[row, 0]:
            deter, stoch, action = torch.zeros(1, 32), torch.zeros(1, 6, 4), torch.zeros(1, 4)
        torch.testing.assert_close(unrolled.belief.deter[row, :1], untrained.gru(deter, stoch, action))


def learnt(fresh: bool, belief: float, action: int) -> tuple[dict[str, Tensor], list[Tensor]]:
    """Terms and gradients of a batch before which the stored belief and the action were these."""
    setup = Setup(EIGHT)
    sample = setup.replay.sample(8, 6, np.random.default_rng(0))
    sample = sample._replace(fresh_start=np.zeros(8, bool), steps=copy.deepcopy(sample.steps))
    sample.steps["first"][:], sample.steps["action"][:, 0] = False, action
    sample.before["deter"][:] = belief
    _, total, terms = setup.learner._observe(sample, torch.full((8,), fresh))
    return terms, list(torch.autograd.grad(total, list(setup.model.parameters()), allow_unused=True))


def test_neither_losses_nor_gradients_depend_on_the_stored_belief_and_the_action() -> None:
    terms, gradients = learnt(True, 0.0, 1)
    for belief, action in ((9.0, 1), (0.0, 3), (np.nan, 4)):
        others, other_gradients = learnt(True, belief, action)
        assert terms == others
        for a, b in zip(gradients, other_gradients, strict=True):
            assert (a is b is None) or torch.equal(a, b)
    going_on, _ = learnt(False, 0.0, 1)
    assert learnt(False, 9.0, 1)[0] != going_on, "this test can tell"
    assert learnt(False, 0.0, 3)[0] != going_on


def test_a_whole_update_with_all_sequences_fresh_survives_garbage_in_the_store() -> None:
    setup = Setup(replace(EIGHT, fresh_share=1.0))
    setup.replay._arrays["deter"][:] = np.nan
    assert all(torch.isfinite(value) for value in setup.update().values())


def test_beliefs_of_fresh_sequences_are_not_written_back(monkeypatch) -> None:
    """They have forgotten what came before; a later sequence that goes on from them would have as well."""
    setup = Setup(replace(EIGHT, fresh_share=0.5))
    sample = Setup(EIGHT).replay.sample(8, 6, np.random.default_rng(0))
    setup.replay._arrays["deter"][:] = 7.0
    setup.watch(monkeypatch, "flag_share", "observe")
    setup.update()
    _, fresh = setup.calls["flag_share"][0]
    _, unrolled = setup.calls["observe"][0]
    expected = np.full_like(setup.replay._arrays["deter"], 7.0)
    for i in np.flatnonzero(~fresh.numpy()):
        slots = slice(sample.starts[i], sample.starts[i] + 6)
        expected[sample.rows[i], slots] = unrolled.belief.deter[i].detach().half()
    np.testing.assert_array_equal(setup.replay._arrays["deter"], expected)
