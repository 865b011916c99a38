"""Ours and torchrl's DreamerV3 with the same weights give the same numbers: six quantities, to 1e-5."""

import pytest
import torch
from torch import nn

from tests import naive, tiny
from wiser.worldmodel.dreamer.maths import twohot_bins, twohot_cross_entropy, twohot_mean
from wiser.worldmodel.foresight import lambda_returns
from wiser.worldmodel.latents import kl_categorical, unimix_logprobs
from wiser.worldmodel.protocol import Belief, Prior

SENSORS = (tiny.image("camera"), tiny.vector("speed"))
LATENTS = {"num_categoricals": 6, "num_classes": 4, "hidden_dim": 24, "rnn_hidden_dim": 32}


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def mixed(logits: torch.Tensor) -> torch.Tensor:
    return torch.log(0.99 * torch.softmax(logits, -1) + 0.01 / logits.shape[-1])


def fill(peer: nn.Module, weights: list[torch.Tensor]) -> None:
    """Give the peer's parameters, in their order, these values."""
    with torch.no_grad():
        for parameter, weight in zip(peer.parameters(), weights, strict=True):
            assert parameter.shape == weight.shape
            parameter.copy_(weight)


def before(generator: torch.Generator) -> tuple[Belief, torch.Tensor]:
    codes = torch.randint(0, 4, (3, 6), generator=generator)
    stoch = nn.functional.one_hot(codes, 4).float()
    action = nn.functional.one_hot(torch.randint(0, 5, (3,), generator=generator), 5).float()
    return Belief(torch.randn(3, 32, generator=generator), stoch), action


def test_recurrent_step_and_prior() -> None:
    modules = pytest.importorskip("torchrl.modules")
    model = tiny.model(SENSORS)
    peer = modules.RSSMPriorV3(action_shape=(5,), action_dim=5, recurrent_model="block_gru", num_blocks=4, **LATENTS)
    fill(peer.rnn, list(model.gru.parameters()))
    fill(peer.rnn_to_prior_projector, list(model.prior.parameters()))
    belief, action = before(torch.Generator().manual_seed(0))
    prior = model.predict(belief, action, torch.zeros(3, dtype=torch.bool))
    logits, _, deter = peer(belief.stoch.flatten(1), belief.deter, action)
    close(prior.deter, deter)
    close(prior.logprobs, mixed(logits))


def test_posterior() -> None:
    modules = pytest.importorskip("torchrl.modules")
    model, generator = tiny.model(SENSORS), torch.Generator().manual_seed(1)
    obs = {
        "camera": torch.randint(0, 256, (3, 16, 16, 3), dtype=torch.uint8, generator=generator),
        "speed": torch.randn(3, 3, generator=generator),
    }
    embedding, weights = naive.encode(model, obs)
    peer = modules.RSSMPosteriorV3(obs_embed_dim=embedding.shape[1], use_rms_norm=True, **LATENTS)
    head = model.posterior
    first = torch.cat([head.from_deter.weight, weights], 1)
    fill(peer, [first, head.from_deter.bias, head.norm.scale, head.head.logits.weight, head.head.logits.bias])
    deter = torch.randn(3, 32, generator=generator)
    found = model.infer(Prior(deter, torch.zeros(3, 6, 4)), model.embed(obs), torch.ones(3, 1, 2, dtype=torch.bool))
    close(found[:, 0], mixed(peer(deter, embedding)[0]))


@pytest.fixture
def logits() -> tuple[torch.Tensor, torch.Tensor]:
    q, p = 3 * torch.randn(2, 7, 6, 4, generator=torch.Generator().manual_seed(2))
    return q, p


def surprise(q: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return kl_categorical(unimix_logprobs(q, 0.01), unimix_logprobs(p, 0.01))


def test_kl_is_that_of_torch_distributions(logits) -> None:
    q, p = (torch.distributions.Categorical(logits=mixed(x)) for x in logits)
    close(surprise(*logits), torch.distributions.kl_divergence(q, p).sum(-1))


@pytest.mark.parametrize("nats", [0.0, 13.0])
def test_kl(logits, nats: float) -> None:
    objectives = pytest.importorskip("torchrl.objectives")
    found = surprise(*logits)
    for term in objectives.categorical_kl_terms(*logits, free_nats=nats, unimix=0.01):
        close(found.clamp(min=nats).mean(), term)


def test_twohot() -> None:
    objectives = pytest.importorskip("torchrl.objectives")
    bins, generator = twohot_bins(255), torch.Generator().manual_seed(3)
    logits, values = torch.randn(64, 255, generator=generator), 50 * torch.randn(64, generator=generator)
    found = twohot_cross_entropy(torch.log_softmax(logits, -1), values, bins)
    close(found, objectives.two_hot_cross_entropy(logits, values, bins))
    close(twohot_mean(logits.double(), bins.double()), objectives.two_hot_decode(logits.double(), bins.double()))
    peer = pytest.importorskip("torchrl.modules").SymExpTwoHot(255)
    close(bins, peer.bins)


def test_lambda_returns() -> None:
    functional = pytest.importorskip("torchrl.objectives.value.functional")
    reward, value = torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(4))
    proceed = torch.rand(4, 16, generator=torch.Generator().manual_seed(5))
    found = lambda_returns(reward, 0.997 * proceed, 0.95, value)
    steps = [x[:, 1:, None] for x in (0.997 * proceed, value, reward)]
    never = torch.zeros(4, 15, 1, dtype=torch.bool)
    expected = functional.td_lambda_return_estimate(steps[0], 0.95, steps[1], steps[2], never, never)
    close(found, expected[..., 0])
