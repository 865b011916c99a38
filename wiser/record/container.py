"""One file for one recording: a zip of `recording.json` and .npy arrays. No pickle."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.files import replacing

HEADER = "recording.json"
FORMAT, VERSION = "wiser-recording", 2
# All that reading a damaged or foreign file can raise.
BROKEN = (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def write(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write the parts; `path` holds either its old content or all of the new one."""
    body = {"format": FORMAT, "version": VERSION, **header}
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,  # 3: half the time of 6
    ):
        archive.writestr(HEADER, json.dumps(body, indent=1))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
    return Path(path)


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the parts; raises one of `BROKEN` if they are not all there and whole."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read(HEADER))
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise ValueError(
                f"format {header['format']!r} version {header['version']!r}, "
                f"this release reads {FORMAT!r} version {VERSION}"
            )
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return header, {name.removesuffix(".npy"): _array(archive.read(name), name) for name in names}


def _array(data: bytes, name: str) -> NDArray[Any]:
    """An array from the bytes of a .npy file; its size is checked before memory is taken for it."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read_header(stream)
    left = len(data) - stream.tell()
    if dtype.hasobject or fortran or int(np.prod(shape, dtype=object)) * dtype.itemsize != left:
        raise ValueError(f"{name} is damaged or not a plain array")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
