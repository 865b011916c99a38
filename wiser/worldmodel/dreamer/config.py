"""The shape of a DreamerV3: every number that decides what the weights look like."""

from __future__ import annotations

import math
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, get_args

from wiser.names import perhaps
from wiser.worldmodel.protocol import Actions, Sensor

Tower = Literal["conv", "strided", "patch"]
Missing = Literal["zero", "token"]

# recurrent units, hidden units, classes per latent, channels of the first convolution, units of the heads
SIZES: dict[str, dict[str, Any]] = {
    "nano": {"deter": 256, "hidden": 128, "classes": 16, "depth": 8, "units": 128, "stoch": 16, "tower": "patch"},
    "1m": {"deter": 512, "hidden": 64, "classes": 4, "depth": 4, "units": 64},
    "12m": {"deter": 2048, "hidden": 256, "classes": 16, "depth": 16, "units": 256},
    "25m": {"deter": 3072, "hidden": 384, "classes": 24, "depth": 24, "units": 384},
    "50m": {"deter": 4096, "hidden": 512, "classes": 32, "depth": 32, "units": 512},
    "100m": {"deter": 6144, "hidden": 768, "classes": 48, "depth": 48, "units": 768},
    "200m": {"deter": 8192, "hidden": 1024, "classes": 64, "depth": 64, "units": 1024},
}


@dataclass(frozen=True)
class DreamerConfig:
    """Sensors, actions and layer sizes. `DreamerConfig.of_size("12m", sensors, actions)` fills in the sizes."""

    sensors: tuple[Sensor, ...]
    """In the order of the columns of every mask."""
    actions: Actions
    """What the actor chooses from."""
    deter: int
    """Recurrent units; a multiple of `blocks`."""
    hidden: int
    """Units of the layers inside the recurrent state-space model."""
    classes: int
    """Classes of each categorical latent."""
    depth: int
    """Channels of the first convolution are twice this."""
    units: int
    """Units of heads and vector towers."""
    stoch: int = 32
    """Number of categorical latents."""
    blocks: int = 8
    """Blocks of the block-diagonal GRU."""
    unimix: float = 0.01
    """Share of the uniform distribution mixed into latents and actions."""
    bins: int = 255
    """Bins of the two-hot reward and value heads."""
    fusion: Literal["late", "channels"] = "late"
    """One tower per sensor, or images concatenated on the channel axis into one tower as in the paper."""
    tower: Tower = "conv"
    """DreamerV3's convolutions and pooling; convolutions with strides instead, a quarter of the arithmetic; or patches
    and matrix products: several times faster on a CPU."""
    patch: int = 8
    """Side of a patch in pixels. Where a picture is a grid of cells, a patch should be a cell."""
    decoder: bool = True
    """Whether readings are rebuilt from the belief. A model that does not can only be surprised."""
    costs: bool = False
    """Whether the cost of every step is foreseen, as its reward is."""
    missing: Missing = "zero"
    """What stands for a masked sensor: a zero reading as in the paper, or a learned token in place of what its tower
    makes of a reading."""

    def __post_init__(self) -> None:
        choices = {"fusion": ("late", "channels"), "tower": get_args(Tower), "missing": get_args(Missing)}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(f"unknown {name} {getattr(self, name)!r}; choose from {', '.join(known)}")
        if not self.sensors:
            raise ValueError("a world model needs at least one sensor")
        if len({sensor.name for sensor in self.sensors}) != len(self.sensors):
            raise ValueError(f"sensor names repeat: {[sensor.name for sensor in self.sensors]}")
        if self.patch < 1:
            raise ValueError(f"patch must be at least 1 pixel, got {self.patch}")
        if self.deter % self.blocks:
            raise ValueError(f"deter {self.deter} is not a multiple of blocks {self.blocks}")
        images = [sensor for sensor in self.sensors if sensor.is_image]
        for sensor in images:
            if sensor.shape[0] % 16 or sensor.shape[1] % 16:
                raise ValueError(
                    f"sensor {sensor.name!r}: height and width must be multiples of 16, got {sensor.shape}"
                )
        if self.fusion == "channels" and len({sensor.shape[:2] for sensor in images}) > 1:
            raise ValueError("fusion='channels' needs images of one height and width; use fusion='late'")
        if self.fusion == "channels" and self.missing == "token":
            raise ValueError("missing='token' needs a tower for each sensor; use fusion='late'")

    @classmethod
    def of_size(cls, size: str, sensors: tuple[Sensor, ...], actions: Actions, **changes: Any) -> DreamerConfig:
        """Take the layer sizes from `SIZES`, then apply `changes`."""
        if size not in SIZES:
            raise ValueError(f"unknown size {size!r}{perhaps(size, SIZES)}; choose from {', '.join(SIZES)}")
        return cls(sensors=sensors, actions=actions, **{**SIZES[size], **changes})

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; an infinite bound is null."""
        values = asdict(self)
        for sensor in values["sensors"]:
            for side in ("low", "high"):
                sensor[side] = sensor[side] if math.isfinite(sensor[side]) else None
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> DreamerConfig:
        """Read what `to_json` wrote, now or before some field existed; unknown or missing fields are a ValueError."""
        known = {field.name: field.default is not MISSING for field in fields(cls)}
        missing = [name for name, has_default in known.items() if not has_default and name not in values]
        if missing or not set(values) <= set(known):
            raise ValueError(f"fields differ: missing {missing}, unknown {sorted(set(values) - set(known))}")
        try:
            sensors = tuple(_sensor_from_json(sensor) for sensor in values["sensors"])
            actions = values["actions"]
            actions = Actions(**{**actions, "low": tuple(actions["low"]), "high": tuple(actions["high"])})
            return cls(**{**values, "sensors": sensors, "actions": actions})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"malformed sensors or actions: {error}") from error


def _sensor_from_json(values: dict[str, Any]) -> Sensor:
    low = -math.inf if values["low"] is None else values["low"]
    high = math.inf if values["high"] is None else values["high"]
    return Sensor(**{**values, "shape": tuple(values["shape"]), "low": low, "high": high})
