"""Leave one out for nearest neighbors: each row asked of the others, and what is chosen by it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.options import class_priors, read_costs
from sortal.decision.posterior import decide, shares_of_votes
from sortal.engines import n_threads
from sortal.errors import TrainingRowsError
from sortal.neighbors.learn import (
    candidates,
    class_factors,
    class_weights,
    gather_kept,
    plan,
    row_weights,
)
from sortal.neighbors.model import kept_queries
from sortal.neighbors.votes import Voters, by_class, count_votes, near_filled, rows_at_a_time, votes
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sortal._typing import Counts, Float, Mask, Places
    from sortal.base.learner import Training
    from sortal.neighbors.learn import NeighborsFit, NeighborsOptions
    from sortal.neighbors.model import NeighborsModel
    from sortal.summaries.rows import KeptRows


def leave_out(fitted: NeighborsFit, training: Training) -> tuple[Float, Mask | None]:
    """P(c|x) of each row of the fit by the votes of the others; a row without weight has none."""
    rows = gather_kept(training, plan(training.source.schema, fitted.options), fitted.options)
    _refuse_other_rows(rows, fitted.summary)
    threads = n_threads(getattr(training.engine, "n_jobs", None))
    made = loo_shares(fitted.model, fitted.options, threads)
    units = training.source.units
    if units is None or units.all():
        return made, None
    spread = np.zeros((len(units), made.shape[1]))
    spread[units > 0] = made
    return spread, units == 0


def loo_shares(model: NeighborsModel, options: NeighborsOptions, n_threads: int = 1) -> Float:
    """P(c|x) of each row by the votes of the others. (S 79)"""
    made = np.empty((model.n_rows, len(model.classes)))
    without = classes_without(model, options)
    for rows in _row_blocks(model, model.k):
        said = count_votes(model, kept_queries(model, rows), rows, n_threads)
        factors, prior = without(rows)
        made[rows] = shares_of_votes(by_class(said, factors), prior)
    return made


def classes_without(
    model: NeighborsModel, options: NeighborsOptions
) -> Callable[[Places], tuple[Float, Float]]:
    """Some rows → factors and priors of the classes without each of them. (S 79)

    What is left of the classes depends on the row's own class and weight alone.
    """
    labels, weights, classes = model.labels, row_weights(model), model.classes
    whole = class_weights(labels, weights, len(classes))

    def without(rows: Places) -> tuple[Float, Float]:
        counts = np.tile(whole, (len(rows), 1))
        counts[np.arange(len(rows)), labels[rows]] -= 1.0 if weights is None else weights[rows]
        return (
            class_factors(counts, options, classes),
            class_priors(counts, classes, options.priors, options.class_weight),
        )

    return without


def _row_blocks(model: NeighborsModel, k: int) -> Iterator[Counts]:
    step = rows_at_a_time(len(model.schema.columns), k + 1)
    for start in range(0, model.n_rows, step):
        yield np.arange(start, min(start + step, model.n_rows))


def choose_neighbors(
    model: NeighborsModel, rows: KeptRows, options: NeighborsOptions, n_threads: int = 1
) -> NeighborsModel:
    """The model with the k and the weighting of least leave-one-out error, and the curve. (S 79)"""
    ks, weightings = candidates(rows, options)
    wrong = _wrong_units(model, options, ks, weightings, n_threads)
    i, j = divmod(int(np.argmin(wrong)), len(weightings))  # the first of equals
    total = float(rows.row_units().sum())
    cells = tuple(
        (k, weighting, float(units) / total)
        for (k, weighting), units in zip(
            product(ks, weightings), wrong.ravel().tolist(), strict=True
        )
    )
    heads = ("k", "weighting", "error")
    curve = Table("loo", "Leave one out", heads, cells, "S 79")
    return replace(model, k=ks[i], weighting=weightings[j], curve=curve)


def _wrong_units(
    model: NeighborsModel,
    options: NeighborsOptions,
    ks: Sequence[int],
    weightings: Sequence[str],
    n_threads: int,
) -> Counts:
    """The weight, in units, of the rows said wrong by each k and weighting, from one search."""
    costs = read_costs(options.costs, model.classes)
    without, voters = classes_without(model, options), Voters.of(model)
    units = np.ones(model.n_rows, dtype=np.int64) if model.units is None else model.units
    wrong = np.zeros((len(ks), len(weightings)), dtype=np.int64)
    for block in _row_blocks(model, ks[-1]):
        queries = kept_queries(model, block)
        groups = near_filled(
            model, queries, ks[-1], beyond=True, exclude=block, n_threads=n_threads
        )
        for at, near in groups:
            rows = block[at]
            factors, prior = without(rows)
            for i, k in enumerate(ks):
                for j, weighting in enumerate(weightings):
                    said = by_class(votes(near, voters, k, weighting), factors)
                    label = decide(shares_of_votes(said, prior), costs)
                    wrong[i, j] += units[rows][label != model.labels[rows]].sum()
    return wrong


def _refuse_other_rows(given: KeptRows, fitted: KeptRows) -> None:
    """Only the rows of the fit, in their order, can be left out."""
    same = len(given) == len(fitted) and given.values == fitted.values
    same = same and given.labels == fitted.labels and given.exponent == fitted.exponent
    same = same and bool((given.y == fitted.y).all() and (given.codes == fitted.codes).all())
    same = same and bool((given.row_units() == fitted.row_units()).all())
    if not same or not np.array_equal(given.numbers, fitted.numbers, equal_nan=True):
        raise TrainingRowsError(
            "loo_proba takes the rows of the fit again, in their order, with their labels and "
            "weights, and these are others: give the same X, y and sample_weight as to fit."
        )
