"""How large is a report, and how long does it take beyond its comparison?"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import compare
from harness import Result
from sortal import datasets
from sortal.tasks.report.report import report

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "pandas", "matplotlib", "jinja2"]


def wide(n: int = 2_000, n_numbers: int = 45, n_words: int = 15) -> pd.DataFrame:
    """Sixty columns, of which a dozen say something of three classes; missing values in some."""
    rng = np.random.default_rng(SEED)
    y = rng.choice(3, n)
    columns: dict[str, object] = {}
    for j in range(n_numbers):
        columns[f"number_{j:02}"] = rng.normal(size=n) + 0.5 * (j < 8) * (y == j % 3)
    for j in range(n_words):
        shares = rng.dirichlet(np.full(4, 3.0), size=3 if j < 4 else 1)
        codes = np.array([rng.choice(4, n, p=p) for p in shares])[y if j < 4 else 0, np.arange(n)]
        columns[f"word_{j:02}"] = np.array(["north", "east", "south", "west"])[codes]
    frame = pd.DataFrame(columns)
    for name in frame.columns[::6]:
        frame.loc[rng.random(n) < 0.03, name] = None
    return frame.assign(kind=np.array(["first", "second", "third"])[y])


def many_classes(n: int = 6_000, n_classes: int = 30, n_columns: int = 10) -> pd.DataFrame:
    """Thirty clouds."""
    rng = np.random.default_rng(SEED)
    y = rng.choice(n_classes, n)
    means = rng.normal(scale=2.0, size=(n_classes, n_columns))
    cells = means[y] + rng.normal(size=(n, n_columns))
    frame = pd.DataFrame(cells.round(3), columns=[f"x{j}" for j in range(n_columns)])
    return frame.assign(kind=np.array([f"class {k:02}" for k in range(n_classes)])[y])


def board(n: int = 60_000, side: int = 36) -> pd.DataFrame:
    """A board whose fields have one of four colors at random: a tree needs a leaf a field."""
    rng = np.random.default_rng(SEED)
    x, y = rng.random(n), rng.random(n)
    colors = rng.integers(4, size=(side, side))
    said = colors[(x * side).astype(int), (y * side).astype(int)]
    words = np.array(["blue", "green", "red", "yellow"])
    return pd.DataFrame({"x": x.round(5), "y": y.round(5), "color": words[said]})


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str]] = {
    "penguins": (datasets.penguins, "species"),
    "iris": (datasets.iris, "species"),
    "60 columns": (wide, "kind"),
    "30 classes": (many_classes, "kind"),
    "a tree of 1,000 leaves": (board, "color"),
    "100,000 rows": (lambda: compare.mixed(100_000), "class"),
}


def one(name: str) -> Result:
    """One report, at its defaults."""
    make, target = TABLES[name]
    frame, load = make(), os.getloadavg()[0]
    start = time.perf_counter()
    made = report(frame, target)
    page = made.to_html()
    seconds = time.perf_counter() - start
    comparing = made.facts.comparison.settings.seconds
    size = len(page.encode())
    leaves = [m for m in made.facts.models if m.name == "tree"]
    told = leaves[0].facts if leaves else None
    tree = [str(row[1]) for row in told.rows if "leaves" in str(row[1])] if told else []
    return Result(
        f"report: {name}, {len(frame):,} × {frame.shape[1] - 1}",
        {"comparison": comparing, "beyond the comparison": seconds - comparing},
        "Bars: at most 20 seconds beyond the comparison, and 2 MB",
        load,
        [f"{size / 1e6:.2f} MB. Chosen: {made.facts.chosen}. {'; '.join(tree)} One run."],
    )


def results() -> list[Result]:
    """All tables."""
    return [one(name) for name in TABLES]
