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


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """`visit(url, width=1400, **context options)` -> a page. In the end nothing may have gone wrong on any of them:
    no error in the console, no exception, no request to anywhere but this machine."""
    contexts, problems = [], []

    def open_page(url: str, width: int = 1400, height: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        context.set_default_timeout(60_000)  # a machine may be busy
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else 0)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url) if is_foreign(request.url) else 0)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


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
