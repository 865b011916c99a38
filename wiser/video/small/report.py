"""`python -m wiser.video.small.report`: the controls and figures of a trained small model, and a sheet to look at."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import cv2
import tyro

from wiser import seeds
from wiser.checks import at_least, check_folder
from wiser.files import replacing, write_atomic
from wiser.spoken import spoken
from wiser.threads import use_threads
from wiser.video.small.plan import PICTURES, SHIPPED


@spoken()
def main(
    model: Path = SHIPPED, out: Path | None = None, clips: int = 12, sound: int = 48, broken: int = 20, threads: int = 1
) -> int:
    """Measure a trained small model and print its tables.

    Args:
        model: folder of the pipeline.
        out: folder for report.json and sheet.png, by default that of the model.
        clips: that predictions are compared with.
        sound: clean pictures of the detection table.
        broken: pictures of each cell of it.
        threads: Torch threads.
    """
    from wiser.video.cosmos.compat import diffusers

    diffusers()  # or a line that says what to install
    from wiser.video.small.clips import film
    from wiser.video.small.examine import examine, sheet, tables
    from wiser.video.small.pipeline import load

    at_least(2, clips=clips, sound=sound, broken=broken)
    folder = out or model
    check_folder(folder)
    use_threads(threads)
    pipeline = load(model)
    found = examine(pipeline, clips, sound, broken)
    write_atomic(folder / "report.json", (json.dumps(asdict(found), indent=2) + "\n").encode())
    drawn = sheet(pipeline, [film(seed, PICTURES) for seed in range(seeds.SHIPPING.start, seeds.SHIPPING.start + 3)])
    with replacing(folder / "sheet.png") as path:
        cv2.imwrite(str(path), drawn[..., ::-1])
    print(tables(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(tyro.cli(main))
