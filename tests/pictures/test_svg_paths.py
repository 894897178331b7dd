"""Paths: what is written short reads back to the same shape."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sortal.pictures.figures import svg_of
from sortal.pictures.svg import (
    INK,
    PAPER,
    Stroke,
    as_marker,
    is_shorter_once,
    moved,
    read_path,
    recolored,
    short,
    thinned,
    write_marker,
    write_path,
    write_places,
)

CIRCLE = """M 0 3
C 0.795609 3 1.55874 2.683901 2.12132 2.12132
C 2.683901 1.55874 3 0.795609 3 0
C 3 -0.795609 2.683901 -1.55874 2.12132 -2.12132
C 1.55874 -2.683901 0.795609 -3 0 -3
C -0.795609 -3 -1.55874 -2.683901 -2.12132 -2.12132
C -2.683901 -1.55874 -3 -0.795609 -3 0
C -3 0.795609 -2.683901 1.55874 -2.12132 2.12132
C -1.55874 2.683901 -0.795609 3 0 3
z"""
TOKEN = re.compile(r"[MLlhvcqz]|-?(?:\d+\.?\d*|\.\d+)")
SIZES = {"M": 2, "l": 2, "h": 1, "v": 1, "c": 6, "q": 4}
numbers = st.floats(-500, 500, allow_nan=False)


def read_back(d: str) -> list[tuple[float, float]]:
    """The ends of the commands of a path as this project writes it."""
    tokens, found = TOKEN.findall(d), list[tuple[float, float]]()
    letter, (x, y), start = "", (0.0, 0.0), (0.0, 0.0)
    while tokens:
        if tokens[0].isalpha():
            letter = tokens.pop(0)
        if letter == "z":
            x, y = start
            letter = ""
            continue
        own = [float(tokens.pop(0)) for _ in range(SIZES[letter])]
        if letter == "M":
            x, y = start = own[0], own[1]
        elif letter in "hv":
            x, y = (x + own[0], y) if letter == "h" else (x, y + own[0])
        else:
            x, y = x + own[-2], y + own[-1]
        found.append((x, y))
    return found


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=60))
def test_what_is_written_reads_back(points: list[tuple[float, float]]) -> None:
    path = [Stroke("M" if i == 0 else "L", np.array([p])) for i, p in enumerate(points)]
    digits = 1 if len(points) > 30 else 2
    expected = np.array(points).round(digits)
    moves = [i for i in range(1, len(points)) if (expected[i] != expected[i - 1]).any()]
    got = np.array(read_back(write_path(path)))
    # a step of no length may be left out or kept; places are those of the points
    assert np.allclose(got[-1], expected[-1], atol=1e-6)
    assert len(got) >= len(moves) + 1
    assert all(np.abs(expected - place).max(axis=1).min() < 1e-6 for place in got)


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=80), st.floats(0.01, 5))
def test_no_vertex_is_missed_by_more_than_the_tolerance(
    points: list[tuple[float, float]], tolerance: float
) -> None:
    path = [Stroke("M" if i == 0 else "L", np.array([p])) for i, p in enumerate(points)]
    kept = np.vstack([stroke.points for stroke in thinned(path, tolerance)])
    assert (kept[0] == points[0]).all()
    assert (kept[-1] == points[-1]).all()
    for point in np.array(points):
        gaps = [distance(point, a, b) for a, b in pairwise(kept)]
        assert min(gaps) <= tolerance * (1 + 1e-9) + 1e-9


def distance(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    along = b - a
    length = float(along @ along)
    t = min(max(float((p - a) @ along) / length, 0.0), 1.0) if length else 0.0
    return float(np.hypot(*(p - a - t * along)))


def test_curves_and_ends_of_a_path_are_kept() -> None:
    path = read_path("M 0 0 L 1 0 L 2 0 Q 3 0 3 1 L 3 5 z M 9 9 L 10 10")
    commands = "".join(stroke.command for stroke in thinned(path, 0.1))
    assert commands == "MLQLZML"  # the vertex at (1, 0) lies between its neighbors
    assert write_path(thinned(path, 0.1)) == "M0 0h2q1 0 1 1v4zM9 9l1 1"


def test_circles_and_other_markers_are_shapes_with_a_place() -> None:
    first, second = (as_marker(moved(read_path(CIRCLE), x, 50.0)) for x in (10.0, 20.25))
    assert first is not None
    assert second is not None
    assert first.shape == second.shape == "M0 0a3 3 0 1 0 .1 0z"
    assert write_marker(first) == "M10 47a3 3 0 1 0 .1 0z"
    assert write_places([first, second]) == "M10 47L20.2 47"
    assert not is_shorter_once([first, second])
    assert is_shorter_once([first] * 30)
    square = as_marker(read_path("M 1 1 L 4 1 L 4 4 L 1 4 z"))
    assert square is not None
    assert (square.shape, square.x, square.y) == ("M0 0h3v3h-3z", 1.0, 1.0)
    assert as_marker(read_path("M 1 1 L 4 1")) is None
    # two pieces: the second has a place of its own
    assert as_marker(read_path("M 1 1 L 4 1 L 4 4 z M 9 9 L 9 8 L 8 8 z")) is None


def test_pieces_of_one_path_stay_where_they_are() -> None:
    figure = Figure(figsize=(2, 2))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.axis("off")
    ax.set(xlim=(0, 144), ylim=(144, 0))
    corners = np.array([(0, 0), (20, 0), (20, 20), (0, 20), (0, 0)], dtype=float)
    pieces = [Path(corners + 100 * k, closed=True) for k in (0, 1)]
    ax.add_patch(PathPatch(Path.make_compound_path(*pieces), color="#0072B2", linewidth=0))
    ax.scatter([5, 50], [120, 50], s=20)
    drawn = re.search(r'd="(M[^"]+z)"', svg_of(figure, "a", ""))
    assert drawn is not None
    ends = np.array(read_back(drawn[1]))
    first, second = ends[:4], ends[4:8]
    assert np.allclose(second - first, 100, atol=0.11)
    assert np.allclose(first.max(axis=0) - first.min(axis=0), 20, atol=0.11)


def test_numbers_are_short() -> None:
    assert [short(x) for x in (0.0, -0.001, 0.5, -0.25, 10.0)] == ["0", "0", ".5", "-.25", "10"]


def test_colors_are_those_of_a_page() -> None:
    assert recolored({"fill": "#000000"}) == {"fill": INK}
    assert recolored({"stroke": "#ffffff"}) == {"stroke": PAPER}
    gray = recolored({"stroke": "#333333", "stroke-opacity": "0.5"})
    assert gray == {"stroke": INK, "stroke-opacity": ".4"}
    assert recolored({"fill": "#0072b2"}) == {"fill": "#0072b2"}
    assert recolored({"fill": "#999999"}) == {"fill": "#999999"}  # the color of a class
    pale = recolored({"fill": "#dbebf4"})
    assert pale["fill"] not in (INK, PAPER)
    share = float(pale["fill-opacity"])
    strong = [int(pale["fill"][at : at + 2], 16) for at in (1, 3, 5)]
    assert np.allclose([255 - share * (255 - c) for c in strong], [0xDB, 0xEB, 0xF4], atol=2)
