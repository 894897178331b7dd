"""scikit-learn's own battery, nothing excused; and what is refused at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from sortal import NeighborsClassifier, datasets
from sortal.errors import (
    ColumnError,
    InputError,
    MissingValueError,
    OptionError,
    UnknownCategoryError,
)

# A battery that shrank would still look green: the number of checks is pinned for the versions
# that constraints.txt and constraints-oldest.txt install.
N_CHECKS = {"1.9": 62, "1.7": 61}
INSTANCES = {
    "default": NeighborsClassifier(),
    "manhattan": NeighborsClassifier(metric="manhattan", scale="range"),
    "gower": NeighborsClassifier(metric="gower", weights="rank"),
    "the largest difference": NeighborsClassifier(metric="minkowski", p=np.inf),
    "by distance": NeighborsClassifier(weights="distance", scale=None),
}
IRIS = datasets.iris()
X, Y = IRIS.drop(columns="species"), IRIS["species"]


@pytest.mark.parametrize("name", INSTANCES)
# Some of the battery's tables have one class only, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")
def test_check_estimator_passes_whole(name: str) -> None:
    results: list[dict[str, Any]] = check_estimator(INSTANCES[name], on_fail=None, on_skip=None)
    troubled = [
        (r["check_name"], r["status"], r["exception"]) for r in results if r["status"] != "passed"
    ]
    assert troubled == []


def test_the_number_of_checks_is_pinned() -> None:
    series = ".".join(sklearn.__version__.split(".")[:2])
    counts = {len(list(estimator_checks_generator(model))) for model in INSTANCES.values()}
    assert counts == {N_CHECKS[series]}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, object])
@pytest.mark.parametrize("metric", ["auto", "gower", "hamming", "mahalanobis"])
def test_infinite_numbers_are_refused_by_name_at_fit_and_at_predict(
    dtype: Any, metric: str
) -> None:
    good = X.to_numpy().astype(dtype)
    bad = good.copy()
    bad[7, 2] = -np.inf
    with pytest.raises(InputError, match="'x2' holds infinite"):
        NeighborsClassifier(metric=metric).fit(bad, Y)
    model = NeighborsClassifier(metric=metric).fit(good, Y)
    for ask in (model.predict, model.predict_proba, model.kneighbors):
        with pytest.raises(InputError, match="'x2' holds infinite"):
            ask(bad)


def test_infinite_numbers_of_a_frame_are_refused_by_name() -> None:
    bad = X.assign(petal_width=np.inf)
    with pytest.raises(InputError, match="'petal_width' holds infinite"):
        NeighborsClassifier().fit(bad, Y)
    with pytest.raises(InputError, match="'petal_width' holds infinite"):
        NeighborsClassifier().fit(X, Y).predict(bad)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("missing", "drop", "missing='drop' is not known: it can be 'skip', 'error'"),
        ("unknown", "majority", "unknown='majority' is not known: it can be 'differs'"),
        ("n_jobs", 0, "n_jobs=0"),
        ("class_weight", {"oak": 2.0}, "class_weight names"),
        ("priors", [0.5, 0.5], "there are 3 classes"),
        ("costs", [[0, 1], [1, 0]], "give 3 × 3 numbers"),
        ("categorical_features", ["height"], "no column of this table"),
    ],
)
def test_options_that_cannot_be_are_refused_at_fit(name: str, given: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        NeighborsClassifier(**{name: given}).fit(X, Y)


@pytest.mark.parametrize("k", [0, 1.5, "5", True])
def test_kneighbors_takes_whole_numbers(k: Any) -> None:
    with pytest.raises(OptionError, match=r"n_neighbors=.* whole number of at least 1"):
        NeighborsClassifier().fit(X, Y).kneighbors(X, k)


def test_words_where_numbers_were_and_columns_that_are_not_there() -> None:
    model = NeighborsClassifier(metric="hamming").fit(X, Y)
    with pytest.raises(ColumnError, match="'sepal_width' was fitted with numbers"):
        model.predict(X.assign(sepal_width="wide"))
    with pytest.raises(ColumnError, match="'sepal_width', which this table lacks"):
        model.predict(X.drop(columns="sepal_width"))


def test_holes_are_an_error_where_they_shall_be() -> None:
    holes = X.copy()
    holes.iloc[3:5, 1] = np.nan
    with pytest.raises(MissingValueError, match=r"2 cells \('sepal_width' 2\).*missing='skip'"):
        NeighborsClassifier(missing="error").fit(holes, Y)
    model = NeighborsClassifier(missing="error").fit(X, Y)
    with pytest.raises(MissingValueError, match=r"2 cells \('sepal_width' 2\)"):
        model.predict(holes)


def test_unknown_words_are_an_error_where_they_shall_be() -> None:
    frame = pd.DataFrame({"w": list("uvuvuv")})
    model = NeighborsClassifier(1, unknown="error").fit(frame, list("ababab"))
    with pytest.raises(UnknownCategoryError, match=r"1 cell \('w' 1\).*unknown='differs'"):
        model.predict(pd.DataFrame({"w": ["u", "z"]}))
    assert model.predict(frame[:2]).tolist() == ["a", "b"]
