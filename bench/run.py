"""Run every benchmark, or the sections named, and write bench/results.md.

`python bench/run.py Trees` renews one section and keeps the others as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

import accuracy
import bayes
import choices
import compare
import discriminants
import ensembles
import kernels
import neighbors
import quadratics
import report
import tree_use
import trees
from harness import render

SECTIONS = {
    "Discrete Bayes": bayes,
    "Discriminants": discriminants,
    "Quadratic discriminants and leave-one-out": quadratics,
    "Kernel discriminants": kernels,
    "Nearest neighbors": neighbors,
    "Trees": trees,
    "Trees in use": tree_use,
    "Accuracy of trees": accuracy,
    "Ensembles": ensembles,
    "Comparing models": compare,
    "Choices between models": choices,
    "Reports": report,
}
HEAD = "# Results\n\nMade by `make bench`; ratios within one run, not seconds, are the point.\n"
RESULTS = Path(__file__).parent / "results.md"


def kept() -> dict[str, str]:
    """The sections there are, by title."""
    parts = RESULTS.read_text(encoding="utf-8").split("\n## ")[1:] if RESULTS.exists() else []
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() for part in parts}


def main() -> None:
    """One section a script."""
    sections = kept()
    for title in sys.argv[1:] or SECTIONS:
        script = SECTIONS[title]
        sections[title] = render(script.results(), script.PACKAGES).strip()
        listed = [f"## {name}\n\n{sections[name]}" for name in SECTIONS if name in sections]
        RESULTS.write_text("\n\n".join([HEAD.strip(), *listed]) + "\n", encoding="utf-8")
        print(sections[title])


if __name__ == "__main__":
    main()
