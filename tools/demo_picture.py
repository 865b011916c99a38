"""Draws docs/images/demo.png: the page of the median episode that `wiser demo` left.

Run: wiser demo && python tools/demo_picture.py     (needs Chromium and Playwright)
"""

from __future__ import annotations

from pathlib import Path

import tyro
from playwright.sync_api import sync_playwright
from screenshots import IMAGES, launch, save


def main(page_file: Path = Path("demo/median.html"), moment: int = 200) -> None:
    """Photograph a page at a moment.

    Args:
        page_file: that `wiser demo` wrote.
        moment: the step to show.
    """
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1400, "height": 1250}, color_scheme="light")
        page.goto(page_file.resolve().as_uri())
        page.evaluate("step => window.replay.jump(step)", moment)
        page.wait_for_timeout(1000)
        save(page, IMAGES / "demo.png")
        browser.close()


if __name__ == "__main__":
    tyro.cli(main)
