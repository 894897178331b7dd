"""Classifiers whose summaries subtract, so that rows can be taken out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from sortal.estimators.pieces import in_pieces
from sortal.estimators.summarized import SummaryClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ForgettingClassifier(SummaryClassifier):
    """What follows from summaries that subtract, too."""

    @in_pieces
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
        training = self._open_again(X, y, sample_weight, options)
        plan = self._plan_again(training.source.schema, options)
        summary = self._summary.subtract(self._summarize(training.source, plan))
        self._refuse_unfit(summary, training.source.schema)
        self._adopt(summary, plan, options, self._declared, self._label_dtype)
        return self
