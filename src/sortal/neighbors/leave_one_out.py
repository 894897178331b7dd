"""Leave one out for nearest neighbors: each row asked of the others, and what is chosen by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.options import read_costs
from sortal.decision.posterior import decide, shares_of_votes
from sortal.errors import TrainingRowsError
from sortal.neighbors.learn import (
    candidates,
    class_factors,
    class_priors,
    class_weights,
    kept_rows,
    row_weights,
)
from sortal.neighbors.model import kept_queries
from sortal.neighbors.votes import Voters, by_class, count_votes, near_filled, rows_at_a_time, votes
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sortal._typing import Counts, Float, Places
    from sortal.neighbors.learn import NeighborsOptions
    from sortal.neighbors.model import NeighborsModel
    from sortal.summaries.rows import KeptRows

    Int64 = Counts


@dataclass(frozen=True, eq=False)
class ClassesWithoutNeighbor:
    """The classes without one row: what is left of them depends on its class and weight alone."""

    model: NeighborsModel
    options: NeighborsOptions

    def factors_and_priors(self, rows: Places) -> tuple[Float, Float]:
        """Factors and priors of the classes without each of some rows. (S 79)"""
        classes, kept = self.model.classes, kept_rows(self.model)
        counts, weights = np.tile(class_weights(kept, classes), (len(rows), 1)), row_weights(kept)
        own = 1.0 if weights is None else weights[rows]
        counts[np.arange(len(rows)), self.model.labels[rows]] -= own
        return (
            class_factors(counts, self.options, classes),
            class_priors(counts, self.options, classes),
        )


def loo_shares(model: NeighborsModel, options: NeighborsOptions, n_threads: int = 1) -> Float:
    """P(c|x) of each row by the votes of the others. (S 79)"""
    made, others = (
        np.empty((model.n_rows, len(model.classes))),
        ClassesWithoutNeighbor(model, options),
    )
    for rows in _row_blocks(model, model.k):
        said = count_votes(model, kept_queries(model, rows), rows, n_threads)
        factors, prior = others.factors_and_priors(rows)
        made[rows] = shares_of_votes(by_class(said, factors), prior)
    return made


def _row_blocks(model: NeighborsModel, k: int) -> Iterator[Int64]:
    step = rows_at_a_time(len(model.schema.columns), k + 1)
    for start in range(0, model.n_rows, step):
        yield np.arange(start, min(start + step, model.n_rows))


def choose_neighbors(
    model: NeighborsModel, rows: KeptRows, options: NeighborsOptions, n_threads: int = 1
) -> NeighborsModel:
    """The model with the k and the weighting of least leave-one-out error, and the curve. (S 79)"""
    ks, weightings = candidates(rows, options)
    wrong = _wrong_units(model, options, ks, weightings, n_threads)
    settings = [(k, weighting) for k in ks for weighting in weightings]
    i, j = divmod(int(np.argmin(wrong)), len(weightings))  # the first of equals
    total = float(rows.row_units().sum())
    cells = tuple(
        (k, weighting, float(units) / total)
        for (k, weighting), units in zip(settings, wrong.ravel().tolist(), strict=True)
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
) -> Int64:
    """The weight, in units, of the rows said wrong by each k and weighting, from one search."""
    costs = read_costs(options.costs, model.classes)
    others, voters = ClassesWithoutNeighbor(model, options), Voters.of(model)
    units = np.ones(model.n_rows, dtype=np.int64) if model.units is None else model.units
    wrong = np.zeros((len(ks), len(weightings)), dtype=np.int64)
    for block in _row_blocks(model, ks[-1]):
        queries = kept_queries(model, block)
        groups = near_filled(
            model, queries, ks[-1], beyond=True, exclude=block, n_threads=n_threads
        )
        for at, near in groups:
            rows = block[at]
            factors, prior = others.factors_and_priors(rows)
            for i, k in enumerate(ks):
                for j, weighting in enumerate(weightings):
                    said = by_class(votes(near, voters, k, weighting), factors)
                    label = decide(shares_of_votes(said, prior), costs)
                    wrong[i, j] += units[rows][label != model.labels[rows]].sum()
    return wrong


def refuse_other_rows(given: KeptRows, fitted: KeptRows) -> None:
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
