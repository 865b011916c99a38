"""One update, piece by piece: what goes in, what learns from it and how fast, and what is written back."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests import fake_world, tiny
from wiser.train import learner as module
from wiser.train import teaching
from wiser.train.collect import Collector
from wiser.train.config import TrainConfig
from wiser.train.experience import belief_before, replay_fields, to_tensors
from wiser.train.learner import Learner
from wiser.train.objectives import find_objective, ordinary
from wiser.train.replay import Replay
from wiser.train.teaching import scale_gradient, unlikeness
from wiser.train.variants import find_variant
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features

CONFIG = TrainConfig(
    env=fake_world.VECTOR, rows=2, batch=3, length=6, capacity=200, threads=1, warmup=0, learning_rate=1e-3,
    updates=10, imagine_steps=3, cloning=2.0, cloning_end=0.5, cloning_floor=1.0, expert_noise=0.0,
)  # fmt: skip


class Setup:
    """A learner with experience, and what its parts were called with."""

    def __init__(self, config: TrainConfig = CONFIG, steps: int = 40) -> None:
        sensors, actions = fake_world.described(continuous=config.env == fake_world.CONTINUOUS)
        asked = {**find_variant(config.variant).shape, **find_objective(config.objective).shape}
        self.model = DreamerV3(tiny.config(sensors, actions, tower="patch", **asked))
        self.replay = Replay(replay_fields(config, self.model), config.rows, config.capacity)
        collector = Collector(config, self.model, self.replay, seed=0)
        for _ in range(steps):
            collector.step(0.5)
        self.learner, self.rng = Learner(config, self.model), np.random.default_rng(0)
        self.calls: dict[str, list] = {}

    def watch(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        """Note arguments and answer of functions that the learner and its parts call."""
        for name in names:
            place = next(place for place in (module, ordinary, teaching) if hasattr(place, name))
            original = getattr(place, name)

            def call(*args, original=original, name=name, **kwargs):
                answer = original(*args, **kwargs)
                self.calls.setdefault(name, []).append((args, answer))
                return answer

            monkeypatch.setattr(place, name, call)

    def update(self, number: int = 0) -> dict[str, Tensor]:
        return self.learner.update(self.replay, self.rng, number)


def copied(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in module.named_parameters()}


def test_the_slow_critic_is_an_exponential_average() -> None:
    """After k updates (1 - r)^k of where it began, and r (1 - r)^(k - i) of the critic after update i."""
    setup = Setup(replace(CONFIG, slow_rate=0.25))
    begun, history = copied(setup.learner.objective.slow_critic), []
    assert all(torch.equal(begun[name], value) for name, value in setup.model.critic.named_parameters())
    for number in range(3):
        setup.update(number)
        history.append(copied(setup.model.critic))
    for name, value in setup.learner.objective.slow_critic.named_parameters():
        one, two, three = (weights[name] for weights in history)
        expected = 0.421875 * begun[name] + 0.140625 * one + 0.1875 * two + 0.25 * three
        torch.testing.assert_close(value, expected, atol=1e-6, rtol=1e-5)
    assert not torch.equal(history[2]["logits.weight"], begun["logits.weight"])


@pytest.mark.parametrize(("warmup", "cooldown", "update", "rate"), [
    (0, 0.0, 0, 1e-3), (4, 0.0, 0, 0.25e-3), (0, 0.5, 5, 1e-3), (0, 0.5, 8, 1e-3 * (0.1 + 0.9 * 0.4)),
])  # fmt: skip
def test_the_first_step_moves_every_weight_by_the_learning_rate_of_that_update(warmup, cooldown, update, rate) -> None:
    """A normalised gradient, averaged over itself alone, is a sign: the step is the rate, whatever the gradient."""
    setup = Setup(replace(CONFIG, warmup=warmup, cooldown=cooldown))
    before = copied(setup.model)
    setup.update(update)
    after = copied(setup.model)
    moved = torch.cat([(after[name] - value).abs().flatten() for name, value in before.items()])
    moved = moved[moved > 0]
    assert len(moved) > 5000
    assert float(moved.median()) == pytest.approx(rate, rel=1e-2)
    assert float((moved <= 1.02 * rate + 1e-7).float().mean()) == 1.0


def test_everything_in_the_model_learns() -> None:
    setup = Setup()
    before = copied(setup.model)
    for number in range(2):
        setup.update(number)
    parts = {
        name.split(".")[0] for name, value in setup.model.named_parameters() if not torch.equal(value, before[name])
    }
    assert parts == {"fusion", "gru", "prior", "posterior", "decoders", "reward", "proceed", "actor", "critic"}


def test_sequences_go_on_from_the_belief_stored_before_them(monkeypatch) -> None:
    setup = Setup()
    setup.replay._arrays["deter"][:] = np.arange(100)[None, :, None]
    sample = setup.replay.sample(64, 6, np.random.default_rng(1))
    start = belief_before(sample, setup.model, "cpu")
    begun = sample.starts == 0
    assert begun.any()
    assert not start.deter[torch.from_numpy(begun)].any()
    assert not start.stoch[torch.from_numpy(begun)].any()
    later = torch.from_numpy(~begun)
    assert torch.equal(start.deter[later, 0], torch.from_numpy(sample.starts[~begun] - 1).float())
    assert torch.equal(start.stoch[later].argmax(-1), torch.from_numpy(sample.before["stoch"][~begun]).long())
    used, twin = Setup(), Setup()
    used.watch(monkeypatch, "observe")
    used.update()
    (*_, found), _ = used.calls["observe"][0]
    expected = belief_before(twin.replay.sample(3, 6, np.random.default_rng(0)), twin.model, "cpu")
    assert expected.deter.any()
    assert torch.equal(found.deter, expected.deter)
    assert torch.equal(found.stoch, expected.stoch)


def test_new_beliefs_are_written_back_where_the_sequences_came_from(monkeypatch) -> None:
    setup = Setup()
    setup.watch(monkeypatch, "observe")
    before = {name: setup.replay._arrays[name].copy() for name in ("deter", "stoch")}
    setup.update()
    sample = Setup().replay.sample(3, 6, np.random.default_rng(0))
    _, unrolled = setup.calls["observe"][0]
    for i, (row, start) in enumerate(zip(sample.rows, sample.starts, strict=True)):
        slots = slice(start, start + 6)
        np.testing.assert_array_equal(
            setup.replay._arrays["deter"][row, slots], unrolled.belief.deter[i].detach().half()
        )
        np.testing.assert_array_equal(setup.replay._arrays["stoch"][row, slots], unrolled.belief.stoch[i].argmax(-1))
        before["deter"][row, slots] = setup.replay._arrays["deter"][row, slots]
    np.testing.assert_array_equal(before["deter"], setup.replay._arrays["deter"], "and nowhere else")


def test_what_was_stored_is_what_is_learnt_from() -> None:
    setup = Setup()
    sample = setup.replay.sample(3, 6, np.random.default_rng(0))
    batch = to_tensors(sample, setup.model, "cpu")
    assert torch.equal(batch.action.argmax(-1) + 1, torch.from_numpy(sample.steps["action"]))
    assert torch.equal(batch.action.sum(-1), torch.ones(3, 6))
    assert torch.equal(batch.signals["reward"], torch.from_numpy(sample.steps["signal/reward"]))
    assert torch.equal(batch.first, torch.from_numpy(sample.steps["first"]))
    assert torch.equal(batch.proceed, torch.from_numpy(sample.steps["proceed"]).float())
    for name in ("glow", "where"):
        assert torch.equal(batch.obs[name], torch.from_numpy(sample.steps[f"sensor/{name}"]))


@pytest.mark.parametrize("share", [1.0, 0.67])
def test_borders_deaths_and_returns_reach_the_critic(monkeypatch, share: float) -> None:
    setup = Setup(replace(CONFIG, imagine_share=share))
    setup.watch(monkeypatch, "observe", "replay_value_loss", "actor_critic_loss")
    setup.update()
    (_, batch, *_), unrolled = setup.calls["observe"][0]
    (_, _, slow, x, reward, proceed, last, starts), _ = setup.calls["replay_value_loss"][0]
    (*_, alive), (_, returns) = setup.calls["actor_critic_loss"][0]
    everything = features(unrolled.belief)
    some = [int((everything == row).flatten(1).all(1).nonzero()) for row in x]
    assert len(set(some)) == len(some) == (3 if share == 1.0 else 2)
    border = np.zeros((3, 6))
    border[:, :-1] = batch.first[:, 1:]
    assert 0 < border.sum() < border.size
    assert np.array_equal(last, border[some])
    assert torch.equal(reward, batch.signals["reward"][some])
    assert torch.equal(proceed, batch.proceed[some])
    assert torch.equal(alive, batch.proceed[some].flatten())
    assert 0 in alive
    assert torch.equal(starts.flatten(), returns)
    assert slow is setup.learner.objective.slow_critic
    assert x.requires_grad, "values of real experience teach the world model too"


def test_imagination_starts_from_every_belief_and_teaches_the_world_model_nothing(monkeypatch) -> None:
    setup = Setup()
    setup.watch(monkeypatch, "observe", "imagine")
    setup.update()
    _, unrolled = setup.calls["observe"][0]
    (_, start, steps, _), imagined = setup.calls["imagine"][0]
    assert steps == 3
    assert torch.equal(start.deter, unrolled.belief.deter.flatten(0, 1))
    assert not imagined.features.requires_grad


@pytest.mark.parametrize(("share", "count"), [(1.0, 18), (0.5, 9), (0.3, 5), (0.001, 1)])
def test_a_share_of_the_steps_is_decoded(monkeypatch, share: float, count: int) -> None:
    setup = Setup(replace(CONFIG, decode_share=share))
    setup.watch(monkeypatch, "world_model_loss")
    setup.update()
    (*_, decoded), _ = setup.calls["world_model_loss"][0]
    chosen = torch.arange(18)[decoded].tolist()
    assert len(set(chosen)) == len(chosen) == count


def cloning_pulls(pull: float) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The cloning term and its gradients, of the same batch whatever the pull."""
    setup = Setup(replace(CONFIG, cloning_pull=pull))
    sample = setup.replay.sample(3, 6, np.random.default_rng(0))
    label = torch.from_numpy(sample.steps["label"]).float()
    observed, *_ = setup.learner._observe(sample, torch.zeros(3, dtype=torch.bool))
    terms = dict(setup.learner._further_terms(sample, observed, 0))
    names, weights = zip(*setup.model.named_parameters(), strict=True)
    found = torch.autograd.grad(terms["cloning"], weights, allow_unused=True, materialize_grads=True)
    expected = -2.0 * (setup.model.actor.logprobs(features(observed.unrolled.belief)) * label).sum(-1).mean()
    torch.testing.assert_close(terms["cloning"], expected)
    return terms, dict(zip(names, found, strict=True))


def test_the_pull_scales_the_cloning_gradient_where_it_reaches_the_world_model() -> None:
    _, plain = cloning_pulls(1.0)
    _, pulled = cloning_pulls(30.0)
    assert plain["gru.gates.weight"].abs().max() > 0
    assert {name.split(".")[0] for name, value in plain.items() if value.any()} == {
        "fusion",
        "gru",
        "posterior",
        "actor",
    }
    for name, gradient in plain.items():
        factor = 1.0 if name.startswith("actor") else 30.0
        torch.testing.assert_close(pulled[name], factor * gradient, rtol=1e-3, atol=1e-6)


def test_gradients_are_scaled_and_values_are_not() -> None:
    x = torch.randn(5, requires_grad=True)
    y = scale_gradient(x, 30.0)
    y.sum().backward()
    assert torch.equal(y, x)
    assert torch.equal(x.grad, torch.full((5,), 30.0))


def test_what_the_expert_does_becomes_more_likely() -> None:
    setup = Setup(replace(CONFIG, learning_rate=1e-2))
    setup.replay._arrays["label"][:] = np.eye(4)[2]
    seen = torch.randn(50, 56, generator=torch.Generator().manual_seed(0))

    def chances() -> list[float]:
        return setup.model.actor.logprobs(seen).detach().exp().mean(0).tolist()

    assert chances() == pytest.approx([0.25] * 4, abs=0.03)
    for _ in range(25):
        setup.update()
    assert chances()[2] > 0.45


@pytest.mark.parametrize(
    ("mean", "std", "label", "to_mean", "to_std"),
    [
        (0.5, 0.1, 0.1, 0.4, -1.5),  # mean - label, and std - (mean - label)^2 / std
        (0.5, 1.0, 0.1, 0.4, 0.84),
        (0.5, 0.2, 0.5, 0.0, 0.2),
        (0.5, 1.0, 1.0, -0.45, 0.7975),  # no further than 0.95
        (0.5, 1.0, -1.0, 1.45, -1.1025),
        (0.97, 0.5, 1.0, 0.02, 0.4992),
    ],
)
def test_where_actions_are_numbers_the_mean_follows_its_error_however_sure_it_is(
    mean: float, std: float, label: float, to_mean: float, to_std: float
) -> None:
    normal = [torch.tensor([[0.3, value]], requires_grad=True) for value in (mean, std)]
    model: Any = SimpleNamespace(actions=tiny.CONTINUOUS, actor=SimpleNamespace(normal=lambda x: normal))
    unlikeness(model, torch.zeros(1, 1), torch.tensor([[0.3, label]])).sum().backward()
    assert [float(value.grad[0, 1]) for value in normal] == pytest.approx([to_mean, to_std], abs=1e-5)


def test_where_actions_are_numbers_they_become_the_expert_s() -> None:
    """The term by hand; the mean moves to the label, which is written from -1 to 1."""
    setup = Setup(replace(CONFIG, env=fake_world.CONTINUOUS, learning_rate=1e-2))
    sample = setup.replay.sample(3, 6, np.random.default_rng(0))
    observed, *_ = setup.learner._observe(sample, torch.zeros(3, dtype=torch.bool))
    mean, std = (it.detach() for it in setup.model.actor.normal(observed.features))
    label = torch.from_numpy(sample.steps["label"]).float().clamp(-0.95, 0.95)
    density = -0.5 * ((label - mean) / std) ** 2 - std.log() - 0.5 * np.log(2 * np.pi)  # (B, T, A)
    terms = dict(setup.learner._further_terms(sample, observed, 0))
    torch.testing.assert_close(terms["cloning"].detach(), -2.0 * (std**2 * density).sum(-1).mean())

    setup.replay._arrays["label"][:] = [0.75, -0.5]
    for _ in range(25):
        setup.update()
    learnt = setup.model.actor.normal(observed.features).mean.detach().mean((0, 1))
    assert learnt[0] > 0.4
    assert learnt[1] < -0.25


@pytest.mark.parametrize(("update", "weight"), [(0, 2.0), (2, 1.6), (5, 1.0), (9, 1.0)])
def test_the_cloning_term_fades_to_its_floor(monkeypatch, update: int, weight: float) -> None:
    setup = Setup()
    setup.watch(monkeypatch, "action_logprob")
    terms = setup.update(update)
    _, (logprob, _) = setup.calls["action_logprob"][-1]
    assert float(terms["cloning"]) == pytest.approx(-weight * logprob.mean().item(), rel=1e-5)
    assert not {"cloning", "imitation"} & set(Setup(replace(CONFIG, cloning=0.0, cloning_floor=0.0)).update())


@pytest.mark.parametrize("update", [0, 2, 9])
def test_how_far_imitation_has_come_is_told_whatever_it_weighs(update: int) -> None:
    """The cross-entropy by hand, of a learner whose other half is the same; once cloning has faded out, nothing."""
    setup, twin = Setup(), Setup()
    sample = twin.replay.sample(3, 6, np.random.default_rng(0))
    observed, *_ = twin.learner._observe(sample, torch.zeros(3, dtype=torch.bool))
    label = torch.from_numpy(sample.steps["label"]).float()
    expected = -(twin.model.actor.logprobs(observed.features) * label).sum(-1).mean().item()
    assert float(setup.update(update)["imitation"]) == pytest.approx(expected, rel=1e-5)
    fading = Setup(replace(CONFIG, cloning_floor=0.0))
    assert "imitation" in fading.update(4)
    assert "imitation" not in fading.update(5)


def test_the_terms_add_up_to_what_is_descended(monkeypatch) -> None:
    """World model, actor, critic, values of real experience and cloning, all at once and none twice."""
    setup = Setup()
    descended: list[float] = []
    backward = Tensor.backward
    monkeypatch.setattr(Tensor, "backward", lambda loss: descended.append(loss.item()) or backward(loss))
    terms = setup.update()
    weights = {"representation": 0.1, "imitation": 0.0}  # the latter is no term, only told
    weighted = sum(float(value) * weights.get(name, 1.0) for name, value in terms.items())
    assert descended == [pytest.approx(weighted, rel=1e-5)]
    assert {"actor", "critic", "replay_critic", "cloning", "dynamics", "reward", "decode/glow"} <= set(terms)


@pytest.mark.parametrize("variant", ["base", "dropout", "augmented"])
def test_the_encoder_sees_what_the_variant_says_and_the_targets_are_whole(monkeypatch, variant: str) -> None:
    setup = Setup(replace(CONFIG, variant=variant, batch=12))
    setup.watch(monkeypatch, "observe", "world_model_loss")
    setup.update()
    (_, seen, masks, *_), _ = setup.calls["observe"][0]
    (_, _, batch, *_), _ = setup.calls["world_model_loss"][0]
    clean = Setup(replace(CONFIG, batch=12)).replay.sample(12, 6, np.random.default_rng(0)).steps
    for name in ("glow", "where"):
        assert np.array_equal(batch.obs[name], clean[f"sensor/{name}"])
    hidden = (~masks).sum(-1)
    assert bool(hidden.any()) == (variant == "dropout")
    assert int(hidden.max()) == (1 if variant == "dropout" else 0), "of two sensors one at most"
    noise = (seen.obs["glow"].float() / (1 if variant == "augmented" else 255) - batch.obs["glow"] / 255).abs()
    assert (float(noise.max()) > 0.05) == (variant == "augmented")
    assert torch.equal(seen.obs["where"], batch.obs["where"])


def test_masked_readings_do_not_reach_the_posterior_in_an_update(monkeypatch) -> None:
    """In the real update of the dropout variant: where a sensor is masked, another reading changes nothing."""
    setup = Setup(replace(CONFIG, variant="dropout"))
    setup.watch(monkeypatch, "observe")
    setup.update()
    (model, seen, masks, _, start), _ = setup.calls["observe"][0]
    other = {name: x.clone() for name, x in seen.obs.items()}
    for column, sensor in enumerate(model.sensors):
        other[sensor.name][~masks[..., column]] += 3
    first, second, third = (
        module.observe(model, seen._replace(obs=obs), kept, torch.Generator().manual_seed(0), start).posterior
        for obs, kept in ((seen.obs, masks), (other, masks), (other, torch.ones_like(masks)))
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, third)
