"""Records: tables, workings, explanations, and the base of everything that shows itself.

A record holds numbers; how it looks as text or HTML is in `render`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from html import escape
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, overload

import narwhals as nw
import numpy as np

from sortal.errors import ParameterError, counted
from sortal.modelfile.fields import BACKENDS
from sortal.modelfile.record import limits, record
from sortal.records import render as faces
from sortal.records.render import page

if TYPE_CHECKING:
    from sortal.data.columns import Value, Values


Cell = str | bool | int | float | None

# The columns of a table: cells by the name of a column, a matrix by a tuple of names.
Columns = dict[Any, Any]

# What is printed of a long record unless all of it is asked for.
MOST_TABLES, MOST_ROWS, MOST_COLUMNS, MOST_SIGNS = 20, 100, 100, 500


# --- What every record can: its fields as plain data, its pieces as text, Markdown and HTML ------


class Record:
    """A record with fields, which it tells as plain data."""

    SAYS: ClassVar[tuple[str, ...]] = ()
    """The attributes that it tells; all fields unless some are named."""

    def to_dict(self) -> Any:
        """Plain lists and strings, ready for JSON; infinities as the words inf and -inf."""
        return fields_of(self, *self.SAYS)


class Piece(Protocol):
    """A part of what a record shows."""

    def to_text(self, width: int | None = None) -> str:
        """As it prints; with `width`, in lines that are no longer."""

    def to_markdown(self, level: int) -> str:
        """In Markdown, under a heading of this level."""

    def _repr_html_(self) -> str: ...


class Shown(Record):
    """A record that shows itself: a heading, and pieces below it."""

    LEVEL: ClassVar[int] = 3
    """The level of its first heading in Markdown."""

    def _heading(self) -> str:
        """What stands above all of it."""
        return getattr(self, "title", "")

    def _pieces(self) -> Sequence[Piece]:
        """What stands below: its table, unless it has more to show."""
        return (self.to_table(),)

    def to_table(self) -> Table:
        """The record as a table, the first of several."""
        return next(piece for piece in self._pieces() if isinstance(piece, Table))

    def short(self) -> Shown:
        """What is printed of a long record."""
        return self

    def to_frame(self) -> Any:
        """A data frame of the library that the rows came in, or pandas."""
        return self.to_table().to_frame()

    def to_text(self, width: int | None = None) -> str:
        """What is printed; with `width`, in lines that are no longer."""
        parts = [piece.to_text(width) for piece in self._pieces()]
        return faces.join_text(faces.fold(self._heading(), width), parts)

    def to_markdown(self, level: int | None = None) -> str:
        """The same in Markdown, under a heading of this level."""
        level, heading = self.LEVEL if level is None else level, self._heading()
        below = level + bool(heading)
        parts = [piece.to_markdown(below) for piece in self._pieces()]
        return faces.join_markdown(heading, parts, level)

    def to_html(self) -> str:
        """A whole page."""
        return page(self._heading() or type(self).__name__, self._body(""))

    def __str__(self) -> str:
        return self.short().to_text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        short = self.short()
        return short._body(short._heading())

    def _body(self, heading: str) -> str:
        return faces.join_html(heading, [piece._repr_html_() for piece in self._pieces()])


@dataclass(frozen=True)
class Sentences:
    """Sentences that a record shows; as `listed`, or under a `head`, they are items of a list."""

    lines: tuple[str, ...]
    head: str = ""
    listed: bool = False

    def to_text(self, width: int | None = None) -> str:
        """A line each."""
        told = [self.head, *(f"- {line}" for line in self.lines)] if self.head else self.lines
        return faces.fold("\n".join(told), width)

    def to_markdown(self, level: int) -> str:
        """A paragraph or an item each."""
        marked = [faces.marked(line) for line in self.lines]
        if not (self.listed or self.head):
            return "\n\n".join(marked)
        items = "\n".join(f"- {line}" for line in marked)
        return faces.join_markdown(self.head, [items], level)

    def _repr_html_(self) -> str:
        if not (self.listed or self.head):
            return "".join(f"<p>{escape(line)}</p>" for line in self.lines)
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines)
        head = f"<h5>{escape(self.head)}</h5>" if self.head else ""
        return f"{head}<ul>{items}</ul>"


def as_plain(value: object) -> Any:
    """Lists for tuples, dictionaries for records, words for infinities, all else as it is."""
    if isinstance(value, tuple | list):
        return [as_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: as_plain(item) for name, item in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no infinity
        return str(value)
    return fields_of(value) if is_dataclass(value) else value


def fields_of(record: object, *names: str) -> dict[str, Any]:
    """Attributes of a record by name as plain data; all its fields unless some are named."""
    wanted = names or [one.name for one in fields(record)]  # type: ignore[arg-type]
    return {name: as_plain(getattr(record, name)) for name in wanted}


# --- Tables --------------------------------------------------------------------------------------


@record(eq=True, repr=False)
class Table(Shown):
    """A titled table; `equation` is the tag of the formula behind it, as in docs/math.md."""

    name: str
    title: str
    columns: tuple[str, ...] = limits("heads")
    rows: tuple[tuple[Cell, ...], ...] = limits("*", "heads")
    equation: str = ""
    backend: str = limits(among=BACKENDS, default="pandas")

    def short(self) -> Table:
        """The first rows and columns of a long table, with a title that says so."""
        sizes = {"rows": (len(self.rows), MOST_ROWS), "columns": (len(self.columns), MOST_COLUMNS)}
        cut = [f"{most} of {n} {what}" for what, (n, most) in sizes.items() if n > most]
        rows = tuple(tuple(map(_brief, row[:MOST_COLUMNS])) for row in self.rows[:MOST_ROWS])
        title = f"{self.title} (the first {' and '.join(cut)})" if cut else self.title
        return replace(self, title=title, columns=self.columns[:MOST_COLUMNS], rows=rows)

    def column(self, name: str) -> tuple[Cell, ...]:
        """The cells of a column."""
        j = self.columns.index(name)
        return tuple(row[j] for row in self.rows)

    def lines(self) -> list[dict[str, Any]]:
        """The rows, each as its cells by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; infinities as the words inf and -inf."""
        return {
            "name": self.name,
            "title": self.title,
            "equation": self.equation,
            "columns": list(self.columns),
            "rows": [as_plain(row) for row in self.rows],
        }

    def to_table(self) -> Table:
        """Itself."""
        return self

    def to_frame(self) -> Any:
        """A data frame of the library that the rows came in, or pandas."""
        return frame_of(self.columns, self.rows, self.backend)

    def to_text(self, width: int | None = None) -> str:
        """The table as it prints; with `width`, in lines that are no longer."""
        return faces.table_text(self.title, self.equation, self.columns, self.rows, width)

    def to_markdown(self, level: int | None = None) -> str:
        """The table in Markdown, under a heading of this level; names and values as they are."""
        told = faces.table_markdown(self.columns, self.rows)
        title = faces.headed(self.title, self.equation)
        return faces.join_markdown(title, [told], self.LEVEL if level is None else level)

    def to_html(self) -> str:
        """A whole page."""
        return page(self.title, self._repr_html_())

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return faces.table_html(self.title, self.equation, self.columns, self.rows)


@dataclass(frozen=True, repr=False)
class Working(Shown):
    """The textbook's numbers for a fit: named tables, in the order in which one would work."""

    title: str
    tables: tuple[Table, ...]

    LEVEL = 2

    def _pieces(self) -> Sequence[Table]:
        return self.tables

    def short(self) -> Working:
        """What is printed: the beginning of many tables and of long ones; `to_frame` has all."""
        title, tables = self.title, tuple(table.short() for table in self.tables[:MOST_TABLES])
        if len(self.tables) > MOST_TABLES:
            title = f"{title} (the first {MOST_TABLES} of {len(self.tables)} tables)"
        return Working(title, tables)

    def __getitem__(self, name: str) -> Table:
        for table in self.tables:
            if table.name == name:
                return table
        names = ", ".join(repr(table.name) for table in self.tables)
        raise ParameterError(f"There is no table {name!r} in this working: it has {names}.")

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def to_frame(self) -> dict[str, Any]:
        """A data frame for each table, by name."""
        return {table.name: table.to_frame() for table in self.tables}


S = TypeVar("S")


def framed(shown: S, backend: str) -> S:
    """A record, or what holds records, whose data frames are of a library."""
    made: Any = shown
    if isinstance(shown, Table | Explanations):
        made = replace(shown, backend=backend)
    elif isinstance(shown, tuple) and any(isinstance(one, Shown) for one in shown[:1]):
        made = tuple(framed(one, backend) for one in shown)
    elif isinstance(shown, dict):
        made = {name: framed(one, backend) for name, one in shown.items()}
    elif isinstance(shown, Shown):
        made = replace(made, **{name: framed(own, backend) for name, own in vars(shown).items()})
    found: S = made
    return found


def sheet(name: str, title: str, columns: Columns, equation: str = "") -> Table:
    """A table by its columns.

    Their names are made different, numbers of NumPy plain, and there is nothing where there is NaN.
    """
    heads: list[object] = []
    cells: list[list[Cell]] = []
    for head, column in columns.items():
        if isinstance(head, tuple):
            heads += head
            # not by NumPy where it need not be: it would make fractions of whole numbers
            own = column.T if isinstance(column, np.ndarray) else zip(*column, strict=True)
            cells += map(_plain_cells, own)
        else:
            heads.append(head)
            cells.append(_plain_cells(column))
    rows = tuple(zip(*cells, strict=True))
    return Table(name, title, unique(tuple(map(str, heads))), rows, equation)


def table_of(
    name: str,
    title: str,
    heads: Iterable[object],
    rows: Iterable[Iterable[Any]],
    equation: str = "",
) -> Table:
    """A table by its rows, as `sheet` makes one by its columns."""
    columns = unique(tuple(map(str, heads)))
    return Table(name, title, columns, tuple(tuple(_plain_cells(row)) for row in rows), equation)


def matrix_table(
    name: str,
    title: str,
    heads: tuple[Sequence[object], Sequence[object]],
    matrix: Any,
    equation: str,
) -> Table:
    """A matrix with the names of its rows in front and of its columns above."""
    down, across = heads
    return sheet(name, title, {"": map(str, down), tuple(across): matrix}, equation)


def whole_cells(weights: Any) -> list[Cell]:
    """Weights, of which whole ones are whole numbers."""
    cells: list[float] = np.asarray(weights, dtype=np.float64).tolist()
    return [int(x) if x.is_integer() else x for x in cells]


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Names of which each occurs once: a second "a" becomes "a (2)"."""
    taken: dict[str, None] = {}  # in order
    for name in names:
        candidates = (name if i == 1 else f"{name} ({i})" for i in count(1))
        taken[next(candidate for candidate in candidates if candidate not in taken)] = None
    return tuple(taken)


def frame_of(columns: Sequence[str], rows: Sequence[Sequence[Cell]], backend: Any) -> Any:
    """A data frame of a library, whose columns are of one type each."""
    data = {name: _of_one_type([row[j] for row in rows]) for j, name in enumerate(columns)}
    return nw.from_dict(data, backend=backend).to_native()


def _plain_cells(cells: Iterable[Any]) -> list[Cell]:
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        plain: list[Cell] = cells.tolist()
        if cells.dtype.kind != "f" or not np.isnan(cells).any():
            return plain
    else:
        plain = [cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
    return [None if cell != cell else cell for cell in plain]  # noqa: PLR0124  (NaN)


def _brief(cell: Cell) -> Cell:
    """A cell; of a long text the beginning."""
    if isinstance(cell, str) and len(cell) > MOST_SIGNS:
        return f"{cell[:MOST_SIGNS]}…"
    return cell


def _of_one_type(cells: list[Cell]) -> list[Cell]:
    """Words where there is a word; else fractions where there is a fraction."""
    kind: type[str] | type[float] | None = None
    if any(isinstance(cell, str) for cell in cells):
        kind = str
    elif any(isinstance(cell, float) for cell in cells):
        kind = float
    return cells if kind is None else [None if cell is None else kind(cell) for cell in cells]


# --- Explanations --------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """Why a row is predicted as `label`: parts that add up to the decision.

    The column `amount` of `parts` adds up to `total`; what priors and costs add are lines of their
    own. A total that compares two classes is that of `label` against the class `against`, the most
    probable of the others. What the columns are, and which further `facts` there are, by name, is
    said by `explain` of each estimator. `last` is the line in which the total is shown.
    """

    label: Value
    against: Value | None
    classes: Values
    total: float
    parts: Table
    amount: str
    last: tuple[Cell, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; infinities as the words inf and -inf."""
        own = fields_of(self, "label", "against", "classes", "total")
        return {**own, "parts": as_plain(self.parts.lines()), **as_plain(self.facts)}

    def to_table(self) -> Table:
        """The parts and their total, without digits that are rounding only."""
        j = self.parts.columns.index(self.amount)
        lines = [*self.parts.rows, *([self.last] if self.last else [])]
        # no zero has a sign
        rows = ((*line[:j], round(line[j], 12) + 0.0, *line[j + 1 :]) for line in lines)  # type: ignore[arg-type]
        return replace(self.parts, rows=tuple(rows))


R = TypeVar("R", bound=Record)


class Records(Sequence[R]):
    """Records in an order; equal to others if all of them are."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain lists and strings, a dictionary a record."""
        return [record.to_dict() for record in self]


# What is printed of a long sequence; to_frame and to_dict give all of it.
SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Records[Explanation], Shown):
    """One frozen record a row, in the order of the rows, made when it is asked for."""

    make: Callable[[int], Explanation]
    rows: Sequence[int]
    backend: str = "pandas"

    @overload
    def __getitem__(self, i: int) -> Explanation: ...
    @overload
    def __getitem__(self, i: slice) -> Explanations: ...
    def __getitem__(self, i: int | slice) -> Explanation | Explanations:
        if isinstance(i, slice):
            return replace(self, rows=self.rows[i])
        made = self.make(self.rows[i])
        return made if made.parts.backend == self.backend else framed(made, self.backend)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self, fact: str | None = None) -> Any:
        """One long data frame: the parts of every row, with the row's number.

        With `fact`, the table that every row has under this name among its facts.
        """
        tables = [one.to_table() if fact is None else one.facts[fact] for one in self]
        columns = ("row", *(tables[0].columns if tables else ()))
        rows = [(i, *row) for i, table in zip(self.rows, tables, strict=True) for row in table.rows]
        return frame_of(columns, rows, self.backend)

    def _pieces(self) -> Sequence[Piece]:
        """Tables of the first rows, with their numbers in the titles, and what is left out."""
        tables = [record.to_table() for record in self[:SHOWN]]
        shown: list[Piece] = [
            replace(table, title=f"Row {i}. {table.title}")
            for i, table in zip(self.rows, tables, strict=False)
        ]
        more = len(self) - len(tables)
        if more:
            words = f"… and {counted(more, 'more row')}: to_frame() has them all"
            shown.append(Sentences((words,)))
        return shown
