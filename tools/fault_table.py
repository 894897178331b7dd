"""Write what is known of the faults as a table with its date."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from tools.fault_places import ROOT

if TYPE_CHECKING:
    from tools.fault_places import Fault

TABLE: Final = ROOT / "tools" / "faults.md"
HEAD: Final = """# What the tests catch

Written by `tools/faults.py` on {day}: one fault at a time is made in a copy of the project,
and tests are run until one fails: the one that caught it before, then the quickest 400 that execute
the line, or, for C++, those of the loops and of what is built on them. *missed*: all of them pass.
*not run*: not measured since sources or tests changed."""


def cell(text: str) -> str:
    """A text that does not end a cell of Markdown."""
    return text.replace("|", "\\|").replace("\n", " ")


def outcome(result: dict[str, Any]) -> str:
    return (
        f"`{result['test']}`" if result.get("test") else f"**{result.get('outcome', 'not run')}**"
    )


def seeded(faults: list[Fault], tier: str, results: dict[str, Any]) -> list[str]:
    """The list, family by family."""
    done = [results.get(fault.name, {}) for fault in faults]
    counts = {
        word: sum(one.get("outcome", "not run") == word for one in done)
        for word in ("caught", "missed", "not run")
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    lines = [f"\n## The list, tier {tier}\n", f"{len(faults)} faults: {told}.\n"]
    lines += ["| family | fault | breaks | caught by |", "|---|---|---|---|"]
    for fault, result in zip(faults, done, strict=True):
        row = [fault.family, fault.name, fault.breaks, outcome(result)]
        lines.append(f"| {' | '.join(map(cell, row))} |")
    return lines


def random_ones(title: str, results: dict[str, Any]) -> list[str]:
    """A random sample: the proportion caught, and those that were not."""
    caught = sum(one["outcome"] == "caught" for one in results.values())
    lines = [f"\n## {title.capitalize()}\n", f"{caught} of {len(results)} caught.\n"]
    lines += ["| mutant | text | instead | outcome |", "|---|---|---|---|"]
    for name, one in results.items():
        if one["outcome"] != "caught":
            _, text, instead = one["what"]
            row = [name, f"`{text}`", f"`{instead}`", outcome(one)]
            lines.append(f"| {' | '.join(map(cell, row))} |")
    return lines


def write_table(faults: list[Fault], results: dict[str, Any]) -> None:
    """All that was measured, into faults.md."""
    lines = [HEAD.format(day=dt.datetime.now(dt.UTC).date())]
    for tier in ("full", "quick"):
        if results[tier]:
            lines += seeded(faults, tier, results[tier])
    for title, mutants in results.items():
        if " mutants " in title and mutants:
            lines += random_ones(title, mutants)
    if results["unsound"]:
        lines += ["\n## Tests that fail without a fault too, and so catch nothing\n"]
        lines += [f"- `{test}`" for test in results["unsound"]]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
