"""Which class is taken for which: counts of rows by true class and by class said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from sortal.models.judged_codes import need_rows, read_classes, read_codes
from sortal.models.records import Table, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal.models.records import Cell


class Confused(NamedTuple):
    """n rows of one class that were taken for another; `share` is that of the true class's rows."""

    true: Cell
    said: Cell
    n: int
    share: float


@dataclass(frozen=True)
class Confusion:
    """`counts[i][j]` rows of class i were said to be of class j."""

    classes: tuple[Cell, ...]
    counts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, truth: ArrayLike, said: ArrayLike, classes: Sequence[Any]) -> Self:
        """Count, by codes of classes, one a row."""
        names = read_classes(classes)
        k = len(names)
        true = read_codes("truth", truth, k)
        need_rows(len(true))
        cells = true * k + read_codes("said", said, k, len(true))
        counts = np.bincount(cells, minlength=k * k).reshape(k, k)
        return cls(names, tuple(tuple(row) for row in counts.tolist()))

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The counts as an array."""
        return np.array(self.counts, dtype=np.int64)

    @property
    def n(self) -> int:
        """All rows."""
        return sum(map(sum, self.counts))

    @property
    def n_wrong(self) -> int:
        """Rows that were said to be of another class than theirs."""
        return self.n - sum(row[i] for i, row in enumerate(self.counts))

    @property
    def accuracy(self) -> float:
        """The share of rows said right."""
        return 1 - self.n_wrong / self.n

    @property
    def recall(self) -> tuple[float | None, ...]:
        """Of the rows of each class, the share said right; None where it has none."""
        return tuple(row[i] / sum(row) if any(row) else None for i, row in enumerate(self.counts))

    @property
    def precision(self) -> tuple[float | None, ...]:
        """Of the rows said to be of each class, the share that are; None where none is said."""
        columns = enumerate(zip(*self.counts, strict=True))
        return tuple(column[j] / sum(column) if any(column) else None for j, column in columns)

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        known = [recall for recall in self.recall if recall is not None]
        return sum(known) / len(known)

    def pair_codes(self) -> list[tuple[int, int, int]]:
        """Confusions as (true, said, n), the most frequent first, else by the order of classes."""
        rows = enumerate(self.counts)
        found = [(i, j, n) for i, row in rows for j, n in enumerate(row) if n and i != j]
        return sorted(found, key=lambda pair: -pair[2])

    def pairs(self, most: int | None = None) -> tuple[Confused, ...]:
        """Confusions, the most frequent first; equally frequent ones by the order of classes."""
        return tuple(
            Confused(self.classes[i], self.classes[j], n, n / sum(self.counts[i]))
            for i, j, n in self.pair_codes()[:most]
        )

    def table(self, backend: str = "pandas") -> Table:
        """A row for each true class: how often each class was said."""
        names = unique(["true ↓ said →", *map(str, self.classes), "rows"])
        rows = tuple(
            (label, *row, sum(row)) for label, row in zip(self.classes, self.counts, strict=True)
        )
        return Table("confusion", "Rows by true class and by class said", names, rows, "", backend)

    def by_class(self, backend: str = "pandas") -> Table:
        """Each class: its rows, how often it was said, recall and precision."""
        said = [sum(column) for column in zip(*self.counts, strict=True)]
        right = [row[i] for i, row in enumerate(self.counts)]
        rows = tuple(
            zip(
                self.classes,
                map(sum, self.counts),
                said,
                right,
                self.recall,
                self.precision,
                strict=True,
            )
        )
        heads = ("class", "rows", "said", "right", "recall", "precision")
        return Table("by_class", "How often each class is said right", heads, rows, "", backend)

    def pairs_table(self, most: int | None = None, backend: str = "pandas") -> Table:
        """The most frequent confusions."""
        pairs, there = self.pairs(most), len(self.pair_codes())
        cut = f" (the first {len(pairs)} of {there})" if len(pairs) < there else ""
        title = f"The most frequent confusions{cut}"
        heads = ("true", "said", "rows", "share of true")
        return Table("pairs", title, heads, pairs, "", backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON."""
        return {
            "classes": list(self.classes),
            "counts": [list(row) for row in self.counts],
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "recall": list(self.recall),
            "precision": list(self.precision),
        }

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
