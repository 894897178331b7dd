"""The folds of a comparison, and one model on one fold: what a worker does."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold

from sortal.data.sources import read_frame
from sortal.decision.options import whole_number
from sortal.errors import InputError, LabelError, ParameterError, brief, counted, listed
from sortal.tasks.compare.baselines import as_matrix, find_baseline, make_baseline, size_of_baseline
from sortal.tasks.compare.settings import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.pipeline import Pipeline

    from sortal._typing import Codes, Counts, Float, Places, TableLike
    from sortal.data.columns import Value
    from sortal.tasks.compare.baselines import EncodedMatrix
    from sortal.tasks.registry import FittedClassifier, LearnerEntry, SomeClassifier


# --- The folds of a comparison: how many, which rows, and parts of the training rows -------------

# So many repeats below so many rows: the fewer rows, the more a score depends on how they fall.
_REPEATS = ((1_000, 10), (10_000, 3))

# Repeats; rows of all folds together, 8 bytes each; and what scikit-learn takes for a seed.
_MOST_REPEATS, _MOST_PLACES, _MOST_SEED = 1_000, 1 << 28, 2**32 - 1


@dataclass(frozen=True)
class Folds:
    """Repeated stratified cross-validation; the same for every model. `notes` say what was set."""

    folds: int
    repeats: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many fits it takes."""
        return self.folds * self.repeats

    @property
    def test_share(self) -> float:
        """The test rows of a fold by its training rows."""
        return 1 / (self.folds - 1)

    def split(self, y: NDArray[Any]) -> list[tuple[Places, Places]]:
        """The training and the test rows of each fold, by the labels of all rows."""
        splitter = RepeatedStratifiedKFold(
            n_splits=self.folds, n_repeats=self.repeats, random_state=self.seed
        )
        return list(splitter.split(np.zeros((len(y), 1)), y))

    def __str__(self) -> str:
        once = {1: "once", 2: "twice"}.get(self.repeats, f"{self.repeats} times")
        return f"{counted(self.folds, 'fold')}, {once}"


def plan_folds(
    counts: Sequence[int], classes: Sequence[Value], folds: int, repeats: int | None, seed: int
) -> Folds:
    """Folds for classes of so many rows each: no more than the smallest class can fill."""
    whole_number("folds", folds, 2)
    whole_number("repeats", repeats, 1, "what fits the number of rows")
    whole_number("random_state", seed, 0)
    if seed > _MOST_SEED:
        raise ParameterError(
            f"random_state={brief(seed)} cannot be used: give a whole number from 0 to "
            f"{_MOST_SEED}."
        )
    _refuse_lonely(counts, classes)
    notes = []
    least = min(counts)
    if least < folds:
        rare = classes[list(counts).index(least)]
        notes.append(
            f"{least} folds instead of {brief(folds)}: class {rare!r} has {least} rows, and every "
            "fold needs one."
        )
    n_folds = min(int(folds), least)
    if repeats is None:
        repeats = next((r for below, r in _REPEATS if sum(counts) < below), 1)
    _refuse_many(repeats, n_folds, sum(counts))
    return Folds(n_folds, int(repeats), int(seed), tuple(notes))


def _refuse_many(repeats: int, n_folds: int, n_rows: int) -> None:
    """No more than memory holds; repeats share their rows, so that many more tell little more."""
    most = max(1, min(_MOST_REPEATS, _MOST_PLACES // (n_folds * n_rows)))
    if repeats > most:
        raise ParameterError(
            f"repeats={brief(repeats)} cannot be used: {n_folds} folds of {n_rows:,} rows can be "
            f"repeated {counted(most, 'time')} at most. Give fewer, or None for what fits the rows."
        )


def _refuse_lonely(counts: Sequence[int], classes: Sequence[Value]) -> None:
    lonely = [label for label, n in zip(classes, counts, strict=True) if n < 2]
    if lonely:
        one = len(lonely) == 1
        raise LabelError(
            f"{'Class' if one else 'Classes'} {listed(lonely)} of the target "
            f"{'has' if one else 'have'} one row only, which cannot be both learned from and "
            "tested on: leave such rows out, join rare classes into one, or add rows."
        )


def part_of(rows: Places, y: NDArray[Any], n: int, seed: int, fold: int) -> Places:
    """About n of the training rows of a fold, ascending: of each class the same share.

    Of every class two rows at least, where it has them. The rows of a smaller part are among those
    of a larger one.
    """
    rng = np.random.default_rng([seed, fold])
    kept = []
    for label in np.unique(y[rows]):
        own = rng.permutation(rows[y[rows] == label])
        kept.append(own[: max(2, round(n * len(own) / len(rows)))])
    return np.sort(np.concatenate(kept))


INNER_FOLDS = 3

_LONGEST = 400


@dataclass(frozen=True)
class FoldProblem:
    """The rows, whose labels are codes of classes; the folds; and what all models are told."""

    frame: Any
    y: Counts
    labels: NDArray[Any]
    folds: Folds
    metric: str
    categorical_features: tuple[str, ...] = ()
    tune: bool = False
    keep: bool = False
    """Whether predictions of the first repeat are sent back."""

    def keeps(self, entrant: Candidate, fold: int) -> bool:
        """Whether what a model says of this fold's rows is wanted."""
        return self.keep and not entrant.baseline and fold < self.folds.folds

    @cached_property
    def split(self) -> list[tuple[Places, Places]]:
        """The rows of each fold."""
        return self.folds.split(self.y)

    @cached_property
    def matrix(self) -> EncodedMatrix:
        """What baselines read."""
        return as_matrix(self.frame, self.categorical_features)

    @cached_property
    def place(self) -> dict[Value, int]:
        """The code of each label."""
        return {label: k for k, label in enumerate(self.labels.tolist())}

    def rows(self, rows: Places) -> Any:
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
    said: Codes | None = field(default=None, compare=False, repr=False)
    probabilities: Float | None = field(default=None, compare=False, repr=False)

    def forget(self) -> None:
        """Let go of the predictions, which have been joined elsewhere."""
        object.__setattr__(self, "said", None)
        object.__setattr__(self, "probabilities", None)


@dataclass(frozen=True)
class Candidate:
    """A model that takes part: a learner of the registry, or a baseline by its name."""

    name: str
    title: str
    probabilistic: bool
    learner: LearnerEntry | None = None

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

    def options(self, seed: int, categorical_features: Sequence[str]) -> dict[str, Any]:
        """What a learner is told beside its defaults."""
        assert self.learner is not None  # noqa: S101  (of learners only)
        known = self.learner.options()
        told: dict[str, Any] = {"random_state": seed}
        if categorical_features:
            told["categorical_features"] = list(categorical_features)
        return {name: value for name, value in told.items() if name in known}

    def make(self, problem: FoldProblem) -> SomeClassifier:
        """The estimator, not fitted; it runs in one thread."""
        if self.learner is None:
            made = make_baseline(self.name, problem.matrix, problem.folds.seed)
            return cast("SomeClassifier", made)
        options = self.options(problem.folds.seed, problem.categorical_features)
        if "n_jobs" in self.learner.options():
            options["n_jobs"] = 1
        return self.learner.make(**options)

    def scorer(self, metric: str) -> str:
        """What options are chosen by, as scikit-learn calls it."""
        return METRICS[metric if self.probabilistic else "balanced_accuracy"].scorer

    def tuned(self, problem: FoldProblem) -> SomeClassifier:
        """The estimator, which chooses among the values of its grid where that is asked for."""
        estimator = self.make(problem)
        if not (problem.tune and self.grid):
            return estimator
        inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=problem.folds.seed)
        scorer = self.scorer(problem.metric)
        return cast("SomeClassifier", GridSearchCV(estimator, self.grid, scoring=scorer, cv=inner))

    def size(self, fitted: FittedClassifier) -> float | None:
        """How many numbers predict needs; None where an estimator does not say."""
        if self.learner is None:
            return size_of_baseline(self.name, cast("Pipeline", fitted))
        size = getattr(fitted, "n_parameters_", None)
        return None if size is None else float(size)


def prepare(problem: FoldProblem, entrant: Candidate) -> None:
    """Load modules, and read what all folds share, before time counts."""
    _ = problem.split
    with suppress(Exception):  # it will be raised again, where it is said
        entrant.tuned(problem)


def run_fold(problem: FoldProblem, entrant: Candidate, fold: int, n_rows: int | None) -> FoldResult:
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
    problem: FoldProblem,
    entrant: Candidate,
    train: Places,
    test: Places,
    keep: bool,
) -> FoldResult:
    estimator = entrant.tuned(problem)
    X_train: TableLike
    X_test: TableLike
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
        classes = np.arange(shares.shape[1])
        scores["log_loss"] = float(log_loss(problem.y[test], shares, labels=classes))
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


def _scores(y: Counts, said: Counts) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a class that is said and not there
        balanced = float(balanced_accuracy_score(y, said))
    return {"balanced_accuracy": balanced, "accuracy": float(accuracy_score(y, said))}


def _codes(said: ArrayLike, place: dict[Value, int] | None, n: int | None = None) -> Counts:
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


def _aligned(given: ArrayLike, classes: Counts, n_classes: int) -> Float:
    """Probabilities by all classes; one that a fit did not meet has none."""
    shares = np.asarray(given, dtype=np.float64)
    if shares.ndim != 2 or shares.shape[1] != len(classes) or not np.isfinite(shares).all():
        raise InputError("predict_proba gave something else than one finite number a class.")
    aligned = np.zeros((len(shares), n_classes))
    aligned[:, classes] = shares
    return aligned


def one_line(words: object) -> str:
    """Words of anybody in one line that a terminal can be shown."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(words)).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
