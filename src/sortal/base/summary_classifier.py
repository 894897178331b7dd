"""Classifiers that are functions of a summary: fit, partial_fit, forget and posteriors, once."""

from __future__ import annotations

from abc import abstractmethod
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.base.labels import class_array, common_dtype, warn_of_measurements, with_classes
from sortal.base.ladder import FitReport, TableClassifier, merge_declared, note_classes
from sortal.base.save import OptionalAttribute
from sortal.data.columns import union
from sortal.data.schema import Schema
from sortal.decision.options import options_for, read_costs
from sortal.decision.scores import FromPriors, ScoreTermsBlock, gather_answered, margin
from sortal.errors import FormatError, LabelError, SortalError, UnavailableError
from sortal.modelfile.fields import LabelType, Layout, SchemaField

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float
    from sortal.base.ladder import Training
    from sortal.data.sources import TableSource
    from sortal.decision.scores import RowFunctions


# --- Methods that an estimator, or some of its parameters, leave it without ----------------------


class incremental_method:  # noqa: N801  (it is used as a decorator)
    """A method where rows may come in pieces; elsewhere an error that names the parameter.

    `hasattr` then says that there is no such method, which scikit-learn asks before it calls one.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type[Any]) -> Callable[..., Any]:
        if estimator is None:
            return self.method
        reason = estimator._not_incremental()
        if reason:
            raise UnavailableError(reason)
        return MethodType(self.method, estimator)


class no_probabilities:  # noqa: N801  (it stands where a method would)
    """In the place of `predict_proba`: `hasattr` says no, and who asks all the same is told why."""

    def __get__(self, estimator: Any, owner: type[Any]) -> Callable[..., Any]:
        raise UnavailableError(
            f"{owner.__name__} assumes no distribution and has no probabilities: use "
            "decision_function, voting='hard' where models vote, or fit it within scikit-learn's "
            "CalibratedClassifierCV."
        )


class SummaryClassifier(TableClassifier):
    """What follows from summaries that merge.

    A learner gives its checked options, the plan by which blocks are summarized (a picklable
    value), and what a schema and a model are read from a summary.
    """

    _kept: ClassVar[Layout] = Layout(
        _declared=OptionalAttribute(SchemaField()), _label_dtype=OptionalAttribute(LabelType())
    )
    _summary: Any
    _plan: Any
    _fitted: Any
    _declared: Schema
    _label_dtype: np.dtype[Any]
    _allows_incomplete = False

    @abstractmethod
    def _options(self) -> Any:
        """Checked options."""

    @abstractmethod
    def _plan_first(self, source: TableSource, options: Any) -> Any:
        """How blocks are summarized in a first call."""

    @abstractmethod
    def _later_plan(self, schema: Schema, options: Any) -> Any:
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

    def _incremental_plan(self, source: TableSource, options: Any) -> Any:
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
        self._set_fitted(summary, plan, options, declared, training.label_dtype, training.source)
        self._set_input_names(training)
        warn_of_measurements(training.source.target, len(self._classes))
        return self

    @incremental_method
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
            plan = self._incremental_plan(training.source, options)
            summary = self._summarize(training.source, plan)
            declared = self._declaring(training, summary)
            named = with_classes(declared, training.label_dtype, classes)
            self._set_fitted(summary, plan, options, *named, waits=self._allows_incomplete)
            self._set_input_names(training)
            return self
        training = self._open_more(X, y, sample_weight, options)
        plan = self._later_plan(training.source.schema, options)
        added = self._summarize(training.source, plan)
        summary = self._recast(self._summary, plan).merge(added)
        dtype = common_dtype(self._label_dtype, training.label_dtype)
        declared = merge_declared(self._declared, self._declaring(training, summary))
        named = with_classes(declared, dtype, classes)
        self._set_fitted(summary, plan, options, *named, waits=self._allows_incomplete)
        return self

    def _not_incremental(self) -> str:
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
        dropped = self.missing == "drop_rows" and bool(summary.rows.missing.any())
        everything = training.classes(summary.labels, dropped=dropped)
        absent = tuple(label for label in everything if label not in summary.labels)
        declared = training.declared
        return Schema(declared.columns, union(declared.classes, absent)[0])

    def _open_more(self, X: Any, y: Any, sample_weight: Any, options: Any) -> Training:  # noqa: ARG002
        """Rows to be added to a fit, or taken out of it."""
        return self._open_training(X, y, sample_weight, self._summary.exponent)

    def _summarize(self, source: TableSource, plan: Any) -> Any:
        summary = self._engine().reduce(source, plan)
        if self.missing == "error":
            missing = summary.rows.missing.tolist()
            self._report_cells(dict(zip(source.schema.names, missing, strict=True)), {})
        return summary

    def _set_fitted(
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
            self._plan = self._saved_plan()
            agrees = self._agrees(self._summary)
        except (SortalError, LookupError, ValueError) as error:
            raise FormatError(f"The summary does not fit the schema ({error}).") from None
        if not agrees:
            raise FormatError("The summary does not fit the schema: damaged?")

    def _saved_plan(self) -> Any:
        """How the summary of a file was made."""
        return self._later_plan(self._declared, self._fitted)

    def _agrees(self, summary: Any) -> bool:
        """Whether a summary from a file has the columns, values and classes of the schema."""
        return self._fits(summary) and len(summary.rows.missing) == len(self._schema.columns)

    def _fits(self, summary: Any) -> bool:
        # of a class that was declared, models of older files know that it has no rows
        made = self._read_schema(self._declared, summary, self._fitted)
        same = (made.columns, made.classes) == (self._schema.columns, self._classes)
        return same and set(summary.labels) <= set(self._schema.classes)


# --- Classifiers whose summaries subtract, so that rows can be taken out again -------------------


class ForgettingClassifier(SummaryClassifier):
    """What follows from summaries that subtract, too."""

    @incremental_method
    def forget(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows out again: the model becomes that of a fit without them.

        Counts are exact. Where number columns are involved and the rows carry nearly all the
        spread of one, the loss of digits is refused by name. Kinds of columns stay known. A class
        without rows does not (unless `partial_fit` was told of it), so that priors, class weights
        and costs must then fit the classes that stay. What is refused leaves the model as it was.

        Parameters
        ----------
        X, y, sample_weight :
            Rows that were fitted, with their labels and weights.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        options = self._options()
        training = self._open_more(X, y, sample_weight, options)
        plan = self._later_plan(training.source.schema, options)
        summary = self._summary.subtract(self._summarize(training.source, plan))
        self._refuse_unfit(summary, training.source.schema)
        self._set_fitted(summary, plan, options, self._declared, self._label_dtype)
        return self


# --- Scores of rows: a pass over them, and warnings of what became of missing values -------------
# once -----


class ScoringClassifier(TableClassifier):
    """A classifier whose model has functions of rows."""

    def _fitted_model(self) -> Any:
        check_is_fitted(self)
        if isinstance(self._model, SortalError):  # why the rows so far do not make a model
            raise type(self._model)(*self._model.args)
        return self._model

    def _score_rows(
        self,
        X: Any,
        function: RowFunctions,
        question: Callable[[Float], NDArray[Any]],
        missing_words: str | None = None,
    ) -> NDArray[Any]:
        """What a pass over the rows answers; says once what became of missing values."""
        blocks = list(self._engine().map(self._open(X), ScoreTermsBlock(function, question)))
        answered = gather_answered(blocks)
        self._report_columns(answered.missing, answered.unknown, missing_words)
        return answered.answer


# --- Classes by their densities: posteriors, priors and costs when asking ------------------------


class Posteriors(ScoringClassifier):
    """A model's `scores` are ln f_k up to a term common to all classes, its `prior` is π."""

    priors: Any
    costs: Any

    def predict(
        self,
        X: Any,
        *,
        priors: ArrayLike | dict[Any, float] | None = None,
        costs: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """The class of each row: the most probable, or of least expected cost.

        Parameters
        ----------
        X : table
        priors, costs :
            Instead of those of the fit.
        """
        self._fitted_model()
        given = self._read_costs(self.costs if costs is None else costs)
        return self._predicted(self._answer(X, priors, "label", given))

    def predict_proba(self, X: Any, *, priors: ArrayLike | dict[Any, float] | None = None) -> Float:
        """P(k|x) of each row, classes in the order of `classes_`; with other priors, if given."""
        return self._spread(self._answer(X, priors, "proba"))

    def predict_log_proba(
        self, X: Any, *, priors: ArrayLike | dict[Any, float] | None = None
    ) -> Float:
        """ln P(k|x) of each row, also where P(k|x) is too small to be written down."""
        return self._spread(self._answer(X, priors, "log_proba"), -np.inf)

    def decision_function(self, X: Any) -> Float:
        """Two classes: the log-odds of the second. More: g_k up to a term common to all classes."""
        return margin(self._spread(self._answer(X, None, "functions"), -np.inf))

    @property
    def priors_(self) -> Float:
        """π_k."""
        return self._spread(self._fitted_model().prior, axis=0)

    def _answer(self, X: Any, priors: Any, what: str, costs: Float | None = None) -> NDArray[Any]:
        model = self._fitted_model()
        given = self._read_priors(priors)
        question = FromPriors(model.prior if given is None else given, what, costs)
        return self._score_rows(X, model.scores, question)
