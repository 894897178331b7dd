"""The base of the discriminants: what learners share, explanations, moments that are given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from sortal.base.classifier import TableClassifier
from sortal.base.learner import (
    CellWords,
    FitReport,
    Fitted,
    InputNames,
    Learner,
    offered,
    refuse_one_class,
)
from sortal.base.tables import class_array, read_target, refuse_empty, split_target
from sortal.data.columns import Design
from sortal.data.sources import TableSource, read_table
from sortal.decision.options import options_for
from sortal.decision.posterior import Decisions, leading, log_of
from sortal.decision.scores import ask, ask_densities, identity
from sortal.discriminants.classical.assumptions import (
    present_classes,
    read_rows,
    refuse_none_left,
    show_assumptions,
)
from sortal.discriminants.explain import Decided, Explain, ExplainLinear
from sortal.discriminants.functions import cost_shift, read_centered
from sortal.discriminants.given_moments import read_moments
from sortal.discriminants.held_out import refuse_leaving
from sortal.discriminants.learn import still_columns
from sortal.discriminants.statistics import (
    ClassStatistics,
    class_statistics,
    combination,
    describe,
    plan,
    plan_fill,
    read_fill,
    read_schema,
    refuse_no_rows,
    report_missing,
    sentence,
    to_choose,
    weakest_columns,
    weigh_classes,
)
from sortal.engines import gather
from sortal.errors import (
    CollinearityWarning,
    FormatError,
    ParameterError,
    PerfectSeparationWarning,
    agreed,
    counted,
    warn,
)
from sortal.records.tables import Explanations
from sortal.summaries.counts import DiscriminantSummary, Fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import CostsLike, Float, Label, LabelsLike, PriorsLike, TableLike
    from sortal.base.learner import Training
    from sortal.data.columns import Schema
    from sortal.decision.scores import Question, RowPass
    from sortal.discriminants.fisher import FisherModel
    from sortal.discriminants.held_out import HeldOut
    from sortal.discriminants.learn import LinearModel, QuadraticModel
    from sortal.discriminants.regression import IndicatorModel
    from sortal.records.tables import Working
    from sortal.summaries.counts import SummarizeDiscriminant

    Rows: TypeAlias = DiscriminantSummary | ClassStatistics
    DiscriminantModel: TypeAlias = LinearModel | QuadraticModel | FisherModel | IndicatorModel
    AnyFit: TypeAlias = Fitted[Any, Rows, Any]


Opt = TypeVar("Opt")
M = TypeVar("M", bound="DiscriminantModel")


# Of classes that do not vary somewhere, so many are named.
_MOST_NAMED = 5


# --- Learners of discriminants -------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DiscriminantLearner(
    Learner[Opt, "DiscriminantSummary | ClassStatistics", M], Generic[Opt, M]
):
    """A learner whose summary are class moments: of rows, or given instead of rows.

    Parameters
    ----------
    notes : (model) → what to know of the columns, where they tell classes apart; warned of, too
    explaining : what explains a row
    held_out : what is asked of rows by models without them, where classes are Gaussian
    """

    notes: Callable[[M], list[str]]
    explaining: type[Explain] = ExplainLinear
    held_out: HeldOut | None = None


def gaussian_learner(
    owner: str,
    options: type[Opt],
    record: type[M],
    held_out: HeldOut,
    notes: Callable[[M], list[str]],
    explaining: type[Explain] = ExplainLinear,
) -> DiscriminantLearner[Opt, M]:
    """One Gaussian a class. A model's `scores` are ln f_k up to a term common to all classes."""

    def model(summary: Rows, schema: Schema, options: Any, training: Training | None) -> Any:
        if to_choose(options, held_out.shares):
            assert training is not None  # noqa: S101  (pieces were refused)
            assert isinstance(summary, DiscriminantSummary)  # noqa: S101  (and moments)
            return held_out.choose(summary, schema, options, training)
        return held_out.learn(class_statistics(summary, schema, options.class_weight), options)

    def whole(options: object) -> str:
        chosen = to_choose(options, held_out.shares)
        if not chosen:
            return ""
        return f"{chosen[0]}='loo' needs all rows at once: use fit, or give a number."

    return DiscriminantLearner(
        options=options,
        model=model,
        whole=whole,
        answer=_answer,
        explaining=explaining,
        leave_out=held_out.leave_out,
        held_out=held_out,
        **_shared(owner, record, notes, "they are integrated out"),
    )


def scored_learner(
    owner: str,
    options: type[Opt],
    record: type[M],
    model: Callable[[Rows, Schema, Opt, Training | None], M],
    notes: Callable[[M], list[str]],
    whole: Callable[[Any], str] = lambda options: "",  # noqa: ARG005
    check: Callable[[Any], None] = lambda options: None,  # noqa: ARG005
) -> DiscriminantLearner[Opt, M]:
    """Functions of rows of which the largest decides, without probabilities.

    A model's `unit` is the size of differences between them, and `anchor` where classes stand. One
    with a `prior` decides as Gaussians do.
    """
    nothing = f"{owner} assumes no distribution"
    no_probabilities = (
        f"{nothing} and has no probabilities: use decision_function, voting='hard' where models "
        "vote, or fit it within scikit-learn's CalibratedClassifierCV."
    )
    of_proba = ("predict_proba", "predict_log_proba", "loo_proba", "cv_proba")

    def answer(fitted: AnyFit, question: Question) -> RowPass:
        costs, own = question.costs, fitted.read_costs()
        if question.prior is not None or not (costs is None or np.array_equal(costs, own)):  # type: ignore[arg-type]
            raise ParameterError(
                f"{nothing} and has no probabilities, which priors and costs would weigh: leave "
                "them out, or set them as its parameters and fit again."
            )
        return _answer(fitted, question)

    return DiscriminantLearner(
        options=options,
        model=model,
        whole=whole,
        check=check,
        answer=answer,
        absent=dict.fromkeys(of_proba, no_probabilities)
        | {"check_assumptions": f"{nothing}: there is nothing to check."},
        **_shared(owner, record, notes, "they take their mean given what is known of the row"),
    )


def _shared(
    owner: str, record: type[M], notes: Callable[[M], list[str]], missing: str
) -> dict[str, Any]:
    """What all have in common: class moments and what is said of them."""

    def report(summary: Any, schema: Schema, model: M | None, options: object) -> FitReport:  # noqa: ARG001
        met, said = report_missing(summary, schema)
        more = [] if model is None else notes(model)
        return FitReport(summary.rows.rows, met, (*said, *more))

    def refuse_more(fitted: AnyFit, options: Any) -> None:
        if isinstance(fitted.summary, ClassStatistics):
            raise ParameterError(
                f"This {owner} was built from given moments, to which rows cannot be "
                "added: fit a new one to the rows."
            )
        if (fitted.plan.fill is not None) != (options.missing == "mean"):
            raise ParameterError(
                f"missing={options.missing!r} was set after a fit with another policy, whose "
                "summary it cannot use: set it back, or fit again."
            )

    remedy = "Fill them, or set missing='drop_rows' or missing='mean'."
    return {
        "kept": {
            "summary": DiscriminantSummary | None,
            "fill": Fill | None,
            "given": ClassStatistics | None,
            "model": record,
        },
        "plan": _plan,
        "later_plan": lambda schema, options, fitted: plan(schema, fitted.plan.fill),  # noqa: ARG005
        "schema": _read_schema,
        "report": report,
        "refuse_rows": refuse_no_rows,
        "refuse_more": refuse_more,
        "refuse_leaving": partial(refuse_leaving, owner=owner),
        "words": CellWords(missing, missing_remedy=remedy),
        "agrees": _agrees,
        "pack": _pack,
        "unpack": _unpack,
        "waits": True,
        "notes": notes,
    }


def _plan(training: Training, options: Any) -> SummarizeDiscriminant:
    schema = training.source.schema
    if options.missing != "mean":
        return plan(schema, None)
    means = training.engine.reduce(training.source, plan_fill(schema))
    return plan(schema, read_fill(means, schema))


def _read_schema(declared: Schema, summary: Rows, options: object) -> Schema:  # noqa: ARG001
    if isinstance(summary, ClassStatistics):
        return declared
    return read_schema(declared, summary)


def _pack(fitted: AnyFit) -> dict[str, object]:
    given = isinstance(fitted.summary, ClassStatistics)
    return {
        "model": fitted.model,
        "summary": None if given else fitted.summary,
        "fill": fitted.plan.fill,
        "given": fitted.summary if given else None,
    }


def _unpack(
    learner: object,  # noqa: ARG001
    kept: Mapping[str, Any],
    declared: Schema,
    options: object,  # noqa: ARG001
) -> tuple[SummarizeDiscriminant, Rows, Any]:
    rows, given = kept["summary"], kept["given"]
    if (rows is None) == (given is None):
        raise FormatError("The model has neither rows nor moments, or both: damaged?")
    return plan(declared, kept["fill"]), given if rows is None else rows, kept["model"]


def _agrees(fitted: AnyFit) -> bool:
    """Whether a summary from a file has the columns of the schema, and values of its fill."""
    summary, fill = fitted.summary, fitted.plan.fill
    if isinstance(summary, ClassStatistics):
        return True
    design, names = Design(fitted.declared), fitted.declared.names
    same = summary.moments.numbers == tuple(names[j] for j in design.numbers)
    same = same and summary.moments.categories == tuple(names[j] for j in design.categories)
    if fill is not None:
        pairs = zip(fill.values, fill.shares, strict=True)
        same = same and all(len(values) == len(shares) for values, shares in pairs)
    return same and len(summary.rows.missing) == len(fitted.schema.columns)


def _answer(fitted: AnyFit, question: Question) -> RowPass:
    model = fitted.model
    if model.prior is not None:
        return ask_densities(model.scores, model.prior, question)
    said = partial(leading, unit=model.unit) if question.what == "label" else identity
    return ask(model.scores, said)


def _decide(model: Any, values: Float, costs: Float | None) -> Decided:
    """What is said of rows: by priors, or by the largest function."""
    if model.prior is None:
        verdicts = Decisions(values, leading(values, model.unit))
        return Decided(values, verdicts, np.zeros(len(model.classes)), model.anchor)
    log_prior = log_of(model.prior)
    functions = values + log_prior
    return Decided(functions, Decisions.of(functions, model.prior, costs), log_prior, model.gap)


def note_columns(model: DiscriminantModel, separation: str = "") -> list[str]:
    """What to know of the columns, where they tell classes apart; warned of, too."""
    if len(model.classes) == 1:
        return []
    geometry, design = model.geometry, model.scores.design
    tied, apart = describe(geometry, design)
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
            f"separates them without error{separation}"
        )
        warn(f"{sentence(notes[-1])}.", PerfectSeparationWarning)
    weak = weakest_columns(geometry, design)
    if weak:
        notes.append(
            f"{combination(weak)} hardly varies within classes (condition "
            f"{geometry.condition:.1e}): coefficients hold few digits"
        )
        warn(f"{sentence(notes[-1])}.", CollinearityWarning)
    return notes


def note_classes(model: QuadraticModel) -> list[str]:
    """Columns, and classes that do not vary where others do."""
    notes = note_columns(model)
    if len(model.classes) == 1:
        return notes
    still, rank = still_columns(model), model.geometry.sphere.shape[1]
    said = [
        f"class {model.classes[k]!r} does not vary along {combination(names)}, as far as "
        f"digits go (rank {model.ranks[k]} of {rank}): there it takes the variance of all "
        "classes together"
        for k, names in list(still.items())[:_MOST_NAMED]
    ]
    if len(still) > _MOST_NAMED:
        n = len(still) - _MOST_NAMED
        said.append(f"so {agreed(n, 'does', 'do')} {counted(n, 'more class', 'more classes')}")
    if said:
        warn(f"{sentence('; '.join(said))}.", CollinearityWarning)
    return notes + said


def log_priors(fitted: AnyFit, priors: PriorsLike) -> Float:
    """ln π_k, as given or of the fit."""
    given = fitted.read_priors(priors)
    return log_of(fitted.model.prior if given is None else given)


def shift_by_costs(fitted: AnyFit, first: Label, second: Label, costs: CostsLike) -> float:
    """What costs add to the log-odds of two classes."""
    given = None if costs is None else fitted.read_costs(costs)
    return 0.0 if given is None else cost_shift(given, fitted.model.classes, first, second)


# --- The estimator -------------------------------------------------------------------------------


class DiscriminantClassifier(
    TableClassifier[Opt, "DiscriminantSummary | ClassStatistics", M], Generic[Opt, M]
):
    """Functions of rows, from class moments."""

    _learner: ClassVar[DiscriminantLearner[Any, Any]]

    @property
    def terms_(self) -> NDArray[Any]:
        """Names of the columns that the model calculates with: a number's own, or column=value."""
        return np.array(self._model.scores.design.terms, dtype=object)

    @property
    def means_(self) -> Float:
        """Class means, a row a class and a column a term; NaN for a class without rows."""
        model = self._model
        return self._fitted.over_classes(model.center + model.gap, np.nan, axis=0)

    @property
    def condition_(self) -> float:
        """The condition number of what was inverted, scaled to a diagonal of ones.

        Coefficients hold about 1e-15 times this number, relative to the largest. Of one matrix a
        class, the largest of them.
        """
        return float(self._model.condition)

    @classmethod
    def from_moments(
        cls,
        means: ArrayLike,
        *,
        covariances: ArrayLike | None = None,
        scatters: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        names: Iterable[str] | None = None,
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
        made, learner = cls(**params), cls._learner
        if reason := learner.whole(made):
            raise ParameterError(reason)
        options, priors = learner.read(made), getattr(made, "priors", None)
        stats = read_moments(
            means,
            covariances=covariances,
            scatters=scatters,
            counts=counts,
            classes=classes,
            names=names,
            priors=None if isinstance(priors, str) else priors,
            unbiased=getattr(made, "covariance", None) == "unbiased",
        )
        schema = stats.design.schema
        options = options_for(options, schema.classes, schema.classes, stats.weight)
        given = weigh_classes(stats, getattr(options, "class_weight", None))
        model = learner.model(given, schema, options, None)
        notes = ("built from given moments, without rows", *learner.notes(model))
        dtype = np.asarray(schema.classes).dtype
        made._fitted = Fitted(
            options,
            declared=schema,
            schema=schema,
            labels=class_array(schema.classes, dtype),
            label_dtype=dtype,
            names=InputNames(names is not None, names is not None, "pandas"),
            plan=plan(schema, None),
            summary=given,
            report=FitReport(int(stats.rows.sum()), {}, notes),
            found=model,
        )
        return made

    def explain(self, X: TableLike) -> Explanations:
        """Why: each attribute's part in the difference of the two leading functions.

        The offset and the parts add up to function of the class said - function of the next. With
        costs, what they add to the log-odds is a part of its own. Attributes marked missing or
        unknown add nothing: what the known ones say about them is in the parts of those.

        Facts: the `functions` by class.
        """
        model, source = self._model, self._open(X)
        refuse_one_class(self._schema.classes, "explain")
        rows = gather(self._map(source, read_centered(model.scores)))
        unknown = rows.unknown.sum(axis=0)
        self._report_columns(rows.missing.sum(axis=0) - unknown, unknown)
        made = self._learner.explaining(
            self._schema.classes, rows, self._decide(rows.values), model.scores
        )
        return self._framed(Explanations(made, range(len(rows.z))), X)

    @offered
    def cv_proba(
        self,
        X: TableLike,
        y: LabelsLike,
        cv: int | Iterable[Label] = 10,
        sample_weight: ArrayLike | None = None,
    ) -> Float:
        """P(k|x) of each row by the model without the rows of its fold.

        What is kept from the fit, and what is not, is as in `loo_proba`.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.
        cv : int or one label a row, default=10
            So many folds, to which the rows of each class are dealt at random, always in the same
            way (rows without weight get what `predict_proba` says); or the fold of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        fitted, learner = self._get_fitted(), self._learner
        fitted.model  # noqa: B018  (an error where rows are awaited)
        assert learner.held_out is not None  # noqa: S101  (else there is no such method)
        learner.refuse_leaving(fitted, "cv_proba")
        training = self._open_more(X, y, sample_weight, fitted.options)
        found = learner.held_out.by_folds(fitted, training, cv)
        self._report_columns(found.missing, found.unknown)
        return fitted.over_classes(found.answer)

    @offered
    def check_assumptions(self, X: TableLike, y: LabelsLike) -> Working:
        """Tests of what Gaussian discriminants assume of rows.

        Tables: "rows"; "covariances", Box's M for equal covariances; "normality", Mardia's skewness
        and kurtosis of each class; "columns", the test of D'Agostino and Pearson of each number
        column in each class; "separability", whether a plane lies between each two classes, and
        one linear function a class tells all rows.

        Rows with missing values or values never seen at fit are left out and counted. Categories
        are not tested for normality. What is too small or too large for a test is said beside it.

        Parameters
        ----------
        X : table
            With the columns of the fit: its rows, or others.
        y : array-like of shape (n_samples,), or str
            The labels, or the name of the column of X that holds them.

        Returns
        -------
        Working
        """
        schema = self._get_fitted().schema
        X, y = split_target(X, y, type(self).__name__)
        table = read_table(X)
        refuse_empty(table)
        target = read_target(y, table.n_rows)
        source = TableSource(table, schema, self._places(table), target.table)
        design = Design(schema)
        rows = gather(self._map(source, read_rows(design)))
        self._report_columns(rows.missing, rows.unknown, "rows with such cells are left out")
        refuse_none_left(rows)
        here = present_classes(rows, schema.classes)
        refuse_one_class(tuple(schema.classes[k] for k in here), "check_assumptions")
        return self._framed(show_assumptions(rows, design), X)

    def _statistics(self) -> ClassStatistics:
        """What the model was made of: class moments, weighed as in the fit."""
        fitted = self._get_fitted()
        class_weight = getattr(fitted.options, "class_weight", None)
        return class_statistics(fitted.summary, fitted.schema, class_weight)

    def _decided(self, X: TableLike | None) -> Decided | None:
        """What is said of rows, if there are any."""
        if X is None:
            return None
        return self._decide(self._pass(self._open(X), ask(self._model.scores, identity)).answer)

    def _decide(self, values: Float) -> Decided:
        """What is said of rows, given the functions of them."""
        fitted = self._fitted
        return _decide(fitted.model, values, fitted.read_costs())
