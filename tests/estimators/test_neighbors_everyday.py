"""Neighbors in daily use: mixed tables, holes, new words, types of numbers, and what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier

from sortal import NeighborsClassifier, datasets
from sortal.errors import MissingValueWarning, SortalWarning, UnknownCategoryWarning
from sortal.tasks.load import load

if TYPE_CHECKING:
    from pathlib import Path

IRIS = datasets.iris()
X, Y = IRIS.drop(columns="species"), IRIS["species"]
PEOPLE = pd.DataFrame({"age": [20.0, 30.0, 40.0, 60.0], "city": ["Oslo", "Lima", "Oslo", "Lima"]})
SAID = ["no", "no", "yes", "yes"]


def near(**options: Any) -> NeighborsClassifier:
    made: NeighborsClassifier = NeighborsClassifier(1, **options).fit(PEOPLE, SAID)
    return made


# --- Distances by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "distance"),
    [
        ({"metric": "euclidean"}, 5.0),
        ({"metric": "manhattan"}, 7.0),
        ({"metric": "minkowski", "p": 3.0}, 91.0 ** (1 / 3)),
        ({"metric": "minkowski", "p": np.inf}, 4.0),
        ({"metric": "hamming"}, 2.0),
        ({"metric": "gower"}, 3.5),
    ],
)
def test_each_distance(options: dict[str, Any], distance: float) -> None:
    cells = [[0.0, 0.0], [3.0, -9.0], [9.0, -4.0]]
    model = NeighborsClassifier(1, scale=None, **options).fit(cells, ["a", "b", "a"])
    distances, ids = model.kneighbors([[3.0, -4.0]], 3)
    distances = distances[ids == 0]
    assert distances == pytest.approx([distance], rel=1e-15)


def test_gower_takes_the_mean_over_columns_known_in_both() -> None:
    distances, ids = near().kneighbors(PEOPLE[:1], 4)
    assert ids.tolist() == [[0, 2, 1, 3]]
    assert distances == pytest.approx(np.array([[0.0, 0.25, 0.625, 1.0]]))


def test_a_hole_leaves_its_column_out() -> None:
    asked = pd.DataFrame({"age": [np.nan, 45.0], "city": ["Lima", None]})
    with pytest.warns(MissingValueWarning, match="2 cells .* left out of the distance"):
        distances, ids = near().kneighbors(asked, 2)
    assert ids.tolist() == [[1, 3], [2, 1]]
    assert distances == pytest.approx(np.array([[0.0, 0.0], [0.125, 0.375]]))


def test_a_row_of_which_nothing_is_known_has_no_neighbor_and_the_prior_stands() -> None:
    asked = pd.DataFrame({"age": [np.nan], "city": [None]}, dtype=object)
    model = NeighborsClassifier(1).fit(PEOPLE, ["no", "no", "no", "yes"])
    with pytest.warns(MissingValueWarning, match="2 cells"):
        assert model.predict_proba(asked).tolist() == [[0.75, 0.25]]
    with pytest.warns(MissingValueWarning, match="2 cells"):
        distances, ids = model.kneighbors(asked, 2)
    assert np.isinf(distances).all()
    assert ids.tolist() == [[-1, -1]]


@pytest.mark.parametrize(("unknown", "distance"), [("differs", 0.5), ("skip", 0.0)])
def test_a_new_word_differs_or_is_left_out(unknown: str, distance: float) -> None:
    asked = pd.DataFrame({"age": [30.0], "city": ["Rome"]})
    words = {"differs": "they differ from every row", "skip": "left out of the distance"}
    model = near(unknown=unknown)
    with pytest.warns(UnknownCategoryWarning, match=words[unknown]):
        distances, ids = model.kneighbors(asked, 1)
    assert (distances.tolist(), ids.tolist()) == ([[distance]], [[1]])


def test_a_level_that_no_row_has_is_unknown() -> None:
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"level": pd.Series(["low", "mid"] * 2, dtype=levels)})
    model = NeighborsClassifier(1).fit(frame, list("abab"))
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        model.predict(pd.DataFrame({"level": pd.Series(["high"], dtype=levels)}))


def test_hamming_takes_numbers_and_dates_as_they_are() -> None:
    frame = pd.DataFrame(
        {
            "x": [0.0, 1.5, 2.5],
            "n": [2**60, 2**60 + 1, 3],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]),
            "w": ["u", "v", "v"],
        }
    )
    model = NeighborsClassifier(1, "hamming").fit(frame, ["a", "b", "b"])
    asked = frame[:1].assign(x=-0.0)
    distances, ids = model.kneighbors(asked, 3)
    assert distances.tolist() == [[0.0, 4.0, 4.0]]
    assert ids.tolist() == [[0, 1, 2]]


# --- Votes ---------------------------------------------------------------------------------------


def test_equal_votes_are_for_the_class_that_sorts_first() -> None:
    model = NeighborsClassifier(2, scale=None).fit([[0.0], [2.0]], ["b", "a"])
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == ["a", "a", "a"]
    assert model.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]


def test_equal_distances_are_in_the_order_of_ids() -> None:
    model = NeighborsClassifier(1, scale=None).fit([[1.0], [-1.0], [1.0]], ["b", "a", "a"])
    assert model.predict([[0.0]]).tolist() == ["b"]
    assert model.kneighbors([[0.0]], 3)[1].tolist() == [[0, 1, 2]]


def test_costs_and_priors_move_the_decision() -> None:
    cells, y = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    model = NeighborsClassifier(3, scale=None).fit(cells, y)
    assert model.predict([[0.0]]).tolist() == ["a"]
    assert model.set_params(costs=[[0, 1], [9, 0]]).predict([[0.0]]).tolist() == ["b"]
    moved = NeighborsClassifier(3, scale=None, priors=[0.25, 0.75]).fit(cells, y)
    assert moved.predict_proba([[0.0]]) == pytest.approx(np.array([[0.25, 0.75]]))


def test_where_the_definition_is_the_same_so_is_the_answer_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    T, Q, y = rng.normal(size=(200, 4)), rng.normal(size=(80, 4)), rng.integers(0, 3, 200)
    for weights in ("uniform", "distance"):
        theirs = KNeighborsClassifier(7, weights=weights).fit(T, y)
        ours = NeighborsClassifier(7, scale=None, weights=weights).fit(T, y)
        np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), rtol=1e-9)
        assert (ours.predict(Q) == theirs.predict(Q)).all()
        distances, places = theirs.kneighbors(Q)
        found, ids = ours.kneighbors(Q)
        assert (ids == places).all()
        np.testing.assert_allclose(found, distances, rtol=1e-12)


def test_log_probabilities_are_logarithms() -> None:
    model = NeighborsClassifier().fit(X, Y)
    with np.errstate(divide="ignore"):
        assert (model.predict_log_proba(X) == np.log(model.predict_proba(X))).all()


# --- Neighbors of rows themselves ----------------------------------------------------------------


def test_a_row_is_no_neighbor_of_itself() -> None:
    model = NeighborsClassifier(2, scale=None).fit([[0.0], [1.0], [3.0]], ["a", "b", "a"])
    distances, ids = model.kneighbors()
    assert ids.tolist() == [[1, 2], [0, 2], [1, 0]]
    assert distances.tolist() == [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0]]
    assert model.kneighbors(n_neighbors=5, return_distance=False)[0].tolist() == [1, 2, -1, -1, -1]
    assert np.isinf(model.kneighbors([[0.0]], 5)[0][0]).tolist() == [False] * 3 + [True] * 2


def test_neighbors_are_rows_whatever_they_weigh() -> None:
    cells, y = [[0.0], [1.0], [3.0], [4.0]], ["a", "b", "a", "b"]
    model = NeighborsClassifier(3, scale=None).fit(cells, y, [5, 0, 1, 1])
    distances, ids = model.kneighbors([[0.5]])
    assert ids.tolist() == [[0, 2, 3]]
    assert distances.tolist() == [[0.5, 2.5, 3.5]]
    assert model.predict_proba([[0.5]]).tolist() == [[1.0, 0.0]]


# --- Types, tables, attributes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [("float32", "float32"), ("float16", "float32"), ("float64", "float64"), ("int8", "float64")],
)
def test_numbers_are_kept_as_they_came_and_measured_in_float64(given: str, kept: str) -> None:
    cells = np.array([[0.1, 7.0], [0.7, 3.0], [12.3, 1.0]]).astype(given)
    asked = np.array([[0.3, 5.0]])
    model = NeighborsClassifier(1, scale=None).fit(cells, ["a", "b", "a"])
    assert model._model.numbers.dtype == kept
    assert not np.shares_memory(model._model.numbers, cells)
    wide = NeighborsClassifier(1, scale=None).fit(cells.astype(np.float64), ["a", "b", "a"])
    assert (model.kneighbors(asked, 3)[0] == wide.kneighbors(asked, 3)[0]).all()


def test_what_is_done_to_the_table_later_does_not_matter() -> None:
    cells = X.to_numpy().copy()
    model = NeighborsClassifier().fit(cells, Y)
    wanted = model.predict_proba(X.to_numpy())
    cells[:] = 0.0
    assert (model.predict_proba(X.to_numpy()) == wanted).all()


@pytest.mark.parametrize("to", [pd.DataFrame, pl.from_pandas])
def test_y_may_be_the_name_of_a_column(to: Any) -> None:
    model = NeighborsClassifier().fit(to(IRIS), "species")
    assert model.score(to(IRIS), "species") > 0.9
    assert model.predict(to(X[:1])).tolist() == ["setosa"]


def test_the_attributes_of_a_fit() -> None:
    model = NeighborsClassifier().fit(X, Y)
    assert (model.metric_, model.n_neighbors_, model.weights_) == ("euclidean", 5, "uniform")
    assert model.scale_ == pytest.approx(dict(X.std(ddof=0)))
    assert model.ids_.tolist() == list(range(150))
    assert model.search_ in ("tree", "bytes", "bits", "scan")
    assert model.size_ == 150 * 5
    assert model.fit_report_.rows == 150
    assert model.n_features_in_ == 4


def test_the_curve_is_a_frame_of_the_library_that_came_in(tmp_path: Path) -> None:
    model = NeighborsClassifier([1, 5]).fit(pl.from_pandas(IRIS), "species")
    assert isinstance(model.loo_curve_.to_frame(), pl.DataFrame)
    model.save(tmp_path / "near.sortal")
    again = load(tmp_path / "near.sortal")
    assert again.loo_curve_ == model.loo_curve_


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_threads_change_nothing(n_jobs: int | None) -> None:
    model = NeighborsClassifier("loo", n_jobs=n_jobs).fit(X, Y)
    alone = NeighborsClassifier("loo", n_jobs=1).fit(X, Y)
    assert model.loo_curve_ == alone.loo_curve_
    assert (model.predict_proba(X) == alone.predict_proba(X)).all()


@pytest.mark.filterwarnings("error")
def test_a_table_without_holes_and_new_words_is_taken_without_a_word() -> None:
    model = NeighborsClassifier().fit(PEOPLE.assign(again=[1, 2, 3, 4])[:4], SAID, [2, 2, 2, 2])
    assert len(model.predict(PEOPLE.assign(again=[1, 2, 3, 4]))) == 4
    assert issubclass(MissingValueWarning, SortalWarning)
