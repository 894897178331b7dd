"""Rows that repeat others, and rows that contradict them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.tasks.inspecting.profiles import Profile

# So many times more repetition than chance explains is worth a word.
_MORE = 3


@dataclass(frozen=True)
class Repeats:
    """What comparing all rows gave."""

    n_repeated: int
    """Rows that are the same as an earlier one in every column, the target included."""
    expected: bool
    """Whether columns that know nothing of each other would repeat rows about as often."""
    n_contradicted: int
    """Rows that are the same as a row of another class in every other column."""
    ceiling: float
    """The share of rows that the best possible model gets right."""


def count_repeats(
    columns: Sequence[Profile], labels: NDArray[Any] | None, n_classes: int
) -> Repeats:
    """Compare all rows, by marks of 64 bits: that two of a million differ and share a mark has a
    chance of one in thirty millions.
    """
    marks = _marks([column.codes for column in columns])
    whole = marks if labels is None else _mixed(marks, labels)
    n_repeated = int(pd.Series(whole).duplicated().sum())
    codes = [column.codes for column in columns] + ([] if labels is None else [labels])
    expected = n_repeated <= _MORE * _pairs_by_chance(codes)
    n_contradicted, ceiling = 0, 1.0
    if labels is not None:
        n_contradicted, ceiling = _contradictions(marks, labels, n_classes)
    return Repeats(n_repeated, expected, n_contradicted, ceiling)


def _pairs_by_chance(columns: Sequence[NDArray[Any]]) -> float:
    """How many pairs of rows would be the same if columns knew nothing of each other."""
    n = len(columns[0])
    pairs = n * (n - 1) / 2
    share = 1.0
    for codes in columns:
        counts = np.bincount(codes + 1).astype(np.float64)  # holes first
        share *= float((counts * (counts - 1)).sum() / 2 / max(1.0, pairs))
    return pairs * share


def _marks(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    marks = np.zeros(len(columns[0]), dtype=np.uint64)
    for codes in columns:
        marks = _mixed(marks, codes)
    return marks


def _mixed(marks: NDArray[np.uint64], codes: NDArray[Any]) -> NDArray[np.uint64]:
    """A mark with one more column in it; every bit of both moves about half of the bits."""
    bits = (marks * np.uint64(0x9E3779B97F4A7C15)) ^ (codes.astype(np.int64) + 2).astype(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _contradictions(
    marks: NDArray[np.uint64], labels: NDArray[Any], n_classes: int
) -> tuple[int, float]:
    """Rows in groups of more than one class, and the share of rows that a model can get right."""
    again = pd.Series(marks).duplicated(keep=False).to_numpy()
    groups, seen = pd.factorize(marks[again])
    pairs, counts = np.unique(
        groups.astype(np.int64) * n_classes + labels[again], return_counts=True
    )
    group = pairs // n_classes
    largest = np.zeros(len(seen), dtype=np.int64)
    np.maximum.at(largest, group, counts)
    n_kinds = np.bincount(group, minlength=len(seen))
    sizes = np.bincount(groups, minlength=len(seen))
    n_lost = int((sizes - largest).sum())
    return int(sizes[n_kinds > 1].sum()), 1 - n_lost / max(1, len(labels))
