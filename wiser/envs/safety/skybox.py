"""A small sky. The package's has six pictures of 3259 x 3259 pixels, which are read at every reset: 0.4 s and 1 GB.

Sensors of 64 x 64 pixels cannot tell it from a sky of 256 x 256. It is made once on this machine from the installed
package, in the user's cache folder, with copies of the few other files that a world is built of.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2

from wiser.files import replacing
from wiser.kernels import user_cache

SIDE = 256
"""Pixels."""
SKY = "assets/textures/star_hd.*.png"
OTHERS = ("assets/xmls/*.xml", "configs/assets.yaml")


def small_world(package: Path) -> Path:
    """The folder to build worlds of, made if need be; the package's own where nothing can be written.

    Several processes may make it at once: each file comes complete.
    """
    folder = user_cache() / "wiser" / f"safety-gymnasium-{version('safety-gymnasium')}-{SIDE}"
    try:
        for pattern in (SKY, *OTHERS):
            for source in package.glob(pattern):
                path = folder / source.relative_to(package)
                if not path.exists():
                    with replacing(path) as temporary:
                        _copy(source, temporary)
    except OSError as error:
        warnings.warn(f"every reset will read the large sky, for {folder} cannot be written: {error}", stacklevel=2)
        return package
    return folder


def _copy(source: Path, target: Path) -> None:
    if source.suffix != ".png":
        target.write_bytes(source.read_bytes())
        return
    large: Any = cv2.imread(str(source))
    cv2.imwrite(str(target), cv2.resize(large, (SIDE, SIDE), interpolation=cv2.INTER_AREA))
