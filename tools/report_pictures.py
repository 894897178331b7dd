"""Photograph a report for the documentation: docs/pictures/report_*.png.

    python tools/report_pictures.py            make the report by its command, and photograph it
    python tools/report_pictures.py --check    fail if the pictures do not show what it gives now

Beside the pictures lies what they show, as text, with their hashes: a check needs no browser. Pages
that have one of the pictures have the command, too.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import html
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sortal import datasets

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
RECORD = PICTURES / "report.txt"
DOCS = runpy.run_path(str(ROOT / "tools" / "docs.py"))
COMMAND = "sortal report penguins.csv --target species -o report.html"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic"]
ROOM: Any = {"width": 1180, "height": 860}
# The parts of the page that the pictures show; the header has the date, and is not compared.
SHOWN = (
    r"<nav.*?</nav>",
    r'<section id="summary".*?</section>',
    r'<section id="decide".*?</section>',
    r'<figure id="picture-tree-tree".*?</figure>.*?</figure>',
)
ENDS = re.compile(r"</(?:h\d|p|li|label|option|text|figcaption|summary|td)>")


def make_report(folder: Path) -> Path:
    """The page that the command gives."""
    datasets.penguins().to_csv(folder / "penguins.csv", index=False)
    DOCS["run_console"](f"$ {COMMAND}\n", str(folder))
    return folder / "report.html"


def shown(page: str) -> str:
    """What the pictures show, a line for each piece of text."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    lines = []
    for pattern in SHOWN:
        found = re.search(pattern, bare, re.S)
        if found is None:
            raise SystemExit(
                f"The page has nothing like {pattern!r}: mend tools/report_pictures.py."
            )
        pieces = ENDS.split(found[0])
        texts = [html.unescape(re.sub(r"<[^>]*>", " ", piece)) for piece in pieces]
        lines += [" ".join(text.split()) for text in texts]
    return "".join(f"{line}\n" for line in lines if line)


def record(text: str) -> str:
    """The command, the pictures with their hashes, and what they show."""
    names = sorted(PICTURES.glob("report_*.png"))
    hashes = [f"{one.name} {hashlib.sha256(one.read_bytes()).hexdigest()}\n" for one in names]
    return "".join([f"$ {COMMAND}\n", *hashes, "\n", text])


def without_command() -> list[str]:
    """Pages that have a picture of the report and not its command."""
    texts = {page: page.read_text(encoding="utf-8") for page in DOCS["pages"]()}
    return [
        str(page.relative_to(ROOT))
        for page, text in texts.items()
        if "pictures/report_" in text and COMMAND not in text
    ]


def photograph(browser: Browser, address: str) -> None:
    """The first page, a decision, and a tree in the dark."""
    page = browser.new_page(viewport=ROOM)
    page.goto(address)
    page.screenshot(path=PICTURES / "report_summary.png")
    page.locator("#decide").screenshot(path=PICTURES / "report_decide.png")
    page.close()
    page = browser.new_page(viewport=ROOM, color_scheme="dark")
    page.goto(f"{address}#model-tree")
    page.locator("#model-tree figure").first.screenshot(path=PICTURES / "report_tree.png")
    page.close()


def check(text: str) -> int:
    """1 where pictures, text and pages do not belong together, after saying why."""
    old, new = RECORD.read_text(encoding="utf-8"), record(text)
    sys.stdout.writelines(
        difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), RECORD.name, "as run now"
        )
    )
    if old != new:
        print("The pictures show another report: run tools/report_pictures.py and look at them.")
    for page in without_command():
        print(f"{page} has a picture of the report and not the command that gives it: {COMMAND}")
    return int(old != new or bool(without_command()))


def main() -> int:
    """Make a report and photograph it, or check what was photographed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    is_check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as place:
        path = make_report(Path(place))
        text = shown(path.read_text(encoding="utf-8"))
        if is_check:
            return check(text)
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  (a check needs none)

        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            photograph(browser, path.as_uri())
            browser.close()
    RECORD.write_text(record(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
