"""What can be learnt: a network, its loss on a batch, and what held-out frames say of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.guard.learned.resnet import CLEAN, CORRUPTED
from wiser.learn.frames import Pairs
from wiser.likeness import signal_to_noise
from wiser.worldmodel.protocol import unit_image


class Lesson:
    """A task for a network. The rate falls from `rate` to 0 along half a cosine."""

    rate: ClassVar[float]

    def __init__(self, network: nn.Module) -> None:
        self.network: Any = network

    def loss(self, pairs: Pairs, generator: torch.Generator) -> Tensor:
        """Of a batch."""
        raise NotImplementedError

    def examine(self, batches: Iterable[Pairs]) -> dict[str, float]:
        """How well the network does on frames it has not seen."""
        raise NotImplementedError


class TellCorrupted(Lesson):
    """Tell corrupted frames from clean ones, as M of the paper's ResNet-18 does."""

    rate = 1e-3

    def loss(self, pairs: Pairs, generator: torch.Generator) -> Tensor:
        """Cross-entropy; each frame is clean or noisy by the toss of a coin."""
        labels = torch.randint(2, (len(pairs.clean),), generator=generator)  # (B,)
        shown = torch.where((labels == CORRUPTED)[:, None, None, None], pairs.noisy, pairs.clean)
        return F.cross_entropy(self.network(shown), labels)

    def examine(self, batches: Iterable[Pairs]) -> dict[str, float]:
        """Share of right answers, every frame once clean and once noisy; of each kind apart, too."""
        right: dict[int, list[Tensor]] = {CLEAN: [], CORRUPTED: []}
        for pairs in batches:
            for label, frames in ((CLEAN, pairs.clean), (CORRUPTED, pairs.noisy)):
                right[label].append(self.network(frames).argmax(1) == label)
        clean, noisy = (float(torch.cat(right[label]).float().mean()) for label in (CLEAN, CORRUPTED))
        return {"accuracy": (clean + noisy) / 2, "accuracy_clean": clean, "accuracy_noisy": noisy}


class TakeNoiseOut(Lesson):
    """Give back the clean frame, as D of the paper's Restormer does."""

    rate = 3e-4

    def loss(self, pairs: Pairs, generator: torch.Generator) -> Tensor:
        """Mean absolute error, as published."""
        return F.l1_loss(self.network(unit_image(pairs.noisy)), unit_image(pairs.clean))

    def examine(self, batches: Iterable[Pairs]) -> dict[str, float]:
        """Peak signal-to-noise ratio in dB, mean over frames, of noisy and of mended ones."""
        ratios: dict[str, list[Tensor]] = {"psnr_noisy": [], "psnr_mended": []}
        for pairs in batches:
            clean, noisy = unit_image(pairs.clean), unit_image(pairs.noisy)
            ratios["psnr_noisy"].append(signal_to_noise(noisy, clean))
            ratios["psnr_mended"].append(signal_to_noise(self.network(noisy).clamp(0.0, 1.0), clean))
        return {name: float(torch.cat(values).mean()) for name, values in ratios.items()}


LESSONS: dict[str, type[Lesson]] = {"resnet18": TellCorrupted, "restormer": TakeNoiseOut}
"""By the name of their network."""
