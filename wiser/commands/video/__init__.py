"""`wiser video WORK`: the gate on videos, and what comes of it. One file each."""

from __future__ import annotations

from typing import Annotated

import tyro

from wiser.commands.video.calibrate import Calibrate
from wiser.commands.video.corrupt import Corrupt
from wiser.commands.video.gate import Gate
from wiser.commands.video.generate import Generate
from wiser.commands.video.options import check_extra
from wiser.commands.video.score import Score
from wiser.commands.video.table import Table
from wiser.spoken import spoken

Work = (
    Annotated[Corrupt, tyro.conf.subcommand("corrupt", prefix_name=False)]
    | Annotated[Calibrate, tyro.conf.subcommand("calibrate", prefix_name=False)]
    | Annotated[Gate, tyro.conf.subcommand("gate", prefix_name=False)]
    | Annotated[Generate, tyro.conf.subcommand("generate", prefix_name=False)]
    | Annotated[Score, tyro.conf.subcommand("score", prefix_name=False)]
    | Annotated[Table, tyro.conf.subcommand("table", prefix_name=False)]
)


@spoken("Stopped; clips that are finished are kept, and the same command goes on with the others.")
def video(work: Work) -> int:
    """Break videos, let a video world model judge their frames, generate what comes next, and score it."""
    check_extra()
    work.run()
    return 0
