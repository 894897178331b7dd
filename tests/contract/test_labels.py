"""Labels come back in the type in which they came, from every learner of the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from tests.contract.learners import (
    DEFAULTS,
    LIBRARIES,
    Setting,
    assert_same,
    every_learner,
    fitted,
    labels,
    mixed,
)

import sortal
from sortal.base.save import parts_of, restore
from sortal.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

CODES: Final = np.arange(30) % 3
X: Final = np.random.default_rng(0).normal(size=(30, 3)) + 6 * np.eye(3)[CODES]
WORDS: Final = np.array(["c", "a", "b"])[CODES]
LARGE: Final = 2**63 + CODES.astype(np.uint64)
MIXED: Final = np.array([1, "a", "b"], dtype=object)[CODES]


def category(given: Any) -> pd.Series:
    return pd.Series(given).astype("category")


# Labels of one kind, what they are in Python, and the type of what is predicted.
KINDS: Final[dict[str, Callable[[], tuple[Any, Any, Any]]]] = {
    "words": lambda: (WORDS, WORDS, "<U1"),
    "a list of words": lambda: (WORDS.tolist(), WORDS, "<U1"),
    "a list of numbers and words": lambda: (MIXED.tolist(), MIXED, object),
    "whole numbers": lambda: (CODES, CODES, np.int64),
    "uint8": lambda: (CODES.astype(np.uint8), CODES, np.uint8),
    "fractions": lambda: (CODES.astype(float), CODES.astype(float), np.float64),
    "truth values": lambda: (CODES > 0, CODES > 0, np.bool_),
    "category of int64": lambda: (category(CODES), CODES, np.int64),
    "category of int8": lambda: (category(CODES.astype(np.int8)), CODES, np.int8),
    "category of Int64": lambda: (category(pd.array(CODES, dtype="Int64")), CODES, np.int64),
    "category of bool": lambda: (category(CODES > 0), CODES > 0, np.bool_),
    "category of float": lambda: (category(CODES / 1), CODES.astype(float), np.float64),
    "category of words": lambda: (category(WORDS), WORDS, object),
    "a Categorical": lambda: (pd.Categorical(WORDS), WORDS, object),
    "objects, ints": lambda: (CODES.astype(object), CODES, np.int64),
    "objects, bools": lambda: (pd.Series(CODES > 0, dtype=object), CODES > 0, np.bool_),
    "objects, floats": lambda: ((CODES / 1).astype(object), CODES.astype(float), np.float64),
    "objects, numbers and words": lambda: (MIXED, MIXED, object),
    "a series with another index": lambda: (pd.Series(WORDS, index=[9] * 30), WORDS, object),
    "a series of int8": lambda: (pd.Series(CODES, dtype="int8"), CODES, np.int8),
    "a series of Int64": lambda: (pd.Series(CODES, dtype="Int64"), CODES, np.int64),
    "polars' words": lambda: (pl.Series(WORDS), WORDS, object),
    "polars' Int16": lambda: (pl.Series(CODES, dtype=pl.Int16), CODES, np.int16),
    "polars' UInt64": lambda: (pl.Series(LARGE), LARGE, np.uint64),
    "polars' Boolean": lambda: (pl.Series(CODES > 0), CODES > 0, np.bool_),
    "polars' Categorical": lambda: (pl.Series(WORDS, dtype=pl.Categorical), WORDS, object),
    "polars' Enum": lambda: (pl.Series(WORDS, dtype=pl.Enum(["c", "b", "a"])), WORDS, object),
    "Arrow's array": lambda: (pa.array(WORDS), WORDS, object),
    "Arrow's chunks": lambda: (pa.chunked_array([WORDS[:9], WORDS[9:]]), WORDS, object),
    "Arrow's dictionary": lambda: (
        pa.chunked_array([pa.array(CODES).dictionary_encode()]),
        CODES,
        np.int64,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_predicted_has_the_type_of_the_labels(kind: str) -> None:
    """Every kind with two learners, every learner with seven kinds."""
    y, given, dtype = KINDS[kind]()
    listed = given.tolist()
    for learner in DEFAULTS[list(KINDS).index(kind) % 4 :: 4]:
        model = learner.fit(X, y)
        restored = restore(type(model), parts_of(model))
        for said in (model.predict(X), restored.predict(X)):
            assert said.dtype == model.classes_.dtype == dtype, learner
            assert said.tolist() == listed, learner
            assert [type(label) for label in said.tolist()] == [type(label) for label in listed]
        first = dict.fromkeys(sorted(listed, key=lambda label: (isinstance(label, str), label)))
        assert model.classes_.tolist() == list(first)
        assert model.score(X, y) == 1


@every_learner
def test_labels_may_be_a_column_by_name(learner: Setting) -> None:
    for to in LIBRARIES.values():
        frame = to(mixed().assign(choice=labels()))
        model = learner.make().fit(frame, "choice")
        assert list(model.feature_names_in_) == list(mixed().columns)
        assert_same(model, fitted(learner), frame, mixed(), most=1)
        assert model.score(frame, "choice") == fitted(learner).score(mixed(), labels())


@every_learner
def test_labels_in_a_column_of_a_matrix_are_flattened_with_a_warning(learner: Setting) -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = learner.fit(mixed(), labels()[:, None])
    assert_same(model, fitted(learner), mixed())


@every_learner
def test_folds_and_grids_score_such_labels(learner: Setting) -> None:
    folds = list(StratifiedKFold(3).split(X, CODES))
    kind = ("category of int64", "category of bool", "objects, ints")[DEFAULTS.index(learner) % 3]
    y, plain, _ = KINDS[kind]()
    model = learner.make()
    scores = cross_val_score(model, X, y, cv=folds, error_score="raise")
    assert (scores == cross_val_score(model, X, plain, cv=folds)).all()
    grid = GridSearchCV(model, {"missing": [model.missing]}, cv=folds, error_score="raise")
    assert grid.fit(X, y).best_score_ == pytest.approx(scores.mean(), rel=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.cut(pd.Series(X[:, 0]), 3),
        lambda: pd.cut(pd.Series(X[:, 0]), 3).astype(object),
        lambda: pd.cut(pd.Series(X[:, 0]), 3).to_numpy(),
        lambda: pd.Series(pd.arrays.IntervalArray(pd.cut(pd.Series(X[:, 0]), 3))),
        lambda: pd.Series(pd.PeriodIndex(np.array(["2020-01", "2020-02"])[CODES // 2], freq="M")),
    ],
    ids=["category", "objects", "array", "interval", "period"],
)
def test_intervals_are_refused_and_their_names_are_not(make: Callable[[], Any]) -> None:
    model = sortal.LinearDiscriminant()
    with pytest.raises(LabelError, match=r"intervals or periods.*y\.astype\(str\)"):
        model.fit(X, make())
    names = pd.Series(make()).astype(str)
    assert set(model.fit(X, names).predict(X)) <= set(names)


def test_numbers_of_two_types_are_numbers() -> None:
    model = sortal.DiscreteBayes().partial_fit(X, CODES).partial_fit(X, CODES.astype(float))
    assert model.predict(X).dtype == np.float64
    # a type that both fit in would change this one
    model = sortal.DiscreteBayes().partial_fit(X, np.where(CODES, 2**53 + 1, 0))
    assert model.partial_fit(X, CODES + 1.0).classes_.tolist() == [0, 1, 2, 3, 2**53 + 1]


def test_a_score_counts_classes_that_the_fit_did_not_have_and_weights() -> None:
    model = sortal.LinearDiscriminant().fit(X, CODES)
    assert model.score(X, CODES + 7) == 0
    wrong = np.where(np.arange(30) < 10, (CODES + 1) % 3, CODES)
    assert model.score(X, wrong, sample_weight=np.arange(30) % 2 + 1) == pytest.approx(2 / 3)
