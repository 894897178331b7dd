"""A fitted model as plain data with which a page's script decides as Python does."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.bayes.browser import describe_bayes
from sortal.bayes.model import BayesModel
from sortal.browser import (
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
    describe_quadratic,
)
from sortal.discriminants.fisher.learn import FisherModel
from sortal.discriminants.linear.learn import IndicatorModel, LinearModel
from sortal.discriminants.quadratic.learn import QuadraticModel
from sortal.errors import ParameterError
from sortal.plotting.axes import color
from sortal.records.render import PagePart, plain
from sortal.trees.browser import describe_tree
from sortal.trees.model import TreeModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sortal.browser import BrowserModel, FormField

    Start = tuple[str, Mapping[str, Any]]

_KINDS: Final[dict[type, Callable[[Any], BrowserModel]]] = {
    BayesModel: describe_bayes,
    FisherModel: describe_fisher,
    IndicatorModel: describe_indicator,
    LinearModel: describe_linear,
    QuadraticModel: describe_quadratic,
    TreeModel: describe_tree,
}

# A page may have 2 MB in all.
MOST_BYTES: Final = 800_000


def describe(model: Any) -> BrowserModel | None:
    """What a model tells a page; None of a kind that no page can decide by."""
    made = _KINDS.get(type(model))
    return None if made is None else made(model)


def decider(
    model: Any,
    *,
    missing: str = "",
    unknown: str = "",
    costs: Any = None,
    most_bytes: int = MOST_BYTES,
) -> dict[str, Any] | None:
    """Plain data, ready for JSON, or None for a model of a kind that no page can decide by.

    `missing` and `unknown` are the estimator's policies, of which "error" matters here, and `costs`
    its costs (a tree has its own). What rows with missing values need is left out (`with_missing`
    is False) where all would take more than `most_bytes`; `model` is None where the rest still
    does.
    """
    described = describe(model)
    if described is None:
        return None
    kept = _fitting(described, most_bytes)
    given = model.costs if isinstance(model, TreeModel) else costs
    return {
        "kind": described.kind,
        "model": kept,
        "with_holes": described.missing is None or "holes" in (kept or {}),
        "classes": [plain(label) for label in model.classes],
        "colors": [color(k) for k in range(len(model.classes))],
        "costs": None if given is None else pack(np.asarray(given, dtype=np.float64)),
        "refuses": {"missing": missing == "error", "unknown": unknown == "error"},
        "largest": described.largest,
        "words": dict(described.words),
    }


def _fitting(described: BrowserModel, most_bytes: int) -> dict[str, Any] | None:
    """As many of a model's numbers as there is room for; None where there is not enough."""
    numbers = dict(described.numbers)
    missing = {} if described.missing is None else {"holes": described.missing}
    short = {name: item for name, item in numbers.items() if name not in described.spared}
    for kept in (numbers | missing, short | missing, numbers):
        if packed_bytes(kept) <= most_bytes:
            return kept
    return None


# Deciding as a part of a page: a form for a row, and where the script says what the model says.

# The files of the script, in any order.
SCRIPTS: Final = ("cells.js", "decide_numbers.js", "decide_models.js", "decide.js")

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def decide_part(
    model: Any,
    *,
    title: str,
    name: str,
    starts: Sequence[Start] = (),
    missing: str = "",
    unknown: str = "",
    costs: Any = None,
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


@cache
def decide_style() -> str:
    """The style of the part."""
    return read_static("decide.css")


@cache
def decide_script() -> str:
    """The script without what is there for its readers: indents, empty lines and comments."""
    return join_files(SCRIPTS)
