"""What tells some rows from others: the columns in which they differ most."""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, copysign, isnan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from sortal.data.columns import as_categories
from sortal.data.table import read_table
from sortal.estimators.features import declare_schema
from sortal.models.faces import moment_text, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Places = NDArray[np.intp]

MOST = 3
# Chance shows a difference among all columns as seldom as that.
_LEVEL = 0.05
_LONGEST = 40


@dataclass(frozen=True)
class Difference:
    """A column in which some rows differ from others.

    Of numbers `here` and `there` are medians; of categories, and of holes, the shares of rows that
    have `value`. `size` is the difference in units of spread, above 0 where `here` is greater.
    """

    column: str
    kind: str
    value: str | None
    here: float
    there: float
    size: float

    @property
    def words(self) -> str:
        """The difference, as a part of a sentence."""
        more = self.size > 0
        if self.value is None:
            text = moment_text if self.kind == "date" else number_text
            word = ("later" if more else "earlier") if self.kind == "date" else None
            word = word or ("greater" if more else "smaller")
            medians = f"median {text(self.here)} against {text(self.there)}"
            return f"{self.column!r} is {word} ({medians})"
        often = "more" if more else "less"
        shares = f"{percent(self.here)} against {percent(self.there)}"
        what = "missing" if self.kind == "hole" else self.value
        return f"{self.column!r} is {often} often {what} ({shares})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        return dict(vars(self))


def percent(share: float) -> str:
    """A share in percent, by as many digits as it takes not to call it none or all."""
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    return "almost all" if share > 0.5 else "almost none"


class Columns:
    """The columns of a table, read once, in which rows are compared."""

    def __init__(self, X: Any, categories: Sequence[str], rows: Places) -> None:
        table = read_table(X)
        schema = declare_schema(table, list(categories))
        self._columns: list[_Numbers | _Categories] = []
        for j, column in enumerate(schema.columns):
            name = table.names[j]
            if column.kind == "category":
                read = as_categories(table.categories(j, 0, table.n_rows))
                self._columns.append(_Categories(name, read.codes[rows], read.values))
            else:
                numbers = table.numbers(j, 0, table.n_rows).values[rows]
                self._columns.append(_Numbers(name, column.kind, numbers))

    def differences(self, some: Places, others: Places) -> tuple[Difference, ...]:
        """The columns in which some rows differ most from others, if it is not by chance."""
        if not (len(some) and len(others)):
            return ()
        found: list[Difference] = []
        for column in self._columns:
            level = _LEVEL / len(self._columns)
            found += column.compare(some, others, level)
        best: dict[str, Difference] = {}
        for one in sorted(found, key=lambda one: -abs(one.size)):
            best.setdefault(one.column, one)
        return tuple(best.values())[:MOST]


@dataclass(frozen=True, eq=False)
class _Numbers:
    name: str
    kind: str
    values: Float

    def compare(self, some: Places, others: Places, level: float) -> Iterator[Difference]:
        holes = np.isnan(self.values)
        if holes.any():
            level /= 2
            here, there = float(holes[some].mean()), float(holes[others].mean())
            size = share_distance(here, there)
            if abs(size) > _by_chance(len(some), len(others), level):
                yield Difference(self.name, "hole", "", here, there, size)
        a, b = self.values[some], self.values[others]
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        if len(a) and len(b):
            size = median_distance(a, b, float(np.nanstd(self.values)))
            if abs(size) > _by_chance(len(a), len(b), level):
                here, there = self._median(a), self._median(b)
                yield Difference(self.name, self.kind, None, here, there, size)

    def _median(self, values: Float) -> float:
        """Of whole days the day."""
        median = float(np.median(values))
        days = self.kind == "date" and bool((values == np.floor(values)).all())
        return float(np.floor(median)) if days else median


@dataclass(frozen=True, eq=False)
class _Categories:
    name: str
    codes: NDArray[np.int32]
    values: Sequence[Any]

    def compare(self, some: Places, others: Places, level: float) -> Iterator[Difference]:
        n = len(self.values)
        here, there = self._shares(some), self._shares(others)
        ahead = here - there
        up, down = int(ahead.argmax()), int(ahead.argmin())
        # of two values, what one has more the other has less: the first reads better
        v = up if ahead[up] >= -ahead[down] - 1e-12 else down
        size = share_distance(float(here[v]), float(there[v]))
        if abs(size) > _by_chance(len(some), len(others), level / max(1, len(here) - 1)):
            kind, value = ("hole", "") if v == n else ("category", _quoted(self.values[v]))
            yield Difference(self.name, kind, value, float(here[v]), float(there[v]), size)

    def _shares(self, rows: Places) -> Float:
        """The share of each value, and at last of holes."""
        codes = self.codes[rows]
        n = len(self.values)
        return np.bincount(np.where(codes < 0, n, codes), minlength=n + 1) / len(rows)


def median_distance(a: Float, b: Float, overall: float) -> float:
    """Return (median a − median b) / s, s² = Σ (x − its mean)² / (n_a + n_b − 2) (S 67).

    Where neither varies, s is the standard deviation of all rows.
    """
    apart = float(np.median(a) - np.median(b))
    if apart == 0.0:
        return 0.0
    freedom = len(a) + len(b) - 2
    squares = len(a) * float(np.var(a)) + len(b) * float(np.var(b))
    spread = sqrt(squares / freedom) if freedom else 0.0
    spread = spread or overall
    return apart / spread if spread and not isnan(spread) else copysign(float("inf"), apart)


def share_distance(here: float, there: float) -> float:
    """Return 2 arcsin √here − 2 arcsin √there, the distance of two shares (S 67)."""
    return 2 * asin(sqrt(min(here, 1.0))) - 2 * asin(sqrt(min(there, 1.0)))


def _by_chance(n: int, m: int, level: float) -> float:
    """How large a distance may be by chance: its standard error is √(1/n + 1/m)."""
    return float(ndtri(1 - level / 2)) * sqrt(1 / n + 1 / m)


def _quoted(value: Any) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    text = repr(plain)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
