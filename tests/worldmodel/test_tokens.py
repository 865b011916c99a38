"""Learned tokens for missing sensors: what a masked sensor then is, what learns, and how such a model begins."""

import numpy as np
import pytest
import torch

import wiser
from tests import naive, tiny
from wiser.train.warmstart import carry_over
from wiser.worldmodel.dreamer import DreamerV3

SENSORS = (tiny.image("camera"), tiny.vector("speed"), tiny.image("thermal"))


def prior_and_obs(model: DreamerV3, rows: int = 3):
    obs = tiny.tensors(tiny.batch(model.sensors, rows, np.random.default_rng(0)))
    return model.predict(model.initial(rows), torch.zeros(rows, 5), torch.ones(rows, dtype=torch.bool)), obs


def posterior(model: DreamerV3, trusted: list[bool]) -> torch.Tensor:
    prior, obs = prior_and_obs(model)
    return model.infer(prior, model.embed(obs), torch.tensor(trusted).expand(3, 1, -1))[:, 0]


def by_hand(model: DreamerV3, trusted: list[bool]) -> torch.Tensor:
    """The published way with tokens: features of what is there, tokens for what is not, one dense layer over all."""
    prior, obs = prior_and_obs(model)
    fusion, tokens, parts = model.fusion, iter(model.fusion.tokens), []
    for column, tower in ((0, fusion.towers[0]), (2, fusion.towers[1])):
        token, seen = next(tokens), tower(obs[model.sensors[column].name].float() / 255)
        parts.append(seen if trusted[column] else token.expand_as(seen))
    speed = torch.sign(obs["speed"]) * torch.log(1 + obs["speed"].abs())
    parts.append(fusion.vectors.layers(speed if trusted[1] else fusion.vectors.token.expand_as(speed)))
    weights = [*(p.weight for p in fusion.projections), fusion.vectors.projection.weight]
    first = prior.deter @ model.posterior.from_deter.weight.T + model.posterior.from_deter.bias
    first = first + torch.cat(parts, -1) @ torch.cat(weights, -1).T
    return model.posterior.head(model.posterior.norm(first))


@pytest.mark.parametrize("code", range(8))
def test_a_masked_sensor_is_its_token(code: int) -> None:
    model = tiny.model(SENSORS, missing="token")  # every weight disturbed, tokens too
    trusted = [bool(code >> i & 1) for i in range(3)]
    torch.testing.assert_close(posterior(model, trusted), by_hand(model, trusted))


def test_what_is_masked_has_no_influence_and_the_token_has() -> None:
    model = tiny.model(SENSORS, missing="token")
    prior, obs = prior_and_obs(model)
    mask = torch.tensor([[[False, False, True]]]).expand(3, 1, 3)
    before = model.infer(prior, model.embed(obs), mask)
    other = {**obs, "camera": 255 - obs["camera"], "speed": -obs["speed"]}
    assert torch.equal(model.infer(prior, model.embed(other), mask), before)
    for token in (model.fusion.tokens[0], model.fusion.vectors.token):
        with torch.no_grad():
            token += 1.0
        after = model.infer(prior, model.embed(obs), mask)
        assert not torch.allclose(after, before)
        before = after


def test_tokens_learn_where_sensors_are_left_out() -> None:
    model = tiny.model(SENSORS, missing="token").requires_grad_(True)
    prior, obs = prior_and_obs(model)
    mask = torch.tensor([[[False, False, True]]]).expand(3, 1, 3)
    model.infer(prior, model.embed(obs), mask)[..., 0].sum().backward()
    assert float(model.fusion.tokens[0].grad.abs().sum()) > 0
    assert float(model.fusion.vectors.token.grad.abs().sum()) > 0
    assert float(model.fusion.tokens[1].grad.abs().sum()) == pytest.approx(0, abs=1e-6), "it was there"


def test_without_tokens_nothing_has_changed() -> None:
    plain, tokens = (DreamerV3(tiny.config(SENSORS, missing=kind), seed=3) for kind in ("zero", "token"))
    extra = {"fusion.tokens.0", "fusion.tokens.1", "fusion.vectors.token"}
    assert set(tokens.state_dict()) - set(plain.state_dict()) == extra
    assert all(torch.equal(value, tokens.state_dict()[name]) for name, value in plain.state_dict().items())
    q = naive.posterior(plain, *prior_and_obs(plain), [True, False, False])
    torch.testing.assert_close(posterior(plain, [True, False, False]), q)


def test_a_model_with_tokens_begins_just_as_the_agent_it_starts_from() -> None:
    source = tiny.model((tiny.image("radar"), *reversed(SENSORS)))
    model = tiny.model(SENSORS, seed=5, missing="token")
    same = tiny.model(SENSORS, seed=6)
    for started in (model, same):
        carry_over(started, source)
    for code in range(8):
        trusted = [bool(code >> i & 1) for i in range(3)]
        torch.testing.assert_close(posterior(model, trusted), posterior(same, trusted))
    with torch.no_grad():
        model.fusion.tokens[1] += 1.0
    again = tiny.model(SENSORS, seed=7, missing="token")
    carry_over(again, model)
    assert torch.equal(again.fusion.tokens[1], model.fusion.tokens[1])


def test_tokens_are_stored_and_files_without_the_field_have_none(tmp_path) -> None:
    model = tiny.model(SENSORS, missing="token")
    wiser.save(model, tmp_path)
    loaded = wiser.load(tmp_path)
    assert loaded.config.missing == "token"
    assert torch.equal(loaded.fusion.tokens[1], model.fusion.tokens[1])
    old = tiny.config(SENSORS).to_json()
    del old["missing"]
    assert type(model.config).from_json(old) == tiny.config(SENSORS)
    with pytest.raises(ValueError, match="needs a tower for each sensor"):
        tiny.config(tiny.images(2), missing="token", fusion="channels")
    with pytest.raises(ValueError, match="unknown missing 'nothing'; choose from zero, token"):
        tiny.config(SENSORS, missing="nothing")
