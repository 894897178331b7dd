"""The folds of a comparison, and one model on one fold: what a worker does."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)

from sortal.data.sources import read_frame
from sortal.decision.options import read_costs, whole_number
from sortal.decision.posterior import decide
from sortal.errors import InputError, LabelError, ParameterError, brief, counted
from sortal.tasks.baselines import CONSTANT, as_matrix, make_baseline
from sortal.tasks.compare.measures import Answers, columns_of, measure, offsets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Codes, Counts, Float, Mask, Places, TableLike
    from sortal.data.columns import Value
    from sortal.tasks.baselines import EncodedMatrix
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.registry import SomeClassifier


# --- The folds of a comparison: how many, which rows, and parts of the training rows -------------

# So many folds up to so many rows; so many repeats below: the fewer rows, the more a score depends
# on how they fall.
_FOLDS, _FEWEST_FOLDS = ((20_000, 10), (100_000, 5)), 3

_REPEATS = ((1_000, 10), (10_000, 3))

# Repeats; rows of all folds together, 8 bytes each; and what scikit-learn takes for a seed.
_MOST_REPEATS, _MOST_PLACES, _MOST_SEED = 1_000, 1 << 28, 2**32 - 1


@dataclass(frozen=True)
class Folds:
    """Repeated stratified cross-validation; the same for every model.

    `by` is "groups" where rows of one group stay together, "time" where models learn from earlier
    rows only, and else "".
    """

    folds: int
    repeats: int
    seed: int
    by: str = ""

    @property
    def n(self) -> int:
        """How many fits it takes."""
        return self.folds * self.repeats

    @property
    def test_share(self) -> float:
        """The test rows of a fold by its training rows; by time the mean over the folds."""
        if self.by == "time":
            return sum(1 / (f + 1) for f in range(self.folds)) / self.folds
        return 1 / (self.folds - 1)

    def split(
        self, y: NDArray[Any], order: NDArray[Any] | None = None
    ) -> list[tuple[Places, Places]]:
        """The training and the test rows of each fold, by the labels of all rows.

        `order` are the groups of the rows, or their ranks in time.
        """
        rows = np.zeros((len(y), 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class of fewer rows than folds is meant
            if self.by == "time":
                assert order is not None  # noqa: S101  (it was asked for)
                sequence = np.argsort(order, kind="stable")
                parts = TimeSeriesSplit(self.folds).split(rows)
                return [(np.sort(sequence[a]), np.sort(sequence[b])) for a, b in parts]
            if self.by == "groups":
                seeds = range(self.seed, self.seed + self.repeats)
                dealt = [
                    StratifiedGroupKFold(self.folds, shuffle=True, random_state=s) for s in seeds
                ]
                return [part for one in dealt for part in one.split(rows, y, order)]
            splitter = RepeatedStratifiedKFold(
                n_splits=self.folds, n_repeats=self.repeats, random_state=self.seed
            )
            return list(splitter.split(rows, y))

    def __str__(self) -> str:
        once = {1: "once", 2: "twice"}.get(self.repeats, f"{self.repeats} times")
        by = {"groups": " by group", "time": " in time"}.get(self.by, "")
        return f"{counted(self.folds, 'fold')}{by}, {once}"


def plan_folds(
    counts: Sequence[int],
    folds: int | None,
    repeats: int | None,
    seed: int,
    by: str = "",
    n_groups: int | None = None,
) -> Folds:
    """Folds for classes of so many rows each, down to one row of a class."""
    n_rows = sum(counts)
    whole_number("folds", folds, 2, "what fits the number of rows")
    whole_number("repeats", repeats, 1, "what fits the number of rows")
    whole_number("random_state", seed, 0)
    if seed > _MOST_SEED:
        raise ParameterError(
            f"random_state={brief(seed)} cannot be used: give a whole number from 0 to "
            f"{_MOST_SEED}."
        )
    most = max(counts) if n_groups is None else n_groups
    if most < 2:
        raise LabelError(
            "Every class has one row only, which cannot be both learned from and tested on: join "
            "classes, or add rows."
            if n_groups is None
            else "All rows are of one group, so that none can be held out: leave groups out."
        )
    if folds is None:
        folds = next((n for most_rows, n in _FOLDS if n_rows <= most_rows), _FEWEST_FOLDS)
    n_folds = min(folds, most)
    if repeats is None:
        repeats = next((r for below, r in _REPEATS if n_rows < below), 1)
    if by == "time":
        repeats = 1
    allowed = max(1, min(_MOST_REPEATS, _MOST_PLACES // (n_folds * n_rows)))
    if repeats > allowed:
        raise ParameterError(
            f"repeats={brief(repeats)} cannot be used: {n_folds} folds of {n_rows:,} rows can be "
            f"repeated {counted(allowed, 'time')} at most. Give fewer, or None for what fits the "
            "rows."
        )
    return Folds(n_folds, int(repeats), int(seed), by)


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
    """The rows, whose labels are codes of classes; the folds; and what all models are told.

    `costs` are what models decide by: None, "balanced" or a matrix. `judged` are the classes whose
    rows count in measures, `order` groups of rows or their ranks in time. Predictions of the first
    repeat are sent back where `keep` is set, probabilities of every repeat for `curves`, classes of
    which average precision is told.
    """

    frame: Any
    y: Counts
    labels: NDArray[Any]
    folds: Folds
    judged: Mask
    costs: Any = None
    order: NDArray[Any] | None = None
    metric: str = "accuracy"
    categorical_features: tuple[str, ...] = ()
    tune: bool = False
    keep: bool = False
    curves: tuple[int, ...] = ()

    def keeps(self, candidate: Candidate, fold: int) -> bool:
        """Whether what a model says of this fold's rows is wanted."""
        first = self.keep and not candidate.baseline and fold < self.folds.folds
        return first or (bool(self.curves) and candidate.probabilistic)

    @cached_property
    def split(self) -> list[tuple[Places, Places]]:
        """The rows of each fold."""
        return self.folds.split(self.y, self.order)

    @cached_property
    def weight(self) -> Float:
        """What a row of each class counts in balanced accuracy: N / (K n_k) of the rows tested.

        So the mean over a repeat is the mean of the recalls, also where folds lack a class. (S 105)
        """
        tested = np.concatenate([test for _, test in self.split[: self.folds.folds]])
        counts = np.bincount(self.y[tested], minlength=len(self.labels)) * self.judged
        present = counts > 0
        return np.where(present, counts.sum() / (present.sum() * np.maximum(counts, 1)), 0.0)

    def matrix_of_costs(self, rows: Places) -> Float | None:
        """The costs as a matrix, by the proportions of the classes among the training rows."""
        if self.costs is None:
            return None
        counts = np.bincount(self.y[rows], minlength=len(self.labels)).astype(np.float64)
        return read_costs(self.costs, tuple(self.labels.tolist()), counts)

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
    """Scores by metric, seconds, numbers and terms of the model; or an error in a line.

    Warnings by kind. `predicted` and `probabilities` are what was predicted, by codes of classes,
    where it is kept.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    size: float | None = None
    terms: int | None = None
    rows: int = 0
    chosen: Mapping[str, Any] = field(default_factory=dict)
    warned: tuple[tuple[str, str], ...] = ()
    error: str = ""
    predicted: Codes | None = field(default=None, compare=False, repr=False)
    probabilities: Float | None = field(default=None, compare=False, repr=False)
    truth: Codes | None = field(default=None, compare=False, repr=False)


def prepare(problem: FoldProblem, candidate: Candidate) -> None:
    """Load modules, and read what all folds share, before time counts."""
    _ = problem.split
    with suppress(Exception):  # it will be raised again, where it is said
        _make(problem, candidate)


def _make(problem: FoldProblem, candidate: Candidate) -> SomeClassifier:
    """The estimator, not fitted, in one thread; it chooses from its grid where that is wished."""
    if candidate.learner is None:
        made = cast(
            "SomeClassifier", make_baseline(candidate.name, problem.matrix, problem.folds.seed)
        )
    else:
        costs = problem.costs if candidate.carries(len(problem.labels)) else None
        options = candidate.options(problem.folds.seed, problem.categorical_features, costs)
        if "n_jobs" in candidate.learner.options():
            options["n_jobs"] = 1
        made = candidate.learner.make(**options)
    if not (problem.tune and candidate.grid):
        return made
    inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=problem.folds.seed)
    scorer = scorer_of(candidate, problem.metric)
    return cast("SomeClassifier", GridSearchCV(made, candidate.grid, scoring=scorer, cv=inner))


def scorer_of(candidate: Candidate, metric: str) -> str:
    """What options are chosen by, as scikit-learn calls it: probabilities tell most."""
    if candidate.probabilistic:
        return "neg_log_loss"
    return "accuracy" if metric == "accuracy" else "balanced_accuracy"


def run_fold(
    problem: FoldProblem, candidate: Candidate, fold: int, n_rows: int | None
) -> FoldResult:
    """Fit to the training rows of a fold, or to a part of about n_rows, and score the others.

    Whatever a model raises is its own affair: it becomes a line of text.
    """
    train, test = problem.split[fold]
    if n_rows is not None:
        train = part_of(train, problem.y, n_rows, problem.folds.seed, fold)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _fit_and_score(problem, candidate, train, test, fold)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a learner may raise anything)
            return FoldResult(error=f"{type(error).__name__}: {one_line(error)}")
    warned = {w.category.__name__: one_line(w.message) for w in reversed(caught)}
    object.__setattr__(result, "warned", tuple(sorted(warned.items())))
    return result


def _fit_and_score(
    problem: FoldProblem, candidate: Candidate, train: Places, test: Places, fold: int
) -> FoldResult:
    X: tuple[TableLike, TableLike]
    if candidate.baseline:
        X, y = (problem.matrix.values[train], problem.matrix.values[test]), problem.y[train]
    else:
        X, y = (problem.rows(train), problem.rows(test)), problem.labels[problem.y[train]]
    estimator = _make(problem, candidate)
    costs = problem.matrix_of_costs(train)
    start = time.perf_counter()
    estimator.fit(X[0], y)
    fitted = time.perf_counter()
    labels = estimator.predict(X[1])
    predicted = time.perf_counter()
    place = None if candidate.baseline else problem.place
    answers = _answers(estimator, X[1], _codes(labels, place, len(test)), problem, place)
    # every constant is as good by the 1/π rule: the commonest class says most
    idle = candidate.name == CONSTANT and isinstance(problem.costs, str)
    if costs is not None and not idle and not candidate.carries(len(problem.labels)):
        constants = None
        if answers.scores is not None and not answers.probabilistic:
            constants = _inner_offsets(problem, candidate, X[0], y, costs)
        answers = by_costs(answers, costs, constants)
    counted_rows = problem.judged[problem.y[test]]
    shown = Answers(
        answers.predicted[counted_rows],
        None if answers.scores is None else answers.scores[counted_rows],
        answers.probabilistic,
    )
    given = None if isinstance(problem.costs, str) else costs
    best = getattr(estimator, "best_estimator_", estimator)
    keep = problem.keeps(candidate, fold)
    return FoldResult(
        measure(problem.y[test][counted_rows], shown, problem.weight, given),
        fitted - start,
        predicted - fitted,
        candidate.size(best),
        candidate.terms(best),
        len(train),
        dict(getattr(estimator, "best_params_", {})),
        predicted=answers.predicted.astype(np.int32) if keep else None,
        probabilities=answers.scores if keep and answers.probabilistic else None,
        truth=problem.y[test].astype(np.int32) if keep and answers.probabilistic else None,
    )


def _answers(
    estimator: SomeClassifier,
    X: TableLike,
    predicted: Counts,
    problem: FoldProblem,
    place: dict[Value, int] | None,
) -> Answers:
    """What a fitted model says of rows; scores are aligned to all classes."""
    probabilistic = hasattr(estimator, "predict_proba")
    if not probabilistic and not hasattr(estimator, "decision_function"):
        return Answers(predicted, None, probabilistic)
    ask = estimator.predict_proba if probabilistic else estimator.decision_function
    given = columns_of(np.asarray(ask(X), dtype=np.float64))
    codes = _codes(estimator.classes_, place)
    # A class that the training rows lack has no probability, and is never the largest score.
    return Answers(
        predicted,
        _aligned(given, codes, len(problem.labels), 0.0 if probabilistic else -1e300),
        probabilistic,
    )


def by_costs(answers: Answers, costs: Float, constants: Float | None) -> Answers:
    """The same rows decided by costs: by expected ones, or by scores with constants."""
    scores = answers.scores
    if scores is None or (constants is None and not answers.probabilistic):
        return answers
    predicted = (
        (scores + constants).argmax(axis=1) if constants is not None else decide(scores, costs)
    )
    return Answers(predicted, scores, answers.probabilistic)


def _inner_offsets(
    problem: FoldProblem, candidate: Candidate, X: TableLike, y: NDArray[Any], costs: Float
) -> Float | None:
    """Constants for scores, from rows of inner folds; never from rows that were learned from."""
    codes = y if candidate.baseline else _codes(y, problem.place)
    least = np.bincount(codes, minlength=len(costs)).min()
    if least < INNER_FOLDS:
        return None
    inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=problem.folds.seed)
    estimator = _make(problem, candidate)
    scores = cross_val_predict(estimator, X, y, cv=inner, method="decision_function")
    return offsets(columns_of(np.asarray(scores)), codes.astype(np.int32), costs)


def _codes(labels: ArrayLike, place: dict[Value, int] | None, n: int | None = None) -> Counts:
    """Labels as codes of the classes."""
    answers = np.asarray(labels)
    if answers.ndim != 1 or (n is not None and len(answers) != n):
        raise InputError(
            f"predict gave an array of the shape {answers.shape}: one label per row is needed."
        )
    if place is None:
        return answers.astype(np.int64)
    strangers = [label for label in answers.tolist() if label not in place]
    if strangers:
        raise LabelError(f"predict gave {strangers[0]!r}, which is not a class of the target.")
    return np.array([place[label] for label in answers.tolist()], dtype=np.int64)


def _aligned(given: Float, classes: Counts, n_classes: int, fill: float) -> Float:
    """Scores by all classes; one that a fit did not meet has the least."""
    if given.ndim != 2 or given.shape[1] != len(classes) or not np.isfinite(given).all():
        raise InputError("predict_proba gave something else than one finite number per class.")
    aligned = np.full((len(given), n_classes), fill)
    aligned[:, classes] = given
    return aligned


def one_line(words: object) -> str:
    """Words of anybody in one line that a terminal can be shown."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(words)).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
