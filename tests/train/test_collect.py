"""What the replay holds of each step, worked out by hand for a world whose every number says where it comes from."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests import fake_world, tiny
from wiser.train.collect import Collector, make_env
from wiser.train.config import TrainConfig
from wiser.train.experience import replay_fields
from wiser.train.loop import Run, train
from wiser.train.replay import Replay
from wiser.worldmodel.protocol import Belief

CONFIG = TrainConfig(env=fake_world.VECTOR, rows=2, length=4, batch=2, capacity=400, threads=1, expert_noise=0.0)

# Row 0 begins with seed 7, row 1 with seed 8; episodes last 3 (death), 2 (cut off), 4 (cut off) and 1 (death) steps.
# (episode, step) of the observation, reward of row 0, whether it begins an episode, whether life goes on
STORY = [
    ((0, 0), 0.0, True, True),
    ((0, 1), 701.0, False, True),
    ((0, 2), 702.0, False, True),
    ((0, 3), 703.0, False, False),
    ((1, 0), 0.0, True, True),
    ((1, 1), 711.0, False, True),
    ((1, 2), 712.0, False, True),
    ((2, 0), 0.0, True, True),
    ((2, 1), 721.0, False, True),
    ((2, 2), 722.0, False, True),
    ((2, 3), 723.0, False, True),
    ((2, 4), 724.0, False, True),
    ((3, 0), 0.0, True, True),
    ((3, 1), 731.0, False, False),
    ((4, 0), 0.0, True, True),
]


def collector(config: TrainConfig = CONFIG, seed: int = 7) -> Collector:
    sensors, actions = fake_world.described(continuous=config.env == fake_world.CONTINUOUS)
    model = tiny.model(sensors, actions, tower="patch")
    return Collector(config, model, Replay(replay_fields(config, model), config.rows, config.capacity), seed)


def held(collector: Collector) -> dict[str, np.ndarray]:
    """Everything stored, (rows, steps, ...)."""
    replay = collector.replay
    assert replay.head <= replay.length
    return {name: np.array(array[:, : replay.head]) for name, array in replay._arrays.items()}


def run(steps: int, share: float = 0.0, config: TrainConfig = CONFIG) -> tuple[Collector, dict[str, np.ndarray]]:
    made = collector(replace(config, expert_share=share))
    for _ in range(steps):
        made.step(share)
    return made, held(made)


@pytest.mark.parametrize("env", [fake_world.VECTOR, fake_world.SINGLE])
def test_every_step_has_its_own_reward_beginning_and_end(env: str) -> None:
    _, steps = run(len(STORY), config=replace(CONFIG, env=env))
    for row, seed in enumerate((7, 8)):
        assert steps["sensor/where"][row, :, :3].tolist() == [[seed, *place] for place, *_ in STORY]
        assert steps["sensor/glow"][row, :, 3, 5, 0].tolist() == [20 * step for (_, step), *_ in STORY]
        expected = [reward + 100.0 * row * (reward > 0) for _, reward, *_ in STORY]
        assert steps["signal/reward"][row].tolist() == expected, (
            "the reward that came with the observation, of the same row"
        )
        assert steps["first"][row].tolist() == [first for *_, first, _ in STORY]
        assert steps["proceed"][row].tolist() == [on for *_, on in STORY], "only death ends a life, no time limit does"


def test_rewards_are_scaled_for_the_model_and_only_for_it() -> None:
    made, steps = run(5, config=replace(CONFIG, reward_scale=0.5))
    assert steps["signal/reward"][0].tolist() == [0.0, 350.5, 351.0, 351.5, 0.0]
    assert made.returns.finished["reward"] == [701.0 + 702.0 + 703.0, 801.0 + 802.0 + 803.0]


@pytest.mark.parametrize("env", [fake_world.VECTOR, fake_world.CONTINUOUS])
def test_an_action_is_stored_with_the_observation_it_led_to(env: str) -> None:
    _, steps = run(15, 0.5, replace(CONFIG, env=env))
    going = ~steps["first"]
    told = steps["sensor/where"][..., 3:].reshape(*going.shape, -1)  # what the world says was done to it
    stored = steps["action"].reshape(*going.shape, -1)
    np.testing.assert_array_equal(stored[going], told[going])
    assert len(np.unique(stored[going], axis=0)) > 3
    if env == fake_world.CONTINUOUS:
        assert (stored >= [-2, 0]).all()
        assert (stored <= [2, 1]).all()
    else:
        assert set(np.unique(stored)) <= {1, 2, 3, 4}


def test_labels_are_what_the_expert_would_do_in_that_state_whoever_acts() -> None:
    _, steps = run(15, 0.5)
    for row, seed in enumerate((7, 8)):
        expert = [fake_world.expert_of(seed, episode, step, False) for (episode, step), *_ in STORY]
        assert (steps["label"][row].argmax(1) + 1).tolist() == expert
        np.testing.assert_array_equal(steps["label"][row].sum(1), 1.0)


def test_continuous_labels_are_written_on_the_scale_of_the_model() -> None:
    _, steps = run(15, 0.5, replace(CONFIG, env=fake_world.CONTINUOUS))
    commands = np.stack([fake_world.expert_of(7, episode, step, True) for (episode, step), *_ in STORY])
    np.testing.assert_allclose(steps["label"][0], commands / [2.0, 0.5] - [0.0, 1.0], atol=2e-3)


@pytest.mark.parametrize(("share", "guided"), [(0.0, 0), (0.25, 1), (0.5, 2), (1.0, 4)])
def test_the_expert_drives_the_first_rows_and_the_policy_the_others(share: float, guided: int) -> None:
    _, steps = run(30, share, replace(CONFIG, rows=4, cloning=1.0))
    expert, going = steps["label"].argmax(-1)[:, :-1] + 1, ~steps["first"][:, 1:]
    same = [(steps["action"][row, 1:] == expert[row])[going[row]] for row in range(4)]
    assert all(row.all() for row in same[:guided])
    assert not any(row.all() for row in same[guided:])


def test_a_noisy_expert_acts_at_random_as_often_as_it_is_told_to() -> None:
    config = replace(CONFIG, rows=16, expert_noise=0.4, capacity=10_000)
    _, steps = run(200, 1.0, config)
    off = steps["action"][:, 1:] != steps["label"].argmax(-1)[:, :-1] + 1
    assert off[~steps["first"][:, 1:]].mean() == pytest.approx(0.4 * 3 / 4, abs=0.03)
    _, wild = run(100, 1.0, replace(config, expert_noise=1.0, env=fake_world.CONTINUOUS))
    drawn = wild["action"][:, 1:][~wild["first"][:, 1:]]
    np.testing.assert_allclose(drawn.mean(0), [0.0, 0.5], atol=0.15)
    np.testing.assert_allclose(drawn.std(0), [4 / np.sqrt(12), 1 / np.sqrt(12)], rtol=0.1)


def test_greedy_rows_take_the_mode_of_the_policy_and_the_others_explore() -> None:
    made = collector(replace(CONFIG, rows=4, greedy_share=0.5))
    chosen, modes = [], []
    for _ in range(25):
        made.step(0.0)
        chosen.append(made.action)
        modes.append(made.guard.model.act(made.guard.belief).argmax(1).numpy() + 1)
    same = np.stack(chosen) == np.stack(modes)
    assert same[:, 2:].all()
    assert not same[:, 0].all()
    assert not same[:, 1].all()


def test_beliefs_follow_the_actions_that_were_carried_out() -> None:
    """h_t is one recurrent step from what is stored of t - 1, by the expert's actions as well as by the policy's."""
    made, steps = run(15, 0.5)
    model = made.guard.model
    codes = torch.nn.functional.one_hot(torch.from_numpy(steps["stoch"]).long(), model.config.classes).float()
    deter, action = torch.from_numpy(steps["deter"]).float(), torch.eye(4)[torch.from_numpy(steps["action"]) - 1]
    first = torch.from_numpy(steps["first"])
    for t in range(1, 15):
        prior = model.predict(Belief(deter[:, t - 1], codes[:, t - 1]), action[:, t], first[:, t])
        torch.testing.assert_close(deter[:, t], prior.deter, atol=5e-3, rtol=0)


def test_only_episodes_of_the_policy_are_scored() -> None:
    made, _ = run(8, 0.5)
    assert made.returns.finished["reward"] == [801.0 + 802.0 + 803.0, 811.0 + 812.0], "row 0 is the expert's"


def test_an_episode_that_the_expert_drove_in_part_is_not_the_policys() -> None:
    made = collector(replace(CONFIG, expert_share=0.5))
    made.step(0.5)  # the first of three steps of row 0 is the expert's, the second episode is the policy's
    for _ in range(7):
        made.step(0.0)
    assert set(made.returns.finished["reward"]) == {711.0 + 712.0, 801.0 + 802.0 + 803.0, 811.0 + 812.0}


def test_evaluations_do_not_wait_for_a_checkpoint(tmp_path) -> None:
    config = replace(LASTING, updates=6, segment=100, evaluate_every=2)
    said: list[dict] = []
    train(config, tmp_path, said.append)
    assert [line["update"] for line in said if "score" in line] == [2, 4, 6]


@pytest.mark.parametrize("env", [fake_world.VECTOR, fake_world.CONTINUOUS, fake_world.SINGLE])
def test_a_restored_collector_goes_on_exactly(env: str) -> None:
    share = 0.0 if env == fake_world.SINGLE else 0.5
    config = replace(CONFIG, env=env, greedy_share=0.5, expert_noise=0.3, expert_share=share)
    whole, first, again = (collector(config) for _ in range(3))
    for step in range(19):
        whole.step(share)
        if step < 9:
            first.step(share)
    tensors, about = first.state()
    again.restore(tensors, json.loads(json.dumps(about)))
    for _ in range(10):
        again.step(share)
    expected, found = held(whole), held(again)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name][:, 9:], err_msg=name)
    assert again.returns.finished == whole.returns.finished
    np.testing.assert_array_equal(again.taken, whole.taken)


def test_a_world_that_does_not_repeat_itself_begins_afresh_with_a_warning() -> None:
    config = replace(CONFIG, env=fake_world.NEVER_THE_SAME)
    first, again = collector(config), collector(config)
    for _ in range(6):
        first.step(0.0)
    with pytest.warns(UserWarning, match="not deterministic"):
        again.restore(*first.state())
    again.step(0.0)
    steps = held(again)
    assert steps["first"].tolist() == [[True], [True]]
    assert steps["sensor/where"][:, 0, 1:3].tolist() == [[0, 0], [0, 0]]
    assert len(again.taken) == 1, "what it was told to repeat is no part of its new life"


def test_a_world_without_an_expert_is_refused_where_one_is_needed() -> None:
    for change in ({"cloning": 1.0}, {"expert_share": 0.5}):
        with pytest.raises(ValueError, match="no expert"):
            collector(replace(CONFIG, env=fake_world.SINGLE, **change))


def test_a_world_that_begins_episodes_in_another_way_is_refused() -> None:
    with pytest.raises(ValueError, match="NEXT_STEP"):
        make_env(replace(CONFIG, env=fake_world.SAME_STEP), 2)


LASTING = TrainConfig(
    env=fake_world.LASTING, size="nano", rows=2, batch=2, length=4, prefill=5, capacity=400, updates=9, segment=3,
    life=6, warmup=0, imagine_steps=3, evaluate_every=100, evaluate_episodes=1, log_every=3, threads=1,
)  # fmt: skip


def places(run: Run) -> np.ndarray:
    """(episode, step) of row 0, in the order they were collected."""
    return np.array(run.replay._arrays["sensor/where"][0, : run.replay.head, 1:3])


def test_episodes_go_on_across_checkpoints_and_begin_afresh_after_a_life(tmp_path) -> None:
    """Five steps before learning, one per update; a checkpoint every three updates, new environments after six."""
    for _ in range(3):
        whole = Run(LASTING, tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            whole.segment(lambda line: None)
        whole.save()
        whole.close()
    assert whole.update == 9
    assert places(whole).tolist() == [[0, step] for step in (*range(5 + 6), *range(3))]
    seeds = np.unique(whole.replay._arrays["sensor/where"][:, : whole.replay.head, 0])
    assert len(seeds) == 4, "two rows in each of two lives"


def test_a_run_ends_where_it_would_have_without_the_checkpoints(tmp_path) -> None:
    together, apart = tmp_path / "together", tmp_path / "apart"
    whole = Run(replace(LASTING, segment=9), together)
    whole.segment(lambda line: None)
    for _ in range(3):
        part = Run(LASTING, apart)
        part.segment(lambda line: None)
        part.save()
        part.close()
    assert np.array_equal(places(whole), places(part))
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, part.model.state_dict()[name]), name
    whole.close()


def test_training_takes_a_single_environment_too(tmp_path) -> None:
    config = replace(LASTING, env=fake_world.SINGLE, updates=2, segment=2, evaluate_every=2)
    lines: list[dict] = []
    train(config, tmp_path, lines.append)
    seen = [line for line in lines if "score" in line]
    expected = sum(fake_world.reward_of(1_000_000, 0, step) for step in (1, 2, 3))
    assert [line["score"] for line in seen] == [pytest.approx(expected)]
    assert [line["length"] for line in seen] == [3.0]
