"""DiscreteBayes, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import check_is_fitted

from sortal.base.classifier import FitReport, refuse_one_class
from sortal.base.summary_classifier import ForgettingClassifier
from sortal.base.to_sklearn import (
    given_priors,
    refuse_absent,
    refuse_others,
    rows_around,
    verify,
    wear_names,
)
from sortal.bayes.explain import BayesExplanation, explain
from sortal.bayes.learn import BayesOptions, build_model, class_units, plan, read_schema
from sortal.bayes.leave_one_out import loo_scores, not_fitted, same_rows
from sortal.bayes.model import (
    BayesModel,
    DecideLogJoint,
    EncodeBlock,
    ReadFittedBlock,
    ScoreBlock,
    gather_encoded,
    gather_fitted,
    gather_scored,
    linear_functions,
)
from sortal.bayes.working import show_working
from sortal.decision.posterior import log_posterior, n_impossible, posterior
from sortal.decision.scores import public_functions
from sortal.errors import (
    ImpossibleRowWarning,
    ParameterError,
    agreed,
    choose,
    counted,
    warn,
)
from sortal.modelfile.arrays import OptionsField, RecordField, SummaryField
from sortal.modelfile.fields import Layout
from sortal.records.tables import Explanations
from sortal.summaries.value_tables import BayesSummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Counts, Float
    from sortal.base.classifier import Training
    from sortal.bayes.model import EncodedBayesRows
    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.records.tables import Working
    from sortal.summaries.value_tables import SummarizeBayes


class DiscreteBayes(ForgettingClassifier):
    """Bayes' rule on tables of words, numbers and missing values.

    P(c|x) = P(x|c) P(c) / P(x), with P(x|c) from counts: a product over attributes (naive) or the
    full class-conditional table (joint). Counts are whole numbers, the same to the last bit in any
    order of rows, from any number of blocks and threads; means and variances of number columns
    are the same to 1e-12.

    Parameters
    ----------
    structure : {"naive", "joint"}, default="naive"
        "naive" takes attributes as independent given the class. "joint" keeps the full table
        P(x|c) over the category columns, of which only the cells seen are stored.
    alpha : float, default=1.0
        Pseudo-count. Naive: P(v|c) = (n(v,c) + alpha) / (n(c) + alpha * V) with V values and n(c)
        the weight of class c's rows that have a value there. Joint:
        P(x|c) = (n(x,c) + alpha * Pb(x|c)) / (n(c) + alpha) with Pb the naive product. With 0,
        a value never seen in a class excludes the class; in the joint structure a cell that no
        class has seen falls back to the naive product.
    numeric : {"gaussian"}, default="gaussian"
        Number columns enter by a normal density per class, with variance M2 / n. A variance is at
        least 1e-9 of the column's variance over all rows, so that a class whose values all agree
        does not get an infinite density. A column that never varies is left out.
    priors : array-like of shape (n_classes,) or dict, default=None
        P(c) in the order of `classes_`, or by label. By default the share of each class.
    class_weight : dict or "balanced", default=None
        Factor on the weight of each row by its class; "balanced" gives every class the same total.
    costs : array-like of shape (n_classes, n_classes), default=None
        costs[i, j] is the cost of saying class j when class i is true. With costs, `predict` gives
        the class of least expected cost.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. Positions count the columns of X without y.
    missing : {"skip", "error"}, default="skip"
        A missing value is left out of the counts and of the product (nothing is known, so nothing
        is said), or is an error. At predict missing values are warned of once, with their number.
    unknown : {"skip", "error"}, default="skip"
        The same for a value at predict that was never seen at fit.
    n_jobs : int, default=None
        Threads; None means all cores (one inside a joblib worker). The result does not depend
        on it.

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
    >>> for part in model.explain(day)[0].evidence:
    ...     print(f"{part.attribute} = {part.value}: {part.bits:.3f} bits")
    Outlook = Sunny: 1.433 bits
    Temperature = Hot: 0.848 bits
    Humidity = High: 1.263 bits
    Wind = Strong: 0.848 bits
    """

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(BayesModel),
        _fitted=OptionsField(BayesOptions),
        _summary=SummaryField(BayesSummary),
    )

    def __init__(
        self,
        structure: str = "naive",
        alpha: float = 1.0,
        numeric: str = "gaussian",
        *,
        priors: ArrayLike | dict[Any, float] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        costs: ArrayLike | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "skip",
        unknown: str = "skip",
        n_jobs: int | None = None,
    ) -> None:
        self.structure = structure
        self.alpha = alpha
        self.numeric = numeric
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
        return self._predicted(self._score(X, DecideLogJoint(self._read_costs(self.costs))))

    def predict_proba(self, X: Any) -> Float:
        """P(c|x) of each row, classes in the order of `classes_`."""
        return self._spread(self._score(X, posterior))

    def predict_log_proba(self, X: Any) -> Float:
        """ln P(c|x) of each row, also where P(c|x) is too small to be written down."""
        return self._spread(self._score(X, log_posterior), -np.inf)

    def _score(self, X: Any, ask: Callable[[Float, Float], NDArray[Any]]) -> NDArray[Any]:
        source = self._open(X)
        scored = gather_scored(list(self._engine().map(source, ScoreBlock(self._model, ask))))
        self._report(scored.missing, scored.unknown)
        _warn_of_impossible(scored.n_impossible)
        return scored.answer

    def loo_proba(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Float:
        """P(c|x) of each row by the model without this row, for the price of a few predictions.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        options = self._fitted  # as predict: what was set since then needs a new fit
        source = self._open_more(X, y, sample_weight, options).source
        summary = self._summarize(source, plan(source.schema, options))
        if not same_rows(summary, self._summary):
            raise not_fitted()
        rows = gather_fitted(list(self._engine().map(source, ReadFittedBlock(self._model))))
        log_joint, prior = loo_scores(self._summary, self._schema, options, rows)
        _warn_of_impossible(n_impossible(log_joint))
        return self._spread(posterior(log_joint, prior))

    def explain(self, X: Any) -> Explanations[BayesExplanation]:
        """Why: prior and each attribute's weight of evidence in bits, adding up to the odds.

        The evidence is for the class predicted against the most probable other one. With costs,
        what they add to the odds is a part of its own, and the total is that of the decision.
        """
        encoded, backend = self._encode(X)
        refuse_one_class(self._schema.classes, "explain")
        made = explain(self._model, encoded, self._read_costs(self.costs))
        _warn_of_impossible(n_impossible(made.log_joint))
        return Explanations(made, range(len(made.shares)), backend)

    def working(self, X: Any = None) -> Working:
        """The numbers of this fit: counts, probabilities and, for rows X, Bayes' rule."""
        check_is_fitted(self)
        encoded, backend = (None, self._backend) if X is None else self._encode(X)
        working = show_working(self._model, self._summary, encoded, backend)
        if encoded is not None:
            _warn_of_impossible(working["evidence"].column("ln P(x)").count(-np.inf))
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
        return public_functions(self._spread(self._linear()[0], axis=0))

    @property
    def intercept_(self) -> Float:
        """Offsets of the linear discriminant functions, where the model has this form."""
        return public_functions(self._spread(self._linear()[1], -np.inf, axis=0))

    def _linear(self) -> tuple[Float, Float]:
        functions = linear_functions(self._model) if hasattr(self, "_model") else None
        if functions is None:
            raise AttributeError(
                "coef_ and intercept_ exist after a fit with structure='naive' on columns of "
                "exactly two values each, with alpha above 0."
            )
        return functions

    def _options(self) -> BayesOptions:
        choose("missing", self.missing, ("skip", "error"))
        choose("unknown", self.unknown, ("skip", "error"))
        return BayesOptions(
            self.structure, self.alpha, self.numeric, self.priors, self.class_weight
        )

    def _open_more(self, X: Any, y: Any, sample_weight: Any, options: BayesOptions) -> Training:
        if (self._summary.cells is not None) != (options.structure == "joint"):
            raise ParameterError(
                f"structure={options.structure!r} was set after a fit with the other structure, "
                "whose summary it cannot use: set it back, or fit again."
            )
        return super()._open_more(X, y, sample_weight, options)

    def _plan_first(self, source: TableSource, options: BayesOptions) -> SummarizeBayes:
        return plan(source.schema, options)

    def _later_plan(self, schema: Schema, options: BayesOptions) -> SummarizeBayes:
        return plan(schema, options)

    def _recast(self, summary: BayesSummary, plan: SummarizeBayes) -> BayesSummary:
        return summary.recast(self._plan, plan)

    def _agrees(self, summary: BayesSummary) -> bool:
        plan, values, cells = self._plan, summary.values, summary.cells
        known = set(summary.classes.classes)
        same = summary.moments.names == plan.names and len(values.values) == len(plan.categories)
        same = same and (cells is None) == (plan.cells is None)
        same = same and known >= {*values.classes, *summary.moments.classes}
        if same and cells is not None:
            same = len(cells.values) == len(plan.cells) and known >= set(cells.classes)
            counted_values = [set(values.values[plan.categories.index(j)]) for j in plan.cells]
            same = same and all(map(set.issuperset, counted_values, cells.values))
        return bool(same) and super()._agrees(summary)

    def _read_schema(
        self, declared: Schema, summary: BayesSummary, options: BayesOptions
    ) -> Schema:
        return read_schema(declared, summary, options)

    def _build(
        self,
        summary: BayesSummary,
        schema: Schema,
        options: BayesOptions,
        source: TableSource | None,  # noqa: ARG002
    ) -> BayesModel:
        return build_model(summary, schema, options)

    def _report_fit(
        self,
        summary: BayesSummary,
        schema: Schema,
        model: BayesModel,
    ) -> FitReport:
        return _fit_report(summary, schema, model)

    def _encode(self, X: Any) -> tuple[EncodedBayesRows, str]:
        source = self._open(X)
        encoded = gather_encoded(list(self._engine().map(source, EncodeBlock(self._model))))
        self._report(encoded.missing(), encoded.unknown())
        return encoded, source.table.backend or self._backend

    def _report(self, missing_counts: Counts, unknown: Counts) -> None:
        names = [self._schema.columns[j].name for j in self._model.categories]
        numbers = [self._schema.columns[j].name for j in self._model.numbers]
        missing = dict(zip(names + numbers, missing_counts.tolist(), strict=True))
        self._report_cells(missing, dict(zip(names, unknown.tolist(), strict=True)))


def _warn_of_impossible(n: int) -> None:
    if n:
        warn(
            f"{counted(n, 'row')} {agreed(n, 'has', 'have')} probability zero in every class (a "
            f"value was never seen in it, and alpha is 0): {agreed(n, 'it gets', 'they get')} the "
            "prior. Set alpha above 0 to tell them apart.",
            ImpossibleRowWarning,
        )


def _fit_report(summary: BayesSummary, schema: Schema, model: BayesModel) -> FitReport:
    pairs = zip(schema.names, summary.rows.missing.tolist(), strict=True)
    names = [schema.columns[model.numbers[place]].name for place in model.constant]
    notes = [f"column {name!r} never varies and is left out" for name in names]
    if summary.cells is not None:
        rows, whole = summary.classes.units.sum(), summary.cells.units.sum()
        if whole < rows:
            share = f"{1 - whole / rows:.1%}"
            notes.append(f"{share} of the rows have a missing value and are not in the joint table")
    return FitReport(summary.rows.rows, {name: n for name, n in pairs if n}, tuple(notes))


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
