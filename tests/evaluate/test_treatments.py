"""Treatments with learned scores and denoisers: named, told more, and known by the content of their weights."""

import numpy as np
import pytest
import torch
import yaml

import wiser
from tests import tiny
from wiser.evaluate.plan import Plan
from wiser.evaluate.treatments import Treatment, find_treatment
from wiser.guard import Calibration, Chain, Greedy, Rejection
from wiser.guard.learned import ResNet18, read_network, write_network

SENSORS = (tiny.image("camera"),)


@pytest.fixture
def agent(tmp_path):
    folder = tmp_path / "agent"
    wiser.save(tiny.model(SENSORS), folder)
    Calibration.of({"reconstruction": np.array([0.1, 0.2])}).save(folder)
    return wiser.load(folder)


def learn(agent, seed: int) -> None:
    torch.manual_seed(seed)
    write_network("resnet18", ResNet18(3, 4), agent.folder, "camera")


def test_a_plan_names_score_and_denoiser_and_where_their_weights_are() -> None:
    text = "{judge: {reject: {score: resnet18@a/b.safetensors, denoiser: interpolate-published, tau: calibrated}}}"
    described = Treatment.from_dict(yaml.safe_load(text))
    assert described.judge == Rejection("resnet18@a/b.safetensors", "interpolate-published", tau="calibrated")
    nothing = Treatment.from_dict({"judge": {"reject": {"denoiser": None}}})
    assert nothing.judge == Rejection(denoiser=None)
    for setting, wrong in (("score", "charm"), ("denoiser", "bleach")):
        with pytest.raises(ValueError, match=f"unknown {setting} '{wrong}'; there are"):
            Treatment.from_dict({"judge": {"reject": {setting: wrong}}})


def test_a_name_may_be_followed_by_settings() -> None:
    found = find_treatment("reject:score=surprise,denoiser=null,k=3")
    assert found.judge == Rejection("surprise", None, k=3)
    assert find_treatment("reject-reference:k=2").judge == Rejection(transitions="reference", k=2)
    assert find_treatment("greedy:required=[a,b],depth=2").judge == Greedy(required=["a", "b"], depth=2)
    for wrong in ("reject:", "reject:score", "reject:score=surprise,denoiser", "reject:score=[", "reject:k=1,k=2"):
        with pytest.raises(ValueError, match="KEY=VALUE,KEY=VALUE"):
            find_treatment(wrong)
    with pytest.raises(ValueError, match=r"unknown fields \['deep'\] of judge 'greedy'"):
        find_treatment("greedy:deep=2")
    with pytest.raises(ValueError, match=r"unknown treatment 'rejct' \(did you mean 'reject'\?\)"):
        find_treatment("rejct:score=surprise")
    plan = {"tasks": ["StopSign"], "agents": ["stop-sign/single"], "failures": [0]}
    named = Plan.from_dict({**plan, "treatments": ["none", "reject:denoiser=interpolate"]}).jobs()
    assert [job.treatment.judge for job in named] == ["none", Rejection(denoiser="interpolate")]


def test_the_digest_covers_the_content_of_learned_weights(agent) -> None:
    learned, plain = Treatment(Rejection("resnet18")), Treatment(Rejection())
    before = plain.digest(agent)
    with pytest.raises(ValueError, match=r"no weights of resnet18 .*`wiser learn resnet18 AGENT ENV`"):
        learned.digest(agent)
    same = set()
    for _ in range(8):  # the bytes of a file differ from time to time
        learn(agent, 0)
        same.add(learned.digest(agent))
    assert len(same) == 1
    learn(agent, 1)
    other = learned.digest(agent)
    assert other not in same
    write_network("resnet18", read_network("resnet18", agent.folder / "resnet18.safetensors")[0], agent.folder, "lidar")
    assert learned.digest(agent) not in {*same, other}, "the same weights for another sensor"
    torch.save(ResNet18(3, 4).state_dict(), agent.folder / "theirs.pth")
    theirs = Treatment(Rejection(f"resnet18@{agent.folder}/theirs.pth"))
    before_them = theirs.digest(agent)
    torch.save(ResNet18(3, 4).state_dict(), agent.folder / "theirs.pth")
    assert theirs.digest(agent) != before_them
    assert plain.digest(agent) == before, "what uses no weights does not depend on them"
    chained = [Treatment(Chain(Greedy(), Rejection("resnet18"))).digest(agent)]
    learn(agent, 2)
    assert Treatment(Chain(Greedy(), Rejection("resnet18"))).digest(agent) != chained[0]


def test_the_digest_tells_scores_and_denoisers_apart(agent) -> None:
    learn(agent, 0)
    judges = [
        Rejection(score, denoiser, tau=1.0)
        for score in ("reconstruction", "surprise", "resnet18", f"resnet18@{agent.folder}/resnet18.safetensors")
        for denoiser in ("posterior", "interpolate", "interpolate-published", None)
    ]
    assert len({Treatment(judge).digest(agent) for judge in judges}) == 16


def test_presets_are_the_two_ablations_of_the_paper() -> None:
    scores, denoisers = Plan.read("driving-scores"), Plan.read("driving-denoisers")
    for plan in (scores, denoisers):
        assert set(plan.disturbances) == {"gaussian", "chrome", "jitter", "glare", "occlusion"}
        assert (plan.tasks, plan.agents, next(iter(plan.treatments))) == (("FourLane",), ("single",), "base")
    assert (scores.proportions, scores.intensities) == ((0.75, 0.875), (1.0,))
    assert denoisers.intensities == (0.625, 0.75)
    assert [t.judge for t in scores.own_treatments.values()] == [
        "none", Rejection(), Rejection("surprise"), Rejection("resnet18")
    ]  # fmt: skip
    others = [Rejection(denoiser=name) for name in ("interpolate", "interpolate-published", "restormer")]
    assert [t.judge for t in denoisers.own_treatments.values()] == ["none", Rejection(), *others]
