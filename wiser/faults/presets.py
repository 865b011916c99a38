"""How bad is bad: the constants behind intensity 1, for every fault, as fractions of range, picture or time."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Severity:
    """What each fault does at intensity 1. Values are fractions of the sensor's range, sizes of the picture's sides."""

    gaussian_mean: float = 0.0
    """Mean of the added noise, of the range."""
    gaussian_std: float = 0.2
    """Standard deviation of the added noise, of the range."""
    glare_level: float = 1.0
    """Brightness of the veil that covers the picture, of the range."""
    jitter_contrast: float = 2.5
    """Largest contrast factor; the smallest is its inverse."""
    jitter_brightness: float = 0.25
    """Largest shift of brightness in either direction, of the range."""
    occlusion_side: tuple[float, float] = (0.4, 0.6)
    """Shortest and longest side of the black rectangle, of the picture's side."""
    chrome_base: float = 0.0
    """Largest channel shift at any intensity above 0, of the picture's side."""
    chrome_slope: float = 0.08
    """Growth of the largest channel shift with intensity, of the picture's side."""
    nonfinite_fraction: float = 0.25
    """Share of the values that become NaN or infinite."""
    salt_fraction: float = 0.25
    """Share of the pixels that become black or white."""
    blur_radius: float = 0.06
    """Radius of the blur, of the picture's shorter side."""
    stripes_fraction: float = 0.4
    """Share of the rows of pixels that are dead."""
    lag_steps: tuple[float, float] = (20.0, 20.0)
    """Shortest and longest delay in steps; drawn anew each time the sensor breaks."""
    dropout_fraction: float = 0.6
    """Share of the frames that are lost."""
    dropout_burst: float = 8.0
    """Mean length of a burst of lost frames, in steps."""
    drift_rate: float = 0.01
    """Bias added per step since the sensor broke, of the range."""


DEFAULT = Severity()
"""Every fault clearly visible at 0.25 and severe at 1."""

# The published constants, for pictures of 128 x 128 pixels with 256 levels, repaired: noise is added in float and
# clipped; sizes scale with the picture; glare veils the picture instead of replacing it, so that intensity 0 is clean;
# the largest delay is a delay and not a position in a buffer.
# Jitter has no entry: its published bounds (x * 20 I + 200 I) saturate nearly every pixel, which is glare under
# another name. What it is described as, a random change of brightness and contrast, is the default.
PAPER = Severity(
    gaussian_mean=20 / 255,
    gaussian_std=20 / 255,
    glare_level=200 / 255,
    occlusion_side=(35 / 128, 40 / 128),
    chrome_base=2 / 128,
    chrome_slope=10 / 128,
    lag_steps=(1.0, 75.0),
)
"""The paper's experiments with one sensor."""

PAPER_MULTI = replace(PAPER, gaussian_std=30 / 255, glare_level=1.0)
"""The paper's experiments with several sensors: wider noise, whiter glare."""

PRESETS: dict[str, Severity] = {"default": DEFAULT, "paper": PAPER, "paper-multi": PAPER_MULTI}
"""Presets by the name a scenario uses."""
