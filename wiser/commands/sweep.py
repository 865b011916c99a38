"""`wiser sweep PLAN`: run a grid of tasks, disturbances and contenders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from wiser.spoken import spoken


@spoken("Stopped. The same command goes on from here.")
def sweep(
    plan: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PLAN")],
    out: Path | None = None,
    episodes: int | None = None,
    training_runs: tuple[str, ...] = (),
    engine: Literal["local", "ray"] = "local",
    workers: int = 2,
    address: str | None = None,
    export: bool = True,
) -> int:
    """Run the cells of a plan that are not in its ledger yet. Stopped or killed, it goes on where it was.

    Presets: quick, driving-multi, driving-single, driving-surprise, driving-fresh-multi, driving-fresh-single,
    driving-start, driving-middle, driving-lag, driving-oracle, driving-ablation, driving-base, driving-alone,
    driving-forms, driving-resets, driving-seeds, driving-rme, driving-scores, driving-denoisers, crafter,
    crafter-depth, crafter-onset, safety, safety-onset, safety-some, safety-some-onset,
    safety-cost.

    Args:
        plan: a YAML file or a preset.
        out: folder of the ledger; results/PLAN by default.
        episodes: of each cell, instead of the plan's.
        training_runs: folders with agents of the same names, as in shipped runs/seed-1, instead of the plan's.
        engine: processes on this machine, or a Ray cluster.
        workers: cells under way at once.
        address: of a running Ray cluster; none starts one here.
        export: also write CSV and Parquet tables at the end.
    """
    from wiser.evaluate.engines import engine_by_name
    from wiser.evaluate.plan import Plan
    from wiser.evaluate.sweep import run_plan

    folder = out or Path("results") / Path(plan).stem
    changes: dict[str, Any] = {"episodes": episodes, "training_runs": training_runs}
    asked = replace(Plan.read(plan), **{name: value for name, value in changes.items() if value not in (None, ())})
    run_plan(asked, folder, engine_by_name(engine, workers, address), export)
    return 0
