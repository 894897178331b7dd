"""Displays of a tree and of its cost complexity, and pictures of it in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

from sortal.data.columns import as_categories
from sortal.errors import InputTypeError, ParameterError, counted
from sortal.pictures import Plan, Scene, Words, class_places, cut_table, several
from sortal.plotting.axes import (
    BLACK,
    LONGEST,
    Style,
    color,
    marker,
    name_axes,
    open_axes,
    plain,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.comparison import ImportancesDisplay
from sortal.plotting.rows import attribute
from sortal.records.render import number_text
from sortal.trees.branches import IntervalCondition
from sortal.trees.displays.partition import PartitionDisplay
from sortal.trees.drawing.boxes import LETTERS, PAD, SMALL, TINY, pattern
from sortal.trees.drawing.svg import GRAY, bar_parts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float, LabelsLike, TableLike
    from sortal.data.columns import Value
    from sortal.pictures import Pictures
    from sortal.records.tables import Cell
    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.drawing.boxes import Box
    from sortal.trees.drawing.layout import Drawing
    from sortal.trees.readable import ReadableTree

    Handle = Artist | ErrorbarContainer


# A pixel of the drawing is this part of an inch where the figure is made here.
_PER_INCH = 108

# Larger figures cannot be drawn as pixels; the tree is smaller in them then.
_MOST_INCHES = 100

_HATCHES = {
    "plain": "",
    "stripes": "///",
    "dots": "..",
    "lines": "---",
    "grid": "+++",
    "crosses": "xxx",
}


class TreeDisplay:
    """A drawing of a tree, as `draw_tree` or an estimator's `to_drawing` makes it.

    `highlight` are the numbers of nodes to be drawn with thick lines, such as a row's path.

    Attributes: `drawing`, `highlight`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, drawing: Drawing, *, highlight: Collection[int] = ()) -> None:
        self.drawing, self.highlight = drawing, frozenset(highlight)

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = 40,
        highlight: Collection[int] = (),
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw a fitted tree down to `max_depth`, or else with at most so many ends."""
        if not hasattr(estimator, "to_drawing"):
            raise InputTypeError(
                f"{type(estimator).__name__} has no to_drawing: give a fitted tree, such as "
                "sortal.TreeClassifier."
            )
        drawing = estimator.to_drawing(max_depth=max_depth, max_leaves=max_leaves)
        return cls(drawing, highlight=highlight).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
    ) -> Self:
        """Draw; letters are as large as the axes are when this is called.

        The legend stands beside the axes if they are made here, or if it is "beside".
        """
        ax, own = open_axes(ax, self._inches(legend=bool(legend)))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        ax.set_xlim(0, self.drawing.width)
        ax.set_ylim(self.drawing.height, 0)
        ax.set_aspect("equal")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.axis("off")
        said = "Decision tree" if title is None else title
        write_title(ax, said, self.drawing.left_out())
        if legend:
            self._write_legend(ax, outside=own or legend == "beside")
        if own:  # the layout makes room for the legend, and letters follow from what is left
            self.figure_.draw_without_rendering()
        scale = self._points_per_pixel(ax)
        self._draw_edges(ax, scale)
        for box in self.drawing.boxes:
            self._draw_box(ax, box, scale)
        return self

    def _inches(self, *, legend: bool) -> tuple[float, float]:
        """A figure in which a pixel has its size, with room for a title and a legend beside."""
        width = self.drawing.width / _PER_INCH + (2.4 if legend else 0.2)
        height = max(self.drawing.height / _PER_INCH + 0.6, 1.2)
        return min(width, _MOST_INCHES), min(height, _MOST_INCHES)

    def _points_per_pixel(self, ax: Axes) -> float:
        """Points of a pixel of the drawing, as the axes are now."""
        across = ax.get_window_extent().width / self.drawing.width
        along = ax.get_window_extent().height / self.drawing.height
        return min(across, along) * 72 / self.figure_.dpi

    def _draw_edges(self, ax: Axes, scale: float) -> None:
        down = self.drawing.orientation == "down"
        edges = self.drawing.edges
        bright = [{edge.parent, edge.child} <= self.highlight for edge in edges]
        for is_lit, style in ((False, _line(scale)), (True, _bright(scale))):
            paths = [e.path for e, is_on in zip(edges, bright, strict=True) if is_on == is_lit]
            if paths:
                ax.add_collection(LineCollection(paths, **style, zorder=1 + 0.1 * is_lit))
        for edge in edges:
            place: Style = {"ha": "center" if down else "left", "va": "baseline"}
            _write(ax, *edge.at, edge.label, SMALL * scale, place)

    def _draw_box(self, ax: Axes, box: Box, scale: float) -> None:
        if box.more:
            _frame(ax, box, 4, {"facecolor": "white", **_frame_line(scale), "zorder": 1.5})
        edge = _frame_line(scale)
        if box.leaf:
            edge = {"edgecolor": color(box.label), "linewidth": 1.75 * scale}
        if box.node in self.highlight:
            edge = {"edgecolor": BLACK, "linewidth": 3.5 * scale}
        fill = _pale(color(box.label), 0.14) if box.leaf else "#f4f4f4"
        _frame(ax, box, 0, {"facecolor": fill, **edge, "zorder": 2})
        for row, line in enumerate(box.lines):
            style: Style = {"fontweight": "bold"} if box.leaf and row == 0 else {}
            style |= {"fontstyle": "italic"} if row == 2 else {}
            size = (SMALL if row else LETTERS) * scale
            y = box.y + 17 + 15 * row - row // 2
            _write(ax, box.x + PAD, y, line, size, {"va": "baseline", **style})
        number = {"ha": "right", "va": "baseline", "color": "0.4"}
        corner = box.x + box.width - PAD, box.y + 16
        _write(ax, *corner, str(box.node), TINY * scale, number)
        for k, start, end in bar_parts(box):
            place = box.x + PAD + start, box.y + box.height - 12
            ax.add_patch(Rectangle(place, end - start, 6, zorder=3, **_class_style(k)))

    def _write_legend(self, ax: Axes, *, outside: bool) -> None:
        legend = self.drawing.legend
        handles = [Patch(**_class_style(mark.k)) for mark in legend]
        labels = [f"{shown(mark.title)} ({number_text(mark.n)})" for mark in legend]
        if self.drawing.more_classes:
            handles.append(Patch(facecolor="none"))
            labels.append(counted(self.drawing.more_classes, "more class", "more classes"))
        write_legend(ax, handles, labels, outside=outside)


def _line(scale: float) -> Style:
    return {"colors": GRAY, "linewidths": scale}


def _bright(scale: float) -> Style:
    return {"colors": BLACK, "linewidths": 3.5 * scale}


def _frame_line(scale: float) -> Style:
    return {"edgecolor": GRAY, "linewidth": scale}


def _frame(ax: Axes, box: Box, offset: int, style: Style) -> None:
    corner = box.x + offset, box.y + offset
    style = {"boxstyle": "round,pad=0,rounding_size=6", **style}
    ax.add_patch(FancyBboxPatch(corner, box.width, box.height, **style))


def _class_style(k: int | None) -> Style:
    """A class color and, over it, what tells it from others of the same color."""
    if k is None:
        return {"facecolor": GRAY, "linewidth": 0}
    hatch = _HATCHES[pattern(k)]
    style: Style = {"facecolor": color(k), "linewidth": 0}
    return style | ({"hatch": hatch, "edgecolor": "white"} if hatch else {})


def _write(ax: Axes, x: float, y: float, text: str, size: float, style: Style) -> None:
    """Words from data, which have room already: only formulas are kept from being read."""
    words = shown(text, max(len(text), LONGEST))
    ax.text(x, y, words, fontsize=size, usetex=False, zorder=4, clip_on=True, **style)


def _pale(shade: str, strength: float) -> tuple[float, ...]:
    """A color on white, so much of it."""
    parts = (int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(1 - strength * (1 - part) for part in parts)


# The nested trees of cost-complexity pruning: error against size, as rpart's plotcp draws it.

# So many sizes have room below the axis.
_MOST_TICKS = 12


class ComplexityDisplay:
    """Errors of nested trees, the smallest first, side by side at equal distances.

    `n_leaves` are their sizes and `error` their errors on the rows of the fit; `cv_error` and
    `cv_deviation` those on rows left out, drawn with bars of one standard deviation and a line at
    the least of them plus one. `cp` is written above the axes; `chosen` is the place of the
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
        cp: ArrayLike | None = None,
        chosen: int | None = None,
    ) -> None:
        self.n_leaves = np.asarray(n_leaves)
        self.error = self._numbers("error", error)
        self.cp = self._numbers("cp", cp)
        self.cv_error = self._numbers("cv_error", cv_error)
        self.cv_deviation = self._numbers("cv_deviation", cv_deviation)
        if chosen is not None and not 0 <= chosen < len(self.n_leaves):
            raise ParameterError(
                f"chosen={chosen!r} is no tree: there are {len(self.n_leaves)}, counted from 0."
            )
        self.chosen = chosen
        self.limit = self._limit()

    def _numbers(self, name: str, given: ArrayLike | None) -> Float | None:
        if given is None:
            return None
        numbers = np.asarray(given, dtype=np.float64)
        if numbers.ndim != 1 or numbers.shape != self.n_leaves.shape or not len(numbers):
            raise ParameterError(
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
    def from_estimator(cls, estimator: object, *, ax: Axes | None = None, **kw: Any) -> Self:
        """Draw the `cp_table_` of a fitted tree."""
        return cls.from_complexity(attribute(estimator, "cp_table_"), ax=ax, **kw)

    @classmethod
    def from_complexity(
        cls, complexity: CostComplexityPath, *, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Draw what `cost_complexity_path()` gave."""
        display = cls(
            complexity.n_leaves,
            complexity.error,
            cv_error=complexity.cv_error,
            cv_deviation=complexity.cv_deviation,
            cp=complexity.cp,
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

    def _draw_left_out(self, ax: Axes, kw: Style) -> list[Handle]:
        if self.cv_error is None:
            return []
        label = "rows left out" if self.cv_deviation is None else "rows left out, ± 1 deviation"
        style: Style = {"color": color(0), "marker": marker(0), "capsize": 3.0, "label": label}
        x = np.arange(len(self.n_leaves))
        handles: list[Handle] = [ax.errorbar(x, self.cv_error, self.cv_deviation, **(style | kw))]
        if self.limit is not None:
            line: Style = {"color": BLACK, "linestyle": (0, (4, 3)), "linewidth": 1.0}
            label = f"least + 1 deviation: {short_number(self.limit)}"
            handles.append(ax.axhline(self.limit, label=label, **line))
        return handles

    def _draw_own(self, ax: Axes, kw: Style) -> list[Handle]:
        if self.error is None:
            return []
        style: Style = {"color": color(1), "marker": marker(1), "linestyle": (0, (1, 1))}
        own = style | ({} if self.cv_error is not None else kw)
        return list(ax.plot(self.error, label="rows of the fit", **own))

    def _mark(self, ax: Axes) -> list[Handle]:
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
        if self.cp is not None:
            above = ax.secondary_xaxis("top")
            strengths = [short_number(s) for s in self.cp[::every]]
            above.set_xticks(ticks, strengths, usetex=False, fontsize="small")
            above.set_xlabel("cp", usetex=False)


# --- Pictures of a decision tree -----------------------------------------------------------------

# More ends make a picture that is read nowhere but on a wall.
_MOST_LEAVES = 24

# Of many classes, bars have many parts.
_FEW_LEAVES, _FEW_CLASSES = 10, 8

_DAY = np.timedelta64(1, "D")


def pictures(
    estimator: ReadableTree,
    X: TableLike,
    y: LabelsLike,
    *,
    rows: bool = False,
    complexity: CostComplexityPath | None = None,
) -> Pictures:
    """The tree, its regions over two columns, its nested trees, and what its columns count for.

    `complexity` is drawn where it is given, with errors of cross-validation, instead of that of
    the rows of the fit alone.
    """
    scene = Scene("tree", estimator, X, y, rows=rows)
    if estimator.get_n_leaves() == 1:
        label = plain(estimator.rules()[0].label)
        scene.leave_out("The tree", f"it is a single leaf, which says {label} in any case.")
        return scene.pictures()
    _add_tree(scene)
    _add_importances(scene)
    _add_partition(scene)
    _add_complexity(scene, complexity)
    return scene.pictures()


def _add_tree(scene: Scene) -> None:
    n = int(scene.estimator.get_n_leaves())
    title = (
        f"The tree: {counted(n, 'leaf', 'leaves')}, {counted(scene.estimator.get_depth(), 'level')}"
    )
    most = _MOST_LEAVES if len(scene.classes) <= _FEW_CLASSES else _FEW_LEAVES
    plan = Plan(TreeDisplay, {"max_leaves": most, "title": ""}, with_rows=False)
    scene.plan("tree", title, plan, lambda display: _tree_words(scene, title, display))


def _tree_words(scene: Scene, title: str, display: TreeDisplay) -> Words:
    rules = sorted(scene.estimator.rules(), key=lambda rule: -rule.n)
    told = [f"{rule.text(max_values=6)} ({rule.share:.0%} of the rows)" for rule in rules]
    said = f"{title}. Its largest leaves: {'; '.join(plain_rule(t) for t in told[:3])}."
    rows: list[tuple[Cell, ...]] = [
        (rule.leaf, rule.text(max_values=10), str(rule.label), rule.n, rule.purity)
        for rule in rules
    ]
    heads = ("leaf", "rule", "class", "rows", "share of the class")
    table, cut = cut_table("tree", "Leaves, the largest first", heads, rows)
    left = display.drawing.left_out()
    if left:
        left = f"{left[0].upper()}{left[1:]}; model.to_svg(max_leaves=None) draws all."
    return Words(said, table, " ".join(filter(None, [left, cut])), cut)


def plain_rule(text: str) -> str:
    """A rule on one line that can be read out."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 240 else f"{line[:239]}…"


def _add_importances(scene: Scene) -> None:
    title = "What each column counts for"
    plan = Plan(ImportancesDisplay, {"title": ""}, with_rows=False)
    scene.plan("importances", title, plan, lambda display: _importance_words(title, display))


def _importance_words(title: str, display: ImportancesDisplay) -> Words:
    pairs = list(zip(display.names, display.importances.tolist(), strict=True))
    counts = [(name, share) for name, share in pairs if share > 0]
    told = [f"{plain(name)} {share:.0%}" for name, share in counts]
    silent = len(pairs) - len(counts)
    said = (
        f"{title}, as a share of all that the tests of the tree gain: {several(told, 'columns')}."
    )
    said += f" {counted(silent, 'column')} not asked for." if silent else ""
    table, cut = cut_table("importances", title, ("column", "importance"), pairs, "S 28")
    drawn = len(display.ax_.get_yticks())
    more = len(counts) > drawn
    left = f"{drawn} of {len(counts)} are drawn; max_bars=... draws more." if more else ""
    return Words(said, table, " ".join(filter(None, [left, cut])))


def _add_partition(scene: Scene) -> None:
    title = "Regions of the tree"
    importances = dict(zip(scene.fitted, scene.estimator.feature_importances_, strict=True))
    asked = _asked(scene)
    words = {name for name, values in asked.items() if values}
    numbers = [one for one in scene.numbers if scene.names[one.place] not in words]
    # a column that is not asked may be the second one: the more telling the better
    ranked = sorted(numbers, key=lambda one: -importances[scene.names[one.place]])[:2]
    if len(ranked) < 2 or importances[scene.names[ranked[0].place]] == 0:
        scene.leave_out(title, "a plane needs two columns of numbers, one of them asked.")
        return
    first, second = ranked
    shown = {scene.names[one.place] for one in ranked}
    at = {name: _typical(scene, name, asked[name]) for name in asked if name not in shown}
    title = f"Regions of the tree over {plain(first.name)} and {plain(second.name)}"
    options: dict[str, Any] = {"features": [scene.feature(one.place) for one in ranked]}
    options |= {"at": at} if at else {}
    plan = Plan(PartitionDisplay, options, points=True)
    scene.plan("partition", title, plan, lambda display: _partition_words(title, display, at))


def _asked(scene: Scene) -> dict[str, list[Value]]:
    """The columns that the tree asks; of categories, the values that it knows."""
    rules = scene.estimator.rules()
    found: dict[str, dict[Value, None]] = {}
    for rule in [*rules, *rules.unlisted]:
        for condition in rule.merged:
            values = found.setdefault(condition.attribute, {})
            if not isinstance(condition, IntervalCondition):
                values |= dict.fromkeys((*condition.values, *condition.against))
    return {name: list(values) for name, values in found.items()}


def _typical(scene: Scene, name: str, values: list[Value]) -> Value:
    """The median of numbers, the most frequent of values."""
    j, n = scene.names.index(name), scene.table.n_rows
    if values:
        column = as_categories(scene.table.categories(j, 0, n))
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
        often = dict(zip(column.values, counts.tolist(), strict=True))
        return max(values, key=lambda value: often.get(value, 0))
    cells = scene.table.numbers(j, 0, n).values
    middle = float(np.median(cells[~np.isnan(cells)]))
    if scene.table.column_schema(j).kind == "date":
        return str(np.datetime64(0, "D") + int(np.floor(middle)) * _DAY)
    return middle


def _partition_words(title: str, display: PartitionDisplay, at: Mapping[str, Value]) -> Words:
    (x0, y0), (x1, y1) = display.box
    whole = (x1 - x0) * (y1 - y0)
    areas: dict[str, float] = {}
    rows: list[tuple[Cell, ...]] = []
    for low1, high1, low2, high2, label, name in display.regions:
        share = float((high1 - low1) * (high2 - low2) / whole)
        areas[plain(label)] = areas.get(plain(label), 0.0) + share
        rows.append((name, float(low1), float(high1), float(low2), float(high2), str(label)))
    by_area = sorted(areas.items(), key=lambda one: -one[1])
    told = [f"{label} on {share:.0%}" for label, share in by_area]
    held = [f"{plain(name)} at {_value(value)}" for name, value in at.items()]
    said = (
        f"{title}: {counted(len(rows), 'box', 'boxes')} along the axes, {several(told, 'classes')}"
    )
    said += (
        f" of the picture. Held fixed: {several(held, 'columns')}." if held else " of the picture."
    )
    a, b = display.rows.names
    heads = ("region", f"{a} above", f"{a} to", f"{b} above", f"{b} to", "class")
    table, cut = cut_table("partition", "Boxes, cut off at the edge of the picture", heads, rows)
    return Words(f"{said} {class_places(display.rows)}", table, cut)


def _value(value: Value) -> str:
    return short_number(value) if isinstance(value, int | float) else plain(value)


def _add_complexity(scene: Scene, given: CostComplexityPath | None) -> None:
    title = "Error against size: the nested trees of cost-complexity pruning"
    own = getattr(scene.estimator, "cp_table_", None)
    record = given or own or scene.estimator.cost_complexity_path()
    told = "model.cp_table_" if record is own else "model.cost_complexity_path()"
    if record is given and given.cv_error is not None:
        told = "model.cost_complexity_path(X, y)"
    code = f"from sortal import displays\n\ndisplays.ComplexityDisplay.from_complexity({told})"

    def draw() -> ComplexityDisplay:
        return ComplexityDisplay.from_complexity(record, title="")

    scene.add("complexity", title, draw, lambda _: _complexity_words(title, record), code)


def _complexity_words(title: str, record: CostComplexityPath) -> Words:
    last = len(record) - 1
    said = (
        f"{title}. From {counted(record.n_leaves[0], 'leaf', 'leaves')} to "
        f"{record.n_leaves[last]}, the error on the rows of the fit, as a share of the root's, "
        f"goes from {short_number(record.error[0])} to {short_number(record.error[last])}"
    )
    if record.cv_error is not None and record.cv_deviation is not None:
        best = min(range(len(record)), key=lambda i: record.cv_error[i])  # type: ignore[index]
        said += (
            f"; on rows left out it is least with "
            f"{counted(record.n_leaves[best], 'leaf', 'leaves')}, "
            f"{short_number(record.cv_error[best])} ± {short_number(record.cv_deviation[best])}"
        )
    if record.chosen is not None:
        said += f"; {counted(record.n_leaves[record.chosen], 'leaf', 'leaves')} chosen"
    own = record.to_table()
    table, cut = cut_table("complexity", own.title, own.columns, own.rows, own.equation)
    note = ""
    if record.cv_error is None:
        note = (
            "Rows of the fit alone; model.cost_complexity_path(X, y) adds errors of "
            "cross-validation."
        )
    return Words(f"{said}.", table, " ".join(filter(None, [note, cut])))
