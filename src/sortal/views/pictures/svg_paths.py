"""Paths of SVG: read, thinned where nobody sees it, and written short."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

_TOKEN: Final = re.compile(r"([MLQCZz])|(-?\d*\.?\d+(?:e[-+]?\d+)?)")
_PAIRS: Final = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}

# A vertex that lies so close to the line between its neighbors, in units of the picture, is not
# missed.
_UNSEEN: Final = 0.08

# From so many numbers on, one decimal has to do.
_LONG: Final = 60


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
    return [Stroke(command, points + (x, y)) for command, points in path]


def thinned(path: list[Stroke]) -> list[Stroke]:
    """The path without vertices that lie on the line between their neighbors."""
    found: list[Stroke] = []
    run: list[Float] = []
    for stroke in [*path, Stroke("", np.empty((0, 2)))]:
        if stroke.command == "L" and (run or found):
            run = run or [found[-1].points[-1]] if found[-1].command != "Z" else run
            run.append(stroke.points[0])
            continue
        found += [Stroke("L", point[None]) for point in _essential(np.array(run))[1:]]
        run = []
        found.append(stroke)
    return found[:-1]


def _essential(line: Float) -> Float:
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
        if gaps[far] > _UNSEEN:
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


def write_path(path: list[Stroke]) -> str:
    """The commands, relative to the point before, which is shorter."""
    digits = 1 if sum(stroke.points.size for stroke in path) > _LONG else 2
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
        # the letter is not said again, nor is a space before a minus sign
        again = letter == before
        written.append(("" if told[0] == "-" else " ") + told if again else letter + told)
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
        told += text if not told or text[0] == "-" else f" {text}"
    return told


def short(number: float, digits: int = 2) -> str:
    """A number without zeros that say nothing."""
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if text in ("-0", ""):
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def as_circle(path: list[Stroke]) -> tuple[Float, float] | None:
    """Center and radius of a circle that is drawn by eight curves; None of other paths."""
    if not re.fullmatch("MC{8}Z?", "".join(stroke.command for stroke in path)):
        return None
    ends = np.array([stroke.points[-1] for stroke in path if len(stroke.points)])[:8]
    center = ends.mean(axis=0)
    radii = np.hypot(*(ends - center).T)
    radius = float(radii.mean())
    return (center, radius) if radius > 0 and np.allclose(radii, radius, rtol=0.01) else None


def circle(x: float, y: float, radius: float) -> str:
    """One arc almost around, closed: much shorter than curves."""
    top = short(y - radius, 1)
    start = f"M{short(x, 1)}{'' if top[0] == '-' else ' '}{top}"
    r = short(radius)
    return f"{start}a{r} {r} 0 1 0 .1 0z"
