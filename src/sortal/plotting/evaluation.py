"""Displays of evaluated predictions: confusion, calibration and ROC."""

from __future__ import annotations

from itertools import groupby
from math import floor
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from sortal.base.tables import read_codes, split_target
from sortal.data.columns import union
from sortal.data.table import objects_of
from sortal.errors import ParameterError, counted
from sortal.evaluation import Confusion, Reliability, Roc, read_probabilities
from sortal.plotting.axes import (
    COLORS,
    Style,
    class_entries,
    color,
    marker,
    name_axes,
    open_axes,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.rows import attribute
from sortal.records.render import share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from sortal._typing import Counts, Float, LabelsLike, Places, TableLike
    from sortal.data.columns import Values
    from sortal.evaluation import RocCurve
    from sortal.plotting.rows import Classifier


# Predictions as pictures of them are given: labels beside true labels, or a fitted estimator.


class Judged(NamedTuple):
    """Codes of classes, true and said, and probabilities by class."""

    true: Places
    said: Places
    shares: Float
    classes: Values


def from_labels(
    y_true: LabelsLike, y_pred: LabelsLike, classes: ArrayLike | None
) -> tuple[Places, Places, Values]:
    """Labels, true and said, as codes of the given classes, or of those that occur."""
    n = len(np.asarray(y_true))
    if classes is None:
        met, told = (read_codes(labels, n)[1] for labels in (y_true, y_pred))
        classes = objects_of(union(met, told)[0])
    true, values = read_codes(y_true, n, classes)
    return true, read_codes(y_pred, n, classes)[0], values


def from_probabilities(y_true: ArrayLike, y_proba: ArrayLike, classes: ArrayLike | None) -> Judged:
    """Labels as codes, and what is most probable as what is said; of equals the first."""
    shares = np.asarray(y_proba, dtype=np.float64)
    true, values = read_codes(y_true, len(np.asarray(y_true)), classes)
    if shares.ndim == 1 and len(values) == 2:
        shares = np.column_stack([1 - shares, shares])  # of the second class alone
    shares = read_probabilities(shares, len(true), len(values))
    return Judged(true, shares.argmax(axis=1), shares, values)


def said_by(estimator: Classifier, X: TableLike, y: LabelsLike) -> tuple[Places, Places, Values]:
    """What a fitted estimator says of rows, beside their labels."""
    X, y = split_target(X, y, type(estimator).__name__)
    classes = attribute(estimator, "classes_")
    return from_labels(y, estimator.predict(X), classes)


def shares_by(estimator: Classifier, X: TableLike, y: LabelsLike) -> Judged:
    """The same, with probabilities."""
    X, y = split_target(X, y, type(estimator).__name__)
    true, said, classes = said_by(estimator, X, y)
    return Judged(true, said, np.asarray(attribute(estimator, "predict_proba")(X)), classes)


# Shades between hardly any row and all rows of a class. They go with the root of the share, so that
# 1 % and 5 % of a class, which are what errors often are, can be told apart.
_SHADES = 20

_PALEST = 0.06

# Letters on shades. Black itself is for what stands on the page, whose color it may take.
_DARK, _LIGHT = "#0a0a0a", "#ffffff"

# So many numbers can be read; of more, those of the diagonal and of the most frequent confusions.
_MOST_NUMBERS = 144

_LARGEST, _SMALLEST = 10.0, 5.0

_MOST_NAMES = 40

# About what names and titles take of a side, and what a letter takes, in inches.
_MARGIN, _LETTER = 1.6, 0.075


class ConfusionDisplay:
    """A cell for each pair of classes: how many rows of the one were said to be of the other.

    Rows are true classes and columns those said; the darker a cell, the larger its share of the
    true class. Right ones, on the diagonal, and wrong ones differ in color. Cells without rows are
    empty; of very many numbers, those of the most frequent confusions are written.

    Attributes: `confusion`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, confusion: Confusion) -> None:
        self.confusion = confusion

    @classmethod
    def from_confusion(cls, confusion: Confusion, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw a record of counts."""
        return cls(confusion).plot(ax, **kw)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Count labels said beside true labels."""
        return cls(Confusion.of(*from_labels(y_true, y_pred, classes))).plot(ax, **kw)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Count what a fitted estimator says of rows; best of rows that it has not seen."""
        return cls(Confusion.of(*said_by(estimator, X, y))).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to the cells (`PathPatch`)."""
        k = len(self.confusion.classes)
        side = float(np.clip(_MARGIN + 0.5 * k, 3.6, 12.0))
        longest = max(len(shown(label)) for label in self.confusion.classes)
        ax, own = open_axes(ax, (side + 2.4 + _LETTER * longest, side))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        self._frame(ax)
        matrix = self.confusion.matrix
        levels = _levels(matrix)
        self._shade(ax, levels, kw)
        write_title(ax, "Confusion of classes" if title is None else title, *self._told())
        if legend:
            self._write_legend(ax, outside=own or legend == "beside")
        if own:  # the layout makes room first: numbers are as large as cells allow
            self.figure_.draw_without_rendering()
        self._write_numbers(ax, levels)
        return self

    def _told(self) -> list[str]:
        """What stands below the title; also that numbers are left out, where they are."""
        record = self.confusion
        right = f"{record.n - record.n_wrong:,} of {counted(record.n, 'row')} right"
        lines = [f"{right}; balanced accuracy {record.balanced_accuracy:.3g}"]
        if np.count_nonzero(record.matrix) > _MOST_NUMBERS:
            lines.append("numbers of the most frequent cells; confusion.table() has all")
        return lines

    def _frame(self, ax: Axes) -> None:
        """Axes with a place for each class, the first at the top left, and thin lines between."""
        k = len(self.confusion.classes)
        ax.set_xlim(-0.5, k - 0.5)
        ax.set_ylim(k - 0.5, -0.5)
        ax.set_aspect("equal")
        every = -(-k // _MOST_NAMES)
        names = [shown(label, 18) for label in self.confusion.classes]
        counts = [sum(row) for row in self.confusion.counts]
        small: Style = {"usetex": False, "fontsize": "small" if k <= 12 else "x-small"}
        height = ax.figure.get_figheight() * ax.get_position().height  # type: ignore[union-attr]
        upright = _LETTER * (1 + max(map(len, names))) > min(height, 12.0 - _MARGIN) / k
        ax.set_xticks(range(0, k, every), names[::every], rotation=90 if upright else 0, **small)
        entries = class_entries(self.confusion.classes, counts)
        ax.set_yticks(range(0, k, every), entries[::every], **small)
        ax.grid(visible=False)
        if k > 1:
            thin: Style = {"edgecolor": "0.6", "linewidth": 0.4, "fill": False, "zorder": 2}
            ax.add_patch(PathPatch(_lines(k), **thin))
        ax.tick_params(length=0)
        name_axes(ax, "class said", "true class (rows)")

    def _shade(self, ax: Axes, levels: Places, kw: Style) -> None:
        """One path for all cells of a shade: neighbors in one piece, so that few are drawn."""
        own = np.eye(len(levels), dtype=bool)
        for right in (True, False):
            masked = np.where(own == right, levels, 0)
            for level in np.unique(masked[masked > 0]).tolist():
                outlines = [_rectangle(*run) for run in _runs(masked, level)]
                style: Style = {"facecolor": _tint(level, right=right), "linewidth": 0.0}
                style |= {"edgecolor": "none", "zorder": 1} | kw
                ax.add_patch(PathPatch(Path.make_compound_path(*outlines), **style))

    def _write_numbers(self, ax: Axes, levels: Places) -> None:
        width = ax.get_window_extent().width / self.figure_.dpi * 72 / len(levels)
        for i, j, n in self._numbers():
            text = str(n)
            size = min(_LARGEST, 0.45 * width, 0.9 * width / (0.62 * len(text)))
            if size >= _SMALLEST:
                ink = letters_on(shade(int(levels[i, j]), right=i == j))
                style: Style = {"color": ink, "fontsize": size, "usetex": False, "zorder": 3}
                # light letters stay so on a dark page
                style |= {"gid": "fixed"} if ink == _LIGHT else {}
                ax.text(j, i, text, ha="center", va="center", in_layout=False, **style)

    def _numbers(self) -> Iterator[tuple[int, int, int]]:
        """The diagonal, and the most frequent confusions, as many as can be read."""
        counts = self.confusion.counts
        yield from ((i, i, row[i]) for i, row in enumerate(counts) if row[i])
        yield from self.confusion.pair_codes()[: max(0, _MOST_NUMBERS - len(counts))]

    def _write_legend(self, ax: Axes, *, outside: bool) -> None:
        handles = [
            Patch(facecolor=_tint(level, right=right), edgecolor="0.5", linewidth=0.4)
            for right, level in ((True, 20), (True, 10), (False, 10), (False, 2))
        ]
        entries = ["said right: 100 % of a class", "25 %", "said wrong: 25 % of a class", "1 %"]
        write_legend(ax, handles, entries, outside=outside)


def shade(level: int, *, right: bool) -> str:
    """The color of a cell: blue where right, vermilion where wrong; the paler, the fewer."""
    ink = np.array(to_rgb(color(0 if right else 1)))
    return to_hex((1 - _part(level) * (1 - ink)).tolist())


def _tint(level: int, *, right: bool) -> tuple[str, float]:
    """The same, as a color that covers a page of any color by a part."""
    return color(0 if right else 1), _part(level)


def _part(level: int) -> float:
    return _PALEST + (1 - _PALEST) * level / _SHADES


def letters_on(background: str) -> str:
    """Dark or light letters, whichever stand out more."""
    rgb = np.array(to_rgb(background))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return _LIGHT if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.053 else _DARK


def _levels(matrix: Counts) -> Places:
    """The shade of each cell by its share of the row: 0 where there is none."""
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.ceil(_SHADES * np.sqrt(shares) - 1e-9), dtype=np.intp)


def _runs(levels: Places, level: int) -> Iterator[tuple[int, int, int]]:
    """Cells of a shade as (row, first column, number of columns)."""
    for i, row in enumerate(levels == level):
        at = 0
        for inside, group in groupby(row.tolist()):
            n = len(list(group))
            if inside:
                yield i, at, n
            at += n


def _lines(k: int) -> Path:
    """Lines between k rows and k columns, in one path."""
    between, ends = np.arange(k - 1) + 0.5, (-0.5, k - 0.5)
    down = [(x, y) for x in between for y in ends]
    across = [(x, y) for y in between for x in ends]
    return Path([*down, *across], [Path.MOVETO, Path.LINETO] * (2 * len(between)))


def _rectangle(i: int, j: int, n: int) -> Path:
    left, right, top, bottom = j - 0.5, j + n - 0.5, i - 0.5, i + 0.5
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    return Path(corners, closed=True)


# --- Calibration: how often classes that were predicted with p were right ------------------------

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
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Judge probabilities, a column for each class in sorted order, beside true labels."""
        judged = from_probabilities(y_true, y_proba, classes)
        return cls(Reliability.of(*judged[:3])).plot(ax, **kw)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Judge what a fitted estimator says of rows; best of rows that it has not seen."""
        return cls(Reliability.of(*shares_by(estimator, X, y)[:3])).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to `Axes.errorbar`."""
        ax, own = open_axes(ax, (7.4, 4.8))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        low = self._frame(ax)
        handles = [self._draw_bins(ax, kw), *self._draw_diagonal(ax, low)]
        self._count(ax)
        name_axes(ax, "probability of the class said", "share of rows said right")
        told = (
            f"expected calibration error {short_number(self.reliability.expected_error)}, "
            f"Brier score {short_number(self.reliability.brier)}"
        )
        write_title(ax, "Reliability of probabilities" if title is None else title, told)
        if legend:
            write_legend(ax, handles, outside=own or legend == "beside")
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

    def _draw_bins(self, ax: Axes, kw: Style) -> ErrorbarContainer:
        bins = self.reliability.bins
        x, y = [one.mean for one in bins], [one.share for one in bins]
        below = [one.share - one.share_low for one in bins]
        above = [one.share_high - one.share for one in bins]
        style: Style = {"color": color(0), "marker": marker(0), "capsize": 3.0, "zorder": 3}
        style |= {"linewidth": 0.8, "elinewidth": 1.6}
        label = "rows said, interval of 95 %"
        return ax.errorbar(x, y, [below, above], label=label, **(style | kw))

    def _draw_diagonal(self, ax: Axes, low: float) -> list[Line2D]:
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


# --- How well probabilities part a class from the others: receiver operating characteristics -----

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
            raise ParameterError(
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
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Judge probabilities, a column for each class in sorted order, beside true labels."""
        true, _, shares, names = from_probabilities(y_true, y_proba, classes)
        return cls(Roc.of(true, shares, names)).plot(ax, **kw)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Judge what a fitted estimator says of rows; best of rows that it has not seen."""
        true, _, shares, names = shares_by(estimator, X, y)
        return cls(Roc.of(true, shares, names)).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: object,
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
            write_legend(ax, handles, outside=own or legend == "beside")
        return self

    def _draw(self, ax: Axes, curve: RocCurve, kw: Style) -> Line2D:
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
