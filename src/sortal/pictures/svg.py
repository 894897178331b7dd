"""Figures of matplotlib as elements of a page and as files."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.colors import to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from sortal.errors import ParameterError
from sortal.plotting.axes import COLORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

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
        return _for_reading(target.getvalue(), name, alt)


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
    effect, letters would be written as outlines). Axes have no white ground of their own.
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
        yield


# --- The SVG that matplotlib writes, as one element that can stand among others in a page --------

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")

_LINK: Final = "{http://www.w3.org/1999/xlink}href"

_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")

# Attributes that are written in another way.
_REPLACED: Final = ("style", "id", _LINK)

_LINES: Final = re.compile(r"([MLz])(?:(-?[\d.]+) (-?[\d.]+))?")

_SPACES: Final = re.compile(r"\s*([A-Za-z])\s*")

_DECIMALS: Final = re.compile(r"-?\d+\.\d+")

# What a page has anyway, and what it needs not know.
_NEEDLESS: Final = ("metadata", "style", "title")

_HELD: Final = ("svg", "defs", "clipPath", "pattern", "rect", "g", "path", "use", "text", "tspan")


def _for_reading(svg: str, name: str, alt: str) -> str:
    """What matplotlib wrote, in colors of a page, with names of its own and words instead of it."""
    if not _NAME.fullmatch(name):
        raise ParameterError(f"name={name!r} is no name: give small letters, digits and hyphens.")
    root = ET.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))  # noqa: S314
    width, height = (float(x) for x in root.get("viewBox", "").split()[2:])
    _Names(name).clean(root, frozenset())
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "figure",
        "role": "img",
        "aria-label": alt,
        "viewBox": f"0 0 {_short(width)} {_short(height)}",
        "width": f"{width * _PIXELS:.0f}",
        "height": f"{height * _PIXELS:.0f}",
        "fill": INK,
        "stroke-linejoin": "round",
        "font-size": _FONT_SIZE,
    }
    return ET.tostring(root, encoding="unicode")


class _Names:
    """Elements are cleaned, and what is referred to is named anew: `name`-1, -2, …"""

    def __init__(self, name: str) -> None:
        self._name, self._known = name, dict[str, str]()

    def clean(self, element: ET.Element, words: frozenset[str]) -> None:
        """An element and all in it; `words` are those of the gids around."""
        for child in list(element):
            if child.tag in _NEEDLESS or (child.tag == "defs" and not len(child)):
                element.remove(child)
                continue
            if child.tag not in _HELD:
                raise ParameterError(
                    f"The figure has an element {child.tag!r}, which a page cannot hold: draw "
                    "shapes and words, such as by pcolormesh instead of imshow."
                )
            own = words | frozenset(child.get("id", "").split())
            self.clean(child, own)
            child.attrib = self._attributes(child, own)
            child.tail = None
            if child.tag not in ("text", "tspan"):
                child.text = None
        if element.tag == "g":
            _share(element)
        for place, child in reversed(list(enumerate(element))):
            if child.tag == "g" and not child.attrib:  # a group of nothing in common
                element[place : place + 1] = list(child)

    def _attributes(self, element: ET.Element, words: frozenset[str]) -> dict[str, str]:
        if element.tag == "text":
            return _text_attributes(element, words)
        if element.tag == "tspan":
            return _style_of(element, words) | _only(element, "x", "y")
        kept = {k: _rounded(v) for k, v in element.attrib.items() if k not in _REPLACED}
        if element.tag == "use":
            kept = {k: _rounded(v, 1) for k, v in kept.items()}
        found = {k: self._renamed(v) for k, v in (kept | _style_of(element, words)).items()}
        if "d" in kept:
            found["d"] = _shape(element.attrib["d"])
        if _LINK in element.attrib:
            found["href"] = f"#{self._new(element.attrib[_LINK].lstrip('#'))}"
        if "id" in element.attrib and element.tag in ("clipPath", "pattern", "path"):
            found["id"] = self._new(element.attrib["id"])
        return found

    def _renamed(self, value: str) -> str:
        return _REFERENCE.sub(lambda found: f"url(#{self._new(found[1])})", value)

    def _new(self, old: str) -> str:
        return self._known.setdefault(old, f"{self._name}-{len(self._known) + 1}")


# What a group can say for all elements in it.
_INHERITED: Final = (
    *("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-linecap"),
    "clip-path",
)


def _share(group: ET.Element) -> None:
    """What all elements of a group have in common is said once, of the group."""
    for name in _INHERITED:
        values = {element.get(name) for element in group}
        if len(group) > 1 and len(values) == 1 and None not in values:
            group.set(name, values.pop() or "")
            for element in group:
                del element.attrib[name]


def _only(element: ET.Element, *names: str) -> dict[str, str]:
    return {name: value for name, value in element.attrib.items() if name in names}


def _short(number: float, digits: int = 2) -> str:
    """A number without decimals that are not seen."""
    return f"{number:.{digits}f}".rstrip("0").rstrip(".")


def _rounded(value: str, digits: int = 2) -> str:
    """Numbers with so many decimals at most, and without the unit that a picture has anyway."""
    text = re.sub(r"(?<=\d)px\b", "", value)
    return _DECIMALS.sub(lambda found: _short(float(found[0]), digits), text)


def _shape(d: str) -> str:
    """A path to a tenth of a point, without spaces that it can do without; lines by their steps."""
    text = _SPACES.sub(r"\1", _rounded(d, 1))
    if re.search("[CQ]", text):
        return text
    here, told = (0, 0), ""
    for letter, x, y in _LINES.findall(text):
        if letter == "z":
            told += "z"
            continue
        there = round(10 * float(x)), round(10 * float(y))
        dx, dy = (there[0] - here[0]) / 10, (there[1] - here[1]) / 10
        told += f"M{x} {y}" if letter == "M" else f"l{dx:g} {dy:g}"
        here = there
    return told.replace(" -", "-")


# --- Colors of a figure for a page that may be light or dark -------------------------------------
# Black and grays become the color of the page's text, more or less of it; white becomes the page;
# a pale color becomes a strong one that is nearly transparent, which looks the same on white.

PAPER: Final = "var(--paper, Canvas)"

INK: Final = "currentColor"

_HEX: Final = re.compile(r"#[0-9a-f]{6}")

_CLASS_COLORS: Final = frozenset(color.lower() for color in COLORS)

# A color whose least part is above this is a tint of white.
_PALE: Final = 180

# Parts that differ by less make a gray.
_GRAY: Final = 3


def recolored(style: dict[str, str]) -> dict[str, str]:
    """Fill and stroke in colors of the page, and their opacity."""
    found = dict(style)
    for name in ("fill", "stroke"):
        color = found.get(name, "")
        if _HEX.fullmatch(color) and color not in _CLASS_COLORS:
            found[name], share = _of_page(color)
            if share < 1:
                whole = float(found.get(f"{name}-opacity", "1"))
                found[f"{name}-opacity"] = _short(whole * share)
    return found


def _of_page(color: str) -> tuple[str, float]:
    """A color that may depend on the page, and how much of it covers what is below."""
    parts = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    least = min(parts)
    if max(parts) - least < _GRAY:
        return (PAPER, 1.0) if least > 253 else (INK, 1 - least / 255)
    if least < _PALE:
        return color, 1.0
    share = 1 - least / 255
    strong = [round((part - least) / share) for part in parts]
    return "#" + "".join(f"{min(part, 255):02x}" for part in strong), share


# --- Styles as attributes, and texts that fit any font of a page ---------------------------------

_TURN: Final = re.compile(r"rotate\((-?[\d.]+)")

_SHIFT: Final = re.compile(r"translate\((-?[\d.]+) (-?[\d.]+)\)")

_FONT: Final = re.compile(r"(?:(italic|oblique) )?(?:small-caps )?(?:(\d{3}|bold) )?([\d.]+)px ")

# That of the whole picture.
_FONT_SIZE: Final = "10"

_ANCHORS: Final = {"center": ("middle", 0.5), "right": ("end", 1.0)}

# Of no use in a page, which has a font of its own.
_DROPPED: Final = ("font-family", "font-stretch", "font-variant", "stroke-miterlimit")


def _style_of(element: ET.Element, words: frozenset[str]) -> dict[str, str]:
    """What the style says, as attributes, in colors of the page; "fixed" among words keeps them."""
    pairs = (part.partition(":") for part in element.get("style", "").split(";") if part.strip())
    style = {name.strip(): value.strip() for name, _, value in pairs}
    font = _FONT.match(style.pop("font", ""))
    if font:  # as older versions of matplotlib write it
        style["font-style"], style["font-weight"] = font[1] or "normal", font[2] or "400"
        style["font-size"] = font[3]
    style = {name: _rounded(value) for name, value in style.items() if name not in _DROPPED}
    return style if "fixed" in words else recolored(style)


def _text_attributes(element: ET.Element, words: frozenset[str]) -> dict[str, str]:
    """Style and place of words, with an anchor that does not depend on how wide letters are."""
    style = _style_of(element, words)
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
        style["transform"] = f"rotate({_rounded(turn[1])} {_short(x, 1)} {_short(y, 1)})"
    if "rim" in words:
        style |= {"paint-order": "stroke", "stroke": PAPER, "stroke-width": "3"}
    if style.get("font-size") == _FONT_SIZE:
        del style["font-size"]
    return style | {"x": _short(x, 1), "y": _short(y, 1)}


def _width(text: str, style: dict[str, str]) -> float:
    """How wide matplotlib took a line to be."""
    font = FontProperties(
        size=float(style.get("font-size", "10")),
        weight=int(style.get("font-weight", "400")),
        style="italic" if style.get("font-style") == "italic" else "normal",
    )
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])
