"""Images per second of every fault, beside kornia where it has the same: 64x64x3, batch 64, one core.

Both break a batch in the form they are made for: ours uint8 (B, H, W, C) with an own generator per row, kornia
float32 (B, C, H, W). No conversion is counted for either. For the faults of a stream (lag, freeze, dropout, drift,
missing) the batch is 64 frames of one stream. Run: python benchmarks/faults.py
"""

import time
from collections.abc import Callable

import cv2
import numpy as np
import torch

from wiser.extras import install_hint
from wiser.faults import FAULTS, Severity

BATCH, SIZE, REPEATS, SECONDS = 64, 64, 7, 0.08


def rates(acts: list[Callable[[], object]]) -> list[float]:
    """Images per second of each, in turn; the best of several repeats is the one least disturbed by the machine."""
    best = [0.0] * len(acts)
    for _ in range(REPEATS):
        for index, act in enumerate(acts):
            act()
            calls, start = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - start) < SECONDS:
                act()
                calls += 1
            best[index] = max(best[index], calls * BATCH / elapsed)
    return best


def kornia_faults(images: torch.Tensor) -> dict[str, Callable[[], torch.Tensor]]:
    """Kornia's nearest equivalents of our faults at intensity 1, each applied to every image of the batch."""
    from kornia import augmentation as K
    from kornia.filters import box_blur

    ours = Severity()
    contrast, brightness = ours.jitter_contrast, ours.jitter_brightness
    radius = round(ours.blur_radius * SIZE)
    area = (ours.occlusion_side[0] ** 2, ours.occlusion_side[1] ** 2)
    jitter = K.AugmentationSequential(
        K.RandomContrast((1 / contrast, contrast), p=1.0),
        K.RandomBrightness((1 - brightness, 1 + brightness), p=1.0),
    )
    augmentations = {
        "gaussian": K.RandomGaussianNoise(ours.gaussian_mean, ours.gaussian_std, p=1.0),
        "jitter": jitter,
        "occlusion": K.RandomErasing(scale=area, ratio=(0.67, 1.5), p=1.0),
        "salt": K.RandomSaltAndPepperNoise(amount=ours.salt_fraction, p=1.0),
        "swap": K.RandomChannelShuffle(p=1.0),
    }
    acts: dict[str, Callable[[], torch.Tensor]] = {
        name: lambda augmentation=augmentation: augmentation(images) for name, augmentation in augmentations.items()
    }
    acts["blur"] = lambda: box_blur(images, (2 * radius + 1, 2 * radius + 1), separable=True)
    return acts


def main() -> None:
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    images = np.random.default_rng(0).integers(0, 256, (BATCH, SIZE, SIZE, 3), np.uint8)
    rngs = [np.random.Generator(np.random.SFC64(row)) for row in range(BATCH)]
    try:
        theirs = kornia_faults(torch.from_numpy(images).permute(0, 3, 1, 2).contiguous().float() / 255)
    except ImportError:
        theirs = {}
        print(f"kornia is not installed: only our own rates. To compare: {install_hint('bench')}")

    print(f"{'fault':<10} {'images/s':>10} {'kornia':>10} {'ratio':>7}")
    ratios = []
    for name, fault in FAULTS.items():
        acts: list[Callable[[], object]] = [lambda fault=fault: fault(images, 1.0, rngs)]
        own, *other = rates(acts + ([theirs[name]] if name in theirs else []))
        ratios += [own / rate for rate in other]
        print(f"{name:<10} {own:>10,.0f}", *(f"{rate:>10,.0f} {own / rate:>7.2f}" for rate in other))
    if ratios:
        print(f"faults_vs_kornia ratio={np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
