"""A real browser for tests of pages: headless Chromium, driven by Playwright. Tests skip where it is missing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

HINT = "run `make browser`, or install Chromium and `pip install playwright`"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
Visit = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of a process."""
    api = pytest.importorskip("playwright.sync_api", reason=f"Playwright is not installed: {HINT}")
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"Chromium is not installed: {HINT}")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=ARGUMENTS, timeout=120_000)
        yield running
        running.close()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> dict[str, Tab]:
    """Open pages by the options of their context: a new one costs seconds on a busy machine, a new address does not."""
    return {}


@pytest.fixture
def visit(browser: Any, tabs: dict[str, Tab]) -> Iterator[Visit]:
    """`visit(url, width=1400, **context options)` -> a page. In the end nothing may have gone wrong on any of them:
    no error in the console, no exception, no request to anywhere but this machine."""
    used: list[Tab] = []

    def open_page(url: str, width: int = 1400, height: int = 900, **options: Any) -> Any:
        name = repr(sorted(options.items()))
        tab = tabs[name] = tabs.get(name) or Tab(browser, options)
        used.append(tab)
        tab.problems.clear()
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.goto(url)
        return tab.page

    yield open_page
    assert [tab.problems for tab in used if tab.problems] == []


class Tab:
    """A page and what went wrong on it."""

    def __init__(self, browser: Any, options: dict[str, Any]) -> None:
        self.problems: list[str] = []
        context = browser.new_context(**options)
        context.set_default_timeout(60_000)  # a machine may be busy
        self.page = context.new_page()
        self.page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda sent: self.problems.append(sent.url) if is_foreign(sent.url) else None)


def until(page: Any, condition: str, seconds: float = 60.0) -> None:
    """Wait until a JavaScript expression holds. (Playwright's own waiting needs eval, which our pages forbid.)"""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"{condition} did not come true in {seconds} s"
        page.wait_for_timeout(20)


def is_foreign(url: str) -> bool:
    """Whether a request leaves this machine."""
    parts = urlsplit(url)
    return parts.scheme not in ("file", "data", "blob") and parts.hostname not in ("localhost", "127.0.0.1")
