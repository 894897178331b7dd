"""Compare every learner on one table, fairly and within a time budget, and say which to take."""

from __future__ import annotations

import time
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from sortal.base.learner import refuse_one_class
from sortal.base.tables import class_array, read_target
from sortal.data.sources import read_labels
from sortal.decision.options import choose as choose_word
from sortal.engines import n_cores, n_threads
from sortal.errors import InputError, ParameterError, listed
from sortal.tasks.compare.baselines import baselines as all_baselines
from sortal.tasks.compare.baselines import find_baseline
from sortal.tasks.compare.choose import build_comparison
from sortal.tasks.compare.fold_run import Candidate, FoldProblem, plan_folds
from sortal.tasks.compare.run import ComparisonRun, join_out_of_fold
from sortal.tasks.compare.settings import METRICS, CompareOptions, Settings
from sortal.tasks.fit import TrainingRows, training_rows
from sortal.tasks.registry import features_among, find
from sortal.tasks.registry import learners as all_learners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.compare.run import OutOfFold, Progress, Run
    from sortal.tasks.tables import DataLike

# Fast ones first: what they leave of their share goes to those that come later.
_LAST = ("perceptron", "logistic", "linear_svm", "rbf_svm")


def compare(
    data: DataLike,
    target: str,
    *,
    learners: Sequence[str] | None = None,
    baselines: bool | Sequence[str] = True,
    metric: str = "balanced_accuracy",
    folds: int = 10,
    repeats: int | None = None,
    budget: float = 150.0,
    confidence_level: float = 0.95,
    tune: bool = False,
    drop: Sequence[str] = (),
    categorical_features: Sequence[str] = (),
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare learners by repeated stratified cross-validation, and choose the simplest good one.

    Every model sees the same folds and runs in a process of its own, where it can be stopped. One
    that would take more than its share of the budget goes on with a part of the training rows, or
    stays unfinished; either is said, and such a model is not chosen. An error in one model is
    shown in its row.

    Parameters
    ----------
    data : path, "-" or data frame
        A CSV, Parquet or JSON-lines file, standard input, or a table.
    target : str
        The column to predict. Rows without a value there are left out, with a warning.
    learners : names, default=None
        Registered learners; None means all.
    baselines : bool or names, default=True
        The baselines of scikit-learn, or some of them.
    metric : {"balanced_accuracy", "accuracy", "log_loss"}, default="balanced_accuracy"
        What is compared. Models without probabilities have no log loss, and are not chosen by it.
    folds : int of at least 2, default=10
        At most the rows of the smallest class are used, which is said.
    repeats : int of at least 1, default=None
        None: 10 below 1,000 rows, 3 below 10,000, else 1.
    budget : float above 0, default=150.0
        Seconds in total.
    confidence_level : float between 0 and 1, default=0.95
        Of the tests, and of the intervals.
    tune : bool, default=False
        Choose among a few options of each model by three folds within each training part.
    drop : names, default=()
        Columns to leave out.
    categorical_features : names, default=()
        Columns of numbers that are names rather than amounts.
    random_state : int from 0 to 2^32 - 1, default=0
        Which rows fall into which fold.
    n_jobs : int, default=None
        Models at work at a time, one core each; None means all cores, and more than there are
        counts as all. Scores do not depend on it.
    progress : callable, default=None
        Called after each fold, and every second, with how many folds are done, how many there
        are, the names of the models at work, and the seconds left. What it raises ends the
        comparison.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sortal import datasets
    >>> from sortal.tasks.compare.compare import compare
    >>> found = compare(datasets.iris(), "species", learners=["lda", "bayes"], baselines=False,
    ...                 repeats=1)
    >>> print(found.choice.best, len(found.scores["lda"]))
    lda 10
    """
    options = CompareOptions(
        target, learners, baselines, metric, folds, repeats, budget, confidence_level, tune, drop,
        categorical_features, random_state, n_jobs,
    )  # fmt: skip
    return run_comparison(data, options, progress)


def run_comparison(
    data: DataLike | TrainingRows,
    asked: CompareOptions,
    progress: Progress | None = None,
    *,
    keep: bool = False,
    path: str | None = None,
) -> Comparison:
    """Compare as `compare` does; with `keep`, learners' out-of-fold predictions are kept.

    `data` may also be the rows of `training_rows` themselves, for which target, columns to drop and
    categories were given; `path` is then the file that they came from.
    """
    began = time.monotonic()
    _check(asked)
    entrants = _candidates(asked.learners, asked.baselines)
    rows = (
        data
        if isinstance(data, TrainingRows)
        else training_rows(data, asked.target, asked.drop, asked.categorical_features, {})
    )
    problem = _problem(rows, asked, keep)
    n_workers = min(n_threads(asked.n_jobs), n_cores(), len(entrants) * problem.folds.n)
    if asked.n_jobs is None:
        n_workers = min(n_workers, len(entrants))
    race = ComparisonRun(problem, entrants, n_workers, asked.budget, progress)
    race.run()
    settings = Settings(
        target=asked.target,
        metric=asked.metric,
        folds=problem.folds,
        confidence_level=asked.confidence_level,
        budget=asked.budget,
        tune=asked.tune,
        drop=tuple(asked.drop),
        categorical_features=tuple(asked.categorical_features),
        rows=len(problem.y),
        left_out=len(nw.from_native(rows.all_rows, eager_only=True)) - len(problem.y),
        classes=tuple(problem.labels.tolist()),
        counts=tuple(np.bincount(problem.y).tolist()),
        n_jobs=n_workers,
        seconds=time.monotonic() - began,
        backend=str(nw.from_native(rows.X, eager_only=True).implementation),
        path=_path(data) if path is None else path,
        entrants=tuple(entrants),
    )
    found = build_comparison(race.runs, settings)
    return replace(found, kept=_kept(race.runs, problem)) if keep else found


def _kept(runs: Sequence[Run], problem: FoldProblem) -> dict[str, OutOfFold]:
    joined = {run.name: join_out_of_fold(run, problem) for run in runs}
    return {name: one for name, one in joined.items() if one is not None}


def _path(data: object) -> str | None:
    """The file that can be read again."""
    if isinstance(data, str | PathLike) and data != "-":
        return str(fspath(data))
    return None


def _check(asked: CompareOptions) -> None:
    choose_word("metric", asked.metric, tuple(METRICS))
    budget, level = asked.budget, asked.confidence_level
    is_number = isinstance(budget, int | float) and not isinstance(budget, bool)
    if not is_number or not 0 < budget < float("inf"):
        raise ParameterError(f"budget={budget!r} cannot be used: give seconds, more than 0.")
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError(
            f"confidence_level={level!r} cannot be used: give a number between 0 and 1."
        )


def _candidates(learners: Sequence[str] | None, baselines: bool | Sequence[str]) -> list[Candidate]:
    """Who takes part, the fast ones first."""
    chosen = all_learners() if learners is None else [find(name) for name in _names(learners)]
    entrants = [Candidate(one.name, one.title, one.facts.probabilistic, one) for one in chosen]
    named = all_baselines() if baselines is True else map(find_baseline, _names(baselines or ()))
    entrants += [Candidate(one.name, one.title, one.probabilistic) for one in named]
    twice = [one.name for i, one in enumerate(entrants) if one.name in _taken(entrants[:i])]
    if twice:
        raise ParameterError(
            f"{listed(twice)} would take part more than once: name each model once."
        )
    if not entrants:
        raise ParameterError("There is no model to compare: name a learner or a baseline.")
    return sorted(entrants, key=lambda one: (one.baseline and one.name in _LAST, not one.baseline))


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _taken(entrants: Sequence[Candidate]) -> set[str]:
    return {entrant.name for entrant in entrants}


def _problem(rows: TrainingRows, asked: CompareOptions, keep: bool) -> FoldProblem:
    frame = nw.from_native(rows.X, eager_only=True)
    if not frame.columns:
        raise InputError("There is no column to learn from beside the target: drop fewer columns.")
    target = read_target(rows.y, len(frame))
    column = read_labels(target.table)
    refuse_one_class(column.values, "compare")
    plan = plan_folds(
        np.bincount(column.codes).tolist(),
        column.values,
        asked.folds,
        asked.repeats,
        asked.random_state,
    )
    y, labels = column.codes.astype(np.int64), class_array(column.values, target.dtype)
    features = tuple(features_among(asked.categorical_features, asked.target))
    return FoldProblem(rows.X, y, labels, plan, asked.metric, features, asked.tune, keep)
