"""A method that some parameters of an estimator leave it without."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from sortal.errors import NotOfferedError

if TYPE_CHECKING:
    from collections.abc import Callable


class in_pieces:  # noqa: N801  (it is used as a decorator)
    """`partial_fit` where rows may come in pieces; elsewhere an error that names the parameter.

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
