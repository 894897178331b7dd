"""Styles of matplotlib's SVG as short attributes, and texts that fit any font of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from sortal.views.pictures.svg_colors import PAPER, recolored
from sortal.views.pictures.svg_paths import short

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

_TURN: Final = re.compile(r"rotate\((-?[\d.]+)")
_SHIFT: Final = re.compile(r"translate\((-?[\d.]+) (-?[\d.]+)\)")
_FONT: Final = re.compile(r"(?:(italic|oblique) )?(?:small-caps )?(?:(\d{3}|bold) )?([\d.]+)px ")
_ANCHORS: Final = {"center": ("middle", 0.5), "right": ("end", 1.0)}

# What is so in any element unless it says otherwise.
_DEFAULTS: Final = {
    "stroke-width": "1",
    "font-size": "10",
    "font-weight": "400",
    "font-style": "normal",
    "text-anchor": "start",
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
    "fill-opacity": "1",
    "stroke-opacity": "1",
}

# Of no use in a page, which has a font of its own.
_DROPPED: Final = ("font-family", "font-stretch", "font-variant", "stroke-miterlimit")


def style_of(element: ET.Element, words: frozenset[str]) -> dict[str, str]:
    """What the style says, as attributes, in colors of the page; "fixed" among words keeps them."""
    pairs = (part.partition(":") for part in element.get("style", "").split(";") if part.strip())
    style = {name.strip(): value.strip() for name, _, value in pairs}
    font = _FONT.match(style.pop("font", ""))
    if font:  # as older versions of matplotlib write it
        style["font-style"], style["font-weight"] = font[1] or "normal", font[2] or "400"
        style["font-size"] = font[3]
    style = {name: rounded(value) for name, value in style.items() if name not in _DROPPED}
    # matplotlib leaves out black, which is the page's color here
    style = {"fill": "#000000"} | style if "fixed" in words else recolored(style)
    return {name: value for name, value in style.items() if _DEFAULTS.get(name) != value}


def rounded(value: str) -> str:
    """Numbers with two decimals at most, and without the unit that a picture has anyway."""
    text = re.sub(r"(?<=\d)px\b", "", value)
    return re.sub(r"-?\d+\.\d+", lambda found: short(float(found[0])), text)


def text_attributes(element: ET.Element, words: frozenset[str]) -> dict[str, str]:
    """Style and place of words, with an anchor that does not depend on how wide letters are."""
    style = style_of(element, words)
    transform = element.get("transform", "")
    shift, turn = _SHIFT.search(transform), _TURN.search(transform)
    x, y = float(element.get("x", "0")), float(element.get("y", "0"))
    if shift:
        x, y = float(shift[1]), float(shift[2])
    turned = turn is not None and float(turn[1]) != 0
    align = next((word[6:] for word in words if word.startswith("align-")), "")
    if align in _ANCHORS and shift and not turned:
        anchor, share = _ANCHORS[align]
        x, style["text-anchor"] = x + share * _width(element.text or "", style), anchor
    if turn is not None and turned:
        style["transform"] = f"rotate({rounded(turn[1])} {short(x)} {short(y)})"
    if "rim" in words:
        style |= {"paint-order": "stroke", "stroke": PAPER, "stroke-width": "3"}
    for part in element.iter("tspan"):
        place = {name: value for name, value in part.attrib.items() if name in ("x", "y")}
        part.attrib = style_of(part, words) | place
    return style | {"x": short(x), "y": short(y)}


def _width(text: str, style: dict[str, str]) -> float:
    """How wide matplotlib took a line to be."""
    font = FontProperties(
        size=float(style.get("font-size", "10")),
        weight=int(style.get("font-weight", "400")),
        style="italic" if style.get("font-style") == "italic" else "normal",
    )
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])
