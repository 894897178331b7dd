"""Out-of-fold predictions: kept where they are asked for, the same as by hand, and else not."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from sortal import DiscreteBayes, datasets
from sortal.errors import MissingValueWarning
from sortal.tasks.compare import run_comparison
from sortal.tasks.comparing.budget import Run
from sortal.tasks.comparing.contest import Entrant, Problem, run_fold
from sortal.tasks.comparing.folds import Folds
from sortal.tasks.comparing.kept import Kept, join_kept
from sortal.tasks.registry import find
from sortal.tasks.training import training_rows

if TYPE_CHECKING:
    from sortal.tasks.comparing.comparison import Comparison

OPTIONS: dict[str, Any] = {"learners": ["bayes", "fisher"], "baselines": ["majority"]}
OPTIONS |= {"metric": "accuracy", "folds": 3, "repeats": 2, "budget": 60.0, "level": 0.05}
OPTIONS |= {"tune": False, "drop": (), "categories": (), "random_state": 5, "n_jobs": 1}
OPTIONS |= {"progress": None}


def table() -> pd.DataFrame:
    """Some rows have no label."""
    frame = datasets.iris()
    frame.loc[[0, 70, 149], "species"] = None
    return frame


@pytest.fixture(scope="module")
def found(one_process: None) -> Comparison:
    with pytest.warns(MissingValueWarning, match="3 of 150 rows"):
        return run_comparison(table(), "species", keep=True, **OPTIONS)


def test_learners_are_kept_and_baselines_are_not(found: Comparison) -> None:
    assert set(found.kept) == {"bayes", "fisher"}
    for kept in found.kept.values():
        np.testing.assert_array_equal(kept.rows, np.arange(147))
        assert kept.whole
        assert kept.words.startswith("Predictions for all 147 rows, each by a model that had not")
        assert kept.truth.dtype == kept.said.dtype == np.dtype(np.int32)
    truth = np.asarray(found.settings.classes, dtype=object)[found.kept["bayes"].truth]
    assert truth.tolist() == table()["species"].dropna().tolist()


def test_they_are_those_of_the_first_repeat(found: Comparison) -> None:
    rows = table().dropna()
    X, y = rows.drop(columns="species"), rows["species"]
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    shares = cross_val_predict(DiscreteBayes(), X, y, cv=folds, method="predict_proba")
    said = cross_val_predict(DiscreteBayes(), X, y, cv=folds)
    kept = found.kept["bayes"]
    np.testing.assert_array_equal(kept.probabilities, shares)
    assert found.kept["fisher"].probabilities is None
    assert np.asarray(found.settings.classes)[kept.said].tolist() == said.tolist()
    # and what was scored
    scores = [accuracy_score(y.iloc[test], said[test]) for _, test in folds.split(X, y)]
    assert tuple(scores) == found["bayes"].scores[:3]


def test_nothing_else_knows_of_it(found: Comparison) -> None:
    with pytest.warns(MissingValueWarning):
        rows = training_rows(table(), "species", (), (), {})
    plain = run_comparison(rows, "species", path="somewhere.csv", **OPTIONS)
    assert plain.kept == {}
    assert plain.settings.path == "somewhere.csv"
    assert plain.settings.left_out == 3
    assert plain.scores == found.scores
    assert "kept" not in found.to_dict()
    assert plain.to_text(times=False) == found.to_text(times=False)
    assert pickle.loads(pickle.dumps(found)).kept["bayes"].of == 147  # noqa: S301
    assert rows.places.tolist() == [i for i in range(150) if i not in (0, 70, 149)]


# One fold at a time, without workers


def problem(**changes: Any) -> Problem:
    iris = datasets.iris()
    given = {
        "frame": iris.drop(columns="species"),
        "y": pd.factorize(iris["species"])[0].astype(np.int64),
        "labels": np.array(["setosa", "versicolor", "virginica"], dtype=object),
        "folds": Folds(3, 2, 0),
        "metric": "accuracy",
        "keep": True,
    }
    return Problem(**{**given, **changes})


def bayes() -> Entrant:
    found = find("bayes")
    return Entrant("bayes", found.title, probabilistic=True, learner=found)


def run_of(here: Problem, folds: list[int], n_rows: int | None = None) -> Run:
    run = Run("bayes", here.folds.n, 100, 10, n_rows)
    run.results = {fold: run_fold(here, bayes(), fold, n_rows) for fold in folds}
    return run


def test_later_repeats_and_what_is_not_asked_for_stay_with_the_worker() -> None:
    later = run_fold(problem(), bayes(), 3, None)
    unasked = run_fold(problem(keep=False), bayes(), 0, None)
    baseline = run_fold(problem(), Entrant("majority", "", probabilistic=True), 0, None)
    for result in (later, unasked, baseline):
        assert result.scores["accuracy"] > 0
        assert result.said is None
        assert result.probabilities is None


def test_folds_that_came_in_any_order_and_not_all_of_them() -> None:
    here = problem()
    run = run_of(here, [2, 0, 4])
    kept = join_kept(run, here)
    assert isinstance(kept, Kept)
    expected = np.sort(np.concatenate([here.split[0][1], here.split[2][1]]))
    np.testing.assert_array_equal(kept.rows, expected)
    np.testing.assert_array_equal(kept.truth, here.y[expected])
    assert not kept.whole
    assert "100 of 150 rows (2 of 3 folds were done)" in kept.words
    each = run_fold(here, bayes(), 2, None)
    places = np.searchsorted(kept.rows, here.split[2][1])
    np.testing.assert_array_equal(kept.said[places], each.said)
    assert kept.probabilities is not None
    np.testing.assert_array_equal(kept.probabilities[places], each.probabilities)
    # they are joined, and not there twice
    assert all(result.said is None for result in run.results.values())
    assert join_kept(run, here) is None


def test_a_part_of_the_training_rows_is_said() -> None:
    here = problem(folds=Folds(3, 1, 0))
    kept = join_kept(run_of(here, [0, 1, 2], 60), here)
    assert kept is not None
    assert "trained on about 60 rows" in kept.words


def test_tuned_models_are_kept_too() -> None:
    result = run_fold(problem(tune=True), bayes(), 0, None)
    assert result.chosen
    assert result.said is not None
    assert result.probabilities is not None


def test_probabilities_have_a_column_for_every_class() -> None:
    y = np.repeat([0, 1, 2], 50).astype(np.int64)
    y[:2] = 3  # in one of two folds, nothing to learn it from
    labels = np.array(["setosa", "versicolor", "virginica", "rare"], dtype=object)
    here = problem(y=y, labels=labels, folds=Folds(2, 1, 0))
    train, test = here.split[0]
    here.split[0] = (train[y[train] != 3], test)
    result = run_fold(here, bayes(), 0, None)
    assert result.probabilities is not None
    assert result.probabilities.shape == (len(test), 4)
    assert not result.probabilities[:, 3].any()
