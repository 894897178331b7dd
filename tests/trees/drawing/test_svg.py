"""A tree as SVG: well-formed whatever names hold, complete in itself, and the same every time."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pandas as pd
from tests.trees import some_trees

from sortal.plotting.axes import COLORS
from sortal.trees.drawing.boxes import PATTERNS, pattern
from sortal.trees.drawing.layout import draw_tree
from sortal.trees.drawing.svg import bar_parts, class_fill, svg_of

if TYPE_CHECKING:
    from sortal.trees.drawing.layout import Drawing

SVG: Final = "{http://www.w3.org/2000/svg}"
NASTY: Final = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "]]> </svg> -->",
    "two\nlines\x00\x0b\ufffe",
    "\u202eright to left",
    "",
)


def iris(**options: Any) -> Drawing:
    return draw_tree(some_trees.iris(**options))


def many_classes(n_classes: int) -> Drawing:
    return draw_tree(some_trees.many_classes(n_classes), max_leaves=None)


def read(svg: str) -> Element:
    return fromstring(svg)  # noqa: S314  (made here)


def words(root: Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def groups(root: Element, name: str) -> list[Element]:
    return [g for g in root.iter(f"{SVG}g") if name in g.get("class", "").split()]


def test_every_box_and_edge_is_there_with_its_words() -> None:
    drawing = iris()
    root = read(svg_of(drawing))
    said = words(root)
    for box in drawing.boxes:
        assert set(box.lines) <= set(said)
    assert [g.get("data-node") for g in groups(root, "box")] == [str(b.node) for b in drawing.boxes]
    assert len(groups(root, "edge")) == len(drawing.edges)
    assert len(groups(root, "leaf")) == 9
    titles = {element.text for element in root.iter(f"{SVG}title")}
    assert {edge.title for edge in drawing.edges} <= titles
    assert {box.title for box in drawing.boxes} <= titles
    assert "setosa (50)" in said


def test_it_speaks_to_those_who_do_not_see_it() -> None:
    root = read(svg_of(iris(), title="Irises", description="root: n 150\n  <= 2.45"))
    assert root.get("role") == "img"
    named = {element.get("id"): element for element in root if element.get("id")}
    title, description = (named[key] for key in root.get("aria-labelledby", "").split())
    assert (title.tag, title.text) == (f"{SVG}title", "Irises")
    assert (description.tag, description.text) == (f"{SVG}desc", "root: n 150\n  <= 2.45")
    assert not list(read(svg_of(iris())).iter(f"{SVG}desc"))


def test_names_in_a_page_differ_where_pictures_do() -> None:
    pictures = [
        svg_of(iris()),
        svg_of(iris(max_depth=2)),
        svg_of(iris(), theme="dark"),
        svg_of(iris(), highlight={0}),
        svg_of(iris(), title="another"),
        svg_of(many_classes(20)),
    ]
    ids = [re.findall(r' id="([^"]+)"', picture) for picture in pictures]
    assert all(len(set(own)) == len(own) for own in ids)
    assert svg_of(iris()) == pictures[0]
    assert len({own[0] for own in ids}) == len(pictures)
    for picture, own in zip(pictures, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", picture)) <= set(own)
        rules = re.findall(r"<style>(.*?)</style>", picture)[0].replace("@media", "")
        assert set(re.findall(r"#(tree-[0-9a-f]+)", rules)) == {own[0]}


def test_nothing_comes_from_elsewhere() -> None:
    for picture in (svg_of(many_classes(20)), svg_of(iris(), description="text")):
        root = read(picture)
        inside = {"http://www.w3.org/2000/svg"}
        assert set(re.findall(r"https?://[^\"' ]+", picture)) == inside
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert not tags & {"script", "image", "use", "a", "foreignObject", "link"}
        assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)
        assert "@import" not in picture
        assert "@font-face" not in picture


def test_names_from_data_are_words_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(90, 5)), columns=list(NASTY[:5]))
    table["kind"] = rng.choice(NASTY, 90)
    y = np.array(NASTY, dtype=object)[rng.integers(6, size=90)]
    drawing = draw_tree(some_trees.fitted(table, y), max_leaves=None)
    root = read(svg_of(drawing, title=NASTY[3] + "\ud800", description="".join(NASTY)))
    assert not list(root.iter(f"{SVG}script"))
    said = " ".join(words(root))
    assert "<script>" in said
    assert "\\u202e" in said
    assert '"two\\nlines\\u0000' in said.replace("…", "\\u0000")
    assert '""' in said
    assert root[0].text == "two\nlines\ufffd\ufffd\ufffd\ufffd"


def test_themes() -> None:
    light, dark, auto = (svg_of(iris(), theme=theme) for theme in ("light", "dark", "auto"))
    assert "background:#fff" in light
    assert "prefers-color-scheme" not in light
    assert "background:#fff" not in dark
    assert "prefers-color-scheme" not in dark
    assert "@media(prefers-color-scheme:dark)" in auto


def test_a_path_is_lit_and_lies_on_top() -> None:
    root = read(svg_of(iris(), highlight={0, 2, 12, 16}))
    lit = [g.get("data-node") for g in groups(root, "box") if "lit" in g.get("class", "")]
    assert lit == ["0", "2", "12", "16"]
    bright = ["lit" in g.get("class", "") for g in groups(root, "edge")]
    assert bright == [False] * 13 + [True] * 3
    style = next(root.iter(f"{SVG}style")).text or ""
    assert re.search(r"\.lit path\{[^}]*stroke-width:3\.5", style)


def test_classes_beyond_the_colors_have_patterns() -> None:
    fills = [class_fill(k, "p") for k in range(48)]
    assert len(set(fills)) == 48
    assert {pattern(k) for k in range(48)} == set(PATTERNS)
    drawing = many_classes(20)
    root = read(svg_of(drawing))
    tiles = list(root.iter(f"{SVG}pattern"))
    assert len(tiles) == 12
    drawn = [(tile[0].get("fill"), tile[1].get("d")) for tile in tiles]
    assert len(set(drawn)) == 12
    assert {shade for shade, _ in drawn} == set(COLORS)
    used = {e.get("fill") for g in groups(root, "box") for e in g.iter(f"{SVG}rect")}
    assert {f"url(#{tile.get('id')})" for tile in tiles} <= used


def test_bars_show_shares() -> None:
    box = iris().boxes[2]
    assert [(k, end - start) for k, start, end in bar_parts(box)] == [(1, 69.0), (2, 69.0)]
    root = many_classes(60).boxes[0]
    parts = list(bar_parts(root))
    assert len(parts) == 25
    assert parts[-1][0] is None
    assert parts[0][1] == 0
    assert parts[-1][2] == root.width - 16
    assert all(a[2] == b[1] for a, b in pairwise(parts))


def test_the_legend_has_rows_and_says_what_is_left_out() -> None:
    root = read(svg_of(many_classes(60)))
    entries = groups(root, "legend")[0]
    places = {(g.get("transform") or "").split()[1] for g in entries}
    assert len(places) > 1
    assert (entries[-1][0].text or "") == "20 more classes"
    cut = read(svg_of(iris(max_leaf_nodes=5)))
    assert not any("leaves drawn" in word for word in words(cut))
    shallow = draw_tree(some_trees.iris(), max_depth=2)
    assert "1 of 9 leaves drawn" in words(read(svg_of(shallow)))
