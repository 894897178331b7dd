"""How well probabilities part a class from the others: receiver operating characteristics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

from sortal.errors import OptionError
from sortal.models.faces import share_text
from sortal.models.judged import Roc
from sortal.views.axes import open_axes
from sortal.views.judged_labels import from_fitted, from_probabilities
from sortal.views.lettering import name_axes, shown, write_legend, write_title
from sortal.views.palette import COLORS, Style, color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal.models.judged import RocCurve

_GRAY = "0.45"
# With the colors, told apart by everybody; colors come again with another one.
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1, 1.5)))


class RocDisplay:
    """The share of a class found, against the share of other rows taken for it.

    A curve goes through all thresholds of the class's probability. Two classes have one curve, that
    of the second one. Of more than 12 classes the 6 worst are drawn; the legend gives the area of
    each, the title the mean of all.

    Attributes: `roc`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, roc: Roc) -> None:
        if roc.macro is None:
            raise OptionError(
                "There is no curve to draw: no class has rows of its own beside rows of others. "
                "Give rows of two classes at least."
            )
        self.roc = roc

    @classmethod
    def from_roc(cls, roc: Roc, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw a record of curves."""
        return cls(roc).plot(ax, **kw)

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
        shares = cast("ArrayLike", read.probabilities)
        return cls(Roc.of(read.truth, shares, read.classes)).plot(ax, **kw)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Judge what a fitted estimator says of rows; best of rows that it has not seen."""
        read = from_fitted(estimator, X, y, probabilities=True)
        shares = cast("ArrayLike", read.probabilities)
        return cls(Roc.of(read.truth, shares, read.classes)).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.plot`, once a curve."""
        ax, own = open_axes(ax, (7.4, 4.8))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal")
        handles = [self._draw(ax, curve, kw) for curve in self.roc.drawn]
        chance: Style = {"color": _GRAY, "linestyle": (0, (4, 3)), "linewidth": 1.0, "zorder": 1}
        handles += ax.plot([0, 1], [0, 1], label="by chance: AUC 0.5", **chance)
        self._write(ax, title)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw(self, ax: Axes, curve: RocCurve, kw: Style) -> Any:
        k = self.roc.classes.index(curve.label)
        style: Style = {"color": color(k), "linewidth": 1.8, "zorder": 2}
        if len(self.roc.curves) > 1:
            style["linestyle"] = _DASHES[(k + k // len(COLORS)) % len(_DASHES)]
        label = f"{shown(curve.label)}: AUC {share_text(curve.auc or 0.0)}"
        (line,) = ax.plot(curve.false_positive, curve.true_positive, **(style | kw))
        line.set_label(label)
        return line

    def _write(self, ax: Axes, title: str | None) -> None:
        n, drawn = len(self.roc.curves), len(self.roc.drawn)
        if self.roc.positive is not None:
            name = shown(self.roc.positive)
            told = f"positive: {name}"
            name_axes(ax, "share of other rows said positive", f"share of {name} said positive")
        else:
            part = f"; the {drawn} worst of {n} classes" if drawn < n else ""
            told = f"mean AUC {share_text(self.roc.macro or 0.0)}{part}"
            name_axes(ax, "share of other rows taken for the class", "share of the class found")
        write_title(ax, "Receiver operating characteristic" if title is None else title, told)
