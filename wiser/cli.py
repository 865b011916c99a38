"""The `wiser` command."""

from __future__ import annotations

import tyro

from wiser.demo import Demo, demo
from wiser.faults.gallery import Gallery, gallery


def main() -> None:
    """Run one subcommand: its options, help and documentation are the fields of its dataclass."""
    options = tyro.extras.subcommand_cli_from_dict({"demo": Demo, "faults": Gallery}, description=__doc__)
    if isinstance(options, Demo):
        demo(options)
    else:
        gallery(options)


if __name__ == "__main__":
    main()
