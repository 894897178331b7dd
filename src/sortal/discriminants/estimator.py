"""The base of the discriminants: policies, passes, explanations, given moments, saving."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sortal.base.labels import class_array
from sortal.base.ladder import FitReport, refuse_one_class
from sortal.base.save import OptionalAttribute
from sortal.base.summary_classifier import (
    ForgettingClassifier,
    Posteriors,
    ScoringClassifier,
    no_probabilities,
)
from sortal.data.schema import Design
from sortal.decision.options import read_costs
from sortal.decision.posterior import Decisions, log_of
from sortal.discriminants.classical.assumptions import Assumptions
from sortal.discriminants.explain import Decided, Explain, ExplainLinear, LinearExplanation
from sortal.discriminants.linear_functions import cost_shift, read_centered
from sortal.discriminants.statistics import (
    ClassStatistics,
    combination,
    describe,
    plan,
    plan_fill,
    read_fill,
    read_moments,
    read_schema,
    read_statistics,
    refuse_no_rows,
    report_missing,
    sentence,
    weakest_columns,
    weigh_classes,
)
from sortal.engines import gather
from sortal.errors import (
    CollinearityWarning,
    FormatError,
    ParameterError,
    PerfectSeparationWarning,
    SortalError,
    choose,
    warn,
)
from sortal.modelfile.arrays import Array, RecordField, SummaryField
from sortal.modelfile.fields import (
    Flag,
    FromSchema,
    Layout,
    Number,
    OptionalField,
    Several,
    ValuesField,
)
from sortal.records.tables import Explanations
from sortal.summaries.counts import DiscriminantSummary, Fill, SummarizeDiscriminant

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float
    from sortal.base.ladder import Training
    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.discriminants.linear_functions import CenteredRows


# --- What a discriminant keeps in a model file: its summary, or the moments that were given ------

_FILL = Layout(
    numbers=Several(Number(), "numbers"),
    values=Several(ValuesField(), "categories"),
    shares=Several(Several(Number(least=0.0)), "categories"),
)

# Of given moments: third and fourth powers are not known, and `slack` is 0.
_MOMENTS = Layout(
    design=FromSchema("design"),
    weight=Array("f8", "classes", least=0.0),
    rows=Array("f8", "classes", least=0.0),
    center=Array("f8", "terms"),
    gap=Array("f8", "classes", "terms"),
    scatter=Array("f8", "classes", "terms", "terms"),
    third=Array("f8", "classes", "terms", nan=True),
    fourth=Array("f8", "classes", nan=True),
    exact=Flag(),
)


class SavedDiscriminant(ForgettingClassifier):
    """The state of a discriminant, out and in."""

    _kept: ClassVar[Layout] = Layout(
        _summary=OptionalField(SummaryField(DiscriminantSummary)),
        _fill=OptionalField(RecordField(Fill, _FILL)),
        _given=OptionalAttribute(RecordField(ClassStatistics, _MOMENTS)),
    )

    @property
    def _fill(self) -> Fill | None:
        """What stands for a missing value."""
        found: Fill | None = None if self._summary is None else self._plan.fill
        return found

    def _restore(self, kept: dict[str, Any]) -> None:
        fill = kept.pop("_fill")
        if (kept["_summary"] is None) != ("_given" in kept):
            raise FormatError("The model has neither rows nor moments, or both: damaged?")
        if kept["_summary"] is not None:
            self._plan = SummarizeDiscriminant(self._schema, (), (), fill)
        super()._restore(kept)

    def _agrees(self, summary: DiscriminantSummary) -> bool:
        design, names = Design(self._declared), self._declared.names
        moments, fill = summary.moments, self._plan.fill
        same = moments.numbers == tuple(names[j] for j in design.numbers)
        same = same and moments.categories == tuple(names[j] for j in design.categories)
        if fill is not None:
            pairs = zip(fill.values, fill.shares, strict=True)
            same = same and all(len(values) == len(shares) for values, shares in pairs)
        return same and super()._agrees(summary)


class DiscriminantClassifier(ScoringClassifier, SavedDiscriminant):
    """Linear functions from class moments."""

    _missing_remedy = "Fill them, or set missing='drop_rows' or missing='mean'."
    _separation_words = ""
    _allows_incomplete = True  # blocks that do not make a model yet are kept until more come
    _given: ClassStatistics  # where moments were given instead of rows

    predict_proba = no_probabilities()

    @abstractmethod
    def _learn(self, stats: ClassStatistics, options: Any) -> Any:
        """The model of class statistics."""

    @property
    def terms_(self) -> NDArray[Any]:
        """Names of the columns that the model calculates with: a number's own, or column=value."""
        return np.array(self._design().terms, dtype=object)

    @property
    def means_(self) -> Float:
        """Class means, a row a class and a column a term; NaN for a class without rows."""
        model = self._fitted_model()
        return self._spread(model.center + model.gap, np.nan, axis=0)

    @property
    def condition_(self) -> float:
        """The condition number of the matrix that was inverted, scaled to a diagonal of ones.

        Coefficients hold about 1e-15 times this number, relative to the largest.
        """
        return float(self._fitted_model().geometry.condition)

    @classmethod
    def from_moments(
        cls,
        means: ArrayLike,
        *,
        covariances: ArrayLike | None = None,
        scatters: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        names: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """A fitted estimator from known moments, without rows.

        Parameters
        ----------
        means : array-like of shape (n_classes, n_features)
        covariances : array-like of shape (n_features, n_features) or one such matrix a class
            Where counts are given, those of samples: sums of squares divided by n, or by n - 1
            where the estimator has covariance="unbiased". Else those of the populations.
        scatters : array-like of shape (n_classes, n_features, n_features)
            Instead of covariances; needs counts.
        counts : array-like of shape (n_classes,), default=None
            Rows of each class. Without them the moments are taken as exact: classes weigh by
            `priors`, where the estimator has them, or alike.
        classes : array-like of shape (n_classes,), default=None
            Labels in sorted order; by default 0, 1, …
        names : sequence of str, default=None
            Names of the columns; with names, tables are matched by them.
        **params :
            The estimator's own parameters.

        Returns
        -------
        An estimator that predicts; it cannot be fitted further.
        """
        made = cls(**params)
        if made._not_incremental():
            raise ParameterError(made._not_incremental())
        options = made._options()
        stats = read_moments(
            means,
            covariances=covariances,
            scatters=scatters,
            counts=counts,
            classes=classes,
            names=names,
            priors=made._priors(),
            unbiased=made._unbiased(),
        )
        schema = stats.design.schema
        read_costs(getattr(made, "costs", None), schema.classes)
        made._given = weigh_classes(stats, getattr(options, "class_weight", None))
        model = made._learn(made._given, options)
        made._schema, made._model, made._summary = schema, model, None
        made.classes_ = class_array(schema.classes, np.asarray(schema.classes).dtype)
        made.n_features_in_, made._by_name = len(schema.columns), names is not None
        if names is not None:
            made.feature_names_in_ = np.array(schema.names, dtype=object)
        made._backend = "pandas"
        notes = ("built from given moments, without rows", *made._notes(model))
        made.fit_report_ = FitReport(int(stats.rows.sum()), {}, notes)
        return made

    def explain(self, X: Any) -> Explanations[LinearExplanation]:
        """Why: each attribute's part in the difference of the two leading functions.

        The parts and the offset add up to function of the class said - function of the next. With
        costs, what they add to the log-odds is a part of its own.
        """
        model, source = self._fitted_model(), self._open(X)
        refuse_one_class(self._schema.classes, "explain")
        rows = gather(self._engine().map(source, read_centered(model.scores)))
        unknown = rows.unknown.sum(axis=0)
        self._report_columns(rows.missing.sum(axis=0) - unknown, unknown)
        made = self._explain(rows, self._decide(rows.values))
        return Explanations(made, range(len(rows.z)), source.table.backend or self._backend)

    def _explain(self, rows: CenteredRows, decided: Decided) -> Explain:
        """What explains a row."""
        return ExplainLinear(self._schema.classes, rows, decided, self._fitted_model().scores)

    @abstractmethod
    def _decide(self, values: Float) -> Decided:
        """What is said of rows, given the functions of them."""

    def _priors(self) -> Any:
        """The priors, where the estimator has them."""
        return None

    def _unbiased(self) -> bool:
        """Whether covariances divide by n - 1."""
        return False

    def _policies(self) -> None:
        choose("missing", self.missing, ("drop_rows", "mean", "error"))
        choose("unknown", self.unknown, ("skip", "error"))

    def _open_more(self, X: Any, y: Any, sample_weight: Any, options: Any) -> Training:
        if self._summary is None:
            raise ParameterError(
                f"This {type(self).__name__} was built from given moments, to which rows cannot be "
                "added: fit a new one to the rows."
            )
        if (self._plan.fill is not None) != (self.missing == "mean"):
            raise ParameterError(
                f"missing={self.missing!r} was set after a fit with another policy, whose summary "
                "it cannot use: set it back, or fit again."
            )
        return super()._open_more(X, y, sample_weight, options)

    def _plan_first(self, source: TableSource, options: Any) -> SummarizeDiscriminant:  # noqa: ARG002
        if self.missing != "mean":
            return plan(source.schema, None)
        means = self._engine().reduce(source, plan_fill(source.schema))
        return plan(source.schema, read_fill(means, source.schema))

    def _later_plan(self, schema: Schema, options: Any) -> SummarizeDiscriminant:  # noqa: ARG002
        return plan(schema, self._plan.fill)

    def _read_schema(
        self,
        declared: Schema,
        summary: DiscriminantSummary,
        options: Any,  # noqa: ARG002
    ) -> Schema:
        return read_schema(declared, summary)

    def _build(
        self,
        summary: DiscriminantSummary,
        schema: Schema,
        options: Any,
        source: TableSource | None,  # noqa: ARG002
    ) -> Any:
        self._refuse_unfit(summary, schema)
        stats = read_statistics(summary, schema)
        return self._learn(weigh_classes(stats, getattr(options, "class_weight", None)), options)

    def _refuse_unfit(self, summary: DiscriminantSummary, schema: Schema) -> None:
        refuse_no_rows(summary, schema)
        super()._refuse_unfit(summary, schema)

    def _report_fit(self, summary: DiscriminantSummary, schema: Schema, model: Any) -> FitReport:
        missing, notes = report_missing(summary, schema)
        return FitReport(summary.rows.rows, missing, (*notes, *self._notes(model)))

    def _notes(self, model: Any) -> list[str]:
        """What to know of the columns, where they tell classes apart; warned of, too."""
        if isinstance(model, SortalError) or len(model.classes) == 1:
            return []
        tied, apart = describe(model.geometry, model.scores.design)
        notes = []
        if tied:
            notes.append(
                f"{combination(tied)} is the same in all rows, as far as digits go: it says "
                "nothing and is left out"
            )
            warn(f"{sentence(notes[-1])}.", CollinearityWarning)
        if apart:
            notes.append(
                f"{combination(apart)} is constant within classes and differs between them: it "
                f"separates them without error{self._separation_words}"
            )
            warn(f"{sentence(notes[-1])}.", PerfectSeparationWarning)
        weak = weakest_columns(model.geometry, model.scores.design)
        if weak:
            notes.append(
                f"{combination(weak)} hardly varies within classes (condition "
                f"{model.geometry.condition:.1e}): coefficients hold few digits"
            )
            warn(f"{sentence(notes[-1])}.", CollinearityWarning)
        return notes

    def _design(self) -> Design:
        design: Design = self._fitted_model().scores.design
        return design


# --- What the discriminants of Gaussian classes share: statistics, decisions and costs -----------


class GaussianDiscriminant(Posteriors, Assumptions, DiscriminantClassifier):
    """One Gaussian a class. A model's `scores` are ln f_k up to a term common to all classes."""

    covariance: str
    shrinkage: Any
    class_weight: Any
    _missing_words = "they are integrated out"

    @property
    def shrinkage_(self) -> float:
        """The share of the scaled identity in covariances."""
        return float(self._fitted_model().shrinkage)

    def _log_prior(self, priors: Any) -> Float:
        """ln π_k, as given or of the fit."""
        given = self._read_priors(priors)
        return log_of(self._fitted_model().prior if given is None else given)

    def _cost_shift(self, first: Any, second: Any, costs: Any) -> float:
        """What costs add to the log-odds of two classes."""
        classes = self._fitted_model().classes
        given = self._read_costs(costs)
        return 0.0 if given is None else cost_shift(given, classes, first, second)

    def _statistics(self) -> ClassStatistics:
        """What the model was made of: class moments, weighed as in the fit."""
        if self._summary is None:
            return self._given
        stats = read_statistics(self._summary, self._schema)
        return weigh_classes(stats, self._fitted.class_weight)

    def _priors(self) -> Any:
        return self.priors

    def _unbiased(self) -> bool:
        return self.covariance == "unbiased"

    def _decide(self, values: Float) -> Decided:
        model = self._fitted_model()
        functions = values + model.log_prior
        costs = self._read_costs(self.costs)
        verdicts = Decisions.of(functions, model.prior, costs)
        return Decided(functions, verdicts, model.log_prior, model.gap)
