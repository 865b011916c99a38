"""What people are shown of a gated clip: a contact sheet and a replay."""

import numpy as np
import pytest
from PIL import Image

from tests.video.worlds import Scripted, plain_clip
from wiser.guard import Mode
from wiser.record import About, Recording, to_html
from wiser.record.frame import PAPER
from wiser.video.gate import Gated, Gating, gate
from wiser.video.predictor import pixels, unit
from wiser.video.replay import Outcome, record
from wiser.video.sheet import CAPTION, GAP, HEAD, LABEL, MARKS, TILE, draw_sheet

CLIP = plain_clip(0.2, 0.2, 0.4, 0.6, 0.8)
MODEL = Scripted({0.2: 0.0, 0.4: 0.04, 0.6: 0.09, 0.8: 0.0, 0.25: 0.0, 0.65: 0.04}, {0.4: 0.25, 0.6: 0.65})
GATED = gate(CLIP, MODEL, Gating(0.01, 0.001), seed=0)
BROKEN = np.array([False, False, True, True, False])


def test_the_sheet_shows_each_frame_what_became_of_it_and_what_was_generated(tmp_path):
    outcomes = {"paper": Outcome(GATED, unit(CLIP[:3]))}
    with Image.open(draw_sheet(CLIP, outcomes, "title", tmp_path / "a.png", BROKEN)) as image:
        picture = np.asarray(image.convert("RGB"))
    tall = TILE  # frames are square
    middle = [(LABEL + place * (TILE + GAP) + TILE // 2) for place in range(5)]
    rows = [HEAD + row * (tall + CAPTION) for row in range(3)]
    for place, mode in enumerate((Mode.GROUNDED, Mode.GROUNDED, Mode.DENOISED, Mode.PREDICTIVE, Mode.GROUNDED)):
        colour = [int(MARKS[mode][0][at : at + 2], 16) for at in (1, 3, 5)]
        assert picture[rows[1] - 2, middle[place]].tolist() == colour
        assert picture[rows[0] + tall // 2, middle[place]].tolist() == CLIP[place, 0, 0].tolist()
        assert picture[rows[1] + tall // 2, middle[place]].tolist() == pixels(GATED.window)[place, 0, 0].tolist()
    assert picture[rows[2] + tall // 2, middle[2]].tolist() == CLIP[2, 0, 0].tolist()
    yellow = [0xF0, 0xE4, 0x42]
    assert [picture[rows[0] - 2, x].tolist() == yellow for x in middle] == BROKEN.tolist()


@pytest.mark.parametrize("order", [("all", "last"), ("last", "all")])
def test_frames_stand_below_themselves_whichever_of_them_a_gate_judged(tmp_path, order):
    """A gate that judges the last two of five frames has them in the last two columns."""
    gated = {"all": GATED, "last": Gated(GATED.context, GATED.window[3:], GATED.verdicts[3:], 3)}
    outcomes = {name: Outcome(gated[name], unit(CLIP[:1])) for name in order}
    with Image.open(draw_sheet(CLIP, outcomes, "title", tmp_path / "a.png")) as image:
        picture = np.asarray(image.convert("RGB"))
    middle = [(LABEL + place * (TILE + GAP) + TILE // 2) for place in range(5)]
    assert picture.shape[1] == LABEL + 5 * (TILE + GAP)
    for row, name in ((1, order[0]), (3, order[1])):
        shown = [picture[HEAD + row * (TILE + CAPTION) + TILE // 2, x].tolist() for x in middle]
        expected = [frame[0, 0].tolist() for frame in pixels(GATED.window)]
        paper = [int(PAPER[at : at + 2], 16) for at in (1, 3, 5)]
        assert shown == (expected if name == "all" else [paper] * 3 + expected[3:])
    assert picture[HEAD + 2 * (TILE + CAPTION) + TILE // 2, middle[0]].tolist() == CLIP[0, 0, 0].tolist()


def test_the_replay_has_what_was_seen_said_and_generated(tmp_path):
    generated = unit(CLIP[:2])
    recording = record(CLIP, {"paper": Outcome(GATED, generated)}, About("a clip"), "glare", BROKEN)
    lane = recording.lane("paper")
    assert len(lane) == 7
    assert np.array_equal(lane.readings["camera"][:5], CLIP)
    assert np.array_equal(lane.view, np.concatenate([pixels(GATED.window), CLIP[:2]]))
    assert lane.present[:, 0].tolist() == [True] * 5 + [False] * 2
    assert lane.mode.tolist() == [Mode.GROUNDED, Mode.GROUNDED, Mode.DENOISED, Mode.PREDICTIVE, Mode.GROUNDED, 2, 2]
    assert lane.fault[:, 0].tolist() == ["", "", "glare", "glare", "", "", ""]
    assert lane.measure.tolist() == [0, 0, 0, 1, 1, 2, 3]
    assert np.isclose(lane.scores["score"][:5], [0, 0, 0.04, 0.09, 0], atol=1e-6).all()
    assert Recording.load(recording.save(tmp_path / "a.npz")).lane("paper").reason.tolist() == lane.reason.tolist()
    assert to_html(recording, tmp_path / "a.html").stat().st_size > 10_000


def test_lanes_of_the_replay_begin_together():
    last = Gated(GATED.context, GATED.window[3:], GATED.verdicts[3:], 3)
    recording = record(CLIP, {"last": Outcome(last), "all": Outcome(GATED)}, About("a clip"), "glare", BROKEN)
    lane, other = recording.lane("last"), recording.lane("all")
    assert np.array_equal(lane.readings["camera"], CLIP)
    assert np.array_equal(lane.view[:3], CLIP[:3])
    assert np.array_equal(lane.view[3:], other.view[3:])
    assert lane.mode[3:].tolist() == other.mode[3:].tolist() == [Mode.PREDICTIVE, Mode.GROUNDED]
    assert lane.measure.tolist() == [0, 0, 0, 1, 1]
    assert lane.fault[:, 0].tolist() == other.fault[:, 0].tolist()
