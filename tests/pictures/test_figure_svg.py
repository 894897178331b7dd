"""Figures as elements of a page: safe, short, the same each time, and right on any ground."""

from __future__ import annotations

import re
from typing import Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from sortal.pictures.coarse import CELLS, coarsen
from sortal.pictures.svg import INK, PAPER, png_of, recolored, svg_of
from sortal.plotting.axes import name_axes, point_style, shown, write_legend, write_title

HOSTILE: Final = (
    "</svg><script>alert(1)</script>",
    "$\\alpha_{1}$ & \"quotes\" 'too'",
    "two\nlines\x00\x1b",
    "\u202eright to left \u05d0\u05d1 漢字",
    "_hidden $5 and $6",
)


def draw(names: tuple[str, ...] = ("one", "two"), n: int = 40) -> Figure:
    """A picture of points, a line, a hatch and words."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.add_subplot()
    rng = np.random.default_rng(0)
    handles = [
        ax.scatter(*rng.normal(size=(2, n)), label=shown(name), **point_style(k))
        for k, name in enumerate(names)
    ]
    ax.plot([-1, 1], [-1, 1], color="#000000")
    ax.bar([0], [0.5], color="#E69F00", hatch="......", edgecolor="white")
    rim = [withStroke(linewidth=3, foreground="white")]
    ax.text(0, 1, shown(names[0]), path_effects=rim)
    write_title(ax, shown(names[0]), "a second line")
    name_axes(ax, shown(names[0]), shown(names[-1]))
    write_legend(ax, handles, [shown(name) for name in names], outside=True)
    return figure


def tree_of(svg: str) -> ET.Element:
    root = ET.fromstring(svg)  # noqa: S314  (our own)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def ids_of(root: ET.Element) -> set[str]:
    return {element.attrib["id"] for element in root.iter() if "id" in element.attrib}


def test_an_element_of_its_own() -> None:
    svg = svg_of(draw(), "try-it", 'What "is" seen & <more>')
    root = tree_of(svg)
    assert svg.startswith("<svg ")
    assert root.get("role") == "img"
    assert root.get("class") == "figure"
    assert root.get("aria-label") == 'What "is" seen & <more>'
    tags = {element.tag for element in root.iter()}
    assert tags <= {"svg", "defs", "clipPath", "pattern", "rect", "g", "path", "use", "text"}
    assert not re.search(r"xlink|metadata|<style|<\?xml|DOCTYPE|DejaVu", svg)
    assert all(name.startswith("try-it-") for name in ids_of(root))
    references = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
    assert references == ids_of(root)
    assert not ids_of(root) & ids_of(tree_of(svg_of(draw(), "other", "")))


def test_colors_and_words_are_those_of_the_page() -> None:
    svg = svg_of(draw(), "try", "")
    assert "#000000" not in svg
    assert "#ffffff" not in svg
    words = [element.text for element in tree_of(svg).iter("text")]
    assert {"one", "two", "a second line"} <= set(words)
    rims = [e for e in tree_of(svg).iter("text") if e.get("paint-order") == "stroke"]
    assert [rim.text for rim in rims] == ["one"]
    lines = [e for e in tree_of(svg).iter("text") if e.text == "a second line"]
    assert [line.get("text-anchor") for line in lines] == ["middle"]


def test_colors_are_those_of_a_page() -> None:
    assert recolored({"fill": "#000000"}) == {"fill": INK}
    assert recolored({"stroke": "#ffffff"}) == {"stroke": PAPER}
    gray = recolored({"stroke": "#333333", "stroke-opacity": "0.5"})
    assert gray == {"stroke": INK, "stroke-opacity": "0.4"}
    assert recolored({"fill": "#0072b2"}) == {"fill": "#0072b2"}
    assert recolored({"fill": "#999999"}) == {"fill": "#999999"}  # the color of a class
    pale = recolored({"fill": "#dbebf4"})
    assert pale["fill"] not in (INK, PAPER)
    share = float(pale["fill-opacity"])
    strong = [int(pale["fill"][at : at + 2], 16) for at in (1, 3, 5)]
    assert np.allclose([255 - share * (255 - c) for c in strong], [0xDB, 0xEB, 0xF4], atol=2)


def test_what_is_fixed_keeps_its_color() -> None:
    figure = Figure()
    ax = figure.add_subplot()
    ax.text(0.5, 0.5, "light", color="#ffffff", gid="fixed")
    ax.text(0.5, 0.2, "page", color="#ffffff")
    texts = {e.text: e.get("fill") for e in tree_of(svg_of(figure, "a", "")).iter("text")}
    assert texts["light"] == "#ffffff"
    assert texts["page"] == "var(--paper, Canvas)"


def test_the_same_bytes_each_time_and_the_figure_as_it_was() -> None:
    figure, before, windows = draw(), dict(mpl.rcParams), plt.get_fignums()
    text = next(t for t in figure.axes[0].texts)
    first = svg_of(figure, "a", "x")
    assert first == svg_of(figure, "a", "x") == svg_of(draw(), "a", "x")
    assert (dict(mpl.rcParams), plt.get_fignums()) == (before, windows)
    assert text.get_path_effects()
    assert text.get_gid() is None
    assert figure.axes[0].patch.get_visible()
    assert figure.axes[0].patches[0].get_hatch() == "......"
    png = png_of(draw())
    assert png == png_of(draw())
    assert png.startswith(b"\x89PNG")


def test_hostile_names_stay_text() -> None:
    svg = svg_of(draw(HOSTILE), "a", " ".join(HOSTILE).replace("\x00", "").replace("\x1b", ""))
    words = {(element.text or "").strip() for element in tree_of(svg).iter("text")}
    assert {shown(name).replace(r"\$", "$").strip() for name in HOSTILE} <= words
    assert "<script" not in svg


def test_points_lie_on_a_grid_and_areas_grow_with_rows() -> None:
    figure = Figure(figsize=(6, 4))
    ax = figure.add_subplot()
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 3000))
    cloud = ax.scatter(x, y, s=9)
    rows = np.asarray(cloud.get_offsets()).copy()
    coarsen(figure)
    clouds: list[Any] = list(ax.collections)
    places = np.vstack([part.get_offsets() for part in clouds])
    sizes = np.concatenate(
        [np.repeat(part.get_sizes(), len(part.get_offsets())) for part in clouds]
    )
    shares = ax.transAxes.inverted().transform(ax.transData.transform(places))
    assert np.allclose(shares * CELLS % 1, 0.5)
    assert len(np.unique(shares.round(9), axis=0)) == len(places) <= CELLS**2
    cells = np.floor(ax.transAxes.inverted().transform(ax.transData.transform(rows)) * CELLS)
    met, n_rows = np.unique(cells, axis=0, return_counts=True)
    counts = {tuple(cell): int(n) for cell, n in zip(met, n_rows, strict=True)}
    own = np.array([counts[tuple(cell)] for cell in np.floor(shares * CELLS)])
    assert own.sum() == 3000
    order = np.argsort(own)
    assert (np.diff(sizes[order]) >= 0).all()


def test_markers_on_the_grid_are_as_small_as_points() -> None:
    root = tree_of(svg_of(coarsen(draw(n=300)), "a", ""))
    shapes = {element.get("id"): element.get("d", "") for element in root.iter("path")}
    used = {element.get("href", "").lstrip("#") for element in root.iter("use")}
    numbers = [float(x) for name in used for x in re.findall(r"-?[\d.]+", shapes[name])]
    assert len(used) > 5
    assert max(map(abs, numbers)) < 10


def test_classes_in_one_cell_stand_beside_each_other() -> None:
    figure = Figure()
    ax = figure.add_subplot()
    for _ in range(3):
        ax.scatter([1.0, 2.0], [1.0, 2.0])
    coarsen(figure)
    clouds: list[Any] = list(ax.collections)
    places = np.vstack([cloud.get_offsets() for cloud in clouds])
    assert len(np.unique(places.round(9), axis=0)) == 6
