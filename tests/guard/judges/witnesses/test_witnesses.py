"""The judge as a whole: own beliefs that nobody colours, a stated rate of false alarms, sound sensors unharmed."""

import numpy as np
import pytest
import torch

from tests import tiny
from tests.calibrating import calibrate
from wiser.guard import Guard, Level, Witnesses
from wiser.guard.judges.judge import Diagnosis
from wiser.guard.judges.witnesses.bank import Bank
from wiser.guard.judges.witnesses.court import Sentence
from wiser.guard.judges.witnesses.norms import ALARM, TOTAL, Suspicion
from wiser.guard.judges.witnesses.streams import Compared
from wiser.worldmodel.latents import kl_categorical
from wiser.worldmodel.protocol import Belief, Prior

SENSORS = (*tiny.images(2), tiny.vector("speed"))
LENIENT = Witnesses(false_alarms=1e-3)


def stream(model, rows: int, seed: int = 0, steps: int = 25):
    """Readings that change a little from step to step, in episodes of some length."""
    rng, count, obs = np.random.default_rng(seed), 0, {}

    def step(actions):
        nonlocal count, obs
        begins = actions is None or count % steps == 0
        fresh = tiny.batch(model.sensors, rows, rng)
        obs = fresh if begins else {name: _blend(obs[name], fresh[name]) for name in fresh}
        count = 1 if begins else count + 1
        return obs, np.full(rows, begins)

    return step


def _blend(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return (0.8 * old + 0.2 * new).astype(old.dtype)


@pytest.fixture(scope="module")
def case():
    model = tiny.model(SENSORS)
    return model, calibrate(model, stream(model, 16), rows=16, steps=300, beginnings=64, judges=(Witnesses(),))


def drive(guard: Guard, model, rows: int, seed: int, steps: int = 60, harm=lambda step, obs: obs):
    """Verdicts of some steps."""
    step, actions, found = stream(model, rows, seed), None, []
    for count in range(steps):
        obs, first = step(actions)
        actions, verdict = guard.act(harm(count, obs), first)
        found.append((actions, verdict))
    return found


def test_each_witness_is_a_filter_of_its_own(case) -> None:
    """N x B separate filters, one sensor and one row at a time, with the same draws."""
    model, _ = case
    guard, bank, step, actions = Guard(model, "none", rows=2, seed=4), Bank(model, 2), stream(model, 2, 5), None
    beliefs = {(row, i): model.initial(1) for row in range(2) for i in range(3)}
    draws = guard.draws.apart("witnesses")
    for _ in range(6):
        obs, first = step(actions)
        actions, _ = guard.act(obs, first)
        told, noise = bank.hear(guard.evidence), draws.uniform(18).reshape(2, 3, 6)
        for (row, i), belief in beliefs.items():
            mask = torch.eye(3, dtype=torch.bool)[i][None, None]
            one = {name: torch.from_numpy(value[row : row + 1]) for name, value in obs.items()}
            done, begins = guard.evidence.action[row : row + 1], guard.evidence.begin[row : row + 1]
            prior = model.predict(belief, done, begins)
            posterior = model.infer(prior, model.embed(one), mask)[:, 0]
            assert told.nats[row, i] == pytest.approx(float(kl_categorical(posterior, prior.logprobs)), abs=1e-4)
            below = posterior[0].exp().cumsum(-1) <= torch.from_numpy(noise[row, i])[:, None]
            latent = torch.nn.functional.one_hot(below.sum(-1).clamp(max=3), 4).float()[None]
            beliefs[row, i] = Belief(prior.deter, latent)


def test_what_others_show_changes_nothing_about_ones_own_surprise(case) -> None:
    model, calibration = case

    def lies(step: int, obs):
        return {**obs, "camera1": np.full_like(obs["camera1"], 255), "speed": 50 + 0 * obs["speed"]}

    alone, outvoted = (
        [
            verdict.scores["own_surprise"][:, 0]
            for _, verdict in drive(_following(model, calibration), model, 2, 6, harm=harm)
        ]
        for harm in (lambda step, obs: obs, lies)
    )
    np.testing.assert_allclose(alone, outvoted, atol=1e-5)


def _following(model, calibration):
    """A guard that always does the same, so that what is done does not depend on what it sees."""
    guard = Guard(model, Witnesses(), rows=2, calibration=calibration, seed=3)
    act = guard.act

    def same(obs, first=None):
        actions, verdict = act(obs, first)
        guard.executed(np.zeros_like(actions))
        return np.zeros_like(actions), verdict

    guard.act = same
    return guard


def test_without_suspicion_the_agent_acts_as_without_a_guard_bit_for_bit(case) -> None:
    model, calibration = case
    guards = [Guard(model, judge, rows=4, calibration=calibration, seed=9) for judge in ("none", LENIENT)]
    for (one, _), (other, verdict) in zip(*(drive(guard, model, 4, 7) for guard in guards), strict=True):
        assert verdict.trusted.all()
        np.testing.assert_array_equal(one, other)
    assert all(torch.equal(a, b) for a, b in zip(guards[0].belief, guards[1].belief, strict=True))


@pytest.mark.parametrize("rate", [10.0, 50.0])
def test_false_alarms_are_as_many_as_configured(case, rate: float) -> None:
    model, calibration = case
    judge = Witnesses(false_alarms=rate, useful=None)
    guard = Guard(model, judge, rows=32, calibration=calibration, seed=100)
    found = drive(guard, model, 32, seed=11, steps=250)
    suspected = np.mean([verdict.scores["suspicion"] > 1.0 for _, verdict in found])
    assert 0.4 * rate < 1000 * suspected < 2.5 * rate


def test_permuted_sensors_are_permuted_testimonies(case) -> None:
    """Of a model whose towers are permuted likewise."""
    model, _ = case
    other = tiny.model((SENSORS[1], SENSORS[0], SENSORS[2]))
    state = model.state_dict()
    swapped = {name.replace("towers.0", "towers.x").replace("towers.1", "towers.0").replace("towers.x", "towers.1")
               .replace("projections.0", "projections.x").replace("projections.1", "projections.0")
               .replace("projections.x", "projections.1"): value for name, value in state.items()}  # fmt: skip
    other.load_state_dict({**state, **{name: swapped[name] for name in state if name.startswith("fusion")}})
    one, two = Bank(model, 1), Bank(other, 1)
    guards = [Guard(m, "none") for m in (model, other)]
    obs = tiny.observation(SENSORS, np.random.default_rng(0))
    for guard in guards:
        guard.act(obs)
    told, again = one.hear(guards[0].evidence), two.hear(guards[1].evidence)
    torch.testing.assert_close(told.nats[:, [1, 0, 2]], again.nats, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(told.shown[:, [1, 0, 2]], again.shown, rtol=1e-4, atol=1e-4)


def thrown_off(case, frozen: bool, rescue: str):
    """Guards whose shared belief is thrown off on purpose, while a sensor stands still or not, and their verdicts."""
    model, calibration = case
    judge = Witnesses(false_alarms=200.0, useful=None, rescue=rescue)
    for seed in range(8):
        guard, step, actions = Guard(model, judge, calibration=calibration, seed=seed), stream(model, 1, seed), None
        still = None
        for count in range(25):
            obs, first = step(actions)
            shown = {name: value[0] for name, value in obs.items()}
            if frozen:
                still = shown["camera1"].copy() if still is None else still
                shown["camera1"] = still
            if count == 24:
                guard._belief = Belief(3 * torch.ones_like(guard.belief.deter), guard.belief.stoch)
            action, verdict = guard.act(shown, bool(first[0]))
            actions = np.array([action])
        yield guard, verdict, Level.STALE in verdict.level


def test_a_witness_is_believed_where_stale_sensors_may_have_led_the_shared_belief_astray(case) -> None:
    model, _ = case
    taken = 0
    for frozen in (True, False):
        for guard, verdict, stale in thrown_off(case, frozen, "witness"):
            prior = guard.evidence.look.prior
            other = not torch.equal(guard.belief.deter, prior.deter)
            assert not other or stale
            if verdict.trusted.any():
                assert verdict.surprise <= float(_surprise(model, guard, prior, verdict.trusted)) + 1e-5
            assert not verdict.reset
            taken += other
    assert taken >= 2


def test_a_context_reset_may_be_the_rescue(case) -> None:
    model, _ = case
    resets = [(guard, bool(verdict.reset)) for guard, verdict, _ in thrown_off(case, True, "reset")]
    assert sum(reset for _, reset in resets) >= 2
    for guard, reset in resets:
        start, shared = Bank(model, 1).start.deter, guard.evidence.look.prior.deter
        torch.testing.assert_close(guard.belief.deter, start if reset else shared)


def test_a_shared_belief_may_be_kept_in_any_case(case) -> None:
    for guard, _, _ in thrown_off(case, True, "keep"):
        assert torch.equal(guard.belief.deter, guard.evidence.look.prior.deter)


def _surprise(model, guard: Guard, prior: Prior, trusted) -> torch.Tensor:
    mask = torch.from_numpy(np.asarray(trusted))[None, None]
    return kl_categorical(model.infer(prior, guard.evidence.look.features, mask)[:, 0], prior.logprobs)


def test_nothing_is_taken_over_where_nothing_is_stale(case) -> None:
    taken = dict.fromkeys((False, True), 0)
    for guard, _, _ in thrown_off(case, True, "witness"):
        court, evidence = guard.sitting, guard.evidence
        told, everything = court.bank.hear(evidence), torch.ones_like(evidence.healthy)
        for stale in taken:
            fine = Diagnosis(torch.zeros(1, 3), torch.zeros(1, 3))
            sentence = Sentence(everything, everything, torch.full_like(everything, stale), fine)
            taken[stale] += bool(court._believe(evidence.look, told, sentence, evidence.begin)[3])
    assert not taken[False]
    assert taken[True] >= 2


def test_if_all_are_suspected_the_least_suspicious_that_shows_the_present_is_used(case) -> None:
    model, calibration = case
    court = Witnesses().start(model, 4, calibration)
    healthy = torch.tensor([[1, 1, 1]] * 3 + [[1, 0, 0]], dtype=torch.bool)
    stale = torch.tensor([[0, 0, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]], dtype=torch.bool)
    suspicion, nothing = torch.tensor([[1.2, 3.0, 2.0]] * 4), torch.zeros(4, 3)
    compared = Compared(nothing, nothing.long(), nothing, torch.zeros(4, 3, 3))
    against = Suspicion(nothing, nothing, torch.where(stale, 1e6, 0.0), nothing)
    used = court._sentence(healthy, healthy, suspicion, against, compared)
    assert torch.equal(used.trusted, torch.tensor([[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=torch.bool))
    assert torch.equal(used.stale, stale)
    odd = against._replace(now=torch.full((4, 3), 1e6))  # no frame that is odd by itself
    assert not court._sentence(healthy, healthy, suspicion, odd, compared).trusted.any()


def test_calibration_has_what_it_takes(case) -> None:
    _, calibration = case
    for sensor in SENSORS:
        for kind in (TOTAL, ALARM, "own_surprise", "lateness", "stillness"):
            assert f"{kind}/{sensor.name}" in calibration.scores
    assert "agreement/camera0/speed" in calibration.scores


def test_wrong_settings_and_no_calibration_are_errors(case) -> None:
    model, _ = case
    with pytest.raises(ValueError, match="false_alarms"):
        Witnesses(false_alarms=0.0)
    with pytest.raises(ValueError, match="near"):
        Witnesses(near=40)
    with pytest.raises(ValueError, match="witness, reset, keep"):
        Witnesses(rescue="hope")
    with pytest.raises(ValueError, match="needs a calibration"):
        Guard(model, Witnesses())


def test_rows_are_judged_apart_and_bad_readings_do_no_harm(case) -> None:
    model, calibration = case
    settings = {"calibration": calibration, "judge": Witnesses(false_alarms=50.0)}
    together = Guard(model, **settings, rows=4, seed=20)
    alone = [Guard(model, **settings, seed=20 + row) for row in range(4)]
    rng = np.random.default_rng(1)
    for step in range(30):
        obs = tiny.batch(model.sensors, 4, rng)
        obs["speed"][step % 4] = np.nan
        first = rng.random(4) < 0.1
        actions, verdict = together.act(obs, first)
        for row, guard in enumerate(alone):
            action, single = guard.act({name: value[row] for name, value in obs.items()}, bool(first[row]))
            assert np.array_equal(verdict.trusted[row], single.trusted)
            assert verdict.reasons[row] == single.reasons
            assert actions[row] == action
        assert not verdict.trusted[step % 4, 2]
        assert torch.isfinite(together.belief.deter).all()
