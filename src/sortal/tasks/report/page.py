"""The page of a report: one HTML file that asks nothing from anywhere, and decides as Python does.

All texts pass through Jinja's escaping; what is marked safe was escaped when it was made. One
script runs, named in the page's policy by its hash; data lie in blocks that do not run. A fitted
model is among them as plain data.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from markupsafe import Markup

import sortal
from sortal.bayes.browser import describe_bayes
from sortal.bayes.model import BayesModel
from sortal.browser import (
    bare,
    category_field,
    chosen,
    environment,
    join_files,
    number_field,
    pack,
    packed_bytes,
    range_hint,
    read_static,
    refuse_unnamed,
    rough_hint,
    typed,
)
from sortal.discriminants.browser import (
    describe_fisher,
    describe_indicator,
    describe_linear,
)
from sortal.discriminants.fisher import FisherModel
from sortal.discriminants.learn import LinearModel
from sortal.discriminants.regression import IndicatorModel
from sortal.errors import ParameterError, counted
from sortal.plotting.axes import color
from sortal.records.render import PagePart, cell_text, is_words, plain
from sortal.trees.drawing import html as tree_html
from sortal.trees.drawing.html import describe_tree
from sortal.trees.model import TreeModel
from sortal.trees.prune import FittedTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from jinja2 import Environment

    from sortal._typing import CostsLike
    from sortal.browser import BrowserModel, FormField
    from sortal.records.tables import Cell, Table
    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.compare.settings import Settings
    from sortal.tasks.report.gather import ReportFacts

    Start = tuple[str, Mapping[str, Any]]

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
    yield Entry("summary", "Summary")
    if facts.decide is not None or facts.decide_note:
        yield Entry("decide", "Try the model")
    yield Entry("data", "Data")
    yield Entry("comparison", "Comparison")
    models = tuple(Entry(f"model-{one.id}", _capital(one.title)) for one in facts.models)
    yield Entry("models", "Models", models)
    if facts.working is not None or facts.working_note:
        yield Entry("working", "Calculations")
    yield Entry("reproduction", "Reproduce")
    yield Entry("glossary", "Glossary")


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
        recommended_title=_recommended_title,
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


def _recommended_title(comparison: Comparison) -> str:
    name = comparison.choice.recommended
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
        [read_static("report.css", *_HOME), tree_html.tree_style(), read_static("decide.css")]
    )


@cache
def _script() -> str:
    """The scripts of all parts and the page's own."""
    parts = join_files([*tree_html.SCRIPTS, *SCRIPTS])
    return f"{parts}\n{bare(read_static('report.js', *_HOME))}"


# --- A fitted model as plain data, and the form in which it decides ------------------------------

_KINDS: Final[dict[type, Callable[[Any], BrowserModel]]] = {
    BayesModel: describe_bayes,
    FisherModel: describe_fisher,
    IndicatorModel: describe_indicator,
    LinearModel: describe_linear,
    FittedTree: describe_tree,
}

# A page may have 2 MB in all.
MOST_BYTES: Final = 800_000


def describe(model: object) -> BrowserModel | None:
    """What a model tells a page; None of a kind that no page can decide by."""
    made = _KINDS.get(type(model))
    return None if made is None else made(model)


def decider(
    model: Any,
    *,
    missing: str = "",
    unknown: str = "",
    costs: CostsLike = None,
    most_bytes: int = MOST_BYTES,
) -> dict[str, Any] | None:
    """Plain data, ready for JSON, or None for a model of a kind that no page can decide by.

    `missing` and `unknown` are the estimator's policies, of which "error" matters here, and `costs`
    its costs (a tree has its own). `model` is None where it would take more than `most_bytes`.
    """
    described = describe(model)
    if described is None:
        return None
    fits = packed_bytes(described.numbers) <= most_bytes
    given = model.costs if isinstance(model, TreeModel) else costs
    if isinstance(model, FisherModel | IndicatorModel) and model.prior is None:
        given = None  # of two classes the functions have them in
    return {
        "kind": described.kind,
        "model": dict(described.numbers) if fits else None,
        "with_holes": not described.whole_rows,
        "classes": [plain(label) for label in model.classes],
        "colors": [color(k) for k in range(len(model.classes))],
        "costs": None if given is None else pack(np.asarray(given, dtype=np.float64)),
        "refuses": {"missing": missing == "error", "unknown": unknown == "error"},
        "largest": described.largest,
        "words": dict(described.words),
    }


# Deciding as a part of a page: a form for a row, and where the script says what the model says.

# The files of the script, in any order.
SCRIPTS: Final = ("cells.js", "decide_models.js", "decide.js")

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def decide_part(
    model: Any,
    *,
    title: str,
    name: str,
    starts: Sequence[Start] = (),
    missing: str = "",
    unknown: str = "",
    costs: CostsLike = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    code: str = "model.predict(rows)",
    most_bytes: int = MOST_BYTES,
) -> PagePart | None:
    """The form of a model and its data; None for a model of a kind that no page can decide by.

    `name` is its own in the page, and that of the tree whose path a decision lights. `starts` are
    rows to start from, each a label and values by column; the first is filled in. `missing`,
    `unknown` and `costs` are the estimator's. `ranges` are the least and the greatest number (of
    dates: days) of columns, told beside their fields; without them what the model knows. `code` is
    the Python that decides where the page cannot. `most_bytes` bounds the numbers of the model.
    """
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"name={name!r} cannot name a part of a page: give small letters, digits and hyphens."
        )
    described = describe(model)
    data = decider(model, missing=missing, unknown=unknown, costs=costs, most_bytes=most_bytes)
    if described is None or data is None:
        return None
    fields = _fields(described, ranges or {})
    prefix = f"decide-{name}"
    html = (
        environment("sortal.browser", "static")
        .get_template("decide.html.jinja")
        .render(
            prefix=prefix,
            title=title,
            fields=fields,
            starts=[label for label, _ in starts],
            fits=data["model"] is not None,
            with_holes=data["with_holes"],
            code=code,
        )
    )
    filled = [_filled(described, fields, values) for _, values in starts]
    told = [_field_data(described, field, ranges or {}) for field in fields]
    return PagePart(prefix, "decide", html, data | {"name": name, "fields": told, "starts": filled})


def _fields(described: BrowserModel, ranges: Mapping[str, tuple[float, float]]) -> list[FormField]:
    """One a column, all values of a category among those that can be chosen."""
    fields = []
    for j, ends in zip(described.columns, described.ranges, strict=True):
        column = described.schema.columns[j]
        if column.is_number:
            known = ranges.get(column.name)
            hint = range_hint(column, known or ends)
            if described.about and known is None:
                hint = rough_hint(column, ends)
            fields.append(number_field(column, j, None, hint))
        else:
            fields.append(category_field(column, j, range(len(column.values)), None))
    return fields


def _field_data(
    described: BrowserModel, field: FormField, ranges: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    """What the script knows of a field."""
    column = described.schema.columns[field.attribute]
    known: dict[str, Any] = {"name": column.name, "label": field.label, "kind": field.kind}
    if not column.is_number:
        return known | {"values": column.values, "words": field.words}
    return known | ({"range": ranges[column.name]} if column.name in ranges else {})


def _filled(
    described: BrowserModel, fields: Sequence[FormField], values: Mapping[str, Any]
) -> list[str | int]:
    """What stands in each field of a row."""
    refuse_unnamed(values, described.schema.names, "model")
    filled: list[str | int] = []
    for field in fields:
        column = described.schema.columns[field.attribute]
        value = values.get(column.name)
        stands = typed(column, value) if column.is_number else chosen(column, field, value)
        filled.append(stands)
    return filled
