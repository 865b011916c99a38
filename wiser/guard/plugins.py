"""Scores and denoisers by name: the library's own, those of installed packages, any of a module.

NAME                  in the dictionary, or an entry point of an installed package, group `wiser.scores` or
                      `wiser.denoisers`
package.module:NAME   of a module that is installed or lies in the current folder
NAME@FILE             one that has learned, with these weights instead of those beside the agent's
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal

from wiser.modules import import_from_here
from wiser.names import perhaps

Kind = Literal["score", "denoiser"]


def find(kind: Kind, known: Mapping[str, Any], name: str) -> tuple[Any, Path | None]:
    """What goes by a name, and the file of weights that it is to have, if one was named."""
    bare, at, file = name.partition("@")
    weights = Path(file) if at else None
    if bare in known:
        return known[bare], weights
    if ":" in bare:
        return _import(kind, bare), weights
    installed = installed_names(kind)
    if bare not in installed:
        names = (*known, *installed)
        raise ValueError(
            f"unknown {kind} {bare!r}{perhaps(bare, names)}; there are {', '.join(names)}: choose one, or your own as "
            "package.module:NAME"
        )
    return _import(kind, installed[bare].value), weights


def installed_names(kind: Kind) -> dict[str, EntryPoint]:
    """Those that installed packages offer, by name."""
    return {point.name: point for point in entry_points(group=f"wiser.{kind}s")}


def _import(kind: Kind, value: str) -> Any:
    module, _, path = value.partition(":")
    try:
        return reduce(getattr, path.split("."), import_from_here(module))
    except (ImportError, AttributeError) as error:
        raise ValueError(f"no {kind} {value!r}: {error}") from error
