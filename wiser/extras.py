"""What WISER can use but does not need: the extras of its distribution, and how to get one."""

from __future__ import annotations

DISTRIBUTION = "wiser-guard"
"""What pip calls this package; on PyPI the name `wiser` belongs to another project."""
ALONE = {"safety": "safety-gymnasium==1.0.0"}
"""What an extra needs besides, and pip can only install without its dependencies: they ask for releases of long ago."""


def install_hint(extra: str) -> str:
    """The command that adds an extra to this installation, whether it came from a checkout or from a wheel.

    It is plain text: print it with `markup=False`, for rich takes a name in brackets for a style.
    """
    command = f"pip install '{DISTRIBUTION}[{extra}]'"
    return f"{command} and then pip install --no-deps {ALONE[extra]}" if extra in ALONE else command
