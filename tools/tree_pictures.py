"""Photograph drawings of trees in Chromium: docs/pictures/tree_*.png.

    python tools/tree_pictures.py            all of them
    python tools/tree_pictures.py FOLDER     into another folder

The trees are of 3, 30 and 300 leaves, of 20 classes, of names and values that are HTML, and one in
the view of a notebook, with the path of a row. Pixels depend on the browser and its fonts, so that
no test compares them: they are there to be looked at.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from sortal import TreeClassifier, datasets

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
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


def main() -> None:
    """Draw and photograph."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    penguins = datasets.penguins().dropna()
    model: Any = TreeClassifier(min_samples_leaf=5, pruning=None).fit(penguins, "species")
    seen = model.to_html(row=penguins[200:201])
    view = f'<div style="width:980px;padding:8px;font-family:sans-serif">{seen}</div>'
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, svg in drawings().items():
            photograph(browser, svg, folder / f"{name}.png")
        photograph(browser, view, folder / "tree_view.png")
        browser.close()


if __name__ == "__main__":
    main()
