"""DreamerV3 in its current form: block GRU, categorical latents, one tower and one decoder per sensor."""

from wiser.worldmodel.dreamer.config import SIZES, DreamerConfig
from wiser.worldmodel.dreamer.model import DreamerV3

__all__ = ["SIZES", "DreamerConfig", "DreamerV3"]
