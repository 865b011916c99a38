"""Worlds to drive and live in, as Gymnasium environments. Importing this package registers their ids.

Every family has a folder of its own whose `domain.py` registers its environments and describes them.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

for _family in iter_modules(__path__):
    if _family.ispkg:
        import_module(f"{__name__}.{_family.name}.domain")
