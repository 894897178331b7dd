"""Compare every learner on one table, fairly and within a budget, and say which to take."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw
import numpy as np

from sortal.base.learner import refuse_one_class
from sortal.base.tables import class_array, read_target
from sortal.data.sources import read_labels
from sortal.decision.options import choose as choose_word
from sortal.decision.options import read_costs, whole_number
from sortal.engines import n_cores, n_threads
from sortal.errors import InputError, LabelError, ParameterError, counted, listed
from sortal.tasks.compare.candidates import candidates
from sortal.tasks.compare.comparison import build_comparison
from sortal.tasks.compare.fold_run import FoldProblem, plan_folds
from sortal.tasks.compare.measures import default_metric, rare_classes
from sortal.tasks.compare.run import ComparisonRun, Run, join_out_of_fold, training_sizes
from sortal.tasks.compare.settings import METRICS, CompareOptions, Settings
from sortal.tasks.fit import TrainingRows, training_rows
from sortal.tasks.options import options_of, read_options, takes
from sortal.tasks.registry import features_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Mask
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.compare.run import OutOfFold, Progress
    from sortal.tasks.tables import DataLike

Asked = TypeVar("Asked", bound=CompareOptions)

# Ensembles, which nobody reads, go through so many folds of a table with more rows than that.
_ENSEMBLE_FOLDS, _ENSEMBLE_ROWS = 3, 20_000

# A column of text with more values than that makes learners slow.
_MANY_VALUES = 100


@takes(CompareOptions)
def compare(
    data: DataLike, target: str, *, progress: Progress | None = None, **options: Any
) -> Comparison:
    """Compare learners by repeated stratified cross-validation, and recommend one.

    Every model sees the same folds, and decides by the rule that the metric asks for. Recommended
    is the most readable model whose score is within a small margin of the best.

    Each model runs in a process of its own, where it can be stopped. One that would take more than
    its share of the budget learns from fewer rows, which its row in the table states. An error in
    one model is shown in its row.

    Parameters
    ----------
    data : path, "-" or data frame
        A CSV, Parquet or JSON-lines file, standard input, or a table.
    target : str
        The column to predict. Rows without a value there are left out, which is stated.
    OPTIONS
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
    return run_comparison(data, read_options(CompareOptions, target, options), progress)


def run_comparison(
    data: DataLike | TrainingRows,
    asked: CompareOptions,
    progress: Progress | None = None,
    *,
    keep: bool = False,
    path: str | None = None,
) -> Comparison:
    """Compare as `compare` does; with `keep`, learners' out-of-fold predictions are kept.

    `data` may also be the rows of `training_rows` themselves, selected by the same options; `path`
    is then the file that they came from.
    """
    began = time.monotonic()
    asked, earlier = replayed(asked)
    _check(asked)
    field = candidates(asked.learners, asked.baselines)
    if progress is not None:
        progress(0, 1, "reading", 0.0)
    rows = (
        data
        if isinstance(data, TrainingRows)
        else training_rows(data, asked.target, **asked.selection)
    )
    problem, metric = _problem(rows, asked, keep)
    n_workers = min(n_threads(asked.n_jobs), n_cores(), len(field) * problem.folds.n)
    if asked.n_jobs is None:
        n_workers = min(n_workers, len(field))
    runs = [_run(one, problem, earlier) for one in field]
    race = ComparisonRun(problem, field, n_workers, progress)
    race.run(runs, asked.budget if earlier is None else float("inf"))
    settings = Settings(
        asked=asked,
        metric=metric,
        costs=problem.costs,
        folds=problem.folds,
        rows=len(problem.y),
        left_out=len(nw.from_native(rows.all_rows, eager_only=True)) - len(problem.y),
        classes=tuple(problem.labels.tolist()),
        counts=tuple(np.bincount(problem.y).tolist()),
        judged=tuple(problem.judged.tolist()),
        dropped=rows.dropped,
        n_jobs=n_workers,
        seconds=time.monotonic() - began,
        backend=str(nw.from_native(rows.X, eager_only=True).implementation),
        path=_path(data) if path is None else path,
        candidates=tuple(field),
        notes=(*rows.notes, *_set_aside(problem), *_slow_columns(rows, runs)),
    )
    found = build_comparison(runs, settings)
    beside = _beside_parts(found, runs)
    if beside:
        race.run(beside)
        found = build_comparison(runs, settings, beside)
    return replace(found, kept=_kept(runs, problem)) if keep else found


def _run(one: Candidate, problem: FoldProblem, earlier: Mapping[str, Any] | None) -> Run:
    """A model before its first fold; of an earlier comparison with the rows that it had there."""
    n = len(problem.y)
    n_train = n - -(-n // problem.folds.folds)
    sizes, n_folds = training_sizes(n_train, len(problem.labels)), problem.folds.n
    if one.ensemble:
        most = _ENSEMBLE_FOLDS if n > _ENSEMBLE_ROWS else problem.folds.folds
        n_folds = min(most, problem.folds.folds)
    if earlier is None:
        return Run(one.name, sizes, n_folds)
    was = earlier.get(one.name)
    if was is None:
        raise ParameterError(f"replay has no model {one.name!r}: it has {listed(list(earlier))}.")
    if not was["scores"] or "unfinished" in was["status"]:
        run = Run(one.name, sizes, n_folds)
        run.stop("unfinished", was["status"])
        return run
    part = was["part"]
    return Run(one.name, (n_train,) if part is None else (part, n_train), n_folds, capped=True)


def replayed(asked: Asked) -> tuple[Asked, dict[str, Any] | None]:
    """The options of an earlier comparison, and its models by name."""
    given = asked.replay
    if given is None:
        return asked, None
    try:
        if not isinstance(given, Mapping):
            given = json.loads(Path(given).read_text(encoding="utf-8"))
        settings, models = given["settings"], {one["name"]: one for one in given["models"]}
        known = [name for name, _, _, _ in options_of(CompareOptions)]
        told = {name: settings[name] for name in known if name in settings}
        if isinstance(told["costs"], list) and isinstance(told["costs"][0], dict):
            told["costs"] = {(c["true"], c["predicted"]): c["cost"] for c in told["costs"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ParameterError(
            f"replay cannot be read ({type(error).__name__}: {error}): give what to_dict() of a "
            "comparison gave, or a file that compare --json wrote."
        ) from None
    if settings["target"] != asked.target:
        raise ParameterError(
            f"replay predicts {settings['target']!r}, and the target is {asked.target!r}: give the "
            "same."
        )
    own = [name for name, one in models.items() if not one["baseline"]]
    others = [name for name, one in models.items() if one["baseline"]]
    told |= {"learners": own, "baselines": others, "n_jobs": asked.n_jobs}
    return replace(asked, **told), models


def _beside_parts(found: Comparison, runs: Sequence[Run]) -> list[Run]:
    """The best model that saw all rows, again with as many as each of those that saw fewer."""
    parts = {run.size: run.n_folds for run in runs if run.slow and run.results}
    whole = [one for one in found.models if one.eligible and one.part is None]
    if not parts or not whole:
        return []
    n_train = max(run.sizes[-1] for run in runs)
    return [Run(whole[0].name, (n, n_train), f, capped=True) for n, f in sorted(parts.items())]


def _kept(runs: Sequence[Run], problem: FoldProblem) -> dict[str, OutOfFold]:
    joined = {run.name: join_out_of_fold(run, problem) for run in runs}
    return {name: one for name, one in joined.items() if one is not None}


def _path(data: object) -> str | None:
    """The file that can be read again."""
    if isinstance(data, str | PathLike) and data != "-":
        return str(fspath(data))
    return None


def _check(asked: CompareOptions) -> None:
    if asked.metric is not None:
        choose_word("metric", asked.metric, tuple(METRICS))
    if asked.metric == "cost" and asked.costs is None:
        raise ParameterError("metric='cost' needs costs (--cost): say what an error costs.")
    if asked.metric == "balanced_accuracy" and asked.costs is not None:
        raise ParameterError(
            "metric='balanced_accuracy' has costs of its own, 1 / π for each class: leave out "
            "costs, or leave out metric, to compare by the mean cost."
        )
    whole_number("min_class_rows", asked.min_class_rows, 1)
    budget, level = asked.budget, asked.confidence_level
    is_number = isinstance(budget, int | float) and not isinstance(budget, bool)
    if not is_number or not 0 < budget < float("inf"):
        raise ParameterError(f"budget={budget!r} cannot be used: give seconds, more than 0.")
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError(
            f"confidence_level={level!r} cannot be used: give a number between 0 and 1."
        )


def _problem(rows: TrainingRows, asked: CompareOptions, keep: bool) -> tuple[FoldProblem, str]:
    frame = nw.from_native(rows.X, eager_only=True)
    if not frame.columns:
        raise InputError("There is no column to learn from beside the target: drop fewer columns.")
    target = read_target(rows.y, len(frame))
    column = read_labels(target.table)
    refuse_one_class(column.values, "compare")
    counts = np.bincount(column.codes)
    judged = _judged(counts, asked.min_class_rows)
    metric = asked.metric or default_metric(counts[judged].tolist(), asked.costs)
    costs = asked.costs
    if costs is not None:
        costs = read_costs(costs, column.values, counts.astype(np.float64))
    elif metric == "balanced_accuracy":
        costs = "balanced"
    by, order, n_groups = _order(rows, asked)
    folds = plan_folds(
        counts.tolist(), asked.folds, asked.repeats, asked.random_state, by, n_groups
    )
    curves = tuple(rare_classes(counts)) or (
        tuple(np.flatnonzero(judged).tolist()) if metric == "average_precision" else ()
    )
    problem = FoldProblem(
        rows.X,
        column.codes.astype(np.int64),
        class_array(column.values, target.dtype),
        folds,
        judged,
        costs,
        order,
        metric,
        tuple(features_among(asked.categorical_features, asked.target)),
        asked.tune,
        keep,
        curves,
    )
    return problem, metric


def _judged(counts: Counts, least: int) -> Mask:
    """Classes of so many rows; those of two at least where that leaves fewer than two."""
    for n in (least, 2):
        if (counts >= n).sum() >= 2:
            return np.asarray(counts >= n)
    raise LabelError(
        "Fewer than two classes have more than one row, which is what it takes to both learn and "
        "test them: join classes (merge_rare, --merge-rare), or add rows."
    )


def _order(
    rows: TrainingRows, asked: CompareOptions
) -> tuple[str, NDArray[Any] | None, int | None]:
    """How folds are dealt: by groups, in time or neither; the groups, or the order of the rows."""
    if rows.order is None:
        return "", None, None
    name, by = (asked.groups, "groups") if asked.groups is not None else (asked.time, "time")
    series = nw.new_series("order", rows.order, backend="pandas")
    if series.is_null().any():
        raise InputError(f"{by}={name!r} has a missing value: give it a value in every row.")
    values, codes = np.unique(rows.order, return_inverse=True)
    return by, codes.astype(np.int64), len(values) if by == "groups" else None


def _set_aside(problem: FoldProblem) -> list[str]:
    """Classes that count in no measure."""
    if problem.judged.all():
        return []
    few = [str(label) for label in problem.labels[~problem.judged].tolist()]
    rows = int((~problem.judged[problem.y]).sum())
    words = (
        f"Too small to be judged, and in no measure: {listed(few)} ({counted(rows, 'row')} in "
        "all). Models learn them. --merge-rare NAME joins such classes, --drop-rare leaves their "
        "rows out, --min-class-rows N moves the limit."
    )
    return [words]


def _slow_columns(rows: TrainingRows, runs: Sequence[Run]) -> list[str]:
    """Columns of very many values, where models were too slow for all rows."""
    if not any(run.slow for run in runs):
        return []
    frame = nw.from_native(rows.X, eager_only=True)
    text = [name for name, kind in frame.schema.items() if not kind.is_numeric()]
    many = {name: frame.get_column(name).n_unique() for name in text}
    told = [f"{name!r} ({n:,} values)" for name, n in many.items() if n > _MANY_VALUES]
    if not told:
        return []
    return [f"What makes models slow: {', '.join(told)}. --drop leaves a column out."]
