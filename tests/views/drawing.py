"""What tests of pictures ask of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PathCollection

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def legend_of(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def rendered(display: Any) -> bytes:
    """Everything is laid out and drawn, so that text which cannot be drawn fails here."""
    into = io.BytesIO()
    display.figure_.savefig(into, format="png", dpi=40)
    return into.getvalue()


def clouds(ax: Axes) -> list[PathCollection]:
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def n_drawn(ax: Axes) -> int:
    return sum(len(np.asarray(cloud.get_offsets())) for cloud in clouds(ax))
