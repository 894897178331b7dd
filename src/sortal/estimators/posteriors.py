"""Classes by their densities: posteriors, priors and costs when asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.estimators.asking import Asking
from sortal.models.linear_blocks import FromPriors, margin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]


class Posteriors(Asking):
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
        return self._ask(X, model.scores, question)
