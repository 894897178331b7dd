"""Blocks of rows from plain lists, and the class moments of such rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from sortal.data.columns import CategoryColumn, Column, NumberColumn, as_categories, sort_values
from sortal.data.sources import Batch, Weights, read_weights
from sortal.data.table import categories_of
from sortal.summaries.class_moments import measure_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sortal.summaries.class_moments import ClassMoments

Cells = Sequence[Any]  # None is a missing value


def _array(cells: Cells) -> np.ndarray[Any, Any]:
    """Complete whole numbers as int64, as a data frame has them; anything else as objects."""
    if all(type(cell) is int for cell in cells):
        return np.array(cells, dtype=np.int64)
    return np.fromiter(cells, dtype=object, count=len(cells))


def _numbers(cells: Cells) -> NumberColumn:
    return NumberColumn(np.array([np.nan if x is None else x for x in cells], dtype=np.float64))


def build_batch(
    labels: Cells,
    categories: Sequence[Cells] = (),
    numbers: Sequence[Cells] = (),
    weights: ArrayLike | None = None,
    rows: Sequence[int] | None = None,
) -> Batch:
    """A block of the given rows, all by default; category columns first, then number columns.

    Weights are those of all rows, so that blocks of one table have one unit.
    """
    chosen = list(range(len(labels))) if rows is None else list(rows)
    read = Weights(None) if weights is None else read_weights(weights, len(labels))
    columns: list[Column] = []
    for j, cells in enumerate(categories):
        columns.append(categories_of(_array([cells[i] for i in chosen]), f"c{j}"))
    columns += [_numbers([cells[i] for i in chosen]) for cells in numbers]
    return Batch(
        start=0,
        n_rows=len(chosen),
        columns=tuple(columns),
        target=as_categories(categories_of(_array([labels[i] for i in chosen]), "y")),
        units=None if read.units is None else read.units[chosen],
        exponent=read.exponent,
    )


seeds = st.integers(0, 2**32).map(np.random.default_rng)


def deal(rng: np.random.Generator, pool: Sequence[Any], n: int) -> list[Any]:
    """n of the first few values of a pool."""
    kept = int(rng.integers(1, len(pool), endpoint=True))
    return [pool[i] for i in rng.integers(0, kept, n).tolist()]


def facts(item: Any) -> Any:
    """Everything a summary holds, with types, so that == is bit for bit: 1 is not True."""
    if isinstance(item, np.ndarray):
        return item.dtype, item.shape, item.tobytes()
    if isinstance(item, tuple):
        return tuple(facts(part) for part in item)
    if is_dataclass(item):
        return type(item), tuple(facts(getattr(item, field.name)) for field in fields(item))
    return type(item), item


# --- Class moments -------------------------------------------------------------------------------

NAMES = ("length", "width", "height", "depth")
KINDS = ("color", "shape", "taste")


@dataclass(frozen=True)
class Table:
    """Labeled rows by columns; None is a missing value. Units are those of 2**-exponent."""

    labels: list[Any]
    numbers: list[list[float]]
    categories: list[list[Any]]
    units: list[int] | None = None
    exponent: int = 0

    def rows(self, part: Sequence[int]) -> Table:
        """Some of the rows, as a table of their own."""
        return Table(
            [self.labels[i] for i in part],
            [[cells[i] for i in part] for cells in self.numbers],
            [[cells[i] for i in part] for cells in self.categories],
            None if self.units is None else [self.units[i] for i in part],
            self.exponent,
        )


def ranked(cells: Sequence[Any]) -> CategoryColumn:
    values = sort_values(cell for cell in cells if cell is not None)
    place = {value: v for v, value in enumerate(values)}
    codes = [-1 if cell is None else place[cell] for cell in cells]
    return CategoryColumn(values, np.array(codes, dtype=np.int32))


def try_to_measure(
    table: Table,
    part: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    fill: list[float] | None = None,
) -> ClassMoments | None:
    """The moments of the block that holds the rows `part`, of which `rows` are chosen."""
    block = range(len(table.labels)) if part is None else part
    columns = [ranked([cells[i] for i in block]) for cells in table.categories]
    matrix = np.array([[cells[i] for cells in table.numbers] for i in block], dtype=np.float64)
    units = None if table.units is None else np.array([table.units[i] for i in block], np.int64)
    return measure_classes(
        list(matrix.reshape(len(block), len(table.numbers)).T),
        [column.codes for column in columns],
        [column.values for column in columns],
        ranked([table.labels[i] for i in block]),
        units,
        table.exponent,
        None if rows is None else np.array(rows, dtype=np.intp),
        NAMES[: len(table.numbers)],
        KINDS[: len(table.categories)],
        None if fill is None else np.array(fill),
    )


def measure(
    table: Table,
    part: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    fill: list[float] | None = None,
) -> ClassMoments:
    found = try_to_measure(table, part, rows, fill)
    assert found is not None
    return found


def of_numbers(*numbers: Sequence[float], labels: Sequence[Any] | None = None) -> ClassMoments:
    return measure(
        Table(list(labels or ["a"] * len(numbers[0])), [list(cells) for cells in numbers], [])
    )
