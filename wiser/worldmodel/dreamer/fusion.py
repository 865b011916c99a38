"""From sensors to the first posterior layer, for any subset of trusted sensors.

That layer is linear in the concatenated features, so its pre-activation is a sum of one term per tower. A masked
sensor is a zero reading, or a learned token in place of its features. With one tower per image the term of a masked
one is a constant, and every subset costs one small matrix product, `masks (K, N) @ deltas (N, H)`; those towers run
once, whatever K is. Vectors share one tower, as in DreamerV3, which is small enough to run once per subset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.encoder import blank, image_tower
from wiser.worldmodel.dreamer.layers import MLP, init_weight
from wiser.worldmodel.dreamer.maths import symlog
from wiser.worldmodel.protocol import unit_image

_IMAGES_PER_PASS = 256  # bounds the memory of channel fusion when it encodes many subsets


class Features(NamedTuple):
    """What `embed` keeps of an observation."""

    blank: Tensor  # (H,) first-layer term of all separately encoded images masked
    deltas: Tensor  # (B, images, H) what trusting each of them adds
    images: Tensor | None = None  # (B, H, W, C of all images): channel fusion only
    vectors: Tensor | None = None  # (B, n of all vectors), where there are any


class VectorTower(nn.Module):
    """All vectors together: symlog, three dense layers, and their slice of the first posterior layer.

    One tower for each would not do: a norm takes out how large its input is, so that of a single number only the sign
    is left, and agents with a tower per vector were seen to learn much more slowly (docs/training.md).
    """

    owner: Tensor  # (n of all vectors,): the sensor each number belongs to

    def __init__(self, config: DreamerConfig, fan_in: int) -> None:
        super().__init__()
        self.names = [sensor.name for sensor in config.sensors if not sensor.is_image]
        owner = [i for i, sensor in enumerate(config.sensors) if not sensor.is_image for _ in range(sensor.size)]
        self.register_buffer("owner", torch.tensor(owner), persistent=False)
        self.token = nn.Parameter(torch.zeros(len(owner))) if config.missing == "token" else None
        self.layers = MLP(len(owner), config.units, 3)
        self.projection = _projection(config.units, config.hidden, fan_in)

    def read(self, obs: Mapping[str, Tensor]) -> Tensor:
        """Vectors, each (B, ...), side by side on the symlog scale: (B, n of all)."""
        like = self.projection.weight
        return symlog(torch.cat([obs[name].to(like.dtype).reshape(len(obs[name]), -1) for name in self.names], -1))

    def forward(self, vectors: Tensor, masks: Tensor) -> Tensor:
        """What `read` made of them (B, n of all), for subsets (B, K, N): (B, K, H)."""
        kept = masks[:, :, self.owner]  # (B, K, n of all)
        shown = vectors[:, None] * kept if self.token is None else torch.where(kept, vectors[:, None], self.token)
        return self.projection(self.layers(shown))


def _vector_tower(config: DreamerConfig, fan_in: int) -> VectorTower | None:
    return VectorTower(config, fan_in) if _vector_features(config) else None


def _vector_features(config: DreamerConfig) -> int:
    return 0 if all(sensor.is_image for sensor in config.sensors) else config.units


def _with_vectors(seen: Tensor, tower: VectorTower | None, features: Features, masks: Tensor) -> Tensor:
    """Add the term of the vectors, if there are any, to that of the images (B, K, H)."""
    return seen if tower is None or features.vectors is None else seen + tower(features.vectors, masks)


def _projection(features: int, hidden: int, fan_in: int) -> nn.Linear:
    layer = nn.Linear(features, hidden, bias=False)
    init_weight(layer.weight, fan_in)
    return layer


class LateFusion(nn.Module):
    """One tower and one slice of the first posterior layer per image, and one of both for all vectors."""

    columns: Tensor  # (images,): their places among the sensors

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.hidden = config.hidden
        self.images = tuple(sensor for sensor in config.sensors if sensor.is_image)
        self.towers = nn.ModuleList(image_tower(config, sensor.shape) for sensor in self.images)
        sizes = [int(tower.features) for tower in self.towers]  # type: ignore[arg-type]
        self.feature_count = sum(sizes) + _vector_features(config)
        fan_in = config.deter + self.feature_count
        self.projections = nn.ModuleList(_projection(size, config.hidden, fan_in) for size in sizes)
        tokens = sizes if config.missing == "token" else []
        self.tokens = nn.ParameterList(torch.zeros(1, size) for size in tokens)  # (1, E) each
        self.vectors = _vector_tower(config, fan_in)
        columns = [i for i, sensor in enumerate(config.sensors) if sensor.is_image]
        self.register_buffer("columns", torch.tensor(columns, dtype=torch.long), persistent=False)
        self._blank_key: tuple[object, ...] = ()
        self._blank_terms = torch.empty(0)

    def embed(self, obs: Mapping[str, Tensor]) -> Features:
        """Encode each image once; the vectors, which are small, are encoded in `first_layer`."""
        vectors = None if self.vectors is None else self.vectors.read(obs)
        towers = zip(self.images, self.towers, self.projections, strict=True)
        terms = [project(tower(obs[sensor.name])) for sensor, tower, project in towers]  # (B, H) each
        if not terms:
            assert vectors is not None
            return Features(
                vectors.new_zeros(self.hidden), vectors.new_zeros(len(vectors), 0, self.hidden), None, vectors
            )
        masked = self.blank_terms()  # (images, H)
        return Features(masked.sum(0), torch.stack(terms, 1) - masked, None, vectors)

    def first_layer(self, features: Features, masks: Tensor) -> Tensor:
        """Sensor part of the pre-activation for every subset: masks (B, K, N) -> (B, K, H)."""
        kept = masks if self.vectors is None else masks[:, :, self.columns]
        seen = torch.baddbmm(features.blank, kept.to(features.deltas.dtype), features.deltas)
        return _with_vectors(seen, self.vectors, features, masks)

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
        unseen = list(self.tokens) or [
            tower(blank(sensor, like)) for sensor, tower in zip(self.images, self.towers, strict=True)
        ]  # (1, E) each
        return torch.cat([project(features) for project, features in zip(self.projections, unseen, strict=True)])


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
        self.feature_count = self.tower.features + _vector_features(config)
        fan_in = config.deter + self.feature_count
        self.projection = _projection(self.tower.features, config.hidden, fan_in)
        self.vectors = _vector_tower(config, fan_in)
        owner = [i for i, sensor in enumerate(self.sensors) if sensor.is_image for _ in range(sensor.shape[2])]
        self.register_buffer("channel_owner", torch.tensor(owner), persistent=False)

    def embed(self, obs: Mapping[str, Tensor]) -> Features:
        """Stack the images; they and the vectors are encoded in `first_layer`, once per subset."""
        images = torch.cat([unit_image(obs[s.name]) for s in self.sensors if s.is_image], -1)  # (B, H, W, C of all)
        images = images.to(self.projection.weight.dtype)
        hidden = images.new_zeros(self.projection.out_features)
        vectors = None if self.vectors is None else self.vectors.read(obs)
        return Features(hidden, hidden.expand(len(images), 0, -1), images, vectors)

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
        seen = torch.cat(encoded).view(rows, candidates, -1)
        return _with_vectors(seen, self.vectors, features, masks)
