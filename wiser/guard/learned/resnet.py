"""ResNet-18 (He et al., 2015) with two classes: is a frame clean, or corrupted? M of the paper's first ablation.

Layers and the names of weights are torchvision's, so that its files fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CLEAN, CORRUPTED = 0, 1
"""Its classes."""


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        around = [nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)]
        self.downsample = nn.Sequential(*around) if stride > 1 or inputs != outputs else None

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) -> (B, outputs, H / stride, W / stride)."""
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """Logits of `CLEAN` and `CORRUPTED`. Pixels go in as 0 to 255, as the authors' code has it."""

    def __init__(self, channels: int = 3, width: int = 64) -> None:
        """width: channels of the first stage; 64 is the real one."""
        super().__init__()
        self.settings: dict[str, Any] = {"channels": channels, "width": width}
        self.conv1 = nn.Conv2d(channels, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = _stage(width, width, 1)
        self.layer2 = _stage(width, 2 * width, 2)
        self.layer3 = _stage(2 * width, 4 * width, 2)
        self.layer4 = _stage(4 * width, 8 * width, 2)
        self.fc = nn.Linear(8 * width, 2)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    @staticmethod
    def settings_of(weights: Mapping[str, Tensor]) -> dict[str, int]:
        """Settings of a network with these weights, where no file tells them."""
        width, channels = weights["conv1.weight"].shape[:2]
        return {"channels": channels, "width": width}

    def forward(self, images: Tensor) -> Tensor:
        """uint8, or floats in [0, 1]: (B, H, W, C) -> (B, 2)."""
        scale = 1.0 if images.dtype == torch.uint8 else 255.0
        x = images.to(self.fc.weight.dtype).permute(0, 3, 1, 2) * scale  # (B, C, H, W)
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)  # (B, width, H / 4, W / 4)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))  # (B, 8 width, H / 32, W / 32)
        logits: Tensor = self.fc(x.mean((2, 3)))
        return logits


def _stage(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs, 1))
