"""What a page decides by: fields of its form, a model's numbers, templates and scripts."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from sortal.data.columns import as_value, is_missing
from sortal.data.table import numbers_from_objects
from sortal.errors import ParameterError, listed
from sortal.plotting.axes import short_number as few_digits
from sortal.records.render import moment_text, number_in_full, number_text, plain, quoted
from sortal.records.tables import unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from sortal._typing import Float
    from sortal.data.columns import ColumnSchema, Schema

    Ends = tuple[float, float] | None
    Packed = float | list[Any] | dict[str, object]

# More values than this are typed with suggestions instead of chosen from a list.
_MOST_CHOSEN: Final = 50


@dataclass(frozen=True)
class FormField:
    """A field of the form: `codes` are the values that can be chosen, by `words`.

    `value` is what stands in it: a text, or the place of a value (-1: another value, "": none).
    """

    attribute: int
    label: str
    kind: str
    codes: tuple[int, ...]
    words: tuple[str, ...]
    value: str | int
    hint: str

    @property
    def is_short(self) -> bool:
        """Whether one chooses from a list."""
        return len(self.words) <= _MOST_CHOSEN


def refuse_unnamed(given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    """An error where values are given for a column that there is not."""
    strangers = [name for name in given if name not in names]
    if strangers:
        raise ParameterError(
            f"values names {strangers[0]!r}, which is no column of this {what}: it has "
            f"{listed(names)}."
        )


def number_field(column: ColumnSchema, j: int, value: object, hint: str) -> FormField:
    """A field for numbers or dates."""
    return FormField(j, plain(column.name), column.kind, (), (), typed(column, value), hint)


def category_field(column: ColumnSchema, j: int, codes: Sequence[int], value: object) -> FormField:
    """A field for the values of these codes."""
    words = unique([_word(column.values[v]) for v in codes])
    field = FormField(j, plain(column.name), "category", tuple(codes), words, "", "")
    return replace(field, value=chosen(column, field, value))


def typed(column: ColumnSchema, value: object) -> str:
    """A number or a moment as one would type it; "" for a missing value."""
    if value is None or is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    cell = np.empty(1, dtype=object)
    cell[0] = value
    number = float(numbers_from_objects(cell, column.name)[0])
    return moment_text(number) if column.kind == "date" else number_in_full(number)


def chosen(column: ColumnSchema, field: FormField, value: object) -> str | int:
    """The place of a value among those that can be chosen, or its word where one types it."""
    if value is None or is_missing(value):
        return ""
    try:
        found = column.values.index(as_value(value))
    except (TypeError, ValueError):
        found = -1
    place = field.codes.index(found) if found in field.codes else -1
    if not field.is_short:
        return _word(value) if place < 0 else field.words[place]
    return place


def _word(value: object) -> str:
    """A value as it can be typed: in one line, and not empty."""
    text = str(value)
    return text if text.isprintable() and text and text == text.strip() else quoted(value)


def range_hint(column: ColumnSchema, ends: tuple[float, float] | None) -> str:
    """The least and the greatest number of a column; "" where they are not known."""
    if ends is None:
        return ""
    write = moment_text if column.kind == "date" else number_text
    return f"{write(ends[0])} … {write(ends[1])}"


def rough_hint(column: ColumnSchema, ends: tuple[float, float] | None) -> str:
    """About where the numbers of a column lie, in three digits or whole days."""
    if ends is None:
        return ""
    if column.kind == "date":
        return f"about {moment_text(float(round(ends[0])))} … {moment_text(float(round(ends[1])))}"
    return f"about {few_digits(ends[0])} … {few_digits(ends[1])}"


# --- What every kind of model tells a page of itself ---------------------------------------------


@dataclass(frozen=True)
class BrowserModel:
    """A model of some `kind`, as the page's script knows it, over the columns that it asks.

    `columns` are places in the schema, in the order of the form; `ranges` say of each where its
    numbers lie, exactly or (`about`) roughly. `numbers` are what the script calculates with; with
    `whole_rows`, for rows without missing values only. `words` name what it shows.
    """

    kind: str
    schema: Schema
    columns: tuple[int, ...]
    ranges: tuple[Ends, ...]
    numbers: Mapping[str, Any]
    words: Mapping[str, str] = field(default_factory=dict)
    whole_rows: bool = False
    about: bool = True
    largest: float | None = None


# Arrays for JSON: short ones as lists, others as base64 of little-endian float64, bit for bit.

# Up to so many numbers a list takes hardly more room, and can be read.
_SHORT: Final = 8


def pack(array: ArrayLike) -> Packed:
    """An array of numbers; infinite ones, which JSON has not, are always packed."""
    numbers = np.asarray(array, dtype=np.float64)
    if numbers.size <= _SHORT and np.isfinite(numbers).all():
        short: Packed = numbers.tolist()
        return short
    return _packed(numbers.ravel(), numbers.shape)


def _packed(flat: Float, shape: tuple[int, ...]) -> dict[str, object]:
    return {"f8": b64encode(flat.astype("<f8").tobytes()).decode(), "shape": list(shape)}


def packed_bytes(item: object) -> int:
    """About how many bytes an item takes in JSON."""
    if isinstance(item, dict):
        return sum(len(key) + 4 + packed_bytes(value) for key, value in item.items())
    if isinstance(item, list | tuple):
        return sum(1 + packed_bytes(value) for value in item)
    return len(item) + 2 if isinstance(item, str) else len(repr(item))


# --- Templates, styles and scripts that lie beside the code --------------------------------------


@cache
def environment(package: str, folder: str) -> Environment:
    """Templates of a folder: texts are escaped, what is not given is an error, JSON is short."""
    made = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made


@cache
def read_static(name: str, package: str = "sortal.browser", folder: str = "static") -> str:
    """The text of a file."""
    return files(package).joinpath(folder, name).read_text(encoding="utf-8")


def join_files(names: Iterable[str]) -> str:
    """Scripts of a page, each once."""
    return "\n".join(bare(read_static(name)) for name in dict.fromkeys(names))


def bare(script: str) -> str:
    """A script without what is there for its readers: indents, empty lines and comments."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
