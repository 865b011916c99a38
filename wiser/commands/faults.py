"""`wiser faults`: see every fault at several intensities, on your own picture if you like."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console


def faults(
    out: Path = Path("faults.png"),
    image: Path | None = None,
    preset: str = "default",
    intensities: tuple[float, ...] = (0.25, 0.5, 1.0),
    seed: int = 0,
) -> int:
    """Draw every fault at several intensities.

    Args:
        out: where to write the picture.
        image: a picture to break; a drawn street without it.
        preset: what intensity 1 means: default, paper or paper-multi.
        intensities: one column each, after the clean one.
        seed: of all draws.
    """
    from wiser.faults.gallery import gallery
    from wiser.faults.registry import APPLIES

    try:
        gallery(out, image, preset, intensities, seed)
    except ValueError as error:
        Console().print(str(error), style="red", markup=False)
        return 2
    print(f"{len(APPLIES['image'])} faults at intensities 0, {', '.join(map(str, intensities))}: {out}")
    return 0
