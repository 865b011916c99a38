"""A variant and an objective of somebody else: trained, checkpointed and resumed, unknown to the learner."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tests import fake_world, tiny
from tests.train.test_learner import CONFIG, Setup, copied
from wiser.train import log
from wiser.train.config import TrainConfig
from wiser.train.learner import Learner
from wiser.train.loop import Run, train
from wiser.train.objectives import OBJECTIVES, Ordinary, find_objective
from wiser.train.variants import VARIANTS, Dropout
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import TwoHotHead, feature_size

SMALL = TrainConfig(
    env=fake_world.SINGLE, env_options={"costly": True}, size="nano", rows=2, batch=2, length=4, prefill=5,
    capacity=400, updates=6, segment=6, life=100, warmup=0, imagine_steps=3, evaluate_every=100, evaluate_episodes=1,
    log_every=1, threads=1,
)  # fmt: skip


class Probing(Dropout):
    """Dropout with a module of its own that is trained, a slow copy of it, a counter, and a term with a draw."""

    def __init__(self, config, model):
        super().__init__(config, model)
        self.probe = nn.Linear(feature_size(model.config), 3)
        self.slow = nn.Linear(feature_size(model.config), 3).requires_grad_(False)
        self.register_buffer("count", torch.zeros(()))

    def terms(self, model, observed, generator):
        target = torch.rand(3, generator=generator)
        return {"probe": (self.probe(observed.features) - target).square().mean()}

    @torch.no_grad()
    def follow(self, model):
        self.slow.weight.lerp_(self.probe.weight, 0.25)
        self.count += 1


class Careful(Ordinary):
    """The ordinary objective, which foresees the cost as well."""

    signals = ("reward", "cost")

    def __init__(self, config, model):
        super().__init__(config, model)
        self.foresight = TwoHotHead(model.config, layers=1)
        self.heard: list[torch.Tensor] = []

    def terms(self, model, observed, generator):
        cost = observed.batch.signals["cost"]
        self.heard.append(cost)
        foreseen = {"cost": self.foresight.loss(observed.features, cost).mean()}
        return {**super().terms(model, observed, generator), **foreseen}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(VARIANTS, "probing", Probing)
    monkeypatch.setitem(OBJECTIVES, "careful", Careful)


def test_a_variants_own_module_is_trained_and_its_slow_copy_follows() -> None:
    setup = Setup(replace(CONFIG, variant="probing"))
    variant = setup.learner.variant
    before = copied(variant)
    terms = setup.update()
    after = copied(variant)
    step = (after["probe.weight"] - before["probe.weight"]).abs()
    moved = step[step > 0]  # a normalised gradient, averaged over itself alone, is a sign
    assert len(moved) > 0.8 * step.numel()
    np.testing.assert_allclose(moved, CONFIG.learning_rate, rtol=1e-2)
    torch.testing.assert_close(after["slow.weight"], 0.75 * before["slow.weight"] + 0.25 * after["probe.weight"])
    assert torch.equal(after["slow.bias"], before["slow.bias"]), "what is frozen is not trained"
    assert float(variant.count) == 1
    assert float(terms["probe"]) > 0


def test_what_a_part_adds_is_descended_with_the_rest(monkeypatch) -> None:
    setup = Setup(replace(CONFIG, variant="probing"))
    descended: list[float] = []
    backward = torch.Tensor.backward
    monkeypatch.setattr(torch.Tensor, "backward", lambda loss: descended.append(loss.item()) or backward(loss))
    terms = setup.update()
    weights = {"representation": 0.1, "imitation": 0.0}
    weighted = sum(float(value) * weights.get(name, 1.0) for name, value in terms.items())
    assert descended == [pytest.approx(weighted, rel=1e-5)]


def test_two_terms_of_one_name_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(Probing, "terms", lambda *_: {"actor": torch.zeros(())})
    with pytest.raises(ValueError, match="two terms of the loss are called 'actor'"):
        Setup(replace(CONFIG, variant="probing")).update()


def test_weights_of_a_part_come_from_the_seed_of_the_run() -> None:
    def weights(seed: int) -> torch.Tensor:
        model = DreamerV3(tiny.config(*fake_world.described(), tower="patch"))
        return Learner(replace(CONFIG, variant="probing", seed=seed), model).variant.probe.weight

    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = weights(0)
    assert torch.equal(torch.get_rng_state(), state), "nobody else's random numbers are used up"
    torch.manual_seed(2)
    assert torch.equal(first, weights(0))
    assert not torch.equal(first, weights(1))


def test_parts_resume_exactly(tmp_path) -> None:
    config = replace(SMALL, variant="probing", objective="careful")
    whole = Run(config, tmp_path / "whole")
    whole.segment(lambda line: None)
    for _ in range(3):
        part = Run(replace(config, segment=2), tmp_path / "parts")
        part.segment(lambda line: None)
        part.save()
        part.close()
    assert whole.update == part.update == 6
    for name, module in whole.learner.modules.items():
        found = part.learner.modules[name].state_dict()
        for key, value in module.state_dict().items():
            assert torch.equal(value, found[key]), f"{name}.{key}"
    stored = Run(replace(config, segment=2), tmp_path / "parts")
    assert float(stored.learner.variant.count) == 6
    whole.close()
    stored.close()


def test_an_objective_gets_the_cost_it_asks_for(tmp_path) -> None:
    """From the environment through the replay to its own head, whose loss reaches the model, and into the log."""
    run = Run(replace(SMALL, objective="careful"), tmp_path)
    said: list[dict] = []
    run.segment(said.append)
    steps = {name: np.array(array[:, : run.replay.head]) for name, array in run.replay._arrays.items()}
    going = ~steps["first"]
    seeds, episodes, places = (steps["sensor/where"][..., i] for i in range(3))
    np.testing.assert_array_equal(steps["signal/cost"][going], ((seeds + episodes + places) % 3)[going])
    assert not steps["signal/cost"][~going].any()
    np.testing.assert_array_equal(steps["signal/reward"][going], (100 * seeds + 10 * episodes + places)[going])
    assert set(np.unique(steps["signal/cost"])) == {0.0, 1.0, 2.0}
    heard = run.learner.objective.heard
    assert len(heard) == 6
    stored = steps["signal/cost"]
    pieces = {tuple(stored[row, t : t + 4].tolist()) for row in (0, 1) for t in range(run.replay.head - 3)}
    assert {tuple(row.tolist()) for cost in heard for row in cost} <= pieces
    lengths = (3, 2, 4)  # of the episodes that are over after eleven steps, each of both rows
    sums = [
        sum(fake_world.cost_of(seed, number, 1 + step) for step in range(length))
        for number, length in enumerate(lengths)
        for seed in seeds[:, 0]
    ]
    assert run.collector.returns.finished["cost"] == sums
    assert said[-1]["policy_cost"] == pytest.approx(np.mean(sums))
    assert all(np.isfinite(line["cost"]) for line in said)
    run.close()


def test_a_head_of_an_objective_teaches_the_world_model() -> None:
    setup = Setup(replace(CONFIG, env=fake_world.SINGLE, env_options={"costly": True}, objective="careful", cloning=0.0,
                          cloning_floor=0.0))  # fmt: skip
    with torch.no_grad():
        for weight in setup.learner.objective.foresight.parameters():
            weight += 0.1  # a new head says zero whatever it sees
    sample = setup.replay.sample(3, 6, np.random.default_rng(0))
    observed, *_ = setup.learner._observe(sample, torch.zeros(3, dtype=torch.bool))
    terms = dict(setup.learner._further_terms(sample, observed, 0))
    gates = setup.model.gru.gates.weight
    assert torch.autograd.grad(terms["cost"], gates)[0].abs().max() > 0


def test_an_environment_that_does_not_tell_the_signal_is_refused(tmp_path) -> None:
    config = replace(SMALL, env_options={}, objective="careful")
    with pytest.raises(ValueError, match="does not tell its 'cost' in info, which the objective 'careful' learns from"):
        train(config, tmp_path, lambda line: None)


def test_names_nobody_knows_are_refused_before_a_run_begins(tmp_path) -> None:
    with pytest.raises(ValueError, match="no objective 'wings'; there are careful, ordinary"):
        find_objective("wings")
    for change in ({"objective": "wings"}, {"variant": "wings"}):
        with pytest.raises(ValueError, match="there are"):
            train(replace(SMALL, **change), tmp_path / "run", lambda line: None)
        assert not (tmp_path / "run").exists()


def test_the_ordinary_objective_hears_of_the_reward_only(tmp_path) -> None:
    train(replace(SMALL, updates=1), tmp_path, lambda line: None)
    assert sorted(path.name for path in (tmp_path / "replay").glob("*.bin")) == [
        "action.bin", "deter.bin", "first.bin", "proceed.bin", "sensor%2Fglow.bin", "sensor%2Fwhere.bin",
        "signal%2Freward.bin", "stoch.bin",
    ]  # fmt: skip
    assert all("policy_cost" not in line for line in log.read(tmp_path))
