"""How much each column counts in a model: bars, the longest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from sortal.errors import OptionError
from sortal.views.axes import open_axes
from sortal.views.fitted import attribute
from sortal.views.lettering import name_axes, number_text, shown, write_title
from sortal.views.palette import Style, color

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# So many bars have room; of more columns the first are drawn, and the title says so.
MOST_BARS = 20


class ImportancesDisplay:
    """Bars of the importance of columns; those that count for nothing are not drawn.

    Attributes: `importances`, `names` (all of them, the most important first); after `plot`, `ax_`
    and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, importances: ArrayLike, names: Sequence[object]) -> None:
        given = np.asarray(importances, dtype=np.float64)
        if given.shape != (len(names),) or not np.isfinite(given).all():
            raise OptionError(
                f"importances has the shape {given.shape} with {len(names)} names: give one finite "
                "number a column."
            )
        order = np.argsort(-given, kind="stable")
        self.importances: Float = given[order]
        self.names = tuple(str(names[j]) for j in order)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw the `feature_importances_` of a fitted estimator."""
        importances = np.asarray(attribute(estimator, "feature_importances_"))
        names = getattr(estimator, "feature_names_in_", None)
        told = [f"x{j}" for j in range(len(importances))] if names is None else list(names)
        return cls(importances, told).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,  # noqa: ARG002  (as every Display; one color)
        max_bars: int = MOST_BARS,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.barh`."""
        counts = int(np.count_nonzero(self.importances))
        n = max(min(counts, max_bars), 1)
        ax, _ = open_axes(ax, (8.0, 1.1 + 0.28 * n))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        heights, lengths = np.arange(n)[::-1], self.importances[:n]
        style: Style = {"color": color(0), "height": 0.7}
        bars = ax.barh(heights, lengths, **(style | kw))
        ax.bar_label(bars, [number_text(x) for x in lengths], padding=3, fontsize="small")
        ax.set_yticks(heights, [shown(name) for name in self.names[:n]], usetex=False)
        ax.set_xlim(0, 1.12 * max(float(lengths.max(initial=0.0)), 1e-9))
        left = counts - n
        told = f"{n} of {counts} columns that count are drawn" if left > 0 else ""
        write_title(ax, "Importance of columns" if title is None else title, told)
        name_axes(ax, "share of all that the tests gain", "")
        return self
