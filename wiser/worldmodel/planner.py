"""Planning instead of a policy: an agent that looks for the best actions in its own model, at every step anew.

The cross-entropy method under a cost limit, as in SafeDreamer's planner OSRP: sequences of actions are drawn from a
proposal and imagined to their ends, the proposal moves to the best of them, and so on. The best are those that promise
most among the safe ones; while too few are safe, those that cost least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from wiser import seeds
from wiser.checks import at_least, check_fields
from wiser.names import perhaps
from wiser.options import read_settings
from wiser.worldmodel.foresight import Foreseen, lambda_returns
from wiser.worldmodel.latents import one_hot_mode, one_hot_sample
from wiser.worldmodel.protocol import Belief, WorldModel


class Foresight(WorldModel, Protocol):
    """A world model that one can plan with."""

    def foresee(self, belief: Belief) -> Foreseen:
        """What states (...) are expected to pay and to cost."""


@dataclass(frozen=True)
class CrossEntropy:
    """How to plan; the published values."""

    horizon: int = 15
    """Steps that are imagined."""
    samples: int = 500
    """Sequences of actions in every round."""
    elites: int = 50
    """How many of them the next proposal is made of."""
    iterations: int = 6
    """Rounds."""
    momentum: float = 0.1
    """Share of the old mean in the new one."""
    cost_limit: float = 2.0
    """What an episode may cost; infinite = no matter what."""
    episode: int = 1000
    """Actions of an episode; a sequence is safe if it would stay below the limit, were it as long as that."""
    discount: float = 1 - 1 / 333
    """Factor on what is paid one step later; 1 for an agent that was trained with `continue_discount`."""
    return_lambda: float = 0.95
    """How far returns look on before they trust the critic."""
    seed: int = 0
    """Of the proposals' draws."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, whole = getattr(self, field.name), isinstance(field.default, int)
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                raise ValueError(f"{field.name} is a{' whole' * whole} number, got {value!r}")
        at_least(1, horizon=self.horizon, elites=self.elites, iterations=self.iterations, episode=self.episode)
        at_least(self.elites, samples=self.samples)
        for name in ("momentum", "discount", "return_lambda"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is from 0 to 1, got {getattr(self, name)}")


class Planner:
    """An agent that plans. All but `act` is that of the agent it was made of.

    It remembers nothing and draws nothing when it acts: its draws are made once and used at every step, so that what it
    does follows from the belief alone. Every row is planned by itself.
    """

    def __init__(self, agent: Foresight, settings: CrossEntropy) -> None:
        if not hasattr(agent, "foresee"):
            raise ValueError(f"{type(agent).__name__} cannot be planned with: it has no method `foresee`")
        self.agent, self.settings = agent, settings
        self.sensors, self.actions, self.decodes = agent.sensors, agent.actions, agent.decodes
        self.folder, self.digest = agent.folder, agent.digest
        self.initial, self.predict, self.embed = agent.initial, agent.predict, agent.embed
        self.infer, self.decode = agent.infer, agent.decode
        like = agent.initial(1)
        shape = (settings.iterations, settings.horizon, settings.samples)
        dice = torch.Generator()
        dice.manual_seed(int(seeds.stream("planner", settings.seed).generate_state(1)[0]))
        self._action_noise = torch.rand((*shape, agent.actions.size), generator=dice).to(like.deter.device)
        self._latent_noise = torch.rand((*shape, like.stoch.shape[1]), generator=dice).to(like.deter.device)

    @torch.no_grad()
    def act(self, belief: Belief, noise: Tensor | None = None) -> Tensor:
        """Choose actions (B, A): the first of the plan's mean or, with uniform `noise` (B, A), a draw from it."""
        chosen = []
        for row in range(len(belief.deter)):
            plan = self.plan(Belief(belief.deter[row : row + 1], belief.stoch[row : row + 1]))
            chosen.append(plan.best()[0] if noise is None else plan.draw(noise[row].expand(len(plan[0]), 1, -1))[0, 0])
        return torch.stack(chosen)

    def plan(self, belief: Belief) -> Normals | Choices:
        """What to do in the next steps of one row."""
        settings, actions = self.settings, self.actions
        blank = self._action_noise.new_ones(settings.horizon, actions.size)
        plan: Normals | Choices = Choices(blank / actions.size) if actions.discrete else Normals(0 * blank, blank)
        for action_noise, latent_noise in zip(self._action_noise, self._latent_noise, strict=True):
            tried = plan.draw(action_noise)  # (H, K, A)
            best = self._rank(*self._imagine(belief, tried, latent_noise)).topk(settings.elites).indices
            plan = plan.towards(tried[:, best], settings.momentum)
        return plan

    def _imagine(self, belief: Belief, actions: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Returns (K,) and costs (K,) of sequences of actions (H, K, A), from one row; latents by `noise` (H, K, S)."""
        count, settings = actions.shape[1], self.settings
        belief = Belief(belief.deter.expand(count, -1), belief.stoch.expand(count, -1, -1))
        never = torch.zeros(count, dtype=torch.bool, device=actions.device)
        deter, stoch = [belief.deter], [belief.stoch]
        for action, draws in zip(actions, noise, strict=True):
            prior = self.agent.predict(belief, action, never)
            belief = Belief(prior.deter, one_hot_sample(prior.logprobs, draws))
            deter.append(belief.deter)
            stoch.append(belief.stoch)
        ahead = self.agent.foresee(Belief(torch.stack(deter, 1), torch.stack(stoch, 1)))  # (K, H + 1) each
        live = ahead.proceed * settings.discount
        returns = lambda_returns(ahead.reward, live, settings.return_lambda, ahead.value)[:, 0]
        return returns, ahead.cost[:, 1:].mean(1) * settings.episode

    def _rank(self, returns: Tensor, costs: Tensor) -> Tensor:
        """How good sequences (K,) are: by their returns if enough of them are safe, else by their costs."""
        safe = costs < self.settings.cost_limit
        if int(safe.sum()) < self.settings.elites:
            return -costs
        return returns.masked_fill(~safe, -math.inf)


class Normals(NamedTuple):
    """A proposal for sequences of H continuous actions."""

    mean: Tensor  # (H, A)
    std: Tensor  # (H, A)

    def draw(self, noise: Tensor) -> Tensor:
        """Sequences (H, K, A) from uniform `noise` (H, K, A)."""
        gauss = torch.special.ndtri(noise.clamp(1e-6, 1 - 1e-6))
        return (self.mean[:, None] + self.std[:, None] * gauss).clamp(-1.0, 1.0)

    def towards(self, elites: Tensor, momentum: float) -> Normals:
        """The proposal that fits some sequences (H, E, A)."""
        return Normals(torch.lerp(elites.mean(1), self.mean, momentum), elites.std(1, correction=0))

    def best(self) -> Tensor:
        """The sequence (H, A) in its middle."""
        return self.mean


class Choices(NamedTuple):
    """A proposal for sequences of H discrete actions."""

    chances: Tensor  # (H, A)

    def draw(self, noise: Tensor) -> Tensor:
        """One-hot sequences (H, K, A) from uniform `noise` (H, K, A)."""
        return one_hot_sample(self.chances.log()[:, None], noise[..., 0])

    def towards(self, elites: Tensor, momentum: float) -> Choices:
        """The proposal that fits some sequences (H, E, A)."""
        return Choices(torch.lerp(elites.mean(1), self.chances, momentum))

    def best(self) -> Tensor:
        """The likeliest sequence (H, A)."""
        return one_hot_mode(self.chances)


def plan(agent: Foresight, **settings: Any) -> Planner:
    """An agent that plans with another one's model: `wiser.plan(wiser.load("mine"), cost_limit=10)`.

    Settings are those of `CrossEntropy`.
    """
    return Planner(agent, CrossEntropy(**settings))


PLANNERS: dict[str, type[CrossEntropy]] = {"cem": CrossEntropy}
"""By the name that `wiser eval --planner` gives."""


def planned(agent: Foresight, name: str) -> Planner:
    """An agent that plans as a name says, with settings or without: `cem`, `cem:samples=100,cost_limit=10`."""
    bare, colon, settings = name.partition(":")
    if bare not in PLANNERS:
        raise ValueError(f"unknown planner {bare!r}{perhaps(bare, PLANNERS)}; there are {', '.join(PLANNERS)}")
    values = read_settings(settings, "a planner") if colon else {}
    check_fields(PLANNERS[bare], values, f"planner {bare!r}")
    return Planner(agent, PLANNERS[bare](**values))
