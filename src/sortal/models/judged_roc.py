"""How well scores part a class from the others: receiver operating characteristics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal.models.judged_codes import need_rows, read_classes, read_codes, read_probabilities
from sortal.models.records import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal.models.records import Cell

    Float = NDArray[np.float64]
    Counts = NDArray[np.int64]

# A curve that is drawn has so many points at most.
MOST_POINTS = 200
# More curves than that cannot be told apart: then the worst few are drawn.
MOST_CURVES = 12
WORST_CURVES = 6


@dataclass(frozen=True)
class RocCurve:
    """The curve of one class against all others.

    `false_positive` and `true_positive` are the shares of the others and of the class whose
    score reaches a threshold, which goes down from point to point. Points on a line between their
    neighbors are left out, and of very many, so many are kept as can be seen. `auc` is that of all;
    None where the class has no rows, or the others have none.
    """

    label: Cell
    positives: int
    negatives: int
    auc: float | None
    false_positive: tuple[float, ...] = ()
    true_positive: tuple[float, ...] = ()


@dataclass(frozen=True)
class Roc:
    """A curve for each class; of two classes one curve, that of the second, called positive."""

    classes: tuple[Cell, ...]
    curves: tuple[RocCurve, ...]

    @classmethod
    def of(cls, truth: ArrayLike, probabilities: ArrayLike, classes: Sequence[Any]) -> Self:
        """By codes of classes, one a row, and probabilities with a column for each class."""
        names = read_classes(classes)
        true = read_codes("truth", truth, len(names))
        need_rows(len(true))
        shares = read_probabilities(probabilities, len(true), len(names))
        wanted = [1] if len(names) == 2 else range(len(names))
        curves = tuple(_curve(names[k], true == k, shares[:, k]) for k in wanted)
        return cls(names, curves)

    @property
    def positive(self) -> Cell:
        """Of two classes the one whose curve it is; None of more."""
        return self.curves[0].label if len(self.classes) == 2 else None

    @property
    def macro(self) -> float | None:
        """The mean area of the curves; None where there is none."""
        areas = [curve.auc for curve in self.curves if curve.auc is not None]
        return sum(areas) / len(areas) if areas else None

    @property
    def drawn(self) -> tuple[RocCurve, ...]:
        """The curves to be drawn: all, or of very many classes the worst, worst first."""
        there = [curve for curve in self.curves if curve.auc is not None]
        if len(there) <= MOST_CURVES:
            return tuple(there)
        return tuple(sorted(there, key=lambda curve: curve.auc or 0.0)[:WORST_CURVES])

    def table(self, backend: str = "pandas") -> Table:
        """A row for each curve."""
        rows = tuple((one.label, one.positives, one.negatives, one.auc) for one in self.curves)
        title = "Area under the curve of each class against the others"
        if self.positive is not None:
            title = f"Area under the curve; positive is {self.positive}"
        heads = ("class", "rows of it", "other rows", "AUC")
        return Table("roc", title, heads, rows, "S 66", backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON."""
        return {
            "positive": self.positive,
            "macro_auc": self.macro,
            "curves": [
                {
                    "class": one.label,
                    "positives": one.positives,
                    "negatives": one.negatives,
                    "auc": one.auc,
                    "false_positive": list(one.false_positive),
                    "true_positive": list(one.true_positive),
                }
                for one in self.curves
            ],
        }

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _curve(label: Cell, positive: NDArray[np.bool_], scores: Float) -> RocCurve:
    n_true = int(np.count_nonzero(positive))
    n_false = len(positive) - n_true
    if not (n_true and n_false):
        return RocCurve(label, n_true, n_false, None)
    false, true = roc_steps(positive, scores)
    auc = area(false, true)
    false, true = thinned(*_corners(false, true), MOST_POINTS)
    x, y = (false / n_false).tolist(), (true / n_true).tolist()
    return RocCurve(label, n_true, n_false, auc, tuple(x), tuple(y))


def roc_steps(positive: NDArray[np.bool_], scores: Float) -> tuple[Counts, Counts]:
    """Return the negatives and the positives with a score of at least t, as t goes down (S 65).

    It begins with none. Rows with the same score come in one step, in whatever order they are.
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true = np.cumsum(positive[order], dtype=np.int64)[ends]
    false = 1 + ends - true
    return np.insert(false, 0, 0), np.insert(true, 0, 0)


def area(false: Counts, true: Counts) -> float:
    """Return Σ (F_i − F_{i−1}) (T_i + T_{i−1}) / (2 F T), the area under the steps (S 66).

    It is the probability that a positive row has a higher score than a negative one, and half of
    that of the same score. Sums of whole numbers are exact.
    """
    doubled = int(np.sum(np.diff(false) * (true[1:] + true[:-1])))
    return doubled / (2 * int(false[-1]) * int(true[-1]))


def _corners(false: Counts, true: Counts) -> tuple[Counts, Counts]:
    """The points where the curve bends, and its ends."""
    dx, dy = np.diff(false), np.diff(true)
    bends = dx[:-1] * dy[1:] != dx[1:] * dy[:-1]
    kept = np.concatenate([[True], bends, [True]])
    return false[kept], true[kept]


def thinned(false: Counts, true: Counts, most: int) -> tuple[Counts, Counts]:
    """At most so many points, both ends among them, at about equal distances along the curve."""
    if len(false) <= most:
        return false, true
    along = false / false[-1] + true / true[-1]
    places = np.searchsorted(along, np.linspace(0.0, along[-1], most))
    kept = np.unique(np.minimum(places, len(along) - 1))
    return false[kept], true[kept]
