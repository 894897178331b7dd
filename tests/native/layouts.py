"""Ways in which the same numbers can lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Layout = Callable[[NDArray[Any]], NDArray[Any]]


def _read_only(x: NDArray[Any]) -> NDArray[Any]:
    frozen = x.copy()
    frozen.flags.writeable = False
    return frozen


LAYOUTS: dict[str, Layout] = {
    "column of C order": lambda x: np.stack([x[::-1], x, x[::-1]], axis=1)[:, 1],
    "column of F order": lambda x: np.asfortranarray(np.stack([x[::-1], x], axis=1))[:, 1],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "every third": lambda x: np.repeat(x, 3)[1::3],
    "read-only": _read_only,
}
# Each gives an equal array that lies differently.
layouts = st.sampled_from(list(LAYOUTS.values()))
