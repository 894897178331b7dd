"""The tree of a notebook in a real browser: it folds, finds and follows a row as Python does."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from tests.explained import read
from tests.trees.some_trees import NASTY, grown, iris, noise, tennis

from sortal.data.sources import Batch, read_table
from sortal.native.trees import CUT, SPREAD
from sortal.trees.drawing.html import html_of
from sortal.trees.drawing.layout import arrange, draw_tree, sketch
from sortal.trees.drawing.svg import svg_of
from sortal.trees.explain import ExplainTree, ends_of, walk
from sortal.trees.rules import tree_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

    from sortal import TreeClassifier
    from sortal.trees.drawing.layout import Drawing
    from sortal.trees.model import TreeModel

# What a box is made of, as text; what makes it usable (roles, focus) left out.
BOXES: Final = """(page) => [...page.querySelectorAll(".tree .box, .tree .edge")].map((group) => {
  const copy = group.cloneNode(true);
  for (const name of ["role", "tabindex", "aria-label", "aria-level", "aria-expanded"])
    copy.removeAttribute(name);
  return copy.outerHTML;
})"""

# Put each row into the form, and say where it ends and what is told.
ROUTE: Final = """(rows) => {
  const root = document.querySelector(".sortal-tree"), form = root.querySelector("form");
  const fields = [...form.querySelectorAll("[data-field]")];
  const result = root.querySelector("[data-part=result]");
  return rows.map((row) => {
    for (const field of fields) {
      const name = field.closest("label").querySelector("span").textContent;
      const value = row[name] ?? "";
      if (field.tagName !== "SELECT") { field.value = value; continue; }
      const options = [...field.options];
      const found = options.find((option) => option.value !== "" && option.text === value);
      field.value = value === "" ? "" : found ? found.value : "-1";
    }
    form.dispatchEvent(new Event("input"));
    const lit = [...root.querySelectorAll(".box.lit")].map((box) => Number(box.dataset.node));
    return [Number(result.dataset.node), result.textContent, lit];
  });
}"""


@cache
def varied(rows: int = 300) -> tuple[TreeClassifier, pd.DataFrame]:
    """Numbers, dates, words by subset and by value, an order and truth values, with many leaves."""
    rng = np.random.default_rng(3)
    sizes = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)
    start = np.datetime64("2020-01-01T00:00")
    table = pd.DataFrame(
        {
            "x": rng.normal(size=rows),
            "when": start + rng.integers(0, 9000, rows).astype("m8[h]"),
            "color": rng.choice(["red", "green", "blue", "gray"], rows),
            "kind": rng.choice(["k0", "k1", "k2"], rows),
            "size": pd.Categorical(rng.choice(sizes.categories, rows), dtype=sizes),
            "town": rng.choice([f"town {i}" for i in range(70)], rows),
            "old": rng.choice([True, False], rows),
        }
    )
    parts = [
        table["town"].str[-1].astype(int) % 2,
        table["kind"] == "k1",
        table["color"] == "red",
        table["old"],
        table["size"].cat.codes / 2,
        table["x"] > 0,
    ]
    score = np.sum(np.asarray(parts, dtype=float), axis=0) + rng.normal(size=rows)
    y = np.array(["no", "yes", "later"])[np.digitize(score, [2.5, 4])]
    model = grown(table, y, categorical_split={"kind": "multiway"})
    return model, table


@cache
def mixture(leaves: int) -> TreeModel:
    model, table = varied()
    y = model.predict(table)
    split = {"kind": "multiway"}
    return grown(table, y, categorical_split=split, max_leaf_nodes=leaves)._model


@cache
def wide() -> TreeModel:
    """Names of wide and narrow letters."""
    rng = np.random.default_rng(0)
    names = ["WWWWWWWWWWWWWWWWWW", "llllllllll iiiiiiiiii", "Ширина листа", "mmmm" * 20, "x"]
    table = pd.DataFrame(rng.normal(size=(300, 5)), columns=names)
    return grown(
        table, rng.choice(["MMMMMMMM", "illicit", "ЩЩЩЩЩЩ", "%%%% @@@@", "ΩΩΩ"], 300)
    )._model


MODELS: Final[dict[str, Callable[[], TreeModel]]] = {
    "one leaf": lambda: iris(max_depth=0),
    "iris": iris,
    "by value": tennis,
    "mixture": lambda: mixture(60),
    "missing": lambda: incomplete("direction", 4),
    "hundred": lambda: noise(100),
    "classes": lambda: noise(60, 30),
    "missing, every way": lambda: incomplete("fractional", 4),
}
LARGE: Final = ("hundred", "classes", "missing, every way")


def boxes_in(drawing: Drawing, page: Page) -> Any:
    """What a browser makes of the drawing as SVG."""
    page.set_content(svg_of(drawing))
    return page.evaluate(f"({BOXES})(document)")


def nodes(page: Page, kind: str) -> list[int]:
    numbers = "boxes => boxes.map(box => Number(box.dataset.node))"
    return list(page.eval_on_selector_all(kind, numbers))


def shown(page: Page) -> list[int]:
    return nodes(page, ".box")


def matched(page: Page) -> list[int]:
    return nodes(page, ".box.hit")


def plainly(pieces: list[str]) -> list[str]:
    """Without the names that are unique in a page, and without what the interaction adds."""
    return [re.sub(r"tree-[0-9a-f]+(n\d+)?", "tree", piece) for piece in pieces]


@pytest.mark.parametrize(
    "name", [*list(MODELS)[:5], *(pytest.param(name, marks=pytest.mark.full) for name in LARGE)]
)
def test_the_script_draws_what_python_draws(page: Page, name: str) -> None:
    model = MODELS[name]()
    html = html_of(model)
    page.set_content(html)
    after = plainly(page.evaluate(f"({BOXES})(document)"))
    still = f"html => ({BOXES})(new DOMParser().parseFromString(html, 'text/html'))"
    assert after == plainly(page.evaluate(still, html))
    page.get_by_role("button", name="Unfold all").click()
    unfolded = plainly(page.evaluate(f"({BOXES})(document)"))
    assert unfolded == plainly(boxes_in(draw_tree(model, max_leaves=200), page))
    drawn = "".join(unfolded)
    assert ("(or missing)" in drawn) == ("is missing</text>" in drawn) == (name == "missing")


@pytest.mark.parametrize(
    "name", ["by value", "mixture", pytest.param("hundred", marks=pytest.mark.full)]
)
def test_folded_trees_are_laid_out_as_python_does(page: Page, name: str) -> None:
    model = MODELS[name]()
    drawn = sketch(model, None, 200, "auto")
    inner = [i for i, item in enumerate(drawn.items) if not item.leaf and not item.cut]
    page.set_content(html_of(model))
    page.get_by_role("button", name="Unfold all").click()
    closed = set()
    for i in np.random.default_rng(1).permutation(inner)[:6].tolist():
        node = drawn.items[i].node
        if node in shown(page):
            page.locator(f"[data-node='{node}']").dispatch_event("click")
            closed.add(i)
    expected = arrange(drawn, closed)
    found = page.eval_on_selector_all(
        ".box", "boxes => boxes.map(b => [Number(b.dataset.node), b.getAttribute('transform')])"
    )
    assert found == [[box.node, f"translate({box.x} {box.y})"] for box in expected.boxes]
    assert page.eval_on_selector(".view svg", "svg => svg.getAttribute('viewBox')") == (
        f"0 0 {expected.width} {expected.height}"
    )


@pytest.mark.parametrize("font", ["system-ui", pytest.param("DejaVu Sans", marks=pytest.mark.full)])
def test_no_word_leaves_its_box(page: Page, font: str) -> None:
    for model in (wide(), iris(), mixture(40)):
        page.set_content(svg_of(draw_tree(model, max_leaves=None)))
        page.add_style_tag(content=f"svg text {{ font-family: {font} !important }}")
        outside = page.evaluate("""() => [...document.querySelectorAll(".box")].flatMap((box) => {
          const frame = box.querySelector(".frame").getBBox();
          const words = [...box.querySelectorAll("text")].map((text) => [text, text.getBBox()]);
          const number = words.find(([text]) => text.matches(".number"))[1];
          const name = words.find(([text]) => text.matches(".name"))[1];
          const wide = words.filter(([, b]) => b.x < 2 || b.x + b.width > frame.width - 2);
          if (name.x + name.width > number.x) wide.push([box.querySelector(".name")]);
          return wide.map(([text]) => text.textContent);
        })""")
        assert outside == []
        crossing = page.evaluate("""() => {
          const size = (element) => element.getBoundingClientRect();
          const frames = [...document.querySelectorAll(".frame")].map(size);
          const labels = [...document.querySelectorAll(".label")], places = labels.map(size);
          const meets = (a, b) => a.left < b.right && b.left < a.right
            && a.top + 2 < b.bottom && b.top < a.bottom - 2;
          return labels.filter((_, i) => frames.some((frame) => meets(places[i], frame))
            || places.slice(i + 1).some((other) => meets(places[i], other)))
            .map((label) => label.textContent);
        }""")
        assert crossing == []


def test_without_its_script_the_drawing_stands(browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(html_of(iris(), title="Irises", text="the text"))
    assert page.locator(".name").first.is_visible()
    assert page.locator(".box").count() == 17
    assert page.get_by_text("Irises").first.is_visible()
    assert not page.locator("[data-do]").first.is_visible()
    assert not page.locator("form").is_visible()
    page.get_by_text("The tree as text").click()
    assert page.get_by_text("the text", exact=True).is_visible()
    context.close()


def test_colors_follow_the_page(page: Page) -> None:
    page.set_content(f'<body style="background:#111;color:rgb(230, 230, 230)">{html_of(iris())}')
    assert page.eval_on_selector(".name", "e => getComputedStyle(e).fill") == "rgb(230, 230, 230)"
    ground = page.eval_on_selector(".view svg", "e => getComputedStyle(e).backgroundColor")
    assert ground == "rgba(0, 0, 0, 0)"


def test_a_large_tree_is_folded_at_first(page: Page) -> None:
    page.set_content(html_of(noise(100)))
    ends = page.locator(".box.leaf").count() + page.locator("[aria-expanded=false]").count()
    assert 10 < ends <= 20
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator(".box.leaf").count() == 100
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert page.locator(".box").count() == 3


def test_a_click_folds_and_unfolds(page: Page) -> None:
    page.set_content(html_of(iris()))
    assert shown(page) == list(range(17))
    page.locator("[data-node='3']").click()
    assert shown(page) == [0, 1, 2, 3, 12, 13, 14, 15, 16]
    box = page.locator("[data-node='3']")
    assert box.get_attribute("aria-expanded") == "false"
    assert "+5 more leaves" in (box.text_content() or "")
    box.click()
    assert shown(page) == list(range(17))
    page.locator("[data-node='1']").click()  # a leaf
    assert shown(page) == list(range(17))


def test_boxes_are_used_from_the_keyboard(page: Page) -> None:
    page.set_content(html_of(iris()))
    page.locator("[data-node='0']").focus()

    def press(key: str) -> str:
        page.keyboard.press(key)
        return str(page.evaluate("document.activeElement.dataset.node"))

    keys = ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"]
    assert [press(key) for key in keys] == ["1", "2", "3", "3"]
    assert shown(page) == [0, 1, 2, 3, 12, 13, 14, 15, 16]
    assert press(" ") == "3"
    assert shown(page) == list(range(17))
    assert press("ArrowLeft") == "3"
    assert len(shown(page)) == 9
    assert [press(key) for key in ["ArrowLeft", "ArrowUp", "End", "Home"]] == ["2", "1", "16", "0"]
    page.keyboard.press("Tab")  # the tree is one stop
    assert page.evaluate("document.activeElement.closest('.box')") is None
    label = page.locator("[data-node='16']").get_attribute("aria-label")
    assert label == ("node 16, if petal_length > 4.85; leaf: virginica; n 43: virginica 43 (100 %)")
    assert page.locator(".view svg").get_attribute("role") == "tree"


def test_the_box_clicked_stays_under_the_pointer(page: Page) -> None:
    page.set_content(html_of(noise(100)))
    page.get_by_role("button", name="Unfold all").click()
    place = f"[data-node='{page.locator('[aria-expanded]').nth(50).get_attribute('data-node')}']"
    page.locator(place).scroll_into_view_if_needed()
    before = page.locator(place).bounding_box()
    page.locator(place).dispatch_event("click")  # a click would scroll first
    after = page.locator(place).bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["x"] - after["x"]) < 2
    assert abs(before["y"] - after["y"]) < 2


def test_zoom(page: Page) -> None:
    page.set_content(html_of(noise(60)))
    svg, told = page.locator(".view svg"), page.locator("[data-part=zoom]")
    room = page.eval_on_selector(".view", "view => view.clientWidth")
    at_first = float(svg.get_attribute("width") or 0)
    page.get_by_role("button", name="100 %").click()
    width = float(svg.get_attribute("width") or 0)
    assert at_first == pytest.approx(max(room, 0.6 * width))  # smaller, but it can be read
    assert width > room
    page.get_by_role("button", name="Zoom in").click()
    assert float(svg.get_attribute("width") or 0) == pytest.approx(1.25 * width)
    assert told.text_content() == "125 %"
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_role("button", name="Zoom out").click()
    assert told.text_content() == "80 %"
    page.get_by_role("button", name="Fit").click()
    assert float(svg.get_attribute("width") or 0) <= room + 0.01
    page.get_by_role("button", name="100 %").click()
    assert float(svg.get_attribute("width") or 0) == width


def test_search_finds_names_conditions_labels_and_numbers(page: Page) -> None:
    model = iris()
    page.set_content(html_of(model))
    search, found = page.get_by_role("searchbox"), page.locator("[data-part=found]")
    asks = {name: j for j, name in enumerate(model.schema.names)}
    for words, nodes in {
        "sepal_length": np.flatnonzero(model.attribute == asks["sepal_length"]).tolist(),
        "PETAL": np.flatnonzero(model.attribute >= 2).tolist(),
        "<= 4.9": [4],
        "petal_width > 1.7": [12],
        "setosa": [1],
        "node 7": [7],
        "12": [12],
        "nothing": [],
    }.items():
        search.fill(words)
        assert matched(page) == nodes
        assert found.text_content() == f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"
    search.fill("")
    assert matched(page) == []
    assert found.text_content() == ""


def test_search_unfolds_and_enter_goes_on(page: Page) -> None:
    page.set_content(html_of(noise(40)))
    page.get_by_role("button", name="Fold all", exact=True).click()
    search = page.get_by_role("searchbox")
    search.fill("class 1")
    hits = matched(page)
    assert len(hits) > 10
    assert page.locator("[data-part=found]").text_content() == f"{len(hits)} nodes"

    def current(key: str) -> int:
        search.press(key)
        node, is_seen = page.evaluate("""() => {
          const box = document.querySelector(".box.current"), place = box.getBoundingClientRect();
          const view = document.querySelector(".view").getBoundingClientRect();
          const holds = view.left <= place.left + 1 && place.right <= view.right + 1
            && view.top <= place.top + 1 && place.bottom <= view.bottom + 1;
          return [Number(box.dataset.node), holds];
        }""")
        assert is_seen
        return int(node)

    assert [current("Enter") for _ in hits] == hits
    assert current("Enter") == hits[0]
    assert current("Shift+Enter") == hits[-1]


def as_typed(row: dict[str, Any]) -> dict[str, str]:
    return {
        name: str(np.datetime64(v)) if isinstance(v, dt.date) else str(v) for name, v in row.items()
    }


@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
def test_every_kind_of_attribute_ends_where_python_puts_it(page: Page) -> None:
    model, table = varied()
    tree = model._model
    assert len(set(tree.attribute.tolist())) == 8  # every column is asked
    rng = np.random.default_rng(5)
    rows = table.sample(60, random_state=1).reset_index(drop=True)
    for name in ("color", "kind", "town"):  # values never seen
        rows[name] = rows[name].where(rng.random(60) < 0.7, "never seen")
    asked = tree.threshold[tree.attribute == 0]  # thresholds and the numbers beside them
    beside = np.stack([np.nextafter(asked, to) for to in (-np.inf, asked, np.inf)]).ravel()[:60]
    rows.loc[: len(beside) - 1, "x"] = beside
    page.set_content(html_of(tree, max_leaves=None))
    found = page.evaluate(ROUTE, [as_typed(row) for row in rows.to_dict("records")])
    assert [node for node, _, _ in found] == model.apply(rows).tolist()
    paths, stays = model.decision_path(rows), 0
    for i, ((node, said, lit), row) in enumerate(
        zip(found, map(read, model.explain(rows)), strict=True)
    ):
        assert lit == paths[i].indices.tolist()
        label = tree.classes[tree.labels()[node]]
        assert said.startswith(f"node {node} says {label} (n {tree.units[node].sum()}: ")
        assert ("fallback: value not listed at node" in said) == row.fallback
        assert said.count("fallback") == sum(bool(move.mark) for move in row.parts)
        if tree.attribute[node] >= 0:
            stays += 1
            assert f"not listed at node {node}, the row stays there" in said
    assert stays > 3


def incomplete(policy: str, seed: int) -> TreeModel:
    """The tree of all kinds of attributes, as if fitted with missing values in most columns.

    Where they go is drawn at random; some cuts ask whether the number is known.
    """
    model = varied()[0]._model
    rng = np.random.default_rng(seed)
    is_nan = tuple(int(name not in ("x", "old")) for name in model.schema.names)
    asks = model.attribute >= 0
    met = asks & np.array(is_nan, dtype=bool)[model.attribute] & (rng.random(len(asks)) < 0.8)
    branches = rng.integers(np.maximum(np.diff(model.child_start), 1))
    missing = np.where(met, branches, -1)
    alone = met & (model.kind == CUT) & (rng.random(len(asks)) < 0.3) & (policy == "direction")
    threshold = np.where(alone, np.inf, model.threshold)
    missing = np.where(alone, 1, np.where(asks & (policy == "fractional"), SPREAD, missing))
    return replace(
        model,
        policy=policy,
        missing_counts=is_nan,
        threshold=threshold,
        missing=missing.astype(np.int32),
    )


def explained(model: TreeModel, rows: pd.DataFrame) -> Iterator[Any]:
    """What Python says of rows, by a walk down the nodes."""
    walked = walk(model)(Batch(0, len(rows), _columns(model, rows)))
    nodes = [ends_of(model, walked, i)[0].node for i in range(len(rows))]
    told = ExplainTree(model, replace(walked, nodes=np.array(nodes, dtype=np.int32)))
    return (read(told(i)) for i in range(len(rows)))


def _columns(model: TreeModel, rows: pd.DataFrame) -> tuple[Any, ...]:
    table = read_table(rows)
    pairs = enumerate(model.schema.columns)
    return tuple(
        table.numbers(j, 0, len(rows)) if column.is_number else table.categories(j, 0, len(rows))
        for j, column in pairs
    )


@pytest.mark.parametrize("policy", ["direction", "majority", "fractional"])
def test_fields_left_empty_are_missing_values_as_python_walks_them(page: Page, policy: str) -> None:
    rows = varied()[1].sample(60, random_state=1).reset_index(drop=True)
    rows["kind"] = rows["kind"].where(rows.index % 5 > 0, "never seen")
    rng = np.random.default_rng(6)
    for name in rows.columns:
        rows[name] = rows[name].astype(object).where(rng.random(60) < 0.7, None)
    model = incomplete(policy, 4)
    page.set_content(html_of(model, max_leaves=None))
    page.evaluate("document.querySelector('[data-do=unfold]').click()")  # drawn once, not by row
    typed = [
        as_typed({name: "" if pd.isna(v) else v for name, v in row.items()})
        for row in rows.to_dict("records")
    ]
    found = page.evaluate(ROUTE, typed)
    marks: set[str] = set()
    for (node, said, lit), row in zip(found, explained(model, rows), strict=True):
        assert node == row.node
        assert lit == sorted({move.node for move in row.parts} | {row.node})
        assert said.count("fallback") == sum(m.mark not in ("", "missing") for m in row.parts)
        assert said.count("is missing") == sum(m.value is None for m in row.parts)
        assert said.count("as in rows of the fit") == sum(m.mark == "missing" for m in row.parts)
        assert ("from all ends together" in said) == ("spread" in {m.mark for m in row.parts})
        assert (f"says {row.label} (" in said) == ("spread" not in {m.mark for m in row.parts})
        marks |= {move.mark for move in row.parts}
    expected = {"direction": {"missing", "unseen"}, "majority": {"majority", "unseen"}}
    assert marks >= expected.get(policy, {"spread"}) | {"", "unknown"}


def test_dates_are_read_to_the_nanosecond(page: Page) -> None:
    when = pd.date_range("2021-03-01", periods=24, freq="37h13min")
    model = grown(pd.DataFrame({"when": when}), np.arange(24) % 3)
    page.set_content(html_of(model._model))
    around = [moment + pd.Timedelta(step, "s") for moment in when for step in (0, 66_000, 67_001)]
    rows = pd.DataFrame({"when": around})
    typed = [{"when": str(np.datetime64(moment, "ns"))} for moment in around]
    found = page.evaluate(ROUTE, typed)
    assert [node for node, _, _ in found] == model.apply(rows).tolist()
    read = [["2021-03-02", True], ["2021-03-02 10:00", True], ["2021-02-30", False], ["now", False]]
    told = page.evaluate(ROUTE, [{"when": text} for text, _ in read])
    assert ["cannot be read" not in said for _, said, _ in told] == [fine for _, fine in read]


def test_what_is_not_given_or_not_a_number_is_said(page: Page) -> None:
    page.set_content(html_of(iris()))
    result = page.locator("[data-part=result]")

    def field(name: str) -> Locator:
        return page.get_by_role("textbox", name=name)

    page.get_by_text("Follow a row").click()
    assert result.text_content() == ""
    assert page.locator(".lit").count() == 0
    field("petal_length").fill("4")
    assert result.text_content() == (
        "petal_width is not given; so far node 2 (n 100: versicolor 50 (50 %), virginica 50 (50 %))"
    )
    field("petal_width").fill("1,5")
    assert (result.text_content() or "").startswith("petal_width cannot be read; so far node 2")
    field("petal_width").fill("1.5")
    assert result.text_content() == "node 5 says versicolor (n 47: versicolor 47 (100 %))"
    assert page.locator(".edge.lit").count() == 4
    for text in ("inf", "NaN", "0x10", "1e", "--1"):
        field("petal_length").fill(text)
        assert "cannot be read" in (result.text_content() or "")


def test_a_path_unfolds_and_ends_where_the_drawing_ends(page: Page) -> None:
    model = noise(100)
    page.set_content(html_of(model, max_leaves=30))
    rows = [{name: str(x) for name in model.schema.names} for x in (-2, -1, 0, 1, 2)]
    deepest = max(box.depth for box in draw_tree(model, max_leaves=30).boxes)
    found = page.evaluate(ROUTE, rows)
    cut = [lit for _, said, lit in found if said.endswith("; the rest is not drawn")]
    assert cut
    assert {len(lit) for lit in cut} == {1 + deepest}


def test_values_from_python_stand_in_the_form(page: Page) -> None:
    model, table = varied()
    row = table.iloc[7].to_dict()
    page.set_content(html_of(model._model, max_leaves=None, values=row))
    result = page.locator("[data-part=result]")
    assert result.get_attribute("data-node") == str(model.apply(table.iloc[[7]])[0])
    page.set_content(html_of(model._model, max_leaves=None, values=row | {"kind": "k9", "x": None}))
    assert page.get_by_role("combobox", name="kind").input_value() == "-1"
    assert page.get_by_role("textbox", name="x", exact=True).input_value() == ""
    assert page.get_by_text("A field left empty").count() == 0
    model_with_missing = incomplete("direction", 4)
    nothing = dict.fromkeys(model_with_missing.schema.names)
    page.set_content(html_of(model_with_missing, max_leaves=None, values=nothing))
    assert "is missing at node 0" in (result.text_content() or "")
    assert page.get_by_text("A field left empty is a missing value.").is_visible()


def test_two_trees_work_where_a_notebook_puts_them(page: Page) -> None:
    """As text into an element, its scripts then made anew and run one by one."""
    page.set_content("<main></main>")
    page.evaluate(
        """html => {
          for (let cell = 0; cell < 2; cell++) {
            const output = document.createElement("div");
            output.innerHTML = html;
            document.querySelector("main").append(output);
            for (const old of output.querySelectorAll("script")) {
              const fresh = document.createElement("script");
              fresh.textContent = old.textContent;
              old.replaceWith(fresh);
            }
          }
        }""",
        html_of(iris()),
    )
    page.locator("[data-node='3']").first.click()
    assert len(shown(page)) == 9 + 17
    page.get_by_role("searchbox").last.fill("setosa")
    assert page.locator(".hit").count() == 1
    assert page.evaluate("Object.keys(window).filter(name => /tree/i.test(name))") == []


def test_names_from_data_are_words_and_nothing_else(page: Page) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 2)), columns=list(NASTY[:2]))
    table[NASTY[2]] = rng.choice(NASTY, 200)
    table[NASTY[3]] = rng.choice([f"{name}{i}" for name in NASTY for i in range(20)], 200)
    model = grown(table, rng.choice(NASTY, 200))
    html = html_of(model._model, title=NASTY[2], text="\n".join(NASTY), max_leaves=None)
    page.set_content(html)
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("strong").text_content() == NASTY[2]
    assert page.locator("pre").text_content() == "\n".join(NASTY)
    assert sorted(page.locator("form label > span").all_text_contents()) == sorted(NASTY)
    titles = page.eval_on_selector_all(".box title", "titles => titles.map(t => t.textContent)")
    assert titles == [box.title for box in draw_tree(model._model, max_leaves=None).boxes]
    rows = table.head(20)
    found = page.evaluate(ROUTE, [as_typed(row) for row in rows.to_dict("records")])
    assert [node for node, _, _ in found] == model.apply(rows).tolist()
    page.get_by_role("searchbox").fill("<img")
    assert len(matched(page)) > 0


def test_the_same_tree_has_the_same_bytes_and_not_too_many() -> None:
    model = noise(100)
    html = html_of(model, text=tree_text(model, None, None))
    again = html_of(model, text=tree_text(model, None, None))
    number = r"(tree-[0-9a-f]+)n\d+"
    assert re.sub(number, r"\1", html) == re.sub(number, r"\1", again)
    assert re.findall(number, html) != []
    assert html != again  # twins on a page define names of their own
    assert len(html.encode()) < 150_000
    script = html[html.index("<script>") :]
    data = re.search(r"const data = (.*);\n", script)
    assert data is not None
    assert len(json.loads(data[1])["node"]) == 199
    assert len(script.replace(data[1], "")) < 22_000
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)
