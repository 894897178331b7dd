"""Columns as `inspect` looks at them: distinct values, how often each occurs, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from sortal.data.columns import as_categories
from sortal.models.faces import moment_text, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.table import Table

Kind = Literal["number", "whole number", "words", "truth", "date", "nothing"]

_SHOWN = 3
_LONGEST = 24


@dataclass(frozen=True)
class Profile:
    """A column: codes of its rows, −1 for a hole, and the sorted values that the codes name."""

    name: str
    kind: Kind
    codes: NDArray[Any]
    values: Sequence[Any]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each value has."""
        present = self.codes[self.codes >= 0] if self.n_holes else self.codes
        return np.bincount(present, minlength=len(self.values)).astype(np.int64)

    @cached_property
    def n_holes(self) -> int:
        """Rows without a value."""
        return int(np.count_nonzero(self.codes < 0))

    @property
    def n_rows(self) -> int:
        """All rows."""
        return len(self.codes)

    @property
    def n_values(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_holes

    @property
    def n_distinct(self) -> int:
        """Different values."""
        return len(self.values)

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers only."""
        return self.kind == "whole number"

    def summary(self) -> str:
        """The range of numbers and dates; of other values the most frequent.

        Values that each occur once are names of rows, and none is more frequent: they stay untold.
        """
        if self.n_distinct == 0:
            return ""
        if self.kind in {"number", "whole number", "date"}:
            ends = [self.text(0), self.text(self.n_distinct - 1)]
            return " … ".join(dict.fromkeys(ends))
        if self.n_distinct > _SHOWN and self.counts.max() == 1:
            return "all different"
        often = np.argsort(-self.counts, kind="stable")[:_SHOWN].tolist()
        shown = ", ".join(f"{self.text(v)} ({self.counts[v]:,})" for v in often)
        return shown if self.n_distinct <= _SHOWN else f"{shown}, …"

    def text(self, v: int) -> str:
        """A value as it is shown."""
        value = self.values[v]
        if self.kind == "date":
            return moment_text(float(value))
        if isinstance(value, str):
            return shortened(value)
        plain = value.item() if isinstance(value, np.generic) else value
        return str(int(plain)) if self.is_whole else number_text(plain)


def shortened(text: str) -> str:
    """Text as it is shown, not longer than there is room for."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def profile(table: Table, j: int) -> Profile:
    """Look at a column."""
    schema, name = table.column_schema(j), table.names[j]
    if schema.kind == "category":
        column = as_categories(table.categories(j, 0, table.n_rows))
        seen, codes = _seen(column.codes, len(column.values))
        values = [column.values[v] for v in seen]
        kind: Kind = "truth" if all(isinstance(value, bool) for value in values) else "words"
        return Profile(name, kind if values else "nothing", codes, values)
    numbers = table.numbers(j, 0, table.n_rows).values
    codes, values_ = pd.factorize(numbers, sort=True)  # NaN has the code −1
    kind = "date" if schema.kind == "date" else "number"
    if kind == "number" and bool(np.all(values_ == np.floor(values_))):
        kind = "whole number"
    return Profile(name, kind if len(values_) else "nothing", codes, values_)


def _seen(codes: NDArray[np.int32], n_values: int) -> tuple[list[int], NDArray[Any]]:
    """The values that have rows, and codes among them."""
    counts = np.bincount(codes[codes >= 0], minlength=n_values)
    seen = np.flatnonzero(counts)
    if len(seen) == n_values:
        return list(range(n_values)), codes
    place = np.full(n_values + 1, -1)
    place[seen] = np.arange(len(seen))
    return seen.tolist(), place[codes]  # the code −1 finds the last place
