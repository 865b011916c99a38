"""How fast the driving world is on one core, beside highway-env's image observation in the same run.

Ours: Four Lane, 20 cars, all six image sensors, traffic, rewards and autoreset included. highway-env: its motorway
with four lanes and 20 cars at the same 10 Hz, one grey top-down image of the same size.
"""

from __future__ import annotations

import time

import gymnasium
import numpy as np

from wiser.envs.driving.env import DrivingVectorEnv
from wiser.extras import install_hint

REPEATS, SECONDS = 5, 1.0


def best_rate(step, worlds: int) -> float:
    """Steps per second, the best of several repeats: neighbours on the machine only ever slow it down."""
    best = 0.0
    for _ in range(REPEATS):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            step()
            count += worlds
        best = max(best, count / (time.perf_counter() - start))
    return best


def ours(batch: int, size: int) -> float:
    env = DrivingVectorEnv(batch, "FourLane", size=size, cars=20)
    env.reset(seed=0)
    dice = np.random.default_rng(0)
    actions = [dice.integers(15, size=batch) for _ in range(64)]
    turn = iter(range(10**9))
    return best_rate(lambda: env.step(actions[next(turn) % 64]), batch)


def memory_per_world(size: int) -> float:
    """Bytes of all arrays of a batch, per world, in kB; maps and textures are shared and not counted."""
    env = DrivingVectorEnv(16, "FourLane", size=size, cars=20)
    world = env.world
    arrays = [env._images, world.ego, world.velocity, *world.traffic, *vars(world.progress).values()]
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray)) / 16 / 1024


def highway(size: int) -> float | None:
    try:
        import highway_env
    except ImportError:
        print(f"highway-env is not installed: {install_hint('bench')}")
        return None
    gymnasium.register_envs(highway_env)
    # At 10 Hz it simulates once per step, as we do: the setting in which it is fastest.
    image = {"type": "GrayscaleObservation", "observation_shape": (size, size), "stack_size": 1, "scaling": 1.75,
             "weights": [0.2989, 0.587, 0.114]}  # fmt: skip
    config = {"observation": image, "lanes_count": 4, "vehicles_count": 20, "policy_frequency": 10,
              "simulation_frequency": 10, "duration": 50, "offscreen_rendering": True}  # fmt: skip
    env = gymnasium.make("highway-v0", config=config)
    env.reset(seed=0)

    def step() -> None:
        _, _, terminated, truncated, _ = env.step(1)
        if terminated or truncated:
            env.reset()

    return best_rate(step, 1)


def main() -> None:
    memory = {size: memory_per_world(size) for size in (64, 128)}
    rates = {}
    for size in (64, 128):
        for batch in (1, 16):
            rates[size, batch] = ours(batch, size)
            print(f"driving_steps_per_second size={size} batch={batch} cars=20 rate={rates[size, batch]:.0f}")
    for size, kilobytes in memory.items():
        print(f"driving_memory_per_world size={size} kB={kilobytes:.0f}")
    peer = highway(64)
    if peer is not None:
        print(f"highway_steps_per_second size=64 grey rate={peer:.1f}")
        print(f"driving_vs_highway ratio={rates[64, 16] / peer:.1f}")


if __name__ == "__main__":
    main()
