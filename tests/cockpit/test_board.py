"""The board: everybody reads at their own pace, and nobody costs memory. The sheet: pictures are where it says."""

import cv2
import numpy as np
import pytest

from tests.cockpit.cameras import ENV, SENSORS, agent
from wiser.cockpit import Choice, Session
from wiser.cockpit.board import WINDOW, Board, Place, unpack
from wiser.cockpit.facts import about_step
from wiser.cockpit.sheet import Sheet

__all__ = ["agent"]


@pytest.fixture
def board() -> Board:
    board = Board()
    board.open({"kind": "episode"})
    return board


def show(board: Board, steps: range) -> None:
    for step in steps:
        board.show([{"step": step}, None], b"picture %d" % step)


def test_the_newest_picture_wins_and_no_number_is_lost(board):
    place = Place()
    show(board, range(2))
    about, steps = board.news(place)
    assert about == '{"kind": "episode"}'
    told = {"kind": "steps", "first": 0, "steps": [[{"step": 0}, None], [{"step": 1}, None]]}
    assert unpack(steps) == (told, b"picture 1")
    show(board, range(2, 7))
    (steps,) = board.news(place)
    message, picture = unpack(steps)
    assert (message["first"], len(message["steps"]), picture) == (2, 5, b"picture 6")
    assert board.news(place) == []


def test_who_stays_away_for_long_finds_the_window_and_no_more(board):
    place = Place()
    show(board, range(3))
    board.news(place)
    show(board, range(3, 3 * WINDOW))
    message, picture = unpack(board.news(place)[0])
    assert (message["first"], len(message["steps"])) == (2 * WINDOW, WINDOW)
    assert message["steps"][-1][0] == {"step": 3 * WINDOW - 1}
    assert picture == b"picture %d" % (3 * WINDOW - 1)


def test_states_replace_each_other_and_a_new_episode_begins_at_zero(board):
    place = Place()
    for speed in (1, 2, 3):
        board.tell({"speed": speed})
    show(board, range(4))
    assert board.news(place)[1] == '{"kind": "state", "speed": 3}'
    board.open({"kind": "episode", "number": 2})
    show(board, range(1))
    about, steps = board.news(place)
    assert "2" in about
    assert unpack(steps)[0]["first"] == 0


def test_listeners_hear_of_everything_until_they_leave(board):
    heard = []
    with board.listening(lambda: heard.append(1)):
        assert len(heard) == 1  # there may be news already
        show(board, range(2))
        board.tell({"speed": 1})
        board.tell({"speed": 1})  # nothing new
    show(board, range(2))
    assert len(heard) == 4


def test_every_picture_is_where_the_sheet_says(agent):
    session = Session(Choice(ENV, agent))
    steps = session.step()
    sheet = Sheet(SENSORS, steps)
    image = cv2.imdecode(np.frombuffer(sheet.draw(steps), np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    places = [place for lane in sheet.lanes for place in (lane["view"], *lane["readings"], *lane["predictions"])]
    assert len({place[:2] for place in places}) == len(places) == 2 * (1 + 3 + 3)
    for lane, step in zip(sheet.lanes, steps, strict=True):
        pictures = [(lane["view"], step.view)]
        pictures += [(place, step.readings[s.name]) for place, s in zip(lane["readings"], SENSORS, strict=True)]
        pictures += [(place, step.predictions[s.name]) for place, s in zip(lane["predictions"], SENSORS, strict=True)]
        for (x, y, width, height), picture in pictures:
            cut = image[y : y + height, x : x + width].astype(float)
            assert np.abs(cut - picture).mean() < 8  # JPEG of noise


def test_numbers_that_are_not_finite_are_told_as_nothing(agent):
    session = Session(Choice(ENV, agent))
    session.break_sensor("radar", "missing", 1.0)
    session.step()
    _, guarded = session.step()
    told = about_step(guarded, SENSORS, {}, "", {"cost": float("nan")}, 10.0)
    assert told["measures"] == {"cost": None}
    assert told["sensors"][2] == {
        "state": "unhealthy", "level": "ERROR", "late": 0.0, "reason": "missing", "fault": "missing",
        "stale": 0, "present": False,
    }  # fmt: skip
    assert told["scores"]["isolated_surprise"][2] is None
    assert told["mode"] == "grounded"
