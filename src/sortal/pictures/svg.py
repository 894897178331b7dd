"""SVG of matplotlib, written short: paths, colors, styles and texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from sortal.plotting.axes import COLORS

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from sortal._typing import Float


_TOKEN: Final = re.compile(r"([MLQCZz])|(-?\d*\.?\d+(?:e[-+]?\d+)?)")

_LAST: Final = re.compile(r"[\d.]+$")

_PAIRS: Final = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}

# From so many numbers on, one decimal has to do.
_LONG: Final = 60

# What it takes to define a marker, in letters.
_DEFINITION: Final = 200

# A path of more commands is no marker.
_LONGEST_MARKER: Final = 16


class Stroke(NamedTuple):
    """A command of a path and its points (one, two or three; none to close)."""

    command: str
    points: Float


def read_path(d: str) -> list[Stroke]:
    """The commands of a path that has absolute ones only."""
    found: list[Stroke] = []
    command, numbers = "", list[float]()
    for letter, number in _TOKEN.findall(d):
        if letter:
            command = letter.upper()
            if command == "Z":
                found.append(Stroke("Z", np.empty((0, 2))))
            continue
        numbers.append(float(number))
        if len(numbers) == 2 * _PAIRS[command]:
            found.append(Stroke(command, np.array(numbers).reshape(-1, 2)))
            numbers = []
            command = "L" if command == "M" else command
    return found


def moved(path: list[Stroke], x: float, y: float) -> list[Stroke]:
    """The path somewhere else."""
    step = np.array([x, y])
    return [Stroke(command, points + step) for command, points in path]


def thinned(path: list[Stroke], tolerance: float) -> list[Stroke]:
    """The path without vertices that lie on the line between their neighbors."""
    found: list[Stroke] = []
    run: list[Float] = []
    for stroke in [*path, Stroke("", np.empty((0, 2)))]:
        if stroke.command == "L" and (run or found):
            run = run or [found[-1].points[-1]] if found[-1].command != "Z" else run
            run.append(stroke.points[0])
            continue
        found += [Stroke("L", point[None]) for point in _essential(np.array(run), tolerance)[1:]]
        run = []
        found.append(stroke)
    return found[:-1]


def _essential(line: Float, tolerance: float) -> Float:
    """Vertices of a line that are seen: the farthest from a chord stays (Douglas and Peucker)."""
    if len(line) < 3:
        return line
    keep = np.zeros(len(line), dtype=bool)
    keep[[0, -1]] = True
    spans = [(0, len(line) - 1)]
    while spans:
        start, stop = spans.pop()
        if stop - start < 2:
            continue
        gaps = _distances(line[start + 1 : stop], line[start], line[stop])
        far = int(gaps.argmax())
        if gaps[far] > tolerance:
            middle = start + 1 + far
            keep[middle] = True
            spans += [(start, middle), (middle, stop)]
    return line[keep]


def _distances(points: Float, start: Float, stop: Float) -> Float:
    """How far points lie from the piece between two others."""
    along = stop - start
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    return np.asarray(np.hypot(*(points - start - share[:, None] * along).T))


def write_path(path: list[Stroke], digits: int = 2) -> str:
    """The commands, relative to the point before, which is shorter."""
    if sum(stroke.points.size for stroke in path) > _LONG:
        digits = 1
    written: list[str] = []
    here = start = np.zeros(2)
    before = ""
    for command, points in path:
        if command == "Z":
            written.append("z")
            here, before = start, "z"
            continue
        places = points.round(digits)
        if command == "M":
            here = start = places[0]
            written.append("M" + _numbers(places.ravel(), digits))
            before = "M"
            continue
        letter, steps = _step(command, places - here)
        told = _numbers(steps, digits)
        if not told:
            continue
        # the letter is not said again
        again = letter == before
        written.append(_apart(written[-1], told) + told if again else letter + told)
        here, before = places[-1], letter
    return "".join(written)


def _step(command: str, steps: Float) -> tuple[str, Float]:
    """A relative command; a line along an axis needs one number, and no step at all none."""
    if command != "L":
        return command.lower(), steps.ravel()
    dx, dy = steps[0]
    if dx == 0 or dy == 0:
        return ("v", steps[0, 1:]) if dx == 0 else ("h", steps[0, :1])
    return "l", steps[0]


def _numbers(numbers: Float, digits: int) -> str:
    told = ""
    for number in numbers.tolist():
        text = short(number, digits)
        told += _apart(told, text) + text
    return told


def _apart(before: str, text: str) -> str:
    """A space where one is needed: not before a minus sign, nor before a second point."""
    last = _LAST.search(before)
    if not before or text[0] == "-" or (text[0] == "." and last and "." in last[0]):
        return ""
    return " "


def short(number: float, digits: int = 2) -> str:
    """A number without zeros that say nothing."""
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if text in ("-0", ""):
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


class Marker(NamedTuple):
    """A small closed shape, written from its first point on, and where that lies."""

    shape: str
    x: float
    y: float


def as_marker(path: list[Stroke]) -> Marker | None:
    """A path that may be one of many alike: circles, triangles, stars; None of longer ones."""
    commands = "".join(stroke.command for stroke in path)
    if len(path) > _LONGEST_MARKER or not re.fullmatch("M[^MZ]+Z", commands):
        return None
    if found := _as_circle(path):
        (x, y), radius = found
        r = short(radius, 1)
        return Marker(f"M0 0a{r} {r} 0 1 0 .1 0z", float(x), float(y - radius))
    x, y = path[0].points[0]
    return Marker(write_path(moved(path, -x, -y), 1), float(x), float(y))


def _as_circle(path: list[Stroke]) -> tuple[Float, float] | None:
    """Center and radius of a circle that is drawn by eight curves; None of other paths."""
    if "".join(stroke.command for stroke in path) != "MCCCCCCCCZ":
        return None
    ends = np.array([stroke.points[-1] for stroke in path[:-2]])
    center = ends.mean(axis=0)
    radii = np.hypot(*(ends - center).T)
    radius = float(radii.mean())
    return (center, radius) if radius > 0 and np.allclose(radii, radius, rtol=0.01) else None


def write_marker(marker: Marker) -> str:
    """The shape where it lies."""
    return f"M{pair(marker)}{marker.shape.removeprefix('M0 0')}"


def is_shorter_once(markers: list[Marker]) -> bool:
    """Whether a shape is written once, and then its places."""
    return len(markers) * (len(markers[0].shape) - 4) > _DEFINITION


def write_places(markers: list[Marker]) -> str:
    """A path through all places, for markers at its vertices."""
    return "M" + "L".join(pair(marker) for marker in markers)


def pair(marker: Marker) -> str:
    """Where a marker lies."""
    return _numbers(np.array([marker.x, marker.y]), 1)


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
                found[f"{name}-opacity"] = short(whole * share)
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


# --- Styles of matplotlib's SVG as short attributes, and texts that fit any font of a page -------

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
