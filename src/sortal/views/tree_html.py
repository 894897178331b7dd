"""A tree that one can use: a drawing that folds, can be searched, and follows a row.

`tree_part` is a part of a page; `html_of` is one by itself, with its style and script, for a
notebook. Without the script the drawing stands still.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from sortal.models.faces import number_text
from sortal.models.tree_holes import met_holes
from sortal.views.lettering import shorten
from sortal.views.palette import color
from sortal.views.parts import Part
from sortal.views.static_files import environment, joined, read_static
from sortal.views.tree_drawing import LOOK, arrange, sketch
from sortal.views.tree_edges import condition_width
from sortal.views.tree_fields import fields_of, tests_of
from sortal.views.tree_lettering import PAD, plain
from sortal.views.tree_nested import NestedTrees
from sortal.views.tree_sketch import depth_with_ends
from sortal.views.tree_svg import GRAY, class_fill, digest, inline_svg, svg_rules, told_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.models.complexity import Complexity
    from sortal.models.tree import TreeModel
    from sortal.views.tree_drawing import Drawing
    from sortal.views.tree_fields import Field
    from sortal.views.tree_sketch import Sketch

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
    complexity: Complexity | None = None,
    text: str = "",
    with_form: bool = True,
    follows: str = "",
) -> Part:
    """The tree as a part of a page, which has `tree_style()` once and starts `showTree`.

    `complexity`, what `complexity(X, y)` of the fitted tree says, gives it a slider that prunes
    what is drawn. `text` is the tree in words. With a form one types a row in and sees its path;
    `follows` names the part of the page whose decisions are lit (its own name by default).
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
        environment("sortal.views", "static")
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
    return joined(SCRIPTS)


class _View:
    """A tree with what is drawn of it, what is open at first, and the fields of its form."""

    def __init__(
        self,
        model: TreeModel,
        max_leaves: int | None,
        values: Mapping[str, Any] | None,
        complexity: Complexity | None = None,
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
        asking = [item.node for item in items if not item.is_leaf and not item.is_cut]
        self.fields = fields_of(model, asking if with_form else [], values)

    def part(self, name: str, title: str, text: str, follows: str) -> Part:
        """The element and its data, under names that are its own in a page."""
        first = arrange(self.drawn, self.closed)
        html = (
            environment("sortal.views", "static")
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
                holes=met_holes(self.model),
                text=text,
            )
        )
        # a row may be given that is all holes
        given = bool(self.values) and met_holes(self.model)
        data = _data(self.model, self.drawn, self.fields, name)
        data |= {"model": follows, "closed": sorted(self.closed), "given": given}
        data["spreads"] = self.model.policy == "fractional"
        if self.nested:
            data |= {"nested": self.nested.data(self.drawn), "few": _ENDS_AT_FIRST}
        return Part(name, "tree", html, data)

    def _note(self) -> str:
        left_out = self.whole.left_out()
        return left_out and f"{left_out}; all of them: to_html(max_leaves=None)"


def _closed_at_first(drawn: Sketch) -> set[int]:
    """Nodes that ask, from the depth on at which few ends are left."""
    is_end = [item.is_leaf or item.is_cut for item in drawn.items]
    depths = [item.depth for item in drawn.items]
    depth = depth_with_ends(depths, is_end, _ENDS_AT_FIRST)
    return {i for i, end in enumerate(is_end) if not end and depths[i] >= depth}


def _data(model: TreeModel, drawn: Sketch, fields: list[Field], prefix: str) -> dict[str, Any]:
    """What the script knows: facts of items, each as a list over items."""
    items = drawn.items
    told = [told_counts(item.parts) for item in items]
    names = [plain(name) for name in model.schema.names]
    asked = [-1 if item.is_leaf else int(model.attribute[item.node]) for item in items]
    place = {j: at for at, j in enumerate(sorted({j for j in asked if j >= 0}))}
    nodes = [-1 if item.is_cut or item.is_leaf else item.node for item in items]
    shown = {item.label for item in items} | {k for counts in told for k, _ in counts}
    return {
        "look": LOOK | {"pad": PAD, "gray": GRAY},
        "orientation": drawn.orientation,
        "room": drawn.room,
        "node": [item.node for item in items],
        "parent": [item.parent for item in items],
        "end": [item.end for item in items],
        "depth": [item.depth for item in items],
        "leaf": [int(item.is_leaf) for item in items],
        "cut": [int(item.is_cut) for item in items],
        "leaves": [item.leaves for item in items],
        "lines": [item.lines for item in items],
        "facts": [item.title.partition("\n")[2] for item in items],
        "label": [item.label for item in items],
        "n": [item.n for item in items],
        "parts": told,
        "rest": [int(len(t) < len(item.parts)) for t, item in zip(told, items, strict=True)],
        "width": [item.width for item in items],
        "labelWidth": [condition_width(item.condition) for item in items],
        "condition": [item.condition for item in items],
        "sentence": [item.sentence for item in items],
        "attribute": [place.get(j, -1) for j in asked],
        "names": [names[j] for j in place],
        "classes": {k: _class(model, k, prefix) for k in sorted(shown)},
        "fields": [{"name": place[field.attribute], "kind": field.kind} for field in fields],
        "tests": tests_of(model, nodes, fields) if fields else [],
    }


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
