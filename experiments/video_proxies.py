"""Proxy scores of the videos in a folder: do broken ones come out worse?

A video is held against `NAME_last_clean_frame.jpg` where its own name begins with NAME, otherwise against its own first
frame. Videos with the same reference are one scene, broken in several ways: the frames in which they agree are clean,
and are scored as a video of their own.
Run: python experiments/video_proxies.py FOLDER [--frames 48]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np

from wiser.video.quality import PROXY, load_proxies, score
from wiser.video.quality.views import Frames

REFERENCE = "_last_clean_frame"
AGREED = 3.0  # mean difference of pixels, of 255, that compression alone does not exceed


def read(path: Path) -> Frames:
    video, frames = cv2.VideoCapture(str(path)), []
    while (grabbed := video.read())[0]:
        frames.append(grabbed[1][..., ::-1])
    return np.stack(frames).astype(np.uint8)  # (T, H, W, 3)


def agreed(videos: list[Frames]) -> Frames:
    first, *others = videos
    return first[[all(cv2.absdiff(one, it[t]).mean() < AGREED for it in others) for t, one in enumerate(first)]]


def scenes(folder: Path) -> dict[str, tuple[Frames, Frames]]:
    """{name: its frames, and the reference}."""
    videos = {path.stem: read(path) for path in sorted(folder.glob("*.mp4"))}
    found = {name: (frames, frames[0]) for name, frames in videos.items()}
    for path in sorted(folder.glob(f"*{REFERENCE}.jpg")):
        scene, picture = path.stem.removesuffix(REFERENCE), read(path)[0]
        broken = {name: frames for name, frames in videos.items() if name.startswith(scene)}
        found |= {f"{scene}, clean frames": (agreed(list(broken.values())), picture)}
        found |= {name: (frames, picture) for name, frames in broken.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frames", type=int, default=48, help="of each video, from its beginning on")
    settings = parser.parse_args()
    backbones = load_proxies()
    names = list(backbones.networks)
    print(f"{'':28s} frames  {'  '.join(names)}")
    for name, (frames, reference) in scenes(settings.folder).items():
        scores = score(frames[: settings.frames], reference, backbones=backbones)
        values = "  ".join(f"{scores[PROXY + one]:{len(one)}.3f}" for one in names)
        print(f"{name:28s} {scores.frames:6d}  {values}", flush=True)


if __name__ == "__main__":
    main()
