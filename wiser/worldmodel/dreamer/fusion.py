"""From sensors to the first posterior layer, for any subset of trusted sensors.

That layer is linear in the concatenated features, so its pre-activation is a sum of one term per sensor. A masked
sensor is a zero reading, whose term is a constant. With one tower per sensor every subset therefore costs one small
matrix product, `masks (K, N) @ deltas (N, H)`; the towers run once, whatever K is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.encoder import VectorTower, blank, image_tower, sensor_tower
from wiser.worldmodel.dreamer.layers import init_weight
from wiser.worldmodel.protocol import Sensor, unit_image

_IMAGES_PER_PASS = 256  # bounds the memory of channel fusion when it encodes many subsets


class Features(NamedTuple):
    """What `embed` keeps of an observation."""

    blank: Tensor  # (H,) first-layer term of all separately encoded sensors masked
    deltas: Tensor  # (B, N, H) what trusting each of them adds; zero for sensors in the image stack
    images: Tensor | None = None  # (B, H, W, C of all images): channel fusion only


def _projection(features: int, hidden: int, fan_in: int) -> nn.Linear:
    layer = nn.Linear(features, hidden, bias=False)
    init_weight(layer.weight, fan_in)
    return layer


class LateFusion(nn.Module):
    """One tower and one slice of the first posterior layer per sensor."""

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.sensors = config.sensors
        self.towers = nn.ModuleList(sensor_tower(config, sensor) for sensor in self.sensors)
        sizes = [int(tower.features) for tower in self.towers]  # type: ignore[arg-type]
        self.feature_count = sum(sizes)
        fan_in = config.deter + self.feature_count
        self.projections = nn.ModuleList(_projection(size, config.hidden, fan_in) for size in sizes)
        self._blank_key: tuple[object, ...] = ()
        self._blank_terms = torch.empty(0)

    def vector_towers_by_sensor(self) -> list[tuple[Sensor, VectorTower]]:
        """The towers of sensors that are no images."""
        pairs = zip(self.sensors, self.towers, strict=True)
        return [(sensor, tower) for sensor, tower in pairs if isinstance(tower, VectorTower)]

    def embed(self, obs: Mapping[str, Tensor]) -> Features:
        """Encode each sensor once."""
        terms = torch.stack(
            [
                project(tower(obs[sensor.name]))
                for sensor, tower, project in zip(self.sensors, self.towers, self.projections, strict=True)
            ],
            1,
        )  # (B, N, H)
        masked = self.blank_terms()  # (N, H)
        return Features(masked.sum(0), terms - masked)

    def first_layer(self, features: Features, masks: Tensor) -> Tensor:
        """Sensor part of the pre-activation for every subset: masks (B, K, N) -> (B, K, H)."""
        return torch.baddbmm(features.blank, masks.to(features.deltas.dtype), features.deltas)

    def blank_terms(self) -> Tensor:
        """First-layer terms (N, H) of masked sensors, recomputed only when a weight has changed.

        Changes are noticed by autograd's version counters, which writing through `Tensor.data` bypasses: don't.
        """
        if torch.is_grad_enabled() or next(self.parameters()).is_inference():
            return self._compute_blank_terms()
        key = tuple((p.data_ptr(), p._version) for p in self.parameters())
        if key != self._blank_key:
            self._blank_key, self._blank_terms = key, self._compute_blank_terms()
        return self._blank_terms

    def _compute_blank_terms(self) -> Tensor:
        like = next(self.parameters())
        return torch.cat(
            [
                project(tower(blank(sensor, like)))
                for sensor, tower, project in zip(self.sensors, self.towers, self.projections, strict=True)
            ]
        )


class ChannelFusion(nn.Module):
    """The paper's form: all images concatenated on the channel axis into one tower, encoded anew for every subset."""

    channel_owner: Tensor  # (C of all images,): the sensor each channel belongs to

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.sensors = config.sensors
        images = [sensor for sensor in self.sensors if sensor.is_image]
        if not images:
            raise ValueError("fusion='channels' needs at least one image sensor; use fusion='late'")
        channels = sum(sensor.shape[2] for sensor in images)
        self.tower = image_tower(config, (*images[0].shape[:2], channels))
        vectors = [sensor for sensor in self.sensors if not sensor.is_image]
        self.vector_towers = nn.ModuleList(sensor_tower(config, sensor) for sensor in vectors)
        self.feature_count = self.tower.features + config.units * len(vectors)
        fan_in = config.deter + self.feature_count
        self.projection = _projection(self.tower.features, config.hidden, fan_in)
        self.vector_projections = nn.ModuleList(_projection(config.units, config.hidden, fan_in) for _ in vectors)
        owner = [i for i, sensor in enumerate(self.sensors) if sensor.is_image for _ in range(sensor.shape[2])]
        self.register_buffer("channel_owner", torch.tensor(owner), persistent=False)

    def vector_towers_by_sensor(self) -> list[tuple[Sensor, VectorTower]]:
        """The towers of sensors that are no images."""
        vectors = [sensor for sensor in self.sensors if not sensor.is_image]
        return list(zip(vectors, self.vector_towers, strict=True))  # type: ignore[arg-type]

    def embed(self, obs: Mapping[str, Tensor]) -> Features:
        """Stack the images and encode the vectors; the stack is encoded in `first_layer`, once per subset."""
        images = torch.cat([unit_image(obs[s.name]) for s in self.sensors if s.is_image], -1)  # (B, H, W, C of all)
        images = images.to(self.projection.weight.dtype)
        hidden = self.projection.out_features
        deltas = [images.new_zeros(images.shape[0], hidden)] * len(self.sensors)
        masked = images.new_zeros(hidden)
        vectors = [(i, sensor) for i, sensor in enumerate(self.sensors) if not sensor.is_image]
        for (i, sensor), tower, project in zip(vectors, self.vector_towers, self.vector_projections, strict=True):
            term = project(tower(blank(sensor, images)))[0]  # (H,)
            deltas[i] = project(tower(obs[sensor.name])) - term
            masked = masked + term
        return Features(masked, torch.stack(deltas, 1), images)

    def first_layer(self, features: Features, masks: Tensor) -> Tensor:
        """Sensor part of the pre-activation for every subset: masks (B, K, N) -> (B, K, H)."""
        assert features.images is not None
        rows, candidates, _ = masks.shape
        channels = masks[:, :, self.channel_owner].flatten(0, 1)  # (B * K, C of all)
        row = torch.arange(rows, device=masks.device).repeat_interleave(candidates)
        encoded = [
            self.projection(self.tower(features.images[some] * keep[:, None, None, :]))
            for some, keep in zip(row.split(_IMAGES_PER_PASS), channels.split(_IMAGES_PER_PASS), strict=True)
        ]
        vectors = torch.baddbmm(features.blank, masks.to(features.deltas.dtype), features.deltas)
        return torch.cat(encoded).view(rows, candidates, -1) + vectors
