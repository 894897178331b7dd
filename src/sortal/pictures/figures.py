"""Figures of matplotlib as elements of a page and as files."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.patches import Patch
from matplotlib.text import Text

from sortal.errors import ParameterError
from sortal.pictures.svg import (
    Marker,
    Stroke,
    as_marker,
    is_shorter_once,
    moved,
    read_path,
    rounded,
    short,
    style_of,
    text_attributes,
    thinned,
    write_marker,
    write_path,
    write_places,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from sortal._typing import Float, Places


# --- The SVG that matplotlib writes, as one short element that can stand among others in a page --

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")

_LINK: Final = "{http://www.w3.org/1999/xlink}href"

_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")

# A vertex that lies so close to the line between its neighbors, in units of the picture, is not
# missed; in a picture that would be long otherwise, a little is.
_FINE, _COARSE, _LONG = 0.15, 0.6, 150_000

# How lines look, which many elements share; a group is worth it from so many on.
_LINES: Final = ("stroke", "stroke-opacity", "stroke-width", "stroke-linecap", "fill-opacity")

_GROUP: Final = 2

# A hatch of one or two strokes repeats itself after this part of matplotlib's tile.
_TILE: Final = 24

# Commands of a circle: a start, eight curves, the end.
_CIRCLE: Final = 10


@dataclass
class _PaintedElement:
    """A path or a text with its attributes, in the order in which it is painted."""

    tag: str
    style: dict[str, str]
    path: list[Stroke] = field(default_factory=list)
    children: list[ET.Element] = field(default_factory=list)
    text: str = ""


def cleaned(svg: str, name: str, alt: str, scale: float) -> str:
    """One element with a role and words for those who do not see it."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"name={name!r} cannot be used: give small letters, digits and hyphens, a letter first."
        )
    root = ET.fromstring(svg)  # noqa: S314  (matplotlib wrote it)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return _Cleaning(root, name, _FINE if len(svg) < _LONG else _COARSE).page(alt, scale)


class _Cleaning:
    """Elements in the order in which they are painted, in as few as look the same."""

    def __init__(self, root: ET.Element, name: str, tolerance: float) -> None:
        self._root, self._name, self._tolerance = root, name, tolerance
        self._by_id = {e.get("id", ""): e for e in root.iter() if e.get("id")}
        self._ids: dict[str, str] = {}
        self._markers: list[ET.Element] = []

    def page(self, alt: str, scale: float) -> str:
        """The whole element."""
        width, height = (float(x) for x in self._root.get("viewBox", "").split()[2:])
        attributes = {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "figure",
            "role": "img",
            "aria-label": alt,
            "viewBox": f"0 0 {short(width)} {short(height)}",
            "width": short(width * scale, 0),
            "height": short(height * scale, 0),
            "fill": "currentColor",
            "stroke-linejoin": "round",
            "font-size": "10",
        }
        svg = ET.Element("svg", attributes)
        drawn = self._drawn(self._root, {}, frozenset())
        body = self._body(drawn)
        defs = [self._defined(old, new) for old, new in self._ids.items()]
        defs += _grouped(self._markers, _LINES)
        if defs:
            ET.SubElement(svg, "defs").extend(defs)
        svg.extend(body)
        return ET.tostring(svg, encoding="unicode")

    def _body(self, drawn: Iterable[_PaintedElement]) -> list[ET.Element]:
        body = list(_grouped(self._merged(drawn), ("clip-path",)))
        for element in body:
            if element.tag == "g":
                members = list(element)
                element[:] = list(_grouped(members, _LINES))
        return list(_grouped(body, _LINES))

    def _drawn(
        self, parent: ET.Element, inherited: dict[str, str], words: frozenset[str]
    ) -> Iterator[_PaintedElement]:
        """What is painted; `words` are those of the gids around it."""
        for element in parent:
            own = inherited | self._clip(element)
            told = words | frozenset(element.get("id", "").split())
            if element.tag == "g":
                yield from self._drawn(element, own, told)
            elif element.tag == "path":
                path = read_path(element.get("d", ""))
                yield _PaintedElement("path", own | self._style(element, told), path)
            elif element.tag == "use":
                yield self._used(element, own, told)
            elif element.tag == "text":
                attributes = own | text_attributes(element, told)
                text = element.text or ""
                yield _PaintedElement("text", attributes, children=list(element), text=text)
            elif element.tag not in ("defs", "metadata"):
                raise ParameterError(
                    f"The figure has an element {element.tag!r}, which a page cannot hold: draw "
                    "shapes and words, such as by pcolormesh instead of imshow."
                )

    def _style(self, element: ET.Element, words: frozenset[str]) -> dict[str, str]:
        return {name: self._renamed(value) for name, value in style_of(element, words).items()}

    def _clip(self, element: ET.Element) -> dict[str, str]:
        given = element.get("clip-path")
        return {"clip-path": self._renamed(given)} if given else {}

    def _renamed(self, value: str) -> str:
        """References to what is defined, by names of this picture."""

        def new(found: re.Match[str]) -> str:
            name = self._ids.setdefault(found[1], f"{self._name}-{len(self._ids) + 1}")
            return f"url(#{name})"

        return _REFERENCE.sub(new, value)

    def _used(self, use: ET.Element, own: dict[str, str], words: frozenset[str]) -> _PaintedElement:
        """A marker where it is used."""
        marker = self._by_id[use.get(_LINK, "").lstrip("#")]
        x, y = float(use.get("x", "0")), float(use.get("y", "0"))
        style = own | self._style(marker, words) | self._style(use, words)
        return _PaintedElement("path", style, moved(read_path(marker.get("d", "")), x, y))

    def _merged(self, drawn: Iterable[_PaintedElement]) -> Iterator[ET.Element]:
        """Paths in a row that look the same, as one."""
        for (tag, _), group in groupby(drawn, key=lambda one: (one.tag, _look(one))):
            if tag == "text":
                yield from (_text(one) for one in group)
                continue
            seen = [one for one in group if one.path and _is_seen(one)]
            if seen:
                yield from self._paths([one.path for one in seen], seen[0].style)

    def _paths(self, paths: list[list[Stroke]], style: dict[str, str]) -> Iterator[ET.Element]:
        """One path, and for each shape that occurs often, one of its places."""
        shapes: dict[str, list[Marker]] = {}
        rest = []
        for path in paths:
            marker = as_marker(path)
            if marker is None:
                rest.append(path)
            else:
                shapes.setdefault(marker.shape, []).append(marker)
        many = {shape: own for shape, own in shapes.items() if is_shorter_once(own)}
        few = [one for shape, own in shapes.items() if shape not in many for one in own]
        d = _written(rest, self._tolerance) + "".join(write_marker(one) for one in few)
        if d:
            yield ET.Element("path", {**style, "d": d})
        for shape, own in many.items():
            yield self._places(shape, own, style)

    def _places(self, shape: str, markers: list[Marker], style: dict[str, str]) -> ET.Element:
        """A path that is not seen, with a marker at each vertex."""
        look = dict(style)
        clip = look.pop("clip-path", None)
        name = f"{self._name}-m{len(self._markers) + 1}"
        own = {"id": name, "overflow": "visible", "markerUnits": "userSpaceOnUse"}
        made = ET.Element("marker", own | look)
        ET.SubElement(made, "path", {"d": shape})
        self._markers.append(made)
        attributes = {"clip-path": clip} if clip else {}
        attributes |= {"fill": "none", "style": f"marker:url(#{name})", "d": write_places(markers)}
        return ET.Element("path", attributes)

    def _defined(self, old: str, new: str) -> ET.Element:
        """A clip path or a hatch."""
        element = self._by_id[old]
        element.set("id", new)
        for part in element.iter():
            if part.tag == "path":
                pieces = [one for one in _pieces(read_path(part.get("d", ""))) if _in_tile(one)]
                part.attrib = {
                    **style_of(part, frozenset()),
                    "d": _written(pieces, self._tolerance),
                }
            else:
                part.attrib = {name: rounded(value) for name, value in part.attrib.items()}
            if element.tag == "pattern" and part.tag != "path":
                part.attrib |= {"width": str(_TILE), "height": str(_TILE)}
            part.text = part.tail = None
        return element


def _look(one: _PaintedElement) -> object:
    return sorted(one.style.items()) if one.tag == "path" else None


def _is_seen(one: _PaintedElement) -> bool:
    return one.style.get("fill") != "none" or one.style.get("stroke", "none") != "none"


def _pieces(path: list[Stroke]) -> list[list[Stroke]]:
    """A path, parted where it starts anew."""
    found: list[list[Stroke]] = []
    for stroke in path:
        if stroke.command == "M" or not found:
            found.append([])
        found[-1].append(stroke)
    return found


def _in_tile(piece: list[Stroke]) -> bool:
    """Whether a stroke of a hatch, or a dot, is seen in the part that is repeated."""
    ends = np.vstack([stroke.points for stroke in piece if len(stroke.points)])
    share = np.linspace(0, 1, 145)[:, None]
    places = np.vstack([ends, ends[0] + share * (ends[-1] - ends[0])])
    return bool(((places >= -1) & (places <= _TILE + 1)).all(axis=1).any())


def _written(paths: list[list[Stroke]], tolerance: float) -> str:
    """Paths one after the other; circles are written shorter."""
    told = []
    for path in paths:
        marker = as_marker(path) if len(path) == _CIRCLE else None
        told.append(
            write_path(thinned(path, tolerance)) if marker is None else write_marker(marker)
        )
    return "".join(told)


def _grouped(elements: Iterable[ET.Element], names: tuple[str, ...]) -> Iterator[ET.Element]:
    """Elements in a row that share attributes, in a group that has them instead."""
    for shared, group in groupby(elements, key=lambda one: [one.get(name) for name in names]):
        members = list(group)
        told = {name: value for name, value in zip(names, shared, strict=True) if value}
        if not told or len(members) < _GROUP:
            yield from members
            continue
        for element in members:
            for name in told:
                del element.attrib[name]
        together = ET.Element("g", told)
        together.extend(members)
        yield together


def _text(one: _PaintedElement) -> ET.Element:
    element = ET.Element("text", one.style)
    element.extend(one.children)
    element.text = one.text or None
    return element


# A point of a figure in pixels of a page.
_PIXELS = 4 / 3

# Inches around what is drawn.
_MARGIN = 0.04


def svg_of(figure: Figure, name: str, alt: str) -> str:
    """One svg element without identifiers that another one has: those it needs begin with `name`.

    Letters are text in the font of the page. Black, grays and white are the page's own colors, so
    that it may be light or dark (`--paper`, or else Canvas, is its background); what an artist with
    the gid "fixed" draws keeps its colors.
    """
    target = io.StringIO()
    with (
        mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sortal"}),
        quiet(),
        _for_page(figure),
    ):
        if has_layout(figure):
            figure.draw_without_rendering()
        # nearly what "tight" does, without drawing all a second time
        box = figure.get_tightbbox().padded(_MARGIN)
        figure.savefig(
            target,
            format="svg",
            bbox_inches=box,
            facecolor="none",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    with quiet():
        return cleaned(target.getvalue(), name, alt, _PIXELS)


def has_layout(figure: Figure) -> bool:
    """Whether the places of axes are sought anew each time the figure is drawn."""
    engine = figure.get_layout_engine()
    return engine is not None and not isinstance(engine, PlaceHolderLayoutEngine)


def png_of(figure: Figure) -> bytes:
    """The bytes of a PNG file, on white; nothing in it says when or by what it was made."""
    target = io.BytesIO()
    with quiet():
        figure.savefig(
            target,
            format="png",
            dpi=150,
            bbox_inches="tight",
            facecolor="white",
            metadata={"Software": None},
        )
    return target.getvalue()


@contextmanager
def quiet() -> Iterator[None]:
    """Letters that the measuring font lacks are no news: the page has other fonts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


@contextmanager
def _for_page(figure: Figure) -> Iterator[None]:
    """What a page has in another way is taken off the figure meanwhile.

    Texts say in their gid what matplotlib would lose: how lines are aligned, and a rim (with a path
    effect, letters would be written as outlines). Axes have no white ground of their own. Hatches
    have two strokes instead of many: six times as dense, they are 36 times as long.
    """
    with ExitStack() as undo:
        for text in figure.findobj(Text):
            effects, gid = text.get_path_effects(), text.get_gid()
            undo.callback(text.set, path_effects=effects, gid=gid)
            align = f"align-{text.get_horizontalalignment()}" if "\n" in text.get_text() else ""
            words = filter(None, [gid, align, "rim" if effects else ""])
            text.set(path_effects=[], gid=" ".join(words) or None)
        for ax in figure.axes:
            if ax.patch.get_visible() and to_rgba(ax.get_facecolor())[:3] == (1.0, 1.0, 1.0):
                undo.callback(ax.patch.set, visible=True)
                ax.patch.set_visible(False)
        for patch in figure.findobj(Patch):
            hatch = patch.get_hatch() or ""
            if len(hatch) > 2:
                undo.callback(patch.set_hatch, hatch)
                patch.set_hatch(hatch[:2])
        yield


# --- Points on a coarse grid: where rows lie, without showing any single one of them -------------

CELLS: Final = 40

# Areas of markers, in square points: of the fullest cell, and the least that is still seen.
_MOST: Final = 70.0

_LEAST: Final = 7.0

# Markers of all classes together have about so many sizes.
_SIZES: Final = 24

# Markers of several classes stand around the middle of their cell, so many cells away from it.
_APART: Final = 0.2


def coarsen(figure: Figure) -> Figure:
    """Points become markers in a grid of 40 × 40 cells of their axes, in place.

    A cell has one marker a class, at its middle or a little beside it; the area of a marker grows
    with the number of rows.
    """
    if has_layout(figure):  # limits depend on it where axes have one unit
        figure.draw_without_rendering()
    for ax in figure.axes:
        _coarsen_axes(ax)
    return figure


def _coarsen_axes(ax: Axes) -> None:
    ax.apply_aspect()
    limits = ax.get_xlim(), ax.get_ylim()
    clouds = [c for c in ax.collections if isinstance(c, PathCollection) and len(_places(c))]
    found = [_cells(ax, cloud) for cloud in clouds]
    fullest = max((int(counts.max()) for _, counts in found), default=1)
    for k, (cloud, (cells, counts)) in enumerate(zip(clouds, found, strict=True)):
        middle = (cells + 0.5 + _beside(k, len(clouds))) / CELLS
        cloud.set_offsets(ax.transData.inverted().transform(ax.transAxes.transform(middle)))
        cloud.set_sizes(_areas(counts / fullest, len(clouds)))
    ax.set_aspect("auto")  # the limits are such that both axes have their unit already
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])


def _places(cloud: PathCollection) -> Float:
    return np.asarray(cloud.get_offsets(), dtype=np.float64)


def _cells(ax: Axes, cloud: PathCollection) -> tuple[NDArray[Any], Places]:
    """The cells in which rows lie, and how many."""
    on_page = cloud.get_offset_transform().transform(_places(cloud))
    shares = ax.transAxes.inverted().transform(on_page)
    cells = np.clip(np.floor(shares * CELLS), 0, CELLS - 1)
    found, counts = np.unique(cells, axis=0, return_counts=True)
    return found, counts


def _areas(shares: Float, n_classes: int) -> Float:
    """Areas in a few steps: markers of one size are written together."""
    n = max(_SIZES // n_classes, 3)
    steps = np.ceil(shares * n) / n
    return np.maximum(_MOST * steps, _LEAST)


def _beside(k: int, n: int) -> Float:
    """Where in a cell the marker of one of n classes stands."""
    if n == 1:
        return np.zeros(2)
    angle = 2 * np.pi * (k / n + 0.125)
    return _APART * np.array([np.cos(angle), np.sin(angle)])
