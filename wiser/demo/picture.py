"""The demo's picture: what the sensors said, what each agent believed, and whom the guard trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

if TYPE_CHECKING:
    from wiser.demo.run import Run

_GUARDED, _UNGUARDED = "#0072b2", "#d55e00"  # told apart by colour-blind viewers too
_MOMENTS = (4, 9, 10, 12, 20, 30, 45)


def draw_story(unguarded: Run, guarded: Run, onset: int, path: Path) -> Path:
    """Draw one episode: a filmstrip on top, errors and trust over time below."""
    strips = [
        ("overhead", [run["overhead"] for run in guarded.frames]),
        ("side", [run["side"] for run in guarded.frames]),
        ("zoom", [run["zoom"] for run in guarded.frames]),
        ("unguarded\nbelieves", unguarded.seen),
        ("guarded\nbelieves", guarded.seen),
    ]
    figure = plt.figure(figsize=(11, 11), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[5.2, 4])
    top, bottom = parts
    axes = top.subplots(len(strips), len(_MOMENTS))
    for row, (label, pictures) in enumerate(strips):
        for column, step in enumerate(_MOMENTS):
            _picture(axes[row, column], pictures[step])
        axes[row, 0].set_ylabel(label, rotation=0, ha="right", va="center")
    for column, step in enumerate(_MOMENTS):
        axes[0, column].set_title(f"step {step}")
    top.suptitle(f"Three of four sensors go blind at step {onset}: glare on all but one, drawn at random", fontsize=13)
    _traces(bottom, unguarded, guarded, onset)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _picture(axes: Axes, picture: Any) -> None:
    axes.imshow(picture, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])


def _traces(figure: Any, unguarded: Run, guarded: Run, onset: int) -> None:
    error, surprise, trust = figure.subplots(3, 1, sharex=True)
    for run, label, colour in ((unguarded, "unguarded", _UNGUARDED), (guarded, "guarded (greedy)", _GUARDED)):
        error.plot(np.stack(run.error)[:, 0], color=colour, label=label)
        surprise.plot(np.maximum(run.surprise, 1e-2), color=colour)
    error.set_ylabel("position error")
    error.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 0.95))
    surprise.set_ylabel("surprise of what\nis believed (nats)")
    surprise.set_yscale("log")
    # 0 trusted and good, 1 trusted although broken, 2 masked although good, 3 masked and broken
    state = (~np.stack(guarded.trusted)).astype(int) * 2 + np.stack(guarded.broken)  # (T, N)
    colours = ListedColormap(["#7cc3ea", "#d55e00", "#e3e3e3", "#8f8f8f"])
    trust.imshow(state.T, aspect="auto", cmap=colours, vmin=0, vmax=3, interpolation="nearest")
    trust.set_yticks(range(4), ["overhead", "side", "zoom", "range"])
    trust.set_xlabel("step")
    names = ["trusted, good", "trusted, broken", "masked, good", "masked, broken"]
    patches = [Patch(color=colours(i)) for i in range(4)]
    trust.legend(patches, names, ncols=4, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.35))
    for axes in (error, surprise, trust):
        axes.axvline(onset - 0.5, color="black", linestyle=":", linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
