"""Who takes part in a comparison: learners with their options, and baselines of scikit-learn.

Baselines come with the preparation that they need. sortal reads the table, once, into a matrix of
float64: numbers as they are, NaN where there is none, and categories as codes. So a table of any
library will do.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, cast

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
from sortal.tasks.registry import find, learner_of, read_value
from sortal.tasks.registry import learners as all_learners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sortal._typing import Float, Plain, TableLike
    from sortal.tasks.registry import FittedClassifier, LearnerEntry, SomeClassifier


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
_BASELINES = {
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
    if name not in _BASELINES:
        raise ParameterError(
            f"There is no baseline {name!r}: there are {listed(list(_BASELINES))}."
        )
    return _BASELINES[name]


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


# --- Candidates: what takes part, by a name that can be typed ------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A model that takes part: a learner of the registry with options, or a baseline by its name.

    The name of a learner with options is "tree:criterion=gini,max_depth=3".
    """

    name: str
    title: str
    probabilistic: bool
    learner: LearnerEntry | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def baseline(self) -> bool:
        """Whether it is one of scikit-learn's."""
        return self.learner is None

    @property
    def ensemble(self) -> bool:
        """Whether it is what one would take without wanting to read it."""
        return self.learner is None and find_baseline(self.name).ensemble

    @property
    def kind(self) -> str:
        """By what it is read."""
        return "" if self.learner is None else self.learner.facts.kind

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The options to choose from, by the names that the whole estimator has for them."""
        if self.learner is None:
            grid = find_baseline(self.name).grid
            return {f"model__{name}": list(values) for name, values in grid.items()}
        own = self.learner.grid.items()
        return {name: list(values) for name, values in own if name not in self.given}

    def carries(self, n_classes: int) -> bool:
        """Whether the estimator itself decides by costs, so that its model file does."""
        if self.learner is None or "costs" not in self.learner.options():
            return False
        return n_classes == 2 or self.learner.facts.costs_of_many

    def options(
        self, seed: int, categorical_features: Sequence[str], costs: object = None
    ) -> dict[str, Any]:
        """What a learner is told beside its defaults."""
        assert self.learner is not None  # noqa: S101  (of learners only)
        known = self.learner.options()
        told: dict[str, Any] = {"random_state": seed}
        if categorical_features:
            told["categorical_features"] = list(categorical_features)
        if costs is None:
            told |= self.learner.facts.natural
        else:
            told["costs"] = costs
        return {name: value for name, value in told.items() if name in known} | dict(self.given)

    def size(self, fitted: FittedClassifier) -> float | None:
        """How many numbers predict needs; None where an estimator does not say."""
        if self.learner is None:
            return size_of_baseline(self.name, cast("Pipeline", fitted))
        size = getattr(fitted, "n_parameters_", None)
        return None if size is None else float(size)

    def terms(self, fitted: FittedClassifier) -> int | None:
        """How much there is to read: the leaves of a tree, the terms of a function."""
        if self.learner is None:
            return None
        if hasattr(fitted, "get_n_leaves"):
            return int(fitted.get_n_leaves())
        terms = getattr(fitted, "terms_", None)
        return getattr(fitted, "n_features_in_", None) if terms is None else len(terms)


# A tree of so many leaves is read at a glance.
SHORT_TREE = "tree:max_leaf_nodes=16"


def candidates(
    learners: Sequence[str | SomeClassifier] | None, baselines: bool | Sequence[str]
) -> list[Candidate]:
    """Who takes part; the constant prediction always does, to be compared with."""
    if learners is None:
        learners = [*(one.name for one in all_learners()), SHORT_TREE]
    elif isinstance(learners, str):
        learners = [learners]
    found = [_of_learner(given) for given in learners]
    named = list(_BASELINES) if baselines is True else baselines or ()
    names = dict.fromkeys([CONSTANT, *([named] if isinstance(named, str) else named)])
    for name in names:
        baseline = find_baseline(name)
        found.append(Candidate(name, baseline.title, baseline.probabilistic))
    known = [one.name for one in found]
    twice = [name for i, name in enumerate(known) if name in known[:i]]
    if twice:
        raise ParameterError(
            f"{listed(twice)} would take part more than once: name each model once."
        )
    if all(one.name == CONSTANT for one in found):
        raise ParameterError("There is no model to compare: name a learner or a baseline.")
    # Fast ones first: what they leave of their share goes to those that come later.
    return sorted(found, key=lambda one: (one.name != CONSTANT, one.baseline))


def _of_learner(given: str | SomeClassifier) -> Candidate:
    """A learner by its name, by its name with options, or by an estimator that is not fitted."""
    if isinstance(given, str):
        name, _, words = given.partition(":")
        learner, options = find(name), read_options(words, given)
    else:
        learner = learner_of(type(given).__name__)
        defaults = learner.options()
        told = given.get_params(deep=False).items()
        options = {n: value for n, value in told if not _same(value, defaults[n])}
    learner.make(**options)  # an option that does not exist is an error now
    if not options:
        return Candidate(learner.name, learner.title, learner.facts.probabilistic, learner)
    words = ",".join(f"{n}={_as_word(value)}" for n, value in options.items())
    title = f"{learner.title} ({words.replace(',', ', ')})"
    name = f"{learner.name}:{words}"
    return Candidate(name, title, learner.facts.probabilistic, learner, options)


def _same(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


def _as_word(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except TypeError:
        return repr(value)


def read_options(words: str, given: str) -> dict[str, Plain]:
    """Options in one word: "criterion=gini,max_depth=3"; a comma before a name parts them."""
    options: dict[str, Plain] = {}
    for part in re.split(r",(?=\s*[A-Za-z_]+=)", words) if words else ():
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or name.strip() in options:
            raise ParameterError(
                f"learner {given!r} cannot be read: give each option once, with its value, such "
                "as tree:criterion=gini,max_depth=3."
            )
        options[name.strip()] = read_value(value)
    return options
