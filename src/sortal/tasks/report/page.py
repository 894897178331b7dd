"""The page of a report: one HTML file that asks nothing from anywhere.

All texts pass through Jinja's escaping; what is marked safe was escaped when it was made. One
script runs, named in the page's policy by its hash; data lie in blocks that do not run.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup

import sortal
from sortal.browser import bare, environment, join_files, read_static
from sortal.errors import counted
from sortal.records.render import cell_text, is_words
from sortal.tasks.report import decide as part
from sortal.trees.drawing import html as tree_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment

    from sortal.records.tables import Cell, Table
    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.compare.settings import Settings
    from sortal.tasks.report.facts import ReportFacts

_HOME: Final = ("sortal.tasks.report", "templates")

# A table with more rows than the first number is folded to the second.
_FOLDED: Final = (18, 12)


class Entry(NamedTuple):
    """A line of the table of contents."""

    id: str
    title: str
    below: tuple[Entry, ...] = ()


def render(facts: ReportFacts) -> str:
    """The whole page."""
    script = _script()
    return (
        _templates()
        .get_template("report.html.jinja")
        .render(
            facts=facts,
            contents=tuple(_contents(facts)),
            policy=_policy(script),
            style=Markup(_style()),  # noqa: S704  (the package's own files)
            script=Markup(script),  # noqa: S704
            version=sortal.__version__,
        )
    )


def _contents(facts: ReportFacts) -> Iterator[Entry]:
    yield Entry("summary", "In short")
    if facts.decide is not None or facts.decide_note:
        yield Entry("decide", "Try a row")
    yield Entry("data", "The data")
    yield Entry("comparison", "The comparison")
    models = tuple(Entry(f"model-{one.name}", _capital(one.title)) for one in facts.models)
    yield Entry("models", "The models", models)
    if facts.working is not None or facts.working_note:
        yield Entry("working", "The working")
    yield Entry("reproduction", "The same again")
    yield Entry("glossary", "Words")


def _policy(script: str) -> str:
    """Nothing is fetched; only the page's own script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


@cache
def _templates() -> Environment:
    made = environment(*_HOME)
    made.globals["most_rows"], made.globals["first_rows"] = _FOLDED
    made.filters.update(
        cell=_cell,
        number_columns=_number_columns,
        safe_html=Markup,
        score_words=_score_words,
        titled=_titled,
        chosen_title=_chosen_title,
        capital=_capital,
    )
    return made


def _cell(cell: Cell, digits: int | None = None) -> str:
    """A cell in one line; with `digits`, fractions with so many at most."""
    if digits is not None and isinstance(cell, float):
        return f"{cell:.{digits}g}"
    return cell_text(cell)


def _number_columns(table: Table) -> set[int]:
    """The places of columns that are set to the right."""
    columns = enumerate(zip(*table.rows, strict=True))
    return {j for j, cells in columns if not is_words(cells)}


def _titled(comparison: Comparison) -> Table:
    """The table of the comparison with the titles of models instead of their names."""
    table = comparison.table
    rows = tuple((_title(comparison, row[0]), *row[1:]) for row in table.rows)
    return replace(table, rows=rows)


def _chosen_title(comparison: Comparison) -> str:
    name = comparison.choice.chosen
    return _title(comparison, name) if name else ""


def _title(comparison: Comparison, name: Cell) -> str:
    return comparison[str(name)].title or str(name)


def _score_words(result: ModelResult, settings: Settings) -> str:
    """A model's score in a line."""
    if result.score is None:
        return result.status
    said = f"{settings.head} {result.score:.3f}"
    if result.low is not None and result.high is not None:
        said += f" ({result.low:.3f} to {result.high:.3f})"
    if result.size is not None:
        said += f" · {counted(round(result.size), 'number')}"
    return f"{said} · {result.status}" if result.status else said


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


@cache
def _style() -> str:
    return "\n".join(
        [read_static("report.css", *_HOME), tree_html.tree_style(), part.decide_style()]
    )


@cache
def _script() -> str:
    """The scripts of all parts and the page's own."""
    parts = join_files([*tree_html.SCRIPTS, *part.SCRIPTS])
    return f"{parts}\n{bare(read_static('report.js', *_HOME))}"
