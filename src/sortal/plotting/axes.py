"""Axes that a picture is drawn on, colors and markers of classes, titles and legends."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Whether figures are made without pyplot, and how many inches wider than said; else None.
_DETACHED: ContextVar[float | None] = ContextVar("detached", default=None)


def open_axes(
    ax: Axes | None, size: tuple[float, float], projection: str | None = None
) -> tuple[Axes, bool]:
    """The axes to draw on, and whether they are new: then as large as said, in inches."""
    if ax is not None:
        return ax, False
    return _open_figure(size).add_subplot(projection=projection), True


def open_grid(
    size: tuple[float, float],
    n_rows: int,
    n_columns: int,
    height_ratios: Sequence[float] | None = None,
) -> NDArray[Any]:
    """Axes in rows and columns of a new figure, as large as said, in inches."""
    figure = _open_figure(size)
    return np.asarray(
        figure.subplots(n_rows, n_columns, squeeze=False, height_ratios=height_ratios)
    )


def _open_figure(size: tuple[float, float]) -> Figure:
    if (wider := _DETACHED.get()) is not None:
        return Figure(figsize=(size[0] + wider, size[1]), layout="constrained")
    return plt.figure(figsize=size, layout="constrained")


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


# --- A color and a marker for each class, told apart also by the color-blind and in gray ---------

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


# Words in pictures. Names of classes and columns come from data: they are shown, not interpreted.
# A dollar sign would start a formula, a leading underscore would hide an entry of the legend, and
# TeX, where somebody has switched it on, would run commands.

LONGEST = 28

_NUMBERS_SHOWN = 4

# Of the attributes that are held fixed (or of priors), so many are named below the title.
_FIXED_SHOWN = 3

# A legend of more entries goes on in a next column.
_LEGEND_ROWS = 24


def shown(name: object, most: int = LONGEST) -> str:
    """A name as it can be put into a picture: one line, not too long, without formulas."""
    return plain(name, most).replace("$", r"\$")


def plain(name: object, most: int = 40) -> str:
    """A name as it can be read out: one line, not too long."""
    words = "".join(c if c.isprintable() else " " for c in str(name)).split()
    return shorten(" ".join(words) or "(empty)", most)


def shorten(text: str, most: int) -> str:
    """The beginning and the end of a long text: names of one family often differ at the end."""
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def class_entries(classes: Iterable[object], counts: Iterable[int]) -> list[str]:
    """Classes for a legend, with how many rows each has."""
    return [f"{shown(name)} ({n})" for name, n in zip(classes, counts, strict=True)]


def vector_text(vector: Iterable[float]) -> str:
    """(−0.551, 0.834); of a long vector the first entries."""
    numbers = [short_number(x) for x in vector]
    more = ["…"] if len(numbers) > _NUMBERS_SHOWN else []
    return f"({', '.join(numbers[:_NUMBERS_SHOWN] + more)})"


def short_number(x: float) -> str:
    """Three digits (of thousands all), with a true minus sign, and none before zero."""
    digits = ".0f" if 1000 <= abs(x) < 1e6 else ".3g"
    text = "∞" if abs(x) == float("inf") else f"{abs(x):{digits}}"
    return f"−{text}" if x < 0 and float(f"{x:.3g}") != 0 else text


def equation_text(name: object, value: object) -> str:
    """age = 42."""
    told = short_number(value) if isinstance(value, int | float) else shown(value, 20)
    return f"{shown(name, 20)} = {told}"


def fixed_text(equations: Sequence[str]) -> str:
    """What is held fixed, for the line below the title; of many the first."""
    return f"at {few_text(equations)}" if equations else ""


def few_text(equations: Sequence[str]) -> str:
    """Some equations; of many the first, and how many more there are."""
    told = equations[:_FIXED_SHOWN]
    more = len(equations) - len(told)
    return f"{', '.join(told)}{f' and {more} more' if more else ''}"


def write_title(ax: Axes, *lines: str) -> None:
    """A title of one or more lines; empty ones are left out."""
    ax.set_title("\n".join(line for line in lines if line), fontsize="medium", usetex=False)


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Names below and beside; already safe to show."""
    ax.set_xlabel(x, usetex=False)
    ax.set_ylabel(y, usetex=False)


def legend_columns(n: int) -> int:
    """Of so many entries a legend is not higher than a picture."""
    return max(1, -(-n // _LEGEND_ROWS))


def write_legend(
    ax: Axes,
    handles: Sequence[Any],
    labels: Sequence[str] | None = None,
    *,
    outside: bool,
    **kw: object,
) -> None:
    """A legend; beside the axes where the figure is ours, else where there is room within them.

    Without `labels`, those that the handles have.
    """
    if labels is None:
        labels = [str(handle.get_label()) for handle in handles]
    corner = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    # matplotlib takes a leading underscore as a wish not to be listed
    told = [f" {label}" if label.startswith("_") else label for label in labels]
    place: Style = corner if outside else {"loc": "best"}
    place["ncols"] = legend_columns(len(told))
    legend = ax.legend(handles, told, **(place | {"fontsize": "small"} | kw))
    for text in legend.get_texts():
        text.set_usetex(False)
