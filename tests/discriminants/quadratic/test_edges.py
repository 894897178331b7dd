"""Classes without full rank, digits, bad input: where a quadratic discriminant could mislead."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.discriminants.oracle import Oracle, close
from tests.discriminants.tables import heard, quietly, whole_penguins
from tests.explained import read

from sortal import LinearDiscriminant, QuadraticDiscriminant
from sortal.discriminants.learn import QuadraticOptions, build_quadratic
from sortal.errors import CollinearityWarning, MissingValueWarning, PerfectSeparationWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Table: TypeAlias = tuple[Float, Labels]

quiet = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def make_table(seed: int = 0, n: int = 60, p: int = 3, k: int = 3) -> Table:
    """Classes that overlap, of different shapes; multiples of 1/1024, so that shifts are exact."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % k)
    turns = rng.normal(size=(k, p, p)) * 0.3 + np.eye(p)
    X = np.einsum("ij,ijm->im", rng.normal(size=(n, p)), turns[codes])
    X += rng.normal(size=(k, p))[codes]
    return np.round(X * 1024) / 1024, np.array(list("abcdefgh"))[codes]


# --- Singular classes ----------------------------------------------------------------------------


def with_class(rows: Any) -> Table:
    """A table and one more class, 'z'."""
    X, y = make_table()
    return np.vstack([X, rows]), np.r_[y, ["z"] * len(rows)]


def with_b(column: int, cells: Callable[[Float], Any]) -> Table:
    """A table in which one column of class 'b' follows from the others."""
    X, y = make_table()
    X[y == "b", column] = cells(X[y == "b"])
    return X, y


def one_row() -> Table:
    return with_class([[1.0, 2.0, 0.5]])


def two_rows() -> Table:
    return with_class([[1.0, 2.0, 0.5], [0.0, 1.0, 2.5]])


def one_point() -> Table:
    return with_class([[0.1, 0.7, 0.3]] * 4)


def few_rows() -> Table:
    X, y = make_table(p=5)
    few = np.random.default_rng(1).normal(size=(4, 5))
    return np.vstack([X, few]), np.r_[y, ["z"] * 4]


def still_column() -> Table:
    return with_b(1, lambda _: 0.1)


def two_classes_tied() -> Table:
    """In directions of their own; together they tie nothing."""
    X, y = make_table(3, n=40, p=2, k=2)
    X[y == "a", 1] = 2 * X[y == "a", 0]
    X[y == "b", 1] = -X[y == "b", 0] + 1
    return X, y


def far_still_column() -> Table:
    """1e8 + 0.1 is no float64, and its mean not exactly itself: still, it stands still."""
    X, y = make_table()
    X[:, 1] = 1e8 + X[:, 1] / 1024
    X[y == "b", 1] = 1e8 + 0.1
    return X, y


# Ranks of the classes, in order, and the singular one with the columns that are tied in it.
SINGULAR: Final[dict[str, tuple[Callable[[], Table], list[int], str, set[str]]]] = {
    "one row": (one_row, [3, 3, 3, 0], "z", {"x0", "x1", "x2"}),
    "two rows": (two_rows, [3, 3, 3, 1], "z", {"x0", "x1", "x2"}),
    "one point": (one_point, [3, 3, 3, 0], "z", {"x0", "x1", "x2"}),
    "two points": (
        lambda: with_class([[0.1, 0.7, 0.3]] * 4 + [[0.3, 0.2, 1.1]] * 3),
        [3, 3, 3, 1],
        "z",
        {"x0", "x1", "x2"},
    ),
    "few rows": (few_rows, [5, 5, 5, 3], "z", {"x0", "x1", "x2", "x3", "x4"}),
    "few rows in all": (
        lambda: make_table(2, n=18, p=5, k=6),
        [2] * 6,
        "a",
        {"x0", "x1", "x2", "x3", "x4"},
    ),
    "still column": (still_column, [3, 2, 3], "b", {"x1"}),
    "tied columns": (
        lambda: with_b(2, lambda X: 0.3 * X[:, 0] + 0.1 * X[:, 1]),
        [3, 2, 3],
        "b",
        {"x0", "x1", "x2"},
    ),
    "tied with an offset": (
        lambda: with_b(2, lambda X: 7.1 - 3 * X[:, 0]),
        [3, 2, 3],
        "b",
        {"x0", "x2"},
    ),
    "each tied its own way": (two_classes_tied, [1, 1], "a", {"x0", "x1"}),
    "still far from zero": (far_still_column, [3, 2, 3], "b", {"x1"}),
}
every_singular = pytest.mark.parametrize("name", SINGULAR)


def fitted(table: Table, *options: Any, **more: Any) -> QuadraticDiscriminant:
    found: QuadraticDiscriminant = quietly(
        lambda: QuadraticDiscriminant(*options, **more).fit(*table)
    )
    return found


def beside(X: Float) -> Float:
    """Rows of the table, and rows off it."""
    rng = np.random.default_rng(9)
    spread = X.std(axis=0)
    return np.vstack([X[::3], X[::5] + rng.normal(size=X[::5].shape) * spread])


MIXTURES: Final[list[tuple[str, float, float | None]]] = [
    ("unbiased", 0.0, None),
    ("mle", 0.0, None),
    ("unbiased", 0.2, None),
    ("mle", 0.0, 0.3),
    ("unbiased", 0.4, 0.1),
    ("mle", 1.0, 0.0),
]


@every_singular
def test_where_a_class_stands_still_it_takes_the_pooled_variance(name: str) -> None:
    make, ranks, *_ = SINGULAR[name]
    table = make()
    rows = beside(table[0])
    for norm, pooling, shrinkage in MIXTURES:
        if "far" in name and shrinkage:
            continue  # the mean variance mixes units of 1 and of 1/1024
        oracle = Oracle(*table, norm, pooling, shrinkage or 0.0)
        model = fitted(table, norm, pooling, shrinkage)
        close(model.predict_log_proba(rows), oracle.log_posteriors(rows), 1e-8)
        close(model.predict_proba(rows).sum(axis=1), 1, 1e-13)
        assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]
        if pooling == 0 and shrinkage is None:
            assert model.ranks_.tolist() == ranks
            close(model.covariances_, [oracle.used(k) for k in oracle.classes], 1e-9)
            assert (np.linalg.eigvalsh(model.covariances_) > 0).all()


@every_singular
def test_singular_classes_are_named(name: str) -> None:
    make, _, label, columns = SINGULAR[name]
    table = make()
    model, caught = heard(lambda: QuadraticDiscriminant().fit(*table))
    assert {w.category for w in caught} == {CollinearityWarning}
    assert {w.filename for w in caught} == {__file__}
    texts = [str(w.message) for w in caught]
    own = [text for text in texts if repr(label) in text]
    assert own
    assert all(any(repr(c) in text for text in own) for c in columns)
    others = {"x0", "x1", "x2"} - columns
    assert not any(repr(c) in text for text in own for c in others)
    told = " ".join(texts).lower()
    assert model.fit_report_.notes
    assert all(note.rstrip(".").lower() in told for note in model.fit_report_.notes)


def test_regular_classes_are_not_warned_of() -> None:
    for table in (make_table(), make_table(p=1, k=2), make_table(n=300, p=8, k=8)):
        model, caught = heard(partial(QuadraticDiscriminant().fit, *table))
        assert caught == []
        assert model.fit_report_.notes == ()


def test_pooling_makes_singular_classes_regular() -> None:
    """(1 − λ) S_k + λ S has the rank of S: nothing is completed, and nothing warned of."""
    model, caught = heard(lambda: QuadraticDiscriminant(pooling=0.1).fit(*two_rows()))
    assert caught == []
    assert model.ranks_.tolist() == [3, 3, 3, 3]


@every_singular
@quiet
def test_missing_values_where_classes_are_singular(name: str) -> None:
    """The completed covariances lose rows and columns; they are not completed again."""
    table = SINGULAR[name][0]()
    rows = beside(table[0])
    rows[np.random.default_rng(3).uniform(size=rows.shape) < 0.4] = np.nan
    rows[0] = np.nan
    model, oracle = fitted(table), Oracle(*table)
    close(model.predict_log_proba(rows), oracle.log_posteriors(rows), 1e-8)
    close(model.predict_proba(rows[:1])[0], model.priors_, 1e-13)


@every_singular
@quiet
def test_reasons_and_boundaries_where_classes_are_singular(name: str) -> None:
    table = SINGULAR[name][0]()
    model, oracle = fitted(table), Oracle(*table)
    rows = beside(table[0])[::4]
    logs = model.predict_log_proba(rows)
    reasons: Any = model.explain(rows)
    for x, reason in zip(rows, map(read, reasons), strict=True):
        offset, amounts = oracle.parts(x, reason.label, reason.against)
        close([p.amount for p in reason.parts], amounts, 1e-8)
        assert reason.start == pytest.approx(offset, rel=1e-8, abs=1e-8)
    if "far" in name:
        return  # xᵀΓx holds 1e16 beside a difference of 1
    last = len(model.classes_) - 1
    line = model.boundary(model.classes_[0], model.classes_[last])
    values = line.beta0 + rows @ line.beta + np.einsum("ij,jm,im->i", rows, line.gamma, rows)
    close(values, logs[:, 0] - logs[:, last], 1e-7)


@quiet
def test_a_column_that_is_constant_within_every_class() -> None:
    """LDA's floor, in every class: 1e-9 of the variance of the means."""
    X, y = make_table()
    tag = np.where(y == "a", 1.0, 0.0)
    table = np.column_stack([X, tag]), y
    model, caught = heard(lambda: QuadraticDiscriminant().fit(*table))
    assert PerfectSeparationWarning in {w.category for w in caught}
    oracle = Oracle(*table)
    assert (model.predict(table[0])[y == "a"] == "a").all()
    assert (model.predict(table[0])[y != "a"] != "a").all()
    found, expected = model.predict_log_proba(table[0]), oracle.log_posteriors(table[0])
    # the gap is of the size 1e9, and so are its digits
    assert_allclose(found, expected, rtol=1e-7, atol=1e-5)
    close(model.predict_proba(table[0]).sum(axis=1), 1, 1e-13)
    assert model.ranks_.tolist() == [3, 3, 3]
    linear = quietly(lambda: LinearDiscriminant().fit(*table))
    pooled = fitted(table, "unbiased", 1.0)
    assert_allclose(
        pooled.predict_log_proba(table[0]), linear.predict_log_proba(table[0]), rtol=1e-7
    )


@quiet
def test_tied_columns_in_all_rows_are_left_out() -> None:
    X, y = make_table()
    tied = np.column_stack([X, X[:, 0] + 2 * X[:, 1]])
    with pytest.warns(CollinearityWarning, match="'x0', 'x1', 'x3' is the same in all rows"):
        model = QuadraticDiscriminant().fit(tied, y)
    plain = QuadraticDiscriminant().fit(X, y)
    close(model.predict_log_proba(tied), plain.predict_log_proba(X), 1e-8)
    assert model.ranks_.tolist() == [3, 3, 3]
    rows = beside(tied)
    close(model.predict_log_proba(rows), Oracle(tied, y).log_posteriors(rows), 1e-8)
    incomplete = tied.copy()
    incomplete[::2, 0] = np.nan
    incomplete[1::2, 3] = np.nan
    close(model.predict_log_proba(incomplete), Oracle(tied, y).log_posteriors(incomplete), 1e-8)


def test_two_singular_classes_and_a_tie() -> None:
    """What is tied in all rows is no news of a class."""
    X, y = still_column()
    tied = np.column_stack([X, X[:, 0] + X[:, 2]])
    model, caught = heard(lambda: QuadraticDiscriminant().fit(tied, y))
    close(model.predict_log_proba(tied), fitted((X, y)).predict_log_proba(X), 1e-8)
    assert model.ranks_.tolist() == [3, 2, 3]
    own = [str(w.message) for w in caught if "'b'" in str(w.message)]
    assert len(own) == 1
    assert "'x1'" in own[0]
    assert "'x3'" not in own[0]


@pytest.mark.parametrize(("n", "p", "k"), [(12, 14, 2), (9, 12, 3), (6, 6, 3), (4, 3, 2)])
@quiet
def test_more_columns_than_rows(n: int, p: int, k: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, p)) + 5, np.arange(n) % k
    model = QuadraticDiscriminant().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    shares, logs = model.predict_proba(X), model.predict_log_proba(X)
    assert np.isfinite(logs).all()
    close(shares.sum(axis=1), 1, 1e-13)
    assert_allclose(logs, Oracle(X, y).log_posteriors(X), rtol=1e-4, atol=1e-4)
    assert model.ranks_.tolist() == [min(p, int((y == c).sum()) - 1) for c in range(k)]
    shrunk = QuadraticDiscriminant(shrinkage=0.3).fit(X, y)
    expected = Oracle(X, y, shrinkage=0.3)
    close(shrunk.predict_log_proba(X), expected.log_posteriors(X), 1e-8)
    assert shrunk.ranks_.tolist() == [p] * k


def test_words_that_a_class_lacks() -> None:
    """Gentoos live on one island: there the shares of the other species are taken."""
    frame = whole_penguins()
    with pytest.warns(CollinearityWarning, match="'Gentoo'") as caught:
        model = QuadraticDiscriminant().fit(frame, "species")
    texts = " ".join(str(w.message) for w in caught)
    assert "'island'" in texts
    assert "'bill_length_mm'" not in texts
    y = frame["species"].to_numpy()
    numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"]
    plain = np.column_stack([
        *[(frame["island"] == name).to_numpy(float) for name in ("Dream", "Torgersen")],
        *[frame[name].to_numpy(float) for name in numbers],
        (frame["sex"] == "male").to_numpy(float),
    ])  # fmt: skip
    oracle = Oracle(plain, y)
    found = model.predict_log_proba(frame)
    assert_allclose(found, oracle.log_posteriors(plain), rtol=1e-7, atol=1e-7)
    assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]
    assert model.score(frame, "species") > 0.98


# --- Digits and units ----------------------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_any_unit(shrinkage: float | None) -> None:
    X, y = make_table()
    wanted = QuadraticDiscriminant(shrinkage=shrinkage).fit(X, y).predict_log_proba(X)
    for unit in (1e-150, 1e-12, 1e12, 1e100):
        model = QuadraticDiscriminant(shrinkage=shrinkage).fit(X * unit, y)
        close(model.predict_log_proba(X * unit), wanted, 1e-9)


@pytest.mark.parametrize("name", ["", *SINGULAR])
@quiet
def test_units_of_columns_may_differ_by_far(name: str) -> None:
    """Regular classes too, by 1e90 up and down."""
    X, y = SINGULAR[name][0]() if name else make_table()
    one = fitted((X, y))
    for unit in (1e-9, 1e9) if name else (1e-90, 1e90):
        units = unit ** np.linspace(-1, 1, X.shape[1])
        other = fitted((X * units, y))
        close(other.predict_log_proba(X * units), one.predict_log_proba(X), 1e-8)
        assert other.ranks_.tolist() == one.ranks_.tolist()
        assert name or other.condition_ == pytest.approx(one.condition_, rel=1e-8)


@pytest.mark.parametrize("far", [1e10, 1e100, 1e139])
def test_rows_far_away_have_posteriors(far: float) -> None:
    """The wider class is said, whatever the direction."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat(["narrow", "wide"], 30)
    X[30:] *= 3
    model = QuadraticDiscriminant().fit(X, y)
    rows = np.array([[far, 0.0], [-far, far], [0.0, -far], [far, far]])
    shares = model.predict_proba(rows)
    assert shares[:, 1].tolist() == [1.0] * 4
    assert not np.isnan(model.predict_log_proba(rows)).any()
    assert model.predict(rows).tolist() == ["wide"] * 4


# --- Widths and lengths --------------------------------------------------------------------------


def by_formula(model: QuadraticDiscriminant, X: Float) -> Float:
    """g_k from the attributes of a regular fit, all rows at once."""
    found = []
    for prior, mean, sigma in zip(model.priors_, model.means_, model.covariances_, strict=True):
        z = np.linalg.solve(np.linalg.cholesky(sigma), (X - mean).T)
        found.append(np.log(prior) - np.linalg.slogdet(sigma)[1] / 2 - (z * z).sum(axis=0) / 2)
    return np.array(found).T


def wide_table(p: int, k: int, n: int = 0) -> Table:
    rng = np.random.default_rng(p)
    codes = np.arange(n or k * (2 * p + 5)) % k
    X = rng.normal(size=(len(codes), p)) * rng.uniform(0.5, 2.0, (k, p))[codes]
    return X + 0.3 * rng.normal(size=(k, p))[codes], codes


# columns, classes and rows: around the widths of registers and blocks
SHAPES: Final[dict[str, list[tuple[int, int, int]]]] = {
    "columns": [(p, 3, 0) for p in (*range(1, 10), 15, 16, 17, 31, 32, 33, 65)],
    "classes": [(4, k, 0) for k in (2, 4, 5, 7, 8, 9, 16, 17, 40)],
    "rows": [(5, 3, n) for n in (*range(1, 10), 15, 16, 17, 63, 64, 65, 4097)],
}


@pytest.mark.parametrize("of", SHAPES)
def test_tables_of_every_shape(of: str) -> None:
    for p, k, n in SHAPES[of]:
        X, y = wide_table(p, k)
        model = QuadraticDiscriminant().fit(X, y)
        rows = wide_table(p, k, n)[0] if n else X
        expected, logs = by_formula(model, rows), model.predict_log_proba(rows)
        shown = f"{p} columns, {k} classes, {n} rows"
        assert_allclose(logs - logs[:, :1], expected - expected[:, :1], 1e-10, 1e-10, err_msg=shown)
        some = X[: 1 + p % 19]  # any number of rows at a time
        close(model.predict_log_proba(some), model.predict_log_proba(X)[: len(some)], 1e-12)


def test_long_tables_in_many_blocks() -> None:
    X, y = wide_table(7, 3)
    model = QuadraticDiscriminant().fit(X, y)
    rows, _ = wide_table(7, 3, 70_000)
    expected = by_formula(model, rows)
    logs = model.predict_log_proba(rows)
    close(logs - logs[:, :1], expected - expected[:, :1], 1e-10)
    incomplete = rows[:30_000].copy()
    incomplete[::1000, 2] = np.nan  # a missing value in one row is nothing to its neighbors
    with pytest.warns(MissingValueWarning):
        found = model.predict_log_proba(incomplete)
    whole = ~np.isnan(incomplete[:, 2])
    close(found[whole], logs[:30_000][whole], 1e-12)


# --- Classes without rows, class weights ---------------------------------------------------------


def test_a_class_without_rows_is_impossible() -> None:
    X, y = make_table(k=2)
    model = QuadraticDiscriminant(priors=[0.3, 0.3, 0.4])
    model.partial_fit(X, y, classes=["a", "b", "z"])
    alone = QuadraticDiscriminant(priors=[0.5, 0.5]).fit(X, y)
    close(model.predict_proba(X)[:, :2], alone.predict_proba(X), 1e-12)
    incomplete = X[:1].copy()
    incomplete[0, 1] = np.nan
    with pytest.warns(MissingValueWarning, match="integrated out"):
        assert model.predict_proba(incomplete)[0, 2] == 0
    assert np.isnan(model.covariances_[2]).all()
    assert np.isfinite(model.covariances_[:2]).all()
    json.dumps(model.working(X[:3]).to_dict(), allow_nan=False)


def test_a_class_weight_of_zero_is_a_class_without_rows() -> None:
    X, y = make_table()
    model = QuadraticDiscriminant(class_weight={"c": 0}).fit(X, y)
    kept = y != "c"
    expected = QuadraticDiscriminant().fit(X[kept], y[kept])
    close(model.predict_proba(X)[:, :2], expected.predict_proba(X), 1e-12)
    assert (model.predict_proba(X)[:, 2] == 0).all()


def test_numbers_of_all_kinds_are_shares() -> None:
    values: list[Any] = [0, 1, np.float32(0.25), np.float64(1.0), np.int64(0)]
    for value in values:
        model = QuadraticDiscriminant(pooling=value, shrinkage=value).fit(*make_table())
        assert (model.pooling_, model.shrinkage_) == (float(value), float(value))


@quiet
def test_singular_moments_are_completed() -> None:
    """Σ_1 = diag(1, 0) and Σ_2 = diag(1, 2): the pooled diag(1, 1) fills the gap."""
    sigmas = [np.diag([1.0, 0.0]), np.diag([1.0, 2.0])]
    means = [[0.0, 0.0], [1.0, 1.0]]
    model, caught = heard(lambda: QuadraticDiscriminant.from_moments(means, covariances=sigmas))
    assert {w.category for w in caught} == {CollinearityWarning}
    close(model.covariances_, [np.eye(2), np.diag([1.0, 2.0])], 1e-14)
    assert model.ranks_.tolist() == [1, 2]


# --- Working -------------------------------------------------------------------------------------


def cells(table: Any) -> Float:
    """The numbers of a table, as they stand."""
    return np.array([[v for v in row if isinstance(v, float)] for row in table.rows])


@pytest.mark.parametrize(
    "make", [make_table, two_rows, still_column], ids=["plain", "two", "still"]
)
@quiet
def test_working_shows_the_attributes(make: Callable[[], Table]) -> None:
    X, y = make()
    model = QuadraticDiscriminant("mle").fit(X, y)
    K = len(model.classes_)
    working = model.working()
    close(cells(working["priors"])[:, 0], model.priors_, 1e-15)
    close(cells(working["means"]), model.means_, 1e-15)
    close(cells(working["covariances"]), model.covariances_.reshape(3 * K, 3), 1e-15)
    inverses = cells(working["inverses"]).reshape(K, 3, 3)
    close(inverses @ model.covariances_, np.broadcast_to(np.eye(3), (K, 3, 3)), 1e-9)
    table = working["log_determinants"]
    close(list(table.column("ln det Σ_k")), np.linalg.slogdet(model.covariances_)[1], 1e-9)
    assert list(table.column("rank")) == model.ranks_.tolist()
    functions = cells(working["functions"])  # constant and linear part
    quadratic = np.einsum("ij,kjm,im->ik", X, inverses, X) / 2
    values = functions[:, 0] + X @ functions[:, 1:].T - quadratic
    logs = model.predict_log_proba(X)
    close(values - values[:, :1], logs - logs[:, :1], 1e-8)


@quiet
def test_working_shows_every_boundary() -> None:
    X, y = two_rows()
    model = QuadraticDiscriminant().fit(X, y)
    rows = model.working()["boundaries"].rows
    assert len(rows) == 6 * 4  # pairs; constant and linear part, and three rows of Γ
    for i in range(0, len(rows), 4):
        line = model.boundary(rows[i][0], rows[i][1])
        close([v for v in rows[i] if isinstance(v, float)], [line.beta0, *line.beta], 1e-13)
        gamma = [[v for v in row if isinstance(v, float)] for row in rows[i + 1 : i + 4]]
        close(gamma, line.gamma, 1e-13)


def test_working_of_rows() -> None:
    X, y = make_table()
    frame = pd.DataFrame(X, columns=list("pqr"))
    costs = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [1.0, 1.0, 0.0]])
    model = QuadraticDiscriminant(costs=costs).fit(frame, y)
    working = model.working(frame)
    assert list(working["rows"].column("said")) == model.predict(frame).tolist()
    functions = cells(working["rows"])
    logs = model.predict_log_proba(frame)
    close(functions - functions[:, :1], logs - logs[:, :1], 1e-9)
    close(cells(working["posteriors"]), model.predict_proba(frame), 1e-13)


def test_two_rows_vary_in_one_direction_however_their_scatter_was_rounded() -> None:
    """Of given moments no bound on rounding is known, but the number of rows is."""
    u = np.array([1.0, 2.0, -1.0])
    noise = 1e-9 * np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    scatters = np.array([10 * np.eye(3) + 1.0, np.outer(u, u) + noise])
    with pytest.warns(CollinearityWarning, match="class 1 does not vary|Class 1 does not vary"):
        model = QuadraticDiscriminant.from_moments(
            [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], scatters=scatters, counts=[20, 2]
        )
    assert model.ranks_.tolist() == [3, 1]


@quiet
@pytest.mark.parametrize("shrinkage", [None, 0.2, 1.0])
def test_a_point_class_of_which_rounding_left_something(shrinkage: float | None) -> None:
    rng = np.random.default_rng(0)
    X, y = np.vstack([np.full((4, 2), 0.3), rng.normal(size=(12, 2))]), np.repeat([0, 1], [4, 12])
    stats = QuadraticDiscriminant().fit(X, y)._statistics()
    still, noisy = stats.scatter.copy(), stats.scatter.copy()
    still[0], noisy[0] = 0.0, 5e-33 * np.eye(2)
    options = QuadraticOptions(shrinkage=shrinkage)
    expected = build_quadratic(replace(stats, scatter=still), options)
    found = build_quadratic(replace(stats, scatter=noisy), options)
    assert found.ranks.tolist() == expected.ranks.tolist() == [0, 2]
    np.testing.assert_array_equal(found.covariances, expected.covariances)
