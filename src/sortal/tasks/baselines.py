"""Models of scikit-learn that learners are compared with, and the preparation that they need.

sortal reads the table, once, into a matrix of float64: numbers as they are, NaN where there is
none, and categories as codes. So a table of any library will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
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
    values worth trying. `ensemble`: many trees, which nobody reads; it goes through the folds once.
    """

    title: str
    make: Callable[[int], Any]
    size: Callable[[Any], float]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    probabilistic: bool = True
    ensemble: bool = False


CONSTANT = "constant"


def _linear_size(model: LogisticRegression | Perceptron | LinearSVC) -> int:
    return int(model.coef_.size + np.size(model.intercept_))


def _kernel_size(model: SVC) -> int:
    """The support vectors, their coefficients, the constants and gamma."""
    vectors, coefficients = model.support_vectors_.shape, model.dual_coef_.shape
    return int(np.prod(vectors) + np.prod(coefficients) + model.intercept_.size + 1)


def _forest_size(model: RandomForestClassifier) -> int:
    """Two numbers for a split, one per class for a leaf."""
    leaves = sum(tree.get_n_leaves() for tree in model.estimators_)
    return int(2 * (leaves - len(model.estimators_)) + leaves * len(model.classes_))


# The fast ones first.
BASELINES = {
    CONSTANT: Baseline(
        "constant prediction", lambda _: DummyClassifier(strategy="prior"), lambda _: 1
    ),
    "perceptron": Baseline(
        "perceptron",
        lambda seed: Perceptron(random_state=seed),
        _linear_size,
        {"penalty": (None, "l2")},
        probabilistic=False,
    ),
    "logistic": Baseline(
        "logistic regression",
        lambda _: LogisticRegression(max_iter=1_000),
        _linear_size,
        {"C": (1.0, 0.01, 100.0)},
    ),
    "linear_svm": Baseline(
        "linear SVM",
        lambda seed: LinearSVC(dual="auto", random_state=seed),
        _linear_size,
        {"C": (1.0, 0.01, 100.0)},
        probabilistic=False,
    ),
    "random_forest": Baseline(
        "random forest",
        lambda seed: RandomForestClassifier(random_state=seed, n_jobs=1),
        _forest_size,
        {"min_samples_leaf": (1, 5)},
        ensemble=True,
    ),
    "boosting": Baseline(
        "gradient boosting",
        lambda seed: HistGradientBoostingClassifier(random_state=seed),
        lambda _: inf,
        {"learning_rate": (0.1, 0.03)},
        ensemble=True,
    ),
    "rbf_svm": Baseline(
        "RBF SVM", lambda _: SVC(), _kernel_size, {"C": (1.0, 10.0)}, probabilistic=False
    ),
}


def find_baseline(name: str) -> Baseline:
    """The baseline of a name."""
    if name not in BASELINES:
        raise ParameterError(f"There is no baseline {name!r}: there are {listed(list(BASELINES))}.")
    return BASELINES[name]


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
    # dense, since boosting takes nothing else
    return Pipeline([("columns", ColumnTransformer(steps, sparse_threshold=0)), model])


def size_of_baseline(name: str, pipeline: Pipeline) -> float:
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
