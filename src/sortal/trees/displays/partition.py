"""The regions of a tree in the plane, and the hyperplanes that part them (Figure 19.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, cast

import narwhals as nw
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D

from sortal.base.tables import split_target
from sortal.data.sources import read_table
from sortal.errors import ColumnError, ParameterError, listed
from sortal.plotting.axes import (
    BLACK,
    Style,
    class_entries,
    color,
    equation_text,
    fixed_text,
    name_axes,
    open_axes,
    point_style,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.curves import write_at
from sortal.plotting.plane import box_of
from sortal.plotting.rows import (
    MOST_POINTS,
    attribute,
    choose_columns,
    names_of_fit,
    read_rows,
)
from sortal.trees.branches import IntervalCondition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.data.columns import Value
    from sortal.data.sources import DataTable
    from sortal.trees.branches import Condition

    Side = tuple[float, float]
    Box = tuple[Side, Side]


# --- A tree in the plane of two attributes: the boxes of its leaves and the cuts between them ----
# All is read from an estimator's rules, and from the parents in its table of nodes.

_WHOLE: Side = (-math.inf, math.inf)


class Region(NamedTuple):
    """A box, the class that is said in it, and its name; a side may be open (infinite)."""

    low1: float
    high1: float
    low2: float
    high2: float
    label: Value
    name: str


class Cut(NamedTuple):
    """The line from (x1, y1) to (x2, y2) by which a node at some depth parts its region in two."""

    x1: float
    y1: float
    x2: float
    y2: float
    node: int
    depth: int


class TreePlane:
    """What a fitted tree looks like where all attributes but two are held fixed."""

    def __init__(self, estimator: object) -> None:
        rules = attribute(estimator, "rules")()
        self._leaves = list(rules)
        # rows that a node keeps; with them the rules cover the plane
        self._kept = list(rules.unlisted)
        self._parents: list[int] = nw.from_native(attribute(estimator, "to_frame")())[
            "parent"
        ].to_list()
        self.columns = names_of_fit(estimator)

    def choose(
        self, X: TableLike, y: LabelsLike, features: Sequence[str | int] | None
    ) -> list[int]:
        """Two columns of numbers in X: those named, or such as the tree asks, or the first."""
        table = read_table(split_target(X, y)[0])
        told = table.names if table.has_names else self.columns
        self._has_no_names = not table.has_names
        if features is None:
            features = self._default(table, told)
        places = choose_columns(table, features, 2)
        self.names = [told[j] for j in places]
        self._refuse_strange_names()
        return places

    def _default(self, table: DataTable, told: Sequence[str]) -> list[int] | None:
        """Two numbers, such as the tree asks before others."""
        cut = {c.attribute for c in self._conditions() if isinstance(c, IntervalCondition)}
        usable = set(self.columns) - self._words()
        numbers = [
            j
            for j in range(len(table.names))
            if table.column_schema(j).is_number and told[j] in usable
        ]
        asked_first = sorted(numbers, key=lambda j: told[j] not in cut)
        return sorted(asked_first[:2]) if len(numbers) >= 2 else None

    def _words(self) -> set[str]:
        """Attributes of which the tree asks single values."""
        return {c.attribute for c in self._conditions() if not isinstance(c, IntervalCondition)}

    def told(self, names: Sequence[str]) -> Sequence[str]:
        """Names for the axes: those of the table, or of the fit where it has none."""
        return self.names if self._has_no_names else names

    def read(self, at: Mapping[str, object] | None) -> tuple[list[Region], list[Cut]]:
        """Regions and cuts where the attributes that are not shown have the values of `at`."""
        self._fixed = {str(name): value for name, value in (at or {}).items()}
        self._refuse_strange_values()
        named = [(rule, f"leaf {rule.leaf}") for rule in self._leaves]
        named += [(rule, f"node {rule.leaf}") for rule in self._kept]
        regions = []
        for rule, name in named:
            if (box := self._box(rule.merged)) is not None:
                regions.append(Region(*box[0], *box[1], rule.label, name))
        return regions, self._cuts()

    def _cuts(self) -> list[Cut]:
        """The cuts that are met, each once; condition i of a path is asked by its i-th node."""
        found: dict[int, Cut] = {}
        for rule in [*self._leaves, *self._kept]:
            nodes = self._way(rule.leaf)
            for depth, condition in enumerate(rule.path):
                box = self._box(rule.path[:depth])
                if box is None:
                    break
                # a test whether a value is known parts no numbers
                if condition.attribute in self.names and _ends(condition):
                    found.setdefault(nodes[depth], self._cut(condition, box, nodes[depth], depth))
        return [found[t] for t in sorted(found)]

    def _cut(self, condition: Condition, box: Box, node: int, depth: int) -> Cut:
        v = _ends(condition)[0]
        if condition.attribute == self.names[0]:
            return Cut(v, box[1][0], v, box[1][1], node, depth)
        return Cut(box[0][0], v, box[0][1], v, node, depth)

    def _box(self, conditions: Iterable[Condition]) -> Box | None:
        """Where conditions hold in the plane; None if what is fixed does not meet them."""
        sides = [_WHOLE, _WHOLE]
        for condition in conditions:
            if condition.attribute not in self.names:
                if not _holds(condition, self._fixed[condition.attribute]):
                    return None
            elif isinstance(condition, IntervalCondition):
                i = self.names.index(condition.attribute)
                sides[i] = max(sides[i][0], condition.low), min(sides[i][1], condition.high)
                if sides[i][0] >= sides[i][1]:  # only missing values come here
                    return None
        return sides[0], sides[1]

    def note(self) -> str:
        """What the plane cannot show: incomplete rows may go elsewhere than their neighbors."""
        told = {c.attribute for c in self._conditions() if c.told} & set(self.names)
        return "known values only" if told else ""

    def _way(self, t: int) -> list[int]:
        """The nodes from the root to node t."""
        nodes = [t]
        while (above := self._parents[nodes[-1]]) >= 0:
            nodes.append(above)
        return nodes[::-1]

    def _conditions(self) -> Iterable[Condition]:
        return (c for rule in [*self._leaves, *self._kept] for c in rule.merged)

    def _refuse_strange_names(self) -> None:
        strange = [name for name in self.names if name not in self.columns]
        words = self._words() & set(self.names)
        if strange or words:
            told = strange or sorted(words)
            raise ColumnError(
                f"{listed(told)} is no number that this tree was fitted with: its columns are "
                f"{listed(self.columns)}. Name two columns of numbers."
            )

    def _refuse_strange_values(self) -> None:
        strange = [name for name in self._fixed if name not in self.columns]
        if strange:
            raise ColumnError(
                f"at names {listed(strange)}, which is no column of this tree: it has "
                f"{listed(self.columns)}."
            )
        if shown := [name for name in self._fixed if name in self.names]:
            raise ParameterError(
                f"at fixes {listed(shown)}, which the picture shows: leave it out, or name other "
                "features."
            )
        asked = dict.fromkeys(c.attribute for c in self._conditions())
        if open_ := [name for name in asked if name not in self.names and name not in self._fixed]:
            raise ParameterError(
                f"This tree also asks {listed(open_)}, which the picture does not show: fix it by "
                f"at={{{open_[0]!r}: value}}, or fit with two columns only."
            )
        for name in asked:
            if name in self._fixed:
                self._refuse_strange_value(name, self._fixed[name])

    def _refuse_strange_value(self, name: str, value: object) -> None:
        own = [c for c in self._conditions() if c.attribute == name]
        if isinstance(own[0], IntervalCondition):
            self._fixed[name] = _number(name, value, own[0].is_date)
            return
        values = dict.fromkeys(v for c in own for v in (*c.values, *c.against))  # type: ignore[union-attr]
        if value not in values:
            raise ParameterError(
                f"at has {value!r} for {name!r}, which no row of the fit had: it can be "
                f"{listed(list(values))}."
            )


def _holds(condition: Condition, value: object) -> bool:
    if isinstance(condition, IntervalCondition):
        return condition.low < cast("float", value) <= condition.high
    return value in condition.values or (condition.others and value not in condition.against)


def _ends(condition: Condition) -> list[float]:
    """The ends of an interval that are numbers."""
    ends = [condition.low, condition.high] if isinstance(condition, IntervalCondition) else []
    return [end for end in ends if math.isfinite(end)]


def _number(name: str, value: Any, is_date: bool) -> float:
    try:
        if is_date:
            return float((np.datetime64(value) - np.datetime64(0, "s")) / np.timedelta64(1, "D"))
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if math.isnan(found):
        what = "date" if is_date else "number"
        raise ParameterError(f"at has {value!r} for {name!r}: give a {what}.")
    return found


# Up to so many regions and lines have their names written, unless it is said otherwise.
_MOST_NAMES: Final = 14

# A region that takes less of the picture's width or height has no room for its name.
_LEAST_SHARES: Final = (0.08, 0.06)

# From the root down lines become thinner, and their strokes shorter.
_STROKES: Final[tuple[Any, ...]] = ("solid", (0, (7, 3)), (0, (4, 2.5)), (0, (1.2, 1.8)))


class PartitionDisplay:
    """The regions of a tree over two attributes, its hyperplanes, and points (Figure 19.1).

    `regions` are tuples (low1, high1, low2, high2, class, name), `lines` tuples (x1, y1, x2, y2,
    node, depth) along an axis; ends may be infinite, and all is cut off at the picture's box. `z`
    are further points, drawn as white squares. `note` is a line below the title.

    Attributes: `box` (its lower and its upper corner), `regions` and `lines` as drawn; after
    `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: TableLike,
        labels: LabelsLike,
        regions: Sequence[Sequence[Any]],
        lines: Sequence[Sequence[Any]] = (),
        *,
        z: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.z, self.note = _read_z(z), note
        self.box = box_of(np.vstack([self.rows.points, self.z]))
        self.regions = self._clip_regions([Region(*region) for region in regions])
        self.lines = self._clip_lines([Cut(*line) for line in lines])

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: TableLike,
        y: LabelsLike,
        *,
        features: Sequence[str | int] | None = None,
        at: Mapping[str, object] | None = None,
        z: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the regions of a fitted tree over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: such as the tree asks).
        If it asks others, `at` says which values these are held at. Points are drawn by the two
        attributes alone, whatever else they hold; `z` are further points in these attributes. Of
        a tree that was fitted with missing values the plane shows where known values lead.
        """
        plane = TreePlane(estimator)
        places = plane.choose(X, y, features)
        regions, cuts = plane.read(at)
        rows = read_rows(X, y, features=places, classes=attribute(estimator, "classes_"))
        fixed = fixed_text([equation_text(name, v) for name, v in (at or {}).items()])
        display = cls(
            rows.points,
            rows.labels,
            regions,
            cuts,
            z=z,
            classes=rows.classes,
            names=plane.told(rows.names),
            note=";  ".join(filter(None, [fixed, plane.note()])),
        )
        title = f"Regions of {type(estimator).__name__}"
        return display.plot(ax, **({"title": title} | kw))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        name_lines: bool | None = None,
        name_regions: bool | None = None,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: Any,
    ) -> Self:
        """Draw; names of lines and regions are written where they are few, or as asked.

        Other keywords go to `Axes.scatter` for the points.
        """
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_regions(ax)
        handles = self._draw_points(ax, drawn, kw) + self._draw_lines(ax) + self._draw_z(ax)
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        if len(self.regions) <= _MOST_NAMES if name_regions is None else name_regions:
            self._name_regions(ax)
        if len(self.lines) <= _MOST_NAMES if name_lines is None else name_lines:
            self._name_lines(ax)
        self._write(ax, title, len(drawn))
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_regions(self, ax: Axes) -> None:
        for k, label in enumerate(self.rows.classes):
            boxes = [_corners(region) for region in self.regions if region.label == label]
            style: Style = {"facecolors": color(k), "alpha": 0.13, "edgecolors": "none"}
            ax.add_collection(PolyCollection(boxes, zorder=0.5, **style))

    def _draw_points(self, ax: Axes, drawn: Places, kw: Style) -> list[Artist]:
        handles: list[Artist] = []
        for k, entry in enumerate(class_entries(self.rows.classes, self.rows.counts)):
            x, y = self.rows.points[drawn[self.rows.codes[drawn] == k]].T
            handles.append(ax.scatter(x, y, label=entry, **(point_style(k) | {"zorder": 2.2} | kw)))
        return handles

    def _draw_lines(self, ax: Axes) -> list[Artist]:
        """One style a depth; further down, the last one again."""
        handles: list[Artist] = []
        last = len(_STROKES) - 1
        for depth, stroke in enumerate(_STROKES):
            mine = [cut for cut in self.lines if min(cut.depth, last) == depth]
            if not mine:
                continue
            deeper = " and below" if any(cut.depth > last for cut in mine) else ""
            ends = [((cut.x1, cut.y1), (cut.x2, cut.y2)) for cut in mine]
            style: Style = {"color": BLACK, "linewidth": 2.2 - 0.4 * depth, "linestyle": stroke}
            ax.add_collection(LineCollection(ends, zorder=2.4, **style))
            handles.append(Line2D([], [], label=f"test at depth {depth}{deeper}", **style))
        return handles

    def _draw_z(self, ax: Axes) -> list[Artist]:
        """White squares with the letter z."""
        if not len(self.z):
            return []
        style: Style = {"color": "white", "marker": "s", "edgecolors": BLACK, "linewidths": 1.4}
        x, y = self.z.T
        handle = ax.scatter(x, y, label="z", zorder=3.5, s=55.0, **style)
        slanted: Style = {"ha": "left", "va": "center", "fontstyle": "italic"}
        for point in self.z.tolist():
            write_at(ax, "z", tuple(point), (8, 0), slanted)
        return [handle]

    def _name_regions(self, ax: Axes) -> None:
        """In the lower left corner of each region that has room for it."""
        least = (self.box[1] - self.box[0]) * _LEAST_SHARES
        for region in self.regions:
            low, _, high, _ = _corners(region)
            if ((high - low) > least).all():
                corner: Style = {"ha": "left", "va": "bottom", "color": "0.35", "zorder": 2}
                write_at(ax, shown(region.name), (low[0], low[1]), (5, 4), corner)

    def _name_lines(self, ax: Axes) -> None:
        """h with the number of the node, at the upper or the right end."""
        bold: Style = {"weight": "bold", "fontsize": "small"}
        for cut in self.lines:
            if cut.x1 == cut.x2:
                write_at(ax, f"h{cut.node}", (cut.x2, cut.y2), (5, -4), {"va": "top"} | bold)
            else:
                end: Style = {"ha": "right", "va": "bottom"}
                write_at(ax, f"h{cut.node}", (cut.x2, cut.y2), (-5, 3), end | bold)

    def _write(self, ax: Axes, title: str | None, drawn: int) -> None:
        n = len(self.rows.points)
        part = [f"{drawn} of {n} points drawn"] if drawn < n else []
        notes = ";  ".join([*([self.note] if self.note else []), *part])
        write_title(ax, "Regions of a tree" if title is None else title, notes)
        name_axes(ax, shown(self.rows.names[0]), shown(self.rows.names[1]))

    def _clip_regions(self, regions: list[Region]) -> list[Region]:
        """What of the regions lies in the picture."""
        strange = {str(region.label) for region in regions} - set(map(str, self.rows.classes))
        if strange:
            raise ParameterError(
                f"regions has the classes {listed(sorted(strange))}, and the labels are "
                f"{listed(self.rows.classes)}: give all of them as classes."
            )
        found = []
        for region in regions:
            x = self._clip(0, region.low1, region.high1)
            y = self._clip(1, region.low2, region.high2)
            if x[0] < x[1] and y[0] < y[1]:
                found.append(Region(*x, *y, region.label, region.name))
        return found

    def _clip_lines(self, lines: list[Cut]) -> list[Cut]:
        """What of the lines lies in the picture."""
        found = []
        for cut in lines:
            upright = cut.x1 == cut.x2
            if not upright and cut.y1 != cut.y2:
                raise ParameterError(f"The line {tuple(cut)} is along no axis: a tree has no such.")
            x, y = self._clip(0, cut.x1, cut.x2), self._clip(1, cut.y1, cut.y2)
            inside = x[0] == cut.x1 if upright else y[0] == cut.y1
            if inside and (x[0] < x[1] or y[0] < y[1]):
                found.append(Cut(x[0], y[0], x[1], y[1], cut.node, cut.depth))
        return found

    def _clip(self, axis: int, low: float, high: float) -> tuple[float, float]:
        first, last = self.box[:, axis]
        return float(np.clip(low, first, last)), float(np.clip(high, first, last))


def _corners(region: Region) -> Float:
    x1, x2, y1, y2 = region[:4]
    return np.array([(x1, y1), (x2, y1), (x2, y2), (x1, y2)])


def _read_z(z: ArrayLike | None) -> Float:
    """Further points, or one of them as two numbers."""
    try:
        given = np.empty((0, 2)) if z is None else np.asarray(z, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    points = given[None] if given.ndim == 1 else given
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ParameterError(
            f"z={z!r} is no point of the picture: give two numbers, or rows of two."
        )
    return points
