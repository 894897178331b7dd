"""How figures of a report are laid out: in one style, once, and as large as their legend."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

import matplotlib as mpl
import matplotlib.style

from sortal.errors import MissingValueWarning
from sortal.views.axes import detached
from sortal.views.lettering import legend_columns
from sortal.views.pictures.figures import has_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches of a further column of a legend.
_COLUMN: Final = 1.8

# How often a figure may grow.
_TRIES: Final = 5


@contextmanager
def plainly(n_classes: int = 2) -> Iterator[None]:
    """Draw in the style of matplotlib's defaults, without a window, and without warnings.

    What is warned of, rows with holes, is said in the note. A legend of many classes has room.
    """
    wider = _COLUMN * (legend_columns(n_classes + 3) - 1)
    with mpl.style.context("default"), detached(wider), warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        yield


def move_legend(ax: Axes) -> None:
    """The legend of one panel stands beside all, and the figure is as high as it."""
    legend = ax.get_legend()
    figure = cast("Figure", ax.figure)
    if legend is None:
        return
    handles: Any = legend.legend_handles
    names = [text.get_text() for text in legend.get_texts()]
    legend.remove()
    ncols = legend_columns(len(names))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, max(height, 0.4 + 0.19 * len(names) / ncols))
    together = figure.legend(
        handles, names, loc="outside right upper", fontsize="small", ncols=ncols
    )
    for text in together.get_texts():
        text.set_usetex(False)


def settle(figure: Figure) -> None:
    """Find the layout once and keep it: each time a figure is saved, it would be sought again.

    A figure that is too small for its legend grows.
    """
    engine = figure.get_layout_engine()
    if engine is None or not has_layout(figure):
        return
    for _ in range(_TRIES):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            engine.execute(figure)
        if not any("collapsed" in str(one.message) for one in found):
            break
        figure.set_size_inches(*(1.3 * figure.get_size_inches()))
    figure.set_layout_engine("none")
