"""A table: whatever was given, behind one face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw
from narwhals.exceptions import DuplicateError, NarwhalsError

from sortal.data.arrays import ArrayTable, as_two_dimensional
from sortal.data.frames import FrameTable
from sortal.errors import ColumnError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sortal.data.columns import CategoryColumn, IntegerColumn, NumberColumn
    from sortal.data.schema import ColumnSchema


class Table(Protocol):
    """Columns by number, rows by range."""

    n_rows: int
    names: tuple[str, ...]
    has_names: bool
    """Whether columns are matched by name (else by position)."""
    string_names: bool
    """Whether all names are strings, as scikit-learn wants them for feature_names_in_."""
    backend: str | None
    """The data frame library that came in, None for arrays."""

    def column_schema(self, j: int) -> ColumnSchema:
        """Name, kind and declared values of a column."""

    def numbers(self, j: int, start: int, stop: int) -> NumberColumn:
        """Rows start .. stop - 1 of a column as float64."""

    def categories(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column as categories."""

    def distinct(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column of numbers or dates as values: equal or not."""

    def matrix_type(self, columns: Sequence[int]) -> np.dtype[Any]:
        """The type that holds some number columns without loss: float32 where that is enough."""

    def matrix(self, columns: Sequence[int], start: int, stop: int) -> NDArray[np.floating[Any]]:
        """Rows start .. stop - 1 of number columns, row by row; a view where it can be one."""


# What makes a data frame of one that is lazy; others have collect(), as polars has.
_READ_BY = {
    "dask": "compute()",
    "duckdb": "df()",
    "ibis": "to_pandas()",
    "pyspark": "toPandas()",
    "pyspark[connect]": "toPandas()",
    "sqlframe": "toPandas()",
}


def read_table(X: Any) -> Table:
    """A data frame, a two-dimensional array or a list of rows, as a table."""
    if _is_sparse(X):
        raise InputTypeError(
            "Sparse data was passed, but dense data is required: use X.toarray() where memory "
            "allows."
        )
    frame = read_frame(X)
    return ArrayTable(as_two_dimensional(X)) if frame is None else FrameTable(frame)


def read_frame(X: Any) -> nw.DataFrame[Any] | None:
    """A data frame of any library, or None for what is not a data frame."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        raise ColumnError(
            f"Two columns of this table have the same name ({_one_line(error)}): rename them, so "
            "that each name occurs once."
        ) from None
    except NarwhalsError as error:
        raise ColumnError(f"This data frame cannot be read ({error}).") from None
    if isinstance(frame, nw.LazyFrame):
        library = str(frame.implementation)
        made = _READ_BY.get(library, "collect()")
        raise InputTypeError(
            f"A lazy {library} frame was given, whose rows are not read yet: call its {made} first."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _is_sparse(X: Any) -> bool:
    return type(X).__module__.startswith(("scipy.sparse", "sparse")) and hasattr(X, "tocsr")
