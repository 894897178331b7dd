"""Rare text, joined: what is written for others does not hold text that few rows have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np

from sortal.data.checks import whole_number
from sortal.data.table import read_table
from sortal.tasks.inspecting.profiles import profile, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.data.table import Table
    from sortal.tasks.inspecting.profiles import Profile

OTHER: Final = "other"


@dataclass(frozen=True)
class Joined:
    """A data frame without rare text; of each column that had some, the texts and their rows."""

    frame: Any
    texts: Mapping[str, frozenset[str]]
    n_rows: Mapping[str, int]

    def masked(self, words: str) -> str:
        """A sentence in which no rare text is quoted, neither whole nor as far as it is shown."""
        for text in frozenset[str]().union(*self.texts.values()):
            for quoted in {repr(text), repr(shortened(text))}:
                words = words.replace(quoted, "'…'")
        return words


def join_rare(
    table: Any, target: str, min_frequency: int = 5, categories: Sequence[str] = ()
) -> Any:
    """A data frame in which text that occurs in fewer than `min_frequency` rows is "other".

    The target stays as it is, and so do numbers, unless `categories` names their column, truth
    values, dates, and ordered categories, which are a scale.
    """
    return joined(table, target, min_frequency, categories).frame


def joined(table: Any, target: str, min_frequency: int, categories: Sequence[str] = ()) -> Joined:
    """The same, and what was joined."""
    whole_number("min_frequency", min_frequency, 1)
    read, frame = read_table(table), nw.from_native(table, eager_only=True)
    texts, n_rows, changed = {}, {}, []
    for j, name in enumerate(read.names):
        if name == target or not _is_text(read, j, categories):
            continue
        column = profile(read, j)
        if column.kind == "truth":
            continue
        is_rare = column.counts < min_frequency
        n_declared = len(read.column_schema(j).values)  # a type may declare text without rows
        if is_rare.any() or column.n_distinct < n_declared:
            named = [_text(value) for value in column.values]
            texts[name] = frozenset(named[v] for v in np.flatnonzero(is_rare))
            n_rows[name] = int(column.counts[is_rare].sum())
            changed.append(_renamed(frame, frame.columns[j], column, named, is_rare.tolist()))
    return Joined(frame.with_columns(*changed).to_native() if changed else table, texts, n_rows)


def _is_text(table: Table, j: int, categories: Sequence[str]) -> bool:
    schema = table.column_schema(j)
    is_named = schema.kind == "number" and table.names[j] in categories
    return is_named or (schema.kind == "category" and not schema.ordered)


def _text(value: Any) -> str:
    """A value of a category; whole numbers without a point."""
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if is_whole else str(value)


def _renamed(
    frame: nw.DataFrame[Any], name: str, column: Profile, texts: list[str], is_rare: list[bool]
) -> nw.Series[Any]:
    pairs = zip(texts, is_rare, strict=True)
    new = [*(OTHER if rare else text for text, rare in pairs), None]  # the code −1 finds the last
    cells = [new[code] for code in column.codes.tolist()]
    return nw.new_series(name, cells, nw.String, backend=frame.implementation)
