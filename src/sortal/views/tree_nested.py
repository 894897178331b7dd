"""The nested trees of cost-complexity pruning in a drawn tree: stops of a slider, and a curve."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from sortal.data.printing import counted
from sortal.errors import OptionError
from sortal.learners.tree_complexity import complexity_path, places_in
from sortal.models.faces import number_text
from sortal.native.trees import LEAF
from sortal.views.palette import color
from sortal.views.tree_sketch import leaf_lines, leaf_widths
from sortal.views.tree_svg import GRAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sortal.models.complexity import Complexity
    from sortal.models.tree import TreeModel
    from sortal.views.tree_sketch import Sketch

    Point = tuple[float, float]

# The table below the slider has so many rows at most.
_MOST_ROWS: Final = 60

# The curve in pixels: its size, and what is left around the lines.
_WIDE, _HIGH = 360, 150
_LEFT, _RIGHT, _TOP, _BELOW = 30, 10, 10, 22

# With so many trees every one has a marker.
_MOST_MARKED: Final = 40


@dataclass(frozen=True)
class Stop:
    """One tree: its numbers as texts, and what is said of it; "" where nothing is known."""

    leaves: str
    strength: str
    error: str
    cv_error: str
    cv_deviation: str
    said: str

    def told(self) -> str:
        """The tree in one line."""
        parts = [self.leaves, f"error {self.error} on the rows of the fit"]
        if self.cv_error:
            parts.append(f"cross-validated {self.cv_error} ± {self.cv_deviation}")
        return " · ".join([*parts, *([self.said] if self.said else [])])


class NestedTrees:
    """Every tree of the path, the smallest first; the last stop is the tree as it was fitted.

    The path ends with the smallest tree that errs no more than the whole on the rows of the fit.
    Where that is smaller than the fitted tree, there is one stop more.
    """

    def __init__(self, model: TreeModel, path: Complexity) -> None:
        _need_own(model, path)
        self.model, self.path = model, path
        self.has_more = model.n_leaves > path.n_leaves[-1]
        self.places = places_in(path, model)
        self.stops = [self._stop(i) for i in range(len(path) + self.has_more)]

    def _stop(self, i: int) -> Stop:
        path, at = self.path, min(i, len(self.path) - 1)
        validated = path.cv_error is not None and i == at
        leaves = self.model.n_leaves if i > at else path.n_leaves[i]
        return Stop(
            counted(leaves, "leaf", "leaves"),
            number_text(path.strength[i]) if i == at else "",
            _short(path.error[at]),
            _short(path.cv_error[at]) if validated and path.cv_error else "",
            _short(path.cv_deviation[at]) if validated and path.cv_deviation else "",
            "; ".join(self._marks(i)),
        )

    def _marks(self, i: int) -> Iterator[str]:
        path = self.path
        if path.cv_error is not None and i == path.choose("least"):
            yield "the least cross-validated error"
        if path.cv_error is not None and i == path.choose("one_se"):
            yield "the smallest tree within one deviation of the least"
        if i == path.chosen:
            yield "cost-complexity pruning would choose this one"
        if i == len(path):
            yield "the tree as fitted, which errs on these rows as the one before"
        elif i == len(path) - 1 and not self.has_more:
            yield "the tree as fitted"

    def rows(self) -> list[Stop]:
        """Stops for a table: all, or evenly spaced ones with the first, the last and those named.

        `len(stops)` tells whether some are left out.
        """
        if len(self.stops) <= _MOST_ROWS:
            return self.stops
        named = {i for i, stop in enumerate(self.stops) if stop.said} | {0}
        even = np.linspace(0, len(self.stops) - 1, _MOST_ROWS - len(named)).astype(int)
        return [self.stops[i] for i in sorted(named | set(even.tolist()))]

    def widen(self, drawn: Sketch) -> Sketch:
        """The sketch with boxes that have room for what they say as leaves."""
        as_leaves = leaf_widths(self.model, drawn.items)
        widths = [max(item.width, w) for item, w in zip(drawn.items, as_leaves, strict=True)]
        if drawn.orientation == "right":  # boxes of one depth have one width
            widest = Counter[int]()
            for item, width in zip(drawn.items, widths, strict=True):
                widest[item.depth] = max(widest[item.depth], width)
            widths = [widest[item.depth] for item in drawn.items]
        pairs = zip(drawn.items, widths, strict=True)
        return replace(drawn, items=tuple(item._replace(width=width) for item, width in pairs))

    def data(self, drawn: Sketch) -> dict[str, Any]:
        """What the script knows: items `open` at these stops, and what they say as leaves.

        `hidden` tells of an item below which nothing is drawn how many leaves are there: pairs of a
        stop and of how many more there are from it on, the item alone being one.
        """
        items, lines = drawn.items, leaf_lines(self.model, drawn.items)
        pairs = list(zip(items, lines, strict=True))
        return {
            "told": [stop.told() for stop in self.stops],
            "leaves": [stop.leaves for stop in self.stops],
            "opens": [int(self.places[item.node]) for item in items],
            "short": ["" if item.is_leaf else short for item, (_, short) in pairs],
            "label": {item.label: label for item, (label, _) in pairs},
            "hidden": {i: self._hidden(item.node) for i, item in enumerate(items) if item.is_cut},
            "at": [[x, y] for x, y in self._points(self._heights())],
        }

    def _hidden(self, node: int) -> list[list[int]]:
        model = self.model
        below = np.arange(node, model.ends()[node])
        tests = below[model.kind[below] != LEAF]
        more = np.diff(model.child_start)[tests] - 1
        opened: Counter[int] = Counter()
        for place, count in zip(self.places[tests].tolist(), more.tolist(), strict=True):
            opened[place] += count
        return [[place, count] for place, count in sorted(opened.items())]

    # --- The curve: errors by size, with a mark that the script moves

    def curve(self, name: str) -> str:
        """Errors of all stops as SVG, in the colors of the page around it."""
        size = {"width": str(_WIDE), "height": str(_HIGH), "viewBox": f"0 0 {_WIDE} {_HIGH}"}
        svg = Element("svg", {"class": "curve", "role": "img", **size})
        svg.set("aria-labelledby", f"{name}-curve")
        SubElement(svg, "title", {"id": f"{name}-curve"}).text = self._alternative()
        self._draw_axes(svg)
        own = self._points(self._own_errors())
        _draw_line(svg, own, color(1), "square", dashes="2 2")
        if self.path.cv_error is not None:
            self._draw_deviations(svg)
            _draw_line(svg, self._points(self.path.cv_error), color(0), "circle")
        if self.path.chosen is not None:
            x, y = self._points(self._heights())[self.path.chosen]
            SubElement(svg, "circle", {"class": "chosen", "cx": str(x), "cy": str(y), "r": "6"})
        x, y = self._points(self._heights())[-1]
        now = SubElement(svg, "g", {"data-part": "now", "transform": f"translate({x:g} {y:g})"})
        SubElement(now, "path", {"class": "now", "d": "M0 -8L8 0L0 8L-8 0Z"})
        return tostring(svg, encoding="unicode")

    def _alternative(self) -> str:
        first, last = self.stops[0], self.stops[-1]
        told = [
            f"Errors of {counted(len(self.stops), 'tree')}, from {first.leaves} to {last.leaves}"
        ]
        told += [stop.told() for stop in self.stops if stop.said]
        return ". ".join(told) + "."

    def _own_errors(self) -> list[float]:
        return [*self.path.error, *[self.path.error[-1]] * self.has_more]

    def _heights(self) -> Sequence[float]:
        """Where the mark stands: on the line of rows left out, as far as it goes."""
        errors = list(self.path.cv_error or self.path.error)
        return [*errors, *[self.path.error[-1]] * self.has_more]

    def _most(self) -> float:
        spread = zip(self.path.cv_error or (), self.path.cv_deviation or (), strict=True)
        return max([*self.path.error, *(error + deviation for error, deviation in spread), 1e-9])

    def _points(self, errors: Sequence[float]) -> list[Point]:
        step = (_WIDE - _LEFT - _RIGHT) / max(len(self.stops) - 1, 1)
        room, most = _HIGH - _TOP - _BELOW, self._most()
        return [
            (round(_LEFT + i * step, 1), round(_HIGH - _BELOW - room * error / most, 1))
            for i, error in enumerate(errors)
        ]

    def _draw_axes(self, svg: Element) -> None:
        bottom, right = _HIGH - _BELOW, _WIDE - _RIGHT
        axes = f"M{_LEFT} {_TOP}V{bottom}H{right}"
        SubElement(svg, "path", {"d": axes, "fill": "none", "stroke": GRAY})
        top = self._points([1.0])[0][1] if self._most() >= 1 else None
        marks = [("0", bottom)] + ([("1", top)] if top is not None else [])
        for text, y in marks:
            place = {"x": str(_LEFT - 6), "y": str(y + 4), "text-anchor": "end"}
            SubElement(svg, "text", {"class": "fact", **place}).text = text
        ends = [(_LEFT, "start", self.stops[0]), (right, "end", self.stops[-1])]
        for x, anchor, stop in ends[: len(self.stops)]:
            place = {"x": str(x), "y": str(_HIGH - 6), "text-anchor": anchor}
            SubElement(svg, "text", {"class": "fact", **place}).text = stop.leaves

    def _draw_deviations(self, svg: Element) -> None:
        errors, around = self.path.cv_error or (), self.path.cv_deviation or ()
        pairs = list(zip(errors, around, strict=True))
        above = self._points([error + deviation for error, deviation in pairs])
        under = self._points([max(error - deviation, 0) for error, deviation in pairs])
        corners = "L".join(f"{x} {y}" for x, y in [*above, *under[::-1]])
        band = {"d": f"M{corners}Z", "fill": color(0), "stroke": color(0)}
        SubElement(svg, "path", {**band, "class": "band"})


def _draw_line(svg: Element, points: list[Point], ink: str, shape: str, dashes: str = "") -> None:
    line = {"d": "M" + "L".join(f"{x} {y}" for x, y in points), "fill": "none", "stroke": ink}
    SubElement(svg, "path", {**line, "stroke-width": "1.5", "stroke-dasharray": dashes or "none"})
    for x, y in points if len(points) <= _MOST_MARKED else ():
        if shape == "circle":
            SubElement(svg, "circle", {"cx": str(x), "cy": str(y), "r": "2.6", "fill": ink})
        else:
            place = {"x": str(round(x - 2.3, 1)), "y": str(round(y - 2.3, 1))}
            SubElement(svg, "rect", {**place, "width": "4.6", "height": "4.6", "fill": ink})


def _short(error: float) -> str:
    return number_text(round(error, 4))


def _need_own(model: TreeModel, path: Complexity) -> None:
    """Refuse the path of another tree, such as that of this one before it was pruned."""
    own = complexity_path(model)
    if (own.strength, own.n_leaves) != (path.strength, path.n_leaves):
        raise OptionError(
            f"complexity is of {counted(len(path), 'tree')} up to "
            f"{counted(path.n_leaves[-1], 'leaf', 'leaves')}; this tree "
            f"has {len(own)} up to {own.n_leaves[-1]}: give complexity(X, y) of the fitted tree."
        )
