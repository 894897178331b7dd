"""A drawing of a tree as SVG: words that can be selected, no scripts, nothing from elsewhere."""

from __future__ import annotations

import re
from hashlib import blake2s
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, tostring

from sortal.decision.options import choose
from sortal.errors import counted
from sortal.plotting.axes import color
from sortal.records.render import number_text
from sortal.trees.drawing.boxes import LETTERS, PAD, SMALL, TINY, pattern, text_width
from sortal.trees.drawing.layout import LOOK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sortal.trees.drawing.boxes import Box, ClassMark
    from sortal.trees.drawing.layout import Drawing, Edge

# What XML cannot hold.
_ILLEGAL: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# A bar shows so many classes, the heaviest; the rest is one gray part.
_MOST_PARTS: Final = 24

# Lines that are seen on light and on dark ground.
GRAY: Final = "#878d96"

_FONT: Final = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'

_GROUNDS: Final = {
    "light": "color:#1f2328;background:#fff",
    "dark": "color:#e6e8eb;background:#181b20",
}

_RULES: Final = {
    "": f"font:{LETTERS}px {_FONT}",
    "text": "fill:currentColor;white-space:pre",
    ".fact,.more,.label": f"font-size:{SMALL}px",
    ".leaf .name": "font-weight:700",
    ".more": "font-style:italic",
    ".number": f"font-size:{TINY}px;text-anchor:end;opacity:.7",
    ".down .label": "text-anchor:middle",
    ".frame": "fill-opacity:.05",
    ".leaf .frame": "fill-opacity:.14;stroke-width:1.75",
    ".stack,.edge path": f"fill:none;stroke:{GRAY}",
    ".lit .frame,.lit .stack,.lit path": "stroke:currentColor;stroke-width:3.5",
}

# Strokes over a class color, within a tile of 6 by 6.
_STROKES: Final = {
    "stripes": "M-1 1L1 -1M0 6L6 0M5 7L7 5",
    "dots": "M1.5 1.5h.01M4.5 4.5h.01",
    "lines": "M0 1.5H6M0 4.5H6",
    "grid": "M0 3H6M3 0V6",
    "crosses": "M0 0L6 6M0 6L6 0",
}

_WIDER: Final = {"dots": "2", "stripes": "1.6"}


def svg_of(
    drawing: Drawing,
    *,
    theme: str = "auto",
    title: str = "Decision tree",
    description: str = "",
    highlight: Collection[int] = (),
) -> str:
    """The drawing as a document of its own; the nodes of `highlight` are drawn with thick lines.

    `description` is what it says to those who do not see it. The theme "auto" is light or dark as
    the reader's system is.
    """
    choose("theme", theme, ("auto", "light", "dark"))
    prefix = f"tree-{digest(drawing, theme, title, description, sorted(highlight))}"
    legend = _Legend(drawing)
    size = max(drawing.width, legend.width), drawing.height + legend.height
    svg = svg_root(prefix, size, title, description)
    add(svg, "style", svg_rules(f"#{prefix}") + _themes(prefix, theme))
    svg.append(pattern_tiles(drawing, prefix))
    svg.append(legend.element(prefix))
    tree = tree_group(drawing, prefix, highlight)
    tree.set("transform", f"translate(0 {legend.height})")
    svg.append(tree)
    return tostring(svg, encoding="unicode")


def inline_svg(drawing: Drawing, whole: Drawing, prefix: str, title: str) -> str:
    """The tree alone, in the colors of the page around it; `whole` is the tree unfolded.

    The page's style has `svg_rules`.
    """
    svg = svg_root(f"{prefix}-drawn", (drawing.width, drawing.height), title, "")
    svg.append(pattern_tiles(whole, prefix))
    svg.append(tree_group(drawing, prefix, ()))
    return tostring(svg, encoding="unicode")


def svg_root(prefix: str, size: tuple[int, int], title: str, description: str) -> Element:
    """An empty picture with its words."""
    width, height = map(str, size)
    attributes = {"id": prefix, "width": width, "height": height, "role": "img"}
    attributes["xmlns"] = "http://www.w3.org/2000/svg"
    attributes["viewBox"] = f"0 0 {width} {height}"
    attributes["aria-labelledby"] = f"{prefix}-title" + (f" {prefix}-text" if description else "")
    svg = Element("svg", attributes)
    add(svg, "title", _legal(title), id=f"{prefix}-title")
    if description:
        add(svg, "desc", _legal(description), id=f"{prefix}-text")
    return svg


def tree_group(drawing: Drawing, prefix: str, highlight: Collection[int]) -> Element:
    """Edges below, boxes above them."""
    bright = frozenset(highlight)
    tree = Element("g", {"class": f"tree {drawing.orientation}"})
    edges = add(tree, "g", class_="edges")
    on_path = [{edge.parent, edge.child} <= bright for edge in drawing.edges]
    # lit edges come last, so that no other lies upon them
    for is_lit, edge in sorted(zip(on_path, drawing.edges, strict=True), key=itemgetter(0)):
        _draw_edge(edges, edge, is_lit=is_lit)
    boxes = add(tree, "g", class_="boxes")
    for box in drawing.boxes:
        _draw_box(boxes, box, prefix, is_lit=box.node in bright)
    return tree


def pattern_tiles(drawing: Drawing, prefix: str) -> Element:
    """A tile for each class that is shown by more than its color."""
    classes = {mark.k for mark in drawing.legend} | {box.label for box in drawing.boxes}
    classes |= {k for box in drawing.boxes for k, _, _ in bar_parts(box) if k is not None}
    tiles = Element("defs")
    for k in sorted(classes):
        if pattern(k) != "plain":
            tiles.append(_tile(k, prefix))
    return tiles


def class_fill(k: int | None, prefix: str) -> str:
    """What a class is filled with; None stands for several."""
    if k is None:
        return GRAY
    return color(k) if pattern(k) == "plain" else f"url(#{prefix}-{k})"


def bar_parts(box: Box) -> Iterator[tuple[int | None, float, float]]:
    """The bar of a box: classes and where each begins and ends, in tenths of a pixel."""
    told = told_counts(box.parts)
    room = box.width - 2 * PAD
    ends = [
        int(total / box.n * room * 10 + 0.5) / 10
        for total in accumulate(count for _, count in told)
    ]
    start = 0.0
    for (k, _), end in zip(told, ends, strict=True):
        yield k, start, end
        start = end
    if len(told) < len(box.parts):
        yield None, start, room


def told_counts(counts: tuple[tuple[int, float], ...]) -> list[tuple[int, float]]:
    """The heaviest classes, in the order of classes."""
    if len(counts) <= _MOST_PARTS:
        return list(counts)
    return sorted(sorted(counts, key=lambda pair: -pair[1])[:_MOST_PARTS])


def _draw_edge(edges: Element, edge: Edge, *, is_lit: bool) -> None:
    group = add(edges, "g", class_="edge lit" if is_lit else "edge")
    add(group, "title", edge.title)
    start, *corners = edge.path
    line = "".join(f"L{x} {y}" for x, y in corners)
    add(group, "path", d=f"M{start[0]} {start[1]}{line}")
    x, y = edge.at
    add(group, "text", edge.label, class_="label", x=x, y=y)


def _draw_box(boxes: Element, box: Box, prefix: str, *, is_lit: bool) -> None:
    words = ["box", *["leaf"] * box.leaf, *["lit"] * is_lit]
    at = f"translate({box.x} {box.y})"
    group = add(boxes, "g", class_=" ".join(words), transform=at, data_node=box.node)
    add(group, "title", box.title)
    if box.more:
        add(group, "path", class_="stack", d=_stack(box.width, box.height))
    fill, stroke = [color(box.label)] * 2 if box.leaf else ("currentColor", GRAY)
    size = {"width": box.width, "height": box.height, "rx": 6}
    add(group, "rect", class_="frame", **size, fill=fill, stroke=stroke)
    for row, (line, name) in enumerate(zip(box.lines, ("name", "fact", "more"), strict=False)):
        y = 17 + 15 * row - row // 2
        add(group, "text", line, class_=name, x=PAD, y=y)
    add(group, "text", str(box.node), class_="number", x=box.width - PAD, y=16)
    for k, start, end in bar_parts(box):
        if end > start:
            x, width, fill = _number(PAD + start), _number(end - start), class_fill(k, prefix)
            add(group, "rect", x=x, y=box.height - 12, width=width, height=6, fill=fill)


def _stack(width: int, height: int) -> str:
    """A second edge to the right and below: there is more behind this box."""
    return f"M6 {height + 4}H{width - 2}Q{width + 4} {height + 4} {width + 4} {height - 2}V6"


def _tile(k: int, prefix: str) -> Element:
    """A class color with strokes over it, dark on light colors and light on dark ones."""
    size = {"width": "6", "height": "6"}
    tile = Element("pattern", {"id": f"{prefix}-{k}", "patternUnits": "userSpaceOnUse", **size})
    add(tile, "rect", **size, fill=color(k))
    red, green, blue = (int(color(k)[at : at + 2], 16) for at in (1, 3, 5))
    over = "#000" if 3 * red + 6 * green + blue > 1400 else "#fff"
    stroke = {"stroke": over, "stroke_width": _WIDER.get(pattern(k), "1")}
    add(tile, "path", d=_STROKES[pattern(k)], **stroke, stroke_linecap="round")
    return tile


class _Legend:
    """Classes in rows above the tree."""

    def __init__(self, drawing: Drawing) -> None:
        words = [f"{mark.label} ({number_text(mark.n)})" for mark in drawing.legend]
        notes = (
            [counted(drawing.more_classes, "more class", "more classes")]
            if drawing.more_classes
            else []
        )
        notes += [note] if (note := drawing.left_out()) else []
        self.entries: list[tuple[str, ClassMark | None]] = list(
            zip(words, drawing.legend, strict=True)
        )
        self.entries += [(note, None) for note in notes]
        margin, row, room = LOOK["margin"], 20, max(drawing.width, 480)
        self.places: list[tuple[int, int]] = []
        x, y, self.width = margin, margin, 0
        for word, mark in self.entries:
            wide = text_width(word, LETTERS) + (18 if mark else 0)
            if x > margin and x + wide > room - margin:
                x, y = margin, y + row
            self.places.append((x, y))
            self.width = max(self.width, x + wide + margin)
            x += wide + 12
        self.height = y + row + margin

    def element(self, prefix: str) -> Element:
        """Samples and names."""
        legend = Element("g", {"class": "legend"})
        for (word, mark), (x, y) in zip(self.entries, self.places, strict=True):
            entry = add(legend, "g", transform=f"translate({x} {y})")
            if mark:
                add(entry, "title", mark.title)
                fill = class_fill(mark.k, prefix)
                add(entry, "rect", width=12, height=12, y=1, rx=2, fill=fill)
            style = {} if mark else {"class_": "more"}
            add(entry, "text", word, x=18 if mark else 0, y=11, **style)
        return legend


def svg_rules(selector: str) -> str:
    """Styles for pictures that the selector finds, and no others in the page."""
    rules = []
    for names, style in _RULES.items():
        where = ",".join(f"{selector} {name}".strip() for name in names.split(","))
        rules.append(f"{where}{{{style}}}")
    return "".join(rules)


def _themes(prefix: str, theme: str) -> str:
    first = f"#{prefix}{{{_GROUNDS['dark' if theme == 'dark' else 'light']}}}"
    if theme != "auto":
        return first
    return f"{first}@media(prefers-color-scheme:dark){{#{prefix}{{{_GROUNDS['dark']}}}}}"


def add(parent: Element, tag: str, text: str = "", /, **given: object) -> Element:
    """An element below another; attributes by names in which _ stands for -, as in `class_`."""
    named = {name.strip("_").replace("_", "-"): str(value) for name, value in given.items()}
    made = SubElement(parent, tag, named)
    made.text = text
    return made


def _number(x: float) -> str:
    """Tenths, without a point where there are none."""
    return f"{x:.1f}".removesuffix(".0")


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)


def digest(drawing: Drawing, *rest: object) -> str:
    """Letters that differ where pictures differ, for names that are unique in a page."""
    hashed = blake2s(repr(rest).encode(errors="backslashreplace"), digest_size=6)
    for box in drawing.boxes:
        hashed.update(f"{box.x} {box.y} {box.title}".encode())
    return hashed.hexdigest()
