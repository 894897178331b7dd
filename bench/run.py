"""Run every benchmark and write bench/results.md."""

from __future__ import annotations

from pathlib import Path

import bayes
import discriminants
from harness import render

SECTIONS = {"Discrete Bayes": bayes, "Discriminants": discriminants}


def main() -> None:
    """One section a script."""
    parts = [
        "# Results\n\nMade by `make bench`; ratios within one run, not seconds, are the point.\n"
    ]
    for title, script in SECTIONS.items():
        parts.append(f"## {title}\n\n{render(script.results(), script.PACKAGES)}")
    text = "\n".join(parts)
    (Path(__file__).parent / "results.md").write_text(text.rstrip() + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
