"""Displays of scores with intervals, the best at the top, and of importances of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.lines import Line2D

from sortal.errors import ParameterError
from sortal.plotting.axes import (
    Style,
    color,
    name_axes,
    open_axes,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.rows import names_of_fit, numbers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float


_GRAY = "0.45"

# The height of a model, in inches.
_LINE = 0.34

RECOMMENDED = "recommended"

# A picture has room for so many models, so that there is also room for its words.
_LEAST = 4


@dataclass(frozen=True)
class ScoredModel:
    """A model with its score and the bounds of it, None where there are none.

    `mark` is a word beside it; `whole` says that it learned from as many rows as the others, in
    all folds.
    """

    name: str
    score: float
    low: float | None = None
    high: float | None = None
    baseline: bool = False
    mark: str = ""
    whole: bool = True


class ComparisonDisplay:
    """A dot for each model at its score, on a line as long as its interval.

    Models stand in the order in which they are given, the first at the top. Baselines are hollow;
    models that learned from fewer rows, or did not go through all folds, are gray; those with a
    `mark` are diamonds, with the word beside. `metric` names the axis; `left_out` are models
    without a score.

    Attributes: these; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self, models: Sequence[ScoredModel], metric: str, *, left_out: Sequence[str] = ()
    ) -> None:
        if not models:
            raise ParameterError("There is no model with a score to draw: give one at least.")
        self.models, self.metric = tuple(models), metric
        self.left_out = tuple(left_out)

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw what `compare` gave."""
        marks = _marks(comparison.choice)
        models = [
            ScoredModel(
                one.title or one.name,
                one.score,
                one.low,
                one.high,
                one.baseline,
                marks.get(one.name, ""),
                one.eligible and one.part is None,
            )
            for one in comparison.models
            if one.score is not None
        ]
        left_out = [one.title or one.name for one in comparison.models if one.score is None]
        return cls(models, comparison.settings.head, left_out=left_out).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to `Axes.plot`, for the dots."""
        height = _LINE * max(_LEAST, len(self.models))
        ax, own = open_axes(ax, (8.4, 1.6 + height))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        for i, model in enumerate(self.models):
            self._draw(ax, i, model, kw)
        ax.set_yticks(
            range(len(self.models)), [shown(one.name) for one in self.models], usetex=False
        )
        ax.set_ylim(len(self.models) - 0.5, -0.5)
        ax.grid(visible=True, axis="x", color="0.6", linewidth=0.4, alpha=0.5)
        ax.margins(x=0.04)
        name_axes(ax, self._axis(), "")
        write_title(ax, "Models compared" if title is None else title, self._told())
        if legend:
            handles = self._handles()
            # scores stand beside the axes: the legend goes below
            below: Style = {"loc": "upper center", "ncols": len(handles)}
            below |= {"bbox_to_anchor": (0.5, -0.6 / height)}
            outside = own or legend == "beside"
            write_legend(ax, handles, outside=outside, **(below if outside else {}))
        return self

    def _draw(self, ax: Axes, i: int, model: ScoredModel, kw: Style) -> None:
        style = _style(model)
        if model.low is not None and model.high is not None:
            line: Style = {"color": style["color"], "linewidth": 1.6, "zorder": 2}
            ax.plot([model.low, model.high], [i, i], **line)
        ax.plot([model.score], [i], **(style | kw))
        words = f"{short_number(model.score)}{f'  {model.mark}' if model.mark else ''}"
        beside: Style = {"transform": ax.get_yaxis_transform(), "va": "center"}
        ax.text(1.01, i, words, fontsize="small", usetex=False, **beside)

    def _axis(self) -> str:
        better = {"↑": "more is better", "↓": "less is better"}.get(self.metric[-1:], "")
        return f"{self.metric}  ({better})" if better else self.metric

    def _told(self) -> str:
        names = [shown(name) for name in self.left_out]
        return f"without a score: {', '.join(names)}" if names else ""

    def _handles(self) -> list[Line2D]:
        """One of each kind that there is."""
        kinds = {
            "learner": [one for one in self.models if not one.baseline],
            "baseline": [one for one in self.models if one.baseline],
        }
        shapes = [
            Line2D([], [], label=name, **_style(ScoredModel("", 0.0, baseline=name == "baseline")))
            for name, models in kinds.items()
            if models
        ]
        marked = [one for one in self.models if one.mark]
        shapes += [Line2D([], [], label=one.mark, **_style(one)) for one in marked]
        if not all(one.whole for one in self.models):
            style = _style(ScoredModel("", 0.0, whole=False))
            shapes.append(Line2D([], [], label="fewer rows or folds", **style))
        return shapes


def _marks(choice: Any) -> dict[str, str]:
    """The models that a comparison points out."""
    marks = {
        choice.runner_up: "runner-up",
        choice.best: "best eligible",
        choice.recommended: RECOMMENDED,
    }
    return {name: mark for name, mark in marks.items() if name}


def _style(model: ScoredModel) -> Style:
    ink = color(0) if model.whole else _GRAY
    if model.mark == RECOMMENDED:
        ink = color(1)
    shape, size = ("D", 8.0) if model.mark else ("o", 7.0)
    face = "none" if model.baseline else ink
    return {
        "color": ink,
        "marker": shape,
        "markersize": size,
        "markerfacecolor": face,
        "markeredgewidth": 1.5,
        "linestyle": "none",
        "zorder": 3,
    }


# --- How much each column counts in a model: bars, the longest first -----------------------------

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
            raise ParameterError(
                f"importances has the shape {given.shape} with {len(names)} names: give one finite "
                "number a column."
            )
        order = np.argsort(-given, kind="stable")
        self.importances: Float = given[order]
        self.names = tuple(str(names[j]) for j in order)

    @classmethod
    def from_estimator(cls, estimator: object, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw the `feature_importances_` of a fitted estimator."""
        importances = numbers_of(estimator, "feature_importances_")
        return cls(importances, names_of_fit(estimator)).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,  # noqa: ARG002  (as every Display; one color)
        max_bars: int = MOST_BARS,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to `Axes.barh`."""
        counts = int(np.count_nonzero(self.importances))
        n = max(min(counts, max_bars), 1)
        ax, _ = open_axes(ax, (8.0, 1.1 + 0.28 * n))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        heights, lengths = np.arange(n)[::-1], self.importances[:n]
        style: Style = {"color": color(0), "height": 0.7}
        bars = ax.barh(heights, lengths, **(style | kw))
        ax.bar_label(bars, [short_number(x) for x in lengths], padding=3, fontsize="small")
        ax.set_yticks(heights, [shown(name) for name in self.names[:n]], usetex=False)
        ax.set_xlim(0, 1.12 * max(float(lengths.max(initial=0.0)), 1e-9))
        left = counts - n
        told = f"{n} of {counts} columns that count are drawn" if left > 0 else ""
        write_title(ax, "Importance of columns" if title is None else title, told)
        name_axes(ax, "share of all that the tests gain", "")
        return self
