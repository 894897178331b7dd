"""Methods that an estimator, or some of its parameters, leave it without."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from sortal.errors import NotOfferedError

if TYPE_CHECKING:
    from collections.abc import Callable


class in_pieces:  # noqa: N801  (it is used as a decorator)
    """A method where rows may come in pieces; elsewhere an error that names the parameter.

    `hasattr` then says that there is no such method, which scikit-learn asks before it calls one.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type[Any]) -> Callable[..., Any]:
        if estimator is None:
            return self.method
        reason = estimator._no_pieces()
        if reason:
            raise NotOfferedError(reason)
        return MethodType(self.method, estimator)


class no_probabilities:  # noqa: N801  (it stands where a method would)
    """In the place of `predict_proba`: `hasattr` says no, and who asks all the same is told why."""

    def __get__(self, estimator: Any, owner: type[Any]) -> Callable[..., Any]:
        raise NotOfferedError(
            f"{owner.__name__} assumes no distribution and has no probabilities: use "
            "decision_function, voting='hard' where models vote, or fit it within scikit-learn's "
            "CalibratedClassifierCV."
        )
