"""Tables for tests of neighbors: small ones full of ties, drawn, and large ones that are hard."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.neighbors.oracle import VOTINGS, Cell, Oracle

from sortal import NeighborsClassifier

Float: TypeAlias = NDArray[np.float64]
Generator: TypeAlias = np.random.Generator

METRICS: Final = ("euclidean", "manhattan", "minkowski", "hamming", "gower", "mahalanobis")
CLASSES: Final = ("ash", "birch", "cedar")


# --- Small tables --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table, queries, and what is asked of them."""

    rows: list[list[Cell]]
    labels: list[str]
    queries: list[list[Cell]]
    weights: list[float] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def frame(self, rows: Sequence[Sequence[Cell]] | None = None) -> pd.DataFrame:
        return as_frame(self.rows if rows is None else rows, self.is_word)

    @property
    def is_word(self) -> list[bool]:
        return [any(isinstance(v, str) for v in column) for column in zip(*self.rows, strict=True)]

    @property
    def classes(self) -> list[str]:
        """All classes of the labels: a model lists them, whether or not they have weight."""
        return sorted(set(self.labels))

    @property
    def places(self) -> list[int]:
        """Where the classes with weight are among all."""
        weights = [1.0] * len(self.labels) if self.weights is None else self.weights
        present = {label for label, w in zip(self.labels, weights, strict=True) if w > 0}
        return [k for k, label in enumerate(self.classes) if label in present]

    def among_weighted(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Options that were given for all classes, for those with weight; priors sum to 1 again."""
        found, classes = dict(asked), [self.classes[k] for k in self.places]
        if found.get("priors") is not None:
            total = math.fsum(found["priors"][c] for c in classes)
            found["priors"] = {c: found["priors"][c] / total for c in classes}
        if isinstance(found.get("class_weight"), Mapping):
            given = found["class_weight"]
            found["class_weight"] = {c: given[c] for c in classes if c in given}
        if found.get("costs") is not None:
            found["costs"] = [[found["costs"][i][j] for j in self.places] for i in self.places]
        return found

    def of_weighted(self, columns: Any, others: float = 0.0) -> Any:
        """The columns of the classes with weight; those of the others hold `others`, to the bit."""
        assert columns.shape[1] == len(self.classes)
        assert (np.delete(columns, self.places, axis=1) == others).all()
        return columns[:, self.places]

    def fit(self, **more: Any) -> NeighborsClassifier:
        model = NeighborsClassifier(**{**self.options, **more})
        return model.fit(self.frame(), np.array(self.labels), sample_weight=self.weights)

    def oracle(self, model: NeighborsClassifier | None = None, **more: Any) -> Oracle:
        """By definition; of a model it takes the scales, to their last bits."""
        asked = self.among_weighted({**self.options, **more})
        asked["voting"] = asked.pop("weights", "uniform")
        if asked["voting"] == "auto":
            asked["voting"] = "uniform"
        if not isinstance(asked.get("n_neighbors", 5), int):
            asked.pop("n_neighbors")
        oracle = Oracle(self.rows, self.labels, self.weights, **asked)
        if model is None:
            return oracle
        names = names_of(len(self.rows[0]))
        return replace(oracle, scales={names.index(n): v for n, v in model.scale_.items()})


def names_of(n: int) -> list[str]:
    return [f"c{j}" for j in range(n)]


def as_frame(rows: Sequence[Sequence[Cell]], is_word: Sequence[bool]) -> pd.DataFrame:
    """Numbers as float64 with NaN, words as objects with None."""
    columns = {}
    for j, name in enumerate(names_of(len(is_word))):
        values = [row[j] for row in rows]
        if is_word[j]:
            columns[name] = pd.Series(values, dtype=object)
        else:
            filled = [math.nan if value is None else value for value in values]
            columns[name] = pd.Series(filled, dtype=np.float64)
    return pd.DataFrame(columns)


small: Final = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
words: Final = st.sampled_from(["elm", "fir", "oak"])
more_words: Final = st.sampled_from(["elm", "fir", "oak", "yew"])
weight_kinds: Final = {
    "none": None,
    "whole": st.integers(1, 3).map(float),
    "zero": st.integers(0, 2).map(float),
    "fractional": st.integers(1, 20).map(lambda n: n / 8),
    "mixed": st.integers(0, 20).map(lambda n: n / 8),
}


def cells(draw: Any, kinds: str, n: int, missing: int, of_words: Any) -> list[list[Cell]]:
    """Rows of numbers ("n") and words ("w"); about one of `missing` + 1 cells is missing."""
    one = {"n": small, "w": of_words}

    def cell(kind: str) -> Cell:
        is_missing = missing and draw(st.integers(0, missing)) == 0
        found: Cell = None if is_missing else draw(one[kind])
        return found

    return [[cell(kind) for kind in kinds] for _ in range(n)]


@st.composite
def cases(draw: Any, metrics: Sequence[str] = METRICS[:5], *, missing: bool = True) -> Case:
    """Few values in few columns, so that rows repeat and distances tie."""
    metric = draw(st.sampled_from(metrics))
    mixed = metric in {"hamming", "gower"}
    kinds = draw(st.text("nw" if mixed else "n", min_size=1, max_size=4))
    n = draw(st.integers(3, 12))
    every = draw(st.sampled_from([0, 0, 3, 8])) if missing else 0
    rows = cells(draw, kinds, n, every, words)
    queries = cells(draw, kinds, 4, every, more_words) + rows[:2]
    labels = draw(st.lists(st.sampled_from(CLASSES), min_size=n, max_size=n))
    weight = weight_kinds[draw(st.sampled_from(sorted(weight_kinds)))]
    weights = None if weight is None else draw(st.lists(weight, min_size=n, max_size=n))
    assume(all(any(row[j] is not None for row in rows) for j in range(len(kinds))))
    options = {"metric": metric, **draw(choices(metric))}
    case = Case(rows, labels, queries, weights, options)
    oracle = case.oracle()
    assume(len(oracle.classes) > 1 and oracle.used)
    total = sum(oracle.weight(i) for i in oracle.kept)
    assume(total >= 1)
    return replace(case, options={**options, "n_neighbors": draw(st.integers(1, int(total)))})


@st.composite
def choices(draw: Any, metric: str) -> dict[str, Any]:
    """Everything but k."""
    asked: dict[str, Any] = {"weights": draw(st.sampled_from(VOTINGS))}
    if metric == "minkowski":
        asked["p"] = draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf]))
    if metric not in {"hamming", "mahalanobis"}:
        asked["scale"] = draw(st.sampled_from(["auto", "range", "std", None]))
    if metric == "hamming":
        asked["unknown"] = draw(st.sampled_from(["differs", "skip"]))
    return asked


@st.composite
def class_options(draw: Any, case: Case) -> dict[str, Any]:
    """Priors, class weights and costs for all classes; some with weight have a prior above 0."""
    classes = case.classes
    asked: dict[str, Any] = {}
    if draw(st.booleans()):
        shares = draw(st.lists(st.integers(0, 8), min_size=len(classes), max_size=len(classes)))
        assume(any(shares[k] for k in case.places))
        asked["priors"] = {c: n / sum(shares) for c, n in zip(classes, shares, strict=True)}
    kind = draw(st.sampled_from(["none", "balanced", "given"]))
    if kind != "none":
        asked["class_weight"] = "balanced" if kind == "balanced" else {classes[0]: 2.5}
    if draw(st.booleans()):
        cost = st.sampled_from([0.0, 0.7, 1.0, 3.1])
        row = st.lists(cost, min_size=len(classes), max_size=len(classes))
        asked["costs"] = draw(st.lists(row, min_size=len(classes), max_size=len(classes)))
    return asked


# --- Large tables --------------------------------------------------------------------------------


def low_dimensional(rng: Generator, n: int, d: int) -> Float:
    return np.asarray(rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)))


def one_constant(rng: Generator, n: int, d: int) -> Float:
    X = rng.normal(size=(n, d))
    X[:, d // 2] = 7.25
    return X


def outliers(rng: Generator, n: int, d: int) -> Float:
    X = rng.normal(size=(n, d))
    X[rng.integers(0, n, 5), rng.integers(0, d, 5)] = 1e6
    X[0] = -1e6
    return X


def near_copies(rng: Generator, n: int, d: int) -> Float:
    """Every point comes ten times, 1e-9 apart, and some to the bit."""
    points = np.repeat(rng.normal(size=(-(-n // 10), d)), 10, axis=0)[:n]
    apart = 1e-9 * rng.integers(-2, 3, size=(n, d)) * (rng.uniform(size=(n, 1)) < 0.8)
    return np.asarray(rng.permutation(points + apart))


def clusters(rng: Generator, n: int, d: int) -> Float:
    """Tight ones far from each other, so that a box of rows is mostly empty."""
    centers = rng.uniform(-1e3, 1e3, size=(12, d))
    return np.asarray(centers[rng.integers(0, 12, n)] + rng.normal(size=(n, d)) * 1e-2)


def different_units(rng: Generator, n: int, d: int) -> Float:
    return np.asarray(rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d))


SHAPES: Final[dict[str, Callable[[Generator, int, int], Float]]] = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "low_dimensional": low_dimensional,
    "whole": lambda rng, n, d: rng.integers(0, 4, size=(n, d)).astype(np.float64),
    "wide_whole": lambda rng, n, d: rng.integers(-300, 300, size=(n, d)).astype(np.float64),
    "constant": one_constant,
    "outliers": outliers,
    "offset": lambda rng, n, d: 1e8 + rng.normal(size=(n, d)),
    "cauchy": lambda rng, n, d: rng.standard_cauchy(size=(n, d)),
    "near_copies": near_copies,
    "clusters": clusters,
    "units": different_units,
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-30,
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e30,
    "vanishing": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-162,  # squares are subnormal
}


def large(shape: str, seed: int, n: int, d: int) -> Float:
    return np.ascontiguousarray(SHAPES[shape](np.random.default_rng(seed), n, d))


def queries_of(X: Float, seed: int, n: int = 18) -> Float:
    """Rows, between rows, beside rows, out of range and far out of it."""
    rng = np.random.default_rng(seed + 1000)
    some = X[rng.integers(0, len(X), n)]
    other = X[rng.integers(0, len(X), n)]
    spread = np.ptp(X, axis=0)
    kinds = np.arange(n) % 6
    made = some.copy()
    made[kinds == 1] = ((some + other) / 2)[kinds == 1]
    made[kinds == 2] = np.where(rng.uniform(size=some.shape) < 0.5, some, other)[kinds == 2]
    made[kinds == 3] = (some + spread * 1e-3 * rng.normal(size=some.shape))[kinds == 3]
    made[kinds == 4] = (some + spread * rng.choice([-2.0, 2.0], size=some.shape))[kinds == 4]
    made[kinds == 5] = (some + spread * 1e3 * rng.normal(size=some.shape))[kinds == 5]
    return np.ascontiguousarray(made)
