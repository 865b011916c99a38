"""The gate alone, on readings that are plain numbers: tests, stages and rows, against the written table."""

import itertools

import pytest
import torch

from wiser.guard.gate import Exam, Gate
from wiser.guard.transitions import Stage, next_stage

TAU, TAU_DENOISED, TAU_CONTEXT = 1.0, 0.5, 0.25
CPU = torch.device("cpu")


def exam_of_numbers() -> Exam[torch.Tensor]:
    """A reading is two columns: its score, and that of the same repaired; a third is its fit to the context."""
    return Exam(
        measure=lambda x, begin: (x[:, 0], torch.full((len(x),), TAU)),
        repair=lambda x: torch.stack([x[:, 1], x[:, 1], x[:, 2]], 1),
        tau_denoised=TAU_DENOISED,
        context=lambda x, begin: (x[:, 2], torch.full((len(x),), TAU_CONTEXT)),
    )


@pytest.mark.parametrize("transitions", ["paper", "reference", "keep"])
def test_every_row_follows_the_table_by_itself(transitions):
    stories = torch.tensor(list(itertools.product((0.9, 1.1), (0.4, 0.6), (0.2, 0.3))))  # all conditions, 8 rows
    rows = len(stories)
    gate: Gate[torch.Tensor] = Gate(exam_of_numbers(), transitions, rows, CPU)
    stages = [Stage.CLEAN] * rows
    for step in range(20):
        reading = stories.roll(step * step, 0)
        passage = gate.judge(reading, torch.zeros(rows, dtype=torch.bool), torch.ones(rows, dtype=torch.bool))
        for row, (score, denoised, context) in enumerate(reading.tolist()):
            c1 = score < TAU
            found = next_stage(stages[row], c1, not c1 and denoised < TAU_DENOISED, context < TAU_CONTEXT, transitions)
            stages[row] = found[0]
            assert (gate.stage[row], passage.source[row]) == found
            assert torch.isnan(passage.scores["denoised"][row]) == c1


def test_what_is_not_usable_is_rejected_and_what_begins_is_clean_before():
    gate: Gate[torch.Tensor] = Gate(exam_of_numbers(), "paper", 2, CPU)
    good, never, usable = torch.zeros(2, 3), torch.zeros(2, dtype=torch.bool), torch.tensor([False, True])
    assert gate.judge(good, never, usable).accepted.tolist() == [False, True]
    back = gate.judge(good, torch.tensor([True, False]), torch.ones(2, dtype=torch.bool))
    assert back.accepted.all()
    assert not back.reset.any()
