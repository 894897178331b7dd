"""Class moments: what the discriminants need of the rows.

Per class the weight, the mean, the scatter about it, and two sums of higher order. The mean is kept
as an origin, which is one float64 a term, and the small rest from there. The difference of two
origins is exact or nearly so, and hence the distance between the means of two blocks is good to
the last digits even where all numbers lie near 1e8: merging loses nothing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal import native
from sortal._typing import Counts, Float
from sortal.data.columns import Values, kept, places, union
from sortal.data.table import LARGEST, two_sum
from sortal.errors import TrainingRowsError
from sortal.modelfile.fields import need
from sortal.modelfile.record import limits, record
from sortal.summaries.protocol import (
    MOST_SQUARES,
    exponent,
    refuse_negative,
    refuse_other_columns,
    refuse_overflow,
    rescale,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Mask, Places
    from sortal.data.columns import CategoryColumn


# What is left after subtraction may have lost this share of itself to rounding, not more.
_CANCELLATION = 1e-12

_EPS = float(np.finfo(float).eps)


@record()
class ClassMoments:
    """Moments of rows of numbers within each class k, in units of weight.

    The terms of a row are its number columns and, for each category column, one indicator per value
    (1 or 0). `origin[k] + mean[k]` is the mean; the origin of an indicator is 0 or 1. With z the
    distance of a row from the mean and u its units: `scatter[k]` = Σ u z zᵀ, `third[k]` =
    Σ u ‖z‖² z, `fourth[k]` = Σ u ‖z‖⁴. Where that is beyond float64, `fourth` is infinite and
    `third` 0. `slack[k]` bounds what rounding may have done so far to the diagonal of the scatter
    and, last, to `fourth`.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...] = limits("attributes")
    values: tuple[Values, ...] = limits("attributes")
    classes: Values = limits("labels")
    units: Counts = limits("labels", least=0)
    origin: Float = limits("labels", "width", least=-LARGEST, most=LARGEST)
    mean: Float = limits("labels", "width", least=-LARGEST, most=LARGEST)
    scatter: Float = limits("labels", "width", "width", least=-MOST_SQUARES, most=MOST_SQUARES)
    third: Float = limits("labels", "width")
    fourth: Float = limits("labels", least=0.0, most=np.inf)
    slack: Float = limits("labels", "width+1", least=0.0)
    exponent: int = exponent()

    def check(self) -> None:
        """Refuse terms that are not those of the columns, and what is no spread."""
        need(self.origin.shape[1] == self.n_terms, "terms of other columns")
        need((diagonals(self.scatter) >= 0).all(), "a negative sum of squares")

    @property
    def n_terms(self) -> int:
        """Number columns and values of category columns."""
        return len(self.numbers) + sum(map(len, self.values))

    def merge(self, other: Self) -> ClassMoments:
        """The moments of both sets of rows. (S 10)"""
        a, b = self._pair(other)
        units = a.units + b.units
        refuse_overflow(units, "the weight of a class")
        n_a, n_b = a.units[:, None].astype(np.float64), b.units[:, None].astype(np.float64)
        n = np.maximum(n_a + n_b, 1.0)
        gap = np.where((n_a > 0) & (n_b > 0), _apart(a, b), 0.0)
        to_a, to_b = gap * (n_b / n), -gap * (n_a / n)
        # from the heavier mean, which has less far to go: what is rounded is the way
        heavier = n_a >= n_b
        origin = np.where(heavier, a.origin, b.origin)
        origin, mean = two_sum(origin, np.where(heavier, a.mean + to_a, b.mean + to_b))
        scatter = _add_products(a.scatter + b.scatter, gap, n_a * (n_b / n))
        with np.errstate(over="ignore", invalid="ignore"):
            third_a, fourth_a, size_a = _moved(a, to_a)
            third_b, fourth_b, size_b = _moved(b, to_b)
            third, fourth = third_a + third_b, fourth_a + fourth_b
            rounding = _EPS * np.column_stack([diagonals(scatter), fourth + size_a + size_b])
        merged = ClassMoments(
            self.numbers,
            self.categories,
            a.values,
            a.classes,
            units,
            origin,
            mean,
            scatter,
            third,
            fourth,
            a.slack + b.slack + rounding,
            a.exponent,
        )
        return merged._settled(a._weights() + b._weights())

    def subtract(self, other: Self) -> ClassMoments:
        """The moments without the other's rows, unless cancellation forbids it. (S 11)"""
        whole, part = self._pair(other)
        units = whole.units - part.units
        refuse_negative(units, "the weight of a class")
        weights = whole._weights() - part._weights()
        refuse_negative(np.where(weights < -0.5, -1, 0), "the weight of a value")
        n, n_b = units[:, None].astype(np.float64), part.units[:, None].astype(np.float64)
        left = np.maximum(n, 1.0)
        gap = np.where((n > 0) & (n_b > 0), _apart(whole, part), 0.0)
        back = gap * (n_b / left)  # from the mean of the rest to the mean of all
        origin, mean = two_sum(whole.origin, whole.mean - back)
        apart = -n_b * ((n + n_b) / left)
        scatter = _add_products(whole.scatter - part.scatter, gap, apart)
        with np.errstate(over="ignore", invalid="ignore"):
            third_b, fourth_b, size_b = _moved(part, -gap)
            rest = replace(
                whole,
                units=units,
                origin=origin,
                mean=mean,
                scatter=scatter,
                third=whole.third - third_b,
                fourth=whole.fourth - fourth_b,
            )
            third, fourth, size = _moved_back(rest, back)
            rounding = 2 * np.column_stack([diagonals(whole.scatter), whole.fourth + size_b + size])
        slack = whole.slack + np.where(n_b > 0, part.slack + _EPS * rounding, 0.0)
        rest = replace(rest, third=third, fourth=fourth, slack=slack)._settled(weights)
        rest._refuse_cancellation(whole, (n > 0) & (n_b > 0))
        return rest._with_weight()

    def _weights(self) -> Float:
        """Per class the weight of each value of the category columns.

        Without filled missing values these are whole numbers, and what differs from one by rounding
        is one.
        """
        first = len(self.numbers)
        units = self.units[:, None].astype(np.float64)
        return _whole(units * (self.origin[:, first:] + self.mean[:, first:]), units)

    def _settled(self, weights: Float) -> ClassMoments:
        """The same without what only rounding can have left, given the weights of all values.

        An indicator has the mean that its weight says, and no spread where all rows agree; no
        spread is negative; and what overflows is infinite.
        """
        first, units = len(self.numbers), self.units[:, None].astype(np.float64)
        weights = _whole(weights, units)
        origin, mean, slack = self.origin.copy(), self.mean.copy(), self.slack.copy()
        # from the nearer of 0 and 1: where few rows lack a value, their share keeps all its digits
        origin[:, first:] = np.rint(weights / np.maximum(units, 1.0))
        mean[:, first:] = (weights - origin[:, first:] * units) / np.maximum(units, 1.0)
        agree = np.repeat(units == 0, self.n_terms, axis=1)
        agree[:, first:] |= (weights == 0) | (weights == units)
        still = agree | (diagonals(self.scatter) <= 0)
        scatter = _without(self.scatter, still)
        slack[:, :-1][agree] = 0.0
        known = still.all(axis=1)
        wild = ~(np.isfinite(self.fourth) & np.isfinite(self.third).all(axis=1)) & ~known
        slack[known | wild, -1] = 0.0
        fourth = np.where(wild, np.inf, np.where(known, 0.0, np.fmax(self.fourth, 0.0)))
        return replace(
            self,
            origin=np.where(units > 0, origin, 0.0),
            mean=np.where(units > 0, mean, 0.0),
            scatter=scatter,
            third=np.where(still | wild[:, None], 0.0, self.third),
            fourth=fourth,
            slack=slack,
        )

    def _refuse_cancellation(self, whole: ClassMoments, touched: Mask) -> None:
        """Refuse what is left of `whole` where it is lost to rounding."""
        spread, rest = diagonals(whole.scatter), diagonals(self.scatter)
        # where all values agree, the spread is nothing but rounding, before and after: of the last
        # digit of a share, and of numbers, whose means have more digits, far less than that
        digit = _EPS * (whole.origin + whole.mean)
        digit[:, : len(self.numbers)] *= 1e-4
        varies = spread > whole.units[:, None] * digit**2
        lost = self.slack[:, :-1] > _CANCELLATION * rest
        lost |= (self.slack[:, -1] > _CANCELLATION * self.fourth)[:, None]
        terms = np.flatnonzero((lost & varies & touched).any(axis=0))
        if len(terms):
            owners = self._owners()
            names = dict.fromkeys(owners[j] for j in terms)
            raise TrainingRowsError(
                f"These rows cannot be taken out exactly: they carry nearly all the spread of "
                f"{', '.join(map(repr, names))}, so that what remains would be lost to rounding. "
                "Fit again without them."
            )

    def _owners(self) -> list[str]:
        """The column of each term."""
        listed = zip(self.categories, self.values, strict=True)
        return [*self.numbers, *(name for name, values in listed for _ in values)]

    def _with_weight(self) -> ClassMoments:
        """Only the classes and the values that have weight."""
        stay = self.units > 0
        terms = np.ones(self.n_terms, dtype=bool)
        terms[len(self.numbers) :] = (self._weights()[stay] > 0).any(axis=0)
        if stay.all() and terms.all():
            return self
        ends = list(accumulate(map(len, self.values), initial=len(self.numbers)))
        parts = zip(self.values, ends[:-1], ends[1:], strict=True)
        both, all_terms = np.ix_(stay, terms), np.append(terms, True)
        return ClassMoments(
            self.numbers,
            self.categories,
            tuple(kept(values, terms[start:stop]) for values, start, stop in parts),
            kept(self.classes, stay),
            self.units[stay],
            self.origin[both],
            self.mean[both],
            self.scatter[np.ix_(stay, terms, terms)],
            self.third[both],
            self.fourth[stay],
            self.slack[np.ix_(stay, all_terms)],
            self.exponent,
        )

    def over(self, classes: Values, values: Sequence[Values]) -> ClassMoments:
        """The moments over longer lists of classes and of values; absent ones have no weight."""
        return self._over(classes, tuple(values), self.exponent)

    def _pair(self, other: Self) -> tuple[ClassMoments, ClassMoments]:
        """Both over the union of classes and values and in the finer unit."""
        refuse_other_columns(self.numbers, other.numbers)
        refuse_other_columns(self.categories, other.categories)
        classes = union(self.classes, other.classes)[0]
        listed = zip(self.values, other.values, strict=True)
        values = tuple(union(a, b)[0] for a, b in listed)
        exponent = max(self.exponent, other.exponent)
        return self._over(classes, values, exponent), other._over(classes, values, exponent)

    def _over(self, classes: Values, values: tuple[Values, ...], exponent: int) -> ClassMoments:
        if (classes, values, exponent) == (self.classes, self.values, self.exponent):
            return replace(self, classes=classes, values=values)  # of True and 1 the listed one
        at = places({label: k for k, label in enumerate(classes)}, self.classes)
        terms = self._places(values)
        n_terms = len(self.numbers) + sum(map(len, values))
        shift = exponent - self.exponent

        def wide(part: NDArray[Any], *places: Places) -> NDArray[Any]:
            sizes = (n_terms + (len(to) > self.n_terms) for to in places)
            table = np.zeros((len(classes), *sizes), dtype=part.dtype)
            table[np.ix_(at, *places)] = part
            return table

        return ClassMoments(
            self.numbers,
            self.categories,
            values,
            classes,
            wide(rescale(self.units, self.exponent, exponent)),
            wide(self.origin, terms),
            wide(self.mean, terms),
            wide(np.ldexp(self.scatter, shift), terms, terms),
            wide(np.ldexp(self.third, shift), terms),
            wide(np.ldexp(self.fourth, shift)),
            wide(np.ldexp(self.slack, shift), np.append(terms, n_terms)),
            exponent,
        )

    def _places(self, values: tuple[Values, ...]) -> Places:
        """Where each term stands among the terms of longer lists of values."""
        first = len(self.numbers)
        at = [np.arange(first)]
        for own, longer in zip(self.values, values, strict=True):
            at.append(places({value: first + v for v, value in enumerate(longer)}, own))
            first += len(longer)
        return np.concatenate(at)


def moments_of_sums(
    terms: tuple[tuple[str, ...], tuple[str, ...], tuple[Values, ...]],
    classes: Values,
    units: Counts,
    exponent: int,
    origin: Float,
    sums: Float,
) -> ClassMoments | None:
    """The moments of which `sums` are Σ u (z, 1, ‖z‖²)(z, 1, ‖z‖²)ᵀ by class, z a row less origin.

    `terms` are numbers, categories and values; `sums` are overwritten, and hold the scatter in the
    end. None where a square cannot be added up.
    """
    first, third, fourth = sums[:, :-2, -2], sums[:, :-2, -1], sums[:, -1, -1]
    slack = np.zeros((len(classes), sums.shape[1] - 1))
    scatter = sums[:, :-2, :-2]
    about_origin = ClassMoments(
        *terms, classes, units, origin, first, scatter, third, fourth, slack, exponent
    )
    # powers of large numbers may overflow; those that must not are looked at below
    with np.errstate(over="ignore", invalid="ignore"):
        moments = _about_the_mean(about_origin)
    spread = diagonals(moments.scatter)
    if not ((np.abs(moments.origin) <= LARGEST) & (spread <= LARGEST**2)).all():
        return None
    return moments._settled(moments._weights())._with_weight()


def _about_the_mean(m: ClassMoments) -> ClassMoments:
    """Sums about the origin, of which `mean` holds the first, as moments about the mean."""
    n = m.units[:, None].astype(np.float64)
    mean = m.mean / n
    size_of_sums = diagonals(m.scatter).copy()
    about = replace(m, scatter=_add_products(m.scatter, mean, -n))
    third, fourth, size = _moved_back(about, -mean)
    slack = 4 * _EPS * np.column_stack([size_of_sums, m.fourth + size])
    origin, mean = two_sum(m.origin, mean)
    return replace(about, origin=origin, mean=mean, third=third, fourth=fourth, slack=slack)


# --- Sums about another center -------------------------------------------------------------------


def _moved(m: ClassMoments, shift: Float) -> tuple[Float, Float, Float]:
    """Third and fourth sums about mean + shift, and the size of what was added to the fourth."""
    drag, lift = _shifts(m, shift)
    along = 4 * np.einsum("kj,kj->k", shift, m.third)
    return m.third - drag, m.fourth - along + lift, abs(along) + lift


def _moved_back(m: ClassMoments, shift: Float) -> tuple[Float, Float, Float]:
    """The inverse of `_moved`, where third and fourth of `m` are sums about mean + shift."""
    drag, lift = _shifts(m, shift)
    third = m.third + drag
    along = 4 * np.einsum("kj,kj->k", shift, third)
    return third, m.fourth + along - lift, abs(along) + lift


def _shifts(m: ClassMoments, shift: Float) -> tuple[Float, Float]:
    """What the scatter and the weight contribute to third and fourth sums about another center."""
    n = m.units.astype(np.float64)
    trace = diagonals(m.scatter).sum(axis=1)
    length = np.einsum("kj,kj->k", shift, shift)
    turned = (m.scatter @ shift[:, :, None])[:, :, 0]
    drag = shift * (trace + n * length)[:, None] + 2 * turned
    lift = 2 * length * trace + 4 * np.einsum("kj,kj->k", shift, turned) + n * length * length
    return drag, lift


def _apart(a: ClassMoments, b: ClassMoments) -> Float:
    """From the means of a to those of b."""
    return (b.origin - a.origin) + (b.mean - a.mean)


def _add_products(scatter: Float, x: Float, factor: Float) -> Float:
    """scatter + factor · x xᵀ for each class, in the place of `scatter`.

    Class by class: of a thousand columns all classes together would be written to memory and read
    again at every step.
    """
    products = np.empty(scatter.shape[1:])
    for k in np.flatnonzero(x.any(axis=1)):
        np.multiply.outer(x[k], x[k], out=products)
        products *= factor[k]
        scatter[k] += products
    return scatter


def _without(scatter: Float, still: Mask) -> Float:
    """Scatters with zeros in the rows and columns marked; as they are where they have them."""
    if not scatter[still].any():
        return scatter
    scatter = scatter.copy()
    for k in np.flatnonzero(still.any(axis=1)):
        scatter[k, still[k]] = 0.0
        scatter[k][:, still[k]] = 0.0
    return scatter


def diagonals(scatter: Float) -> Float:
    """The diagonal of each matrix."""
    return np.diagonal(scatter, axis1=1, axis2=2)


def _whole(weights: Float, units: Float) -> Float:
    """Weights of values, of which those within rounding of a whole number are it."""
    near = np.rint(weights)
    return np.where(abs(weights - near) <= 64 * _EPS * units, near, weights)


# --- Of the rows of a block ----------------------------------------------------------------------

# Rows a product of matrices takes at a time: enough for BLAS, few enough for the cache.
TILE_ROWS = 2048

# Where the squared distance from origin to mean exceeds this multiple of the variance, the rows are
# read again about a better origin.
_FAR = 8.0


def measure_classes(
    columns: Sequence[Float],
    codes: Sequence[Codes],
    values: Sequence[Values],
    labels: CategoryColumn,
    units: Counts | None,
    exponent: int,
    rows: Places | None,
    numbers: Sequence[str],
    categories: Sequence[str],
    fill: Float | None,
) -> ClassMoments | None:
    """The moments of the chosen rows of a block (None: of all); those without weight do not count.

    `codes` are ranks in `values`. A missing value takes what `fill` has for its term or terms. None
    where a row has a missing value that nothing fills, an infinite number or one whose square
    cannot be added up.
    """
    terms = tuple(numbers), tuple(categories), tuple(values)
    tiles = ClassTiles(columns, codes, values, units, fill)
    return measure_tiles(tiles, terms, labels, units, exponent, rows)


def measure_tiles(
    tiles: ClassTiles,
    terms: tuple[tuple[str, ...], tuple[str, ...], tuple[Values, ...]],
    labels: CategoryColumn,
    units: Counts | None,
    exponent: int,
    rows: Places | None,
) -> ClassMoments | None:
    """The same of terms that come tile by tile; `terms` are numbers, categories and values."""
    present, parts = _by_class(labels, units, rows)
    weight = np.array([len(part) if units is None else units[part].sum() for part in parts], int)
    # powers of large numbers may overflow; those that must not are looked at later
    with np.errstate(over="ignore", invalid="ignore"):
        measured = tiles.measure(parts, weight)
    return (
        None if measured is None else moments_of_sums(terms, present, weight, exponent, *measured)
    )


def _by_class(
    labels: CategoryColumn, units: Counts | None, rows: Places | None
) -> tuple[Values, list[Counts]]:
    """The classes of the chosen rows, and for each its rows that have weight."""
    n_classes = len(labels.values)
    # NumPy sorts 16-bit numbers by radix, several times faster than wider ones
    codes = labels.codes.astype(np.int16) if n_classes < 2**15 else labels.codes
    if units is not None:
        rows = np.flatnonzero(units) if rows is None else rows[units[rows] > 0]
    if rows is not None:
        codes = codes[rows]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=n_classes)
    chosen = (order if rows is None else rows[order]).astype(np.int64, copy=False)
    parts = np.split(chosen, np.cumsum(sizes)[:-1]) if n_classes else []
    return kept(labels.values, sizes > 0), [part for part in parts if len(part)]


class ClassTiles:
    """The rows of a block as terms, some at a time."""

    def __init__(
        self,
        columns: Sequence[Float],
        codes: Sequence[Codes],
        values: Sequence[Values],
        units: Counts | None,
        fill: Float | None,
    ) -> None:
        self._columns, self._codes, self._sizes = columns, codes, list(map(len, values))
        self._units, self._fill = units, fill
        self.n_terms = len(columns) + sum(self._sizes)
        self._tile = np.empty((TILE_ROWS, self.n_terms + 2))

    def measure(self, parts: list[Counts], weight: Counts) -> tuple[Float, Float] | None:
        """For each part of the rows an origin near their mean, and the sums about it."""
        origin = self._first_means(parts)
        sums = None if origin is None else self._sums(parts, origin)
        if origin is None or sums is None:
            return None
        n = weight[:, None].astype(np.float64)
        mean = sums[:, :-2, -2] / n
        about = diagonals(sums)[:, :-2] - n * mean * mean
        # an origin that is nearer already than its last digits cannot be bettered
        far = (n * mean * mean > _FAR * about) & (abs(mean) > 4 * _EPS * abs(origin))
        again = np.flatnonzero(far.any(axis=1))
        origin[again] += mean[again]
        better = self._sums([parts[k] for k in again], origin[again])
        if better is None:
            return None
        sums[again] = better
        return origin, sums

    def _first_means(self, parts: list[Counts]) -> Float | None:
        """The mean of each part's first tile: in most tables the mean of all is not far."""
        means, zero = np.zeros((len(parts), self.n_terms)), np.zeros(self.n_terms)
        for k, part in enumerate(parts):
            z = self.centered(part[:TILE_ROWS], zero)
            if z is None:
                return None
            first = z[:, -2] @ z
            means[k] = first[:-2] / first[-2]
        return means

    def _sums(self, parts: list[Counts], origin: Float) -> Float | None:
        """Σ u (z, 1, ‖z‖²)(z, 1, ‖z‖²)ᵀ of each part, a cache full of rows at a time.

        The parts take turns, because their rows mostly lie among each other: where the columns are
        apart in memory, what was fetched for one part also serves the next.
        """
        sums = np.zeros((len(parts), self.n_terms + 2, self.n_terms + 2))
        for start in range(0, max(map(len, parts), default=0), TILE_ROWS):
            for k, part in enumerate(parts):
                if start < len(part):
                    z = self.centered(part[start : start + TILE_ROWS], origin[k])
                    if z is None:
                        return None
                    sums[k] += z.T @ z
        return sums

    def centered(self, rows: Counts, origin: Float) -> Float | None:
        """√u (z, 1, ‖z‖²) of each row, so that one product with itself has the weights too."""
        z = self._tile[: len(rows)]
        scale = None if self._units is None else np.sqrt(self._units[rows])
        not_finite = native.center_rows(
            self._columns, self._codes, self._sizes, rows, origin, self._fill, scale, z
        )
        return None if not_finite else z
