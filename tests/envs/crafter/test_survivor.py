"""The scripted survivor: its routes are the shortest, its rooms are closed, and it does far better than chance."""

import heapq

import numpy as np
import pytest

from tests.envs.crafter.worlds import lay, meadow, put
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.looks import DeceptiveCow
from wiser.envs.crafter.names import ACTIONS
from wiser.envs.crafter.package import objects
from wiser.envs.crafter.scene import FAR, MOVES, Scene, distances, grow
from wiser.envs.crafter.shelter import build
from wiser.envs.crafter.survivor import Survivor
from wiser.envs.domain import domain_of
from wiser.envs.vector import make_rows


def dijkstra(cost, start) -> np.ndarray:
    dist, heap = np.full(cost.shape, FAR), [(0, start)]
    dist[start] = 0
    while heap:
        far, (x, y) = heapq.heappop(heap)
        for dx, dy in MOVES.values():
            a, b = x + dx, y + dy
            if 0 <= a < cost.shape[0] and 0 <= b < cost.shape[1] and cost[a, b] and far + cost[a, b] < dist[a, b]:
                dist[a, b] = far + cost[a, b]
                heapq.heappush(heap, (int(dist[a, b]), (a, b)))
    return dist


@pytest.mark.parametrize("seed", range(5))
def test_routes_are_the_shortest(seed) -> None:
    rng = np.random.default_rng(seed)
    cost = rng.choice([0, 1, 1, 3, 6], (20, 17))
    dist, first = distances(cost, 8, 9)
    assert np.array_equal(dist, dijkstra(cost, (8, 9)))
    for cell in np.argwhere((dist < FAR) & (dist > 0)):
        dx, dy = list(MOVES.values())[first[tuple(cell)]]
        step = cost[8 + dx, 9 + dy]
        assert dist[tuple(cell)] == step + dijkstra(cost, (8 + dx, 9 + dy))[tuple(cell)]


@pytest.mark.parametrize("corners", [True, False])
def test_growing_takes_in_the_neighbours(corners) -> None:
    cells = np.random.default_rng(0).random((9, 7)) < 0.1
    expected = cells.copy()
    for x, y in np.argwhere(cells):
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                inside = 0 <= x + dx < 9 and 0 <= y + dy < 7
                if inside and (corners or not (dx and dy)):
                    expected[x + dx, y + dy] = True
    assert np.array_equal(grow(cells, corners), expected)


@pytest.mark.parametrize("obstacles", [(), ((1, 0), (0, 1)), ((-1, 0), (-1, 1), (-1, -1), (1, 0), (1, 1), (1, -1))])
def test_a_room_is_built_anywhere_and_nobody_gets_in(obstacles) -> None:
    env = meadow()
    for x, y in obstacles:
        lay(env, "tree", x, y)
    env.game.player.inventory["stone"] = 9
    for _ in range(24):
        if (action := build(Scene(env.game))) is None:
            break
        env.step(ACTIONS.index(action))
    scene = Scene(env.game)
    assert scene.sheltered
    reachable, queue = {scene.here}, [scene.here]  # a plain flood
    while queue:
        x, y = queue.pop()
        for dx, dy in MOVES.values():
            cell = (x + dx, y + dy)
            if cell not in reachable and env.game.world[cell][0] in ("grass", "sand", "path"):
                reachable.add(cell)
                queue.append(cell)
    assert len(reachable) <= 4


def test_without_stones_there_is_no_room() -> None:
    assert build(Scene(meadow().game)) is None


@pytest.mark.parametrize("enemy", [objects.Zombie, DeceptiveCow])
def test_it_turns_to_whoever_attacks_and_hits(enemy) -> None:
    env = meadow()
    thing = put(env, objects.Zombie if enemy is objects.Zombie else objects.Cow, -1, 0)
    thing.__class__, thing.player, thing.cooldown = enemy, env.game.player, 5
    chosen = []
    for _ in range(4):
        chosen.append(Survivor(env.game).choose())
        env.step(ACTIONS.index(chosen[-1]))
    assert chosen == ["move_left", "do", "do", "do"]


@pytest.mark.parametrize(("what", "material"), [("drink", "water"), ("wood", "tree")])
def test_it_goes_for_what_it_lacks(what, material) -> None:
    env = meadow()
    env.game._unlocked |= {"collect_sapling", "place_plant"}
    env.game.player.inventory["drink"] = 2 if what == "drink" else 9
    lay(env, material, 4, 0)
    before, chosen = env.game.player.inventory[what], []
    for _ in range(4):
        chosen.append(Survivor(env.game).choose())
        env.step(ACTIONS.index(chosen[-1]))
    assert chosen == ["move_right"] * 3 + ["do"]
    assert env.game.player.inventory[what] == before + 1


@pytest.mark.parametrize(("there", "wanted"), [("stone", "stone"), ("tree", "wood"), ("tree stone", "wood")])
def test_it_lays_in_whatever_stock_there_is_in_view(there, wanted) -> None:
    """It lacks wood and stone, and no achievement can be gone for: no water, cow, coal, iron or enemy is in view."""
    env = meadow()
    made = {f"make_{material}_{tool}" for material in ("wood", "stone") for tool in ("pickaxe", "sword")}
    env.game._unlocked |= {"collect_sapling", "collect_wood", "collect_stone", "place_plant", "place_stone", *made}
    env.game._unlocked |= {"place_table", "place_furnace"}
    env.game.player.inventory.update(wood_pickaxe=1, stone_pickaxe=1)
    for material, side in zip(there.split(), (1, -1), strict=False):
        lay(env, material, 3 * side, 0)
    for _ in range(3):
        env.step(Survivor(env.game).action())
    assert env.game.player.inventory[wanted] == 1


def test_it_never_walks_into_lava() -> None:
    env = meadow()
    env.game.player.inventory["drink"] = 1
    for y in range(-31, 32):
        lay(env, "lava", 2, y)
    lay(env, "path", 2, 3)
    lay(env, "water", 4, 0)
    for _ in range(60):
        *_, died, _, _ = env.step(Survivor(env.game).action())
        assert not died
    assert env.game.player.inventory["drink"] > 1


@pytest.mark.parametrize("seed", range(8))
def test_what_it_cannot_see_is_nothing_to_it(seed) -> None:
    """The same choice in any world that looks the same: the picture shows 9x7 cells."""
    env, dice = CrafterEnv(1000), np.random.default_rng(seed)
    env.reset(seed=900_110 + seed)
    for _ in range(25 * seed):
        env.step(Survivor(env.game).action())
    chosen, world, (x, y) = Survivor(env.game).choose(), env.game.world, env.game.player.pos
    near = np.zeros(world.area, bool)
    near[max(0, x - 4) : x + 5, max(0, y - 3) : y + 4] = True
    for thing in [thing for thing in world.objects if not near[tuple(thing.pos)]]:
        world.remove(thing)
    changed = dice.integers(1, 1 + len(world._mat_names), world.area)
    world._mat_map[:] = np.where(near, world._mat_map, changed)
    assert Survivor(env.game).choose() == chosen


def test_it_goes_straight_on_where_there_is_nothing_and_turns_where_the_way_ends() -> None:
    env = meadow()
    env.game._unlocked |= {"collect_sapling", "place_plant"}
    for y in range(-31, 32):
        lay(env, "lava", 4, y)
    lay(env, "lava", 2, -1)
    env.game.player.facing = (1, 0)
    env.game.player.inventory["drink"] = 9
    x, y = env.game.player.pos
    for _ in range(8):
        env.step(Survivor(env.game).action())
    assert env.game.player.pos.tolist() == [x + 2, y + 6]  # one free cell ahead is the end: it turns to the open side


def play(seed: int, steps: int, survive: bool) -> tuple[float, int]:
    env, dice = CrafterEnv(length=steps), np.random.default_rng(seed)
    env.reset(seed=seed)
    survivor, score, over = Survivor(env.game), 0.0, False
    while not over:
        action = survivor.action() if survive else int(dice.integers(17))
        _, reward, terminated, truncated, _ = env.step(action)
        score, over = score + reward, terminated or truncated
    return score, len(env.game.unlocked)


def test_it_does_far_better_than_chance() -> None:
    scores = {survive: [play(seed, 200, survive) for seed in (900_100, 900_101, 900_102)] for survive in (True, False)}
    assert min(scores[True]) > max(scores[False])
    assert np.mean([unlocked for _, unlocked in scores[True]]) > 9
    assert np.mean([unlocked for _, unlocked in scores[False]]) < 6


def test_it_teaches_every_row() -> None:
    rows = make_rows("wiser/CrafterShort-v0", 2)
    rows.reset(seed=900_200)
    teacher = domain_of("CrafterShort").teacher(rows)
    expected = [Survivor(one.unwrapped.game).action() for one in rows.unwrapped.envs]
    assert teacher.actions().tolist() == expected
    assert teacher.policy() is None
    rows.close()
