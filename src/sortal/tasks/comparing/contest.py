"""One model on one fold: what a worker does."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from sortal.data.table import read_frame
from sortal.errors import InputError, LabelError
from sortal.tasks.comparing.baselines import (
    as_matrix,
    find_baseline,
    make_baseline,
    size_of_baseline,
)
from sortal.tasks.comparing.folds import part_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sortal.tasks.comparing.baselines import Matrix
    from sortal.tasks.comparing.folds import Folds
    from sortal.tasks.registry import Learner

# How scikit-learn calls the metrics where options are chosen.
SCORERS = {
    "balanced_accuracy": "balanced_accuracy",
    "accuracy": "accuracy",
    "log_loss": "neg_log_loss",
}
INNER_FOLDS = 3
_LONGEST = 300


@dataclass(frozen=True)
class Problem:
    """The rows, whose labels are codes of classes; the folds; and what all models are told."""

    frame: Any
    y: NDArray[np.int64]
    labels: NDArray[Any]
    folds: Folds
    metric: str
    categories: tuple[str, ...] = ()
    tune: bool = False
    keep: bool = False
    """Whether predictions of the first repeat are sent back."""

    def keeps(self, entrant: Entrant, fold: int) -> bool:
        """Whether what a model says of this fold's rows is wanted."""
        return self.keep and not entrant.baseline and fold < self.folds.folds

    @cached_property
    def split(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The rows of each fold."""
        return self.folds.split(self.y)

    @cached_property
    def matrix(self) -> Matrix:
        """What baselines read."""
        return as_matrix(self.frame, self.categories)

    @cached_property
    def place(self) -> dict[Any, int]:
        """The code of each label."""
        return {label: k for k, label in enumerate(self.labels.tolist())}

    def rows(self, rows: NDArray[np.intp]) -> Any:
        """Some rows of the table, as the library has them that it came in."""
        frame = read_frame(self.frame)
        assert frame is not None  # noqa: S101  (compare takes frames only)
        return frame[rows].to_native()


@dataclass(frozen=True)
class FoldResult:
    """Scores by metric, seconds, numbers needed; or an error in a line. Warnings by kind.

    `said` and `probabilities` are what was predicted, by codes of classes, where it is kept.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    size: float | None = None
    rows: int = 0
    chosen: Mapping[str, Any] = field(default_factory=dict)
    warned: tuple[tuple[str, str], ...] = ()
    error: str = ""
    said: NDArray[np.int32] | None = field(default=None, compare=False, repr=False)
    probabilities: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)

    def forget(self) -> None:
        """Let go of the predictions, which have been joined elsewhere."""
        object.__setattr__(self, "said", None)
        object.__setattr__(self, "probabilities", None)


@dataclass(frozen=True)
class Entrant:
    """A model that takes part: a learner of the registry, or a baseline by its name."""

    name: str
    title: str
    probabilistic: bool
    learner: Learner | None = None

    @property
    def baseline(self) -> bool:
        """Whether it is one of scikit-learn's."""
        return self.learner is None

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The options to choose from, by the names that the whole estimator has for them."""
        if self.learner is None:
            grid = find_baseline(self.name).grid
            return {f"model__{name}": list(values) for name, values in grid.items()}
        return {name: list(values) for name, values in self.learner.grid.items()}

    def options(self, seed: int, categories: Sequence[str]) -> dict[str, Any]:
        """What a learner is told beside its defaults."""
        assert self.learner is not None  # noqa: S101  (of learners only)
        known = self.learner.options()
        told: dict[str, Any] = {"random_state": seed}
        if categories:
            told["categorical_features"] = list(categories)
        return {name: value for name, value in told.items() if name in known}

    def make(self, problem: Problem) -> Any:
        """The estimator, not fitted; it runs in one thread."""
        if self.learner is None:
            return make_baseline(self.name, problem.matrix, problem.folds.seed)
        options = self.options(problem.folds.seed, problem.categories)
        if "n_jobs" in self.learner.options():
            options["n_jobs"] = 1
        return self.learner.make(**options)

    def tuned(self, problem: Problem) -> Any:
        """The estimator, which chooses among the values of its grid where that is asked for."""
        estimator = self.make(problem)
        if not (problem.tune and self.grid):
            return estimator
        inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=problem.folds.seed)
        scorer = SCORERS[problem.metric if self.probabilistic else "balanced_accuracy"]
        return GridSearchCV(estimator, self.grid, scoring=scorer, cv=inner)

    def size(self, fitted: Any) -> float | None:
        """How many numbers predict needs; None where an estimator does not say."""
        if self.learner is None:
            return size_of_baseline(self.name, fitted)
        size = getattr(fitted, "size_", None)
        return None if size is None else float(size)


def prepare(problem: Problem, entrant: Entrant) -> None:
    """Load modules, and read what all folds share, before time counts."""
    _ = problem.split
    with suppress(Exception):  # it will be raised again, where it is said
        entrant.tuned(problem)


def run_fold(problem: Problem, entrant: Entrant, fold: int, n_rows: int | None) -> FoldResult:
    """Fit to the training rows of a fold, or to a part of about n_rows, and score the others.

    Whatever a model raises is its own affair: it becomes a line of text.
    """
    train, test = problem.split[fold]
    if n_rows is not None:
        train = part_of(train, problem.y, n_rows, problem.folds.seed, fold)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _fit_and_score(problem, entrant, train, test, problem.keeps(entrant, fold))
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a learner may raise anything)
            return FoldResult(error=f"{type(error).__name__}: {one_line(error)}")
    warned = {w.category.__name__: one_line(w.message) for w in reversed(caught)}
    object.__setattr__(result, "warned", tuple(sorted(warned.items())))
    return result


def _fit_and_score(
    problem: Problem,
    entrant: Entrant,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    keep: bool,
) -> FoldResult:
    estimator = entrant.tuned(problem)
    if entrant.baseline:
        X_train, X_test = problem.matrix.values[train], problem.matrix.values[test]
        y_train = problem.y[train]
    else:
        X_train, X_test = problem.rows(train), problem.rows(test)
        y_train = problem.labels[problem.y[train]]
    start = time.perf_counter()
    estimator.fit(X_train, y_train)
    fitted = time.perf_counter()
    answers = estimator.predict(X_test)
    predicted = time.perf_counter()
    place = None if entrant.baseline else problem.place
    said = _codes(answers, place, len(test))
    scores, shares = _scores(problem.y[test], said), None
    if hasattr(estimator, "predict_proba"):
        given = estimator.predict_proba(X_test)
        shares = _aligned(given, _codes(estimator.classes_, place), len(problem.labels))
        scores["log_loss"] = float(log_loss(problem.y[test], shares, labels=_range(shares)))
    best = getattr(estimator, "best_estimator_", estimator)
    return FoldResult(
        scores,
        fitted - start,
        predicted - fitted,
        entrant.size(best),
        len(train),
        dict(getattr(estimator, "best_params_", {})),
        said=said.astype(np.int32) if keep else None,
        probabilities=shares if keep else None,
    )


def _scores(y: NDArray[np.int64], said: NDArray[np.int64]) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a class that is said and not there
        balanced = float(balanced_accuracy_score(y, said))
    return {"balanced_accuracy": balanced, "accuracy": float(accuracy_score(y, said))}


def _codes(said: Any, place: dict[Any, int] | None, n: int | None = None) -> NDArray[np.int64]:
    """Labels as codes of the classes."""
    answers = np.asarray(said)
    if answers.ndim != 1 or (n is not None and len(answers) != n):
        raise InputError(f"predict gave an array of the shape {answers.shape}: one label a row.")
    if place is None:
        return answers.astype(np.int64)
    strangers = [label for label in answers.tolist() if label not in place]
    if strangers:
        raise LabelError(f"predict said {strangers[0]!r}, which is no class of the target.")
    return np.array([place[label] for label in answers.tolist()], dtype=np.int64)


def _aligned(given: Any, classes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Probabilities by all classes; one that a fit did not meet has none."""
    shares = np.asarray(given, dtype=np.float64)
    if shares.ndim != 2 or shares.shape[1] != len(classes) or not np.isfinite(shares).all():
        raise InputError("predict_proba gave something else than one finite number a class.")
    aligned = np.zeros((len(shares), n_classes))
    aligned[:, classes] = shares
    return aligned


def _range(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.arange(shares.shape[1])


def one_line(words: object) -> str:
    """Words of anybody in one line that a terminal can be shown."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(words)).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
