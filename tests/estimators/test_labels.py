"""Labels come back in the type in which they came, from every learner of the registry."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

import sortal
from sortal.errors import LabelError
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sortal.tasks.registry import Learner

X, CODES = load_iris(return_X_y=True)
X, CODES = X[::3], CODES[::3]
WORDS: Final = np.array(["setosa", "versicolor", "virginica"])[CODES]
FOLDS: Final = list(StratifiedKFold(3).split(X, CODES))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def category(labels: Any) -> pd.Series:
    return pd.Series(labels).astype("category")


# Labels of one kind, and the type of what is predicted.
KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "category of int64": (category(CODES), np.int64),
    "category of int8": (category(CODES.astype(np.int8)), np.int8),
    "category of Int64": (category(pd.array(CODES, dtype="Int64")), np.int64),
    "category of bool": (category(CODES > 0), np.bool_),
    "category of float": (category(CODES.astype(float)), np.float64),
    "category of words": (category(WORDS), object),
    "objects, ints": (CODES.astype(object), np.int64),
    "objects, bools": (pd.Series(CODES > 0, dtype=object), np.bool_),
    "objects, floats": (CODES.astype(float).astype(object), np.float64),
    "objects, numbers and words": (np.array([1, "a", "b"], dtype=object)[CODES], object),
    "a series of int8": (pd.Series(CODES, dtype="int8"), np.int8),
    "polars' Int16": (pl.Series(CODES, dtype=pl.Int16), np.int16),
    "polars' Categorical": (pl.Series(WORDS, dtype=pl.Categorical), object),
    "polars' Enum": (pl.Series(WORDS, dtype=pl.Enum(sorted(set(WORDS))[::-1])), object),
    "Arrow's dictionary": (pa.chunked_array([pa.array(CODES).dictionary_encode()]), np.int64),
}


# Every kind with two learners, every learner with four kinds.
PAIRS: Final = [
    pytest.param(learner, kind, id=f"{learner.name}-{kind}")
    for j, kind in enumerate(KINDS)
    for i, learner in enumerate(learners())
    if (i + j) % 4 == 0
]


@pytest.mark.parametrize(("learner", "kind"), PAIRS)
def test_what_is_predicted_has_the_type_of_the_labels(
    learner: Learner, kind: str, tmp_path: Path
) -> None:
    y, dtype = KINDS[kind]
    model = learner.make().fit(X, y)
    predicted, given = model.predict(X), pd.Series(y if isinstance(y, np.ndarray) else y.to_numpy())
    assert predicted.dtype == model.classes_.dtype == dtype
    right = [bool(a == b) for a, b in zip(predicted, given, strict=True)]
    assert model.score(X, y) == pytest.approx(np.mean(right), rel=1e-12)
    assert np.mean(right) > 0.8
    model.save(tmp_path / "model.sortal")
    again = sortal.load(tmp_path / "model.sortal").predict(X)
    assert again.dtype == dtype
    assert (again == predicted).all()


@pytest.mark.parametrize("learner", learners(), ids=lambda learner: learner.name)
def test_folds_and_grids_score_such_labels(learner: Learner) -> None:
    number = learners().index(learner) % 3
    y, _ = KINDS[["category of int64", "category of bool", "objects, ints"][number]]
    plain = CODES > 0 if number == 1 else CODES
    model = learner.make()
    scores = cross_val_score(model, X, y, cv=FOLDS, error_score="raise")
    assert (scores == cross_val_score(model, X, plain, cv=FOLDS)).all()
    grid = GridSearchCV(model, {"missing": [model.missing]}, cv=FOLDS, error_score="raise")
    assert grid.fit(X, y).best_score_ == pytest.approx(scores.mean(), rel=1e-12)


INTERVALS: Final = pd.cut(pd.Series(X[:, 0]), 3)


@pytest.mark.parametrize(
    "y",
    [
        INTERVALS,
        INTERVALS.astype(object),
        INTERVALS.to_numpy(),
        pd.Series(pd.arrays.IntervalArray(INTERVALS)),
        pd.Series(pd.PeriodIndex(np.array(["2020-01", "2020-02", "2020-03"])[CODES], freq="M")),
    ],
    ids=["category", "objects", "array", "interval", "period"],
)
def test_intervals_are_refused_and_their_names_are_not(y: Any) -> None:
    model = sortal.LinearDiscriminant()
    with pytest.raises(LabelError, match=r"intervals or periods.*y\.astype\(str\)"):
        model.fit(X, y)
    names = pd.Series(y).astype(str)
    assert set(model.fit(X, names).predict(X)) <= set(names)


def test_numbers_of_two_types_are_numbers() -> None:
    model = sortal.DiscreteBayes().partial_fit(X, CODES).partial_fit(X, CODES.astype(float))
    assert model.predict(X).dtype == np.float64


def test_a_score_needs_labels_of_the_same_kind() -> None:
    model = sortal.LinearDiscriminant().fit(X, CODES)
    with pytest.raises(LabelError, match=r"y holds 'setosa', and the classes of the fit are 0, 1"):
        model.score(X, WORDS)
    with pytest.raises(LabelError, match="first in row 1: every row needs a label"):
        model.score(X[:2], [0, None])
    assert model.score(X, CODES + 7) == 0  # classes that the fit did not have
    assert model.score(X, CODES, sample_weight=np.arange(len(X))) > 0.9
