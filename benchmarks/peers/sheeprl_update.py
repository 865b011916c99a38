"""sheeprl's DreamerV3 in its current form (`dreamer_v3_5`): its own agent, config and `train`, eager or compiled."""

from __future__ import annotations

import gymnasium
import hydra
import numpy as np
import sheeprl
import torch
from lightning.fabric import Fabric
from omegaconf import OmegaConf
from serve import ACTIONS, arguments, experience, parameter_count, serve
from sheeprl.algos.dreamer_v3_5.agent import build_agent
from sheeprl.algos.dreamer_v3_5.dreamer_v3_5 import train, update_target_critic
from sheeprl.algos.dreamer_v3_5.utils import Moments
from sheeprl.utils.utils import dotdict


def configuration(size: str, compiled: bool) -> dotdict:
    """Its own preset of that size; `hydra` values stay out, they need a running application."""
    with hydra.initialize_config_module("sheeprl.configs", version_base="1.3"):
        config = hydra.compose(
            "config",
            [
                "exp=dreamer_v3_5", f"algo=dreamer_v3_5_{size.upper()}", "env=dummy", "env.num_envs=16",
                "algo.mlp_keys.encoder=[]", f"algo.compile.enabled={compiled}", "algo.compile.player=False",
            ],
        )  # fmt: skip
    return dotdict(OmegaConf.to_container(config, resolve=True))


def batch(config: dotdict, sequences: int, length: int) -> dict[str, torch.Tensor]:
    """Time first, one step of context before the sequence, as its replay hands them out."""
    steps = experience(sequences, length + 1)
    world = config.algo.world_model
    values = {
        "rgb": steps["image"].transpose(0, 1, 4, 2, 3),
        "actions": np.eye(ACTIONS, dtype=np.float32)[steps["action"]],
        "rewards": steps["reward"][..., None],
        "is_first": steps["first"][..., None].astype(np.float32),
        "terminated": np.zeros((sequences, length + 1, 1), np.float32),
        "truncated": np.zeros((sequences, length + 1, 1), np.float32),
        "deter": np.zeros((sequences, length + 1, world.recurrent_model.recurrent_state_size), np.float16),
        "stoch": np.zeros((sequences, length + 1, world.stochastic_size), np.uint8),
    }
    return {name: torch.from_numpy(np.ascontiguousarray(value.swapaxes(0, 1))) for name, value in values.items()}


def main() -> None:
    options = arguments("--compile")
    config = configuration(options.size, options.compile)
    fabric = Fabric(accelerator="cpu", devices=1, precision="32-true")
    space = gymnasium.spaces.Dict({"rgb": gymnasium.spaces.Box(0, 255, (3, 64, 64), np.uint8)})
    world_model, actor, critic, target_critic, _ = build_agent(fabric, (ACTIONS,), False, config, space)
    parameters = [*world_model.parameters(), *actor.parameters(), *critic.parameters()]
    optimizer = fabric.setup_optimizers(
        hydra.utils.instantiate(config.algo.optimizer, params=parameters, _convert_="all")
    )
    scale = config.algo.actor.moments
    moments = Moments(scale.decay, scale.max, scale.percentile.low, scale.percentile.high)
    data = batch(config, options.batch, options.length)

    def update() -> None:
        train(
            fabric, config, world_model, actor, critic, target_critic, optimizer, moments, data, None, (ACTIONS,)
        )  # fmt: skip
        update_target_critic(critic, target_critic, config.algo.critic.tau)

    serve(update, version=f"sheeprl {sheeprl.__version__}", parameters=parameter_count(world_model, actor, critic))


if __name__ == "__main__":
    main()
