"""The SVG that matplotlib writes, as one short element that can stand among others in a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from sortal.errors import OptionError
from sortal.views.pictures.svg_colors import PAPER, recolored
from sortal.views.pictures.svg_paths import (
    Stroke,
    as_circle,
    circle,
    moved,
    read_path,
    short,
    thinned,
    write_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
_TURN: Final = re.compile(r"rotate\((-?[\d.]+)")
_SHIFT: Final = re.compile(r"translate\((-?[\d.]+) (-?[\d.]+)\)")
_FONT: Final = re.compile(r"(?:(italic|oblique) )?(?:small-caps )?(?:(\d{3}|bold) )?([\d.]+)px ")
_ANCHORS: Final = {"center": ("middle", 0.5), "right": ("end", 1.0)}

# What is so in any element unless it says otherwise.
_DEFAULTS: Final = {
    "stroke-width": "1",
    "font-weight": "400",
    "font-style": "normal",
    "text-anchor": "start",
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
    "fill-opacity": "1",
    "stroke-opacity": "1",
}

# Of no use in a page: its own font is taken.
_DROPPED: Final = ("font-family", "font-stretch", "font-variant", "stroke-miterlimit")


@dataclass
class _Drawn:
    """A path, or other element, with its attributes."""

    tag: str
    style: dict[str, str]
    d: str = ""
    children: list[ET.Element] = field(default_factory=list)
    text: str = ""


def cleaned(svg: str, name: str, alt: str, scale: float) -> str:
    """One element with a role and words for those who do not see it."""
    if not _NAME.fullmatch(name):
        raise OptionError(
            f"name={name!r} cannot be used: give small letters, digits and hyphens, a letter first."
        )
    root = ET.fromstring(svg)  # noqa: S314  (matplotlib wrote it)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return _Cleaning(root, name).page(alt, scale)


class _Cleaning:
    """Elements in the order in which they are painted, in as few as look the same."""

    def __init__(self, root: ET.Element, name: str) -> None:
        self._root, self._name = root, name
        self._by_id = {e.get("id", ""): e for e in root.iter() if e.get("id")}
        self._ids: dict[str, str] = {}

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
        drawn = list(self._drawn(self._root, {}, frozenset()))
        body = list(_grouped(_merged(drawn)))
        if self._ids:
            defs = ET.SubElement(svg, "defs")
            defs.extend(self._defined(old, new) for old, new in list(self._ids.items()))
        svg.extend(body)
        return ET.tostring(svg, encoding="unicode")

    def _drawn(
        self, parent: ET.Element, inherited: dict[str, str], words: frozenset[str]
    ) -> Iterator[_Drawn]:
        for element in parent:
            own = inherited | self._clip(element)
            told = words | frozenset(element.get("id", "").split())
            if element.tag == "g":
                yield from self._drawn(element, own, told)
            elif element.tag == "path":
                path = _placed(read_path(element.get("d", "")))
                yield _Drawn("path", own | self._style(element, told), path)
            elif element.tag == "use":
                yield self._used(element, own, told)
            elif element.tag == "text":
                yield _text(element, own, told)
            elif element.tag not in ("defs", "metadata"):
                raise OptionError(
                    f"The figure has an element {element.tag!r}, which a page cannot hold: draw "
                    "shapes and words, such as by pcolormesh instead of imshow."
                )

    def _style(self, element: ET.Element, words: frozenset[str]) -> dict[str, str]:
        return {name: self._renamed(value) for name, value in _style(element, words).items()}

    def _clip(self, element: ET.Element) -> dict[str, str]:
        given = element.get("clip-path")
        return {"clip-path": self._renamed(given)} if given else {}

    def _renamed(self, value: str) -> str:
        """References to what is defined, by names of this picture."""

        def new(found: re.Match[str]) -> str:
            name = self._ids.setdefault(found[1], f"{self._name}-{len(self._ids) + 1}")
            return f"url(#{name})"

        return _REFERENCE.sub(new, value)

    def _used(self, use: ET.Element, own: dict[str, str], words: frozenset[str]) -> _Drawn:
        """A marker where it is used."""
        marker = self._by_id[use.get(_LINK, "").lstrip("#")]
        path = read_path(marker.get("d", ""))
        x, y = float(use.get("x", "0")), float(use.get("y", "0"))
        style = own | self._style(marker, words) | self._style(use, words)
        return _Drawn("path", style, _placed(path, x, y))

    def _defined(self, old: str, new: str) -> ET.Element:
        """A clip path or a hatch."""
        element = self._by_id[old]
        element.set("id", new)
        for part in element.iter():
            if part.tag == "path":
                style = _style(part, frozenset())
                part.attrib = {**style, "d": write_path(read_path(part.get("d", "")))}
            if part.tag == "rect":
                part.attrib = {k: _rounded(v) for k, v in part.attrib.items()}
                part.attrib.update(recolored({k: v for k, v in part.attrib.items() if k == "fill"}))
            part.text = part.tail = None
        return element


def _placed(path: list[Stroke], x: float = 0.0, y: float = 0.0) -> str:
    """A path moved, written."""
    found = as_circle(path)
    if found is None:
        return write_path(moved(thinned(path), x, y))
    (across, down), radius = found
    return circle(across + x, down + y, radius)


def _style(element: ET.Element, words: frozenset[str]) -> dict[str, str]:
    """What the style says, as attributes, in colors of the page."""
    pairs = (part.partition(":") for part in element.get("style", "").split(";") if part.strip())
    style = {name.strip(): value.strip() for name, _, value in pairs}
    font = _FONT.match(style.pop("font", ""))
    if font:  # as older versions of matplotlib write it
        style["font-style"], style["font-weight"] = font[1] or "normal", font[2] or "400"
        style["font-size"] = font[3]
    style = {name: _rounded(value) for name, value in style.items() if name not in _DROPPED}
    if "fixed" in words:
        style = {"fill": "#000000"} | style if element.tag in ("text", "path") else style
    else:
        style = recolored(style)
    return {name: value for name, value in style.items() if _DEFAULTS.get(name) != value}


def _rounded(value: str) -> str:
    """Numbers with two decimals at most, and without the unit that a picture has anyway."""
    text = re.sub(r"(?<=\d)px\b", "", value)
    return re.sub(r"-?\d+\.\d+", lambda found: short(float(found[0])), text)


def _text(element: ET.Element, own: dict[str, str], words: frozenset[str]) -> _Drawn:
    """Words, with an anchor that does not depend on how wide the page's letters are."""
    style = own | _style(element, words)
    x, y = float(element.get("x", "0")), float(element.get("y", "0"))
    transform = element.get("transform", "")
    if shift := _SHIFT.search(transform):
        x, y = float(shift[1]), float(shift[2])
    turn = _TURN.search(transform)
    turned = bool(turn and float(turn[1]))
    align = next((word[6:] for word in words if word.startswith("align-")), "")
    if align in _ANCHORS and shift and not turned:
        anchor, share = _ANCHORS[align]
        x, style["text-anchor"] = x + share * _width(element.text or "", style), anchor
    if turn and turned:
        style["transform"] = f"rotate({_rounded(turn[1])} {short(x)} {short(y)})"
    if "rim" in words:
        style |= {"paint-order": "stroke", "stroke": PAPER, "stroke-width": "3"}
    if style.get("font-size") == "10":
        del style["font-size"]
    for part in element.iter("tspan"):
        place = {k: v for k, v in part.attrib.items() if k in ("x", "y")}
        part.attrib = _style(part, words) | place
    style |= {"x": short(x), "y": short(y)}
    return _Drawn("text", style, children=list(element), text=element.text or "")


def _width(text: str, style: dict[str, str]) -> float:
    """How wide matplotlib took a line to be."""
    font = FontProperties(
        size=float(style.get("font-size", "10")),
        weight=int(style.get("font-weight", "400")),
        style=style.get("font-style", "normal"),
    )
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _merged(drawn: Iterable[_Drawn]) -> Iterator[_Drawn]:
    """Paths in a row that look the same, as one."""
    for (tag, _), group in groupby(drawn, key=lambda one: (one.tag, _look(one))):
        if tag == "path":
            members = [one for one in group if one.d and _is_seen(one)]
            if members:
                yield _Drawn("path", members[0].style, "".join(one.d for one in members))
        else:
            yield from group


def _look(one: _Drawn) -> object:
    return sorted(one.style.items()) if one.tag == "path" else None


def _is_seen(one: _Drawn) -> bool:
    return one.style.get("fill") != "none" or one.style.get("stroke", "none") != "none"


def _grouped(drawn: Iterable[_Drawn]) -> Iterator[ET.Element]:
    """Elements that are cut off at one place, together."""
    for clip, group in groupby(drawn, key=lambda one: one.style.get("clip-path")):
        elements = [_element(one) for one in group]
        if clip is None or len(elements) == 1:
            yield from elements
            continue
        together = ET.Element("g", {"clip-path": clip})
        for element in elements:
            del element.attrib["clip-path"]
        together.extend(elements)
        yield together


def _element(one: _Drawn) -> ET.Element:
    attributes = dict(one.style)
    if one.tag == "path":
        attributes["d"] = one.d
    element = ET.Element(one.tag, attributes)
    element.extend(one.children)
    element.text = one.text or None
    return element
