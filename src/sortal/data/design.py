"""Design: the columns of a schema as columns of a matrix, which linear methods calculate with.

A number stays a number; a category becomes one indicator for each of its values (all levels), 1 in
the rows that have the value and 0 in the others. One column of the matrix is called a term.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sortal.data.columns import as_numbers
from sortal.data.recoding import recode_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.schema import Schema

    Codes = NDArray[np.int32]
    Float = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """The terms of a schema. Compiled loops take numbers first, then categories; people read the
    terms in the order of the table's columns: `loop_order` has the place of each among the former.
    """

    schema: Schema

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Which columns are numbers."""
        return tuple(j for j, column in enumerate(self.schema.columns) if column.is_number)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """Which columns are categories."""
        return tuple(j for j, column in enumerate(self.schema.columns) if not column.is_number)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many terms each column has."""
        columns = self.schema.columns
        return tuple(1 if column.is_number else len(column.values) for column in columns)

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The column of each term."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def loop_order(self) -> NDArray[np.intp]:
        """The place of each term among the loops' terms: array[..., loop_order] is for people."""
        in_loops = np.array([*self.numbers, *self.categories], dtype=np.intp)
        start = np.zeros(len(self.sizes), dtype=np.intp)
        start[in_loops] = np.cumsum([0, *(self.sizes[j] for j in in_loops)])[:-1]
        parts = [np.arange(start[j], start[j] + size) for j, size in enumerate(self.sizes)]
        return np.concatenate(parts).astype(np.intp) if parts else np.empty(0, dtype=np.intp)

    @cached_property
    def fewer_terms(self) -> NDArray[np.intp]:
        """Terms from which the others follow: the indicators of a category add up to 1."""
        last = np.cumsum(self.sizes, dtype=np.intp)[list(self.categories)] - 1
        return np.setdiff1d(np.arange(self.n_terms), last)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return sum(self.sizes)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms: the column's, or column=value."""
        names: list[str] = []
        for column in self.schema.columns:
            levels = [f"{column.name}={value}" for value in column.values]
            names += [column.name] if column.is_number else levels
        return tuple(names)

    def number_arrays(self, batch: Batch) -> list[Float]:
        """The number columns of a block."""
        return [as_numbers(batch.columns[j]) for j in self.numbers]

    def code_arrays(self, batch: Batch) -> Codes:
        """The category columns of a block, as ranks in the schema's values."""
        columns = [batch.columns[j] for j in self.categories]
        listed = [self.schema.columns[j].values for j in self.categories]
        return recode_columns(columns, listed, batch.n_rows)
