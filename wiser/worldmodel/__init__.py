"""World models: the seam the guard is written against, and DreamerV3 behind it."""

from wiser.worldmodel.protocol import Actions, Belief, Prior, Sensor, WorldModel, sensors_of

__all__ = ["Actions", "Belief", "Prior", "Sensor", "WorldModel", "sensors_of"]
