"""Rejection in the loop: which belief is carried, thresholds, resets, and what is cleared at episode start."""

import numpy as np
import pytest
import torch

import wiser
from tests import tiny
from wiser.guard import Calibration, Guard, Mode, Rejection
from wiser.guard.look import Look
from wiser.guard.transitions import Stage
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief

SENSORS = (tiny.image("camera"),)


class Judge:
    """A score that answers what the test dictates: first M(x), then M(D(x))."""

    def __init__(self) -> None:
        self.verdicts: list[torch.Tensor] = []

    def __call__(self, look: Look) -> torch.Tensor:
        return self.verdicts.pop(0)


def scripted(transitions: str, rows: int = 1) -> tuple[Guard, Judge]:
    judge = Judge()
    rejection = Rejection(score=judge, tau=0.5, tau_context=1e9, transitions=transitions)
    return Guard(tiny.model(SENSORS), rejection, rows=rows, sample_latents=False), judge


def candidates(guard: Guard, obs: dict[str, torch.Tensor]) -> dict[str, Belief]:
    """The five beliefs of reference.md 2.1, computed from the model alone."""
    model, rows = guard.model, guard.rows
    never, always = torch.zeros(rows, dtype=torch.bool), torch.ones(rows, dtype=torch.bool)
    everything = torch.ones(rows, 1, 1, dtype=torch.bool)
    prior = model.predict(guard.belief, guard._action, never)
    start = model.predict(model.initial(rows), torch.zeros(rows, 5), always)

    def posterior(p, x):
        return Belief(p.deter, one_hot_mode(model.infer(p, model.embed(x), everything)[:, 0]))

    post = posterior(prior, obs)
    repaired = model.decode(post)
    return {
        "post": post,
        "post0": posterior(start, obs),
        "denoised": posterior(prior, repaired),
        "denoised0": posterior(start, repaired),
        "prior": Belief(prior.deter, one_hot_mode(prior.logprobs)),
    }


GOOD, BAD = 0.0, 1.0
# what M(x) and M(D(x)) say at each step -> the belief carried, and the mode
STORY = {
    "paper": [
        ((GOOD,), "post", Mode.GROUNDED),
        ((BAD, GOOD), "denoised", Mode.DENOISED),
        ((GOOD,), "post", Mode.GROUNDED),  # an accepted repaired frame keeps the context
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((BAD, GOOD), "denoised0", Mode.DENOISED),
        ((BAD, GOOD), "denoised", Mode.DENOISED),
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((GOOD,), "post0", Mode.GROUNDED),
    ],
    "keep": [
        ((GOOD,), "post", Mode.GROUNDED),
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((BAD, GOOD), "denoised", Mode.DENOISED),
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((GOOD,), "post", Mode.GROUNDED),  # what was predicted is the context
    ],
    "reference": [
        ((GOOD,), "post", Mode.GROUNDED),
        ((BAD, GOOD), "denoised", Mode.DENOISED),
        ((GOOD,), "post0", Mode.GROUNDED),  # the published code resets here
        ((BAD, BAD), "prior", Mode.PREDICTIVE),
        ((BAD, GOOD), "denoised", Mode.DENOISED),
        ((GOOD,), "post0", Mode.GROUNDED),
    ],
}


@pytest.mark.parametrize("transitions", STORY)
def test_the_belief_carried_is_the_one_the_table_names(transitions: str) -> None:
    guard, judge = scripted(transitions, rows=1)
    rng = np.random.default_rng(0)
    judge.verdicts = [torch.tensor([GOOD])]
    guard.act(tiny.batch(SENSORS, 1, rng))  # the first frame of the episode
    for scores, source, mode in STORY[transitions]:
        judge.verdicts = [torch.tensor([score]) for score in scores]
        obs = tiny.batch(SENSORS, 1, rng)
        expected = candidates(guard, tiny.tensors(obs))[source]
        _, verdict = guard.act(obs)
        torch.testing.assert_close(guard.belief.deter, expected.deter)
        assert torch.equal(guard.belief.stoch, expected.stoch)
        assert verdict.mode[0] == mode
        assert verdict.reset[0] == source.endswith("0")
        assert verdict.trusted[0].any() == (source != "prior")


def test_rows_decide_for_themselves() -> None:
    guard, judge = scripted("paper", rows=3)
    judge.verdicts = [torch.tensor([GOOD, BAD, BAD]), torch.tensor([GOOD, GOOD, BAD])]
    _, verdict = guard.act(tiny.batch(SENSORS, 3, np.random.default_rng(0)))
    assert verdict.mode.tolist() == [Mode.GROUNDED, Mode.DENOISED, Mode.PREDICTIVE]
    assert verdict.blind_steps.tolist() == [0, 0, 1]


@pytest.mark.parametrize("transitions", STORY)
def test_stage_and_blind_steps_are_cleared_at_episode_start(transitions: str) -> None:
    guard, judge = scripted(transitions)
    rng = np.random.default_rng(0)
    for _ in range(3):
        judge.verdicts = [torch.tensor([BAD]), torch.tensor([BAD])]
        _, verdict = guard.act(tiny.batch(SENSORS, 1, rng))
    assert verdict.blind_steps[0] == 3
    guard.reset()
    judge.verdicts = [torch.tensor([GOOD])]
    _, verdict = guard.act(tiny.batch(SENSORS, 1, rng))
    assert verdict.blind_steps[0] == 0
    assert not verdict.reset[0], "a new episode starts in stage 0: no context to reset"
    assert guard.sitting.stage.tolist() == [Stage.CLEAN]


def test_missing_frame_predicts_whatever_the_score_says() -> None:
    guard, judge = scripted("paper")
    obs = tiny.batch(SENSORS, 1, np.random.default_rng(0))
    judge.verdicts = [torch.tensor([GOOD])]
    guard.act(obs)
    expected = candidates(guard, {"camera": torch.zeros(1, 16, 16, 3)})
    assert not torch.equal(expected["prior"].stoch, expected["post"].stoch)
    judge.verdicts = [torch.tensor([GOOD]), torch.tensor([GOOD])]
    _, verdict = guard.act({})
    assert verdict.mode[0] == Mode.PREDICTIVE
    assert verdict.reasons == [{"camera": "missing"}]
    assert torch.equal(guard.belief.stoch, expected["prior"].stoch), "the prediction, not what a black frame suggests"
    judge.verdicts = [torch.tensor([GOOD])]
    _, verdict = guard.act(obs)
    assert verdict.reset[0], "predictive mode ends with a reset"


def test_reconstruction_score_against_a_plain_computation() -> None:
    model = tiny.model((*SENSORS, tiny.vector("speed")))
    obs = tiny.batch(model.sensors, 4, np.random.default_rng(0))
    _, verdict = Guard(model, Rejection(tau=1e9), rows=4).act(obs)
    always, everything = torch.ones(4, dtype=torch.bool), torch.ones(4, 1, 2, dtype=torch.bool)
    start = model.predict(model.initial(4), torch.zeros(4, 5), always)
    latent = one_hot_mode(model.infer(start, model.embed(tiny.tensors(obs)), everything)[:, 0])
    decoded = model.decode(Belief(start.deter, latent))
    camera = np.abs(obs["camera"] / 255.0 - decoded["camera"].numpy()).reshape(4, -1).mean(1)
    logs = [np.sign(x) * np.log1p(np.abs(x)) for x in (obs["speed"], decoded["speed"].numpy())]
    expected = (camera + np.abs(logs[0] - logs[1]).mean(1)) / 2
    np.testing.assert_allclose(verdict.scores["score"], expected, rtol=1e-5)


def test_threshold_comes_from_the_calibration_beside_the_weights(tmp_path) -> None:
    model = tiny.model(SENSORS)
    wiser.save(model, tmp_path)
    with pytest.raises(ValueError, match="calibration"):
        Guard(wiser.load(tmp_path), Rejection())
    Calibration.of({"reconstruction": np.array([0.1, 0.2, 0.3])}).save(tmp_path)
    guard = Guard(wiser.load(tmp_path), Rejection(k=2.0))
    guard.act(tiny.observation(model.sensors, np.random.default_rng(0)))
    _, tau = guard.sitting._measure(guard.evidence.look, torch.ones(1, dtype=torch.bool))
    assert float(tau) == pytest.approx(0.2 + 2 * np.std([0.1, 0.2, 0.3]))


@pytest.mark.parametrize("field", ["score", "denoiser", "transitions"])
def test_unknown_names_are_refused_with_the_choices(field: str) -> None:
    with pytest.raises(ValueError, match="choose"):
        Rejection(**{field: "nonsense"})
