"""The ego's sensors: rasterisers that turn a `Scene` into images, whoever simulated it."""
