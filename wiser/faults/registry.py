"""All faults by name, what each can break, and the one verb that applies them."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from wiser.faults import frames, streams
from wiser.faults.fault import BOTH, Fault, Rng
from wiser.faults.presets import PRESETS
from wiser.faults.signal import Kind, Signal
from wiser.names import perhaps

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        frames.gaussian,
        frames.glare,
        frames.jitter,
        frames.occlusion,
        frames.chrome,
        frames.blackout,
        frames.nonfinite,
        frames.salt,
        frames.blur,
        frames.stripes,
        frames.swap,
        streams.lag,
        streams.freeze,
        streams.dropout,
        streams.drift,
        streams.missing,
    )
}
"""Every fault; each has a `description` and the `kinds` of sensor it can break."""

APPLIES: dict[Kind, tuple[str, ...]] = {
    kind: tuple(name for name, fault in FAULTS.items() if kind in fault.kinds) for kind in BOTH
}
"""Which faults make sense for an image and which for a vector."""


def find(name: str) -> Fault:
    """The fault of that name."""
    if name not in FAULTS:
        raise ValueError(f"unknown fault {name!r}{perhaps(name, FAULTS)}; there are {', '.join(FAULTS)}")
    return FAULTS[name]


def apply(
    name: str,
    x: NDArray[Any],
    intensity: ArrayLike,
    rng: Rng | Sequence[Rng],
    *,
    preset: str = "default",
    signal: Signal | None = None,
) -> NDArray[Any]:
    """Break a batch x, (B, H, W, C) or (B, n), with the fault of that name; see `Fault.__call__`."""
    if preset not in PRESETS:
        raise ValueError(f"unknown preset {preset!r}{perhaps(preset, PRESETS)}; there are {', '.join(PRESETS)}")
    return find(name)(x, intensity, rng, severity=PRESETS[preset], signal=signal)
