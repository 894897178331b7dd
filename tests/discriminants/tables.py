"""Tables on which discriminants lose digits: narrow, far off, tied, singular, in odd units."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tests.discriminants.oracle import Oracle

from sortal import FisherDiscriminant, LinearDiscriminant, QuadraticDiscriminant, datasets

Float: TypeAlias = NDArray[np.float64]


def heard(action: Callable[[], Any]) -> tuple[Any, list[warnings.WarningMessage]]:
    """The result, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = action()
    return found, list(caught)


def quietly(action: Callable[[], Any]) -> Any:
    return heard(action)[0]


def whole_penguins() -> Any:
    return datasets.penguins().dropna().reset_index(drop=True)


@dataclass(frozen=True)
class Hard:
    """A table, the columns from which all others follow, and weights of its rows.

    `named` are words of which a warning must have all, where float64 cannot hold the answer.
    """

    X: Float
    y: NDArray[Any]
    used: tuple[int, ...]
    weight: Float | None = None
    named: tuple[str, ...] = ()

    def oracle(self, pooling: float = 0.0) -> Oracle:
        """In the columns used, nothing of which is rounding."""
        X = self.X[:, self.used]
        return Oracle(X, self.y, pooling=pooling, weight=self.weight, plane=1e-25, digits=0.0)

    def excused(self, said: list[str]) -> bool:
        """Whether one of these warnings says which columns the digits are lost in."""
        return bool(self.named) and any(all(name in text for name in self.named) for text in said)


def plain(n: int = 10, seed: int = 0) -> Hard:
    """Three classes that overlap, in three columns; multiples of 1/1024, so that sums are exact."""
    rng = np.random.default_rng(seed)
    y = np.repeat(list("abc"), n)
    X = rng.normal(size=(3 * n, 3)) @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3)))
    X += np.repeat(rng.normal(size=(3, 3)), n, axis=0)
    return Hard(np.round(X * 1024) / 1024, y, (0, 1, 2))


def noise(table: Hard) -> Float:
    return np.random.default_rng(7).normal(size=len(table.y))


def wider(table: Hard, column: Float, *, used: bool) -> Hard:
    """One more column."""
    n = table.X.shape[1]
    places = (*table.used, n) if used else table.used
    return replace(table, X=np.column_stack([table.X, column]), used=places)


def narrow_in_one(s: float) -> Hard:
    table = plain()
    return wider(table, noise(table) * np.where(table.y == "a", s, 1.0), used=True)


def narrow_in_two(s: float) -> Hard:
    """Around 0 in two classes, which differ as much as they spread, and 1 in the third."""
    table = plain()
    column = s * (noise(table) + (table.y == "b")) + (table.y == "c") * (1.0 + noise(table))
    return wider(table, column, used=True)


def narrow_in_all(s: float) -> Hard:
    """The third class lies 1 away."""
    table = plain()
    return wider(table, s * (noise(table) + (table.y == "b")) + (table.y == "c"), used=True)


def far(offset: float) -> Hard:
    table = plain()
    return replace(table, X=table.X + offset)


def far_apart(offset: float) -> Hard:
    """One class far from the others in one column."""
    table = plain()
    X = table.X.copy()
    X[table.y == "c", 2] += offset
    return replace(table, X=X)


def far_each(offset: float) -> Hard:
    """Each class somewhere else, in all columns."""
    table = plain()
    away = np.array([[0, 1, 0], [1, 0, 0], [0, 1, 1]])[np.searchsorted(["a", "b", "c"], table.y)]
    return replace(table, X=table.X + offset * away)


def tied(factor: float) -> Hard:
    table = plain()
    return wider(table, (table.X[:, 0] + table.X[:, 1]) * factor, used=False)


def nearly_tied(s: float) -> Hard:
    table = plain()
    near = wider(table, table.X[:, 0] + table.X[:, 1] + s * noise(table), used=True)
    return replace(near, named=("'x0'", "'x1'", "'x3'"))


def nearly_tied_in_one(s: float) -> Hard:
    table = plain()
    near = table.X[:, 0] + table.X[:, 1] + s * noise(table)
    made = wider(table, np.where(table.y == "a", near, noise(table)), used=True)
    return replace(made, named=("'a'", "'x0'", "'x1'", "'x3'"))


def shares(sharpness: float) -> Hard:
    """Probabilities, which add up to 1 but for rounding."""
    table = plain()
    logs = sharpness * np.column_stack([table.X[:, :2], np.zeros(len(table.y))])
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return replace(table, X=odds / odds.sum(axis=1, keepdims=True), used=(0, 1))


def sure_shares(sharpness: float) -> Hard:
    """The same, where one class is certain: its probability is nearly 1, and nearly 0 elsewhere."""
    table = plain()
    logs = np.column_stack([table.X[:, :2], np.where(table.y == "c", sharpness, -sharpness)])
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    X, named = odds / odds.sum(axis=1, keepdims=True), ("'x0'", "'x1'", "'x2'")
    return replace(table, X=X, used=(0, 2), named=named)


def repeated_column() -> Hard:
    table = plain()
    return wider(table, table.X[:, 1], used=False)


def repeated_rows() -> Hard:
    table = plain()
    return Hard(np.repeat(table.X, 3, axis=0), np.repeat(table.y, 3), table.used)


def one_row() -> Hard:
    table = plain()
    keep = np.r_[:21]
    return Hard(table.X[keep], table.y[keep], table.used)


def constant(value: float) -> Hard:
    table = plain()
    return wider(table, np.full(len(table.y), value), used=False)


def constant_in_one() -> Hard:
    table = plain()
    return wider(table, np.where(table.y == "a", 0.5, noise(table)), used=True)


def constant_in_each() -> Hard:
    table = plain()
    return wider(table, (table.y == "a") * 1.0, used=True)


def weighted(kind: str) -> Hard:
    table = plain()
    rng = np.random.default_rng(3)
    found = rng.integers(1, 5, 30) if kind == "whole" else 2.0 ** rng.integers(-8, 8, 30)
    return replace(table, weight=np.asarray(found, dtype=float))


def in_units(*units: float) -> Hard:
    table = plain()
    return replace(table, X=table.X * np.array(units))


SPREADS: Final = (1e-6, 1e-10, 1e-14, 1e-18)

KINDS: Final[dict[str, tuple[Callable[..., Hard], tuple[Any, ...]]]] = {
    "narrow in one class": (narrow_in_one, SPREADS),
    "narrow in two classes": (narrow_in_two, SPREADS),
    "narrow in all classes": (narrow_in_all, SPREADS),
    "far from 0": (far, (1e6, 1e9, 1e12)),
    "one class far away": (far_apart, (1e6, 1e9, 1e12)),
    "each class far away": (far_each, (1e6, 1e9, 1e12)),
    "tied columns": (tied, (1.0, 1e9, 1e-9)),
    "nearly tied": (nearly_tied, (1e-2, 1e-5, 1e-8, 1e-12)),
    "nearly tied in one class": (nearly_tied_in_one, (1e-2, 1e-5, 1e-8, 1e-12)),
    "adding up to 1": (shares, (0.1, 1.0, 5.0, 30.0)),
    "adding up to 1, one sure": (sure_shares, (5.0, 10.0, 15.0, 20.0, 30.0)),
    "repeated column": (repeated_column, ((),)),
    "repeated rows": (repeated_rows, ((),)),
    "a class of one row": (one_row, ((),)),
    "a constant column": (constant, (0.0, 0.1, 1e12)),
    "constant in one class": (constant_in_one, ((),)),
    "constant in each class": (constant_in_each, ((),)),
    "weights": (weighted, ("whole", "fractions")),
    "units": (in_units, ((1e130, 1e130, 1e130), (1e-150, 1e-150, 1e-150), (1e-90, 1.0, 1e90))),
}


def tables(kind: str) -> Iterator[tuple[str, Hard]]:
    """What is varied in a kind of table, and the table."""
    make, values = KINDS[kind]
    for value in values:
        given = value if isinstance(value, tuple) else (value,)
        yield " ".join(map(str, given)), make(*given)


@dataclass(frozen=True)
class Found:
    """The largest difference of a posterior, or the share of rows that went elsewhere."""

    difference: float
    condition: float
    said: list[str]


def largest_differences(table: Hard) -> dict[str, Found]:
    """Each discriminant beside the oracle, on every third row of the table."""
    rows, found = table.X[::3], {}
    known = rows[:, table.used]
    for make in (LinearDiscriminant, QuadraticDiscriminant, FisherDiscriminant):
        model, said = heard(partial(make().fit, table.X, table.y, sample_weight=table.weight))
        if make is FisherDiscriminant:
            even = replace(table.oracle(1.0), priors=dict.fromkeys(table.y.tolist(), 1.0))
            labels = [even.classes[int(np.argmax(even.functions(x)))] for x in known]
            difference = float((model.predict(rows) != labels).mean())
        else:
            expected = table.oracle(float(make is LinearDiscriminant)).posteriors(known)
            difference = float(np.abs(model.predict_proba(rows) - expected).max())
        texts = [str(w.message) for w in said]
        found[make.__name__] = Found(difference, model.condition_, texts)
    return found
