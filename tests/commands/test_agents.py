"""The list of agents: what their folders say, and a dash where they say nothing."""

import json

from tests.tiny import images, model
from wiser.commands.agents import agents, read_agent
from wiser.worldmodel.store import SHIPPED, save, shipped


def test_every_shipped_agent_is_listed_with_where_it_drives_what_it_sees_and_how_well(capsys):
    assert agents() == 0
    lines = capsys.readouterr().out.splitlines()
    for name in shipped():
        row = next(k for k, line in enumerate(lines) if line.startswith(name))
        config = json.loads((SHIPPED / name / "config.json").read_text())["config"]
        assert "wiser/" in lines[row]
        assert "±" in lines[row]
        assert lines[row + 1].strip() == ", ".join(sensor["name"] for sensor in config["sensors"])


def test_an_agent_without_a_card_is_listed_all_the_same(tmp_path):
    save(model(images(2)), tmp_path / "mine")
    agent = read_agent("mine", tmp_path / "mine")
    assert (agent.env, agent.score, agent.normalised) == ("–", "–", "–")
    assert agent.sensors == ("camera0", "camera1")


def test_where_there_are_none_it_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("wiser.worldmodel.store.SHIPPED", tmp_path)
    assert agents() == 1
    assert str(tmp_path) in capsys.readouterr().out.replace("\n", "")
