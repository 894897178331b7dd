"""Photograph a report for the documentation: docs/pictures/report_*.png.

python tools/report_pictures.py [FOLDER]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from sortal import datasets
from sortal.tasks.report import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic"]
ROOM: Any = {"width": 1180, "height": 860}


def photograph(browser: Browser, address: str, folder: Path) -> None:
    """The first page, a decision, and a tree in the dark."""
    page = browser.new_page(viewport=ROOM)
    page.goto(address)
    page.screenshot(path=folder / "report_summary.png")
    page.locator("#decide").screenshot(path=folder / "report_decide.png")
    page.close()
    page = browser.new_page(viewport=ROOM, color_scheme="dark")
    page.goto(f"{address}#model-tree")
    page.locator("#model-tree figure").first.screenshot(path=folder / "report_tree.png")
    page.close()


def main() -> None:
    """Make a report and photograph it."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    made = report(datasets.penguins(), "species", repeats=1)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        path = Path(place) / "report.html"
        made.save(path)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        photograph(browser, path.as_uri(), folder)
        browser.close()


if __name__ == "__main__":
    main()
