"""The server: strangers stay outside, viewers see and give orders, the episode can be taken home."""

import json
import re
import sys

import pytest

from tests.cockpit.cameras import ENV, agent, prepare
from wiser.cockpit import board
from wiser.commands.cockpit import cockpit
from wiser.record import Recording

starlette = pytest.importorskip("starlette.testclient", reason="pip install 'wiser-guard[cockpit]'")
HOST = "127.0.0.1:8765"

__all__ = ["agent"]


@pytest.fixture
def client(agent):
    """A browser's way to a cockpit that stands still: whoever wants a step orders it."""
    from wiser.cockpit.server import build

    simulation, catalogue = prepare(agent)
    simulation.paused = True
    with starlette.TestClient(build(simulation, catalogue, [HOST, "localhost:8765"]), f"http://{HOST}") as client:
        client.simulation = simulation
        yield client


class Watching:
    """A viewer that sees everything it is sent."""

    def __init__(self, client, **headers):
        self.socket = client.websocket_connect(f"ws://{HOST}/live", headers={"host": HOST, **headers})

    def __enter__(self):
        self.socket = self.socket.__enter__()
        return self

    def __exit__(self, *error):
        return self.socket.__exit__(*error)

    def hear(self, kind, when=lambda told: True):
        """The next message of a kind for which something holds."""
        while True:
            message = self.socket.receive()
            told = json.loads(message["text"]) if message.get("text") else board.unpack(message["bytes"])[0]
            self.socket.send_text("seen")
            if told["kind"] == kind and when(told):
                return told

    def order(self, **order):
        self.socket.send_json(order)


def test_the_page_and_all_it_names_are_there(client):
    page = client.get("/")
    assert page.status_code == 200
    named = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    assert len(named) == 12
    for path in named:
        assert client.get(path).status_code == 200, path
    assert client.get("/record/../server.py").status_code == 404


def test_browsers_are_told_to_load_nothing_from_elsewhere(client):
    headers = client.get("/").headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8765"},  # a name of theirs that points here
        {"host": "127.0.0.1"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_strangers_are_refused(client, headers):
    assert client.get("/page/cockpit.js", headers=headers).status_code == 403
    assert client.get("/episode.npz", headers=headers).status_code == 403
    with pytest.raises(starlette.WebSocketDisconnect), Watching(client, **headers):
        pass


@pytest.mark.parametrize("headers", [{"origin": f"http://{HOST}"}, {"sec-fetch-site": "same-origin"}, {}])
def test_our_own_page_is_let_in(client, headers):
    assert client.get("/page/cockpit.js", headers=headers).status_code == 200
    with Watching(client, **headers) as viewer:
        assert viewer.hear("catalogue")["agents"]["stop-sign/dropout"] == "wiser/StopSign-v0"


def test_a_viewer_is_told_everything_there_is_to_know(client):
    with Watching(client) as viewer:
        offered, episode, steps = (viewer.hear(kind) for kind in ("catalogue", "episode", "steps"))
    assert {"none", "greedy", "exhaustive", "random", "reject"} <= offered["treatments"].keys()
    assert len(offered["faults"]) == 16
    assert [lane["name"] for lane in episode["lanes"]] == ["unguarded", "guarded"]
    assert [sensor["name"] for sensor in episode["sensors"]] == ["camera", "lidar", "radar"]
    assert episode["choice"]["env"] == ENV
    assert steps["first"] == 0
    assert len(steps["steps"]) == 1


def test_orders_are_carried_out(client):
    with Watching(client) as viewer:
        viewer.order(do="break", sensor="camera", fault="glare", intensity=0.5)
        viewer.hear("state", lambda state: state["faults"] == {"camera": ["glare", 0.5]})
        for _ in range(2):
            viewer.order(do="step")
        steps = viewer.hear("steps", lambda told: told["first"] + len(told["steps"]) == 3)
        assert [lane["sensors"][0]["fault"] for lane in steps["steps"][-1]] == ["glare 0.5"] * 2
        viewer.order(do="heal", sensor="camera")
        viewer.hear("state", lambda state: state["faults"] == {})
        viewer.order(do="break", sensor=None, fault="blackout", intensity=1)
        viewer.hear("state", lambda state: len(state["faults"]) == 3)
        viewer.order(do="surprise")
        viewer.hear("state", lambda state: state["told"].startswith("Surprise: "))
        viewer.order(do="speed", speed=0)
        viewer.order(do="choose", right="exhaustive", seed=4)
        about = viewer.hear("episode")
        assert (about["choice"]["right"], about["choice"]["seed"]) == ("exhaustive", 4)
        viewer.order(do="pause", paused=False)
        assert not viewer.hear("state", lambda state: state["over"])["faults"]  # on its own, to the end


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        "[]",
        '{"do": "explode"}',
        '{"do": "break", "sensor": "sonar", "fault": "glare", "intensity": 1}',
        '{"do": "break", "sensor": "camera", "fault": "rust", "intensity": 1}',
        '{"do": "break", "sensor": "camera", "fault": "glare", "intensity": 1e9}',
        '{"do": "break", "sensor": "camera", "fault": "glare", "intensity": NaN}',
        '{"do": "choose", "env": "antigravity:Anything-v0"}',
        '{"do": "choose", "agent": "/etc"}',
        '{"do": "choose", "left": "best"}',
        '{"do": "choose", "left": ["none"]}',
        '{"do": "choose", "env": {}}',
        '{"do": "choose", "seed": -1}',
        '{"do": "choose", "seed": 100000000000000000000}',
        '{"do": "choose", "env": "wiser/StopSign-v0", "agent": "stop-sign/dropout", "seed": "x"}',
        '{"do": "speed", "speed": "fast"}',
    ],
)
def test_nonsense_is_answered_and_changes_nothing(client, text):
    with Watching(client) as viewer:
        viewer.socket.send_text(text)
        assert viewer.hear("error")["text"]
        assert client.simulation.ask(lambda it: (it.session.choice.env, it.session.faults)).result() == (ENV, {})


def test_viewers_come_and_go_and_nothing_moves_without_them(client):
    def watchers() -> int:
        return client.simulation.ask(lambda it: it.watchers).result()

    assert watchers() == 0
    client.simulation.ask(lambda it: setattr(it, "paused", False)).result()
    assert client.simulation.ask(lambda it: it.session.steps).result() == 1
    with Watching(client) as one, Watching(client) as other:
        for viewer in (one, other):
            viewer.hear("state", lambda state: state["over"])
        assert watchers() == 2
        one.order(do="restart")
        for viewer in (one, other):
            viewer.hear("steps", lambda told: told["first"] == 0)
    assert watchers() == 0


def test_the_episode_can_be_taken_home(client, tmp_path):
    answer = client.get("/episode.npz")
    assert re.search(r'filename="[\w.-]+-tiny-seed-0\.npz"', answer.headers["content-disposition"])
    (tmp_path / "episode.npz").write_bytes(answer.content)
    recording = Recording.load(tmp_path / "episode.npz")
    assert [(lane.name, len(lane)) for lane in recording.lanes] == [("unguarded", 1), ("guarded", 1)]
    assert client.get("/episode.html").text.startswith("<!doctype html>")
    assert client.get("/episode.gif").content.startswith(b"GIF89a")
    assert b"ftyp" in client.get("/episode.mp4").content[:16]
    assert client.get("/episode.exe").status_code == 404


def test_without_rerun_it_is_not_offered_and_says_how_to_get_it(client, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    answer = client.get("/episode.rrd")
    assert answer.status_code == 503
    assert "pip install 'wiser-guard[rerun]'" in answer.text


def test_a_world_that_breaks_down_does_not_take_the_cockpit_with_it(client, monkeypatch):
    def fail():
        raise RuntimeError("the wheel came off")

    with Watching(client) as viewer:
        monkeypatch.setattr(client.simulation.session, "step", fail)
        viewer.order(do="pause", paused=False)
        assert viewer.hear("state", lambda state: "the wheel came off" in state["told"])["paused"]
        monkeypatch.undo()
        viewer.order(do="restart")
        viewer.hear("episode")
        assert viewer.hear("steps")["first"] == 0


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch, capsys):
    import wiser.cockpit

    monkeypatch.delattr(wiser.cockpit, "server", raising=False)
    monkeypatch.setitem(sys.modules, "wiser.cockpit.server", None)
    assert cockpit(open=False) == 2
    assert capsys.readouterr().err == "The cockpit needs a small web server: pip install 'wiser-guard[cockpit]'\n"


def test_what_cannot_be_opened_is_one_line(capsys):
    for options in ({"host": "0.0.0.0"}, {"host": "example"}, {"agent": "nobody/knows"}, {"left": "best"}):
        assert cockpit(port=0, open=False, **options) == 2
    assert "would open the cockpit to every network" in capsys.readouterr().err
