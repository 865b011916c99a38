"""How figures look: one colour and one marker per method everywhere, sizes for print, files that do not change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

INK = "#1a1d23"
"""Text, axes and reference lines; the page lets it follow light and dark."""
WIDTH = 7.0
"""Inches: the text width of a two-column paper."""
HEAT = "cividis"
"""Colours of heights and shares: even for every kind of sight, and in grey."""
FORMATS: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Each with what keeps the date out of it."""

# Okabe and Ito's colours and some of Paul Tol's: colour-blind readers tell them apart too, and in grey the marker does.
_LOOKS = {
    "base": ("#D55E00", "o"), "augmented": ("#E69F00", "s"), "dropout": ("#7A818E", "v"), "rme": ("#CC79A7", "^"),
    "confident": ("#0072B2", "D"), "exhaustive": ("#009E73", "P"), "calibrated": ("#56B4E9", "X"),
    "witnesses": ("#000000", "*"), "rme-tokens": ("#999933", "8"), "hrssm": ("#661100", "H"),
    "single": ("#882255", "<"), "filter": ("#DDCC77", ">"), "reject": ("#44AA99", "p"),
    "reject-reference": ("#332288", "h"), "predict": ("#AA4499", "d"), "safe": ("#117733", "1"),
}  # fmt: skip
_COLOURS = ("#D55E00", "#E69F00", "#0072B2", "#CC79A7", "#009E73", "#882255", "#999933", "#56B4E9")
"""Of names that are no methods: the second blue comes last, and none is the ink of what is clean."""
_MARKERS = "osvD^PX"
"""One less than colours, so that the ninth name differs from the first."""

_RC: Any = {
    "font.size": 7, "axes.titlesize": 7.5, "axes.labelsize": 7, "xtick.labelsize": 6.5, "ytick.labelsize": 6.5,
    "legend.fontsize": 7, "legend.frameon": False, "lines.linewidth": 1.2, "lines.markersize": 3.2,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "axes.spines.top": False, "axes.spines.right": False, "axes.facecolor": "none",
    "figure.facecolor": "white", "savefig.facecolor": "white", "figure.dpi": 100, "savefig.dpi": 220,
}  # fmt: skip


@contextmanager
def house_style(name: str = "") -> Iterator[None]:
    """Draw and save within; `name` makes the ids inside SVG files the figure's own and the same every time."""
    with mpl.rc_context(_RC | {"svg.hashsalt": name}):
        yield


def looks_of_methods(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colours and markers of methods: the library's have theirs everywhere, others what is left, in their order."""
    names = list(names)
    known = list(_LOOKS.values())
    apart = [*known[::2], *known[1::2], *_pairs()]  # neighbours in the list are for methods that belong together
    spare = cycle(dict.fromkeys(look for look in apart if look not in [_LOOKS.get(name) for name in names]))
    return _by_name({name: _LOOKS.get(name) or next(spare) for name in names})


def looks(names: list[str]) -> dict[str, dict[str, Any]]:
    """Colours and markers for names that are no methods, such as faults, in their order."""
    return _by_name(dict(zip(names, cycle(_pairs()), strict=False)))


def _pairs() -> list[tuple[str, str]]:
    """All colours with all markers."""
    return list(islice(zip(cycle(_COLOURS), cycle(_MARKERS), strict=False), len(_COLOURS) * len(_MARKERS)))


def _by_name(found: dict[str, tuple[str, str]]) -> dict[str, dict[str, Any]]:
    return {name: {"color": colour, "marker": marker} for name, (colour, marker) in found.items()}


def spaced(task: str) -> str:
    """A task's name in words, without the module of an id."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", task.rpartition(":")[2])


def slug(text: str) -> str:
    """A name for files and links."""
    return re.sub(r"\W+", "-", text).strip("-").lower()


def panels(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, Any]:
    """A figure of text width with a grid of axes (rows, columns), each row `height` inches."""
    width = min(WIDTH, max(3.4, 2.4 * columns))
    layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.03, hspace=0.04)
    figure = Figure(figsize=(width, height * rows + 0.35), layout=layout)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def legend(figure: Figure, axes: Axes, columns: int) -> None:
    """One legend for all panels, below them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, columnspacing=1.4, handletextpad=0.5)


def reference(axes: Axes, height: float, label: str) -> None:
    """A thin line at a known height, named beyond its right end."""
    axes.axhline(height, color=INK, linewidth=0.5, alpha=0.6, linestyle=(0, (4, 3)), zorder=0)
    axes.annotate(
        label, (1, height), xycoords=("axes fraction", "data"), va="center", fontsize=6, alpha=0.8,
        xytext=(2, 0), textcoords="offset points",
    )  # fmt: skip


def readable_on(shade: tuple[float, ...]) -> str:
    """Text colour for a background."""
    return "#000000" if np.dot(shade[:3], (0.299, 0.587, 0.114)) > 0.5 else "#fefefe"


def save(figure: Figure, stem: Path) -> None:
    """Write the figure in all formats, the same bytes for the same content."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, and the same in all of them
    for kind, undated in FORMATS.items():
        figure.savefig(stem.with_name(f"{stem.name}.{kind}"), metadata=undated)


def inline_svg(path: Path) -> str:
    """A figure that was saved, as an element that takes ink and paper from the page round it."""
    _, start, body = path.read_text().partition("<svg")
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\s(?:width|height)="[\d.]+pt"', "", body, count=2)
    return start + body.replace(INK, "currentColor").replace("#ffffff", "var(--card)")
