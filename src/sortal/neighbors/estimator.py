"""NeighborsClassifier, the estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.base.classifier import TableClassifier
from sortal.base.learner import CellWords, FitReport, Learner, refuse_no_rows
from sortal.decision.options import whole_number
from sortal.engines import gather, n_threads
from sortal.errors import InputError, ParameterError
from sortal.neighbors.explain import explain
from sortal.neighbors.learn import (
    NeighborsOptions,
    build_model,
    check,
    chooses,
    facts_of,
    gather_kept,
    kept_rows,
    missing_cells,
    notes,
    plan,
    read_schema,
)
from sortal.neighbors.leave_one_out import choose_neighbors, leave_out
from sortal.neighbors.model import NeighborsModel, kept_queries, search
from sortal.neighbors.votes import (
    answer,
    bounded,
    bounded_rows,
    find_near,
    find_neighbors,
    rows_at_a_time,
)
from sortal.neighbors.working import show_working
from sortal.records.tables import Explanations
from sortal.summaries.rows import KeptRows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from sortal._typing import Counts, Float, TableLike
    from sortal.base.learner import Training
    from sortal.data.columns import Schema
    from sortal.neighbors.learn import NeighborsFit
    from sortal.neighbors.model import Near
    from sortal.neighbors.votes import FoundNeighbors
    from sortal.records.tables import Table, Working
    from sortal.summaries.rows import SummarizeRows


def _model(
    rows: KeptRows,
    schema: Schema,
    options: NeighborsOptions,
    training: Training | None,  # noqa: ARG001
) -> NeighborsModel:
    refuse_no_rows(rows, "NeighborsClassifier")
    model = build_model(rows, schema, options)
    if not chooses(options):
        return model
    return choose_neighbors(model, rows, options, n_threads(options.n_jobs))


def _report(
    rows: KeptRows, schema: Schema, model: NeighborsModel | None, options: NeighborsOptions
) -> FitReport:
    missing = missing_cells(rows, schema, options)
    return FitReport.of(rows.size, schema, missing, [] if model is None else notes(model))


def _refuse_other_reading(fitted: NeighborsFit, options: NeighborsOptions) -> None:
    """Numbers that were kept as values cannot become numbers again, nor the reverse."""
    if facts_of(options).by_value != facts_of(fitted.options).by_value:
        raise ParameterError(
            f"metric={options.metric!r} was set after a fit with metric="
            f"{fitted.options.metric!r}, which keeps numbers in another way: set it back, or fit "
            "again."
        )


def _take(fitted: NeighborsFit, ids: ArrayLike | None) -> KeptRows:
    gone = np.atleast_1d(np.asarray(ids))
    if gone.ndim != 1 or (gone.size and gone.dtype.kind not in "iu"):
        raise InputError(
            f"ids={ids!r} cannot be used: give the ids of rows, which are whole numbers."
        )
    return fitted.summary.without(gone.astype(np.int64))


def _unpack(
    learner: object,  # noqa: ARG001
    kept: Mapping[str, Any],
    declared: Schema,
    options: NeighborsOptions,
) -> tuple[SummarizeRows, KeptRows, NeighborsModel]:
    """The model holds the rows, and a file has them once."""
    rows = kept_rows(kept["model"])
    return plan(declared, options, rows.next_id), rows, kept["model"]


NEIGHBORS = Learner(
    options=NeighborsOptions,
    kept={"model": NeighborsModel},
    plan=lambda training, options: plan(training.source.schema, options),
    later_plan=lambda schema, options, fitted: plan(schema, options, fitted.summary.next_id),
    schema=read_schema,
    model=_model,
    report=_report,
    answer=answer,
    check=check,
    summarize=gather_kept,
    missing=missing_cells,
    join=lambda fitted, plan: fitted.summary.recast(fitted.plan, plan),
    refuse_more=_refuse_other_reading,
    leave_out=leave_out,
    take=_take,
    absent={"decision_function": "NeighborsClassifier has predict_proba instead."},
    words=CellWords(
        "their columns are left out of the distance",
        {
            "differs": "they differ from every row",
            "skip": "their columns are left out of the distance",
        },
        "Fill them, or set missing='skip' to leave their columns out of the distance.",
        "Map them to known values, or set unknown='differs' or unknown='skip'.",
    ),
    rows=bounded_rows,
    agrees=lambda fitted: facts_of(fitted.options).by_value == fitted.model.facts.by_value,
    unpack=_unpack,
    waits=True,
    own_threads=True,
)

# So many neighbors can be asked for, also of fewer rows; the rest is inf and -1.
_MOST_ABSENT = 1_000_000


class NeighborsClassifier(
    NeighborsOptions, TableClassifier[NeighborsOptions, KeptRows, NeighborsModel]
):
    """The k nearest rows of the fit vote, exactly and in a total order.

    Rows are kept, and a row x is given the class for which its nearest rows vote. They are ordered
    by (distance, id), distances in float64 of the values as they came; the answer does not depend
    on how the rows are searched, on blocks or threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    metric_, n_neighbors_, weights_ :
        As they were resolved or chosen.
    scale_ : dict
        What each number column is divided by; empty without a scale.
    ids_ : ndarray of int
        The ids of the rows that are kept, ascending: row i of the fit has the id i, and
        `partial_fit` goes on counting.
    loo_curve_ : Table
        k, weighting and leave-one-out error, where they were chosen.
    search_ : str
        How rows are searched: "tree", "bytes", "bits" or "scan". It never matters to what is found.
    n_parameters_ : int
        How many numbers the rows have, with their labels.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import NeighborsClassifier, datasets
    >>> iris = datasets.iris()
    >>> model = NeighborsClassifier().fit(iris, "species")
    >>> model.predict(iris[:1]).tolist()
    ['setosa']
    >>> distances, ids = model.kneighbors(iris[:1], n_neighbors=3)
    >>> ids.tolist()
    [[0, 17, 27]]
    """

    _learner = NEIGHBORS

    def explain(self, X: TableLike) -> Explanations:
        """Why: the neighbors of each row, their distances and votes, and what they differ in.

        The votes of the neighbors, in the order of their distances, add up to all votes; those of
        a class to its own, whose share is its posterior. Where all are 0, it is the prior.

        Facts: `posterior` and `votes` by class; `expected_costs` of predicting each class, of which
        the label has the least (None without costs); `k`, `weights` and `metric`; and the table
        `shares`, also by `to_frame("shares")`: part · kernel · factor of its class = vote of each
        neighbor, and the share of every column in its distance. A column is marked where a value is
        missing in one of the two rows, and where no row of the fit has the value.
        """
        rows = self._find_neighbors(X)
        made = explain(self._model, rows, self._fitted.read_costs())
        return self._framed(Explanations(made, range(len(rows))), X)

    def working(self, X: TableLike | None = None, max_rows: int = 1000) -> Working:
        """The numbers of this fit: scales, classes and, for rows X, distances and votes.

        Parameters
        ----------
        X : table, default=None
            Rows whose distances to the rows of the fit are listed.
        max_rows : int of at least 1, default=1000
            Of the rows of the fit so many are listed for each row of X, the nearest first.

        Returns
        -------
        Working
            Tables `scale` and `classes`; under mahalanobis `covariance` and `inverse`; where the
            number of neighbors was chosen, `loo`. With X, `distances`: of each row of the fit its
            rank, what each column adds to the sum, the distance, and its vote; and `votes`.
        """
        whole_number("max_rows", max_rows, 1)
        model = self._model
        rows = None if X is None else self._find_neighbors(X)
        return self._framed(show_working(model, rows, max_rows, n_threads(self.n_jobs)), X)

    def kneighbors(
        self,
        X: TableLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[Float, Counts] | Counts:
        """The nearest rows, whatever they weigh: distances and ids.

        Parameters
        ----------
        X : table, default=None
            Rows to ask about; None asks about each row that is kept, which is then no neighbor of
            itself.
        n_neighbors : int, default=None
            How many; None for `n_neighbors_`.
        return_distance : bool, default=True
            Whether distances are given, too.

        Returns
        -------
        distances, ids : ndarray of shape (n_queries, n_neighbors)
            Nearest first; where there are fewer neighbors, inf and -1.
        """
        model = self._model
        whole_number("n_neighbors", n_neighbors, 1, none="n_neighbors_")
        k = model.k if n_neighbors is None else int(n_neighbors)
        if k > max(model.n_rows, _MOST_ABSENT):
            raise ParameterError(
                f"n_neighbors={k} cannot be used: the model keeps {model.n_rows} rows. Give at "
                "most as many."
            )
        there_are = min(k, model.n_rows)
        near = self._near_kept(there_are) if X is None else self._near(X, there_are)
        absent = (0, 0), (0, k - there_are)
        ids = np.pad(np.append(model.ids, -1)[near.positions], absent, constant_values=-1)
        if not return_distance:
            return ids
        return np.pad(near.distances, absent, constant_values=np.inf), ids

    @property
    def metric_(self) -> str:
        """The metric."""
        return self._model.metric

    @property
    def n_neighbors_(self) -> int:
        """The number of places."""
        return self._model.k

    @property
    def weights_(self) -> str:
        """What a vote counts."""
        return self._model.weighting

    @property
    def scale_(self) -> dict[str, float]:
        """What each number column is divided by, where there is a scale and the column counts."""
        model = self._model
        if model.scale == "none":
            return {}
        pairs = zip(model.measured, model.widths.tolist(), strict=True)
        return {model.schema.names[j]: width for j, width in pairs if width > 0}

    @property
    def ids_(self) -> Counts:
        """The ids of the rows that are kept, ascending."""
        return self._summary.ids.copy()

    @property
    def loo_curve_(self) -> Table:
        """The leave-one-out error of each k and weighting that was tried."""
        curve = self._model.curve
        if curve is None:
            raise AttributeError("loo_curve_ exists where n_neighbors is 'loo' or a list.")
        return self._framed(curve)

    @property
    def search_(self) -> str:
        """How rows are searched, never what is found."""
        return self._model.searcher.kind

    def _find_neighbors(self, X: TableLike) -> FoundNeighbors:
        find = find_neighbors(self._model, n_threads(self.n_jobs), skip=self.unknown == "skip")
        return self._pass(self._open(X), find)

    def _near(self, X: TableLike, k: int) -> Near:
        model = self._model
        find = find_near(model, k, n_threads(self.n_jobs), skip=self.unknown == "skip")
        return self._pass(bounded(self._open(X), model, k), find).near

    def _near_kept(self, k: int) -> Near:
        model, threads = self._model, n_threads(self.n_jobs)
        step, n = rows_at_a_time(len(model.schema.columns), k), model.n_rows
        blocks = (np.arange(start, min(start + step, n)) for start in range(0, n, step))
        return gather(search(model, kept_queries(model, rows), k, rows, threads) for rows in blocks)
