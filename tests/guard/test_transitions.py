"""The rejection state machine, cell by cell: every stage and every condition, against tables written by hand."""

import itertools

import pytest
import torch

from wiser.guard.transitions import Source, Stage, next_stage, transition_table

A, B, C, D, E, F = Stage  # 0..5
POST, POST0, DENOISED, DENOISED0, PRIOR = Source

# (c1, c2, c3) -> (new stage, belief), one block per group of stages that behave alike
REFERENCE_FROM_CLEAN = {
    (1, 0, 0): (A, POST), (1, 0, 1): (A, POST), (1, 1, 0): (A, POST), (1, 1, 1): (A, POST),
    (0, 1, 1): (B, DENOISED),
    (0, 1, 0): (C, PRIOR),
    (0, 0, 0): (C, PRIOR), (0, 0, 1): (C, PRIOR),
}  # fmt: skip
REFERENCE_FROM_ANY_OTHER = {
    (1, 0, 0): (A, POST0), (1, 0, 1): (A, POST0), (1, 1, 0): (A, POST0), (1, 1, 1): (A, POST0),
    (0, 1, 1): (D, DENOISED),
    (0, 1, 0): (E, DENOISED0),
    (0, 0, 0): (F, PRIOR), (0, 0, 1): (F, PRIOR),
}  # fmt: skip
PAPER_GROUNDED = {
    (1, 0, 0): (A, POST), (1, 0, 1): (A, POST), (1, 1, 0): (A, POST), (1, 1, 1): (A, POST),
    (0, 1, 0): (B, DENOISED), (0, 1, 1): (B, DENOISED),
    (0, 0, 0): (C, PRIOR), (0, 0, 1): (C, PRIOR),
}  # fmt: skip
PAPER_PREDICTING = {
    (1, 0, 0): (A, POST0), (1, 0, 1): (A, POST0), (1, 1, 0): (A, POST0), (1, 1, 1): (A, POST0),
    (0, 1, 0): (E, DENOISED0), (0, 1, 1): (E, DENOISED0),
    (0, 0, 0): (F, PRIOR), (0, 0, 1): (F, PRIOR),
}  # fmt: skip
KEEP_PREDICTING = {
    (1, 0, 0): (A, POST), (1, 0, 1): (A, POST), (1, 1, 0): (A, POST), (1, 1, 1): (A, POST),
    (0, 1, 0): (B, DENOISED), (0, 1, 1): (B, DENOISED),
    (0, 0, 0): (F, PRIOR), (0, 0, 1): (F, PRIOR),
}  # fmt: skip
TABLES = {
    "reference": [REFERENCE_FROM_CLEAN, *[REFERENCE_FROM_ANY_OTHER] * 5],
    "paper": [PAPER_GROUNDED, PAPER_GROUNDED, PAPER_PREDICTING, PAPER_GROUNDED, PAPER_GROUNDED, PAPER_PREDICTING],
    "keep": [PAPER_GROUNDED, PAPER_GROUNDED, KEEP_PREDICTING, PAPER_GROUNDED, PAPER_GROUNDED, KEEP_PREDICTING],
}


@pytest.mark.parametrize("transitions", TABLES)
@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("conditions", list(itertools.product((0, 1), repeat=3)))
def test_cell(transitions, stage, conditions) -> None:
    expected = TABLES[transitions][stage][conditions]
    assert next_stage(stage, *map(bool, conditions), transitions) == expected
    assert transition_table(transitions)[(int(stage), *conditions)].tolist() == list(map(int, expected))


def test_tables_are_complete() -> None:
    for blocks in TABLES.values():
        assert len(blocks) == len(Stage)
        assert all(len(block) == 8 for block in blocks)


def test_unknown_transitions_are_named() -> None:
    with pytest.raises(ValueError, match="paper"):
        transition_table("papre")  # type: ignore[arg-type]


def test_table_holds_only_known_stages_and_sources() -> None:
    for name in ("paper", "reference"):
        table = transition_table(name)  # type: ignore[arg-type]
        assert table.shape == (6, 2, 2, 2, 2)
        assert set(table[..., 0].unique().tolist()) <= set(map(int, Stage))
        assert set(table[..., 1].unique().tolist()) <= set(map(int, Source))
        assert table.dtype == torch.long
