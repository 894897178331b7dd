"""What the discriminants of Gaussian classes share: posteriors, priors and costs when asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.estimators.assumptions import Assumptions
from sortal.estimators.discriminant import DiscriminantClassifier
from sortal.learners.discriminant import read_statistics, weigh_classes
from sortal.learners.options import read_costs, read_priors
from sortal.models.boundary import cost_shift
from sortal.models.decision import decide, log_of, posterior
from sortal.models.linear_blocks import FromPriors
from sortal.models.linear_explain import Decided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal.data.values import Values
    from sortal.learners.discriminant import ClassStatistics

    Float = NDArray[np.float64]


class GaussianDiscriminant(Assumptions, DiscriminantClassifier):
    """One Gaussian a class. A model's `scores` are ln f_k up to a term common to all classes."""

    covariance: str
    shrinkage: Any
    priors: Any
    class_weight: Any
    costs: Any
    _hole_words = "they are integrated out"

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
        given = read_costs(self.costs if costs is None else costs, self._schema.classes)
        return np.asarray(self.classes_[self._answer(X, priors, "label", given)])

    def predict_proba(self, X: Any, *, priors: ArrayLike | dict[Any, float] | None = None) -> Float:
        """P(k|x) of each row, classes in the order of `classes_`; with other priors, if given."""
        return self._answer(X, priors, "proba")

    def predict_log_proba(
        self, X: Any, *, priors: ArrayLike | dict[Any, float] | None = None
    ) -> Float:
        """ln P(k|x) of each row, also where P(k|x) is too small to be written down."""
        return self._answer(X, priors, "log_proba")

    def decision_function(self, X: Any) -> Float:
        """Two classes: the log-odds of the second. More: g_k up to a term common to all classes."""
        return self._answer(X, None, "functions")

    @property
    def priors_(self) -> Float:
        """π_k."""
        return np.asarray(self._fitted_model().prior)

    @property
    def shrinkage_(self) -> float:
        """The share of the scaled identity in covariances."""
        return float(self._fitted_model().shrinkage)

    def _answer(self, X: Any, priors: Any, what: str, costs: Float | None = None) -> NDArray[Any]:
        model = self._fitted_model()
        given = read_priors(priors, model.classes)
        question = FromPriors(model.prior if given is None else given, what, costs)
        return self._ask(X, model.scores, question)

    def _log_prior(self, priors: Any) -> Float:
        """ln π_k, as given or of the fit."""
        given = read_priors(priors, self._fitted_model().classes)
        return log_of(self.priors_ if given is None else given)

    def _cost_shift(self, first: Any, second: Any, costs: Any) -> float:
        """What costs add to the log-odds of two classes."""
        classes = self._fitted_model().classes
        given = read_costs(costs, classes)
        return 0.0 if given is None else cost_shift(given, classes, first, second)

    def _statistics(self) -> ClassStatistics:
        """What the model was made of: class moments, weighed as in the fit."""
        if self._summary is None:
            return self._given
        stats = read_statistics(self._summary, self._schema)
        return weigh_classes(stats, self._fitted.class_weight)

    def _priors(self) -> Any:
        return self.priors

    def _class_weight(self) -> Any:
        return self.class_weight

    def _unbiased(self) -> bool:
        return self.covariance == "unbiased"

    def _check_classes(self, classes: Values) -> None:
        read_costs(self.costs, classes)

    def _decide(self, values: Float) -> Decided:
        model = self._fitted_model()
        functions = values + model.log_prior
        costs = read_costs(self.costs, model.classes)
        labels = decide(posterior(functions, model.prior), costs)
        return Decided(functions, labels, model.log_prior, model.gap)
