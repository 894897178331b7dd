"""Records: the tables of `working()` and the base of what `explain()` gives.

A record holds numbers; how it looks as text or HTML is in `render`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

import narwhals as nw
import numpy as np

from sortal.errors import ParameterError, counted
from sortal.modelfile.fields import BACKENDS
from sortal.modelfile.record import limits, record
from sortal.records import render as faces
from sortal.records.render import page

if TYPE_CHECKING:
    from sortal._typing import Float


Cell = str | bool | int | float | None

# What is printed of a long record unless all of it is asked for.
MOST_TABLES, MOST_ROWS, MOST_COLUMNS, MOST_SIGNS = 20, 100, 100, 500


@record(eq=True, repr=False)
class Table:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; infinities as the words inf and -inf."""
        return {
            "name": self.name,
            "title": self.title,
            "equation": self.equation,
            "columns": list(self.columns),
            "rows": [[_json(cell) for cell in row] for row in self.rows],
        }

    def to_frame(self) -> Any:
        """A data frame of the library that the rows came in, or pandas."""
        return frame_of(self.columns, self.rows, self.backend)

    def to_text(self, width: int | None = None) -> str:
        """The table as it prints; with `width`, in lines that are no longer."""
        return faces.table_text(self.title, self.equation, self.columns, self.rows, width)

    def to_markdown(self, level: int = 3) -> str:
        """The table in Markdown, under a heading of this level; names and values as they are."""
        told = faces.table_markdown(self.columns, self.rows)
        return faces.join_markdown(faces.headed(self.title, self.equation), [told], level)

    def to_html(self) -> str:
        """A whole page."""
        return page(self.title, self._repr_html_())

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return faces.table_html(self.title, self.equation, self.columns, self.rows)


@dataclass(frozen=True, repr=False)
class Working:
    """The textbook's numbers for a fit: named tables, in the order in which one would work."""

    title: str
    tables: tuple[Table, ...]

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

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        return {"title": self.title, "tables": [table.to_dict() for table in self.tables]}

    def to_frame(self) -> dict[str, Any]:
        """A data frame for each table, by name."""
        return {table.name: table.to_frame() for table in self.tables}

    def to_text(self, width: int | None = None) -> str:
        """The tables as they print; with `width`, in lines that are no longer."""
        return faces.join_text(self.title, [table.to_text(width) for table in self.tables])

    def to_markdown(self, level: int = 2) -> str:
        """All tables in Markdown, under a heading of this level."""
        tables = [table.to_markdown(level + 1) for table in self.tables]
        return faces.join_markdown(self.title, tables, level)

    def to_html(self) -> str:
        """A whole page."""
        return page(self.title, faces.join_html("", [table._repr_html_() for table in self.tables]))

    def __str__(self) -> str:
        return self.short().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        short = self.short()
        return faces.join_html(short.title, [table._repr_html_() for table in short.tables])


def as_plain(value: object) -> Any:
    """Lists for tuples, dictionaries for records, as they give them, all else as it is."""
    if isinstance(value, tuple):
        return [as_plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return fields_of(value) if is_dataclass(value) else value


def fields_of(record: object, *names: str) -> dict[str, Any]:
    """Attributes of a record by name as plain data; all its fields unless some are named."""
    wanted = names or [one.name for one in fields(record)]  # type: ignore[arg-type]
    return {name: as_plain(getattr(record, name)) for name in wanted}


class RowExplanation(Protocol):
    """One row's explanation."""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings."""

    def to_table(self, backend: str) -> Table:
        """The parts that add up, as a table."""


R = TypeVar("R", bound=RowExplanation)

# What is printed of a long sequence; to_frame and to_dict give all of it.
SHOWN = 20


class Explanations(Sequence[R], Generic[R]):
    """One frozen record a row, in the order of the rows, made when it is asked for."""

    def __init__(self, make: Callable[[int], R], rows: Sequence[int], backend: str) -> None:
        self._make, self._rows, self._backend = make, rows, backend

    @overload
    def __getitem__(self, i: int) -> R: ...
    @overload
    def __getitem__(self, i: slice) -> Explanations[R]: ...
    def __getitem__(self, i: int | slice) -> R | Explanations[R]:
        if isinstance(i, slice):
            return Explanations(self._make, self._rows[i], self._backend)
        return self._make(self._rows[i])

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explanations) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain lists and strings, a dictionary a row."""
        return [record.to_dict() for record in self]

    def to_frame(self) -> Any:
        """One long data frame: the parts of every row, with the row's number."""
        # a record whose table is for reading only has another one with all its parts
        wholes = [getattr(record, "to_parts", record.to_table) for record in self]
        tables = [whole(self._backend) for whole in wholes]
        columns = ("row", *(tables[0].columns if tables else ()))
        rows = [
            (i, *row) for i, table in zip(self._rows, tables, strict=True) for row in table.rows
        ]
        return frame_of(columns, rows, self._backend)

    def _shown(self) -> tuple[list[Table], str]:
        """Tables of the first rows, with their numbers in the titles, and what is left out."""
        rows = self._rows[:SHOWN]
        tables = [record.to_table(self._backend) for record in self[:SHOWN]]
        titled = [
            replace(table, title=f"Row {i}. {table.title}")
            for i, table in zip(rows, tables, strict=True)
        ]
        more = len(self) - len(tables)
        return titled, f"… and {counted(more, 'more row')}: to_frame() has them all" if more else ""

    def to_text(self, width: int | None = None) -> str:
        """The first rows as they print; with `width`, in lines that are no longer."""
        tables, more = self._shown()
        return faces.join_text(
            "", [*(table.to_text(width) for table in tables), *filter(None, [more])]
        )

    def to_markdown(self, level: int = 3) -> str:
        """The first rows in Markdown, each under a heading of this level."""
        tables, more = self._shown()
        return faces.join_text(
            "", [*(table.to_markdown(level) for table in tables), *filter(None, [more])]
        )

    def to_html(self) -> str:
        """A whole page of the first rows."""
        return page("Explanations", self._repr_html_())

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables, more = self._shown()
        return faces.join_html(more, [table._repr_html_() for table in tables])


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


def _brief(cell: Cell) -> Cell:
    """A cell; of a long text the beginning."""
    if isinstance(cell, str) and len(cell) > MOST_SIGNS:
        return f"{cell[:MOST_SIGNS]}…"
    return cell


def _json(cell: Cell) -> Cell:
    """JSON has no infinity."""
    return str(cell) if isinstance(cell, float) and not math.isfinite(cell) else cell


def _of_one_type(cells: list[Cell]) -> list[Cell]:
    """Words where there is a word; else fractions where there is a fraction."""
    kind: type[str] | type[float] | None = None
    if any(isinstance(cell, str) for cell in cells):
        kind = str
    elif any(isinstance(cell, float) for cell in cells):
        kind = float
    return cells if kind is None else [None if cell is None else kind(cell) for cell in cells]


def framed(working: Working, backend: str) -> Working:
    """A working whose data frames are of a library."""
    tables = tuple(replace(one, backend=backend) for one in working.tables)
    return replace(working, tables=tables)


def table_of(
    name: str,
    title: str,
    heads: Iterable[object],
    rows: Iterable[Iterable[Any]],
    equation: str = "",
    backend: str = "pandas",
) -> Table:
    """A table whose heads are made different, and numbers of NumPy plain."""
    columns = unique(tuple(map(str, heads)))
    plain = (
        tuple(cell.item() if isinstance(cell, np.generic) else cell for cell in row) for row in rows
    )
    return Table(name, title, columns, tuple(plain), equation, backend)


def matrix_table(
    name: str,
    title: str,
    heads: tuple[Sequence[object], Sequence[object]],
    matrix: Float,
    equation: str,
    backend: str = "pandas",
    corner: str = "",
) -> Table:
    """A matrix with the names of its rows in front and of its columns above; nothing for NaN."""
    down, across = heads
    known = [[None if np.isnan(cell) else cell for cell in row] for row in matrix.tolist()]
    rows = ((str(label), *row) for label, row in zip(down, known, strict=True))
    return table_of(name, title, (corner, *across), rows, equation, backend)
