"""Baselines: well-known classifiers of scikit-learn, with the preparation that they need.

sortal reads the table, once, into a matrix of float64: numbers as they are, NaN where there is
none, and categories as codes. So a table of any library will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from sortal.base.tables import declare_schema
from sortal.data.columns import CategoryColumn
from sortal.data.sources import read_column, read_table
from sortal.errors import ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sortal._typing import Float, TableLike


# Values of one column beyond so many, the rarest ones, are taken together.
_MOST_LEVELS = 30


@dataclass(frozen=True, eq=False)
class EncodedMatrix:
    """A table as numbers: `values[i, j]`, and which columns hold codes (-1: missing)."""

    values: Float
    names: tuple[str, ...]
    is_category: tuple[bool, ...]


def as_matrix(frame: TableLike, categorical_features: Sequence[str] = ()) -> EncodedMatrix:
    """Read a table into a matrix; `categorical_features` names numbers that are categories."""
    table = read_table(frame)
    schema = declare_schema(table, list(categorical_features))
    values = np.empty((table.n_rows, len(table.names)))
    is_category = []
    for j, column in enumerate(schema.columns):
        read = read_column(table, j, column)
        is_category.append(isinstance(read, CategoryColumn))
        values[:, j] = read.codes if isinstance(read, CategoryColumn) else read.values
    return EncodedMatrix(values, table.names, tuple(is_category))


@dataclass(frozen=True)
class Baseline:
    """A classifier to be measured against. `make` gives it for a seed; `size` counts its numbers.

    `probabilistic`: it has `predict_proba`. `grid` gives, for options of the classifier, the few
    values worth trying.
    """

    name: str
    title: str
    probabilistic: bool
    make: Callable[[int], Any]
    size: Callable[[Any], int]
    grid: Mapping[str, tuple[Any, ...]]


def _linear_size(model: LogisticRegression | Perceptron | LinearSVC) -> int:
    return int(model.coef_.size + np.size(model.intercept_))


def _kernel_size(model: SVC) -> int:
    """The support vectors, their coefficients, the constants and gamma."""
    return int(
        np.prod(model.support_vectors_.shape)
        + np.prod(model.dual_coef_.shape)
        + model.intercept_.size
        + 1
    )


_ALL = (
    Baseline(
        "majority",
        "majority class",
        True,  # noqa: FBT003
        lambda _: DummyClassifier(strategy="prior"),
        lambda _: 1,
        {},
    ),
    Baseline(
        "perceptron",
        "perceptron",
        False,  # noqa: FBT003
        lambda seed: Perceptron(random_state=seed),
        _linear_size,
        {"penalty": (None, "l2")},
    ),
    Baseline(
        "logistic",
        "logistic regression",
        True,  # noqa: FBT003
        lambda _: LogisticRegression(max_iter=1_000),
        _linear_size,
        {"C": (1.0, 0.01, 100.0)},
    ),
    Baseline(
        "linear_svm",
        "linear SVM",
        False,  # noqa: FBT003
        lambda seed: LinearSVC(dual="auto", random_state=seed),
        _linear_size,
        {"C": (1.0, 0.01, 100.0)},
    ),
    Baseline(
        "rbf_svm",
        "RBF SVM",
        False,  # noqa: FBT003
        lambda _: SVC(),
        _kernel_size,
        {"C": (1.0, 10.0)},
    ),
)


def baselines() -> tuple[Baseline, ...]:
    """All baselines, the fast ones first."""
    return _ALL


def find_baseline(name: str) -> Baseline:
    """The baseline of a name."""
    for baseline in _ALL:
        if baseline.name == name:
            return baseline
    known = [baseline.name for baseline in _ALL]
    raise ParameterError(f"There is no baseline {name!r}: there are {listed(known)}.")


def make_baseline(name: str, matrix: EncodedMatrix, seed: int = 0) -> Pipeline:
    """A pipeline: columns prepared, then the classifier, which is its step "model".

    Numbers: a missing value takes the median, and a column says where missing values were; mean 0,
    variance 1. Categories: a column a value, a missing value being a value of its own; the rarest
    of very many values are taken together, and values that were never fitted go with them, or are
    ignored.
    """
    is_category = np.array(matrix.is_category, dtype=bool)
    numbers, words = np.flatnonzero(~is_category), np.flatnonzero(is_category)
    steps: list[tuple[str, Any, Any]] = []
    if len(numbers):
        fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        steps.append(("numbers", make_pipeline(fill, StandardScaler()), numbers))
    if len(words):
        levels = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=_MOST_LEVELS)
        steps.append(("words", levels, words))
    model = ("model", find_baseline(name).make(seed))
    if isinstance(model[1], DummyClassifier):
        return Pipeline([model])  # it looks at no column
    return Pipeline([("columns", ColumnTransformer(steps)), model])


def size_of_baseline(name: str, pipeline: Pipeline) -> int:
    """How many numbers predict needs: those of the classifier and of the prepared columns.

    A number column has a median, a mean and a scale, a column that says where missing values were a
    mean and a scale; a category has its values. Nothing of this is needed to say always the same.
    """
    size = find_baseline(name).size(pipeline[-1])
    if len(pipeline) == 1:
        return size
    for step, fitted, _ in pipeline[0].transformers_:
        if step == "numbers":
            fill, scale = fitted[0], fitted[1]
            size += int(fill.statistics_.size + scale.mean_.size + scale.scale_.size)
        elif step == "words":
            size += sum(len(values) for values in fitted.categories_)
    return size
