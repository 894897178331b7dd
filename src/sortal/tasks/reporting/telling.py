"""What tells some rows from others: the columns in which they differ most."""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, copysign, isnan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import hypergeom, mannwhitneyu

from sortal.data.columns import HOLE, as_categories
from sortal.data.table import read_table
from sortal.estimators.features import declare_schema
from sortal.models.faces import moment_text, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Places = NDArray[np.intp]

MOST = 3
# Chance alone shows a difference in one of all columns as seldom as that.
_LEVEL = 0.05
# Smaller ones, in units of spread, are not worth a word, however many rows show them.
_LEAST = 0.2
# So many rows of a side are enough to tell a difference from chance.
_ENOUGH = 2_000
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
            text = _month if self.kind == "date" else _rounded
            word = ("later" if more else "earlier") if self.kind == "date" else None
            word = word or ("greater" if more else "smaller")
            medians = f"median {text(self.here)} against {text(self.there)}"
            return f"{self.column!r} is {word} ({medians})"
        often = "more" if more else "less"
        shares = f"{about_percent(self.here)} against {about_percent(self.there)}"
        what = "missing" if self.kind == "hole" else self.value
        return f"{self.column!r} is {often} often {what} ({shares})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        return dict(vars(self))


def about_percent(share: float) -> str:
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
        level = _LEVEL / max(1, len(self._columns))
        found = [one for column in self._columns for one in column.compare(some, others, level)]
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
            level /= 2  # there are two comparisons then
            yield from _shares_differ(self.name, "hole", "", holes[some], holes[others], level)
        a, b = self.values[some], self.values[others]
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        if len(a) and len(b):
            size = median_distance(a, b, float(np.nanstd(self.values)))
            if abs(size) >= _LEAST and rank_chance(a, b, up=size > 0) <= level:
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
        ahead = self._shares(some) - self._shares(others)
        up, down = int(ahead.argmax()), int(ahead.argmin())
        # of two values, what one has more the other has less: the first reads better
        v = up if ahead[up] >= -ahead[down] - 1e-12 else down
        kind, value = ("hole", "") if v == n else ("category", _quoted(self.values[v]))
        code = HOLE if v == n else v
        here, there = self.codes[some] == code, self.codes[others] == code
        yield from _shares_differ(self.name, kind, value, here, there, level / len(ahead))

    def _shares(self, rows: Places) -> Float:
        """The share of each value, and at last of holes."""
        codes = self.codes[rows]
        n = len(self.values)
        return np.bincount(np.where(codes < 0, n, codes), minlength=n + 1) / len(rows)


def _month(days: float) -> str:
    """The month of a day: the median of a few rows may be that of one of them."""
    return moment_text(days)[:7]


def _rounded(value: float) -> str:
    return number_text(float(f"{value:.3g}"))


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


def rank_chance(a: Float, b: Float, *, up: bool) -> float:
    """How probable it is by chance that a lies so far above b, or below it (two-sided, by ranks).

    The normal approximation errs on the side of caution where rows are few: one alone is never
    remarkable.
    """
    a, b = _enough(a), _enough(b)
    n = len(a) * len(b)
    above, p = mannwhitneyu(a, b, method="asymptotic")
    return float(p) if (above > n / 2) == up and above != n / 2 else 1.0


def share_chance(k: int, n: int, other_k: int, other_n: int) -> float:
    """How probable it is by chance that k of n differ so from other_k of other_n (Fisher)."""
    known = hypergeom(n + other_n, k + other_k, n)
    return min(1.0, 2 * float(min(known.cdf(k), known.sf(k - 1))))


def _shares_differ(
    name: str,
    kind: str,
    value: str,
    here: NDArray[np.bool_],
    there: NDArray[np.bool_],
    level: float,
) -> Iterator[Difference]:
    """The difference of two shares, if there is one."""
    k, other = int(here.sum()), int(there.sum())
    share, beside = k / len(here), other / len(there)
    size = share_distance(share, beside)
    if abs(size) >= _LEAST and share_chance(k, len(here), other, len(there)) <= level:
        yield Difference(name, kind, value, share, beside, size)


def _enough(values: Float) -> Float:
    """Every so many-th of very many values, in the order of the rows."""
    n = len(values)
    if n <= _ENOUGH:
        return values
    return values[np.linspace(0, n - 1, _ENOUGH).round().astype(np.intp)]


def _quoted(value: Any) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    text = repr(plain)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
