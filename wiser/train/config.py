"""Everything a training run can be told, and the presets that stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from wiser.checks import at_least, check_fields
from wiser.names import perhaps
from wiser.options import Options

if TYPE_CHECKING:
    from torch import Tensor

PRESET_FOLDER = Path(__file__).parent / "presets"
COUNTS = ("updates", "rows", "steps_per_update", "batch", "length", "capacity", "imagine_steps", "segment", "life",
          "evaluate_every", "evaluate_episodes", "log_every", "threads", "mask_patch", "mask_steps",
          "match_size")  # fmt: skip
NATURALS = ("seed", "prefill", "warmup")
SHARES = ("fresh_share", "decode_share", "imagine_share", "cooldown", "greedy_share", "expert_share", "expert_noise",
          "mask_share", "target_rate")  # fmt: skip
CHANGEABLE = ("updates", "segment", "evaluate_every", "evaluate_episodes", "log_every", "threads", "device")
"""What a run may be told anew when it goes on."""


@dataclass(frozen=True)
class TrainConfig:
    """One run. Presets are YAML files with some of these fields; later ones win, the command line last."""

    env: str = ""
    """Gymnasium id of an environment whose observations are a Dict of sensors or one Box; this or a preset names it."""
    env_options: Options = field(default_factory=dict)
    """What to tell the environment: KEY=VALUE ..., each value as YAML has it, such as continuous=true size=[64,64]."""
    processes: bool = False
    """Step each environment in a process of its own; worth it where a simulator is slow."""
    sensors: tuple[str, ...] = ()
    """Which sensors to use; empty = all of them."""
    size: str = "12m"
    """Model size, from nano to 200m."""
    tower: Literal["conv", "strided", "patch"] | None = None
    """Kind of image towers, if not the size's own: as published, with strides (faster), or of patches (fastest)."""
    patch: int | None = None
    """Side of a patch in pixels, if not 8. Where a picture is a grid of cells, a patch should be a cell."""
    fusion: Literal["late", "channels"] = "late"
    """One tower per sensor, or images concatenated on the channel axis."""
    variant: str = "base"
    """What happens to the encoder's input: base (nothing), dropout (Algorithm 1), tokens (dropout, with learned tokens
    for what is missing), augmented (added Gaussian noise), hrssm (cubes of images masked, and no decoder), or one that
    was added to `wiser.train.variants.VARIANTS`."""
    objective: str = "ordinary"
    """What actor and critic pursue: ordinary (the return, as DreamerV3), safe (the return, while the cost stays within
    a limit), or one that was added to `wiser.train.objectives.OBJECTIVES`."""
    start: str = ""
    """An agent whose weights to start from, a shipped one or a model folder; empty = new weights."""
    seed: int = 0
    """Seed of weights, environments, exploration and batches."""

    updates: int = 100_000
    """Gradient steps in all."""
    rows: int = 16
    """Environments stepped as one batch."""
    steps_per_update: int = 1
    """Steps of every environment between two updates."""
    prefill: int = 64
    """Steps of every environment before the first update."""
    batch: int = 16
    """Sequences per update."""
    length: int = 64
    """Steps per sequence."""
    capacity: int = 5_000_000
    """Steps kept in the replay."""
    fresh_share: float = 0.0
    """Share of the sequences of a batch that begin from the initial belief instead of the stored one, as an agent does
    whose context is reset."""
    decode_share: float = 1.0
    """Share of the steps of a batch that are decoded."""
    imagine_share: float = 1.0
    """Share of the sequences of a batch whose states imagination starts from."""

    learning_rate: float = 4e-5
    """Of LaProp, after warm-up."""
    warmup: int = 1000
    """Updates over which the learning rate rises."""
    cooldown: float = 0.0
    """Fraction of the run, at its end, over which the learning rate falls linearly to a tenth."""
    reward_scale: float = 1.0
    """Factor on rewards as the model sees them."""
    noise_std: float = 0.2
    """Of the `augmented` variant, in units of the full range; drawn uniformly from 0 to this for every frame."""
    mask_share: float = 0.5
    """Of `hrssm`: share of the patches of an image that are masked."""
    mask_patch: int = 10
    """Of `hrssm`: height and width of a patch in pixels."""
    mask_steps: int = 4
    """Of `hrssm`: steps after which other patches are masked."""
    target_rate: float = 0.05
    """Of `hrssm`: share of the model that its slow copy, the target branch, takes over at every update."""
    match_scale: float = 1.0
    """Of `hrssm`: weight of the distance between what is made of masked and of whole images."""
    match_size: int = 32
    """Of `hrssm`: numbers that beliefs are projected to before they are compared."""
    bisimulation_scale: float = 1.0
    """Of `hrssm`: weight of the bisimulation loss."""
    bisimulation_discount: float = 0.99
    """Of `hrssm`: factor on how far apart two states are one step later."""
    reward_span: float = 0.0
    """Of `hrssm`: width of the range of rewards, as the model sees them, that counts as the published 2; 0 = from their
    5th to their 95th percentile, so far."""

    imagine_steps: int = 15
    """Length of imagined roll-outs."""
    discount_horizon: float = 333.0
    """Steps over which rewards count: the discount is 1 - 1 / this."""
    continue_discount: bool = False
    """Teach the continue head the discount too: it predicts discount * (1 - death), which is all the discount that
    imagination then has."""
    return_lambda: float = 0.95
    """How far returns look on before they trust the critic: 0 one step, 1 to the end."""
    entropy: float = 3e-4
    """Weight of the policy's entropy."""
    replay_value: float = 0.3
    """Weight of the critic's loss on real experience."""
    slow_rate: float = 0.02
    """Share of the critic that its slow copy, which regularises it, takes over at every update."""
    free_nats: float = 1.0
    """KL terms below this are not pressed further."""
    dynamics_scale: float = 1.0
    """Weight of the KL term that trains the prior."""
    representation_scale: float = 0.1
    """Weight of the KL term that trains the posterior."""
    cost_limit: float = 2.0
    """Of `safe`: what the cost returns of all states of an imagined roll-out may add up to, in the mean."""
    cost_weight: float = 10.0
    """Of `safe`: weight of steps that cost 1 or more in the loss of the cost head."""
    penalty: float = 5e-9
    """Of `safe`: by how much the price of the cost rises at first, for each update and unit beyond the limit. The
    published value is for a million updates and costs in the hundreds; short runs and small costs want more."""
    agc: float = 0.3
    """Adaptive gradient clipping: largest norm of a tensor's gradient, as a share of that of its weights."""

    greedy_share: float = 0.0
    """Share of the environments where the policy acts greedily instead of exploring, as when it is evaluated unless the
    environment's domain has it sampled then."""
    expert_share: float = 0.0
    """Share of the environments that the environment's own expert drives at first; fades to 0 with the cloning term."""
    expert_noise: float = 0.1
    """Share of random actions in what those experts do."""
    cloning: float = 0.0
    """Initial weight of the behaviour-cloning term on the actor; needs an environment with an expert."""
    cloning_end: float = 0.5
    """Fraction of the run at which the cloning term has faded to `cloning_floor`."""
    cloning_floor: float = 0.0
    """Weight of the cloning term from then on."""
    cloning_pull: float = 1.0
    """Factor on the cloning term's gradient where it reaches the world model: what the expert heeds must be seen."""

    segment: int = 1000
    """Updates between checkpoints; there is one at every evaluation too."""
    life: int = 10_000
    """Updates after which the environments begin afresh, which cuts episodes short. A resumed run takes the actions of
    the current life again to come back exactly where it was; a shorter life makes that quicker."""
    evaluate_every: int = 1000
    """Updates between evaluations."""
    evaluate_episodes: int = 16
    """Episodes of each evaluation, on seeds that training never sees."""
    log_every: int = 50
    """Updates between two log lines."""
    threads: int | None = None
    """Torch threads; None = as OMP_NUM_THREADS says, or as there are cores."""
    precision: Literal["highest", "high", "medium"] = "highest"
    """Of products of float32 matrices: as they are, or with factors rounded to TF32 (high) or bfloat16 (medium) where
    the hardware has that; sums stay float32. Medium saves a quarter of an update on CPUs with bfloat16 products."""
    device: str = "cpu"
    """Torch device."""

    def __post_init__(self) -> None:
        at_least(1, **{name: getattr(self, name) for name in COUNTS})
        at_least(0, **{name: getattr(self, name) for name in NATURALS})
        for name, value in vars(self).items():
            if isinstance(value, float) and (not isfinite(value) or value < 0.0):
                raise ValueError(f"{name} must be a finite number of at least 0, got {value}")
        for name in SHARES:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is a share from 0 to 1, got {getattr(self, name)}")
        if not 0.0 < self.penalty <= 1.0:
            raise ValueError(f"penalty must be above 0 and at most 1, got {self.penalty}")
        if self.discount_horizon < 1.0:
            raise ValueError(f"discount_horizon must be at least 1, got {self.discount_horizon}")
        if self.capacity // self.rows < self.length:
            raise ValueError(f"capacity must hold a sequence of every row: at least {self.rows} x {self.length} steps")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainConfig:
        """Read plain values; unknown fields are a ValueError that lists the known ones."""
        check_fields(cls, values, "a run")
        sensors = tuple(values.get("sensors", ()))
        return cls(**{**values, "sensors": sensors})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for YAML and JSON."""
        return {**asdict(self), "sensors": list(self.sensors)}

    @property
    def discount(self) -> float:
        """Factor on rewards one step later."""
        return 1 - 1 / self.discount_horizon

    def rate_factor(self, update: int) -> float:
        """Factor on the learning rate at an update: 1 until the cool-down, then down to a tenth."""
        left = (self.updates - update) / max(1.0, self.cooldown * self.updates)
        return 0.1 + 0.9 * min(1.0, left)

    def continues(self, proceed: Tensor) -> Tensor:
        """What the continue head is to predict where life goes on (1) or not (0)."""
        return proceed * self.discount if self.continue_discount else proceed

    @property
    def imagined_discount(self) -> float:
        """Factor on what the continue head predicts, one step later."""
        return 1.0 if self.continue_discount else self.discount


def stack(names: Iterable[str]) -> TrainConfig:
    """Merge presets by name, in order."""
    values: dict[str, Any] = {}
    for name in names:
        path = PRESET_FOLDER / f"{name}.yaml"
        if not path.is_file():
            known = preset_names()
            raise ValueError(f"no preset {name!r}{perhaps(name, known)}; there are {', '.join(known)}")
        values |= yaml.safe_load(path.read_text()) or {}
    return TrainConfig.from_dict(values)


def preset_names() -> list[str]:
    """All presets."""
    return sorted(
        found.relative_to(PRESET_FOLDER).with_suffix("").as_posix() for found in PRESET_FOLDER.rglob("*.yaml")
    )
