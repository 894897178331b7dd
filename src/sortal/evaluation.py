"""Evaluated predictions: confusion, calibration and ROC of predicted beside true classes.

Classes are given by codes, places in the list of classes. The records hold counts and curves, never
rows.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from sortal.errors import InputError, LabelError, counted
from sortal.records.tables import Shown, Table, sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from sortal._typing import Counts, Float, Mask, Places
    from sortal.records.tables import Cell


# --- Input, checked: codes of classes, and probabilities by class --------------------------------

# Sums of probabilities may be off by rounding.
_NEAR = 1e-6


def read_classes(classes: Sequence[Any]) -> tuple[Cell, ...]:
    """Labels as cells of tables: what is no word and no number is shown as a word."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes]
    return tuple(one if isinstance(one, str | bool | int | float) else str(one) for one in plain)


def read_codes(name: str, codes: ArrayLike, n_classes: int, n_rows: int | None = None) -> Places:
    """Codes of classes, one a row."""
    given = np.asarray(codes)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise InputError(
            f"{name} has the shape {given.shape} and the type {given.dtype}: give one code of a "
            "class a row, a whole number from 0."
        )
    if n_rows is not None and len(given) != n_rows:
        raise InputError(
            f"{name} has {counted(len(given), 'row')} and y_true {n_rows}: give one code a row."
        )
    if len(given) and not 0 <= int(given.min()) <= int(given.max()) < n_classes:
        raise LabelError(
            f"{name} has codes from {given.min()} to {given.max()}, and there are {n_classes} "
            f"classes: give codes from 0 to {n_classes - 1}."
        )
    return given.astype(np.intp)


def read_probabilities(y_proba: ArrayLike, n_rows: int, n_classes: int) -> Float:
    """Probabilities, a row each and a column for every class."""
    given = np.asarray(y_proba, dtype=np.float64)
    if given.shape != (n_rows, n_classes):
        raise InputError(
            f"y_proba has the shape {given.shape}: give ({n_rows}, {n_classes}), a row for "
            "each row of y_true and a column for each class."
        )
    if not (np.isfinite(given).all() and (given >= 0).all() and (given <= 1 + _NEAR).all()):
        raise InputError("y_proba has numbers outside 0 to 1: give probabilities.")
    return given


def need_rows(n: int) -> None:
    """Refuse to judge nothing."""
    if n == 0:
        raise InputError("There is no row to judge: give one prediction at least.")


# --- Confusion: counts of rows by true class and by predicted class ------------------------------


class _Judged(Shown):
    """What is shown as its table."""

    table: Callable[..., Table]

    def to_table(self) -> Table:
        """The record as a table."""
        return self.table()


class Confused(NamedTuple):
    """n rows of one class that were taken for another; `share` is that of the true class's rows."""

    true: Cell
    said: Cell
    n: int
    share: float


@dataclass(frozen=True, repr=False)
class Confusion(_Judged):
    """`counts[i][j]` rows of class i were said to be of class j."""

    classes: tuple[Cell, ...]
    counts: tuple[tuple[int, ...], ...]

    SAYS = ("classes", "counts", "accuracy", "balanced_accuracy", "recall", "precision")

    @classmethod
    def of(cls, y_true: ArrayLike, y_pred: ArrayLike, classes: Sequence[Any]) -> Self:
        """Count, by codes of classes, one a row."""
        names = read_classes(classes)
        k = len(names)
        true = read_codes("y_true", y_true, k)
        need_rows(len(true))
        cells = true * k + read_codes("y_pred", y_pred, k, len(true))
        counts = np.bincount(cells, minlength=k * k).reshape(k, k)
        return cls(names, tuple(tuple(row) for row in counts.tolist()))

    @property
    def matrix(self) -> Counts:
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

    def pairs(self, max_pairs: int | None = None) -> tuple[Confused, ...]:
        """Confusions, the most frequent first; equally frequent ones by the order of classes."""
        return tuple(
            Confused(self.classes[i], self.classes[j], n, n / sum(self.counts[i]))
            for i, j, n in self.pair_codes()[:max_pairs]
        )

    def table(self) -> Table:
        """A row for each true class: how often each class was said."""
        title = "Rows by true class and by class said"
        columns = {"true ↓ said →": self.classes, self.classes: self.matrix}
        return sheet("confusion", title, {**columns, "rows": map(sum, self.counts)})

    def by_class(self) -> Table:
        """Each class: its rows, how often it was said, recall and precision."""
        columns = {
            "class": self.classes,
            "rows": map(sum, self.counts),
            "said": self.matrix.sum(axis=0),
            "right": np.diag(self.matrix),
            "recall": self.recall,
            "precision": self.precision,
        }
        return sheet("by_class", "How often each class is said right", columns)

    def pairs_table(self, max_pairs: int | None = None) -> Table:
        """The most frequent confusions."""
        pairs, there = self.pairs(max_pairs), len(self.pair_codes())
        cut = f" (the first {len(pairs)} of {there})" if len(pairs) < there else ""
        title = f"The most frequent confusions{cut}"
        heads = ("true", "said", "rows", "share of true")
        return Table("pairs", title, heads, pairs)


# --- Calibration: how often classes that were predicted with p were right ------------------------

N_BINS = 10

# The 97.5 % point of the normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Bin:
    """Rows whose class was said with a probability in (low, high]; 0 belongs to the first bin.

    `mean` is that of the probabilities, `share` the part said right, between `share_low` and
    `share_high` by Wilson's interval of 95 %.
    """

    low: float
    high: float
    n: int
    mean: float
    share: float
    share_low: float
    share_high: float


@dataclass(frozen=True, repr=False)
class Reliability(_Judged):
    """Bins that have rows, by the probability of the class said; `brier` is that of all classes."""

    bins: tuple[Bin, ...]
    brier: float

    SAYS = ("bins", "expected_error", "brier")

    @classmethod
    def of(cls, y_true: ArrayLike, y_pred: ArrayLike, y_proba: ArrayLike) -> Self:
        """By codes of classes, one a row, and probabilities with a column for each class."""
        given = np.asarray(y_proba, dtype=np.float64)
        k = given.shape[1] if given.ndim == 2 else 0
        true = read_codes("y_true", y_true, k)
        need_rows(len(true))
        answers = read_codes("y_pred", y_pred, k, len(true))
        shares = read_probabilities(given, len(true), k)
        sure = np.minimum(shares[np.arange(len(true)), answers], 1.0)
        return cls(_bins(sure, answers == true), brier_score(true, shares))

    @property
    def n(self) -> int:
        """All rows."""
        return sum(one.n for one in self.bins)

    @property
    def expected_error(self) -> float:
        """The expected calibration error Σ_b n_b/n |share_b − mean_b| (S 63)."""
        return sum(one.n * abs(one.share - one.mean) for one in self.bins) / self.n

    @property
    def lead(self) -> float:
        """Mean probability minus the share right: above 0, the model is surer than it may be."""
        return sum(one.n * (one.mean - one.share) for one in self.bins) / self.n

    def table(self) -> Table:
        """A row for each bin; its title has the error and the Brier score."""
        heads = ("p above", "p to", "rows", "mean p", "share right", "from", "to")
        rows = tuple(astuple(one) for one in self.bins)
        title = (
            "How often the class said with so much probability is right; intervals of 95 %; "
            f"expected calibration error {self.expected_error:.3g}, Brier score {self.brier:.3g}"
        )
        return Table("reliability", title, heads, rows, "S 63")


def brier_score(truth: Places, shares: Float) -> float:
    """Return the mean over rows of Σ_k (p_k − [k is true])², between 0 and 2 (S 64)."""
    # Σ p² − 2 p_true + 1, without a second array of the size of the first
    own = shares[np.arange(len(truth)), truth]
    others = np.einsum("ik,ik->i", shares, shares) - own**2
    return float(np.mean(np.maximum(others, 0.0) + (1.0 - own) ** 2))


def wilson(share: float, n: int) -> tuple[float, float]:
    """Bounds of 95 % for a share of n rows."""
    u = _Z**2 / n
    middle, arm = share + u / 2, sqrt(share * (1 - share) * u + u * u / 4)
    low, high = (middle - arm) / (1 + u), (middle + arm) / (1 + u)
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def _bins(sure: Float, right: Mask) -> tuple[Bin, ...]:
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    places = np.searchsorted(edges[1:-1], sure)
    n = np.bincount(places, minlength=N_BINS)
    sums = np.bincount(places, weights=sure, minlength=N_BINS)
    hits = np.bincount(places, weights=right, minlength=N_BINS)
    found = []
    for b in np.flatnonzero(n).tolist():
        rows, share = int(n[b]), float(hits[b] / n[b])
        mean, bounds = float(sums[b] / rows), wilson(share, rows)
        found.append(Bin(float(edges[b]), float(edges[b + 1]), rows, mean, share, *bounds))
    return tuple(found)


# --- Receiver operating characteristics: how well scores part a class from the others ------------

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


@dataclass(frozen=True, repr=False)
class Roc(_Judged):
    """A curve for each class; of two classes one curve, that of the second, called positive."""

    classes: tuple[Cell, ...]
    curves: tuple[RocCurve, ...]

    @classmethod
    def of(cls, y_true: ArrayLike, y_proba: ArrayLike, classes: Sequence[Any]) -> Self:
        """By codes of classes, one a row, and probabilities with a column for each class."""
        names = read_classes(classes)
        true = read_codes("y_true", y_true, len(names))
        need_rows(len(true))
        shares = read_probabilities(y_proba, len(true), len(names))
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

    def table(self) -> Table:
        """A row for each curve."""
        rows = tuple((one.label, one.positives, one.negatives, one.auc) for one in self.curves)
        title = "Area under the curve of each class against the others"
        if self.positive is not None:
            title = f"Area under the curve; positive is {self.positive}"
        heads = ("class", "rows of it", "other rows", "AUC")
        return Table("roc", title, heads, rows, "S 66")

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


def _curve(label: Cell, positive: Mask, scores: Float) -> RocCurve:
    n_true = int(np.count_nonzero(positive))
    n_false = len(positive) - n_true
    if not (n_true and n_false):
        return RocCurve(label, n_true, n_false, None)
    false, true = roc_steps(positive, scores)
    auc = area(false, true)
    false, true = thinned(*_corners(false, true), MOST_POINTS)
    x, y = (false / n_false).tolist(), (true / n_true).tolist()
    return RocCurve(label, n_true, n_false, auc, tuple(x), tuple(y))


def roc_steps(positive: Mask, scores: Float) -> tuple[Counts, Counts]:
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


__all__ = ["Bin", "Confused", "Confusion", "Reliability", "Roc", "RocCurve"]
