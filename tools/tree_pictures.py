"""Photograph drawings of trees in Chromium: docs/pictures/tree_*.png.

    python tools/tree_pictures.py            all of them
    python tools/tree_pictures.py --check    fail if trees are drawn otherwise now

The trees are of 3, 30 and 300 leaves, of 20 classes, of names and values that are HTML, and one in
the view of a notebook, with the path of a row. Pixels depend on the browser and its fonts, so that
no test compares them: they are there to be looked at. Beside them lie hashes of what was drawn and
of the pictures, by which a check without a browser knows whether they belong together.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sortal import TreeClassifier, datasets

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
RECORD = PICTURES / "tree.txt"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def noisy(n_leaves: int, n_classes: int, names: list[str], words: list[str]) -> TreeClassifier:
    """A tree of so many leaves on random rows."""
    rng = np.random.default_rng(0)
    n = 6000
    X = pd.DataFrame(rng.normal(size=(n, 2)).round(2), columns=names[:2])
    X[names[2]] = rng.choice(words, n)
    place = X[names[2]].map({word: i for i, word in enumerate(words)})
    score = X[names[0]] + 0.7 * X[names[1]] + 0.5 * place + rng.normal(size=n)
    y = pd.qcut(score, n_classes, labels=[f"class {k + 1}" for k in range(n_classes)]).astype(str)
    return TreeClassifier(max_leaf_nodes=n_leaves, pruning=None).fit(X, y)


def drawings() -> dict[str, str]:
    """SVG by name."""
    plain, towns = ["income", "age", "town"], ["Aalen", "Bern", "Chur", "Dole", "Enns"]
    penguins = datasets.penguins().dropna()
    odd = ["<b>width</b>", "a & b", "a very long name of a column that nobody would type twice"]
    html = ["<script>alert(1)</script>", "a, b", '"quoted"', "x\ny"]
    thirty, large = noisy(30, 3, plain, towns), noisy(300, 3, plain, towns)
    return {
        "tree_3": TreeClassifier(max_leaf_nodes=3, pruning=None)
        .fit(penguins, "species")
        .to_svg(theme="light"),
        "tree_30": thirty.to_svg(theme="light"),
        "tree_30_dark": thirty.to_svg(theme="dark"),
        "tree_300": large.to_svg(theme="light"),
        "tree_20_classes": noisy(24, 20, plain, towns).to_svg(theme="light"),
        "tree_html_names": noisy(8, 3, odd, html).to_svg(theme="light"),
    }


def photograph(browser: Browser, html: str, path: Path, width: int = 1000) -> None:
    """A picture of a page as large as what is on it."""
    page = browser.new_page(viewport={"width": width, "height": 400})
    page.set_content(f'<body style="margin:0;width:max-content">{html}</body>')
    page.locator("body > *").first.screenshot(path=path)
    page.close()


def view() -> str:
    """A tree in a notebook."""
    penguins = datasets.penguins().dropna()
    model: Any = TreeClassifier(min_samples_leaf=5, pruning=None).fit(penguins, "species")
    seen = model.to_html(row=penguins[200:201])
    return f'<div style="width:980px;padding:8px;font-family:sans-serif">{seen}</div>'


def record(drawn: dict[str, str]) -> str:
    """Of each picture its name, a hash of what was drawn and a hash of the picture."""
    lines = []
    for name, html in drawn.items():
        files = (html.encode(), (PICTURES / f"{name}.png").read_bytes())
        lines.append(" ".join([name, *(hashlib.sha256(data).hexdigest() for data in files)]))
    return "".join(f"{line}\n" for line in lines)


def main() -> int:
    """Draw and photograph, or check what was photographed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    drawn = drawings() | {"tree_view": view()}
    if parser.parse_args().check:
        old, new = RECORD.read_text(encoding="utf-8").splitlines(), record(drawn).splitlines()
        stale = [line.split()[0] for line in new if line not in old]
        if old != new:
            print(f"Stale: {', '.join(stale)}. Run tools/tree_pictures.py and look at them.")
        return int(old != new)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (a check needs none)

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, html in drawn.items():
            photograph(browser, html, PICTURES / f"{name}.png")
        browser.close()
    RECORD.write_text(record(drawn), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
