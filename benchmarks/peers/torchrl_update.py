"""torchrl's DreamerV3: its own modules, losses and optimisation step, wired as its documentation does it.

Its image networks have convolutions of stride 2 only: about a quarter of the arithmetic of the full-resolution
convolutions with pooling and up-sampling that DreamerV3's default, sheeprl and we have. With --full it gets those of
sheeprl instead, and then has exactly our networks.
"""

from __future__ import annotations

import torch
import torchrl
from serve import ACTIONS, IMAGE, SIZES, arguments, experience, parameter_count, serve
from sheeprl.algos.dreamer_v3_5.agent import CNNDecoder, CNNEncoder
from tensordict import TensorDict
from tensordict.nn import TensorDictModule as Module
from tensordict.nn import TensorDictSequential as Chain
from torch import Tensor, nn
from torchrl.data import Composite, OneHot, Unbounded
from torchrl.envs.model_based import DreamerEnv
from torchrl.modules import (
    DreamerV3DiscreteActor,
    DreamerV3ImageDecoder,
    DreamerV3ImageEncoder,
    DreamerV3MLP,
    RSSMPosteriorV3,
    RSSMPriorV3,
    RSSMRolloutV3,
    SymExpTwoHot,
    WorldModelWrapper,
)
from torchrl.objectives import DreamerV3ActorLoss, DreamerV3Loss, DreamerV3ModelLoss, DreamerV3ValueLoss, SoftUpdate
from torchrl.objectives.utils import ValueEstimators
from torchrl.trainers.algorithms import DreamerV3OptimizationStepper, DreamerV3Optimizer

STOCH, BINS = 32, 255


def after(*keys: str) -> list[tuple[str, str]]:
    return [("next", key) for key in keys]


class FullEncoder(CNNEncoder):
    """sheeprl's tower with torchrl's signature."""

    def forward(self, image: Tensor) -> Tensor:
        return super().forward({"pixels": image.float() / 255 - 0.5})

    def output_features(self, _: tuple[int, ...]) -> int:
        return self.output_dim


class FullDecoder(CNNDecoder):
    """sheeprl's decoder with torchrl's signature."""

    def forward(self, state: Tensor, belief: Tensor) -> Tensor:
        return super().forward(torch.cat([state, belief], -1))["pixels"]


class Networks:
    """Every network of one size."""

    def __init__(self, size: str, full: bool) -> None:
        shape = SIZES[size]
        self.state, self.deter, self.units = STOCH * shape["classes"], shape["deter"], shape["units"]
        latents = {"num_categoricals": STOCH, "num_classes": shape["classes"], "unimix": 0.01}
        if full:
            sides = {"image_size": IMAGE[:2], "channels_multiplier": shape["depth"]}
            self.encoder = FullEncoder(["pixels"], [3], **sides)
            self.decoder = FullDecoder(["pixels"], [3], **sides, stochastic_size=self.state,
                                       recurrent_state_size=self.deter, dense_units=self.units)  # fmt: skip
        else:
            self.encoder = DreamerV3ImageEncoder(3, shape["depth"])
            self.decoder = DreamerV3ImageDecoder(self.state + self.deter, (3, 64, 64), shape["depth"])
        embedding = self.encoder.output_features((3, 64, 64))
        self.prior = RSSMPriorV3(
            action_shape=(ACTIONS,), action_dim=ACTIONS, hidden_dim=shape["hidden"], rnn_hidden_dim=self.deter,
            recurrent_model="block_gru", **latents,
        )  # fmt: skip
        self.posterior = RSSMPosteriorV3(
            hidden_dim=shape["hidden"], rnn_hidden_dim=self.deter, obs_embed_dim=embedding, use_rms_norm=True, **latents
        )
        self.reward, self.proceed, self.critic = self.head(BINS, 1, 0.0), self.head(1, 1), self.head(BINS, 3, 0.0)
        self.actor = DreamerV3DiscreteActor(self.state + self.deter, ACTIONS, num_cells=self.units)

    def head(self, outputs: int, layers: int, scale: float = 1.0) -> DreamerV3MLP:
        return DreamerV3MLP(self.state + self.deter, outputs, layers, self.units, scale)

    def world_model(self) -> Chain:
        features = after("belief", "state")
        prior = Module(self.prior, ["state", "belief", "action"], after("prior_logits", "state", "belief"))
        posterior = Module(self.posterior, after("belief", "encoded_latents"), after("posterior_logits", "state"))
        return Chain(
            Module(self.encoder, after("pixels"), after("encoded_latents")),
            RSSMRolloutV3(prior, posterior, reset_key="is_init"),
            Module(self.decoder, after("state", "belief"), after("reco_pixels")),
            Module(self.reward, features, after("reward_logits")),
            Module(SymExpTwoHot(BINS), after("reward_logits"), after("reward")),
            Module(self.proceed, features, after("continue_pred")),
        )

    def imagination(self) -> DreamerEnv:
        reward = Chain(
            Module(self.reward, ["belief", "state"], ["reward_logits"]),
            Module(SymExpTwoHot(BINS), ["reward_logits"], ["reward"]),
        )
        transition = Module(self.prior, ["state", "belief", "action"], ["_", "state", "belief"])
        env = DreamerEnv(WorldModelWrapper(transition, reward), (self.state,), (self.deter,))
        env.observation_spec = Composite(state=Unbounded(self.state), belief=Unbounded(self.deter))
        env.state_spec = env.observation_spec.clone()
        env.action_spec, env.reward_spec = OneHot(ACTIONS, dtype=torch.float32), Unbounded((1,))
        return env

    def continuation(self) -> Chain:
        return Chain(
            Module(self.proceed, ["belief", "state"], ["continue_logits"]),
            Module(nn.Sigmoid(), ["continue_logits"], ["continuation"]),
        )

    def value(self) -> Chain:
        return Chain(
            Module(self.critic, ["belief", "state"], ["state_value_logits"]),
            Module(SymExpTwoHot(BINS), ["state_value_logits"], ["state_value"]),
        )


def stepper(networks: Networks, compiled: bool) -> DreamerV3OptimizationStepper:
    """World model, actor, critic and replay value loss with DreamerV3's published constants, and the optimiser."""
    model_loss = DreamerV3ModelLoss(
        networks.world_model(), kl_mode="separate", unimix=0.01, lambda_continue=1.0, reco_symlog=False,
        continue_target_scale=1 - 1 / 333, detach_output=False,
    )  # fmt: skip
    value = networks.value()
    actor_loss = DreamerV3ActorLoss(
        networks.actor, value, networks.imagination(), continuation_model=networks.continuation(), use_reinforce=True
    )
    actor_loss.make_value_estimator(ValueEstimators.TDLambda, gamma=1.0, lmbda=0.95)
    value_loss = DreamerV3ValueLoss(value, value_loss="two_hot", actor_loss=actor_loss, slow_critic_regularization=1.0)
    loss = DreamerV3Loss(model_loss, actor_loss, value_loss)
    optimizer = DreamerV3Optimizer([p for p in loss.parameters() if p.requires_grad])
    updater = SoftUpdate(value_loss, tau=0.02)
    return DreamerV3OptimizationStepper(loss, optimizer, updater, compile_train_step=compiled, warmup_steps=1)


def batch(networks: Networks, sequences: int, length: int) -> TensorDict:
    steps = {name: torch.from_numpy(value) for name, value in experience(sequences, length).items()}
    never = torch.zeros(sequences, length, 1, dtype=torch.bool)
    following = {"pixels": steps["image"].permute(0, 1, 4, 2, 3).contiguous(), "reward": steps["reward"][..., None]}
    return TensorDict(
        {
            "state": torch.zeros(sequences, length, networks.state),
            "belief": torch.zeros(sequences, length, networks.deter),
            "action": nn.functional.one_hot(steps["action"], ACTIONS).float(),
            "is_init": steps["first"][..., None],
            "next": following | {"done": never, "terminated": never},
        },
        [sequences, length],
    )


def main() -> None:
    options = arguments("--compile", "--full")
    networks = Networks(options.size, options.full)
    learner, sample = stepper(networks, options.compile), batch(networks, options.batch, options.length)
    if options.compile:
        learner.warmup(sample.clone())
    count = parameter_count(*(part for part in vars(networks).values() if isinstance(part, nn.Module)))
    serve(lambda: learner.step(None, sample.clone(False)), version=f"torchrl {torchrl.__version__}", parameters=count)


if __name__ == "__main__":
    main()
