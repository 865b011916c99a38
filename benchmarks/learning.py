"""Learning curves of wiser and of sheeprl's DreamerV3 on small tasks: what a step of experience is worth to each.

Same networks or nearly so (`nano`; the page says how many weights each has), same environment steps, updates, replay
and learning rate, several seeds each (`benchmarks/peers/small_tasks.py`). Every run is a process with one thread. A run
that was killed starts again, complete ones stay. Scores are of ten held-out episodes with the most likely actions. The
ratio of a task is (ours - random) / (theirs - random), of the mean score over the last third of the evaluations.
Run: python benchmarks/learning.py [--seeds 3] [--workers 2] [--tasks ...]; `make .venv/bench` installs the peer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from matplotlib.figure import Figure

from wiser.evaluate.statistics import Estimate, mean, paired_difference
from wiser.report.style import house_style

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

from small_tasks import HELD_OUT, RECIPES  # noqa: E402

CONTENDERS = {"wiser": "#D55E00", "sheeprl": "#0072B2"}
RANDOM_EPISODES = 20


@dataclass(frozen=True)
class Job:
    """One contender on one task with one seed."""

    contender: str
    task: str
    seed: int

    def file(self, out: Path) -> Path:
        return out / f"{self.contender}-{short(self.task)}-{self.seed}.jsonl"


def short(task: str) -> str:
    """CartPole of small/CartPole-v0."""
    return task.split("/")[1].split("-")[0]


def run(job: Job, out: Path) -> bool:
    """Train unless that was done before; whether there is a complete curve now."""
    file = job.file(out)
    if file.exists():
        return True
    name, began = file.stem, time.perf_counter()
    command = [sys.executable, str(HERE / "peers" / f"{job.contender}_learn.py"), "--task", job.task]
    command += ["--seed", str(job.seed), "--out", str(file)]
    print(f"{name}: begins", flush=True)
    log = out / f"{name}.log"
    with log.open("w") as lines:
        code = subprocess.run(
            command, stdout=lines, stderr=subprocess.STDOUT, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False
        ).returncode
    minutes = (time.perf_counter() - began) / 60
    if code or not file.exists():
        print(f"{name}: failed after {minutes:.0f} min, see {log}", flush=True)
        return False
    log.unlink()
    print(f"{name}: done in {minutes:.0f} min, last score {Curve(file).score[-1]:.1f}", flush=True)
    return True


class Curve:
    """A complete run, read back."""

    def __init__(self, file: Path) -> None:
        self.about, *lines = (json.loads(line) for line in file.read_text().splitlines())
        self.steps, self.score = (np.array([line[name] for line in lines]) for name in ("steps", "score"))
        self.minutes = lines[-1]["seconds"] / 60
        self.cpu_minutes = lines[-1].get("cpu", np.nan) / 60

    @property
    def late(self) -> float:
        """Mean score over the last third of the evaluations."""
        return float(self.score[-(len(self.score) // 3) or -1 :].mean())

    @property
    def area(self) -> float:
        """Area under the curve, divided by its length: the mean score on the way."""
        return float(np.trapezoid(self.score, self.steps) / (self.steps[-1] - self.steps[0]))


Curves = dict[str, list[Curve]]  # of one task, by contender, in the order of seeds


def random_score(task: str) -> float:
    """Mean return of a policy that draws uniformly from the action space."""
    env = gymnasium.make(task)
    env.action_space.seed(HELD_OUT)
    total = 0.0
    for seed in range(HELD_OUT, HELD_OUT + RANDOM_EPISODES):
        env.reset(seed=seed)
        done = False
        while not done:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            total, done = total + float(reward), terminated or truncated
    return total / RANDOM_EPISODES


def estimate(values: list[float]) -> Estimate:
    """Mean and 95 % bootstrap interval over seeds."""
    return mean([np.array(values)], np.random.default_rng(0))


def said(found: Estimate, digits: int = 0) -> str:
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def late(curves: list[Curve]) -> list[float]:
    return [curve.late for curve in curves]


def difference(curves: Curves) -> Estimate:
    """Ours minus theirs over the last third, of the seeds that both have."""
    ours, theirs = ({curve.about["seed"]: curve.late for curve in curves[name]} for name in CONTENDERS)
    both = sorted(ours.keys() & theirs.keys())
    pairs = [np.array([late_of[seed] for seed in both]) for late_of in (ours, theirs)]
    return paired_difference(pairs[:1], pairs[1:], np.random.default_rng(0))


def table(tasks: dict[str, Curves], chance: dict[str, float]) -> list[str]:
    lines = [
        "| task | contender | weights | last score | last third | whole curve | wall minutes a run (CPU) |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for task, curves in tasks.items():
        digits = 1 if abs(chance[task]) < 15 else 0
        for name, found in curves.items():
            values = ([curve.score[-1] for curve in found], late(found), [curve.area for curve in found])
            cells = [said(estimate([float(one) for one in each]), digits) for each in values]
            minutes, cpu = (np.nanmean([getattr(curve, a) for curve in found]) for a in ("minutes", "cpu_minutes"))
            weights = f"{found[0].about['parameters']:,}"
            lines.append(f"| {short(task)} | {name} | {weights} | {' | '.join(cells)} | {minutes:.0f} ({cpu:.0f}) |")
        lines.append(f"| {short(task)} | random policy | | | {chance[task]:.{digits}f} | | |")
    return lines


def verdicts(tasks: dict[str, Curves], chance: dict[str, float]) -> list[str]:
    """One line per task that both contenders finished."""
    lines = []
    for task, curves in tasks.items():
        seeds = [{curve.about["seed"] for curve in found} for found in curves.values()]
        if len(seeds) == len(CONTENDERS) and set.intersection(*seeds):
            ours, theirs = (np.mean(late(curves[name])) - chance[task] for name in CONTENDERS)
            gap = said(difference(curves), 1)
            lines.append(f"learning_{short(task)} ratio={ours / theirs:.2f}  ours - theirs, paired by seed: {gap}")
    return lines


def recipes(tasks: dict[str, Curves]) -> list[str]:
    """What both were told, and which versions they were."""
    lines = []
    for task, curves in tasks.items():
        first = {name: found[0].about for name, found in curves.items()}
        values: dict[str, Any] = next(iter(first.values()))["recipe"]
        told = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in values.items())
        lines.append(f"- {short(task)}: {told}")
    versions = {found[0].about["version"] for curves in tasks.values() for found in curves.values()}
    return [*lines, f"- {', '.join(sorted(versions))}, gymnasium {gymnasium.__version__}"]


def page(tasks: dict[str, Curves], chance: dict[str, float], command: str) -> str:
    seeds = max(len(found) for curves in tasks.values() for found in curves.values())
    parts = [
        "# Learning curves",
        f"`{command}`: up to {seeds} seeds of each contender on each task. Score of ten held-out episodes with the "
        "most likely actions; mean over seeds and 95 % bootstrap interval. With so few seeds an interval spans little "
        'more than the seeds themselves. "Last third" and "whole curve" are means over evaluations.',
        "![One panel per task; thin lines are seeds, thick ones their mean](curves.png)",
        "\n".join(table(tasks, chance)),
        "```\n" + "\n".join(verdicts(tasks, chance)) + "\n```",
        "The ratio is (ours - random) / (theirs - random) of the mean score over the last third. Told to both:",
        "\n".join(recipes(tasks)),
        "sheeprl ran its own training loop, player and replay (`benchmarks/peers/sheeprl_learn.py`), ours "
        "`wiser.train.loop.train` (`wiser_learn.py`). Ours has a decoder for every vector where sheeprl's share one, "
        "hence the more weights; otherwise the networks are the same, and so are losses and gradients "
        "(`python benchmarks/same_losses.py`). Learning rate, warm-up and replay were chosen on other seeds of ours "
        "and not tuned for either here. Before vectors shared a tower ours was behind on the two tasks that have "
        "some ([what was found](../../docs/training.md#without-an-expert)). The image task was "
        "made easier twice until a pilot of ours learnt it: Catch (16 falling balls) and Seek on a grid of 4 x 4 cells "
        "stayed at or below a random policy for as long as they were tried (5,440 and 7,040 steps); sheeprl was not "
        "tried on those. Our steps include those by which environments are reset, sheeprl's do not.",
    ]
    return "\n\n".join(parts) + "\n"


def draw(tasks: dict[str, Curves], chance: dict[str, float], file: Path) -> None:
    with house_style("learning"):
        figure = Figure(figsize=(7.0, 2.5), layout="constrained")
        panels = figure.subplots(1, len(tasks), squeeze=False)[0]
        for panel, (task, curves) in zip(panels, tasks.items(), strict=True):
            for name, found in curves.items():
                for curve in found:
                    panel.plot(curve.steps, curve.score, color=CONTENDERS[name], linewidth=0.5, alpha=0.45)
                average = np.mean([curve.score for curve in found], 0)
                panel.plot(found[0].steps, average, color=CONTENDERS[name], linewidth=1.6, label=name)
            panel.axhline(chance[task], color="#7A818E", linewidth=0.8, linestyle=":", label="random policy")
            panel.set(title=short(task), xlabel="environment steps", xlim=(0, None))
            panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            panel.xaxis.get_major_locator().set_params(nbins=4)
        panels[0].set_ylabel("score, 10 held-out episodes")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figure.savefig(file)


def collect(jobs: list[Job], out: Path) -> dict[str, Curves]:
    """The complete curves among the jobs."""
    tasks: dict[str, Curves] = {}
    for job in jobs:
        if job.file(out).exists():
            tasks.setdefault(job.task, {}).setdefault(job.contender, []).append(Curve(job.file(out)))
    return tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time, one thread each")
    parser.add_argument("--tasks", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "learning")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    cells = [(task, seed) for task in options.tasks for seed in range(options.seeds)]
    jobs = [Job(contender, task, seed) for task, seed in cells for contender in options.contenders]
    with ThreadPoolExecutor(options.workers) as workers:
        complete = list(workers.map(partial(run, out=options.out), jobs))

    every = [Job(contender, task, seed) for task, seed in cells for contender in CONTENDERS]
    tasks = collect(every, options.out)
    if tasks:
        chance = {task: random_score(task) for task in tasks}
        command = " ".join(["python", "benchmarks/learning.py", *sys.argv[1:]])
        (options.out / "README.md").write_text(page(tasks, chance, command))
        draw(tasks, chance, options.out / "curves.png")
        print("\n".join([*table(tasks, chance), "", *verdicts(tasks, chance)]))
    if not all(complete):
        sys.exit("some runs failed: start again to go on with them")


if __name__ == "__main__":
    main()
