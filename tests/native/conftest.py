"""Ways in which the same numbers can lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Layout = Callable[[NDArray[Any]], NDArray[Any]]


def _column_of_c_order(x: NDArray[Any]) -> NDArray[Any]:
    return np.stack([x[::-1], x, x[::-1]], axis=1)[:, 1]


def _column_of_f_order(x: NDArray[Any]) -> NDArray[Any]:
    return np.asfortranarray(np.stack([x[::-1], x], axis=1))[:, 1]


def _reversed(x: NDArray[Any]) -> NDArray[Any]:
    return x[::-1].copy()[::-1]


def _every_third(x: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(x, 3)[1::3]


def _read_only(x: NDArray[Any]) -> NDArray[Any]:
    frozen = x.copy()
    frozen.flags.writeable = False
    return frozen


LAYOUTS = (_column_of_c_order, _column_of_f_order, _reversed, _every_third, _read_only)


# Session scope, because Hypothesis runs many examples within one call of a test.
@pytest.fixture(scope="session", params=LAYOUTS, ids=lambda layout: layout.__name__.strip("_"))
def layout(request: pytest.FixtureRequest) -> Layout:
    """Gives an equal array that lies differently in memory."""
    chosen: Layout = request.param
    return chosen
