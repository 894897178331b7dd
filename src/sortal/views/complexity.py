"""The nested trees of cost-complexity pruning: error against size, as rpart's plotcp draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from sortal.data.printing import counted
from sortal.errors import OptionError
from sortal.views.axes import open_axes
from sortal.views.fitted import attribute
from sortal.views.lettering import name_axes, number_text, write_legend, write_title
from sortal.views.palette import BLACK, Style, color, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# So many sizes have room below the axis.
_MOST_TICKS = 12


class ComplexityDisplay:
    """Errors of nested trees, the smallest first, side by side at equal distances.

    `n_leaves` are their sizes and `error` their errors on the rows of the fit; `cv_error` and
    `cv_deviation` those on rows left out, drawn with bars of one standard deviation and a line at
    the least of them plus one. `strength` is written above the axes; `chosen` is the place of the
    tree to be marked. All errors are shares of the root's.

    Attributes: these, `limit` (the height of the line, or None); after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        n_leaves: ArrayLike,
        error: ArrayLike,
        *,
        cv_error: ArrayLike | None = None,
        cv_deviation: ArrayLike | None = None,
        strength: ArrayLike | None = None,
        chosen: int | None = None,
    ) -> None:
        self.n_leaves = np.asarray(n_leaves)
        self.error = self._numbers("error", error)
        self.strength = self._numbers("strength", strength)
        self.cv_error = self._numbers("cv_error", cv_error)
        self.cv_deviation = self._numbers("cv_deviation", cv_deviation)
        if chosen is not None and not 0 <= chosen < len(self.n_leaves):
            raise OptionError(
                f"chosen={chosen!r} is no tree: there are {len(self.n_leaves)}, counted from 0."
            )
        self.chosen = chosen
        self.limit = self._limit()

    def _numbers(self, name: str, given: ArrayLike | None) -> Float | None:
        if given is None:
            return None
        numbers = np.asarray(given, dtype=np.float64)
        if numbers.ndim != 1 or numbers.shape != self.n_leaves.shape or not len(numbers):
            raise OptionError(
                f"{name} has the shape {numbers.shape} and n_leaves {self.n_leaves.shape}: give "
                "one number a tree."
            )
        return numbers

    def _limit(self) -> float | None:
        if self.cv_error is None or self.cv_deviation is None:
            return None
        best = int(self.cv_error.argmin())
        return float(self.cv_error[best] + self.cv_deviation[best])

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw the `complexity_` of a fitted tree."""
        return cls.from_complexity(attribute(estimator, "complexity_"), ax=ax, **kw)

    @classmethod
    def from_complexity(cls, complexity: Any, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw what `complexity()` gave."""
        display = cls(
            complexity.n_leaves,
            complexity.error,
            cv_error=complexity.cv_error,
            cv_deviation=complexity.cv_deviation,
            strength=complexity.strength,
            chosen=complexity.chosen,
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.errorbar`, or without it to `Axes.plot`."""
        ax, own = open_axes(ax, (8.0, 4.6))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        handles = [*self._draw_left_out(ax, kw), *self._draw_own(ax, kw), *self._mark(ax)]
        self._name_places(ax)
        name_axes(ax, "number of leaves", "error, as a share of the root's")
        told = (
            ""
            if self.chosen is None
            else f"{counted(self.n_leaves[self.chosen], 'leaf', 'leaves')} chosen"
        )
        write_title(ax, "Cost-complexity pruning" if title is None else title, told)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_left_out(self, ax: Axes, kw: Style) -> list[Any]:
        if self.cv_error is None:
            return []
        label = "rows left out" if self.cv_deviation is None else "rows left out, ± 1 deviation"
        style: Style = {"color": color(0), "marker": marker(0), "capsize": 3.0, "label": label}
        x = np.arange(len(self.n_leaves))
        handles: list[Any] = [ax.errorbar(x, self.cv_error, self.cv_deviation, **(style | kw))]
        if self.limit is not None:
            line: Style = {"color": BLACK, "linestyle": (0, (4, 3)), "linewidth": 1.0}
            label = f"least + 1 deviation: {number_text(self.limit)}"
            handles.append(ax.axhline(self.limit, label=label, **line))
        return handles

    def _draw_own(self, ax: Axes, kw: Style) -> list[Any]:
        if self.error is None:
            return []
        style: Style = {"color": color(1), "marker": marker(1), "linestyle": (0, (1, 1))}
        own = style | ({} if self.cv_error is not None else kw)
        return list(ax.plot(self.error, label="rows of the fit", **own))

    def _mark(self, ax: Axes) -> list[Any]:
        if self.chosen is None:
            return []
        heights = self.error if self.cv_error is None else self.cv_error
        ring: Style = {"marker": "o", "markersize": 13.0, "markerfacecolor": "none"}
        style: Style = {"color": BLACK, "linestyle": "none", "zorder": 4, "label": "chosen"}
        return list(ax.plot([self.chosen], [cast("Float", heights)[self.chosen]], **ring, **style))

    def _name_places(self, ax: Axes) -> None:
        """Sizes below the axes, strengths above."""
        every = -(-len(self.n_leaves) // _MOST_TICKS)
        ticks = range(0, len(self.n_leaves), every)
        ax.set_xticks(ticks, [str(n) for n in self.n_leaves[::every]], usetex=False)
        if self.strength is not None:
            above = ax.secondary_xaxis("top")
            strengths = [number_text(s) for s in self.strength[::every]]
            above.set_xticks(ticks, strengths, usetex=False, fontsize="small")
            above.set_xlabel("strength", usetex=False)
