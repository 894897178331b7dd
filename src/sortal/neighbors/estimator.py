"""NeighborsClassifier, the estimator, and how it keeps, joins and forgets rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.base.ladder import FitReport
from sortal.base.summary_classifier import SummaryClassifier
from sortal.data.sources import read_frame
from sortal.decision.options import whole_number
from sortal.decision.posterior import decide, log_of, shares_of_votes
from sortal.engines import LocalEngine, n_threads
from sortal.errors import InputError, ParameterError, SortalError, choose
from sortal.modelfile.arrays import OptionsField, RecordField
from sortal.modelfile.fields import Layout
from sortal.neighbors.explain import ExplainNeighbors, NeighborsExplanation
from sortal.neighbors.learn import (
    NeighborsOptions,
    build_model,
    kept_rows,
    notes,
    plan,
    read_schema,
    refuse_missing,
    refuse_words,
)
from sortal.neighbors.leave_one_out import choose_neighbors, loo_shares, refuse_other_rows
from sortal.neighbors.model import NeighborsModel, kept_queries, plain_searcher, search
from sortal.neighbors.votes import (
    DecideShares,
    FindNeighborsBlock,
    NearBlock,
    ShareBlock,
    gather_near,
    gather_neighbors,
    rows_at_a_time,
)
from sortal.neighbors.working import show_working
from sortal.records.tables import Explanations
from sortal.summaries.rows import gather_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Counts, Float
    from sortal.base.ladder import Training
    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.neighbors.model import Near
    from sortal.neighbors.votes import FoundNeighbors, VotedRows
    from sortal.records.tables import Table, Working
    from sortal.summaries.rows import KeptRows, SummarizeRows


# --- A classifier that keeps its rows: how they are read, joined, forgotten and kept in a file ---


class RowStoreClassifier(SummaryClassifier):
    """The rows of a fit are its summary, and the model holds them: a file has them once."""

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(NeighborsModel), _fitted=OptionsField(NeighborsOptions)
    )
    _allows_incomplete = True  # blocks of fewer rows than neighbors are kept until more come

    def forget(self, *, ids: ArrayLike) -> Self:
        """Take rows out again: the model becomes that of a fit without them.

        The ids of the other rows stay as they are. What is refused leaves the model as it was.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of rows that are kept, each once; `ids_` lists them.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        options = self._options()
        self._refuse_other_reading(options)
        gone = np.atleast_1d(np.asarray(ids))
        if gone.ndim != 1 or (gone.size and gone.dtype.kind not in "iu"):
            raise InputError(
                f"ids={ids!r} cannot be used: give the ids of rows, which are whole numbers."
            )
        summary = self._summary.without(gone.astype(np.int64))
        self._refuse_unfit(summary, self._schema)
        by = plan(self._schema, options, summary.next_id)
        self._set_fitted(summary, by, options, self._declared, self._label_dtype)
        return self

    def _fitted_model(self) -> Any:
        model = super()._fitted_model()
        if isinstance(model, SortalError):  # why the rows so far do not make a model
            raise type(model)(*model.args)
        return model

    def _read_by_rows(self, source: TableSource, *, by_value: bool) -> TableSource:
        """Numbers as one matrix, or as values where they are equal or not."""
        return replace(source, numbers_as="values" if by_value else "matrix")

    def _plan_first(self, source: TableSource, options: NeighborsOptions) -> SummarizeRows:
        return plan(source.schema, options)

    def _later_plan(self, schema: Schema, options: NeighborsOptions) -> SummarizeRows:
        return plan(schema, options, self._summary.next_id)

    def _open_more(self, X: Any, y: Any, sample_weight: Any, options: NeighborsOptions) -> Training:
        self._refuse_other_reading(options)
        return super()._open_more(X, y, sample_weight, options)

    def _refuse_other_reading(self, options: NeighborsOptions) -> None:
        """Numbers that were kept as values cannot become numbers again, nor the reverse."""
        if options.facts.by_value != self._fitted.facts.by_value:
            raise ParameterError(
                f"metric={options.metric!r} was set after a fit with metric="
                f"{self._fitted.metric!r}, which keeps numbers in another way: set it back, or fit "
                "again."
            )

    def _recast(self, summary: KeptRows, plan: SummarizeRows) -> KeptRows:
        return summary.recast(self._plan, plan)

    def _summarize(self, source: TableSource, plan: SummarizeRows) -> KeptRows:
        by_value = not plan.measured and any(c.is_number for c in source.schema.columns)
        source = self._read_by_rows(source, by_value=by_value)
        units = None if source.weights is None else source.weights.units
        n = source.table.n_rows if units is None else int(np.count_nonzero(units))
        dtype = source.table.matrix_type(source.measured if plan.measured else ())
        rows = gather_rows(self._engine().map(source, plan), n, dtype)
        if self.missing == "error":
            self._report_cells(_missing(rows, plan, source.schema), {})
        return rows

    def _read_schema(
        self, declared: Schema, summary: KeptRows, options: NeighborsOptions
    ) -> Schema:
        by = plan(declared, options)
        refuse_words(declared, options)
        refuse_missing(summary, by, options)
        return read_schema(declared, summary, by)

    def _build(
        self,
        summary: KeptRows,
        schema: Schema,
        options: NeighborsOptions,
        source: TableSource | None,  # noqa: ARG002
    ) -> NeighborsModel:
        self._refuse_unfit(summary, schema)
        model = build_model(summary, schema, options)
        if not options.chooses:
            return model
        return choose_neighbors(model, summary, options, n_threads(self.n_jobs))

    def _report_fit(self, summary: KeptRows, schema: Schema, model: Any) -> FitReport:
        waits = isinstance(model, SortalError)
        by = plan(schema, self._options())
        missing = {name: n for name, n in _missing(summary, by, schema).items() if n}
        return FitReport(summary.size, missing, () if waits else tuple(notes(model)))

    def _restore(self, kept: dict[str, Any]) -> None:
        self._summary = kept_rows(kept["_model"])
        super()._restore(kept)

    def _agrees(self, summary: KeptRows) -> bool:
        same = self._fitted.facts.by_value == self._model.facts.by_value
        return same and self._fits(summary)


def _missing(rows: KeptRows, by: SummarizeRows, schema: Schema) -> dict[str, int]:
    """Missing values by name, in the order of the columns."""
    found = np.zeros(len(schema.columns), dtype=np.int64)
    found[list(by.measured)], found[list(by.named)] = rows.missing()
    return dict(zip(schema.names, found.tolist(), strict=True))


# --- Reading nearest neighbors: row by row, and number by number ---------------------------------


class ReadableNeighbors(RowStoreClassifier):
    """What nearest neighbors show of themselves."""

    n_jobs: int | None
    costs: Any

    _score_rows: Callable[..., list[VotedRows]]
    _skips: Callable[[], bool]

    def explain(self, X: Any) -> Explanations[NeighborsExplanation]:
        """Why: the neighbors of each row, their distances and votes, and what they differ in.

        The votes of the neighbors add up to the votes by class, and the shares of the columns to
        the distance. A column is marked where a value is missing in one of the two rows, and where
        no row of the fit has the value. With costs, the class predicted is that of the least of
        `expected_costs`.
        """
        rows, backend = self._find_neighbors(X)
        shares = shares_of_votes(rows.votes, self._model.prior)
        costs = self._read_costs(self.costs)
        made = ExplainNeighbors(self._model, rows, shares, decide(shares, costs), costs)
        return Explanations(made, range(len(rows)), backend)

    def working(self, X: Any = None, max_rows: int = 1000) -> Working:
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
        model = self._fitted_model()
        rows, backend = (None, self._backend) if X is None else self._find_neighbors(X)
        return show_working(model, rows, max_rows, backend, n_threads(self.n_jobs))

    def _find_neighbors(self, X: Any) -> tuple[FoundNeighbors, str]:
        model = self._fitted_model()
        block = FindNeighborsBlock(model, self._skips(), n_threads(self.n_jobs))
        rows = gather_neighbors([part.answer for part in self._score_rows(X, block, model.k + 1)])
        frame = read_frame(X)
        return rows, self._backend if frame is None else str(frame.implementation)


# So many neighbors can be asked for, also of fewer rows; the rest is inf and -1.
_MOST_ABSENT = 1_000_000


class NeighborsClassifier(ReadableNeighbors):
    """The k nearest rows of the fit vote, exactly and in a total order.

    Rows are kept, and a row x is given the class for which its nearest rows vote. They are ordered
    by (distance, id), distances in float64 of the values as they came; the answer does not depend
    on how the rows are searched, on blocks or threads.

    Parameters
    ----------
    n_neighbors : int, "loo" or list of int, default=5
        Places that the nearest rows fill. A row of weight w fills w of them, the last in part;
        where some weight has a fraction, weights are divided by their mean before.
        With "loo", or a list, the number of least leave-one-out error, and the weighting too
        unless `weights` names one.
    metric : str, default="auto"
        "euclidean", "manhattan", "minkowski" (with p), "mahalanobis" for numbers; "hamming", the
        number of columns that differ; "gower" for mixed tables, the mean over the columns known in
        both rows of |x - t| / range for numbers and of 0 or 1 for categories. "auto" is "gower" if
        a column is a category or a row has a missing value, and "euclidean" otherwise.
    p : float, default=2.0
        The power of "minkowski", from 1 to 30, or infinite.
    scale : {"auto", "range", "std", None}, default="auto"
        What numbers are divided by: the range, the standard deviation (divisor: the weight of all
        rows) or nothing. "auto" is the range under gower, nothing under hamming and mahalanobis,
        and the standard deviation otherwise. A column that never varies is then left out.
    weights : str, default="auto"
        What a vote counts: "uniform"; "distance", the nearest's over its own (rows equal to x
        decide alone); kernels of the distance over that of the row at place k + 1,
        "triangular", "epanechnikov" and "gaussian"; "rank", the place from behind. "auto" is
        "uniform", unless the number of neighbors is chosen: then all six are tried.
    priors : array-like of shape (n_classes,) or dict, default=None
        P(c) in the order of `classes_`, or by label: votes count as if the classes had these
        shares of the rows.
    class_weight : dict or "balanced", default=None
        Factor on votes by class; "balanced" gives every class the same total.
    costs : array-like of shape (n_classes, n_classes), default=None
        costs[i, j] is the cost of saying class j when class i is true. With costs, `predict` gives
        the class of least expected cost.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. Positions count the columns of X without y.
    missing : {"skip", "error"}, default="skip"
        A missing value in either row leaves its column out of the distance, which is then stretched
        to all columns; or it is an error, at fit and at predict.
    unknown : {"differs", "skip", "error"}, default="differs"
        A value at predict that no row has differs from every row, is left out like a missing value,
        or is an error.
    n_jobs : int, default=None
        Threads; None means all cores (one inside a joblib worker). The result does not depend
        on it.

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

    _missing_words = "their columns are left out of the distance"
    _missing_remedy = "Fill them, or set missing='skip' to leave their columns out of the distance."
    _unknown_remedy = "Map them to known values, or set unknown='differs' or unknown='skip'."
    _unknown_words: ClassVar[dict[str, str]] = {
        "differs": "they differ from every row",
        "skip": "their columns are left out of the distance",
    }

    def __init__(
        self,
        n_neighbors: Any = 5,
        metric: str = "auto",
        *,
        p: float = 2.0,
        scale: str | None = "auto",
        weights: str = "auto",
        priors: ArrayLike | dict[Any, float] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        costs: ArrayLike | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "skip",
        unknown: str = "differs",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.p = p
        self.scale = scale
        self.weights = weights
        self.priors = priors
        self.class_weight = class_weight
        self.costs = costs
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the most probable, or of least expected cost."""
        check_is_fitted(self)
        return self._predicted(self._shares(X, DecideShares(self._read_costs(self.costs))))

    def predict_proba(self, X: Any) -> Float:
        """The share of the votes for each class, in the order of `classes_`."""
        return self._spread(self._shares(X))

    def predict_log_proba(self, X: Any) -> Float:
        """ln of the shares; -inf for a class that nobody votes for."""
        return log_of(self.predict_proba(X))

    def loo_proba(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Float:
        """P(c|x) of each row by the votes of the other rows.

        Metric, scale, k and weighting stay those of the fit; the weights of the classes are those
        of the other rows.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again, in their order.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        model = self._fitted_model()
        source = self._open_more(X, y, sample_weight, self._fitted).source
        refuse_other_rows(self._summarize(source, plan(source.schema, self._fitted)), self._summary)
        made = loo_shares(model, self._fitted, n_threads(self.n_jobs))
        units = None if source.weights is None else source.weights.units
        if units is None or units.all():
            return self._spread(made)
        answer = self._shares(X)  # a row without weight is no neighbor of anyone
        answer[units > 0] = made
        return self._spread(answer)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
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
        model = self._fitted_model()
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
        return str(self._fitted_model().metric)

    @property
    def n_neighbors_(self) -> int:
        """The number of places."""
        return int(self._fitted_model().k)

    @property
    def weights_(self) -> str:
        """What a vote counts."""
        return str(self._fitted_model().weighting)

    @property
    def scale_(self) -> dict[str, float]:
        """What each number column is divided by, where there is a scale and the column counts."""
        model = self._fitted_model()
        if model.scale == "none":
            return {}
        names = [model.schema.columns[j].name for j in model.measured]
        pairs = zip(names, model.widths.tolist(), strict=True)
        return {name: width for name, width in pairs if width > 0}

    @property
    def ids_(self) -> Counts:
        """The ids of the rows that are kept, ascending."""
        check_is_fitted(self)
        return np.asarray(self._summary.ids.copy())

    @property
    def loo_curve_(self) -> Table:
        """The leave-one-out error of each k and weighting that was tried."""
        curve: Table | None = self._fitted_model().curve
        if curve is None:
            raise AttributeError("loo_curve_ exists where n_neighbors is 'loo' or a list.")
        return replace(curve, backend=self._backend)

    @property
    def search_(self) -> str:
        """How rows are searched, never what is found."""
        model = self._fitted_model()
        return str(model.searcher(lambda: plain_searcher(model)).kind)

    def _shares(self, X: Any, ask: Callable[[Float], NDArray[Any]] | None = None) -> NDArray[Any]:
        model = self._fitted_model()
        block = ShareBlock(model, self._skips(), n_threads(self.n_jobs), ask)
        return np.concatenate([part.answer for part in self._score_rows(X, block, model.k + 1)])

    def _near(self, X: Any, k: int) -> Near:
        block = NearBlock(self._model, self._skips(), n_threads(self.n_jobs), k)
        return gather_near([part.answer for part in self._score_rows(X, block, k)])

    def _near_kept(self, k: int) -> Near:
        model: NeighborsModel = self._model
        step, n = rows_at_a_time(len(self._schema.columns), k), model.n_rows
        parts = []
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            queries = kept_queries(model, rows)
            parts.append(search(model, queries, k, rows, n_threads(self.n_jobs)))
        return gather_near(parts)

    def _skips(self) -> bool:
        return self.unknown == "skip"

    def _score_rows(self, X: Any, block: Callable[[Any], VotedRows], depth: int) -> list[VotedRows]:
        """Blocks one after the other: the search itself has the threads."""
        source = self._read_by_rows(self._open(X), by_value=self._model.facts.by_value)
        most = rows_at_a_time(len(self._schema.columns), depth)
        source = replace(source, block_rows=min(most, source.rows_per_block))
        engine = self._engine()
        if isinstance(engine, LocalEngine):
            engine = LocalEngine(1)
        parts = list(engine.map(source, block))
        none = np.zeros(len(self._schema.columns), dtype=np.int64)
        self._report_columns(sum((part.missing for part in parts), none), none)
        unknown = sum((part.unknown for part in parts), none)
        self._report_columns(none, unknown, self._unknown_words.get(self.unknown))
        return parts

    def _options(self) -> NeighborsOptions:
        choose("missing", self.missing, ("skip", "error"))
        choose("unknown", self.unknown, ("differs", "skip", "error"))
        return NeighborsOptions(
            self.n_neighbors,
            self.metric,
            self.p,
            self.scale,
            self.weights,
            self.priors,
            self.class_weight,
            self.costs,
        )
