"""Whether probabilities can be taken at their word: how often what was said was right."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from sortal.models.judged import Reliability
from sortal.views.axes import open_axes
from sortal.views.judged_labels import from_fitted, from_probabilities
from sortal.views.lettering import name_axes, number_text, write_legend, write_title
from sortal.views.palette import Style, color, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

_GRAY = "0.45"


class ReliabilityDisplay:
    """The share said right, against the probability with which it was said.

    Each point stands for the rows of a bin, with an interval of 95 % and their number. What can be
    taken at its word lies on the diagonal.

    Attributes: `reliability`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, reliability: Reliability) -> None:
        self.reliability = reliability

    @classmethod
    def from_reliability(
        cls, reliability: Reliability, *, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Draw a record of bins."""
        return cls(reliability).plot(ax, **kw)

    @classmethod
    def from_predictions(
        cls,
        truth: ArrayLike,
        probabilities: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Judge probabilities, a column for each class in sorted order, beside true labels."""
        read = from_probabilities(truth, probabilities, classes)
        record = Reliability.of(read.truth, read.said, cast("ArrayLike", read.probabilities))
        return cls(record).plot(ax, **kw)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Judge what a fitted estimator says of rows; best of rows that it has not seen."""
        read = from_fitted(estimator, X, y, probabilities=True)
        record = Reliability.of(read.truth, read.said, cast("ArrayLike", read.probabilities))
        return cls(record).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.errorbar`."""
        ax, own = open_axes(ax, (7.4, 4.8))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        low = self._frame(ax)
        handles = [self._draw_bins(ax, kw), *self._draw_diagonal(ax, low)]
        self._count(ax)
        name_axes(ax, "probability of the class said", "share of rows said right")
        told = (
            f"expected calibration error {number_text(self.reliability.expected_error)}, "
            f"Brier score {number_text(self.reliability.brier)}"
        )
        write_title(ax, "Reliability of probabilities" if title is None else title, told)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _frame(self, ax: Axes) -> float:
        """Equal axes, from where the first rows are, to 1."""
        bins = self.reliability.bins
        least = min(min(one.low, one.share_low) for one in bins)
        low = min(0.8, floor(10 * least + 1e-9) / 10)
        pad = 0.04 * (1 - low)
        ax.set_xlim(low - pad, 1 + pad)
        ax.set_ylim(low - pad, 1 + 2 * pad)
        ax.set_aspect("equal")
        return low

    def _draw_bins(self, ax: Axes, kw: Style) -> Any:
        bins = self.reliability.bins
        x, y = [one.mean for one in bins], [one.share for one in bins]
        below = [one.share - one.share_low for one in bins]
        above = [one.share_high - one.share for one in bins]
        style: Style = {"color": color(0), "marker": marker(0), "capsize": 3.0, "zorder": 3}
        style |= {"linewidth": 0.8, "elinewidth": 1.6}
        label = "rows said, interval of 95 %"
        return ax.errorbar(x, y, [below, above], label=label, **(style | kw))

    def _draw_diagonal(self, ax: Axes, low: float) -> list[Any]:
        style: Style = {"color": _GRAY, "linestyle": (0, (4, 3)), "linewidth": 1.0, "zorder": 1}
        said: Style = {"transform": ax.transAxes, "fontsize": "small", "style": "italic"}
        ax.text(0.02, 0.97, "less sure than right", va="top", usetex=False, **said)
        ax.text(0.98, 0.03, "more sure than right", ha="right", usetex=False, **said)
        return ax.plot([low, 1], [low, 1], label="taken at its word", **style)

    def _count(self, ax: Axes) -> None:
        """How many rows each bin has, above the axes."""
        bins = self.reliability.bins
        above = ax.secondary_xaxis("top")
        counts = [f"{one.n:,}" for one in bins]
        slanted: Style = {"rotation": 45, "ha": "left"} if max(map(len, counts)) > 4 else {}
        middles = [(one.low + one.high) / 2 for one in bins]
        above.set_xticks(middles, counts, usetex=False, fontsize="x-small", **slanted)
        above.tick_params(length=2)
        above.set_xlabel("rows", usetex=False, fontsize="small")
