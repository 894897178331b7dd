"""DiscreteBayes, the estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.data.schema import Schema
from sortal.data.values import as_value, sort_values
from sortal.errors import ImpossibleRowWarning, LabelError, warn
from sortal.estimators.base import FitReport, TableClassifier, refuse_one_class
from sortal.estimators.target import class_array, common_dtype
from sortal.learners.bayes import BayesOptions, build_model, plan, read_schema
from sortal.learners.bayes_loo import loo_scores, not_fitted
from sortal.learners.bayes_working import show_working
from sortal.learners.options import choose, read_costs
from sortal.models.bayes import linear_functions
from sortal.models.bayes_blocks import (
    EncodeBlock,
    ReadFittedBlock,
    ScoreBlock,
    gather_encoded,
    gather_fitted,
    gather_scored,
)
from sortal.models.bayes_explain import BayesExplanation, explain
from sortal.models.decision import decide, posterior
from sortal.models.records import Explanations

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal.data.sources import TableSource
    from sortal.data.values import Values
    from sortal.models.bayes import BayesModel, Encoded
    from sortal.models.records import Working
    from sortal.summaries.bayes import BayesSummary

    Float = NDArray[np.float64]


class DiscreteBayes(TableClassifier):
    """Bayes' rule on tables of words, numbers and holes.

    P(c|x) = P(x|c) P(c) / P(x), with P(x|c) from counts: a product over attributes (naive) or the
    full class-conditional table (joint). Everything is exact: counts are whole numbers, the same
    in any order of rows, from any number of blocks and threads.

    Parameters
    ----------
    structure : {"naive", "joint"}, default="naive"
        "naive" takes attributes as independent given the class. "joint" keeps the full table
        P(x|c) over the category columns, of which only the cells seen are stored.
    alpha : float, default=1.0
        Pseudo-count. Naive: P(v|c) = (n(v,c) + alpha) / (n(c) + alpha * V) with V values. Joint:
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
        where named here.
    missing : {"skip", "error"}, default="skip"
        A hole is left out of the counts and of the product (nothing is known, so nothing is
        said), or is an error. At predict holes are warned of once, with their number.
    unknown : {"skip", "error"}, default="skip"
        The same for a value at predict that was never seen at fit.
    n_jobs : int, default=None
        Threads; None means all cores (one inside a joblib worker). The result does not depend
        on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_, intercept_ : ndarray of shape (n_classes, n_features) and (n_classes,)
        Where every column has exactly two values: the linear discriminant functions
        g_c(x) = coef_[c] @ x + intercept_[c], x being 0 for the value that sorts first and 1 for
        the other; g_c(x) = ln P(x|c) P(c).
    fit_report_ : FitReport
        Rows, holes by column, notes.
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

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to a table and its labels.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or str
            The labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers are copies of a row; 0 leaves a row out.

        Returns
        -------
        self
        """
        options = self._options()
        training = self._open_training(X, y, sample_weight)
        summary = self._summarize(training.source, options)
        refuse_one_class(summary.classes.classes, type(self).__name__)
        self._adopt(summary, options, training.source.schema, training.label_dtype)
        self._remember(training)
        return self

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
        first = not hasattr(self, "_summary")
        exponent = None if first else self._summary.classes.exponent
        training = self._open_training(X, y, sample_weight, exponent)
        summary = self._summarize(training.source, options)
        declared, dtype = training.source.schema, training.label_dtype
        if not first:
            summary = self._summary.merge(summary)
            declared, dtype = self._declared, common_dtype(self._label_dtype, dtype)
        if classes is not None:
            declared = declared.merge(Schema(declared.columns, _as_classes(classes)))
        self._adopt(summary, options, declared, dtype)
        if first:
            self._remember(training)
        return self

    def forget(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows out again: the model becomes that of a fit without them.

        Counts are exact. Where number columns are involved and the rows carry nearly all the
        spread of one, the loss of digits is refused by name. A class without rows is no longer
        known (unless `partial_fit` was told of it), so that priors, class weights and costs
        must then fit the classes that stay; whatever is refused leaves the model as it was.

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
        training = self._open_training(X, y, sample_weight, self._summary.classes.exponent)
        summary = self._summary.subtract(self._summarize(training.source, options))
        refuse_one_class(summary.classes.classes, type(self).__name__)
        self._adopt(summary, options, self._declared, self._label_dtype)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the most probable, or of least expected cost."""
        shares = self.predict_proba(X)
        return np.asarray(
            self.classes_[decide(shares, read_costs(self.costs, self._schema.classes))]
        )

    def predict_proba(self, X: Any) -> Float:
        """P(c|x) of each row, classes in the order of `classes_`."""
        source = self._open(X)
        refuse_one_class(self._schema.classes, type(self).__name__)
        scored = gather_scored(list(self._engine().map(source, ScoreBlock(self._model))))
        self._report_cells(scored.n_holes, scored.n_unknown)
        _warn_of_impossible(scored.n_impossible)
        return scored.shares

    def predict_log_proba(self, X: Any) -> Float:
        """ln P(c|x) of each row."""
        with np.errstate(divide="ignore"):  # a class that is excluded has ln 0
            return np.asarray(np.log(self.predict_proba(X)))

    def loo_proba(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Float:
        """P(c|x) of each row by the model without this row, for the price of one prediction.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        options = self._options()
        source = self._open_training(X, y, sample_weight, self._summary.classes.exponent).source
        if not _same_rows(self._summarize(source, options), self._summary):
            raise not_fitted()
        rows = gather_fitted(list(self._engine().map(source, ReadFittedBlock(self._model))))
        log_joint, prior = loo_scores(self._summary, self._schema, options, rows)
        return posterior(log_joint, prior)

    def explain(self, X: Any) -> Explanations[BayesExplanation]:
        """Why: prior and each attribute's weight of evidence in bits, adding up to the odds.

        The evidence is for the class predicted against the most probable other one.
        """
        encoded = self._encode(X)
        costs = read_costs(self.costs, self._schema.classes)
        return Explanations(explain(self._model, encoded, costs), self._backend)

    def working(self, X: Any = None) -> Working:
        """The numbers of this fit: counts, probabilities and, for rows X, Bayes' rule."""
        check_is_fitted(self)
        encoded = None if X is None else self._encode(X)
        return show_working(self._model, self._summary, encoded, self._backend)

    @property
    def coef_(self) -> Float:
        """Weights of the linear discriminant functions, where the model has this form."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Float:
        """Offsets of the linear discriminant functions, where the model has this form."""
        return self._linear()[1]

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

    def _summarize(self, source: TableSource, options: BayesOptions) -> BayesSummary:
        summary = self._engine().reduce(source, plan(source.schema, options))
        if self.missing == "error":
            self._report_cells(int(summary.rows.holes.sum()), 0)
        return summary

    def _adopt(
        self,
        summary: BayesSummary,
        options: BayesOptions,
        declared: Schema,
        label_dtype: np.dtype[Any],
    ) -> None:
        """Everything that follows from a summary; nothing is set unless all of it could be made."""
        schema = read_schema(declared, summary, options)
        model = build_model(summary, schema, options)
        read_costs(self.costs, schema.classes)
        self.classes_ = class_array(schema.classes, label_dtype)
        self._declared, self._label_dtype = declared, label_dtype
        self._summary, self._schema, self._model = summary, schema, model
        self.fit_report_ = _report(summary, model)

    def _encode(self, X: Any) -> Encoded:
        source = self._open(X)
        refuse_one_class(self._schema.classes, type(self).__name__)
        encoded = gather_encoded(list(self._engine().map(source, EncodeBlock(self._model))))
        self._report_cells(encoded.n_holes(), encoded.n_unknown())
        return encoded


def _as_classes(given: ArrayLike) -> Values:
    labels = [as_value(label) for label in np.asarray(given).tolist()]
    if any(label is None for label in labels):
        raise LabelError(f"classes={given!r} holds a missing label: name real classes only.")
    return sort_values(label for label in labels if label is not None)


def _same_rows(a: BayesSummary, b: BayesSummary) -> bool:
    same = a.classes.classes == b.classes.classes and a.rows.rows == b.rows.rows
    return same and bool((a.classes.units == b.classes.units).all())


def _warn_of_impossible(n: int) -> None:
    if n:
        warn(
            f"{n} rows have probability zero in every class (a value was never seen in it, and "
            "alpha is 0): they get the prior. Set alpha above 0 to tell them apart.",
            ImpossibleRowWarning,
        )


def _report(summary: BayesSummary, model: BayesModel) -> FitReport:
    pairs = zip(model.schema.names, summary.rows.holes.tolist(), strict=True)
    names = [model.schema.columns[model.numbers[place]].name for place in model.constant]
    notes = [f"column {name!r} never varies and is left out" for name in names]
    return FitReport(summary.rows.rows, {name: n for name, n in pairs if n}, tuple(notes))
