"""Searches for the nearest rows: every kind against keys by definition, to the bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sortal.native.neighbors import Searcher, choose

Float = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Found = tuple[Float, Int64]

POWERS = (1.0, 2.0, math.inf)
WIDE: tuple[tuple[Any, int], ...] = (("bytes", 0), ("bytes", 1), ("bytes", 2))


def no_codes(n: int) -> Int32:
    return np.empty((n, 0), dtype=np.int32)


def keys_of(rows: NDArray[Any], queries: Float, factors: Float, power: float) -> Float:
    """Keys, a row a query, added up in the order of the columns."""
    total = np.zeros((len(queries), len(rows)))
    for j, factor in enumerate(factors):
        term = np.abs(queries[:, j, None] - rows[None, :, j].astype(np.float64)) * factor
        if power == 2:
            total += term * term
        elif power == math.inf:
            total = np.maximum(total, term)
        else:
            total += term
    return total


def first(keys: Float, k: int, exclude: Int64 | None = None) -> Found:
    """The k first by (key, position), padded."""
    keys = keys.copy()
    if exclude is not None:
        some = exclude >= 0
        keys[np.flatnonzero(some), exclude[some]] = np.inf
    order = np.argsort(keys, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(keys, order, 1)
    order = np.where(np.isinf(found), -1, order)
    room = ((0, 0), (0, max(0, k - keys.shape[1])))
    padded = np.pad(found, room, constant_values=np.inf)
    return padded, np.pad(order, room, constant_values=-1)


def assert_same(found: Found, wanted: Found, case: str = "") -> None:
    """To the bit, so that an infinity or a sign counts too."""
    assert found[0].tobytes() == wanted[0].tobytes(), case
    np.testing.assert_array_equal(found[1], wanted[1], err_msg=case)


def draw(name: str, n: int, d: int, rng: np.random.Generator) -> Float:
    """Rows that are hard in different ways."""
    x = rng.normal(size=(n, d))
    plane = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    rows: dict[str, Float] = {
        "normal": x,
        "ties": np.round(2 * x),
        "heavy tails": rng.standard_cauchy((n, d)),
        "far from zero": x + 1e6,
        "near duplicates": x[rng.integers(0, 40, n)] + 1e-9 * rng.integers(0, 3, (n, 1)),
        "all equal": np.full((n, d), 1.5),
        "squares vanish": 1e-170 * x,
        "corners": np.sign(x) * (1 + 1e-3 * rng.integers(0, 9, (n, d))),  # the largest bytes
        "few dimensions": plane + 1e-3 * x,
        "outliers": np.where(np.arange(n)[:, None] % 250 == 0, 1e6 * x, x),
    }
    return rows[name]


NAMES = (
    *("normal", "ties", "heavy tails", "far from zero", "near duplicates", "all equal"),
    *("few dimensions", "outliers", "squares vanish", "corners"),
)


@pytest.mark.parametrize("name", NAMES)
def test_every_search_finds_the_first_rows(name: str) -> None:
    """Each kind of rows with every width, which have float32 and float64 by turns."""
    for i, d in enumerate((1, 3, 10, 61)):
        dtype: Any = (np.float32, np.float64)[(i + NAMES.index(name)) % 2]
        rng = np.random.default_rng(d)
        n = 700
        table = draw(name, n + 20, d, rng).astype(dtype)
        rows, queries = np.ascontiguousarray(table[:n]), table[n:].astype(np.float64)
        queries[:5] = rows[::130][:5]
        queries[-1] *= 1000
        factors = rng.uniform(0.5, 2.0, d)
        for power in POWERS:
            keys, positions = first(keys_of(rows, queries, factors, power), 33)
            for kind, widest in [("scan", 0), ("tree", 0), *(WIDE if power < math.inf else ())]:
                searcher = Searcher(rows, no_codes(n), factors, power, d, kind, widest)
                for k in (1, 5, 33):
                    found = searcher.search(queries, no_codes(len(queries)), k, n_threads=2)
                    case = f"{d} {dtype} {power} {kind} {widest} {k}"
                    assert_same(found, (keys[:, :k], positions[:, :k]), case)


@pytest.mark.parametrize("kind", ["scan", "tree"])
def test_other_powers(kind: Any) -> None:
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(1300, 4)), rng.normal(size=(20, 4))
    factors, p = rng.uniform(0.5, 2.0, 4), 2.5
    terms = np.abs(queries[:, None] - rows) * factors
    keys = np.zeros(terms.shape[:2])
    for j in range(4):  # math.pow is the C library's, as in the compiled loops
        keys += np.vectorize(math.pow)(terms[:, :, j], p)
    found = Searcher(rows, no_codes(1300), factors, p, 4, kind).search(queries, no_codes(20), 7)
    assert_same(found, first(keys, 7))


@pytest.mark.parametrize("kind", ["scan", "tree", "bytes"])
def test_few_rows_are_padded(kind: Any) -> None:
    for n in (1, 2, 31, 32, 33, 64, 65, 257):
        rng = np.random.default_rng(n)
        rows, queries = rng.normal(size=(n, 3)), rng.normal(size=(9, 3))
        keys = keys_of(rows, queries, np.ones(3), 2.0)
        searcher = Searcher(rows, no_codes(n), np.ones(3), 2.0, 3, kind)
        for k in (1, n, n + 3):
            assert_same(searcher.search(queries, no_codes(9), k), first(keys, k), f"{n} {k}")


@pytest.mark.parametrize("kind", ["scan", "tree", "bytes"])
def test_a_row_is_left_out_of_its_own_neighbors(kind: Any) -> None:
    rng = np.random.default_rng(0)
    n = 700
    rows = np.round(rng.normal(size=(n, 5)))
    exclude = np.arange(n)
    exclude[::7] = -1
    wanted = first(keys_of(rows, rows, np.ones(5), 2.0), 5, exclude)
    searcher = Searcher(rows, no_codes(n), np.ones(5), 2.0, 5, kind)
    for threads in (1, 2, 3):
        assert_same(searcher.search(rows, no_codes(n), 5, exclude, threads), wanted)


@pytest.mark.parametrize("widest", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(2,), (5,) * 20, (300, 2, 70_000, *(3,) * 40)])
def test_bits_count_what_differs(widest: int, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(sizes))
    codes = np.stack([rng.integers(0, size, 1500) for size in sizes], axis=1).astype(np.int32)
    queries = codes[::50].copy()
    queries[::3, 0] = -2  # a value that no row has
    keys = (codes[None] != queries[:, None]).sum(axis=2).astype(float)
    numbers = np.empty((1500, 0))
    searcher = Searcher(numbers, codes, np.empty(0), 1.0, len(sizes), "bits", widest)
    exclude = np.arange(0, 1500, 50)
    for k, others in ((1, None), (5, exclude), (1502, None)):
        found = searcher.search(np.empty((len(queries), 0)), queries, k, others, 2)
        assert_same(found, first(keys, k, others))


def mixed_keys(
    rows: Float, codes: Int32, x: Float, c: Int32, factors: Float, power: float
) -> Float:
    """Keys of one query where rows, or the query, have missing values."""
    total, known = np.zeros(len(rows)), np.zeros(len(rows))
    for j, factor in enumerate(factors):
        term = np.abs(x[j] - rows[:, j]) * factor
        both = ~np.isnan(term)
        term = np.where(both, term, 0.0)
        known += both
        if power == math.inf:
            total = np.maximum(total, term)
        else:
            total += term * term if power == 2 else term
    both = (codes != -1) & (c != -1)
    known += both.sum(axis=1)
    total += (both & (codes != c)).sum(axis=1)
    d = len(factors) + codes.shape[1]
    scaled = total if power == math.inf else total * (d / np.maximum(known, 1))
    return np.where(known > 0, scaled, np.inf)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_missing_values_are_left_out_of_the_key(power: float, share: float) -> None:
    rng = np.random.default_rng(3)
    n, d = 700, 4
    rows = np.round(rng.normal(size=(n + 60, d)), 1)
    rows[rng.uniform(size=rows.shape) < share] = np.nan
    codes = rng.integers(0, 3, (n + 60, 3)).astype(np.int32)
    codes[rng.uniform(size=codes.shape) < share] = -1
    codes[n + 5, 1] = -2
    rows[n], codes[n] = np.nan, -1  # nothing is known of this one
    factors = rng.uniform(0.5, 2.0, d)
    asked, words = np.ascontiguousarray(rows[n:]), np.ascontiguousarray(codes[n:])
    kept, named = np.ascontiguousarray(rows[:n]), np.ascontiguousarray(codes[:n])
    searcher = Searcher(kept, named, factors, power, d + 3)
    assert searcher.kind == "scan"
    keys = [
        mixed_keys(kept, named, x, c, factors, power) for x, c in zip(asked, words, strict=True)
    ]
    found = searcher.search(asked, words, 6)
    assert_same(found, first(np.array(keys), 6))
    assert (found[1][0] == -1).all()


@pytest.mark.parametrize("kind", ["tree", "bytes"])
def test_queries_with_missing_values_are_scanned(kind: Any) -> None:
    rng = np.random.default_rng(4)
    rows, queries = rng.normal(size=(1500, 3)), rng.normal(size=(30, 3))
    queries[::4, 1] = np.nan
    searcher = Searcher(rows, no_codes(1500), np.ones(3), 2.0, 3, kind)
    exclude = np.arange(30)
    found = searcher.search(queries, no_codes(30), 4, exclude)
    none = np.empty(0, dtype=np.int32)
    keys = [mixed_keys(rows, no_codes(1500), x, none, np.ones(3), 2.0) for x in queries]
    assert_same(found, first(np.array(keys), 4, exclude))


def test_more_candidates_than_a_query_holds() -> None:
    """All rows are equally near but for digits that bytes cannot tell apart."""
    rng = np.random.default_rng(5)
    rows = np.ones((5000, 20)) + 1e-7 * rng.normal(size=(5000, 20))
    rows[::500] += 5 * rng.normal(size=(10, 20))
    queries = np.ones((7, 20)) + 1e-7 * rng.normal(size=(7, 20))
    for power in (1.0, 2.0):
        searcher = Searcher(rows, no_codes(5000), np.ones(20), power, 20, "bytes")
        found = searcher.search(queries, no_codes(7), 12)
        assert_same(found, first(keys_of(rows, queries, np.ones(20), power), 12))


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("name", ["heavy tails", "far queries", "wild rows", "copies", "large k"])
def test_queries_that_bytes_cannot_help(name: str, power: float) -> None:
    rng = np.random.default_rng(8)
    n, d, k = 9000, 6, 5
    rows, queries = rng.normal(size=(n, d)), rng.normal(size=(7, d))
    if name == "heavy tails":
        rows, queries = rng.standard_cauchy((n, d)) ** 3, rng.standard_cauchy((7, d))
    elif name == "far queries":
        queries[::2] += 1000.0
    elif name == "wild rows":  # the range is read off every so many-th row
        rows = rng.normal(size=(20_000, d))
        rows[::2] *= 1e-3
    elif name == "copies":
        rows[:8500] = queries[0]
    else:
        k = 5000
    exclude = np.array([3, -1, 0, 2, -1, 5, 8])
    factors = rng.random(d) + 0.5
    wanted = first(keys_of(rows, queries, factors, power), k, exclude)
    for kind, widest in WIDE:
        searcher = Searcher(rows, no_codes(len(rows)), factors, power, d, kind, widest)
        assert_same(searcher.search(queries, no_codes(7), k, exclude, 2), wanted, f"{widest}")


def test_codes_beyond_those_of_the_rows_differ_in_bits() -> None:
    rows, queries = np.zeros((70, 2), dtype=np.int32), np.array([[2, 0], [4, 9]], dtype=np.int32)
    for widest in (0, 1, 2):
        searcher = Searcher(np.empty((70, 0)), rows, np.empty(0), 1.0, 2, "bits", widest)
        found, _ = searcher.search(np.empty((2, 0)), queries, 1)
        assert found.tolist() == [[1.0], [2.0]]


def test_the_choice_of_a_search() -> None:
    rng = np.random.default_rng(6)
    ones = np.ones(30)
    flat = rng.normal(size=(4000, 2)) @ rng.normal(size=(2, 30))
    wide = rng.normal(size=(4000, 30))
    codes = rng.integers(0, 4, (4000, 6)).astype(np.int32)
    nothing = np.empty((4000, 0))
    assert choose(flat, no_codes(4000), ones, 2.0) == "tree"
    assert choose(flat, no_codes(4000), ones, 3.0) == "tree"
    assert choose(wide, no_codes(4000), ones, 2.0) == "bytes"
    assert choose(wide, no_codes(4000), ones, 3.0) == "scan"
    assert choose(flat, codes, ones, 1.0) == "scan"
    assert choose(flat[:1000], no_codes(1000), ones, 2.0) == "scan"
    assert choose(nothing, codes, np.empty(0), 1.0) == "bits"
    codes[7, 2] = -1
    assert choose(nothing, codes, np.empty(0), 1.0) == "scan"
    flat[7, 2] = np.nan
    assert choose(flat, no_codes(4000), ones, 2.0) == "scan"


def test_rows_may_lie_column_by_column() -> None:
    rng = np.random.default_rng(3)
    numbers, codes = rng.normal(size=(40, 3)), rng.integers(0, 4, (40, 2), dtype=np.int32)
    found = [
        Searcher(order(numbers), order(codes), np.ones(3), 2.0, 5).search(numbers, codes, 3)
        for order in (np.ascontiguousarray, np.asfortranarray)
    ]
    for rows, columns in zip(*found, strict=True):
        assert (rows == columns).all()
