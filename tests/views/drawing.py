"""What tests of pictures ask of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.collections import PathCollection

from sortal import datasets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

PLANE: Final = ["sepal_length", "sepal_width"]


def setosa_or_not(one: str = "setosa", other: str = "rest") -> tuple[Any, NDArray[Any]]:
    """Setosa against the rest, by sepal length and width."""
    frame = datasets.iris()
    return frame[PLANE], np.where(frame["species"] == "setosa", one, other)


def legend_of(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def words_of(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def crossings(display: Any) -> NDArray[np.float64]:
    """The points of the grid, in the order of its labels."""
    x, y = np.meshgrid(display.grid.x, display.grid.y)
    return np.column_stack([x.ravel(), y.ravel()])


def rendered(display: Any) -> bytes:
    """Everything is laid out and drawn, so that text which cannot be drawn fails here."""
    into = io.BytesIO()
    display.figure_.savefig(into, format="png", dpi=40)
    return into.getvalue()


def clouds(ax: Axes) -> list[PathCollection]:
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def n_drawn(ax: Axes) -> int:
    return sum(len(np.asarray(cloud.get_offsets())) for cloud in clouds(ax))
