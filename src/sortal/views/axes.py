"""Where a picture is drawn: on given axes, or on those of a figure of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def open_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, bool]:
    """The axes to draw on, and whether they are new: then as large as said, in inches."""
    if ax is not None:
        return ax, False
    return plt.subplots(figsize=size, layout="constrained")[1], True
