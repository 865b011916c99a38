"""The representations against what they say, cell by cell and by hand."""

import numpy as np
import pytest

from tests.envs.crafter.worlds import MIDDLE, lay, meadow, put
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.looks import Look
from wiser.envs.crafter.package import objects
from wiser.envs.crafter.pictures import COLOURS, DANGER_SPREAD, EACH, Trail, danger, proximity

HONEST = Look()


def maps(env):
    game = env.game
    return game.world, game.world.objects, game.player


def test_the_semantic_view_has_a_pixel_for_every_cell() -> None:
    env = CrafterEnv()
    seen = env.reset(seed=2)[0]["semantic"]
    world, things, _ = maps(env)
    kinds = {objects.Player: "player", objects.Cow: "cow", objects.Zombie: "zombie", objects.Skeleton: "skeleton"}
    told = {tuple(thing.pos): kinds[type(thing)] for thing in things}
    assert len({*told.values()}) == 4
    for x in range(64):
        for y in range(64):
            assert tuple(seen[y, x]) == COLOURS[told.get((x, y), world[x, y][0])]


def test_every_kind_has_a_colour_of_its_own() -> None:
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_grayscale_is_the_default_view_without_colour() -> None:
    seen, _ = CrafterEnv().reset(seed=2)
    luma = seen["birdeye"] @ np.array([0.299, 0.587, 0.114])
    assert np.abs(seen["grayscale"][..., 0] - luma).max() <= 1.0


def test_danger_fades_as_a_gaussian() -> None:
    env = meadow()
    put(env, objects.Zombie, 10, -6)
    view = danger(*maps(env), HONEST)
    y, x = np.mgrid[:64, :64]
    far = np.hypot(x - (MIDDLE[0] + 10), y - (MIDDLE[1] - 6))
    expected = 255 * np.exp(-(far**2) / (2 * DANGER_SPREAD**2))
    near = far < 3 * DANGER_SPREAD
    assert np.abs(view[near, 0] - expected[near]).max() <= 1.5
    assert view[far > 8, 0].max() == 0
    assert view[26, 42, 0] == 255
    assert view[..., 2].max() == 0


@pytest.mark.parametrize(("kind", "is_danger"), [
    (objects.Zombie, True), (objects.Skeleton, True), (objects.Cow, False), (objects.Plant, False),
])  # fmt: skip
def test_who_is_a_danger(kind, is_danger) -> None:
    env = meadow()
    put(env, kind, 5, 0)
    assert (danger(*maps(env), HONEST)[32, 37, 0] > 0) == is_danger


def test_lava_is_a_danger_and_the_player_a_green_dot() -> None:
    env = meadow()
    lay(env, "lava", -7, 3)
    view = danger(*maps(env), HONEST)
    assert view[35, 25, 0] == 255
    green = np.argwhere(view[..., 1])
    assert green.min(0).tolist() == [31, 31]
    assert green.max(0).tolist() == [33, 33]


@pytest.mark.parametrize(("x", "y", "row", "column"), [
    (3, 0, 1, 2), (-3, 0, 1, 0), (0, 4, 2, 1), (0, -4, 0, 1), (3, 3, 2, 2), (-2, 3, 2, 0), (5, 2, 1, 2), (5, 3, 2, 2),
    (-2, -5, 0, 1), (-3, -5, 0, 0), (8, -8, 0, 2),
])  # fmt: skip
def test_proximity_tells_the_direction(x, y, row, column) -> None:
    env = meadow()
    put(env, objects.Cow, x, y)
    _, things, player = maps(env)
    grid = proximity(things, player)[10::22, 10::22, 0]
    expected = np.zeros((3, 3))
    expected[row, column] = EACH
    assert np.array_equal(grid, expected)


def test_proximity_adds_up_and_ends() -> None:
    env = meadow()
    for x in range(2, 9):
        put(env, objects.Cow, x, 0)
    put(env, objects.Plant, 0, 9)
    _, things, player = maps(env)
    view = proximity(things, player)
    assert view[32, 60, 0] == 255  # 7 x 64, as far as a byte goes
    assert view[60, 32, 0] == 0  # too far away
    assert proximity([player], player).max() == 0


def test_the_trail_keeps_what_health_was_where() -> None:
    trail, player = Trail(), meadow().game.player
    player.health = 9
    trail.record(player)
    player.pos, player.health = np.array((34, 32)), 3
    trail.record(player)
    view = trail.draw(HONEST)[..., 0]
    expected = np.zeros((64, 64))
    expected[31:34, 31:34] = 255
    expected[31:34, 33:36] = 85
    assert np.array_equal(view, expected)


def test_the_trail_ends_at_the_edge() -> None:
    trail, player = Trail(), meadow().game.player
    for corner in ((0, 0), (63, 63)):
        player.pos = np.array(corner)
        trail.record(player)
    assert np.argwhere(trail.draw(HONEST)[..., 0]).tolist() == [
        [0, 0], [0, 1], [1, 0], [1, 1], [62, 62], [62, 63], [63, 62], [63, 63],
    ]  # fmt: skip
