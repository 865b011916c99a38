"""sheeprl's DreamerV3 in its current form (`dreamer_v3_5`) on a small task: its own `main`, run by its own launcher.

Player, replay with stored latents and online queue, episode ends, replay ratio, optimiser and slow critic are all its
own code and its own settings, but for what the recipe says and the size, which is our `nano`. Two things are added. Its
`build_agent` is wrapped so that training pauses for an evaluation whenever one is due: a second player on the same
networks takes the most likely actions, and the random numbers of the training stay as they were. And it is helped to be
fast where that changes no arithmetic: freed memory is kept, as ours does, and convolutions are laid out channels last,
as it does itself on a GPU, which halves the time of an update with images.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest import mock

import gymnasium
import hydra
import numpy as np
import sheeprl
import torch
from omegaconf import OmegaConf
from serve import parameter_count
from sheeprl.algos.dreamer_v3_5 import dreamer_v3_5
from sheeprl.algos.dreamer_v3_5.agent import PlayerDV3_5
from sheeprl.algos.dreamer_v3_5.utils import prepare_obs
from sheeprl.cli import run_algorithm
from sheeprl.utils.env import make_env
from sheeprl.utils.utils import dotdict
from small_tasks import EPISODES, HELD_OUT, Curve, Options, options

from wiser.train.memory import keep_freed_memory

NANO = [
    "algo.dense_units=128", "algo.cnn_channels_multiplier=8", "algo.world_model.stochastic_size=16",
    "algo.world_model.discrete_size=16", "algo.world_model.recurrent_model.recurrent_state_size=256",
    "algo.world_model.recurrent_model.hidden_size=128",
]  # fmt: skip


def configuration(run: Options, folder: str) -> dotdict:
    """Its own experiment with our size and recipe, nothing logged or saved."""
    recipe = run.recipe
    spaces = gymnasium.spec(run.task).make().observation_space
    images = [name for name, space in spaces.items() if len(space.shape) == 3]
    vectors = [name for name in spaces if name not in images]
    changes = [
        "exp=dreamer_v3_5", "env=gym", f"env.id={run.task}", "~env.wrapper.render_mode", "env.sync_env=True",
        "env.capture_video=False", f"env.num_envs={recipe.rows}", f"seed={run.seed}", f"log_root={folder}",
        "run_name=run", "float32_matmul_precision=highest", "metric.log_level=0", "checkpoint.every=0",
        "checkpoint.save_last=False", "buffer.memmap=False", "buffer.size=60000", "algo.run_test=False",
        "model_manager.disabled=True", f"algo.cnn_keys.encoder=[{','.join(images)}]",
        f"algo.mlp_keys.encoder=[{','.join(vectors)}]", f"algo.total_steps={recipe.steps}",
        f"algo.learning_starts={recipe.begin}", f"algo.replay_ratio={1 / (recipe.rows * recipe.steps_per_update)}",
        f"algo.per_rank_batch_size={recipe.batch}", f"algo.per_rank_sequence_length={recipe.length}",
        f"algo.optimizer.lr={recipe.rate}", f"algo.optimizer.warmup={recipe.warmup}",
    ]  # fmt: skip
    with hydra.initialize_config_module("sheeprl.configs", version_base="1.3"):
        config = hydra.compose("config", changes + NANO)
    return dotdict(OmegaConf.to_container(config, resolve=True))


def evaluate(fabric: Any, config: dotdict, player: PlayerDV3_5) -> np.ndarray:
    """Returns of whole episodes, one per seed, side by side, with the most likely actions."""
    envs = gymnasium.vector.SyncVectorEnv([make_env(config, 0, 0) for _ in range(EPISODES)])
    obs, _ = envs.reset(seed=HELD_OUT)
    player.init_states()
    running, score = np.ones(EPISODES, bool), np.zeros(EPISODES)
    while running.any():
        seen = prepare_obs(fabric, obs, cnn_keys=config.algo.cnn_keys.encoder, num_envs=EPISODES)
        actions = player.get_actions(seen, greedy=True)
        played = actions if player.actor.is_continuous else [one_hot.argmax(-1) for one_hot in actions]
        played = torch.stack(list(played), -1).cpu().numpy().reshape(envs.action_space.shape)
        obs, reward, terminated, truncated, _ = envs.step(played)
        score += np.where(running, reward, 0.0)
        running &= ~(terminated | truncated)
    envs.close()
    return score


class Observer:
    """Evaluates the agent that `main` trains: its player is asked once per step of all rows, which is counted here."""

    def __init__(self, run: Options, config: dotdict) -> None:
        self.run, self.config = run, config
        self.calls, self.updates, self.updating = 0, 0, 0.0
        self.curve: Curve | None = None
        self._evaluate: Callable[[], np.ndarray] = lambda: np.zeros(0)

    @contextmanager
    def attached(self) -> Any:
        """Watch whatever `main` builds and trains inside."""
        with (
            mock.patch.object(dreamer_v3_5, "build_agent", self._building(dreamer_v3_5.build_agent)),
            mock.patch.object(dreamer_v3_5, "train", self._timed(dreamer_v3_5.train)),
        ):
            yield

    def look(self) -> None:
        """Evaluate if it is time to; every update due by now has been done."""
        steps, recipe = self.calls * self.run.recipe.rows, self.run.recipe
        if steps > recipe.begin and (steps - recipe.begin) % recipe.every == 0:
            with torch.random.fork_rng(), torch.inference_mode():
                torch.manual_seed(HELD_OUT)
                scores = self._evaluate()
            assert self.curve is not None
            self.curve.add(steps, float(scores.mean()), scores.tolist())

    def _building(self, build: Callable[..., Any]) -> Callable[..., Any]:
        def built(fabric: Any, actions: Any, continuous: bool, config: Any, *rest: Any) -> Any:
            agent = build(fabric, actions, continuous, config, *rest)
            *modules, _, player = agent
            parameters = parameter_count(*modules)
            for module in (modules[0].encoder, modules[0].observation_model):
                module.to(memory_format=torch.channels_last)
            self.curve = Curve(self.run, f"sheeprl {sheeprl.__version__}", parameters)
            world = config.algo.world_model
            second = PlayerDV3_5(
                player.encoder, player.rssm, player.actor, actions, EPISODES, world.stochastic_size,
                world.recurrent_model.recurrent_state_size, fabric.device, world.discrete_size,
            )  # fmt: skip
            self._evaluate = lambda: evaluate(fabric, self.config, second)
            player.get_actions = self._counted(player.get_actions)
            return agent

        return built

    def _counted(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.look()
            self.calls += 1
            return act(*args, **kwargs)

        return counted

    def _timed(self, train: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            result = train(*args, **kwargs)
            self.updating += time.process_time() - start
            self.updates += 1
            return result

        return timed


def main() -> None:
    run = options()
    torch.set_num_threads(1)
    keep_freed_memory()
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as folder:
        config = configuration(run, folder)
        observer = Observer(run, config)
        with observer.attached():
            run_algorithm(config)
    observer.look()
    assert observer.curve is not None
    if observer.updates != run.recipe.updates:
        raise SystemExit(f"{observer.updates} updates were done, the recipe says {run.recipe.updates}")
    print(f"{observer.updating / observer.updates:.4f} CPU seconds per update", flush=True)
    observer.curve.close()


if __name__ == "__main__":
    main()
