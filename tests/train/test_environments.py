"""What a run makes of its environments: options, processes, sensors of any name; and that all of them are closed."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Dict

from tests import fake_world, tiny
from tests.train.test_collect import CONFIG, collector, held
from wiser.commands import train as command
from wiser.options import from_words, to_words
from wiser.train import checkpoint, loop, ship
from wiser.train.collect import Collector, describe
from wiser.train.config import TrainConfig, stack
from wiser.train.experience import replay_fields
from wiser.train.learner import Learner
from wiser.train.loop import Run, build_model, train
from wiser.train.replay import Replay
from wiser.worldmodel import store

SINGLE = replace(CONFIG, env=fake_world.SINGLE)
RUN = replace(
    SINGLE, size="nano", prefill=5, updates=2, segment=1, warmup=0, imagine_steps=3, evaluate_every=100,
    evaluate_episodes=1, log_every=1,
)  # fmt: skip


def quiet(line: dict) -> None:
    pass


def test_options_reach_the_environment() -> None:
    assert describe(SINGLE)[1].discrete
    assert not describe(replace(SINGLE, env_options={"continuous": True}))[1].discrete
    longer = {"ends": [[4, "dies"]]}
    made = collector(replace(SINGLE, env_options=longer))
    for _ in range(6):
        made.step()
    assert held(made)["first"][0].tolist() == [True, False, False, False, False, True]
    with pytest.raises(ValueError, match=r"cannot make tests/Single-v0.*wings"):
        describe(replace(SINGLE, env_options={"wings": 2}))


def test_a_run_names_its_environment(capsys) -> None:
    with pytest.raises(ValueError, match="name an environment"):
        build_model(stack(["nano"]))
    assert command.train(["nano"]) == 2
    assert "name an environment (--env ID), or a preset" in capsys.readouterr().err


def test_options_come_from_the_command_line_and_from_yaml(tmp_path, monkeypatch) -> None:
    found: list[TrainConfig] = []
    monkeypatch.setattr(loop, "train", lambda config, *_: found.append(config))
    arguments = ["nano", "--env", fake_world.SINGLE, "--env-options", "continuous=true", "ends=[[4, dies]]", "who=me"]
    assert command.train([*arguments, "--rows", "3", "--processes", "--out", str(tmp_path / "run")]) == 0
    options = {"continuous": True, "ends": [[4, "dies"]], "who": "me"}
    assert found[0].env_options == options
    assert (found[0].rows, found[0].processes) == (3, True)
    checkpoint.begin(tmp_path, found[0])
    assert checkpoint.config_of(tmp_path) == found[0]
    assert from_words(to_words(options)) == options
    for wrong in ("continuous", "=3"):
        with pytest.raises(ValueError, match="KEY=VALUE"):
            from_words([wrong])
    assert stack(["nano"]).env_options == {}


NAMES = [
    {"glow": "action", "where": "reward"},
    {"glow": "first", "where": "label"},
    {"glow": "deter", "where": "proceed"},
    {"glow": "../left.rgb", "where": "front/up"},
]


@pytest.mark.parametrize("called", NAMES, ids=lambda called: " ".join(called.values()))
def test_sensors_may_be_called_anything(called, tmp_path) -> None:
    """The same experience and the same losses as under other names, in files that stay in their folder."""
    entries = []
    for names in ({}, called):
        config = replace(SINGLE, env_options={"called": names}, batch=3, imagine_steps=3)
        sensors, actions = fake_world.described(called=names)
        model = tiny.model(sensors, actions, tower="patch").requires_grad_(True)
        replay = Replay(replay_fields(config, model), config.rows, config.capacity, tmp_path / str(len(entries)))
        made = Collector(config, model, replay, seed=7)
        for _ in range(12):
            made.step()
        steps = held(made)
        terms = Learner(config, model).update(replay, np.random.default_rng(0), 0)
        entries.append((steps, terms))
        made.close()
    (steps, terms), (others, other_terms) = entries
    for name, values in steps.items():
        kind, _, sensor = name.rpartition("/")
        other = f"sensor/{called[sensor]}" if kind == "sensor" else name
        np.testing.assert_array_equal(others[other], values, err_msg=name)
    renamed = {f"decode/{called[name]}": f"decode/{name}" for name in called}
    assert {renamed.get(name, name): float(value) for name, value in other_terms.items()} == {
        name: float(value) for name, value in terms.items()
    }
    assert len(list(tmp_path.iterdir())) == 2
    assert len(list((tmp_path / "1").glob("*.bin"))) == len(steps)


def test_a_run_with_colliding_names_resumes(tmp_path) -> None:
    config = replace(RUN, env_options={"called": NAMES[0]})
    for _ in range(2):
        part = Run(config, tmp_path)
        part.segment(quiet)
        part.save()
        part.close()
    assert part.update == 2
    assert part.replay._arrays["sensor/reward"].shape[2:] == (4,)


def test_without_a_teacher_no_label_is_stored_and_no_expert_asked(monkeypatch) -> None:
    def nobody(env):
        raise AssertionError("asked for an expert")

    monkeypatch.setattr(fake_world, "Expert", nobody)
    made = collector(CONFIG)
    made.step()
    assert "label" not in held(made)
    assert made.guide is None
    for change in ({"cloning": 1.0}, {"cloning_floor": 1.0}, {"expert_share": 0.5}):
        model = made.guard.model
        assert replay_fields(replace(CONFIG, **change), model)["label"].shape == (4,)


def test_processes_of_their_own_give_the_same_experience() -> None:
    both = []
    for processes in (False, True):
        made = collector(replace(SINGLE, processes=processes, greedy_share=0.5))
        for _ in range(15):
            made.step()
        both.append((held(made), made.returns.finished))
        made.close()
    (one, scores), (other, other_scores) = both
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)
    assert scores == other_scores
    assert len(scores["reward"]) > 4


def test_an_expert_needs_the_worlds_in_the_same_process() -> None:
    config = replace(stack(["driving/stop-sign", "nano"]), rows=2, processes=True, capacity=400, sensors=("lidar",))
    model = tiny.model(*describe(replace(config, processes=False)), tower="patch")
    with pytest.raises(ValueError, match="no expert to learn from when each environment has a process of its own"):
        Collector(config, model, Replay(replay_fields(config, model), 2, 400), 0)


def test_a_greedy_action_is_worked_out_only_if_somebody_acts_greedily(monkeypatch) -> None:
    asked: list[int] = []
    greedy = Collector._greedy
    monkeypatch.setattr(Collector, "_greedy", lambda self: asked.append(1) or greedy(self))
    collector(CONFIG).step()
    assert asked == []
    collector(replace(CONFIG, greedy_share=0.5)).step()
    assert asked == [1]


@pytest.fixture
def all_closed():
    before = set(fake_world.OPEN)
    yield
    assert before == fake_world.OPEN


@pytest.mark.usefixtures("all_closed")
@pytest.mark.parametrize(("known", "carried"), [(("glow", "where"), True), (("where",), False)])
def test_decoders_that_no_agent_lends_its_own_start_at_the_mean(known, carried, tmp_path) -> None:
    """The light glows at 0, 20, 40 and 60 of 255 in the steps of an episode; a new decoder would paint grey."""
    lender = build_model(replace(RUN, sensors=known, seed=5))
    store.save(lender, tmp_path / "lender")
    with closing(Run(replace(RUN, start=str(tmp_path / "lender")), tmp_path / "run")) as run:
        run._collect()
        painted = {model: model.decode(model.initial(1)) for model in (run.model, lender)}
    assert torch.equal(painted[run.model]["where"], painted[lender]["where"])
    if carried:
        assert torch.equal(painted[run.model]["glow"], painted[lender]["glow"])
    else:
        assert painted[run.model]["glow"].mean().item() == pytest.approx(0.1, abs=0.06)


class TestEnvironmentsAreClosed:
    """Whatever happens."""

    def test_after_a_run(self, tmp_path) -> None:
        train(RUN, tmp_path, quiet)

    def test_when_a_run_is_stopped_or_fails(self, tmp_path) -> None:
        for error in (KeyboardInterrupt, ZeroDivisionError):

            def fail(line: dict, error: type[BaseException] = error) -> None:
                raise error

            with pytest.raises(error):
                train(RUN, tmp_path, fail)

    def test_when_a_run_cannot_go_on(self, tmp_path, monkeypatch) -> None:
        first = Run(RUN, tmp_path)
        first.segment(quiet)
        first.save()
        first.close()
        monkeypatch.setattr(Collector, "restore", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(RUN, tmp_path, quiet)

    def test_when_the_log_cannot_be_opened(self, tmp_path) -> None:
        first = Run(RUN, tmp_path)
        first.segment(quiet)
        first.save()
        first.close()
        (tmp_path / "log.jsonl").mkdir()
        with pytest.raises(IsADirectoryError):
            train(RUN, tmp_path, quiet)

    def test_when_there_is_no_expert(self) -> None:
        with pytest.raises(ValueError, match="no expert"):
            collector(replace(SINGLE, cloning=1.0))

    def test_when_a_model_is_built_or_cannot_be(self, monkeypatch) -> None:
        build_model(RUN)
        monkeypatch.setattr("tests.fake_world.world.CHOICES", Dict())
        with pytest.raises(ValueError, match="actions must be"):
            build_model(RUN)

    def test_when_an_agent_is_shipped_or_cannot_be(self, tmp_path, monkeypatch) -> None:
        train(RUN, tmp_path / "run", quiet)
        sizes = {"episodes": 2, "rows": 2, "steps": 20, "threads": 1, "into": tmp_path / "models"}
        folder = ship.ship(tmp_path / "run", "fake/base", "wiser train", **sizes)
        assert folder == tmp_path / "models" / "fake" / "base"
        assert (folder / "calibration.json").exists()
        assert store.load(folder).sensors[0].name == "glow"
        monkeypatch.setattr(ship, "calibrate", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ship.ship(tmp_path / "run", "fake/base", "wiser train", **sizes)
