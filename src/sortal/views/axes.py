"""Where a picture is drawn: on given axes, or on those of a figure of its own."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

_DETACHED = ContextVar("detached", default=False)


def open_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, bool]:
    """The axes to draw on, and whether they are new: then as large as said, in inches."""
    if ax is not None:
        return ax, False
    if _DETACHED.get():
        return Figure(figsize=size, layout="constrained").add_subplot(), True
    return plt.subplots(figsize=size, layout="constrained")[1], True


@contextmanager
def detached() -> Iterator[None]:
    """Figures made within belong to nobody: pyplot does not know them, and no window opens."""
    token = _DETACHED.set(True)
    try:
        yield
    finally:
        _DETACHED.reset(token)
