"""DiscreteBayes, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.naive_bayes import GaussianNB

from sortal.base.classifier import TableClassifier
from sortal.base.learner import FitReport, Learner, refuse_one_class
from sortal.base.to_sklearn import (
    given_priors,
    refuse_absent,
    refuse_others,
    rows_around,
    verify,
    wear_names,
)
from sortal.bayes.explain import explain
from sortal.bayes.learn import BayesOptions, build_model, class_units, plan, read_schema
from sortal.bayes.leave_one_out import leave_out
from sortal.bayes.model import BayesModel, answer, linear_functions, read_given, warn_of_impossible
from sortal.bayes.working import show_working
from sortal.decision.posterior import n_impossible
from sortal.decision.scores import public_functions
from sortal.errors import ParameterError
from sortal.records.tables import Explanations
from sortal.summaries.counts import BayesSummary

if TYPE_CHECKING:
    from typing import TypeAlias

    from sortal._typing import Float, TableLike
    from sortal.base.learner import Fitted
    from sortal.data.columns import Schema
    from sortal.records.tables import Working

    BayesFit: TypeAlias = Fitted[BayesOptions, BayesSummary, BayesModel]


def _report(
    summary: BayesSummary,
    schema: Schema,
    model: BayesModel | None,
    options: BayesOptions,  # noqa: ARG001
) -> FitReport:
    assert model is not None  # noqa: S101  (any rows make one)
    names = [schema.columns[model.numbers[place]].name for place in model.constant]
    notes = [f"column {name!r} never varies and is left out" for name in names]
    if summary.cells is not None:
        rows, whole = summary.classes.units.sum(), summary.cells.units.sum()
        if whole < rows:
            share = f"{1 - whole / rows:.1%}"
            notes.append(f"{share} of the rows have a missing value and are not in the joint table")
    return FitReport.of(summary.rows.rows, schema, summary.rows.missing, notes)


def _refuse_other_structure(fitted: BayesFit, options: BayesOptions) -> None:
    if (fitted.summary.cells is not None) != (options.structure == "joint"):
        raise ParameterError(
            f"structure={options.structure!r} was set after a fit with the other structure, "
            "whose summary it cannot use: set it back, or fit again."
        )


def _agrees(fitted: BayesFit) -> bool:
    """Whether a summary from a file has the columns, values and classes of its plan."""
    plan, values, cells = fitted.plan, fitted.summary.values, fitted.summary.cells
    known, moments = set(fitted.summary.classes.classes), fitted.summary.moments
    same = moments.names == plan.names and len(values.values) == len(plan.categories)
    same = same and (cells is None) == (plan.cells is None)
    same = same and known >= {*values.classes, *moments.classes}
    same = same and len(fitted.summary.rows.missing) == len(fitted.schema.columns)
    if same and cells is not None:
        same = len(cells.values) == len(plan.cells) and known >= set(cells.classes)
        counted_values = [set(values.values[plan.categories.index(j)]) for j in plan.cells]
        same = same and all(map(set.issuperset, counted_values, cells.values))
    return bool(same)


BAYES = Learner(
    options=BayesOptions,
    kept={"model": BayesModel, "summary": BayesSummary},
    plan=lambda training, options: plan(training.source.schema, options),
    later_plan=lambda schema, options, fitted: plan(schema, options),  # noqa: ARG005
    schema=read_schema,
    model=lambda summary, schema, options, training: build_model(summary, schema, options),  # noqa: ARG005
    report=_report,
    answer=lambda fitted, question: answer(fitted.model, question),
    join=lambda fitted, plan: fitted.summary.recast(fitted.plan, plan),
    refuse_more=_refuse_other_structure,
    leave_out=leave_out,
    absent={"decision_function": "DiscreteBayes has predict_log_proba instead."},
    notice=lambda found: warn_of_impossible(getattr(found, "n_impossible", 0)),
    agrees=_agrees,
)


class DiscreteBayes(BayesOptions, TableClassifier[BayesOptions, BayesSummary, BayesModel]):
    """Bayes' rule on tables of words, numbers and missing values.

    P(c|x) = P(x|c) P(c) / P(x), with P(x|c) from counts: a product over attributes (naive) or the
    full class-conditional table (joint). Counts are whole numbers, the same to the last bit in any
    order of rows, from any number of blocks and threads; means and variances of number columns
    are the same to 1e-12.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_, intercept_ : ndarray of shape (n_classes, n_features) and (n_classes,), or with one row
        Where every column has exactly two values: the linear discriminant functions
        g_c(x) = coef_[c] @ x + intercept_[c], x being 0 for the value that sorts first and 1 for
        the other; g_c(x) = ln P(x|c) P(c). Of two classes the second's less the first's, the
        log-odds of the second.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import DiscreteBayes, datasets
    >>> tennis = datasets.play_tennis()
    >>> model = DiscreteBayes(alpha=0).fit(tennis, "PlayTennis")
    >>> day = tennis[1:2]  # sunny, hot, humid and windy
    >>> model.predict(day).tolist()
    ['No']
    >>> for part in model.explain(day)[0].parts.lines():
    ...     print(f"{part['part']}: {part['bits']:.3f} bits")
    prior: -0.848 bits
    Outlook: 1.433 bits
    Temperature: 0.848 bits
    Humidity: 1.263 bits
    Wind: 0.848 bits
    """

    _learner = BAYES

    def explain(self, X: TableLike) -> Explanations:
        """Why: prior and each attribute's weight of evidence in bits, adding up to the odds.

        The total is log2 of P(label|x) / P(against|x). With costs, what they add to it is a part of
        its own, and the total is at least 0: the label has the least expected cost, however
        probable it is. Marks say which attributes were left out (missing, unknown, constant), and
        whether the joint cell was never seen.

        Facts: `prior` and `posterior` by class; `log2_likelihood` of each attribute by class; and
        `possible`, False where every class gives the row probability zero: the posterior is then
        the prior, and the evidence is not in the total.
        """
        encoded = self._pass(self._open(X), read_given(self._model))
        refuse_one_class(self._schema.classes, "explain")
        made, log_joint = explain(self._model, encoded, self._fitted.read_costs())
        warn_of_impossible(n_impossible(log_joint))
        return self._framed(Explanations(made, range(len(log_joint))), X)

    def working(self, X: TableLike | None = None) -> Working:
        """The numbers of this fit: counts, probabilities and, for rows X, Bayes' rule."""
        model, summary = self._model, self._summary
        encoded = None if X is None else self._pass(self._open(X), read_given(model))
        working = self._framed(show_working(model, summary, encoded), X)
        if encoded is not None:
            warn_of_impossible(working["evidence"].column("ln P(x)").count(-np.inf))
        return working

    def to_sklearn(self) -> GaussianNB:
        """The same model, of number columns only, as a fitted GaussianNB of scikit-learn.

        Probabilities are the same on rows without missing values, which it refuses; the conversion
        verifies this to 1e-9, and fails where digits would be lost. Models of categories, with
        costs, or with a prior of 0 are refused. A column that never varies has a flat density.
        """
        return bayes_as_sklearn(self)

    @property
    def coef_(self) -> Float:
        """Weights of the linear discriminant functions, where the model has this form."""
        return public_functions(self._fitted.over_classes(self._linear()[0], axis=0))

    @property
    def intercept_(self) -> Float:
        """Offsets of the linear discriminant functions, where the model has this form."""
        return public_functions(self._fitted.over_classes(self._linear()[1], -np.inf, axis=0))

    def _linear(self) -> tuple[Float, Float]:
        functions = linear_functions(self._model) if hasattr(self, "_fitted") else None
        if functions is None:
            raise AttributeError(
                "coef_ and intercept_ exist after a fit with structure='naive' on columns of "
                "exactly two values each, with alpha above 0."
            )
        return functions


# The variance of a density so flat that it is the same wherever a number may lie.
_FLAT = 1e100


def bayes_as_sklearn(model: DiscreteBayes) -> GaussianNB:
    """A normal density per class and column; of a column that never varies, a flat one."""
    refuse_others(model, model.costs)
    refuse_absent(model)
    inner, never = model._model, list(model._model.constant)
    theirs = GaussianNB(priors=given_priors(model))
    wear_names(model, theirs)
    theirs.class_prior_, theirs.epsilon_ = inner.prior.copy(), 0.0
    theirs.class_count_ = class_units(model._summary, model._schema)
    theirs.theta_, theirs.var_ = inner.mean.T.copy(), inner.variance.T.copy()
    theirs.var_[:, never] = _FLAT
    spread = inner.variance.T.copy()
    spread[:, never] = 0.0
    verify(model, theirs, rows_around(theirs.theta_, spread))
    return theirs
