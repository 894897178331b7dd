"""What functions of rows answer: a pass over the rows, and what became of holes said once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from sortal.errors import SortalError
from sortal.estimators.base import TableClassifier
from sortal.models.linear_blocks import AskBlock, gather_answered

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from sortal.models.functions import RowFunctions

    Float = NDArray[np.float64]


class Asking(TableClassifier):
    """A classifier whose model has functions of rows."""

    def _fitted_model(self) -> Any:
        check_is_fitted(self)
        if isinstance(self._model, SortalError):  # why the rows so far do not make a model
            raise type(self._model)(*self._model.args)
        return self._model

    def _ask(
        self,
        X: Any,
        function: RowFunctions,
        question: Callable[[Float], NDArray[Any]],
        hole_words: str | None = None,
    ) -> NDArray[Any]:
        """What a pass over the rows answers; says once what became of holes."""
        blocks = list(self._engine().map(self._open(X), AskBlock(function, question)))
        answered = gather_answered(blocks)
        self._report_columns(answered.holes, answered.unknown, hole_words)
        return answered.answer
