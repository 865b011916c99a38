"""Each novelty does what it says, to the representations it should, from the step it should; and it can be undone."""

from itertools import pairwise

import numpy as np
import pytest

from tests.envs.crafter.worlds import lay, meadow, put
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.looks import DeceptiveCow
from wiser.envs.crafter.names import NOVELTIES, SENSORS
from wiser.envs.crafter.novelty import Novelty
from wiser.envs.crafter.package import objects
from wiser.envs.crafter.pictures import COLOURS
from wiser.envs.domain import domain_of
from wiser.envs.vector import make_rows

SHORT = "wiser/CrafterShort-v0"
FOUR = ("birdeye", "grayscale", "semantic", "danger")


def told(info) -> set[str]:
    return {name for name, intensity in zip(SENSORS, info["fault_intensity"], strict=True) if intensity > 0}


def both(prepare, name: str, **how):
    """The next observation of the same world, without and with a novelty, and what is told of the latter."""
    seen = []
    for novelty in (None, Novelty(name, **how)):
        env = meadow()
        prepare(env)
        env.novelty = novelty
        observation, *_, info = env.step(0)
        seen.append(observation)
    differs = {name for name in SENSORS if not np.array_equal(*(observation[name] for observation in seen))}
    return seen, differs, told(info)


def zombie_in_view(env) -> None:
    thing = put(env, objects.Zombie, 3, 0)
    thing.update = lambda: None


def zombie_far_away(env) -> None:
    thing = put(env, objects.Zombie, 12, 0)
    thing.update = lambda: None


def cow_in_view(env) -> None:
    for x in (-3, -2, 2, 3):
        put(env, objects.Cow, x, 2).update = lambda: None


@pytest.mark.parametrize(("prepare", "expected"), [
    (zombie_in_view, set(FOUR)), (zombie_far_away, {"semantic", "danger"}), (cow_in_view, set()),
    (lambda env: None, set()),
])  # fmt: skip
def test_a_hidden_enemy_shows_as_a_yellow_blob_and_on_no_map_of_dangers(prepare, expected) -> None:
    (clean, novel), differs, truth = both(prepare, "hidden-enemy")
    assert differs == truth == expected
    if prepare is zombie_in_view:
        cell = np.s_[22:26, 50:54]  # (3, 0) from the middle of 9 x 7 cells of 7 pixels
        red, green, blue = novel["birdeye"][cell].reshape(-1, 3).mean(0)
        assert red > green > 3 * blue
        assert novel["semantic"][32, 35].tolist() == list(COLOURS["blob"])
        assert clean["danger"][32, 35, 0] == 255
        assert novel["danger"][..., 0].max() == 0


@pytest.mark.parametrize("name", [None, "hidden-enemy"])
def test_a_hidden_enemy_hits_like_a_zombie(name) -> None:
    env = meadow()
    env.novelty = name and Novelty(name)
    put(env, objects.Zombie, 1, 0).move = lambda direction: None
    assert [env.step(0)[4]["damage"] for _ in range(7)] == [2, 0, 0, 0, 0, 0, 2]


def test_a_deceptive_cow_looks_like_a_cow_and_hits_like_a_zombie() -> None:
    env = meadow()
    cows = [put(env, objects.Cow, x, y) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (5, 5), (-5, 5), (6, 0), (0, 6))]
    env.novelty = Novelty("deceptive-enemy")
    observation, *_, info = env.step(0)
    wicked = [type(cow) is DeceptiveCow for cow in cows]
    assert 0 < sum(wicked) < len(cows)
    assert told(info) == set(FOUR)
    assert all(observation["semantic"][cow.pos[1], cow.pos[0]].tolist() == list(COLOURS["cow"]) for cow in cows)
    assert observation["danger"][..., 0].max() == 0
    assert env.step(0)[4]["damage"] >= 2
    env.novelty = None
    env.step(0)
    assert all(type(cow) is objects.Cow for cow in cows)
    env.game.player.health = 9
    assert sum(env.step(0)[4]["damage"] for _ in range(10)) == 0


def test_the_picture_of_a_deceptive_cow_is_that_of_a_cow() -> None:
    """So it is no picture that changed, but what is behind it: an honest one would show a zombie."""
    (clean, novel), differs, truth = both(cow_in_view, "deceptive-enemy")
    assert differs == set()
    assert truth == set(FOUR)
    honest = meadow()
    cow_in_view(honest)
    honest.novelty = Novelty("deceptive-enemy")
    honest.step(0)
    assert not np.array_equal(honest.game._unnoticed(honest.game.render), clean["birdeye"])
    assert np.array_equal(novel["birdeye"], clean["birdeye"])


def test_a_slain_deceptive_cow_is_beef() -> None:
    env = meadow()
    env.game.player.inventory.update(iron_sword=1, food=2)
    env.game.player.facing = (1, 0)
    put(env, objects.Cow, 1, 0).lot = 0.0
    env.novelty = Novelty("deceptive-enemy")
    env.step(0)
    assert env.step(5)[4]["eat_cow"]
    assert env.game.player.inventory["food"] == 8


def test_novel_colours_are_those_of_grass_and_of_nothing_else() -> None:
    def shore(env) -> None:
        for y in range(-4, 5):
            for x in range(1, 5):
                lay(env, "water", x, y)

    (clean, novel), differs, truth = both(shore, "novel-colors")
    assert differs == truth == {"birdeye", "grayscale"}
    changed = (clean["birdeye"] != novel["birdeye"]).any(-1)
    assert changed[:49, :28].all()
    assert not changed[:49, 36:].any()
    assert not changed[50:].any()  # the inventory
    red, green, blue = novel["birdeye"][:20, :20].reshape(-1, 3).mean(0)
    assert min(red, green) > 2 * blue


def test_no_grass_no_novel_colours() -> None:
    def desert(env) -> None:
        env.game.world._mat_map[:] = env.game.world._mat_ids["sand"]

    assert both(desert, "novel-colors")[1:] == (set(), set())


def test_inverted_health_is_what_is_lacking() -> None:
    def hurt(env) -> None:
        env.game.player.health = 3
        env.game.player._last_health = 3

    (clean, novel), differs, truth = both(hurt, "invert-health")
    assert differs == truth == {"health_trail"}
    assert clean["health_trail"][32, 32, 0] == 85
    assert novel["health_trail"][32, 32, 0] == 170


@pytest.mark.parametrize("name", NOVELTIES)
def test_half_the_intensity_is_told_and_nothing_at_none(name) -> None:
    def crowd(env) -> None:
        for x in range(-4, 5):
            put(env, objects.Zombie, x, -3).update = lambda: None
            put(env, objects.Cow, x, 3).update = lambda: None

    for intensity in (0.5, 0.0):
        env = meadow()
        crowd(env)
        env.novelty = Novelty(name, intensity=intensity)
        info = env.step(0)[4]
        assert set(info["fault_intensity"].tolist()) == ({0.0, 0.5} if intensity else {0.0})


def test_it_begins_at_its_step_and_at_its_share_of_the_steps() -> None:
    env = CrafterEnv()
    env.novelty = Novelty("invert-health", onset=3)
    assert not told(env.reset(seed=0)[1])
    assert [bool(told(env.step(0)[4])) for _ in range(5)] == [False, False, True, True, True]
    env.novelty = Novelty("invert-health", proportion=0.3)
    infos = [env.reset(seed=0)[1], *(env.step(0)[4] for _ in range(99))]
    assert 15 < sum(bool(told(info)) for info in infos) < 45
    env.novelty = Novelty("invert-health")
    assert told(env.reset(seed=0)[1]) == {"health_trail"}, "the first observation is step 0"


def test_it_can_be_switched_at_any_step() -> None:
    """And leaves nothing behind: afterwards the world is drawn as if it had never been."""
    one, other = CrafterEnv(), CrafterEnv()
    one.reset(seed=6)
    other.reset(seed=6)
    for step in range(24):
        one.novelty = None if step % 3 == 2 else Novelty(NOVELTIES[::2][step % 2])  # those that leave creatures alone
        seen, plain = one.step(1 + step % 4)[0], other.step(1 + step % 4)[0]
        equal = [np.array_equal(seen[name], plain[name]) for name in SENSORS]
        assert all(equal) == (one.novelty is None or not one._info(0.0)["fault_intensity"].any())


def test_all_that_looks_different_is_told_as_such_through_a_whole_day() -> None:
    """The truth against a rule: who is in view, and whether there is any on the map."""
    env = CrafterEnv()
    env.novelty = Novelty("hidden-enemy")
    env.reset(seed=900_004)
    env.game._step = 150
    dice, seen = np.random.default_rng(0), set()
    for _ in range(60):
        *_, over, _, info = env.step(int(dice.integers(5)))
        if over:
            break
        zombies = [t.pos - env.game.player.pos for t in env.game.world.objects if isinstance(t, objects.Zombie)]
        near = any(abs(x) <= 4 and abs(y) <= 3 for x, y in zombies)
        expected = {*(("birdeye", "grayscale") if near else ()), *(("semantic", "danger") if zombies else ())}
        assert told(info) == expected
        seen.add(frozenset(expected))
    assert len(seen) >= 2


@pytest.mark.parametrize("processes", [False, True])
def test_as_a_disturbance_it_reaches_every_row(processes) -> None:
    novelty = domain_of("CrafterShort").novelties["invert-health"](intensity=1.0, proportion=0.5, onset=1, seed=3)
    rows = novelty.apply(make_rows(SHORT, 2, processes=processes), 4)
    try:
        assert rows.sensor_names == SENSORS
        truths = [rows.reset(seed=0)[1]["fault_intensity"]]
        truths += [rows.step(np.array([0, 0]))[4]["fault_intensity"] for _ in range(12)]
    finally:
        rows.close()
    column = np.stack(truths)[..., SENSORS.index("health_trail")]  # (T, B)
    assert not column[0].any()
    assert all(0 < share < 1 for share in column[1:].mean(0))
    assert (column[:, 0] != column[:, 1]).any(), "every row draws its own numbers"
    again = CrafterEnv()
    again.novelty = Novelty("invert-health", proportion=0.5, onset=1, seed=3, row=5)
    alone = [again.reset(seed=1)[1], *(again.step(0)[4] for _ in range(12))]
    assert [info["fault_intensity"][4] for info in alone] == column[:, 1].tolist()


def test_episodes_draw_numbers_of_their_own() -> None:
    env = CrafterEnv()
    env.novelty = Novelty("invert-health", proportion=0.5)
    runs = []
    for seed in (0, None, None):
        runs.append([bool(told(info)) for info in (env.reset(seed=seed)[1], *(env.step(0)[4] for _ in range(15)))])
    assert all(one != other for one, other in pairwise(runs))


@pytest.mark.parametrize(("wrong", "said"), [
    ({"name": "fog"}, "there are hidden-enemy"), ({"intensity": 1.5}, "from 0 to 1"),
    ({"proportion": -0.1}, "from 0 to 1"), ({"onset": -1}, "step 0 or later"),
])  # fmt: skip
def test_mistakes_are_named(wrong, said) -> None:
    with pytest.raises(ValueError, match=said):
        Novelty(**{"name": "hidden-enemy", **wrong})
