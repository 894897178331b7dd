"""Neighbors in tables of thousands of rows against brute force by definition, to the last bit.

How rows are searched may be chosen by size, columns and values; what is found may not depend on
it. The tables are those on which a shortcut goes wrong: ties by the hundred, values that differ
where a shorter float does not see it, rows far from all others, columns in very different units.
"""

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from tests.kernels.tables import pairs
from tests.neighbors.oracle import brute, rooted
from tests.neighbors.tables import SHAPES, large, queries_of

from sortal import NeighborsClassifier

if TYPE_CHECKING:
    from sortal.neighbors.learn import Metric

Float: TypeAlias = NDArray[np.float64]
Int64: TypeAlias = NDArray[np.int64]

POWERS: Final = {"euclidean": 2.0, "manhattan": 1.0, "cubic": 3.0, "largest": math.inf}
COLUMNS: Final = {2: 3000, 3: 3000, 10: 2000, 20: 1500, 60: 1200}
quiet = pytest.mark.filterwarnings(
    "ignore::sortal.errors.MissingValueWarning", "ignore::sortal.errors.UnknownCategoryWarning"
)


def model_of(X: Any, metric: str, scale: Any = "auto", **more: Any) -> NeighborsClassifier:
    y = np.arange(len(X)) % 3
    name = cast("Metric", "minkowski" if metric in {"cubic", "largest"} else metric)
    p = POWERS[metric] if name == "minkowski" else 2.0
    return NeighborsClassifier(5, name, p=p, scale=scale, **more).fit(X, y)


def no_codes(n: int) -> Int64:
    return np.zeros((n, 0), dtype=np.int64)


def scales_of(X: Float, scale: str | None) -> Float:
    """By definition; 0 where a column never varies."""
    if scale is None:
        return np.ones(X.shape[1])
    still = np.ptp(X, axis=0) == 0
    found = np.ptp(X, axis=0) if scale == "range" else (X - X.mean(axis=0)).std(axis=0)
    return np.where(still, 0.0, found)


def divisors(model: NeighborsClassifier, X: Float, scale: str | None) -> Float:
    """The model's, which are those by definition but for rounding; 0 for columns left out."""
    expected = scales_of(X, scale)
    if scale is None:
        assert model.scale_ == {}
        return expected
    assert len(model.scale_) == (expected > 0).sum()
    given = expected.copy()
    given[expected > 0] = list(model.scale_.values())
    assert_allclose(given, expected, rtol=1e-9)
    return given


def check(
    model: NeighborsClassifier,
    X: Float,
    queries: Float,
    power: float,
    scale: str | None,
    ks: tuple[int, ...] = (1, 5, 15),
) -> None:
    """All columns are numbers; those that never vary are not there once they are scaled."""
    by = divisors(model, X, scale)
    used = by > 0
    rows = np.ascontiguousarray(X[:, used]), no_codes(len(X))
    asked = np.ascontiguousarray(queries[:, used]), no_codes(len(queries))
    keys, ids = brute(rows, asked, 1.0 / by[used], power, max(ks))
    distances = np.array([[rooted(key, power) for key in row] for row in keys.tolist()])
    if model.metric_ == "gower":
        distances = keys / used.sum()
    for k in ks:
        found, positions = model.kneighbors(queries, n_neighbors=k)
        assert_array_equal(positions, ids[:, :k])
        digits = 1e-14 if power == 3 else 0  # a root may be anybody's
        assert_allclose(found, distances[:, :k], rtol=digits, atol=0)


# --- Numbers -------------------------------------------------------------------------------------

# Metrics and scales, and the power of each.
SETTINGS: Final[dict[str, tuple[str, str | None, float]]] = {
    "euclidean": ("euclidean", "std", 2.0),
    "euclidean, as they are": ("euclidean", None, 2.0),
    "manhattan": ("manhattan", "std", 1.0),
    "manhattan, as they are": ("manhattan", None, 1.0),
    "largest": ("largest", "std", math.inf),
    "largest, as they are": ("largest", None, math.inf),
    "cubic": ("cubic", "std", 3.0),
    "gower": ("gower", "range", 1.0),
}


@pairs(shape=SHAPES, setting=SETTINGS, d=COLUMNS)
def test_numbers(shape: str, setting: str, d: int) -> None:
    """Without a scale ties of whole numbers are exact, and units may be extreme."""
    metric, scale, power = SETTINGS[setting]
    if shape == "vanishing" and scale == "std":  # squares of what vanishes add up to nothing
        scale = None
    n, queries = (300, 6) if metric == "cubic" else (COLUMNS[d], 12)
    X = large(shape, d, n, d)
    check(model_of(X, metric, scale), X, queries_of(X, d, queries), power, scale)


@pairs(
    shape=["normal", "whole", "offset", "cauchy", "near_copies", "units"],
    d=[3, 20, 60],
    metric=["euclidean", "manhattan"],
)
def test_short_floats(shape: str, d: int, metric: str) -> None:
    """Rows of float32; queries may lie between what a float32 can hold."""
    X = large(shape, d + 5, COLUMNS[d], d).astype(np.float32)
    wide = X.astype(np.float64)
    queries = queries_of(wide, d)
    model = model_of(X, metric, None)
    check(model, wide, queries, POWERS[metric], None)
    short = queries.astype(np.float32)
    asked = model.kneighbors(short), model.kneighbors(short.astype(np.float64))
    for ours, expected in zip(*asked, strict=True):
        assert_array_equal(ours, expected)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 65])
def test_widths_lengths_and_numbers_of_queries(d: int) -> None:
    """Around the sizes of registers, leaves and blocks."""
    n, m = (16, 100, 257)[d % 3], (1, 2, 3, 5, 31, 32, 33)[d % 7]
    X = large("wide_whole", d, n, d)
    for metric in ("euclidean", "manhattan"):
        check(model_of(X, metric, None), X, queries_of(X, n, m), POWERS[metric], None)


@pytest.mark.parametrize("k", [1, 15])
def test_all_rows_are_equal_but_one(k: int) -> None:
    X = np.zeros((2000, 4))
    X[1234] = 1.0
    model = model_of(X, "euclidean", None)
    distances, ids = model.kneighbors(np.array([[0.0] * 4, [1.0] * 4]), n_neighbors=k)
    assert ids[0].tolist() == list(range(k))
    assert ids[1].tolist() == [1234, *range(k - 1)]
    assert_array_equal(distances, [[0.0] * k, [0.0] + [2.0] * (k - 1)])


@pytest.mark.parametrize(
    ("d", "metric"), [(3, "euclidean"), (10, "manhattan"), (60, "largest"), (10, "gower")]
)
@quiet
def test_missing_values(d: int, metric: str) -> None:
    """Few and many, in rows and in queries; a row and a query have nothing else."""
    X = large("wide_whole", d, 1500, d)
    rng = np.random.default_rng(d)
    X[rng.uniform(size=X.shape) < np.linspace(0, 0.9, 1500)[:, None]] = np.nan
    X[77] = np.nan
    queries = queries_of(np.nan_to_num(X), d)
    queries[::3][rng.uniform(size=queries[::3].shape) < 0.4] = np.nan
    queries[4] = np.nan
    model = model_of(X, metric, None)
    power = POWERS.get(metric, 1.0)
    keys, ids = brute(
        (X, no_codes(len(X))), (queries, no_codes(len(queries))), np.ones(d), power, 15
    )
    distances, found = model.kneighbors(queries, n_neighbors=15)
    assert_array_equal(found, ids)
    assert 77 not in found
    assert (found[4] == -1).all()
    expected = keys / d if metric == "gower" else keys if power != 2 else np.sqrt(keys)
    assert_array_equal(distances, expected)


# --- Mahalanobis ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "d"),
    [("normal", 60), ("clusters", 10), ("units", 2), ("cauchy", 60), ("offset", 2),
     ("outliers", 10)],
)  # fmt: skip
def test_mahalanobis(shape: str, d: int) -> None:
    """Nearest by scipy's distances; what lies apart by rounding only may change places."""
    X = large(shape, d + 7, 1200, d)
    queries = queries_of(X, d)
    center = X.mean(axis=0)
    Z = (X - center) / X.std(axis=0)
    S = np.cov(Z.T)
    expected = cdist((queries - center) / X.std(axis=0), Z, "mahalanobis", VI=np.linalg.inv(S))
    model = model_of(X, "mahalanobis")
    digits = 1e-9 + 1e-14 * np.linalg.cond(S)
    # a query is no nearer to a row than the last digit of both
    apart = 1e-9 + 1e-6 * (shape == "offset")
    for k in (1, 5, 15):
        distances, ids = model.kneighbors(queries, n_neighbors=k)
        nearest = np.sort(expected, axis=1)[:, :k]
        own = np.take_along_axis(expected, ids, axis=1)
        assert_allclose(distances, nearest, rtol=digits, atol=apart)
        assert_allclose(own, nearest, rtol=digits, atol=apart)


# --- Words ---------------------------------------------------------------------------------------


def coded(seed: int, n: int, c: int, levels: int, missing: float = 0.0) -> Int64:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, size=(n, c))
    codes[rng.uniform(size=(n, c)) < missing] = -1
    return codes


def as_words(codes: Int64) -> pd.DataFrame:
    """-1 is a missing value, -2 a word that no row has."""
    names = np.array([f"w{i:03}" for i in range(300)] + ["never", None], dtype=object)
    return pd.DataFrame(names[codes], columns=[f"c{j}" for j in range(codes.shape[1])])


def asked_of(codes: Int64, seed: int) -> Int64:
    """Rows, mixtures of rows, words never seen, missing values."""
    rng = np.random.default_rng(seed + 50)
    some = codes[rng.integers(0, len(codes), 24)]
    other = codes[rng.integers(0, len(codes), 24)]
    made = np.where(rng.uniform(size=some.shape) < 0.4, some, other)
    made[:4] = some[:4]
    made[8:14][rng.uniform(size=made[8:14].shape) < 0.3] = -2
    made[14:20][rng.uniform(size=made[14:20].shape) < 0.3] = -1
    made[22], made[23] = -2, -1
    return np.asarray(made)


@pairs(c=[1, 5, 20, 70], levels=[2, 17, 290], missing=[0.0, 0.2])
@quiet
def test_hamming(c: int, levels: int, missing: float) -> None:
    codes = coded(c, 1000, c, levels, missing)
    queries = asked_of(codes, c)
    model = model_of(as_words(codes), "hamming")
    none = np.zeros((len(codes), 0)), np.zeros((len(queries), 0))
    keys, ids = brute((none[0], codes), (none[1], queries), np.zeros(0), 1.0, 15)
    for k in (1, 5, 15):
        distances, found = model.kneighbors(as_words(queries), n_neighbors=k)
        assert_array_equal(found, ids[:, :k])
        assert_array_equal(distances, keys[:, :k])


@pairs(d=[1, 3, 20], c=[1, 6], missing=[0.0, 0.2], shape=["normal", "whole", "cauchy"])
@quiet
def test_gower(d: int, c: int, missing: float, shape: str) -> None:
    """Numbers and words side by side; a word counts as much as a whole range."""
    rng = np.random.default_rng(d)
    codes = coded(c, 1500, c, 4, missing)
    X = large(shape, d, 1500, d)
    asked, queries = asked_of(codes, c), queries_of(X, d, 24)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    queries[rng.uniform(size=queries.shape) < missing] = np.nan
    named = [f"x{j}" for j in range(d)]
    table = pd.concat([pd.DataFrame(X, columns=named), as_words(codes)], axis=1)
    rows = pd.concat([pd.DataFrame(queries, columns=named), as_words(asked)], axis=1)
    model = model_of(table, "auto")
    assert model.metric_ == "gower"
    factors = 1.0 / (np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    keys, ids = brute((X, codes), (queries, asked), factors, 1.0, 15)
    for k in (1, 5, 15):
        distances, found = model.kneighbors(rows, n_neighbors=k)
        assert_array_equal(found, ids[:, :k])
        assert_array_equal(distances, keys[:, :k] / (d + c))


def test_every_search_is_taken_somewhere() -> None:
    """By tables of this file: else nothing is said about it."""
    tables = [large("low_dimensional", 3, 3000, 3), large("normal", 60, 2000, 60), np.eye(20)]
    taken = {model_of(X, "euclidean").search_ for X in tables}
    taken.add(model_of(as_words(coded(5, 2000, 5, 2)), "hamming").search_)
    assert taken == {"tree", "bytes", "bits", "scan"}
