"""Do we learn from the same losses as sheeprl's DreamerV3? Equal weights, an equal batch, the largest differences.

Both models get the same weights (one vector sensor, discrete actions), the same sequences with deaths and cut-offs, and
take modes instead of samples, so that nothing is random. Compared are the terms of the world model's loss, the beliefs,
the terms of actor and critic, and the gradient of every weight. One difference is known and kept: starts of imagination
are weighted by whether the episode really went on, in sheeprl's code by whether the model thinks so; here its continue
head is told the truth. Run: python benchmarks/same_losses.py; `make .venv/bench` installs the peer.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import torch
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.spaces import Box, Dict
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

import sheeprl_learn
import wiser_learn
from lightning.fabric import Fabric
from sheeprl.algos.dreamer_v3_5 import dreamer_v3_5 as theirs
from sheeprl.algos.dreamer_v3_5.agent import RSSM, build_agent
from small_tasks import RECIPES, Options

from wiser.train.learner import Learner
from wiser.train.loop import build_model
from wiser.train.losses import world_model_loss
from wiser.train.unroll import Observed, Sequences, observe
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief

TASK, SENSOR, ROWS, STEPS = "small/OneSensor-v0", "all", 8, 32


class OneSensor(CartPoleEnv):
    """CartPole as one sensor. Only its spaces are looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Dict({SENSOR: Box(-torch.inf, torch.inf, (4,))})


gymnasium.register(TASK, OneSensor)
RECIPES[TASK] = RECIPES["small/CartPole-v0"]


class Peer:
    """sheeprl's agent, with weights that are nowhere zero."""

    def __init__(self, run: Options) -> None:
        self.config, self.fabric = sheeprl_learn.configuration(run, "unused"), Fabric(devices=1, accelerator="cpu")
        space = gymnasium.make(TASK).observation_space
        self.world, self.actor, self.critic, self.slow, _ = build_agent(self.fabric, (2,), False, self.config, space)
        torch.manual_seed(1)
        with torch.no_grad():
            for part in (self.world, self.actor, self.critic, self.slow):
                for weight in part.parameters():
                    weight.add_(0.05 * torch.randn_like(weight))

    def losses(self, batch: Sequences, last: Tensor, start: Belief) -> dict[str, Tensor]:
        algo = self.config.algo
        turn = lambda x: x.transpose(0, 1)  # noqa: E731  (sheeprl has time first)
        first, reward, dead = (
            turn(x)[..., None] for x in (batch.first.float(), batch.signals["reward"], 1 - batch.proceed)
        )
        total, latents, stoch, deter, terms = theirs.world_model_loss(
            self.world, {SENSOR: turn(batch.obs[SENSOR])}, turn(batch.action), first, reward, dead, start.deter[None],
            start.stoch.flatten(1)[None], **theirs.world_model_loss_kwargs(self.config), entropies=False,
        )  # fmt: skip
        discount = 1.0 if algo.world_model.continue_discount else float(algo.gamma)
        with torch.no_grad():
            states, actions, values, slow, returns, weights = theirs.imagine(
                self.world, self.actor, self.critic, self.slow, stoch, deter,
                horizon=algo.horizon, discount=discount, lmbda=float(algo.lmbda),
            )  # fmt: skip
            known = turn(batch.proceed).reshape(-1) * (float(algo.gamma) if discount == 1.0 else 1.0)
            predicted = weights[0].clone()
            weights = weights * (known / predicted)
            _, scale = theirs.Moments(0.99, 1.0, 0.05, 0.95)(returns, self.fabric)
        more, found = theirs.actor_critic_loss(
            self.actor, self.critic, self.slow, states, actions, values, slow, returns, weights, scale, latents,
            turn(last), turn(1 - batch.proceed), turn(batch.signals["reward"]), actions_dim=(2,),
            ent_coef=float(algo.actor.ent_coef), slow_regularizer=1.0, gamma=float(algo.gamma), lmbda=float(algo.lmbda),
            replay_loss=True, policy_scale=1.0, value_scale=1.0,
            replay_value_scale=float(algo.loss_scales.replay_value),
        )  # fmt: skip
        (total + more).backward()
        return {
            "deter": turn(deter).detach(), "decode": terms["Loss/observation_loss"],
            "reward": terms["Loss/reward_loss"], "continue": terms["Loss/continue_loss"], "kl": terms["State/kl"],
            "actor": found["Loss/policy_loss"],
            "critic": found["Loss/value_loss"], "replay_critic": found["Loss/replay_value_loss"],
        }  # fmt: skip


def paired(model: Any, slow_critic: nn.Module, peer: Peer) -> list[tuple[Tensor, Tensor, Any]]:
    """(our weight, theirs, how theirs becomes ours). Their latent has the sample first, ours the recurrent state."""
    rssm, stoch = peer.world.rssm, model.config.stoch * model.config.classes
    swap = lambda w: torch.cat([w[:, stoch:], w[:, :stoch]], 1)  # noqa: E731
    same = lambda w: w  # noqa: E731
    whole = [
        (model.fusion.vectors.layers, peer.world.encoder), (model.gru, rssm.recurrent_model),
        (model.prior, rssm.transition_model), (model.decoders[0], peer.world.observation_model),
        (model.reward, peer.world.reward_model), (model.proceed, peer.world.continue_model),
        (model.actor, peer.actor), (model.critic, peer.critic), (slow_critic, peer.slow),
    ]  # fmt: skip
    pairs = []
    for ours, other in whole:
        for mine, yours in zip(ours.parameters(), other.parameters(), strict=True):
            wide = yours.dim() == 2 and yours.shape[1] == stoch + model.config.deter
            pairs.append((mine, yours, swap if wide else same))
    first, bias, scale, logits, logits_bias = rssm.representation_model.parameters()
    head, deter = model.posterior, model.config.deter
    pairs += [(head.from_deter.weight, first, lambda w: w[:, :deter])]
    pairs += [(model.fusion.vectors.projection.weight, first, lambda w: w[:, deter:])]
    plain = [(head.from_deter.bias, bias), (head.norm.scale, scale)]
    plain += [(head.head.logits.weight, logits), (head.head.logits.bias, logits_bias)]
    return pairs + [(mine, yours, same) for mine, yours in plain]


def sequences(generator: torch.Generator) -> tuple[Sequences, Tensor, Belief]:
    """A batch with episodes that end in it, dead or cut off; `last` (B, T) marks both; and the beliefs before it."""
    draw = lambda *shape: torch.rand(shape, generator=generator)  # noqa: E731
    first = draw(ROWS, STEPS) < 0.05
    last = torch.cat([first[:, 1:], torch.zeros(ROWS, 1, dtype=torch.bool)], 1).float()
    proceed = 1 - last * (draw(ROWS, STEPS) < 0.6)
    action = F.one_hot((2 * draw(ROWS, STEPS)).long(), 2).float()
    start = Belief(draw(ROWS, 256) - 0.5, F.one_hot((16 * draw(ROWS, 16)).long(), 16).float())
    return (
        Sequences({SENSOR: 4 * draw(ROWS, STEPS, 4) - 2}, {"reward": draw(ROWS, STEPS)}, action, first, proceed),
        last,
        start,
    )


def our_losses(learner: Learner, batch: Sequences, start: Belief) -> dict[str, Tensor]:
    model, config, generator = learner.model, learner.config, learner.generator
    seen = learner.variant.show(batch.obs, generator)
    unrolled = observe(model, batch, seen.masks, generator, start)
    total, terms = world_model_loss(config, model, batch, unrolled)
    observed = Observed(batch, seen, unrolled, features(unrolled.belief), unrolled.belief)
    more = learner.objective.terms(model, observed, generator)
    (total + sum(more.values())).backward()
    terms |= more | {"deter": unrolled.belief.deter, "decode": terms[f"decode/{SENSOR}"], "kl": terms["dynamics"]}
    return terms | {"replay_critic": more["replay_critic"] / config.replay_value}


def straight(logits: Tensor) -> Tensor:
    probabilities = logits.softmax(-1)
    return (one_hot_mode(logits) + probabilities - probabilities.detach()).flatten(-2)


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    run = Options(TASK, 0, Path("unused"), RECIPES[TASK])
    peer = Peer(run)
    discounted = bool(peer.config.algo.world_model.continue_discount)
    learner = Learner(
        replace(wiser_learn.configuration(run), continue_discount=discounted),
        build_model(wiser_learn.configuration(run)),
    )
    pairs = paired(learner.model, learner.objective.slow_critic, peer)
    with torch.no_grad():
        for mine, yours, turned in pairs:
            mine.copy_(turned(yours))
    batch, last, start = sequences(torch.Generator().manual_seed(3))
    most_likely = lambda logprobs, noise: one_hot_mode(logprobs)  # noqa: E731
    of_policy = lambda self: F.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).float()  # noqa: E731
    places = ("train.unroll", "train.behaviour", "worldmodel.dreamer.heads")
    with mock.patch.object(RSSM, "sample", staticmethod(straight)), \
            mock.patch.object(torch.distributions.OneHotCategorical, "sample", of_policy), \
            mock.patch(f"wiser.{places[0]}.one_hot_sample", most_likely), \
            mock.patch(f"wiser.{places[1]}.one_hot_sample", most_likely), \
            mock.patch(f"wiser.{places[2]}.one_hot_sample", most_likely):  # fmt: skip
        expected, found = peer.losses(batch, last, start), our_losses(learner, batch, start)
    worst = 0.0
    for name, value in expected.items():
        gap = float((found[name] - value).abs().max() / value.abs().max())
        worst = max(worst, gap)
        print(f"{name:14s} differs by {gap:.1e} of its size")
    gaps = [float((mine.grad - turned(yours.grad)).norm() / turned(yours.grad).norm())
            for mine, yours, turned in pairs if yours.grad is not None and mine.grad is not None]  # fmt: skip
    print(f"{'gradients':14s} differ by {max(gaps):.1e} of their norms at most, {len(gaps)} weights")
    print(f"same_losses ratio={max(worst, *gaps):.1e}")


if __name__ == "__main__":
    main()
