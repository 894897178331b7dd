"""Missing values, words, single rows and constant columns with a kernel discriminant."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from tests.kernels.oracle import Oracle
from tests.kernels.tables import (
    KERNELS,
    PENALTIES,
    SOLVERS,
    as_given,
    close,
    fitted,
    make_table,
    make_weights,
    pairs,
    same_posteriors,
)

from sortal import KernelDiscriminant
from sortal.errors import (
    MissingValueWarning,
    OneClassWarning,
    PerfectSeparationWarning,
    UnknownCategoryWarning,
)
from sortal.kernels.learn import Missing, SolverChoice
from sortal.kernels.model import KernelName

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

OF_ROWS: Final = [name for name in KERNELS if name != "precomputed"]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_way = pairs(penalty=PENALTIES, solver=SOLVERS)
MEAN_WORDS: Final = "the mean of their column stands for them"


def mixed_table() -> tuple[Any, Float, Labels]:
    """A frame with a category and a truth value, and its terms."""
    X, y = make_table(1, 3)
    rng = np.random.default_rng(3)
    words, flags = rng.choice(["p", "q", "r"], len(y)), rng.uniform(size=len(y)) < 0.4
    frame = pd.DataFrame({"a": X[:, 0] * 5, "word": words, "flag": flags, "b": X[:, 1]})
    terms = [X[:, 0] * 5, *(words == v for v in "pqr"), ~flags, flags, X[:, 1]]
    return frame, np.column_stack(terms).astype(float), y


IS_NUMBER: Final = np.array([True, False, False, False, False, False, True])


# --- Words and numbers ---------------------------------------------------------------------------


@pairs(kernel=OF_ROWS, penalty=PENALTIES, solver=SOLVERS)
def test_a_category_is_an_indicator_a_value(
    kernel: str, penalty: str, solver: SolverChoice
) -> None:
    """Indicators are never scaled; numbers are where the kernel says so."""
    frame, terms, y = mixed_table()
    w = make_weights("fractions", len(y))
    more: dict[str, Any] = {"penalty": penalty, "ridge": 0.05}
    model = KernelDiscriminant(**KERNELS[kernel], **more, solver=solver).fit(frame, y, w)
    assert model.terms_.tolist() == ["a", "word=p", "word=q", "word=r", "flag=False", "flag=True",
                                     "b"]  # fmt: skip
    basis = None if solver == "dense" else model.basis_ids_
    oracle = Oracle(terms, y, **KERNELS[kernel], **more, weight=w, is_number=IS_NUMBER, basis=basis)
    # products of large numbers leave a penalty of coefficients few digits in sums of squares
    digits = 1e-6 if (solver, penalty) == ("landmarks", "coefficients") else 1e-8
    close(model.transform(frame), oracle.project(terms), digits)
    same_posteriors(model.predict_log_proba(frame), oracle.log_posteriors(terms), digits)
    if kernel in ("rbf", "laplacian"):
        assert model.gamma_ == pytest.approx(oracle.width, rel=1e-12)


def test_numbers_named_as_categories() -> None:
    X, y = make_table(0, 2)
    rounds = np.round(X[:, :1])
    model = KernelDiscriminant(categorical_features=[0]).fit(np.c_[rounds, X[:, 1:]], y)
    values = np.unique(rounds)
    terms = np.c_[rounds == values, X[:, 1:]].astype(float)
    oracle = Oracle(terms, y, is_number=np.arange(terms.shape[1]) >= len(values))
    close(model.transform(np.c_[rounds, X[:, 1:]]), oracle.project(terms))


# --- Missing values
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "solver", "weights"), [("rbf", "dense", "whole"), ("poly", "landmarks", "none")]
)
def test_a_missing_value_at_predict_takes_the_mean_of_its_column(
    kernel: str, solver: SolverChoice, weights: str
) -> None:
    """Of a category, the shares of its values; so does a value that was never seen."""
    frame, terms, y = mixed_table()
    w = make_weights(weights, len(y))
    model = KernelDiscriminant(**KERNELS[kernel], solver=solver).fit(frame, y, sample_weight=w)
    mean = np.average(terms, axis=0, weights=w)
    asked, filled = frame[:4].copy().astype({"word": object}), terms[:4].copy()
    asked.loc[0, "a"] = np.nan
    asked.loc[1, "word"] = None
    asked.loc[2, ["word", "b"]] = [None, np.nan]
    filled[0, 0], filled[1, 1:4], filled[2, 1:4], filled[2, 6] = (
        mean[0],
        mean[1:4],
        mean[1:4],
        mean[6],
    )
    basis = None if solver == "dense" else model.basis_ids_
    oracle = Oracle(terms, y, **KERNELS[kernel], weight=w, is_number=IS_NUMBER, basis=basis)
    with pytest.warns(MissingValueWarning, match=f"4 cells.*{MEAN_WORDS}"):
        found = model.transform(asked)
    close(found, oracle.project(filled))
    with pytest.warns(MissingValueWarning, match=MEAN_WORDS):
        same_posteriors(model.predict_log_proba(asked), oracle.log_posteriors(filled))
    strange = frame[:4].assign(word="never seen")
    with pytest.warns(UnknownCategoryWarning, match=f"4 cells.*{MEAN_WORDS}"):
        found = model.transform(strange)
    unknown = terms[:4].copy()
    unknown[:, 1:4] = mean[1:4]
    close(found, oracle.project(unknown))


def test_nothing_but_missing_values_is_the_middle() -> None:
    X, y = make_table(0, 2)
    model = KernelDiscriminant().fit(X, y)
    with pytest.warns(MissingValueWarning):
        found = model.predict_proba([[np.nan] * 3])
    close(found, model.predict_proba(X.mean(axis=0)[None]), 1e-12)


@pairs(penalty=PENALTIES, solver=SOLVERS, missing=["drop_rows", "mean"])
def test_rows_with_missing_values_are_left_out_of_the_fit_or_take_the_mean(
    penalty: str, solver: str, missing: Missing
) -> None:
    X, y = make_table(0, 3)
    incomplete = X.copy()
    incomplete[[1, 4, 6], [0, 2, 0]] = np.nan
    kept = np.delete(np.arange(len(y)), [1, 4, 6]) if missing == "drop_rows" else np.arange(len(y))
    filled = np.where(np.isnan(incomplete), np.nanmean(incomplete, axis=0), incomplete)
    told: dict[str, Any] = {"penalty": penalty, "solver": solver}
    words = "3 cells.*left out" if missing == "drop_rows" else "mean of their column"
    with pytest.warns(MissingValueWarning, match=words):
        model = KernelDiscriminant(**told, missing=missing).fit(incomplete, y)
    other = KernelDiscriminant(**told).fit(filled[kept], y[kept])
    close(model.transform(X), other.transform(X), 1e-10)
    assert_array_equal(model.basis_ids_, kept[other.basis_ids_])
    mean = np.where(np.isnan(incomplete), filled[kept].mean(axis=0), incomplete)
    with pytest.warns(MissingValueWarning, match=MEAN_WORDS):
        close(model.transform(incomplete), other.transform(mean), 1e-10)


# --- Few rows, few columns -----------------------------------------------------------------------


def a_class_of_one_row() -> tuple[Float, Labels]:
    X, y = make_table(0, 3)
    kept = np.r_[np.flatnonzero(y == "ash")[:1], np.flatnonzero(y != "ash")]
    return X[kept], y[kept]


def rows_that_repeat() -> tuple[Float, Labels]:
    """K is singular; some rows are there in two classes."""
    X, y = make_table(2, 3)
    return np.vstack([X, X, X[:4]]), np.concatenate([y, y, np.roll(y, 1)[:4]])


def more_columns_than_rows() -> tuple[Float, Labels]:
    return np.random.default_rng(0).normal(size=(12, 60)) / 4, np.repeat([0, 1, 2], 4)


def two_rows() -> tuple[Float, Labels]:
    """No degree of freedom is left: the divisor is the weight of the rows."""
    return np.array([[0.0, 1.0], [2.0, 0.5]]), np.array(["b", "a"])


def one_column() -> tuple[Float, Labels]:
    return make_table(3, 3, 1)


SMALL: Final = (a_class_of_one_row, rows_that_repeat, more_columns_than_rows, two_rows, one_column)


@pairs(kernel=OF_ROWS, penalty=PENALTIES, solver=SOLVERS, small=SMALL)
def test_few_rows_or_columns(
    kernel: str, penalty: str, solver: str, small: Callable[[], tuple[Float, Labels]]
) -> None:
    X, y = small()
    oracle = Oracle(X, y, **KERNELS[kernel], penalty=penalty, ridge=0.05)
    model = fitted(oracle, solver=solver)
    if solver == "landmarks":
        oracle = replace(oracle, basis=model.basis_ids_)
    # what the condition of the system that is solved leaves of the digits, with a margin of ten
    digits = max(1e-8, 10 * float(np.finfo(float).eps) * model.condition_)
    close(model.eigenvalues_, oracle.eigenvalues, digits)
    close(model.transform(X), oracle.project(X), digits)
    same_posteriors(model.predict_log_proba(X), oracle.log_posteriors(X), digits)


@every_solver
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
def test_a_column_that_never_varies(kernel: KernelName, solver: SolverChoice) -> None:
    """It has the factor 0 where columns are scaled, which is noted; kernels of products see it."""
    X, y = make_table(0, 3)
    table = np.c_[X[:, 0], np.full(len(y), 7.3), X[:, 1:]]
    model = KernelDiscriminant(kernel, solver=solver).fit(table, y)
    if kernel in ("rbf", "laplacian"):
        other = KernelDiscriminant(kernel, solver=solver).fit(X, y)
        close(model.transform(table), other.transform(X), 1e-10)
        assert model.gamma_ == pytest.approx(other.gamma_, rel=1e-12)
        moved = table.copy()
        moved[:, 1] = -2.0  # it says nothing at predict either
        close(model.transform(moved), other.transform(X), 1e-10)
        assert model.fit_report_.notes == ("column 'x1' never varies and is left out",)
    else:
        basis = None if solver == "dense" else model.basis_ids_
        close(model.transform(table), Oracle(table, y, kernel, basis=basis).project(table), 1e-7)


def test_far_from_the_origin_rbf_keeps_its_digits() -> None:
    X, y = make_table(0, 3)
    wanted = KernelDiscriminant().fit(X, y).predict_log_proba(X)
    far = X + 2.0**30
    X = far - 2.0**30  # what is left of the digits
    found = KernelDiscriminant().fit(far, y).predict_log_proba(far)
    same_posteriors(found, KernelDiscriminant().fit(X, y).predict_log_proba(X), 1e-9)
    assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


@every_way
def test_a_class_whose_weight_is_zero_is_never_said(penalty: str, solver: str) -> None:
    """Its rows count for scale and width, which know no classes, and for nothing else."""
    X, y = make_table(0, 3)
    told: dict[str, Any] = {"ridge": 0.02, "penalty": penalty, "solver": solver}
    model = KernelDiscriminant(**told, class_weight={"ash": 0.0}).fit(X, y)
    rest = y != "ash"
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    assert (model.predict_proba(X)[:, 0] == 0).all()
    other = KernelDiscriminant(**told, gamma=1 / 3, scale=None)
    u = (X - X.mean(axis=0)) / X.std(axis=0)
    other.fit(u[rest], y[rest])
    close(model.predict_proba(X)[:, 1:], other.predict_proba(u))


# --- Rows that come in pieces --------------------------------------------------------------------


@every_penalty
def test_classes_may_come_later(penalty: str) -> None:
    """Landmarks are of the first call, although it has one class."""
    X, y = make_table(0, 3)
    told: dict[str, Any] = {"penalty": penalty, "ridge": 0.05, "gamma": 0.3, "scale": None}
    ash, birch = np.flatnonzero(y == "ash"), np.flatnonzero(y == "birch")
    model = KernelDiscriminant(**told)
    with pytest.warns(OneClassWarning, match="1 class only"):
        model.partial_fit(X[ash], y[ash], classes=["ash", "birch", "elm"])
    assert set(model.predict(X)) == {"ash"}
    model.partial_fit(X[birch], y[birch])
    both = np.concatenate([ash, birch])
    oracle = Oracle(X[both], y[both], **told, basis=model.basis_ids_)
    assert set(model.basis_ids_) <= set(range(len(ash)))
    logs = oracle.log_posteriors(X)
    same_posteriors(model.predict_log_proba(X)[:, :2], logs)
    assert (model.predict_proba(X)[:, 2] == 0).all()
    assert np.isnan(model.projected_means_[2]).all()
    model.set_params(priors={"ash": 0.2, "birch": 0.3, "elm": 0.5}).partial_fit(X[ash], y[ash])
    proba = model.predict_proba(X)
    assert (proba[:, 2] == 0).all()
    assert_allclose(proba.sum(axis=1), 1)


@every_penalty
def test_values_that_come_later_take_the_shares_of_the_first_call(penalty: str) -> None:
    frame, terms, y = mixed_table()
    late = (frame["word"] == "r").to_numpy()
    told: dict[str, Any] = {"penalty": penalty, "ridge": 0.05, "kernel": "linear"}
    model = KernelDiscriminant(**told).partial_fit(frame[~late], y[~late], classes=np.unique(y))
    with pytest.warns(UnknownCategoryWarning, match=f"{late.sum()} cells.*{MEAN_WORDS}"):
        model.partial_fit(frame[late], y[late])
    known = np.delete(terms, 3, axis=1)
    known[late, 1:3] = known[~late, 1:3].mean(axis=0)
    order = np.concatenate([np.flatnonzero(~late), np.flatnonzero(late)])
    oracle = Oracle(known[order], y[order], **told, basis=model.basis_ids_)
    with pytest.warns(UnknownCategoryWarning):
        close(model.transform(frame), oracle.project(known))


# --- Separation ----------------------------------------------------------------------------------


def test_a_column_that_is_constant_within_classes() -> None:
    """Of the linear kernel, J is infinite without a ridge."""
    X, y = make_table(0, 2)
    table = np.c_[X, y == "ash"].astype(float)
    oracle = Oracle(table, y, "linear", ridge=0.0)
    with pytest.warns(PerfectSeparationWarning):
        model = fitted(oracle)
    assert np.isinf(model.eigenvalues_).all()
    close(model.transform(table), oracle.project(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(fitted(oracle, ridge=1e-6).eigenvalues_).all()


# --- What is given stays as it is ----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_rows_are_neither_changed_nor_kept_by_reference(kernel: KernelName) -> None:
    """A kernel matrix is factored in place: not the one that was given."""
    X, y = make_table(0, 3)
    X = as_given(KERNELS[kernel], X, X)
    given = X.copy()
    model = KernelDiscriminant(kernel).fit(given, y)
    model.loo_proba(given, y)
    assert_array_equal(given, X)
    before = model.transform(X)
    given[:] = 0
    assert_array_equal(model.transform(X), before)


def test_folds_of_a_matrix() -> None:
    """scikit-learn takes rows and columns of a kernel matrix."""
    X, y = make_table(0, 3)
    K = as_given(KERNELS["precomputed"], X, X)
    found = cross_val_predict(KernelDiscriminant("precomputed"), K, y, cv=3, method="predict_proba")
    for rest, out in StratifiedKFold(3).split(X, y):
        oracle = Oracle(K[np.ix_(rest, rest)], y[rest], "precomputed")
        close(found[out], oracle.posteriors(K[np.ix_(out, rest)]))
