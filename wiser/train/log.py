"""What a run says about itself: `log.jsonl`, one line per entry, and TensorBoard scalars where that is installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wiser.files import write_atomic

LOG = "log.jsonl"


class Log:
    """The log of one run, continued at `update`: entries beyond it, of work that was lost, are dropped."""

    def __init__(self, folder: Path, update: int = 0) -> None:
        path = folder / LOG
        if path.exists():
            kept = [line for line in path.read_text().splitlines() if _update_of(line) <= update]
            write_atomic(path, "".join(line + "\n" for line in kept).encode())
        self._lines = path.open("a")
        self._scalars = None
        if find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._scalars = SummaryWriter(str(folder / "tensorboard"), purge_step=update + 1)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Write one entry; its `update` says where in the run it belongs."""
        self._lines.write(json.dumps(entry) + "\n")
        self._lines.flush()
        if self._scalars is not None:
            group = "evaluation" if "score" in entry else "training"
            for name, value in entry.items():
                if name != "update" and value is not None:
                    self._scalars.add_scalar(f"{group}/{name}", value, entry["update"])
            self._scalars.flush()

    def close(self) -> None:
        """Finish both files."""
        self._lines.close()
        if self._scalars is not None:
            self._scalars.close()


def read(folder: Path) -> list[dict[str, Any]]:
    """All entries of a run's log, in order."""
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


def _update_of(line: str) -> float:
    try:
        return float(json.loads(line)["update"])
    except ValueError:  # a line cut short by a kill
        return float("inf")
