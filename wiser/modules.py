"""Modules that are named at run time: of installed packages, or in the current folder."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType


def import_from_here(module: str) -> ModuleType:
    """Import a module by its name; it may lie in the current folder."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    return import_module(module)
