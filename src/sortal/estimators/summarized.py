"""Classifiers that are functions of a summary: fit and partial_fit, written once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sortal.data.schema import Schema
from sortal.data.values import union
from sortal.errors import FormatError, LabelError, SortalError
from sortal.estimators.base import FitReport, TableClassifier, note_classes
from sortal.estimators.features import merge_declared
from sortal.estimators.keeping import Perhaps
from sortal.estimators.pieces import in_pieces
from sortal.estimators.target import (
    class_array,
    common_dtype,
    warn_of_measurements,
    with_classes,
)
from sortal.learners.options import options_for, read_costs
from sortal.models.layout import Layout
from sortal.models.layout_schema import LabelType, SchemaField

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from sortal.data.sources import TableSource
    from sortal.estimators.base import Training


class SummaryClassifier(TableClassifier):
    """What follows from summaries that merge.

    A learner gives its checked options, the plan by which blocks are summarized (a picklable
    value), and what a schema and a model are read from a summary.
    """

    _kept: ClassVar[Layout] = Layout(
        _declared=Perhaps(SchemaField()), _label_dtype=Perhaps(LabelType())
    )
    _summary: Any
    _plan: Any
    _fitted: Any
    _declared: Schema
    _label_dtype: np.dtype[Any]
    _waits = False

    @abstractmethod
    def _options(self) -> Any:
        """Checked options."""

    @abstractmethod
    def _plan_first(self, source: TableSource, options: Any) -> Any:
        """How blocks are summarized in a first call."""

    @abstractmethod
    def _plan_again(self, schema: Schema, options: Any) -> Any:
        """How blocks are summarized in a later call."""

    @abstractmethod
    def _read_schema(self, declared: Schema, summary: Any, options: Any) -> Schema:
        """The schema of a summary."""

    @abstractmethod
    def _build(self, summary: Any, schema: Schema, options: Any, source: TableSource | None) -> Any:
        """The model of a summary; `source` are all rows again, where they are at hand."""

    @abstractmethod
    def _report_fit(self, summary: Any, schema: Schema, model: Any) -> FitReport:
        """What the fit met; warns of what the user should know."""

    def _plan_pieces(self, source: TableSource, options: Any) -> Any:
        """How blocks are summarized in a first call after which more rows may come."""
        return self._plan_first(source, options)

    def _recast(self, summary: Any, plan: Any) -> Any:  # noqa: ARG002
        """A summary as one by a later plan."""
        return summary

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to a table and its labels.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or str
            The labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers are copies of a row; 0 leaves a row out, but not its class out of
            `classes_`. Where some weight has a fraction, one below 2**-49 of their total is 0.

        Returns
        -------
        self
        """
        options = self._options()
        training = self._open_training(X, y, sample_weight)
        plan = self._plan_first(training.source, options)
        summary = self._summarize(training.source, plan)
        self._refuse_unfit(summary, training.source.schema)
        declared = self._declaring(training, summary)
        self._adopt(summary, plan, options, declared, training.label_dtype, training.source)
        self._remember(training)
        warn_of_measurements(training.source.target, len(self._classes))
        return self

    @in_pieces
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows. Blocks in any order give the model of one `fit` on all rows.

        Parameters
        ----------
        X, y, sample_weight :
            As in `fit`. Columns are matched to those of the first call.
        classes : array-like, default=None
            Classes to know of before their first row comes; not needed otherwise.

        Returns
        -------
        self
        """
        options = self._options()
        if not hasattr(self, "_model"):
            training = self._open_training(X, y, sample_weight)
            plan = self._plan_pieces(training.source, options)
            summary = self._summarize(training.source, plan)
            declared = self._declaring(training, summary)
            named = with_classes(declared, training.label_dtype, classes)
            self._adopt(summary, plan, options, *named, waits=self._waits)
            self._remember(training)
            return self
        training = self._open_again(X, y, sample_weight, options)
        plan = self._plan_again(training.source.schema, options)
        added = self._summarize(training.source, plan)
        summary = self._recast(self._summary, plan).merge(added)
        dtype = common_dtype(self._label_dtype, training.label_dtype)
        declared = merge_declared(self._declared, self._declaring(training, summary))
        named = with_classes(declared, dtype, classes)
        self._adopt(summary, plan, options, *named, waits=self._waits)
        return self

    def _no_pieces(self) -> str:
        """Why rows cannot come in pieces, by these options; nothing where they can."""
        return ""

    def _refuse_unfit(self, summary: Any, schema: Schema) -> None:  # noqa: ARG002
        """Refuse rows from which nothing can be learned."""
        if not summary.labels:
            raise LabelError(
                f"{type(self).__name__} has no row left to learn from: keep some, or fit others."
            )

    def _declaring(self, training: Training, summary: Any) -> Schema:
        """What a table declares, and as classes those of its rows that do not count."""
        dropped = self.missing == "drop_rows" and bool(summary.rows.holes.any())
        everything = training.classes(summary.labels, dropped=dropped)
        absent = tuple(label for label in everything if label not in summary.labels)
        declared = training.declared
        return Schema(declared.columns, union(declared.classes, absent)[0])

    def _open_again(self, X: Any, y: Any, sample_weight: Any, options: Any) -> Training:  # noqa: ARG002
        """Rows to be added to a fit, or taken out of it."""
        return self._open_training(X, y, sample_weight, self._summary.exponent)

    def _summarize(self, source: TableSource, plan: Any) -> Any:
        summary = self._engine().reduce(source, plan)
        if self.missing == "error":
            holes = summary.rows.holes.tolist()
            self._report_cells(dict(zip(source.schema.names, holes, strict=True)), {})
        return summary

    def _adopt(
        self,
        summary: Any,
        plan: Any,
        options: Any,
        declared: Schema,
        label_dtype: np.dtype[Any],
        source: TableSource | None = None,
        *,
        waits: bool = False,
    ) -> None:
        """Everything that follows from a summary; nothing is set unless all of it could be made.

        Where more rows are awaited, the reason why those so far make no model stands for it.
        """
        read = self._read_schema(declared, summary, options)
        schema, classes = Schema(read.columns, summary.labels), read.classes
        try:
            read_costs(getattr(self, "costs", None), classes)
            options = options_for(options, classes, schema.classes)
            model = self._build(summary, schema, options, source)
        except SortalError as reason:
            if not waits:
                raise
            model = reason
        report = self._report_fit(summary, schema, model)
        if not isinstance(model, SortalError):
            report = note_classes(report, classes, schema.classes)
        self.classes_ = class_array(classes, label_dtype)
        self._declared, self._label_dtype = declared, label_dtype
        self._summary, self._schema, self._model = summary, schema, model
        self._plan, self._fitted = plan, options
        self.fit_report_ = report
        self.__dict__.pop("_fit_call", None)

    def _restore(self, kept: dict[str, Any]) -> None:
        super()._restore(kept)
        if self._summary is None:
            return
        if not all(hasattr(self, name) for name in ("_declared", "_label_dtype", "_fitted")):
            raise FormatError("The model has a summary, but not how it was made: damaged?")
        try:
            self._plan = self._plan_kept()
            agrees = self._agrees(self._summary)
        except (SortalError, LookupError, ValueError) as error:
            raise FormatError(f"The summary does not fit the schema ({error}).") from None
        if not agrees:
            raise FormatError("The summary does not fit the schema: damaged?")

    def _plan_kept(self) -> Any:
        """How the summary of a file was made."""
        return self._plan_again(self._declared, self._fitted)

    def _agrees(self, summary: Any) -> bool:
        """Whether a summary from a file has the columns, values and classes of the schema."""
        return self._fits(summary) and len(summary.rows.holes) == len(self._schema.columns)

    def _fits(self, summary: Any) -> bool:
        # of a class that was declared, models of older files know that it has no rows
        made = self._read_schema(self._declared, summary, self._fitted)
        same = (made.columns, made.classes) == (self._schema.columns, self._classes)
        return same and set(summary.labels) <= set(self._schema.classes)
