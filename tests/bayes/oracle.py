"""The textbook read aloud: an oracle that walks over a list of rows and adds up weights.

Weights, shares, means and variances are fractions, so they are exact; only the bell curve needs
more, and takes 50 decimal digits. Whatever differs from the oracle is rounding, or a bug.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Final, Literal, TypeAlias, TypeVar

T = TypeVar("T")
Cell: TypeAlias = str | bool | int | float | None  # None is a missing value
Cells: TypeAlias = tuple[Cell, ...]

ONE: Final = Fraction(1)
# Fifty digits, and exponents so wide that no density is ever rounded to zero.
DIGITS: Final = Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX)
FLOOR: Final = Fraction(1, 10**9)


@dataclass(frozen=True)
class Row:
    cells: Cells
    label: str
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Schema:
    """The classes in their order, and the known values of each column; None for numbers."""

    classes: tuple[str, ...]
    values: tuple[frozenset[Cell] | None, ...]


@dataclass(frozen=True)
class Rules:
    structure: Literal["naive", "joint"] = "naive"
    alpha: Fraction = Fraction(1)
    priors: Mapping[str, Fraction] | None = None
    class_weight: Mapping[str, Fraction] | str | None = None


@dataclass(frozen=True)
class Bell:
    """A normal distribution, and the variance that its own variance was read from."""

    mean: Fraction
    variance: Fraction
    source: Fraction

    def density(self, x: Fraction) -> Decimal:
        """The density times √(2π), a factor that all classes share."""
        exponent = decimal((x - self.mean) ** 2 / (2 * self.variance))
        return (-exponent).exp() / decimal(self.variance).sqrt()


@dataclass(frozen=True)
class Oracle:
    """A model is its rows: every new question walks over all of them again."""

    rows: tuple[Row, ...]
    schema: Schema
    rules: Rules = Rules()

    def posterior(self, cells: Cells) -> list[float]:
        """P(c | x) for each class; the priors, where x is impossible."""
        with localcontext(DIGITS):
            joint = [self.joint(cells, label) for label in self.schema.classes]
            evidence = sum(joint, Decimal(0))
            if evidence == 0:
                return [float(self.prior(label)) for label in self.schema.classes]
            return [float(p / evidence) for p in joint]

    def joint(self, cells: Cells, label: str) -> Decimal:
        """P(c) P(x | c)."""
        likelihood = self.naive if self.rules.structure == "naive" else self.table
        product = decimal(self.prior(label) * likelihood(cells, label))
        for j, bell in self.bells(cells, label).items():
            product *= bell.density(Fraction(cells[j] or 0))
        return product

    @cached_property
    def answers(self) -> dict[tuple[Any, ...], Any]:
        """What was asked before: most questions come again with every row to predict."""
        return {}

    def once(self, question: tuple[Any, ...], find: Callable[[], T]) -> T:
        if question not in self.answers:
            self.answers[question] = find()
        found: T = self.answers[question]
        return found

    def prior(self, label: str) -> Fraction:
        """P(c) = n(c) / N, unless it is given."""
        if self.rules.priors is not None:
            return self.rules.priors[label]
        everything = self.once(("N",), lambda: total(map(self.n, self.schema.classes)))
        return self.once(("n", label), lambda: self.n(label)) / everything

    def naive(self, cells: Cells, label: str) -> Fraction:
        """The product over the attributes with a known value."""
        return math.prod((self.share(j, cells[j], label) for j in self.known(cells)), start=ONE)

    def share(self, j: int, value: Cell, label: str) -> Fraction:
        """P(v | c) = (n(v, c) + α) / (n_j(c) + α V_j), or 1 / V_j for 0 / 0."""
        n_values = len(self.schema.values[j] or ())
        with_value = self.once(
            ("value", j, value, label), lambda: self.n(label, lambda cells: cells[j] == value)
        )
        with_any = self.once(
            ("any", j, label), lambda: self.n(label, lambda cells: cells[j] is not None)
        )
        if with_any + self.rules.alpha == 0:
            return Fraction(1, n_values)
        return (with_value + self.rules.alpha) / (with_any + self.rules.alpha * n_values)

    def table(self, cells: Cells, label: str) -> Fraction:
        """The joint table: (n(x, c) + α P_b(x | c)) / (n(c) + α), or P_b where it says nothing."""
        known = self.known(cells)

        def agrees(other: Cells) -> bool:
            return self.is_complete(other) and all(other[j] == cells[j] for j in known)

        backoff = self.naive(cells, label)
        complete = self.n(label, self.is_complete)
        is_seen = any(self.n(c, agrees) > 0 for c in self.schema.classes)
        if self.rules.alpha == 0 and (complete == 0 or not is_seen):
            return backoff
        return (self.n(label, agrees) + self.rules.alpha * backoff) / (complete + self.rules.alpha)

    def known(self, cells: Cells) -> list[int]:
        """The category columns whose value is not missing and was there at fit."""
        values = enumerate(self.schema.values)
        return [j for j, known in values if known is not None and cells[j] in known]

    def is_complete(self, cells: Cells) -> bool:
        """No category column lacks a value."""
        values = enumerate(self.schema.values)
        return all(cells[j] is not None for j, known in values if known is not None)

    def n(self, label: str, keep: Callable[[Cells], bool] = lambda _: True) -> Fraction:
        """The weight of the rows of one class that `keep` takes, class_weight included."""
        own = (row for row in self.rows if row.label == label)
        return self.factors[label] * total(row.weight for row in own if keep(row.cells))

    @cached_property
    def factors(self) -> dict[str, Fraction]:
        """The class_weight of each class."""
        if isinstance(self.rules.class_weight, Mapping):
            return dict(self.rules.class_weight)
        sizes = dict.fromkeys(self.schema.classes, Fraction(0))
        if self.rules.class_weight is None:
            return dict.fromkeys(sizes, ONE)
        for row in self.rows:
            sizes[row.label] += row.weight
        present = sum(n > 0 for n in sizes.values())
        share = total(sizes.values()) / present
        return {label: share / n if n else ONE for label, n in sizes.items()}

    def bells(self, cells: Cells, label: str) -> dict[int, Bell]:
        """The bell curve of one class for every number of a row; constant columns have none."""
        found = {}
        numbers = [j for j, known in enumerate(self.schema.values) if known is None]
        for j in numbers:
            column = self.once(("column", j), partial(moments, j, self.rows))
            if cells[j] is None or column is None or column[1] == 0:
                continue
            its = [row for row in self.rows if row.label == label]
            own = self.once(("own", j, label), partial(moments, j, its))
            mean, variance = own or column
            floor = FLOOR * column[1]
            source = column[1] if variance < floor else variance
            found[j] = Bell(mean, max(variance, floor), source)
        return found

    def conditioning(self, cells: Cells) -> float:
        """By how many ulps log P(x | c) moves if mean and variance are one ulp off.

        A floored variance is tiny, and makes a density of exp(−10⁹) out of one step aside; then
        nobody who computes in floats can have nine digits of it.
        """
        worst = 1.0
        for label in self.schema.classes:
            for j, bell in self.bells(cells, label).items():
                x, mean, spread = float(cells[j] or 0), float(bell.mean), math.sqrt(bell.variance)
                z = abs(x - mean) / spread
                worst += z * (abs(x) + abs(mean)) / spread
                worst += (1 + z * z) * (1 + abs(mean) / math.sqrt(bell.source))
        return worst


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def moments(j: int, rows: Sequence[Row]) -> tuple[Fraction, Fraction] | None:
    """Mean and variance of column j, by sample weights alone; None without any number."""
    pairs = [(r.weight, Fraction(x)) for r in rows if r.weight and (x := r.cells[j]) is not None]
    if not pairs:
        return None
    weight = total(w for w, _ in pairs)
    mean = total(w * x for w, x in pairs) / weight
    return mean, total(w * (x - mean) ** 2 for w, x in pairs) / weight


def total(terms: Iterable[Fraction]) -> Fraction:
    return sum(terms, Fraction(0))


def learn_schema(
    rows: Sequence[Row], kinds: Sequence[str], levels: Sequence[Sequence[str]]
) -> Schema:
    """Classes and values of the rows that count; declared levels are known without rows."""
    counted = [row for row in rows if row.weight > 0]
    known = [{*levels[j], *(row.cells[j] for row in counted)} for j in range(len(kinds))]
    values = [
        None if kind == "number" else frozenset(column - {None})
        for kind, column in zip(kinds, known, strict=True)
    ]
    return Schema(tuple(sorted({row.label for row in counted})), tuple(values))
