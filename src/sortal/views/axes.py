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

# Whether figures are made without pyplot, and how many inches wider than said; else None.
_DETACHED: ContextVar[float | None] = ContextVar("detached", default=None)


def open_axes(ax: Axes | None, size: tuple[float, float], **kw: Any) -> tuple[Axes, bool]:
    """The axes to draw on, and whether they are new: then as large as said, in inches.

    Other keywords go to `Figure.add_subplot`, such as projection="3d".
    """
    if ax is not None:
        return ax, False
    if (wider := _DETACHED.get()) is not None:
        size = size[0] + wider, size[1]
        return Figure(figsize=size, layout="constrained").add_subplot(**kw), True
    return plt.figure(figsize=size, layout="constrained").add_subplot(**kw), True


def open_grid(size: tuple[float, float], n_rows: int, n_columns: int, **kw: Any) -> NDArray[Any]:
    """Axes in rows and columns of a new figure, as large as said, in inches."""
    if (wider := _DETACHED.get()) is not None:
        figure = Figure(figsize=(size[0] + wider, size[1]), layout="constrained")
        return np.asarray(figure.subplots(n_rows, n_columns, squeeze=False, **kw))
    kw |= {"figsize": size, "squeeze": False, "layout": "constrained"}
    return np.asarray(plt.subplots(n_rows, n_columns, **kw)[1])


@contextmanager
def detached(wider: float = 0.0) -> Iterator[None]:
    """Figures made within belong to nobody: pyplot does not know them, and no window opens.

    They are so many inches wider than said, where a legend needs it.
    """
    token = _DETACHED.set(wider)
    try:
        yield
    finally:
        _DETACHED.reset(token)
