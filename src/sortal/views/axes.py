"""Where a picture is drawn: on given axes, or on those of a figure of its own."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_DETACHED = ContextVar("detached", default=False)


def open_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, bool]:
    """The axes to draw on, and whether they are new: then as large as said, in inches."""
    if ax is not None:
        return ax, False
    if _DETACHED.get():
        return Figure(figsize=size, layout="constrained").add_subplot(), True
    return plt.subplots(figsize=size, layout="constrained")[1], True


def open_grid(size: tuple[float, float], n_rows: int, n_columns: int, **kw: Any) -> NDArray[Any]:
    """Axes in rows and columns of a new figure, as large as said, in inches."""
    if _DETACHED.get():
        figure = Figure(figsize=size, layout="constrained")
        return np.asarray(figure.subplots(n_rows, n_columns, squeeze=False, **kw))
    kw |= {"figsize": size, "squeeze": False, "layout": "constrained"}
    return np.asarray(plt.subplots(n_rows, n_columns, **kw)[1])


@contextmanager
def detached() -> Iterator[None]:
    """Figures made within belong to nobody: pyplot does not know them, and no window opens."""
    token = _DETACHED.set(True)
    try:
        yield
    finally:
        _DETACHED.reset(token)
