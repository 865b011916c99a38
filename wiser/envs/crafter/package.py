"""The package `crafter`, or how to get it."""

from __future__ import annotations

from wiser.extras import install_hint

try:
    import crafter
    from crafter import constants, engine, objects
except ImportError as error:
    raise ImportError(f"Crafter needs the package crafter: {install_hint('crafter')}") from error

__all__ = ["constants", "crafter", "engine", "objects"]
