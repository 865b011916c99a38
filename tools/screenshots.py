"""What the tools that draw pictures of web pages share."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright

IMAGES = Path(__file__).parent.parent / "docs" / "images"
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def launch(playwright: Playwright) -> Browser:
    """The Chromium of this machine."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM)


def save(page: Page, path: Path) -> None:
    """What is in the window, in 256 colours: a third of the size."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)
