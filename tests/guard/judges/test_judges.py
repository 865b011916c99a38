"""What a judge may do: remember rows, hand over a belief, ask for a reset, give a reason per sensor and row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch

import wiser
from tests import tiny
from wiser.guard import (
    JUDGES,
    CalibrationError,
    Evidence,
    Exhaustive,
    Greedy,
    Guard,
    Look,
    Mode,
    RandomMask,
    Rejection,
    Ruling,
    TrustAll,
    judge_by_name,
)
from wiser.guard.draws import RowDraws
from wiser.guard.judges.candidates import least_surprising
from wiser.guard.judges.judge import prior_where
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief

SENSORS = tiny.images(3)
NEVER = torch.zeros(2, dtype=torch.bool)


class Own:
    """A judge from a function `rule(evidence) -> Ruling`, as short as one can be."""

    needs = ()

    def __init__(self, rule) -> None:
        self.rule = rule

    def start(self, model, rows, calibration):
        return self


def trust(evidence: Evidence, trusted: torch.Tensor) -> Ruling:
    return least_surprising(evidence.look, trusted[:, None], trusted.any(1, keepdim=True), "left out")


def batches(count: int, rows: int = 2) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [tiny.batch(SENSORS, rows, rng) for _ in range(count)]


@dataclass(frozen=True)
class TiresOf:
    """Trusts a sensor for so many steps of an episode."""

    sensor: str
    patience: int
    needs: ClassVar[tuple[str, ...]] = ()

    def start(self, model, rows, calibration):
        return Tired([sensor.name for sensor in model.sensors].index(self.sensor), self.patience, torch.zeros(rows))


@dataclass
class Tired:
    column: int
    patience: int
    seen: torch.Tensor  # (B,)

    def rule(self, evidence: Evidence) -> Ruling:
        self.seen = torch.where(evidence.begin, 0, self.seen) + 1
        trusted = evidence.healthy.clone()
        trusted[:, self.column] &= self.seen <= self.patience
        counted = self.seen.clone()
        return trust(evidence, trusted)._replace(why=lambda row, column: f"seen {int(counted[row])} times")


def test_a_judge_remembers_each_row_and_forgets_it_where_an_episode_begins() -> None:
    judge = TiresOf("camera1", patience=2)
    guards = [Guard(tiny.model(SENSORS), judge, rows=2) for _ in range(2)]  # one object, two memories
    starts = [[True, True], [False, False], [False, False], [False, True], [False, False], [False, False]]
    told = []
    for guard in guards:
        for obs, first in zip(batches(6), starts, strict=True):
            _, verdict = guard.act(obs, first)
            told.append([reasons.get("camera1", "") for reasons in verdict.reasons])
    once = [["", ""]] * 2 + [["seen 3 times"] * 2, ["seen 4 times", ""], ["seen 5 times", ""]]
    assert told == [*once, ["seen 6 times", "seen 3 times"]] * 2


class Twin:
    """Follows the rows with a belief of its own, from one sensor, and hands it over when told."""

    needs = ()

    def __init__(self, model, column: int) -> None:
        self.model, self.belief, self.hands_over = model, model.initial(2), NEVER
        self.mask = torch.zeros(2, len(model.sensors), dtype=torch.bool)
        self.mask[:, column] = True

    def start(self, model, rows, calibration):
        return self

    def rule(self, evidence: Evidence) -> Ruling:
        prior = self.model.predict(self.belief, evidence.action, evidence.begin)
        logprobs = self.model.infer(prior, evidence.look.features, self.mask[:, None])[:, 0]
        self.belief = Belief(prior.deter, one_hot_mode(logprobs))
        ruling = trust(evidence, evidence.healthy)
        if not self.hands_over.any():
            return ruling
        return ruling._replace(trusted=self.mask, prior=prior, logprobs=logprobs)


def test_a_belief_that_is_handed_over_is_carried_on_and_follows_what_was_really_done() -> None:
    model = tiny.model(SENSORS)
    twin = Twin(model, column=1)
    guard = Guard(model, twin, rows=2, sample_latents=False)
    belief, action, one = model.initial(2), torch.zeros(2, 5), torch.tensor([[[False, True, False]]] * 2)
    for step, obs in enumerate(batches(5)):
        twin.hands_over = torch.tensor([True, True]) if step == 3 else NEVER
        _, verdict = guard.act(obs)
        prior = model.predict(belief, action, torch.full((2,), step == 0))
        logprobs = model.infer(prior, model.embed(tiny.tensors(obs)), one)[:, 0]
        if step == 4:  # the guard's own prior now comes from what it was given
            torch.testing.assert_close(guard.evidence.look.prior.deter, prior.deter)
        belief = Belief(prior.deter, one_hot_mode(logprobs))
        assert torch.allclose(guard.belief.deter, belief.deter) == (step in (0, 3, 4))
        if step == 3:
            assert torch.equal(guard.belief.stoch, belief.stoch)
            assert verdict.trusted.tolist() == [[False, True, False]] * 2
        action = torch.eye(5)[[step, 4 - step]]
        guard.executed(np.array([step, 4 - step]))


def test_a_judge_may_ask_for_a_context_reset_in_some_rows() -> None:
    def rule(evidence: Evidence) -> Ruling:
        look, rows = evidence.look, torch.tensor([False, True])
        whole = trust(evidence, evidence.healthy)
        return whole._replace(
            prior=prior_where(rows, look.reset_prior, look.prior),
            logprobs=torch.where(rows[:, None, None], look.reset_posterior, whole.logprobs),
            reset=rows,
        )

    model = tiny.model(SENSORS)
    guard, plain = (Guard(model, judge, rows=2, sample_latents=False) for judge in (Own(rule), "none"))
    first, second = batches(2)
    for obs in (first, second):
        _, verdict = guard.act(obs)
    plain.act(first)
    plain.executed(guard.evidence.action.argmax(1).numpy())
    plain.act(second)
    fresh = Guard(model, "none", rows=2, sample_latents=False)
    fresh.act(second)
    assert verdict.reset.tolist() == [False, True]
    assert torch.equal(guard.belief.deter[1], fresh.belief.deter[1])
    assert torch.equal(guard.belief.stoch[1], fresh.belief.stoch[1])
    assert torch.equal(guard.belief.deter[0], plain.belief.deter[0])


def test_reasons_are_asked_for_each_sensor_and_row_that_is_healthy_and_not_trusted() -> None:
    trusted = torch.tensor([[True, False, False], [True, True, False]])
    asked = []

    def why(row: int, column: int) -> str:
        asked.append((row, column))
        return f"reason {row}{column}"

    guard = Guard(tiny.model(SENSORS), Own(lambda evidence: trust(evidence, trusted)._replace(why=why)), rows=2)
    obs = batches(1)[0]
    del obs["camera2"]
    _, verdict = guard.act(obs)
    assert verdict.reasons == [{"camera1": "reason 01", "camera2": "missing"}, {"camera2": "missing"}]
    assert asked == [(0, 1)]


@pytest.mark.parametrize("part", ["prior", "logprobs"])
def test_a_belief_that_is_not_finite_goes_no_further_than_its_judge(part: str) -> None:
    def rule(evidence: Evidence) -> Ruling:
        ruling = trust(evidence, evidence.healthy)
        broken = torch.tensor([0.0, torch.nan])
        if part == "logprobs":
            return ruling._replace(logprobs=ruling.logprobs + broken[:, None, None])
        return ruling._replace(prior=ruling.prior._replace(deter=ruling.prior.deter + broken[:, None]))

    guard = Guard(tiny.model(SENSORS, tiny.CONTINUOUS), Own(rule), rows=2)
    for obs in batches(2):
        action, verdict = guard.act(obs)
        assert torch.equal(guard.belief.deter[1], guard.evidence.look.prior.deter[1]), "it predicts"
        assert torch.isfinite(guard.belief.stoch).all()
        assert np.isfinite(action).all()
        assert verdict.mode.tolist() == [Mode.GROUNDED, Mode.PREDICTIVE]
        assert verdict.reasons == [{}, dict.fromkeys(guard.sensor_names, "no finite posterior")]
        assert not verdict.reset.any()


class HalfBlind:
    """A model whose posterior of the second row is not finite."""

    def __init__(self, model) -> None:
        self.model = model

    def __getattr__(self, name: str):
        return getattr(self.model, name)

    def infer(self, *given):
        return self.model.infer(*given) + torch.tensor([0.0, torch.nan])[:, None, None, None]


@pytest.mark.parametrize("judge", [TrustAll(), Greedy(), Exhaustive(), RandomMask(), Rejection(tau=1e9)])
def test_rows_without_a_finite_posterior_trust_nothing(judge) -> None:
    model = tiny.model(SENSORS)
    look = Look(
        HalfBlind(model),
        model.predict(model.initial(2), torch.zeros(2, 5), torch.ones(2, dtype=torch.bool)),
        obs := tiny.tensors(batches(1)[0]),
        model.embed(obs),
        torch.ones(2, 3, dtype=torch.bool),
    )
    evidence = Evidence(look, torch.ones(2, dtype=torch.bool), torch.zeros(2, 5), RowDraws(0, 2))
    ruling = judge.start(look.model, 2, None).rule(evidence)
    assert ruling.trusted.any(1).tolist() == [True, False]
    assert torch.isnan(ruling.surprise).tolist() == [False, True]
    assert torch.equal(ruling.logprobs[1], look.prior.logprobs[1])
    assert torch.isfinite(ruling.logprobs).all()


def test_a_repaired_reading_is_what_the_judge_says() -> None:
    repaired = torch.tensor([True, False])
    guard = Guard(tiny.model(SENSORS), Own(lambda e: trust(e, e.healthy)._replace(repaired=repaired)), rows=2)
    assert guard.act(batches(1)[0])[1].mode.tolist() == [Mode.DENOISED, Mode.GROUNDED]


def test_judges_go_by_name_and_unknown_names_list_the_known() -> None:
    assert all(judge_by_name(name) is judge for name, judge in JUDGES.items())
    own = Own(None)
    assert judge_by_name(own) is own
    with pytest.raises(ValueError, match="unknown judge 'oracle'; choose from none, greedy, exhaustive"):
        judge_by_name("oracle")


def test_a_calibration_is_read_only_for_judges_that_need_one(tmp_path) -> None:
    wiser.save(tiny.model(SENSORS), tmp_path)
    (tmp_path / "calibration.json").write_text("damaged")
    for judge in ("none", "greedy", "exhaustive", "random", Rejection(tau=0.1)):
        assert judge_by_name(judge).needs == ()
        Guard(wiser.load(tmp_path), judge)
    needs = {"calibrated": ("surprise",), "reject": ("reconstruction",), "predict": ("reconstruction", "surprise")}
    for judge, names in needs.items():
        assert JUDGES[judge].needs == names
        with pytest.raises(CalibrationError):
            Guard(wiser.load(tmp_path), judge)


def test_rejection_needs_the_scores_whose_thresholds_are_not_given() -> None:
    reference = {"transitions": "reference", "score": "surprise"}
    assert Rejection(**reference).needs == ("surprise", "reconstruction")
    assert Rejection(**reference, tau=1.0).needs == ("reconstruction",), "a repaired reading must fit the context"
    assert Rejection(**reference, tau=1.0, tau_context=1.0).needs == ()
    assert Rejection(**reference, tau=1.0, denoiser=None).needs == ()
    assert Rejection(transitions="reference", tau=1.0).needs == ()
