"""The rejection state machine, cell by cell, against tables copied from the paper's text and its published code."""

import pytest
import torch

from wiser.guard.transitions import Source, Stage, next_stage, transition_table

# One line per stage; for each column of conditions the belief that is carried and the stage that follows.
#   clean   c1 = 1: the reading is plausible
#   fits    c1 = 0, c2 = 1, c3 = 1: repaired it is, and it fits the context
#   strange c1 = 0, c2 = 1, c3 = 0: repaired it is, but it contradicts the context
#   bad     c1 = 0, c2 = 0: not even repaired
COLUMNS = {
    "clean": [(1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)],
    "fits": [(0, 1, 1)],
    "strange": [(0, 1, 0)],
    "bad": [(0, 0, 0), (0, 0, 1)],
}
BELIEFS = {
    "post": Source.POSTERIOR,
    "post0": Source.POSTERIOR_RESET,
    "denoised": Source.DENOISED,
    "denoised0": Source.DENOISED_RESET,
    "prior": Source.PRIOR,
}
# The published code: in stage 0 it keeps the context, from any other stage the next clean frame resets it.
REFERENCE = """
    stage  clean     fits         strange       bad
    0      post  0   denoised 1   prior     2   prior 2
    1      post0 0   denoised 3   denoised0 4   prior 5
    2      post0 0   denoised 3   denoised0 4   prior 5
    3      post0 0   denoised 3   denoised0 4   prior 5
    4      post0 0   denoised 3   denoised0 4   prior 5
    5      post0 0   denoised 3   denoised0 4   prior 5
"""
# The text: ground-truth mode accepts the reading or its repaired form; a reset comes upon leaving predictive mode,
# stages 2 and 5, and at no other time.
PAPER = """
    stage  clean     fits          strange       bad
    0      post  0   denoised  1   denoised  1   prior 2
    1      post  0   denoised  1   denoised  1   prior 2
    2      post0 0   denoised0 4   denoised0 4   prior 5
    3      post  0   denoised  1   denoised  1   prior 2
    4      post  0   denoised  1   denoised  1   prior 2
    5      post0 0   denoised0 4   denoised0 4   prior 5
"""
# Ours: as the text, but what was predicted stays the context.
KEEP = """
    stage  clean    fits         strange      bad
    0      post 0   denoised 1   denoised 1   prior 2
    1      post 0   denoised 1   denoised 1   prior 2
    2      post 0   denoised 1   denoised 1   prior 5
    3      post 0   denoised 1   denoised 1   prior 2
    4      post 0   denoised 1   denoised 1   prior 2
    5      post 0   denoised 1   denoised 1   prior 5
"""


def cells(table: str) -> list[tuple[int, tuple[int, int, int], tuple[int, int]]]:
    """(stage, conditions, (stage that follows, belief)) of a written table."""
    header, *lines = table.split("\n")[1:-1]
    found = []
    for line in lines:
        stage, *entries = line.split()
        pairs = zip(entries[::2], entries[1::2], strict=True)
        for column, (belief, after) in zip(header.split()[1:], pairs, strict=True):
            found += [(int(stage), conditions, (int(after), int(BELIEFS[belief]))) for conditions in COLUMNS[column]]
    return found


CELLS = [(name, *cell) for name, table in (("reference", REFERENCE), ("paper", PAPER), ("keep", KEEP))
         for cell in cells(table)]  # fmt: skip


def test_the_tables_name_every_stage_under_every_condition() -> None:
    assert len({cell[:3] for cell in CELLS}) == len(CELLS) == 3 * 6 * 8


@pytest.mark.parametrize("name", ["reference", "paper", "keep"])
def test_every_cell_is_the_written_one(name: str) -> None:
    looked_up = transition_table(name)
    assert looked_up.shape == (6, 2, 2, 2, 2)
    assert looked_up.dtype == torch.long
    for _, stage, conditions, expected in (cell for cell in CELLS if cell[0] == name):
        assert next_stage(Stage(stage), *map(bool, conditions), name) == expected, (stage, conditions)
        assert tuple(looked_up[(stage, *conditions)].tolist()) == expected, (stage, conditions)


def test_unknown_transitions_are_named() -> None:
    with pytest.raises(ValueError, match="paper"):
        transition_table("papre")  # type: ignore[arg-type]
