"""Predictors without a network: what a video model is compared with, and what can be computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from wiser.video.predictor import Draws, Pixels, unit

RIDGE = 1e-3
"""Share of the variance added where the next latent is regressed on this one: few clips say little."""


class CopyLast:
    """Nothing moves: the last frame goes on. Any model should beat it where something does move."""

    title, digest = "copy", None

    @property
    def about(self) -> dict[str, Any]:
        """Nothing to set."""
        return {}

    def follow(self, frame: Tensor, count: int, draws: Draws) -> Tensor:
        """The same frame."""
        return self.rollout(frame[None], count, draws)

    def denoise(self, frame: Tensor, sigma: float, draws: Draws) -> Tensor:
        """The same frame: it knows nothing of noise."""
        return frame.clone()

    def rollout(self, frames: Tensor, count: int, draws: Draws) -> Tensor:
        """The last frame, again and again."""
        return frames[-1:].repeat(count, 1, 1, 1)  # (count, H, W, 3)


@dataclass(frozen=True, eq=False)
class Linear:
    """Principal components of whole frames and a linear step in them: a world model with everything in closed form.

    Latents are taken for independent and normal. Then the reverse diffusion of D needs no steps: a latent with noise of
    strength s, (1 - s) z + s e, has variance (1 - s)^2 + s^2, and the flow takes it back to variance 1.
    """

    mean: Tensor  # (H, W, 3)
    basis: Tensor  # (P, K): orthonormal directions of P = H W 3 pixels, each times the spread along it
    inverse: Tensor  # (K, P): pixels -> latents of unit variance
    step: Tensor  # (K, K): z -> next z
    title, digest = "linear", None

    @classmethod
    def fit(cls, clips: Sequence[Pixels], components: int) -> Linear:
        """From clean clips of one size."""
        mean = torch.cat([unit(clip) for clip in clips]).mean(0)
        flat = [(unit(clip) - mean).flatten(1) for clip in clips]  # (T, P) each
        _, values, directions = torch.linalg.svd(torch.cat(flat), full_matrices=False)
        kept = min(components, int((values > values[0] * 1e-5).sum()))
        spread = values[:kept] / sum(map(len, flat)) ** 0.5  # (K,)
        basis, inverse = directions[:kept].T * spread, directions[:kept] / spread[:, None]
        latents = [clip @ inverse.T for clip in flat]
        before, after = torch.cat([z[:-1] for z in latents]), torch.cat([z[1:] for z in latents])
        ridge = RIDGE * len(before) * torch.eye(kept)
        return cls(mean, basis, inverse, torch.linalg.solve(before.T @ before + ridge, before.T @ after))

    @property
    def about(self) -> dict[str, Any]:
        """How much it can tell apart, and the size of its frames."""
        return {"components": self.basis.shape[1], "size": list(self.mean.shape[:2])}

    def follow(self, frame: Tensor, count: int, draws: Draws) -> Tensor:
        """Step after step."""
        return self.rollout(frame[None], count, draws)

    def denoise(self, frame: Tensor, sigma: float, draws: Draws) -> Tensor:
        """Noise of strength sigma in the latent, and the flow back."""
        z = self._encode(frame)
        noisy = (1.0 - sigma) * z + sigma * torch.randn(z.shape, generator=draws)
        return self._decode(noisy / ((1.0 - sigma) ** 2 + sigma**2) ** 0.5)

    def rollout(self, frames: Tensor, count: int, draws: Draws) -> Tensor:
        """Step after step from the last frame."""
        z, found = self._encode(frames[-1]), []
        for _ in range(count):
            z = z @ self.step
            found.append(self._decode(z))
        return torch.stack(found)  # (count, H, W, 3)

    def _encode(self, frame: Tensor) -> Tensor:
        return self.inverse @ (frame - self.mean).flatten()  # (K,)

    def _decode(self, z: Tensor) -> Tensor:
        return (self.mean + (self.basis @ z).view(self.mean.shape)).clamp(0.0, 1.0)  # (H, W, 3)
