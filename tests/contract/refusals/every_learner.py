"""What every learner of the registry refuses, and what the interface refuses for all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from tests.contract.learners import DEFAULTS, LIBRARIES, N, fitted, labels, mixed, numbers, whole
from tests.contract.refusals.table import Refusal

from sortal import DiscreteBayes, LinearDiscriminant
from sortal.errors import (
    ColumnError,
    InputError,
    LabelError,
    MissingValueError,
    ParameterError,
    UnknownCategoryError,
    WeightError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.learners import Setting

    Row = tuple[str, Callable[[Setting], object], type[Exception], str]

LACKS: Final = "'city', 'spend', which this table lacks.*'member', 'visits'"
LEAST: Final = r"15 cells \('city' 5, 'spend' 10\).*missing='"
DAY: Final = pd.Timestamp("2020-01-01")


def predicts(learner: Setting, **columns: Any) -> object:
    return fitted(learner).predict(whole().assign(**columns))


EVERY: Final[list[Row]] = [
    (
        "infinity at fit",
        lambda one: one.fit(whole().assign(spend=-np.inf)),
        InputError,
        "'spend' holds infinite values",
    ),
    (
        "infinity at predict",
        lambda one: predicts(one, spend=np.r_[np.inf, np.ones(N - 1)]),
        InputError,
        "'spend' holds infinite values",
    ),
    (
        "infinity in an array of float32",
        lambda one: one.fit(np.where(numbers() > 2, np.inf, 0).astype(np.float32)),
        InputError,
        "'x0' holds infinite values",
    ),
    (
        "words for numbers",
        lambda one: predicts(one, spend="much"),
        ColumnError,
        "'spend' was fitted with numbers, and now holds words",
    ),
    (
        "numbers for words",
        lambda one: predicts(one, city=1.5),
        ColumnError,
        "'city' was fitted with words .*such as 'Lima'.* now holds numbers",
    ),
    (
        "columns that are not there",
        lambda one: fitted(one).predict(whole()[["member", "visits"]]),
        ColumnError,
        LACKS,
    ),
    (
        "an array of another width",
        lambda one: one.fit(numbers()).predict(numbers()[:, :2]),
        InputError,
        "X has 2 features, but .* is expecting 3",
    ),
    ("no rows", lambda one: one.fit(whole()[:0], []), InputError, r"0 sample\(s\).*no rows"),
    (
        "no rows at predict",
        lambda one: fitted(one).predict(whole()[:0]),
        InputError,
        r"0 sample\(s\).*no rows",
    ),
    (
        "missing values at fit",
        lambda one: one.fit(mixed(), missing="error"),
        MissingValueError,
        LEAST,
    ),
    (
        "missing values at predict",
        lambda one: one.fit(whole(), missing="error").predict(mixed()),
        MissingValueError,
        LEAST,
    ),
    (
        "unknown words",
        lambda one: one.fit(whole(), unknown="error").predict(whole().assign(city="Bonn")),
        UnknownCategoryError,
        r"60 cells \('city' 60\).*unknown='",
    ),
    (
        "a missing label",
        lambda one: one.fit(whole(), [*labels()[:-1], None]),
        LabelError,
        "contains NaN or None, first in row 59",
    ),
    (
        "a measurement",
        lambda one: one.fit(whole(), whole()["spend"]),
        LabelError,
        "Unknown label type: continuous.*cut it into classes",
    ),
    (
        "negative weights",
        lambda one: one.fit(whole(), weight=[-1.0] * N),
        WeightError,
        "negative, missing or infinite",
    ),
    ("no weight", lambda one: one.fit(whole(), weight=[0] * N), WeightError, "zero for every row"),
    (
        "a policy that there is not",
        lambda one: one.fit(whole(), missing="ignore"),
        ParameterError,
        "missing='ignore' is not known: it can be '.*'error'",
    ),
    (
        "another that there is not",
        lambda one: one.fit(whole(), unknown="ignore"),
        ParameterError,
        "unknown='ignore' is not known: it can be '.*'error'",
    ),
    (
        "no workers",
        lambda one: one.fit(whole(), n_jobs=0),
        ParameterError,
        "n_jobs=0: give a whole number",
    ),
    (
        "a category that is no column",
        lambda one: one.fit(whole(), categorical_features=["age"]),
        ParameterError,
        "categorical_features names 'age'.*it has 'city'",
    ),
]
# Options of those learners that have them.
OPTIONS: Final[list[tuple[str, Any, str]]] = [
    ("priors", [0.5, 0.6, 0.1], r"priors=.*sum 1 \(it is 1\.2\)"),
    ("priors", [0.5, 0.5], r"priors has the shape \(2,\), and there are 3 classes"),
    ("class_weight", {"oak": 2.0}, r"class_weight names \['oak'\]"),
    ("class_weight", "even", "class_weight='even'.*'balanced'"),
    ("costs", [[0, 1], [1, 0]], r"costs has the shape \(2, 2\).*3 × 3"),
    ("costs", "rare", "costs='rare' is not known.*'balanced', a dict by.*matrix, or None"),
    ("costs", {("ash", "oak"): 2}, "costs names 'oak', and the classes are 'ash', 'birch'"),
    ("costs", {"ash": 2}, r"costs names 'ash', which is not a pair.*\('ash', 'elm'\): 10"),
    ("costs", {("ash",): 2}, "which is not a pair of labels"),
    ("costs", {("ash", "elm"): -1}, r"costs of \('ash', 'elm'\) is -1: give a finite number"),
    ("costs", {("ash", "elm"): float("inf")}, "is inf: give a finite number of at least 0"),
    ("costs", {("ash", "elm"): "2"}, "is '2': give a finite number"),
    ("costs", {("ash", None): 2}, r"one label.*two classes, and there are 3.*both labels"),
]
LABELS: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "none": (lambda: None, "requires y to be passed"),
    "NaN among words": (lambda: [*["a"] * 59, float("nan")], "NaN or None, first in row 59"),
    "NaN among numbers": (lambda: [*range(59), float("nan")], "contains NaN, first in row 59"),
    "null of polars": (lambda: pl.Series([None, *["a"] * 59]), "NaN or None, first in row 0"),
    "NA of pandas": (
        lambda: pd.Series([1, None] * 30, dtype="Int64"),
        "NaN or None, first in row 1",
    ),
    "masked": (
        lambda: np.ma.array([1, 0] * 30, mask=[False, True] * 30),
        "NaN or None, first in row 1",
    ),
    "infinite": (lambda: [float("inf")] * N, "contains infinity"),
    "fractions among objects": (
        lambda: np.array([0.5, 1] * 30, dtype=object),
        r"continuous \(y holds 0\.5\)",
    ),
    "decimals": (
        lambda: pl.Series([0.5, 1.0] * 30).cast(pl.Decimal(4, 2)),
        r"continuous \(y holds 0\.5\)",
    ),
    "too few": (lambda: ["a", "b"], "X has 60 rows and y has 2 labels"),
    "too many": (lambda: ["a", "b"] * 31, "X has 60 rows and y has 62 labels"),
    "two columns": (lambda: np.full((N, 2), "a"), r"1d array, got an array of shape \(60, 2\)"),
    "a number": (lambda: 7, "1d array, got the type int instead"),
    "ragged": (lambda: [[1], [1, 2]], "y cannot be read"),
    "bytes": (lambda: np.array([b"a", b"b"] * 30), r"Unknown label type: \|S1"),
    "years": (lambda: np.array(["2020"] * N, dtype="M8[Y]"), "Unknown label type: datetime64"),
    "dates": (lambda: pd.Series([DAY] * N), "y holds dates or times.*to strings"),
    "sparse": (
        lambda: scipy.sparse.csr_matrix(np.arange(N)[:, None] % 2),
        "got the type csr_matrix instead: .*toarray",
    ),
    "sparse array": (
        lambda: scipy.sparse.coo_array(np.arange(N)[:, None] % 2),
        "got the type coo_array instead: .*toarray",
    ),
}
WEIGHTS: Final[dict[str, tuple[Any, str]]] = {
    "NaN": ([np.nan] * N, "negative, missing or infinite"),
    "masked": (np.ma.array([1.0] * N, mask=np.arange(N) == 1), "negative, missing or infinite"),
    "too few": ([1] * 59, r"shape == \(59,\), expected \(60,\)"),
    "words": (["heavy"] * N, "not a number"),
    "beyond float64": ([10**400] * N, "too large"),
}
CATEGORIES: Final[list[tuple[Any, str]]] = [
    ("city", "categorical_features='city'.*a list of names"),
    ([True], "a mask of length 1, and the table has 4 columns"),
    ([7], "column 7, and the table has 4 columns"),
    ([[0], [1, 2]], "categorical_features=.*cannot be read"),
    ({"city"}, "categorical_features=.*cannot be read"),
    ([0.5], "categorical_features=.*cannot be read"),
]


def fit(X: Any = None, y: Any = None, weight: Any = None, **options: Any) -> DiscreteBayes:
    X, y = whole() if X is None else X, labels() if y is None else y
    return DiscreteBayes(**options).fit(X, y, weight)


def told(one: Setting, name: str, given: Any) -> object:
    return one.fit(whole(), **{name: given})


def labels_alone(to: Callable[[Any], Any]) -> object:
    return fit(to(pd.DataFrame({"y": labels()})), "y")


def no_rows(to: Callable[[Any], Any]) -> object:
    return fit(to(whole()[:0]), [])


def labelled(y: Callable[[], Any]) -> DiscreteBayes:
    return DiscreteBayes().fit(whole(), y())


def codes() -> LinearDiscriminant:
    return LinearDiscriminant().fit(numbers(), np.arange(N) % 3)


REFUSALS: Final = [
    *(
        Refusal(f"{one!r}, {what}", partial(call, one), error, words)
        for one in DEFAULTS
        for what, call, error, words in EVERY
    ),
    *(
        Refusal(
            f"{one!r}, {name}={given}",
            partial(told, one, name, given),
            ParameterError,
            words,
        )
        for one in DEFAULTS
        for name, given, words in OPTIONS
        if name in one.learner.options()
    ),
    *(
        Refusal(f"labels, {what}", partial(labelled, y), LabelError, words)
        for what, (y, words) in LABELS.items()
    ),
    *(
        Refusal(f"weights, {what}", partial(fit, weight=weight), WeightError, words)
        for what, (weight, words) in WEIGHTS.items()
    ),
    *(
        Refusal(
            f"categorical_features={given}",
            partial(fit, categorical_features=given),
            ParameterError,
            words,
        )
        for given, words in CATEGORIES
    ),
    *(
        Refusal(
            f"no columns of {type(X)}",
            partial(fit, X),
            InputError,
            r"0 feature\(s\).*no columns",
        )
        for X in (pd.DataFrame(index=range(N)), pl.DataFrame(), np.empty((N, 0)))
    ),
    *(
        Refusal(
            f"labels alone in {name}",
            partial(labels_alone, to),
            InputError,
            r"0 feature\(s\).*no columns",
        )
        for name, to in LIBRARIES.items()
    ),
    *(
        Refusal(
            f"no rows of {name}",
            partial(no_rows, to),
            InputError,
            r"0 sample\(s\).*no rows",
        )
        for name, to in LIBRARIES.items()
    ),
    Refusal(
        "truth values for numbers",
        lambda: fit().predict(whole().assign(spend=True)),
        ColumnError,
        "'spend' was fitted with numbers, and now holds words or truth values",
    ),
    Refusal(
        "dates for numbers",
        lambda: fit().predict(whole().assign(spend=DAY)),
        ColumnError,
        "'spend' was fitted with numbers, and now holds dates",
    ),
    Refusal(
        "dates for words",
        lambda: fit().predict(whole().assign(city=DAY)),
        ColumnError,
        "'city' was fitted with words .* now holds dates",
    ),
    Refusal(
        "numbers for dates",
        lambda: fit(whole().assign(spend=DAY)).predict(whole()),
        ColumnError,
        "'spend' was fitted with dates, and now holds numbers",
    ),
    Refusal(
        "a column less in a later block",
        lambda: fit().partial_fit(whole().drop(columns="city"), labels()),
        ColumnError,
        "'city', which this table lacks",
    ),
    Refusal(
        "dates as categories",
        lambda: fit(whole().assign(day=DAY), categorical_features=["day"]),
        ParameterError,
        "names 'day', which holds dates.*to strings",
    ),
    Refusal(
        "labels by a name that no column has",
        lambda: fit(y="choice"),
        ColumnError,
        "y='choice' is no column of this table: it has 'city', 'member'",
    ),
    Refusal(
        "labels by name of an array",
        lambda: fit(np.eye(3), "choice"),
        ColumnError,
        "y='choice' names a column, and X is a ndarray without column names",
    ),
    Refusal(
        "a score of sparse labels",
        lambda: fit().score(whole(), LABELS["sparse"][0]()),
        LabelError,
        "got the type csr_matrix instead: .*toarray",
    ),
    Refusal(
        "a score of labels of another kind",
        lambda: codes().score(numbers(), labels()),
        LabelError,
        "y holds 'ash', and the classes of the fit are 0, 1",
    ),
    Refusal(
        "a score of missing labels",
        lambda: codes().score(numbers()[:2], [0, None]),  # type: ignore[arg-type]
        LabelError,
        "first in row 1: every row needs a label",
    ),
]
