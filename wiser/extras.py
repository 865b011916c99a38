"""What WISER can use but does not need: the extras of its distribution, and how to get one."""

from __future__ import annotations

DISTRIBUTION = "wiser-guard"
"""What pip calls this package; on PyPI the name `wiser` belongs to another project."""


def install_hint(extra: str) -> str:
    """The command that adds an extra to this installation, whether it came from a checkout or from a wheel.

    It is plain text: print it with `markup=False`, for rich takes a name in brackets for a style.
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"
