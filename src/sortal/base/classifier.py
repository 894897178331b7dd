"""The base of every estimator: fit a learner to a table, ask the model about rows, save it.

What differs between learners is a value, a `Learner`: a few functions from options and summaries to
models, and from models to answers. Nothing is overridden. A fit leaves one attribute, `_fitted`,
which is set whole or not at all; all that is public of a fitted estimator is read from it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeVar,
)

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from sortal.base.learner import (
    AskedRows,
    FitReport,
    Fitted,
    InputNames,
    Learner,
    Model,
    RowSummary,
    Training,
    cells_of,
    note_classes,
    offered,
    refuse_no_rows,
    without_value,
)
from sortal.base.save import save
from sortal.base.tables import (
    add_unused,
    adopt_kinds,
    check_kinds,
    class_array,
    common_dtype,
    declare_schema,
    match_columns,
    merge_declared,
    read_target,
    read_truth,
    refuse_empty,
    split_target,
    warn_of_measurements,
    with_classes,
)
from sortal.data.columns import Schema, union
from sortal.data.sources import TableSource, read_frame, read_table, read_weights
from sortal.decision.options import options_for, with_parameters
from sortal.decision.scores import Question, margin
from sortal.engines import LocalEngine, gather, n_threads
from sortal.errors import (
    InputError,
    MissingValueWarning,
    SortalError,
    UnknownCategoryError,
    UnknownCategoryWarning,
    agreed,
    warn,
)
from sortal.records.tables import framed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import (
        CategoricalFeatures,
        CostsLike,
        Counts,
        Float,
        LabelsLike,
        PriorsLike,
        TableLike,
    )
    from sortal.base.save import FitCall
    from sortal.data.sources import Batch, DataTable
    from sortal.decision.scores import ScoredTerms, What
    from sortal.engines import Engine


Opt = TypeVar("Opt")
S = TypeVar("S", bound=RowSummary)
M = TypeVar("M", bound=Model)
R = TypeVar("R")
Asked = TypeVar("Asked", bound=AskedRows)


class TableClassifier(ClassifierMixin, BaseEstimator, Generic[Opt, S, M]):
    """A classifier of tables, by a learner."""

    _learner: ClassVar[Learner[Any, Any, Any]]
    # for learners that have no such parameters; the policies are each learner's own words
    n_jobs: int | None = None
    categorical_features: CategoricalFeatures = "from_dtype"
    missing: Any = "skip"
    unknown: Any = "skip"
    _fitted: Fitted[Opt, S, M]

    def __init_subclass__(cls, **given: object) -> None:
        super().__init_subclass__(**given)
        if "_learner" in vars(cls) and cls.__doc__:
            cls.__doc__ = with_parameters(cls.__doc__, cls._learner.options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = given = self._learner.by_position(self)
        tags.input_tags.allow_nan = self.missing != "error" and not given
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    # --- Fitting --------------------------------------------------------------------------------

    def fit(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to a table and its labels.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or str
            The labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers are copies of a row; 0 leaves a row out, but not its class out of
            `classes_`. As soon as one has a fraction, weights are importances: those below 2**-49
            of their total are 0.

        Returns
        -------
        self
        """
        learner, options = self._learner, self._learner.read(self)
        training = self._open_training(X, y, sample_weight)
        plan = learner.plan(training, options)
        summary = self._summarize(training, plan, options)
        self._refuse_no_rows(summary, training.source.schema)
        declared = self._declaring(training, summary)
        names = self._names(training, options)
        self._set(summary, plan, options, declared, training.label_dtype, names, training)
        warn_of_measurements(training.source.target, len(self._fitted.labels))
        return self

    @offered
    def partial_fit(
        self,
        X: TableLike,
        y: LabelsLike,
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
        learner, options = self._learner, self._learner.read(self)
        if not hasattr(self, "_fitted"):
            training = replace(self._open_training(X, y, sample_weight), more=True)
            plan = learner.plan(training, options)
            summary = self._summarize(training, plan, options)
            declared, dtype = self._declaring(training, summary), training.label_dtype
            names = self._names(training, options)
        else:
            before = self._fitted
            training = self._open_more(X, y, sample_weight, options)
            plan = learner.later_plan(training.source.schema, options, before)
            added = self._summarize(training, plan, options)
            summary = learner.join(before, plan).merge(added)
            declared = merge_declared(before.declared, self._declaring(training, summary))
            dtype = common_dtype(before.label_dtype, training.label_dtype)
            names = before.names
        declared, dtype = with_classes(declared, dtype, classes)
        self._set(summary, plan, options, declared, dtype, names, waits=learner.waits)
        return self

    @offered
    def forget(
        self,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
    ) -> Self:
        """Take rows out again: the model becomes that of a fit without them.

        Counts are exact. Where number columns are involved and the rows carry nearly all the
        spread of one, the loss of digits is refused by name. Kinds of columns stay known. A class
        without rows does not (unless `partial_fit` was told of it), so that priors, class weights
        and costs must then fit the classes that stay. What is refused leaves the model as it was.

        Parameters
        ----------
        X, y, sample_weight :
            Rows that were fitted, with their labels and weights.
        ids : int or array-like of int
            Instead of these, of nearest neighbors: the ids of rows that are kept (`ids_`). The
            other rows keep theirs.

        Returns
        -------
        self
        """
        before, learner, options = self._get_fitted(), self._learner, self._learner.read(self)
        by_rows = learner.take is None
        if (ids if by_rows else X) is not None:
            wanted = "X and y, the rows" if by_rows else "ids, those of rows"
            raise InputError(f"forget of a {type(self).__name__} takes {wanted} to take out.")
        if learner.take is not None:
            learner.refuse_more(before, options)
            schema = before.schema
            plan = learner.later_plan(schema, options, before)
            summary = learner.take(before, ids)
        else:
            training = self._open_more(X, y, sample_weight, options)
            schema = training.source.schema
            plan = learner.later_plan(schema, options, before)
            summary = before.summary.subtract(self._summarize(training, plan, options))  # type: ignore[attr-defined]
        self._refuse_no_rows(summary, schema)
        self._set(summary, plan, options, before.declared, before.label_dtype, before.names)
        return self

    def _summarize(self, training: Training, plan: Any, options: Opt) -> S:
        summary: S = self._learner.summarize(training, plan, options)
        if self.missing == "error":
            schema = training.source.schema
            missing = self._learner.missing(summary, schema, options)
            self._report_cells(schema.names, missing, np.zeros_like(missing))
        return summary

    def _refuse_no_rows(self, summary: S, schema: Schema) -> None:
        self._learner.refuse_rows(summary, schema)
        refuse_no_rows(summary, type(self).__name__)

    def _declaring(self, training: Training, summary: S) -> Schema:
        """What a table declares, and as classes those of its rows that do not count."""
        schema = training.source.schema
        dropped = self.missing == "drop_rows" and bool(
            self._learner.missing(summary, schema, None).any()
        )
        everything = training.classes(summary.labels, dropped=dropped)
        absent = tuple(label for label in everything if label not in summary.labels)
        declared = training.declared
        return Schema(declared.columns, union(declared.classes, absent)[0])

    def _set(
        self,
        summary: S,
        plan: Any,
        options: Opt,
        declared: Schema,
        label_dtype: np.dtype[Any],
        names: InputNames,
        training: Training | None = None,
        *,
        waits: bool = False,
    ) -> None:
        """Everything that follows from a summary; nothing is set unless all of it could be made."""
        learner = self._learner
        read = learner.schema(declared, summary, options)
        schema, classes = Schema(read.columns, summary.labels), read.classes
        found, waiting = None, None
        try:
            weight = np.asarray(summary.class_weights, dtype=np.float64)
            options = options_for(options, classes, schema.classes, weight)
            if waits:
                self._refuse_no_rows(summary, schema)
            found = learner.model(summary, schema, options, training)
        except SortalError as reason:
            if not waits:
                raise
            waiting = reason
        report = learner.report(summary, schema, found, options)
        if found is not None:
            report = note_classes(report, classes, schema.classes)
        labels = class_array(classes, label_dtype)
        kept: Any = summary if learner.keeps else None
        self._fitted = Fitted(
            options, declared, schema, labels, label_dtype, names, plan, kept, report, found,
            waiting,
        )  # fmt: skip

    # --- Reading tables -------------------------------------------------------------------------

    def _engine(self) -> Engine:
        return LocalEngine(self.n_jobs)

    def _open_training(
        self,
        X: TableLike | None,
        y: LabelsLike | None,
        sample_weight: ArrayLike | None,
        exponent: int | None = None,
    ) -> Training:
        """The rows of a fit. With `exponent`, by the schema and the unit of an earlier one."""
        X, y = split_target(X, y, type(self).__name__)
        table = read_table(X)
        refuse_empty(table)
        target = read_target(y, table.n_rows)
        declared = declare_schema(table, self.categorical_features)
        if exponent is None:
            schema, places = declared, tuple(range(len(table.names)))
        else:
            places = self._places(table)
            declared = Schema(tuple(declared.columns[j] for j in places))
            schema = adopt_kinds(self._fitted.schema, declared)
        weights = read_weights(sample_weight, table.n_rows, exponent)
        source = TableSource(table, schema, places, target.table, weights)
        return Training(source, declared, target.dtype, self._engine())

    def _open_more(
        self,
        X: TableLike | None,
        y: LabelsLike | None,
        sample_weight: ArrayLike | None,
        options: Opt,
    ) -> Training:
        """Rows to be added to a fit, or taken out of it, or of it again."""
        before: Any = self._get_fitted()
        self._learner.refuse_more(before, options)
        training = self._open_training(X, y, sample_weight, before.summary.exponent)
        strangers = self._learner.strangers(training, before)
        if strangers is not None:
            self._report_cells(before.schema.names, np.zeros_like(strangers), strangers)
        return training

    def _names(self, training: Training, options: Opt) -> InputNames:
        table = training.source.table
        by_name = table.has_names and not self._learner.by_position(options)
        return InputNames(by_name, table.string_names, table.backend or "pandas")

    def _open(self, X: TableLike) -> TableSource:
        """The source of rows to be predicted; columns that the model does not use may be absent."""
        fitted = self._get_fitted()
        if fitted.names.by_name:
            unused = getattr(fitted.found, "unused", {})
            X = add_unused(X, fitted.schema, unused, type(self).__name__)
        table = read_table(X)
        refuse_empty(table)
        source = TableSource(table, fitted.schema, self._places(table))
        return self._learner.rows(source, fitted)

    def _places(self, table: DataTable) -> tuple[int, ...]:
        fitted, owner = self._fitted, type(self).__name__
        self._learner.refuse_table(table, fitted)
        if fitted.names.strings and not table.has_names:
            warn(
                f"X does not have valid feature names, but {owner} was fitted with feature names: "
                "its columns are taken in the order of the fit.",
                UserWarning,
            )
        places = match_columns(table, fitted.schema, fitted.names.by_name, owner)
        check_kinds(table, fitted.schema, places)
        return places

    # --- Asking ---------------------------------------------------------------------------------

    def predict(
        self, X: TableLike, *, priors: PriorsLike = None, costs: CostsLike = None
    ) -> NDArray[Any]:
        """The class of each row: the most probable, or of least expected cost; the first of equals.

        Parameters
        ----------
        X : table
        priors, costs :
            Instead of those of the fit.
        """
        fitted = self._get_fitted()
        question = Question("label", fitted.read_priors(priors), fitted.read_costs(costs))
        return fitted.predicted(self._ask(X, question).answer)

    @offered
    def predict_proba(self, X: TableLike, *, priors: PriorsLike = None) -> Float:
        """P(k|x) of each row, classes in the order of `classes_`; with other priors, if given."""
        return self._get_fitted().over_classes(self._answer(X, "proba", priors))

    @offered
    def predict_log_proba(self, X: TableLike, *, priors: PriorsLike = None) -> Float:
        """ln P(k|x) of each row, also where P(k|x) is too small to be written down."""
        return self._get_fitted().over_classes(self._answer(X, "log_proba", priors), -np.inf)

    @offered
    def decision_function(self, X: TableLike) -> Float:
        """Two classes: the function of the second less that of the first. More: one a class."""
        return margin(self._get_fitted().over_classes(self._answer(X, "functions"), -np.inf))

    @offered
    def loo_proba(
        self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None
    ) -> Float:
        """P(k|x) of each row by the model without this row, computed without refitting.

        A row goes with all its weight. What was given stays, and so does what a fit has chosen by
        leaving out rows; empirical priors, class weights and moments are those of the other rows. A
        row that was not in the fit (it was dropped, or has no weight) gets what `predict_proba`
        says.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        fitted = self._get_fitted()
        fitted.model  # noqa: B018  (an error where rows are awaited)
        assert self._learner.leave_out is not None  # noqa: S101  (else there is no such method)
        self._learner.refuse_leaving(fitted, "loo_proba")
        training = self._open_more(X, y, sample_weight, fitted.options)
        made, outside = self._learner.leave_out(fitted, training)
        if outside is not None and outside.any():
            rows, _ = split_target(X, y, type(self).__name__)
            made[outside] = self._answer(rows, "proba")[outside]
        return fitted.over_classes(made)

    def score(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows that are predicted rightly; y may be the name of a column of X."""
        X, y = split_target(X, y, type(self).__name__)
        predicted = self.predict(X)
        truth = read_truth(y, self._fitted.classes, len(predicted))
        right = (truth >= 0) & (self.classes_[truth.clip(0)] == predicted)
        return float(accuracy_score(right, np.ones_like(right), sample_weight=sample_weight))

    def _answer(self, X: TableLike, what: What, priors: PriorsLike = None) -> Float:
        question = Question(what, self._get_fitted().read_priors(priors))
        return self._ask(X, question).answer

    def _ask(self, X: TableLike, question: Question) -> ScoredTerms:
        fitted = self._get_fitted()
        fitted.model  # noqa: B018  (an error where rows are awaited)
        threads = n_threads(self.n_jobs) if self._learner.own_threads else 1
        question = replace(question, unknown=self.unknown, n_threads=threads)
        return self._pass(self._open(X), self._learner.answer(fitted, question))

    def _pass(
        self, source: TableSource, function: Callable[[Batch], Asked], words: str | None = None
    ) -> Asked:
        """The results of a pass over rows as one; says once what became of missing values."""
        gathered = gather(self._map(source, function))
        self._report_columns(gathered.missing, gathered.unknown, words)
        self._learner.notice(gathered)
        return gathered

    def _map(self, source: TableSource, function: Callable[[Batch], R]) -> Iterator[R]:
        engine = LocalEngine(1) if self._learner.own_threads else self._engine()
        return engine.map(source, function)

    def _report_columns(self, missing: Counts, unknown: Counts, words: str | None = None) -> None:
        """Says once, with the counts by column, what became of missing and unknown values."""
        fitted = self._get_fitted()
        if self.missing != "error" and fitted.found is not None:
            met = self._learner.quiet(fitted.found)
            missing = missing if met is None else np.where(met, 0, missing)
        self._report_cells(fitted.schema.names, missing, unknown, words)

    def _report_cells(
        self, names: tuple[str, ...], missing: Counts, unknown: Counts, words: str | None = None
    ) -> None:
        """The same by name; or an error, where the policy has it so."""
        own = self._learner.words
        if missing.sum():
            if self.missing == "error":
                raise own.no_missing(names, missing)
            said = words or _by_policy(own.missing, self.missing)
            warn(f"{without_value(names, missing)}; {said}.", MissingValueWarning)
        if unknown.sum():
            holds = agreed(unknown.sum(), "holds a value", "hold values")
            what = f"{cells_of(names, unknown)} {holds} never seen at fit"
            if self.unknown == "error":
                remedy = own.unknown_remedy
                raise UnknownCategoryError(f"{what}, and the policy is 'error'. {remedy}")
            said = words or _by_policy(own.unknown or own.missing, self.unknown)
            warn(f"{what}; {said}.", UnknownCategoryWarning)

    # --- What a fit leaves ----------------------------------------------------------------------

    def _get_fitted(self) -> Fitted[Opt, S, M]:
        check_is_fitted(self)
        return self._fitted

    @property
    def _model(self) -> M:
        return self._get_fitted().model

    @property
    def _schema(self) -> Schema:
        return self._get_fitted().schema

    @property
    def _summary(self) -> S:
        return self._get_fitted().summary

    @property
    def _backend(self) -> str:
        return self._get_fitted().names.backend

    def _framed(self, shown: R, X: TableLike | None = None) -> R:
        """What is shown, in the library that its rows came in, or in that of the fit."""
        frame = None if X is None else read_frame(X)
        return framed(shown, self._backend if frame is None else str(frame.implementation))

    @property
    def _fit_call(self) -> FitCall | None:
        """The call that made the fit, which its maker notes."""
        return self._get_fitted().call

    @_fit_call.setter
    def _fit_call(self, call: FitCall | None) -> None:
        self._fitted = replace(self._get_fitted(), call=call)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        return self._get_fitted().labels

    @property
    def fit_report_(self) -> FitReport:
        """Rows, missing values by column, notes."""
        return self._get_fitted().report

    @property
    def n_features_in_(self) -> int:
        """How many columns the fit had."""
        return len(self._get_fitted().schema.columns)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Their names, where all are strings."""
        fitted = self._get_fitted()
        if not fitted.names.strings:
            raise AttributeError("feature_names_in_ exists after a fit to columns with names.")
        return np.array(fitted.schema.names, dtype=object)

    @property
    def n_parameters_(self) -> int:
        """How many numbers predict needs of the fitted model."""
        return int(self._model.size)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator into a model file, which `sortal.load` reads.

        The file holds data only, as docs/model_file.md has it: parameters, schema, the numbers of
        the model, and what further fitting needs. A file of that name is replaced when the new one
        is complete, and not before. Parameters that are no data, such as functions, are replaced by
        their defaults, with a warning that names them; `progress` without one.

        Parameters
        ----------
        path : str or path
            Where to write; by custom it ends in ".sortal".
        """
        save(self, path)


# --- Sentences -----------------------------------------------------------------------------------


def _by_policy(words: str | Mapping[str, str], policy: str) -> str:
    return words if isinstance(words, str) else words.get(policy, "")
