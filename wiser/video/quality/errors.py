"""How far a video is from what really happened, where that is known."""

from __future__ import annotations

import torch

from wiser.likeness import signal_to_noise, structural_similarity
from wiser.video.quality.views import Frames


def continuation_errors(frames: Frames, truth: Frames) -> dict[str, float]:
    """PSNR in dB and SSIM of a video against the true one, both (T, H, W, 3) uint8; means over frames."""
    if frames.shape != truth.shape or not len(frames):
        raise ValueError(f"a video of {frames.shape} cannot be compared with a truth of {truth.shape}")
    pairs = zip(torch.from_numpy(frames).split(1), torch.from_numpy(truth).split(1), strict=True)
    both = [(made / 255.0, true / 255.0) for made, true in pairs]  # (1, H, W, 3) each
    return {
        "psnr": float(torch.cat([signal_to_noise(*pair) for pair in both]).mean()),
        "ssim": float(torch.cat([structural_similarity(*pair) for pair in both]).mean()),
    }
