"""A classifier that keeps its rows: how they are read, joined, forgotten and kept in a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.engines.local import n_threads
from sortal.errors import InputError, OptionError, SortalError
from sortal.estimators.base import FitReport
from sortal.estimators.summarized import SummaryClassifier
from sortal.learners.neighbors import (
    build_model,
    kept_rows,
    notes,
    plan,
    read_schema,
    refuse_holes,
    refuse_words,
)
from sortal.learners.neighbors_loo import choose_neighbors
from sortal.learners.neighbors_options import NeighborsOptions
from sortal.models.layout import Layout
from sortal.models.layout_arrays import Options, Record
from sortal.models.neighbors import NeighborsModel
from sortal.summaries.gathered_rows import gather_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.estimators.base import Training
    from sortal.summaries.kept_rows import KeptRows, SummarizeRows


class KeepingRows(SummaryClassifier):
    """The rows of a fit are its summary, and the model holds them: a file has them once."""

    _kept: ClassVar[Layout] = Layout(
        _model=Record(NeighborsModel), _fitted=Options(NeighborsOptions)
    )
    _waits = True  # blocks of fewer rows than neighbors are kept until more come

    def forget(self, ids: ArrayLike) -> Self:
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
        self._adopt(summary, by, options, self._declared, self._label_dtype)
        return self

    def _fitted_model(self) -> Any:
        model = super()._fitted_model()
        if isinstance(model, SortalError):  # why the rows so far do not make a model
            raise type(model)(*model.args)
        return model

    def _read_by_rows(self, source: TableSource, metric: str) -> TableSource:
        """Numbers as one matrix, or as values where they are equal or not."""
        return replace(source, numbers_as="values" if metric == "hamming" else "matrix")

    def _plan_first(self, source: TableSource, options: NeighborsOptions) -> SummarizeRows:
        return plan(source.schema, options)

    def _plan_again(self, schema: Schema, options: NeighborsOptions) -> SummarizeRows:
        return plan(schema, options, self._summary.next_id)

    def _open_again(
        self, X: Any, y: Any, sample_weight: Any, options: NeighborsOptions
    ) -> Training:
        self._refuse_other_reading(options)
        return super()._open_again(X, y, sample_weight, options)

    def _refuse_other_reading(self, options: NeighborsOptions) -> None:
        """Numbers that were kept as values cannot become numbers again, nor the reverse."""
        if (options.metric == "hamming") != (self._fitted.metric == "hamming"):
            raise OptionError(
                f"metric={options.metric!r} was set after a fit with metric="
                f"{self._fitted.metric!r}, which keeps numbers in another way: set it back, or fit "
                "again."
            )

    def _recast(self, summary: KeptRows, plan: SummarizeRows) -> KeptRows:
        return summary.recast(self._plan, plan)

    def _summarize(self, source: TableSource, plan: SummarizeRows) -> KeptRows:
        by_value = not plan.measured and any(c.is_number for c in source.schema.columns)
        source = self._read_by_rows(source, "hamming" if by_value else "")
        units = None if source.weights is None else source.weights.units
        n = source.table.n_rows if units is None else int(np.count_nonzero(units))
        dtype = source.table.matrix_type(source.measured if plan.measured else ())
        rows = gather_rows(self._engine().map(source, plan), n, dtype)
        if self.missing == "error":
            self._report_cells(_holes(rows, plan, source.schema), {})
        return rows

    def _read_schema(
        self, declared: Schema, summary: KeptRows, options: NeighborsOptions
    ) -> Schema:
        by = plan(declared, options)
        refuse_words(declared, options)
        refuse_holes(summary, by, options)
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
        holes = {name: n for name, n in _holes(summary, by, schema).items() if n}
        return FitReport(summary.size, holes, () if waits else tuple(notes(model)))

    def _restore(self, kept: dict[str, Any]) -> None:
        self._summary = kept_rows(kept["_model"])
        super()._restore(kept)

    def _agrees(self, summary: KeptRows) -> bool:
        reading = (self._fitted.metric == "hamming") == (self._model.metric == "hamming")
        return reading and self._fits(summary)


def _holes(rows: KeptRows, by: SummarizeRows, schema: Schema) -> dict[str, int]:
    """Holes by name, in the order of the columns."""
    found = np.zeros(len(schema.columns), dtype=np.int64)
    found[list(by.measured)], found[list(by.named)] = rows.holes()
    return dict(zip(schema.names, found.tolist(), strict=True))
