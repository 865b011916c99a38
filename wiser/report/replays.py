"""Episodes to watch: replay pages that lie beside a report and are linked from it."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wiser.report.results import ReportError

FOLDER = "replays"


@dataclass(frozen=True)
class Replay:
    """A page beside the report."""

    link: str
    title: str


def read_titles(pages: tuple[Path, ...]) -> dict[Path, str]:
    """Titles of replay pages, as `wiser eval --record` writes them."""
    names = [page.name for page in pages]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ReportError(f"several replays are called {', '.join(sorted(repeated))}: rename all but one")
    found = {}
    for page in pages:
        title = re.search(r"<title>(.*?)</title>", page.read_text(encoding="utf-8"), re.DOTALL)
        if page.suffix != ".html" or title is None:
            raise ReportError(f"{page} is not a replay page: write one with `wiser eval ... --record NAME.html`")
        found[page] = html.unescape(title[1])
    return found


def copy_replays(titles: Mapping[Path, str], folder: Path) -> list[Replay]:
    """Copy replay pages, with their titles, to a report in `folder`."""
    for page in titles:
        target = folder / FOLDER / page.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.resolve() != target.resolve():
            shutil.copyfile(page, target)
    return [Replay(f"{FOLDER}/{page.name}", title) for page, title in titles.items()]
