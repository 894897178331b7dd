"""Deciding as a part of a page: a form for a row, and where the script says what the model says."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sortal.errors import OptionError
from sortal.views.deciding.decider import MOST_BYTES, decider, describe
from sortal.views.deciding.fields import (
    category_field,
    chosen,
    number_field,
    range_hint,
    refuse_strangers,
    rough_hint,
    typed,
)
from sortal.views.parts import Part
from sortal.views.static_files import environment, joined, read_static

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.views.deciding.described import Described
    from sortal.views.deciding.fields import Field

    Start = tuple[str, Mapping[str, Any]]

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
) -> Part | None:
    """The form of a model and its data; None for a model of a kind that no page can decide by.

    `name` is its own in the page, and that of the tree whose path a decision lights. `starts` are
    rows to start from, each a label and values by column; the first is filled in. `missing`,
    `unknown` and `costs` are the estimator's. `ranges` are the least and the greatest number (of
    dates: days) of columns, told beside their fields; without them what the model knows. `code` is
    the Python that decides where the page cannot. `most_bytes` bounds the numbers of the model.
    """
    if not _NAME.fullmatch(name):
        raise OptionError(
            f"name={name!r} cannot name a part of a page: give small letters, digits and hyphens."
        )
    described = describe(model)
    data = decider(model, missing=missing, unknown=unknown, costs=costs, most_bytes=most_bytes)
    if described is None or data is None:
        return None
    fields = _fields(described, ranges or {})
    prefix = f"decide-{name}"
    html = (
        environment("sortal.views", "static")
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
    told = [_told(described, field, ranges or {}) for field in fields]
    return Part(prefix, "decide", html, data | {"name": name, "fields": told, "starts": filled})


def _fields(described: Described, ranges: Mapping[str, tuple[float, float]]) -> list[Field]:
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


def _told(
    described: Described, field: Field, ranges: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    """What the script knows of a field."""
    column = described.schema.columns[field.attribute]
    known: dict[str, Any] = {"name": column.name, "label": field.label, "kind": field.kind}
    if not column.is_number:
        return known | {"values": column.values, "words": field.words}
    return known | ({"range": ranges[column.name]} if column.name in ranges else {})


def _filled(
    described: Described, fields: Sequence[Field], values: Mapping[str, Any]
) -> list[str | int]:
    """What stands in each field of a row."""
    refuse_strangers(values, described.schema.names, "model")
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
    return joined(SCRIPTS)
