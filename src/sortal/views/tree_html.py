"""A tree in a notebook: a drawing that folds, can be searched, and follows a row.

One piece of HTML with its style and script in it. Without the script the drawing stands still.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sortal.models.faces import number_text
from sortal.models.tree_holes import met_holes
from sortal.views.lettering import shorten
from sortal.views.palette import color
from sortal.views.tree_drawing import LOOK, arrange, sketch
from sortal.views.tree_edges import condition_width
from sortal.views.tree_fields import fields_of, tests_of
from sortal.views.tree_lettering import PAD, plain
from sortal.views.tree_sketch import depth_with_ends
from sortal.views.tree_svg import GRAY, class_fill, digest, inline_svg, told_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.models.tree import TreeModel
    from sortal.views.tree_drawing import Drawing
    from sortal.views.tree_fields import Field
    from sortal.views.tree_sketch import Sketch

# A number for each piece of HTML: where one is hidden, its twin would lack what it defines.
_SHOWN: Final = count()

# At first the tree is folded so far that it has no more ends than this.
_ENDS_AT_FIRST: Final = 20


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
    drawn = sketch(model, None, max_leaves, "auto")
    closed = _closed_at_first(drawn)
    whole, first = arrange(drawn), arrange(drawn, closed)
    asking = [item.node for item in drawn.items if not item.is_leaf and not item.is_cut]
    fields = fields_of(model, asking, values)
    told = digest(whole, title, text, max_leaves, [field.value for field in fields])
    prefix = f"tree-{told}n{next(_SHOWN)}"
    # a row may be given that is all holes
    at_first = {"closed": sorted(closed), "given": bool(values) and met_holes(model)}
    return _page().render(
        prefix=prefix,
        title=title,
        note=whole.left_out(),
        style=Markup(_static("tree.css")),  # noqa: S704  (the package's own file)
        script=Markup(_script()),  # noqa: S704
        svg=Markup(inline_svg(first, whole, prefix, title)),  # noqa: S704  (escaped when made)
        marks=_marks(whole, prefix),
        more_classes=whole.more_classes,
        fields=fields,
        values=values,
        holes=met_holes(model),
        text=text,
        data=_data(model, drawn, fields, prefix) | at_first,
    )


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
        "tests": tests_of(model, nodes, fields),
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


@cache
def _page() -> Template:
    loader = PackageLoader("sortal.views", "static")
    page = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    return page.get_template("tree.html.jinja")


@cache
def _static(name: str) -> str:
    return files("sortal.views").joinpath("static", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The script without what is there for its readers: indents, empty lines and comments."""
    lines = (line.strip() for line in _static("tree.js").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
