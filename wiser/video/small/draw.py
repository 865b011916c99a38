"""`python -m wiser.video.small.draw OUT`: write clips of the pouring arm for `wiser video`, each named by its seed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from wiser import seeds
from wiser.checks import at_least, check_folder
from wiser.files import write_atomic
from wiser.spoken import spoken
from wiser.video.small.clips import film


@spoken()
def main(
    out: Annotated[Path, tyro.conf.Positional], clips: int = 20, pictures: int = 24, first: int = seeds.TRYING.start
) -> int:
    """Draw clips, as arrays (T, 64, 64, 3) of bytes that no video codec touches.

    Args:
        out: folder to write to.
        clips: how many.
        pictures: of each of them.
        first: seed of the first clip; the next ones follow. The small model has seen clips of seeds below 900,000.
    """
    at_least(1, clips=clips, pictures=pictures)
    at_least(0, first=first)
    check_folder(out)
    for seed in range(first, first + clips):
        written = BytesIO()
        np.save(written, film(seed, pictures))
        write_atomic(out / f"pouring-{seed}.npy", written.getvalue())
    print(f"{clips} clips in {out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(tyro.cli(main))
