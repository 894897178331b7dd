"""What the discriminants of Gaussian classes share: statistics, decisions and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.estimators.assumptions import Assumptions
from sortal.estimators.discriminant import DiscriminantClassifier
from sortal.estimators.posteriors import Posteriors
from sortal.learners.discriminant import read_statistics, weigh_classes
from sortal.models.boundary import cost_shift
from sortal.models.decision import Verdicts, log_of
from sortal.models.linear_explain import Decided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sortal.learners.discriminant import ClassStatistics

    Float = NDArray[np.float64]


class GaussianDiscriminant(Posteriors, Assumptions, DiscriminantClassifier):
    """One Gaussian a class. A model's `scores` are ln f_k up to a term common to all classes."""

    covariance: str
    shrinkage: Any
    class_weight: Any
    _hole_words = "they are integrated out"

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
        verdicts = Verdicts.of(functions, model.prior, costs)
        return Decided(functions, verdicts, model.log_prior, model.gap)
