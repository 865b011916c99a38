"""`wiser faults`: see every fault at several intensities, on your own picture if you like."""

from __future__ import annotations

from pathlib import Path

from wiser.spoken import spoken


@spoken()
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
    from wiser.checks import at_least, check_file
    from wiser.faults.gallery import gallery
    from wiser.faults.registry import APPLIES

    at_least(0, seed=seed)
    check_file(out)
    gallery(out, image, preset, intensities, seed)
    print(f"{len(APPLIES['image'])} faults at intensities 0, {', '.join(map(str, intensities))}: {out}")
    return 0
