"""KernelDiscriminant in use: pieces, unknown values, matrices, memory, progress, pickles."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sortal import KernelDiscriminant, datasets, load
from sortal.data import sources
from sortal.errors import (
    InputError,
    NotOfferedError,
    OneClassWarning,
    OptionError,
    SeparationWarning,
    SortalWarning,
    UnknownCategoryError,
    UnknownCategoryWarning,
)
from sortal.learners import kernel_sizes
from sortal.models import kernel as kernel_model

IRIS = datasets.iris()
X, Y = IRIS.drop(columns="species"), IRIS["species"].to_numpy()
SOLVERS = ("dense", "landmarks")


def own_kernel(A: Any, B: Any) -> Any:
    """A kernel that pickles."""
    return np.exp(-0.25 * ((A[:, None] - B) ** 2).sum(axis=2))


def mixed(n: int = 60) -> tuple[pd.DataFrame, Any]:
    """A number and a word."""
    rng = np.random.default_rng(3)
    k = np.arange(n) % 2
    words = np.array(["a", "b"], dtype=object)[(k + (rng.random(n) < 0.3)) % 2]
    return pd.DataFrame({"x": k + rng.normal(size=n), "word": words}), k


# --- Pieces --------------------------------------------------------------------------------------


def test_a_fit_on_all_rows_goes_on_by_landmarks_among_them() -> None:
    X, y = mixed()
    dense = KernelDiscriminant().fit(X[:40], y[:40])
    assert dense.solver_ == "dense"
    assert not hasattr(dense, "n_landmarks_")
    dense.partial_fit(X[40:], y[40:])
    pieces = KernelDiscriminant().partial_fit(X[:40], y[:40])
    pieces.partial_fit(X[40:], y[40:])
    assert (dense.solver_, dense.n_landmarks_) == ("landmarks", pieces.n_landmarks_)
    assert dense.fit_report_.rows == 60
    assert_array_equal(dense.basis_ids_, pieces.basis_ids_)
    assert_allclose(dense.predict_proba(X), pieces.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_so_does_one_that_was_loaded(tmp_path: Any, weights: str | None) -> None:
    X, y = mixed()
    w = {"whole": np.arange(60) % 3, "fractions": np.arange(60) % 3 / 4}.get(weights or "")
    made = KernelDiscriminant(class_weight="balanced").fit(X, y, w)
    made.save(tmp_path / "model.sortal")
    again = load(tmp_path / "model.sortal")
    for model in (made, again):
        model.partial_fit(X, y, sample_weight=w)
    assert_allclose(again.predict_proba(X), made.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "precomputed"}, "kernel='precomputed' needs all rows"),
        ({"solver": "dense"}, "set solver='landmarks'"),
        ({"ridge": "loo"}, "give a number"),
    ],
)
def test_where_rows_cannot_come_in_pieces_there_is_no_partial_fit(
    options: dict[str, Any], words: str
) -> None:
    made = KernelDiscriminant(**options)
    assert not hasattr(made, "partial_fit")
    assert "Landmarks" in (KernelDiscriminant.partial_fit.__doc__ or "").title()
    with pytest.raises(NotOfferedError, match=words):
        made.partial_fit(X, Y)
    assert not hasattr(KernelDiscriminant(), "forget")


def test_blocks_of_one_class_go_on_with_more() -> None:
    one = Y == "setosa"
    with pytest.warns(OneClassWarning, match="1 class only"):
        made = KernelDiscriminant(n_landmarks=10).partial_fit(X[one], Y[one])
    assert set(made.predict(X)) == {"setosa"}
    made.partial_fit(X[~one], Y[~one])
    assert made.n_landmarks_ == 10
    assert made.basis_ids_.max() < 50
    assert made.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("change", [{"gamma": 2.0}, {"kernel": "linear"}, {"n_landmarks": 3}])
def test_other_options_do_not_fit_the_rows_so_far(change: dict[str, Any]) -> None:
    made = KernelDiscriminant(n_landmarks=10).partial_fit(X, Y)
    before = made.predict_proba(X)
    with pytest.raises(OptionError, match="set them back"):
        made.set_params(**change).partial_fit(X, Y)
    assert_array_equal(made.predict_proba(X), before)
    made = KernelDiscriminant(n_landmarks=10).partial_fit(X, Y).set_params(missing="mean")
    with pytest.raises(OptionError, match="missing='mean' was set"):
        made.partial_fit(X, Y)


def test_the_ridge_and_the_penalty_may_change_between_pieces() -> None:
    made = KernelDiscriminant(n_landmarks=10, ridge=0.1).partial_fit(X, Y)
    made.set_params(ridge=0.01, penalty="coefficients").partial_fit(X, Y)
    once = KernelDiscriminant(n_landmarks=10, ridge=0.01, penalty="coefficients")
    once.partial_fit(X, Y).partial_fit(X, Y)
    assert_array_equal(made.predict_proba(X), once.predict_proba(X))


def test_a_value_that_the_first_rows_did_not_have_is_unknown() -> None:
    X, y = mixed()
    later = X.assign(word="c")
    made = KernelDiscriminant(n_landmarks=10).partial_fit(X, y)
    with pytest.warns(UnknownCategoryWarning, match="60 cells.*the mean of their column"):
        made.partial_fit(later, y)
    assert made.terms_.tolist() == ["x", "word=a", "word=b"]
    assert made.fit_report_.rows == 120
    strict = KernelDiscriminant(n_landmarks=10, unknown="error").partial_fit(X, y)
    with pytest.raises(UnknownCategoryError, match="never seen"):
        strict.partial_fit(later, y)
    assert strict.fit_report_.rows == 60


# --- Kernel matrices and functions ---------------------------------------------------------------


def test_the_columns_of_a_kernel_matrix_are_rows_by_their_places() -> None:
    u = X.to_numpy()
    K = pd.DataFrame(u @ u.T, columns=[f"row {i}" for i in range(len(u))])
    made = KernelDiscriminant("precomputed").fit(K, Y)
    plain = KernelDiscriminant("linear").fit(X, Y)
    assert_allclose(made.predict_proba(K), plain.predict_proba(X), atol=1e-8)
    turned = K.to_numpy()[:, ::-1]
    named = pd.DataFrame(turned, columns=K.columns[::-1])
    turned_plain = pd.DataFrame(turned, columns=K.columns)
    assert_array_equal(made.transform(named), made.transform(turned_plain))
    assert made.predict_proba(K[:5]).shape == (5, 3)
    assert made.__sklearn_tags__().input_tags.pairwise
    assert not plain.__sklearn_tags__().input_tags.pairwise


def test_rows_without_weight_keep_their_column_of_a_kernel_matrix() -> None:
    u, w = X.to_numpy(), np.arange(150) % 3
    made = KernelDiscriminant("precomputed").fit(u @ u.T, Y, w)
    plain = KernelDiscriminant("linear").fit(u, Y, w)
    assert_array_equal(made.basis_ids_, np.flatnonzero(w))
    assert_allclose(made.predict_proba(u @ u.T), plain.predict_proba(u), atol=1e-8)
    assert_allclose(made.loo_proba(u @ u.T, Y, w), plain.loo_proba(u, Y, w), atol=1e-7)


def test_words_are_no_kernel_values() -> None:
    with pytest.raises(InputError, match=r"takes a matrix of numbers.*in 'word'"):
        KernelDiscriminant("precomputed").fit(*mixed())


def test_a_kernel_of_your_own_pickles_and_is_not_kept_in_a_file(tmp_path: Any) -> None:
    made = KernelDiscriminant(own_kernel, scale="std").fit(X, Y)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301  (our own)
    assert_array_equal(again.predict_proba(X), made.predict_proba(X))
    assert (made.kernel_.name, made.gamma_) == ("callable", 1.0)
    with pytest.raises(OptionError, match="is a function, and a model file holds data only"):
        made.save(tmp_path / "model.sortal")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("solver", SOLVERS)
def test_fitted_estimators_pickle(solver: str) -> None:
    made = KernelDiscriminant(solver=solver).fit(X, Y)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301  (our own)
    assert_array_equal(again.predict_log_proba(X), made.predict_log_proba(X))


# --- Sizes ---------------------------------------------------------------------------------------


def test_many_rows_and_little_memory_have_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_sizes, "MOST_DENSE", 100)
    assert KernelDiscriminant(n_landmarks=20).fit(X, Y).solver_ == "landmarks"
    assert KernelDiscriminant().fit(X[50:], Y[50:]).solver_ == "dense"
    monkeypatch.setattr(kernel_sizes, "free_memory", lambda: 1e4)
    assert KernelDiscriminant().fit(X[50:], Y[50:]).solver_ == "landmarks"
    words = r"kernel matrix of 150 rows needs 0\.0 GB.*0\.0 GB: use solver='landmarks'"
    with pytest.raises(InputError, match=words):
        KernelDiscriminant(solver="dense").fit(X, Y)


def test_tiles_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = KernelDiscriminant(n_jobs=1).fit(X, Y)
    before = made.predict_log_proba(X)
    for rows, threads in ((1, 2), (7, 3)):
        monkeypatch.setattr(kernel_model, "TILE_ROWS", rows)
        assert_allclose(made.set_params(n_jobs=threads).predict_log_proba(X), before, rtol=1e-9)
    monkeypatch.setattr(sources, "BLOCK_CELLS", 28)
    again = KernelDiscriminant(n_jobs=2).fit(X, Y)
    assert_allclose(again.predict_log_proba(X), before, rtol=1e-7)


def test_progress_of_a_ridge_that_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Block by block, where landmarks are asked for every row that is left out."""
    monkeypatch.setattr(sources, "BLOCK_CELLS", 28)
    told: list[int] = []
    made = KernelDiscriminant(solver="landmarks", n_landmarks=10, ridge="loo")
    made.set_params(progress=lambda done, _: told.append(done)).fit(X, Y)
    assert told == sorted(set(told))
    assert len([done for done in told if 40 < done < 95]) > 5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("ridge", [0.01, "loo"])
def test_progress_comes_to_its_end_and_may_end_the_fit(solver: str, ridge: Any) -> None:
    told: list[tuple[int, int]] = []
    KernelDiscriminant(solver=solver, ridge=ridge, progress=lambda *p: told.append(p)).fit(X, Y)
    assert told == sorted(set(told))
    assert told[-1] == (100, 100)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt(f"{done} of {total}")

    made = KernelDiscriminant(solver=solver, ridge=ridge, progress=stop)
    with pytest.raises(KeyboardInterrupt, match="of 100"):
        made.fit(X, Y)
    assert not hasattr(made, "classes_")


# --- What is said --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_columns_far_from_0_are_warned_of_where_they_are_multiplied(
    kernel: str, solver: str
) -> None:
    far = X.assign(petal_width=X["petal_width"] + 1e6)
    KernelDiscriminant(solver=solver).fit(far, Y)
    with pytest.warns(SortalWarning, match="The values of 'petal_width' lie so far from 0"):
        KernelDiscriminant(kernel=kernel, ridge=0.01, solver=solver).fit(far, Y)


def test_columns_that_never_vary_are_noted() -> None:
    made = KernelDiscriminant().fit(X.assign(still=0.1), Y)
    assert made.fit_report_.notes == ("column 'still' never varies and is left out",)
    assert_allclose(
        made.predict_proba(X.assign(still=7)), KernelDiscriminant().fit(X, Y).predict_proba(X)
    )


def test_fewer_landmarks_than_asked_for_are_noted() -> None:
    made = KernelDiscriminant("linear", solver="landmarks").fit(X, Y)
    assert made.n_landmarks_ == 4
    assert made.fit_report_.notes[0].startswith("4 landmarks describe all rows")


def test_a_kernel_that_separates_all_rows_is_warned_of() -> None:
    rows = X.drop_duplicates().index
    with pytest.warns(SeparationWarning, match="separates every training set"):
        made = KernelDiscriminant(ridge=0).fit(X.loc[rows], Y[rows])
    assert np.isinf(made.eigenvalues_).all()
    assert made.score(X, Y) == 1.0


def test_classes_to_come_have_no_mean() -> None:
    made = KernelDiscriminant(n_landmarks=10).partial_fit(X, Y, classes=["rosa", *np.unique(Y)])
    assert made.classes_.tolist() == ["rosa", "setosa", "versicolor", "virginica"]
    assert np.isnan(made.projected_means_[0]).all()
    assert (made.predict_proba(X)[:, 0] == 0).all()
    assert made.get_feature_names_out().tolist() == [f"kerneldiscriminant{q}" for q in range(2)]


def test_the_size_is_that_of_basis_coefficients_and_means() -> None:
    made = KernelDiscriminant(solver="landmarks", n_landmarks=10).fit(X, Y)
    assert made.size_ == 10 * (4 + 2) + 3 * 2


def test_who_counts_landmarks_has_them() -> None:
    X, y = mixed()
    assert KernelDiscriminant(n_landmarks=10).fit(X, y).n_landmarks_ == 10
    with pytest.raises(OptionError, match="n_landmarks=61 but 60 rows take part"):
        KernelDiscriminant(n_landmarks=61).fit(X, y)


def test_coordinates_come_as_a_frame_where_that_is_asked_for() -> None:
    X, y = mixed()
    model = KernelDiscriminant().set_output(transform="pandas").fit(X, y)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())


def test_progress_is_a_function() -> None:
    with pytest.raises(OptionError, match="progress=1 cannot be used"):
        KernelDiscriminant(progress=1).fit(*mixed())  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", ["dense", "landmarks"])
def test_a_kernel_so_narrow_that_no_row_sees_another(solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] > 0
    model = KernelDiscriminant(gamma=1e16, solver=solver).fit(X, y)
    assert len(model.basis_ids_) == 80
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
@pytest.mark.parametrize("solver", ["dense", "landmarks"])
@pytest.mark.filterwarnings("ignore::sortal.errors.SeparationWarning")
def test_a_ridge_below_rounding_is_none(solver: str, penalty: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] > rng.normal(size=30)
    told: dict[str, Any] = {"kernel": "laplacian", "solver": solver, "penalty": penalty}
    tiny, none = (KernelDiscriminant(ridge=ridge, **told).fit(X, y) for ridge in (1e-300, 0.0))
    assert_allclose(tiny.transform(X), none.transform(X), rtol=1e-9)
    assert_allclose(tiny.loo_proba(X, y), none.loo_proba(X, y), rtol=1e-9)


def test_weights_of_any_unit_have_the_same_default_ridge() -> None:
    X, y = mixed()
    shares = np.full(60, 1 / 60)
    assert KernelDiscriminant().fit(X, y, sample_weight=shares).ridge_ == 2 / 60
    assert KernelDiscriminant().fit(X, y, sample_weight=np.full(60, 3)).ridge_ == 2 / 180
