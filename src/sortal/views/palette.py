"""A color and a marker for each class, told apart also by the color-blind and in gray."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Style: TypeAlias = dict[str, Any]

# Okabe & Ito (2008), Color Universal Design, without black, which is kept for what is calculated;
# its place takes the gray that R's palette of this name adds.
COLORS: Final = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#E69F00",  # orange
    "#56B4E9",  # sky blue
    "#F0E442",  # yellow
    "#999999",  # gray
)

# One more than there are colors: color and marker together repeat only after 72 classes.
MARKERS: Final = ("o", "^", "s", "D", "v", "P", "X", "*", "p")

BLACK: Final = "#000000"


def color(k: int) -> str:
    """The color of class k."""
    return COLORS[k % len(COLORS)]


def marker(k: int) -> str:
    """The marker of class k."""
    return MARKERS[k % len(MARKERS)]


def point_style(k: int) -> Style:
    """How the points of class k are drawn; the dark edge keeps pale colors visible on white."""
    return {
        "color": color(k),
        "marker": marker(k),
        "edgecolors": "0.2",
        "linewidths": 0.4,
        "s": 30.0,
    }
