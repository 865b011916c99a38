"""The report as one HTML file: no network, nothing to install, light and dark, wide and narrow."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from wiser.evaluate.contenders import CONTENDERS
from wiser.evaluate.treatments import TREATMENTS
from wiser.report.assemble import Report
from wiser.report.exhibit import Exhibit, Table
from wiser.report.replays import Replay
from wiser.report.results import Sweep
from wiser.report.style import inline_svg

PARTS = Path(__file__).parent / "page"


def render(report: Report, folder: Path, replays: Sequence[Replay] = ()) -> str:
    """The whole page, with the figures that were saved in `folder` and links to replays there."""
    script = "".join((PARTS / name).read_text() for name in ("surfaces.js", "scroll.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    labels = _labels(report.exhibits)
    values = {
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:",
        "title": escape("Sensor failures: " + ", ".join(sweep.name for sweep in report.sweeps)),
        "style": (PARTS / "report.css").read_text(),
        "contents": "".join(
            f'<li><a href="#{escape(exhibit.name)}">{label} {escape(exhibit.title)}</a></li>'
            for label, exhibit in zip(labels, report.exhibits, strict=True)
        ),
        "exhibits": "".join(
            _section(label, exhibit, folder) for label, exhibit in zip(labels, report.exhibits, strict=True)
        ),
        "replays": "".join(f'<li><a href="{escape(it.link)}">{escape(it.title)}</a></li>' for it in replays),
        "no_replays": "" if replays else "hidden",
        "absent": "".join(f"<li>{prose(f'{kind.title}. {kind.needs}')}</li>" for kind in report.absent),
        "absence": "" if report.absent else "hidden",
        "sources": "".join(map(_source, report.sweeps)),
        "methods": _methods(report.sweeps),
        "script": script,
    }
    template = (PARTS / "report.html").read_text()
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def prose(text: str) -> str:
    """Escape text; what stands between backticks becomes code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def _labels(exhibits: tuple[Exhibit, ...]) -> list[str]:
    """Figures and bare tables are counted apart."""
    counts = {"Figure": 0, "Table": 0}
    labels = []
    for exhibit in exhibits:
        kind = "Table" if exhibit.figure is None else "Figure"
        counts[kind] += 1
        labels.append(f"{kind} {counts[kind]}.")
    return labels


def _section(label: str, exhibit: Exhibit, folder: Path) -> str:
    name = escape(exhibit.name)
    return (
        f'<section id="{name}"><h2><span class="number">{label}</span> {escape(exhibit.title)}</h2><figure>'
        f"{_drawing(exhibit, folder)}<figcaption>{prose(exhibit.caption)}</figcaption></figure>"
        f"{_tables(exhibit)}</section>"
    )


def _tables(exhibit: Exhibit) -> str:
    """Open where there is nothing else to see, folded away under a figure."""
    tables = "".join(map(_table, exhibit.tables))
    if exhibit.figure is None or not tables:
        return tables
    return f"<details><summary>Numbers</summary>{tables}</details>"


def _drawing(exhibit: Exhibit, folder: Path) -> str:
    if exhibit.figure is None:
        return ""
    picture = inline_svg(folder / f"{exhibit.name}.svg")
    width = exhibit.figure.get_size_inches()[0]
    still = (
        f'<div class="scroll still" tabindex="0">'
        f'<div role="img" aria-label="{escape(exhibit.alt)}" style="--inches:{width:.2f}">{picture}</div></div>'
    )
    if not exhibit.surfaces:
        return still
    data = json.dumps(exhibit.surfaces).replace("<", "\\u003c")
    return f'{still}<div class="turntable"><script type="application/json">{data}</script></div>'


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in table.rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _source(sweep: Sweep) -> str:
    episodes = sum(point.episodes for point in sweep.points.values())
    notes = [
        f"{len(sweep.points):,} settings, {episodes:,} episodes, fingerprint of the ledger {sweep.fingerprint}",
        f"agents: {', '.join(sweep.agents)}",
        *(f"left out: {note}" for note in sweep.left_out),
    ]
    return f"<dt>{escape(sweep.name)}</dt>" + "".join(f"<dd>{escape(note)}</dd>" for note in notes)


def _methods(sweeps: tuple[Sweep, ...]) -> str:
    """What each contender is; those without a line of their own are explained by their treatment."""
    used = {name: treatment for sweep in sweeps for name, treatment in sweep.treatments.items()}
    known = {name: treatment.about for name, treatment in TREATMENTS.items()}
    lines = {
        name: CONTENDERS[name].about if name in CONTENDERS else known.get(treatment, treatment)
        for name, treatment in sorted(used.items(), key=lambda item: [*CONTENDERS, item[0]].index(item[0]))
    }
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(about)}</dd>" for name, about in lines.items())
