"""A tree that one can use: a drawing that folds, can be searched, and follows a row.

`tree_part` is a part of a page; `html_of` is one by itself, with its style and script, for a
notebook. Without the script the drawing stands still.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element, tostring

import numpy as np
from markupsafe import Markup

from sortal.browser import (
    BrowserModel,
    FormField,
    category_field,
    environment,
    join_files,
    number_field,
    pack,
    range_hint,
    read_static,
    refuse_unnamed,
)
from sortal.errors import ParameterError, counted
from sortal.native.trees import CUT, LEAF, MULTIWAY
from sortal.plotting.axes import color, shorten
from sortal.records.render import PagePart, number_text, plain
from sortal.trees.branches import (
    Paths,
    Step,
    branch_condition,
    met_missing,
    missing_branch,
    missing_mark,
    node_values,
)
from sortal.trees.cost_complexity import complexity_path, places_in
from sortal.trees.drawing.boxes import (
    PAD,
    condition_width,
    depth_with_ends,
    leaf_lines,
    leaf_widths,
)
from sortal.trees.drawing.layout import LOOK, arrange, sketch
from sortal.trees.drawing.svg import (
    GRAY,
    add,
    class_fill,
    digest,
    inline_svg,
    svg_rules,
    told_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.drawing.boxes import Box, Sketch
    from sortal.trees.drawing.layout import Drawing
    from sortal.trees.model import TreeModel

    Test = list[Any] | None
    Point = tuple[float, float]


# --- What the form below a tree asks, and the tests of its nodes in the terms of that form -------

__all__ = ["FormField", "fields_of", "tests_of"]


def fields_of(
    model: TreeModel, nodes: Sequence[int], values: Mapping[str, Any] | None
) -> list[FormField]:
    """One field for each attribute that the nodes ask, in the order in which they first do."""
    given = dict(values or {})
    refuse_unnamed(given, model.schema.names, "tree")
    asked: dict[int, set[int]] = {}
    for t in nodes:
        known = asked.setdefault(int(model.attribute[t]), set())
        known.update(node_values(model, t)[0].tolist())
    return [_field(model, j, known, given) for j, known in asked.items()]


def tests_of(model: TreeModel, nodes: Sequence[int], fields: Sequence[FormField]) -> list[Test]:
    """For each node [field, threshold, heavier] or [field, places by branch, heavier].

    Where the fit had missing values, the branch that one takes and its mark follow. The threshold
    is None where every number is below it. A node that is not asked, since it is a leaf or nothing
    below it is drawn, has None.
    """
    place = {field.attribute: f for f, field in enumerate(fields)}
    at = [{code: v for v, code in enumerate(field.codes)} for field in fields]
    with_missing = met_missing(model)
    tests: list[Test] = []
    for t in nodes:
        if t < 0 or model.kind[t] == LEAF:
            tests.append(None)
            continue
        f = place[int(model.attribute[t])]
        missing = [missing_branch(model, t), missing_mark(model, t)] if with_missing else []
        tests.append([f, _asked(model, t, at[f]), int(model.heavier[t]), *missing])
    return tests


def _asked(model: TreeModel, t: int, places: Mapping[int, int]) -> float | list[list[int]] | None:
    if model.kind[t] == CUT:
        v = float(model.threshold[t])
        return v if math.isfinite(v) else None
    branches: list[list[int]] = [[] for _ in range(model.child_start[t], model.child_start[t + 1])]
    for code, b in zip(*(part.tolist() for part in node_values(model, t)), strict=True):
        branches[b].append(places[code])
    return branches


def _field(model: TreeModel, j: int, known: set[int], given: Mapping[str, Any]) -> FormField:
    column = model.schema.columns[j]
    value = given.get(column.name)
    if column.is_number:
        ends = None if model.ranges is None else model.ranges[j]
        return number_field(column, j, value, range_hint(column, ends))
    # of an ordered category that is cut, every value has its rank
    codes = range(len(column.values)) if model.column_kinds[j] == CUT else sorted(known)
    return category_field(column, j, codes, value)


# The nested trees of cost-complexity pruning in a drawn tree: stops of a slider, and a curve.

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
    cp: str
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

    def __init__(self, model: TreeModel, path: CostComplexityPath) -> None:
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
            number_text(path.cp[i]) if i == at else "",
            _short(path.error[at]),
            _short(path.cv_error[at]) if validated and path.cv_error else "",
            _short(path.cv_deviation[at]) if validated and path.cv_deviation else "",
            "; ".join(self._marks(i)),
        )

    def _marks(self, i: int) -> Iterator[str]:
        path = self.path
        if path.cv_error is not None and i == path.choose("min"):
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
            "short": ["" if item.leaf else short for item, (_, short) in pairs],
            "label": {item.label: label for item, (label, _) in pairs},
            "hidden": {i: self._hidden(item.node) for i, item in enumerate(items) if item.cut},
            "at": [[x, y] for x, y in self._points(self._heights())],
        }

    def _hidden(self, node: int) -> list[list[int]]:
        model = self.model
        below = np.arange(node, model.ends()[node])
        tests = below[model.kind[below] != LEAF]
        more = np.diff(model.child_start)[tests] - 1
        opened: Counter[int] = Counter()
        for place, n in zip(self.places[tests].tolist(), more.tolist(), strict=True):
            opened[place] += n
        return [[place, n] for place, n in sorted(opened.items())]

    # --- The curve: errors by size, with a mark that the script moves

    def curve(self, name: str) -> str:
        """Errors of all stops as SVG, in the colors of the page around it."""
        size = {"width": str(_WIDE), "height": str(_HIGH), "viewBox": f"0 0 {_WIDE} {_HIGH}"}
        svg = Element("svg", {"class": "curve", "role": "img", **size})
        svg.set("aria-labelledby", f"{name}-curve")
        add(svg, "title", self._alternative(), id=f"{name}-curve")
        self._draw_axes(svg)
        own = self._points(self._own_errors())
        _draw_line(svg, own, color(1), "square", dashes="2 2")
        if self.path.cv_error is not None:
            self._draw_deviations(svg)
            _draw_line(svg, self._points(self.path.cv_error), color(0), "circle")
        if self.path.chosen is not None:
            x, y = self._points(self._heights())[self.path.chosen]
            add(svg, "circle", class_="chosen", cx=x, cy=y, r=6)
        x, y = self._points(self._heights())[-1]
        now = add(svg, "g", data_part="now", transform=f"translate({x:g} {y:g})")
        add(now, "path", class_="now", d="M0 -8L8 0L0 8L-8 0Z")
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
        add(svg, "path", d=axes, fill="none", stroke=GRAY)
        top = self._points([1.0])[0][1] if self._most() >= 1 else None
        marks = [("0", bottom)] + ([("1", top)] if top is not None else [])
        for text, y in marks:
            add(svg, "text", text, class_="fact", x=_LEFT - 6, y=y + 4, text_anchor="end")
        ends = [(_LEFT, "start", self.stops[0]), (right, "end", self.stops[-1])]
        for x, anchor, stop in ends[: len(self.stops)]:
            add(svg, "text", stop.leaves, class_="fact", x=x, y=_HIGH - 6, text_anchor=anchor)

    def _draw_deviations(self, svg: Element) -> None:
        errors, around = self.path.cv_error or (), self.path.cv_deviation or ()
        pairs = list(zip(errors, around, strict=True))
        above = self._points([error + deviation for error, deviation in pairs])
        under = self._points([max(error - deviation, 0) for error, deviation in pairs])
        corners = "L".join(f"{x} {y}" for x, y in [*above, *under[::-1]])
        add(svg, "path", d=f"M{corners}Z", fill=color(0), stroke=color(0), class_="band")


def _draw_line(svg: Element, points: list[Point], ink: str, shape: str, dashes: str = "") -> None:
    line = {"d": "M" + "L".join(f"{x} {y}" for x, y in points), "fill": "none", "stroke": ink}
    add(svg, "path", **line, stroke_width=1.5, stroke_dasharray=dashes or "none")
    for x, y in points if len(points) <= _MOST_MARKED else ():
        if shape == "circle":
            add(svg, "circle", cx=x, cy=y, r=2.6, fill=ink)
        else:
            place = {"x": round(x - 2.3, 1), "y": round(y - 2.3, 1)}
            add(svg, "rect", **place, width=4.6, height=4.6, fill=ink)


def _short(error: float) -> str:
    return number_text(round(error, 4))


def _need_own(model: TreeModel, path: CostComplexityPath) -> None:
    """Refuse the path of another tree, such as that of this one before it was pruned."""
    own = complexity_path(model)
    if (own.cp, own.n_leaves) != (path.cp, path.n_leaves):
        raise ParameterError(
            f"complexity is of {counted(len(path), 'tree')} up to "
            f"{counted(path.n_leaves[-1], 'leaf', 'leaves')}; this tree "
            f"has {len(own)} up to {own.n_leaves[-1]}: give cost_complexity_path(X, y) of the "
            "fitted tree."
        )


SCRIPTS: Final = ("cells.js", "tree.js")

# A number for each piece of HTML: where one is hidden, its twin would lack what it defines.
_SHOWN: Final = count()

# At first the tree is folded so far that it has no more ends than this.
_ENDS_AT_FIRST: Final = 20


def tree_part(
    model: TreeModel,
    *,
    name: str = "tree",
    title: str = "Decision tree",
    max_leaves: int | None = 200,
    complexity: CostComplexityPath | None = None,
    text: str = "",
    with_form: bool = True,
    follows: str = "",
) -> PagePart:
    """The tree as a part of a page, which has `tree_style()` once and starts `showTree`.

    `complexity`, what `cost_complexity_path(X, y)` of the fitted tree says, gives it a slider that
    prunes what is drawn. `text` is the tree in words. With a form one types a row in and sees its
    path; `follows` names the part of the page whose decisions are lit (its own name by default).
    """
    view = _View(model, max_leaves, None, complexity, with_form=with_form)
    return view.part(name, title, text, follows or name)


def html_of(
    model: TreeModel,
    *,
    title: str = "Decision tree",
    max_leaves: int | None = 200,
    values: Mapping[str, Any] | None = None,
    text: str = "",
) -> str:
    """A piece of HTML for a notebook or a page.

    `values` are what stands in the form at first, by the names of attributes; `text` is the tree
    in words.
    """
    view = _View(model, max_leaves, values)
    at_first = [field.value for field in view.fields]
    told = digest(view.whole, title, text, max_leaves, at_first)
    name = f"tree-{told}n{next(_SHOWN)}"
    part = view.part(name, title, text, name)
    return (
        environment("sortal.browser", "static")
        .get_template("tree_cell.html.jinja")
        .render(
            part=part,
            html=Markup(part.html),  # noqa: S704  (escaped when made)
            style=Markup(tree_style()),  # noqa: S704  (the package's own file)
            script=Markup(tree_script()),  # noqa: S704
        )
    )


def tree_style() -> str:
    """What a page with trees has in its style, once."""
    return svg_rules(".sortal-tree svg") + "\n" + read_static("tree.css")


@cache
def tree_script() -> str:
    """The function `showTree(root, data)`, without what is there for its readers alone."""
    return join_files(SCRIPTS)


class _View:
    """A tree with what is drawn of it, what is open at first, and the fields of its form."""

    def __init__(
        self,
        model: TreeModel,
        max_leaves: int | None,
        values: Mapping[str, Any] | None,
        complexity: CostComplexityPath | None = None,
        *,
        with_form: bool = True,
    ) -> None:
        self.model, self.values = model, values
        self.nested = None if complexity is None else NestedTrees(model, complexity)
        drawn = sketch(model, None, max_leaves, "auto")
        self.drawn = self.nested.widen(drawn) if self.nested else drawn
        self.whole = arrange(self.drawn)
        self.closed = _closed_at_first(self.drawn)
        items = self.drawn.items
        asking = [item.node for item in items if not item.leaf and not item.cut]
        self.fields = fields_of(model, asking if with_form else [], values)

    def part(self, name: str, title: str, text: str, follows: str) -> PagePart:
        """The element and its data, under names that are its own in a page."""
        first = arrange(self.drawn, self.closed)
        html = (
            environment("sortal.browser", "static")
            .get_template("tree.html.jinja")
            .render(
                name=name,
                title=title,
                note=self._note(),
                svg=Markup(inline_svg(first, self.whole, name, title)),  # noqa: S704  (escaped when made)
                nested=self.nested,
                curve=Markup(self.nested.curve(name) if self.nested else ""),  # noqa: S704
                colors={"cv": color(0), "own": color(1)},
                marks=_marks(self.whole, name),
                more_classes=self.whole.more_classes,
                fields=self.fields,
                values=self.values,
                missing=met_missing(self.model),
                text=text,
            )
        )
        # a row may be given that is all missing values
        given = bool(self.values) and met_missing(self.model)
        data = _data(self.model, self.drawn, self.fields, name)
        data |= {"model": follows, "closed": sorted(self.closed), "given": given}
        data["spreads"] = self.model.policy == "fractional"
        if self.nested:
            data |= {"nested": self.nested.data(self.drawn), "few": _ENDS_AT_FIRST}
        return PagePart(name, "tree", html, data)

    def _note(self) -> str:
        left_out = self.whole.left_out()
        return left_out and f"{left_out}; all of them: to_html(max_leaves=None)"


def _closed_at_first(drawn: Sketch) -> set[int]:
    """Nodes that ask, from the depth on at which few ends are left."""
    is_end = [item.leaf or item.cut for item in drawn.items]
    depths = [item.depth for item in drawn.items]
    depth = depth_with_ends(depths, is_end, _ENDS_AT_FIRST)
    return {i for i, end in enumerate(is_end) if not end and depths[i] >= depth}


def _data(model: TreeModel, drawn: Sketch, fields: list[FormField], prefix: str) -> dict[str, Any]:
    """What the script knows: facts of items, each as a list over items."""
    items = drawn.items
    told = [told_counts(item.parts) for item in items]
    names = [plain(name) for name in model.schema.names]
    asked = [-1 if item.leaf else int(model.attribute[item.node]) for item in items]
    place = {j: at for at, j in enumerate(sorted({j for j in asked if j >= 0}))}
    nodes = [-1 if item.cut or item.leaf else item.node for item in items]
    shown = {item.label for item in items} | {k for counts in told for k, _ in counts}
    return {
        "look": LOOK | {"pad": PAD, "gray": GRAY},
        "orientation": drawn.orientation,
        "room": drawn.room,
        **_columns(items, "node", "parent", "end", "depth"),
        "leaf": [int(item.leaf) for item in items],
        "cut": [int(item.cut) for item in items],
        **_columns(items, "leaves", "lines"),
        "facts": [item.title.partition("\n")[2] for item in items],
        **_columns(items, "label", "n"),
        "parts": told,
        "rest": [int(len(t) < len(item.parts)) for t, item in zip(told, items, strict=True)],
        "width": [item.width for item in items],
        "labelWidth": [condition_width(item.condition) for item in items],
        **_columns(items, "condition", "sentence"),
        "attribute": [place.get(j, -1) for j in asked],
        "names": [names[j] for j in place],
        "classes": {k: _class(model, k, prefix) for k in sorted(shown)},
        "fields": [{"name": place[field.attribute], "kind": field.kind} for field in fields],
        "tests": tests_of(model, nodes, fields) if fields else [],
    }


def _columns(items: Sequence[Box], *names: str) -> dict[str, list[object]]:
    return {name: [getattr(item, name) for item in items] for name in names}


def _class(model: TreeModel, k: int, prefix: str) -> dict[str, str]:
    name = shorten(plain(model.classes[k]), 300)
    return {"name": name, "color": color(k), "fill": class_fill(k, prefix)}


def _marks(drawing: Drawing, prefix: str) -> list[dict[str, str]]:
    return [
        {
            "label": mark.label,
            "title": mark.title,
            "n": number_text(mark.n),
            "fill": class_fill(mark.k, prefix),
        }
        for mark in drawing.legend
    ]


# --- The nodes of a tree for a page --------------------------------------------------------------

# Of a longer set of values so many are named in a condition, and all counted.
_VALUES_NAMED: Final = 12


def describe_tree(model: TreeModel) -> BrowserModel:
    """Nodes over the columns that they ask, in the order of the table."""
    asked = sorted({int(j) for j in model.attribute[model.kind != LEAF]})
    place = {j: f for f, j in enumerate(asked)}
    numbers = {
        "kind": model.kind.tolist(),
        "attribute": [place.get(j, -1) for j in model.attribute.tolist()],
        "threshold": pack(model.threshold),
        "children": [model.below(t).tolist() for t in range(model.n_nodes)],
        "values": [_values(model, t) for t in range(model.n_nodes)],
        "heavier": model.heavier.tolist(),
        "missing": model.missing.tolist(),
        "policy": model.policy,
        "label": model.labels().tolist(),
        "counts": model.counts().tolist(),
        "unseen": [list(model.unseen[j]) for j in asked],
        "pull": model.pull().tolist() if model.policy == "fractional" else None,
        "shares": _shares(model),
        **_conditions(model),
    }
    ranges = tuple(None if model.ranges is None else model.ranges[j] for j in asked)
    return BrowserModel("tree", model.schema, tuple(asked), ranges, numbers, about=False)


def _values(model: TreeModel, t: int) -> list[list[int]] | None:
    """[code, branch] of each value that the node knows."""
    if model.kind[t] in (LEAF, CUT):
        return None
    return np.stack(node_values(model, t), axis=1).tolist()  # type: ignore[no-any-return]


def _shares(model: TreeModel) -> Any:
    """None where they are counts divided by their sum."""
    plain = model.factors is None and model.smoothing is None
    return None if plain else pack(model.shares())


def _conditions(model: TreeModel) -> dict[str, Any]:
    """What is said of the branch to each node, and of rows that stay where no branch is theirs."""
    paths = Paths(model)
    below = [paths.above(t).text(_VALUES_NAMED) for t in range(1, model.n_nodes)]
    stays = {
        str(t): branch_condition(model, Step(t, -1)).text(_VALUES_NAMED)
        for t in np.flatnonzero(model.kind == MULTIWAY).tolist()
    }
    return {"conditions": ["", *below], "stays": stays}
