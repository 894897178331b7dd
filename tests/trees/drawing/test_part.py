"""A tree as a part of a page: it is pruned by a slider, lit from elsewhere, zoomed and dragged."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from jinja2.utils import htmlsafe_json_dumps

from sortal import TreeClassifier, datasets
from sortal.errors import OneClassWarning
from sortal.native.trees import LEAF
from sortal.trees.cost_complexity import complexity_path, places_in
from sortal.trees.drawing.html import tree_part, tree_script, tree_style
from sortal.trees.drawing.layout import draw_tree
from sortal.trees.prune import prune_to

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page

    from sortal.records.render import PagePart
    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.model import TreeModel

START: Final = """for (const root of document.querySelectorAll("[data-part-of]")) {
  const data = document.querySelector(`[data-for="${root.dataset.partOf}"]`);
  showTree(root, JSON.parse(data.textContent));
}"""

# At each stop of the slider: what is told, and the nodes and leaves that are drawn, unfolded.
STOPS: Final = """() => {
  const root = document.querySelector(".sortal-tree"), found = [];
  const slider = root.querySelector("[data-part=stop]");
  const numbers = (kind) => [...root.querySelectorAll(kind)].map((box) => +box.dataset.node);
  for (let stop = 0; stop <= Number(slider.max); stop++) {
    slider.value = stop;
    slider.dispatchEvent(new Event("input"));
    const ends = root.querySelectorAll(".box:not([aria-expanded=true])").length;
    root.querySelector("[data-do=unfold]").click();
    found.push({
      told: root.querySelector("[data-part=told]").textContent,
      heard: slider.getAttribute("aria-valuetext"),
      ends,
      boxes: numbers(".box"),
      leaves: numbers(".box.leaf"),
      stacks: root.querySelectorAll(".stack").length,
      facts: [...root.querySelectorAll(".box title")].map((title) => title.textContent),
      lines: [...root.querySelectorAll(".box")].map((box) => [...box.querySelectorAll("text")]
        .map((text) => text.textContent)),
      more: [...root.querySelectorAll(".more")].map((text) => text.textContent),
    });
  }
  return found;
}"""

SEND: Final = """([name, nodes]) => {
  document.dispatchEvent(new CustomEvent("sortal:path", { detail: { name, nodes } }));
  const lit = [...document.querySelectorAll(".box.lit")].map((box) => Number(box.dataset.node));
  return [lit, document.querySelector("[data-part=result]").textContent];
}"""


@cache
def penguins() -> tuple[TreeClassifier, CostComplexityPath]:
    table = datasets.penguins()
    model = TreeClassifier(pruning=None).fit(table, "species")
    path = model.cost_complexity_path(table.drop(columns="species"), table["species"], cv=5)
    return model, path


@cache
def noisy(leaves: int) -> TreeModel:
    """Many tests that save nothing: the path ends before the tree does."""
    rng = np.random.default_rng(5)
    n, names = 6 * leaves, ["a long name", "b", "c"]
    table = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=names)
    table["another long name"] = rng.choice(list("uvwxyz"), n)
    y = np.where(rng.random(n) < 0.8, table["a long name"] > 0, rng.random(n) < 0.3)
    tree = TreeClassifier(pruning=None, max_leaf_nodes=leaves, categorical_split="multiway")
    return tree.fit(table, np.where(y, "yes", "no"))._model


def page_of(*parts: PagePart) -> str:
    pieces = [
        f'{part.html}<script type="application/json" data-for="{part.id}">'
        f"{htmlsafe_json_dumps(part.data)}</script>"
        for part in parts
    ]
    return (
        '<!doctype html><html lang="en"><head><title>A page</title>'
        f"<style>{tree_style()}</style></head><body><main>"
        f"{''.join(pieces)}</main><script>{tree_script()}\n{START}</script></body></html>"
    )


def show(page: Page, model: TreeModel, **options: Any) -> PagePart:
    part = tree_part(model, **options)
    page.set_content(page_of(part))
    return part


def test_a_part_is_one_element_without_style_and_script() -> None:
    model, path = penguins()
    part = tree_part(model._model, name="birds", title="<b>", complexity=path, text="</div>")
    assert (part.id, part.kind, part.data["model"]) == ("birds", "tree", "birds")
    assert part.html.startswith('<div class="sortal-tree" data-part-of="birds"')
    assert part.html.count("<div") == part.html.count("</div>")
    assert not re.search(r"<script|<style|style=|\son\w+=|javascript:", part.html)
    assert set(re.findall(r"https?://[^\s\"]*", part.html)) == {"http://www.w3.org/2000/svg"}
    assert "<b>" not in part.html
    assert json.loads(json.dumps(part.data))["node"] == list(range(model._model.n_nodes))
    again = tree_part(model._model, name="birds", title="<b>", complexity=path, text="</div>")
    assert again == part  # byte by byte
    assert all(name.startswith("birds") for name in re.findall(r'\bid="([^"]*)', part.html))


def test_what_is_left_out_comes_with_the_code_that_shows_it() -> None:
    model = noisy(60)
    cut = tree_part(model, max_leaves=20)
    assert re.search(r"\d+ of 60 leaves drawn; all of them: to_html\(max_leaves=None\)", cut.html)
    assert "leaves drawn" not in tree_part(model).html


@pytest.mark.full
def test_a_thousand_leaves_stay_small() -> None:
    model = noisy(1000)
    part = tree_part(model, max_leaves=None, complexity=complexity_path(model), with_form=False)
    assert part.data["leaf"].count(1) == model.n_leaves > 900
    assert len(part.html.encode()) + len(htmlsafe_json_dumps(part.data)) < 700_000
    cut = tree_part(model, complexity=complexity_path(model), with_form=False)
    assert len(cut.html.encode()) + len(htmlsafe_json_dumps(cut.data)) < 180_000


def pruned_nodes(
    model: TreeModel, path: CostComplexityPath, stop: int
) -> tuple[list[int], list[int]]:
    """The nodes and the leaves of the pruned tree, by their numbers in the whole one."""
    if stop == len(path):
        return list(range(model.n_nodes)), np.flatnonzero(model.kind == LEAF).tolist()
    small = prune_to(model, path.cp[stop])
    number = {0: 0}
    for t in range(small.n_nodes):  # children stay in their order
        below = small.children[small.child_start[t] : small.child_start[t + 1]].tolist()
        start = model.child_start[number[t]]
        number |= {c: int(model.children[start + b]) for b, c in enumerate(below)}
    leaves = np.flatnonzero(small.kind == LEAF).tolist()
    return sorted(number.values()), sorted(number[t] for t in leaves)


@pytest.mark.parametrize("leaves", [30, 150])
def test_places_are_those_of_pruning(leaves: int) -> None:
    model = noisy(leaves)
    path = complexity_path(model)
    places = places_in(path, model)
    assert path.n_leaves[-1] < model.n_leaves
    for stop in range(len(path)):
        boxes, ends = pruned_nodes(model, path, stop)
        assert len(ends) == path.n_leaves[stop]
        assert (places[ends] > stop).all()
        assert (places[sorted(set(boxes) - set(ends))] <= stop).all()


def test_the_slider_shows_each_tree_of_the_path(page: Page) -> None:
    model, path = penguins()
    show(page, model._model, complexity=path)
    found = page.evaluate(STOPS)
    assert len(found) == len(path)
    for stop, seen in enumerate(found):
        boxes, ends = pruned_nodes(model._model, path, stop)
        assert seen["boxes"] == boxes
        assert seen["leaves"] == ends
        assert seen["stacks"] == 0  # a leaf, not something folded
        assert seen["heard"] == seen["told"] == told(path, stop)
        alone = draw_tree(prune_to(model._model, path.cp[stop]), max_leaves=None)
        numbers = [str(t) for t in boxes]
        lines = [[*box.lines, t] for box, t in zip(alone.boxes, numbers, strict=True)]
        assert seen["lines"] == lines
        assert [fact.partition("\n")[2] for fact in seen["facts"]] == [
            box.title.partition("\n")[2] for box in alone.boxes
        ]
    assert found[0]["lines"] == [["Adelie", "n 344 · 44 %", "0"]]
    assert found[0]["facts"][0].startswith("node 0\nleaf: Adelie\nn 344: ")


def told(path: CostComplexityPath, stop: int) -> str:
    """What the slider says, from the record."""
    assert path.cv_error is not None
    assert path.cv_deviation is not None
    leaves, error = path.n_leaves[stop], round(path.error[stop], 4)
    cv, around = round(path.cv_error[stop], 4), round(path.cv_deviation[stop], 4)
    marks = {
        "the least cross-validated error": path.choose("min"),
        "the smallest tree within one deviation of the least": path.choose("one_se"),
        "cost-complexity pruning would choose this one": path.chosen,
        "the tree as fitted": len(path) - 1,
    }
    said = "; ".join(mark for mark, place in marks.items() if place == stop)
    return (
        f"{leaves} {'leaf' if leaves == 1 else 'leaves'} · error {error:g} on the rows of the fit"
        f" · cross-validated {cv:g} ± {around:g}" + (f" · {said}" if said else "")
    )


def test_the_last_stop_is_the_tree_as_fitted(page: Page) -> None:
    """Also where the path ends with a smaller one; what is folded or cut counts its leaves."""
    model = noisy(150)
    path = complexity_path(model)
    part = show(page, model, complexity=path, max_leaves=40)
    assert page.locator("[data-part=told]").text_content() == (
        f"{model.n_leaves} leaves · error {round(path.error[-1], 4):g} on the rows of the fit"
        " · the tree as fitted, which errs on these rows as the one before"
    )
    drawn = set(part.data["node"])
    found = page.evaluate(STOPS)
    assert len(found) == len(path) + 1
    for stop, seen in enumerate(found):
        boxes, ends = pruned_nodes(model, path, stop)
        assert seen["boxes"] == sorted(drawn & set(boxes))
        assert seen["leaves"] == sorted(drawn & set(ends))
        assert seen["ends"] <= 20
        more = sum(int(re.sub(r"\D", "", text)) for text in seen["more"])
        assert len(seen["leaves"]) + more == len(ends)
        at_root = next(fact for fact in seen["facts"] if fact.startswith("node 0\n"))
        assert stop == 0 or at_root.endswith(f"\n{len(ends)} leaves below")


def test_the_slider_is_used_from_the_keyboard(page: Page) -> None:
    model, path = penguins()
    show(page, model._model, complexity=path)
    slider = page.get_by_role("slider", name="Prune the tree")
    mark = page.locator("[data-part=now]")
    assert slider.input_value() == str(len(path) - 1)
    at_first = mark.get_attribute("transform")
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator(".box").count() == 1
    page.keyboard.press("ArrowRight")
    assert page.locator(".box.leaf").count() == path.n_leaves[1] == 2
    assert mark.get_attribute("transform") != at_first
    page.keyboard.press("End")
    assert page.locator(".box.leaf").count() == model._model.n_leaves
    assert mark.get_attribute("transform") == at_first


def test_what_is_typed_and_searched_goes_through_the_pruned_tree(page: Page) -> None:
    model, path = penguins()
    show(page, model._model, complexity=path)
    table = datasets.penguins().drop(columns="species")
    page.get_by_text("Follow a row").click()
    for name in ("flipper_length_mm", "bill_length_mm", "bill_depth_mm"):
        page.get_by_role("textbox", name=name).fill(str(table[name][0]))
    result = page.locator("[data-part=result]")
    assert result.get_attribute("data-node") == str(model.apply(table[:1])[0])
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    small = prune_to(model._model, path.cp[1])
    assert small.n_leaves == 2
    assert (result.text_content() or "").startswith("node 1 says Adelie (n 213: Adelie 149 (70 %)")
    assert (result.text_content() or "").endswith("; so says the tree of 2 leaves")
    page.get_by_role("searchbox").fill("bill")
    assert page.locator("[data-part=found]").text_content() == "0 nodes"
    page.get_by_role("searchbox").fill("adelie")
    assert page.locator("[data-part=found]").text_content() == "1 node"
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert page.locator(".hit").count() > 1


def test_errors_stand_in_a_table_and_in_words(page: Page) -> None:
    model, path = penguins()
    show(page, model._model, complexity=path)
    page.get_by_text("Sizes and errors as a table").click()
    rows = page.locator("tbody tr")
    assert rows.count() == len(path)
    assert rows.nth(1).locator("th").text_content() == f"{path.n_leaves[1]} leaves"
    cells = rows.nth(1).locator("td").all_text_contents()
    assert cells[:2] == [f"{path.cp[1]:.6g}", f"{round(path.error[1], 4):g}"]
    title = page.locator(".curve title").text_content() or ""
    most = path.n_leaves[-1]
    assert title.startswith(f"Errors of {len(path)} trees, from 1 leaf to {most} leaves. ")
    assert told(path, path.choose("min")) in title


def test_a_long_path_has_a_short_table() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(400, 2)), columns=["u", "v"])
    y, weights = rng.integers(3, size=400), rng.integers(1, 99, 400)
    model = TreeClassifier(pruning=None).fit(rows, y, sample_weight=weights)._model
    path = complexity_path(model)
    assert len(path) > 60
    part = tree_part(model, complexity=path)
    n_rows = part.html.count('<th scope="row">')
    assert n_rows <= 60
    n_stops = len(part.data["nested"]["told"])
    assert f"{n_rows} of {n_stops} trees; all of them: cost_complexity_path(X, y)" in part.html


def test_a_single_leaf_and_a_tree_without_errors(page: Page) -> None:
    table = datasets.iris()
    for depth in (0, 1):
        model = TreeClassifier(pruning=None, max_depth=depth).fit(table, "species")
        show(page, model._model, complexity=model.cost_complexity_path())
        assert page.locator(".box").count() == model._model.n_nodes
    with pytest.warns(OneClassWarning, match="1 class only"):
        perfect = TreeClassifier(pruning=None).fit(pd.DataFrame({"x": [1, 2]}), ["a", "a"])
    show(page, perfect._model, complexity=perfect.cost_complexity_path())
    assert "1 leaf · error 0" in (page.locator("[data-part=told]").text_content() or "")


def test_nodes_sent_are_lit_and_told(page: Page) -> None:
    model = noisy(150)
    walked = way_to(model, int(np.flatnonzero(model.kind == LEAF)[-5]))
    show(page, model, name="tree", follows="decide", with_form=False, max_leaves=None)
    page.evaluate("document.body.style.height = '3000px'; scrollTo(0, 40)")
    lit, said = page.evaluate(SEND, ["decide", walked])
    assert lit == walked
    label = model.classes[model.labels()[walked[-1]]]
    assert said.startswith(f"the row ends at node {walked[-1]}, which says {label} (n ")
    assert page.evaluate("scrollY") == 40  # the view scrolls, the page stays
    place, view = box_of(page, f".box[data-node='{walked[-1]}']"), box_of(page, ".view")
    assert view["y"] - 1 <= place["y"]
    assert place["y"] + place["height"] <= view["y"] + view["height"] + 1
    assert page.evaluate(SEND, ["another", [0]])[0] == walked
    assert page.evaluate(SEND, ["decide", []]) == [[], ""]


def box_of(page: Page, place: str) -> FloatRect:
    found = page.locator(place).bounding_box()
    assert found is not None
    return found


def way_to(model: TreeModel, node: int) -> list[int]:
    """The nodes from the root to this one."""
    path, parents = [node], model.parents().tolist()
    while path[-1]:
        path.append(parents[path[-1]])
    return path[::-1]


def test_what_is_not_drawn_of_a_path_is_said(page: Page) -> None:
    model = noisy(150)
    part = show(page, model, max_leaves=10, complexity=complexity_path(model))
    deepest = int(np.argmax(model.depths()))
    path = way_to(model, deepest)
    drawn = [t for t in path if t in part.data["node"]]
    lit, said = page.evaluate(SEND, ["tree", path])
    assert lit == drawn
    assert said.startswith(f"the row ends at node {deepest}; drawn as far as node {drawn[-1]} (n ")
    assert said.endswith("; the rest is not drawn")
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    assert page.locator(".box.lit").count() == 1
    holds = part.data["facts"][0].split("\n")[1]
    assert (page.locator("[data-part=result]").text_content() or "").endswith(
        f"; drawn as far as node 0 ({holds}); the rest is pruned here"
    )


def test_several_ways_are_lit_together(page: Page) -> None:
    model = penguins()[0]._model
    show(page, model, with_form=False)
    leaves = np.flatnonzero(model.kind == LEAF)[:3].tolist()
    nodes = sorted({t for leaf in leaves for t in way_to(model, leaf)})
    lit, said = page.evaluate(SEND, ["tree", nodes])
    assert lit == nodes
    assert said == f"the row goes every way, to nodes {', '.join(map(str, leaves))}"
    show(page, replace(model, policy="fractional"), with_form=False)
    _, said = page.evaluate(SEND, ["tree", way_to(model, leaves[0])])
    assert said.startswith(f"the heaviest way ends at node {leaves[0]} (n ")


def test_wheel_and_keys_zoom_the_view(page: Page) -> None:
    show(page, noisy(150), with_form=False)
    zoom = page.locator("[data-part=zoom]")
    page.get_by_role("button", name="Unfold all").click()
    page.get_by_role("button", name="100 %").click()
    box = page.locator(".box").nth(3)
    box.scroll_into_view_if_needed()
    before = box.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + 5, before["y"] + 5)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function("document.querySelector('[data-part=zoom]').textContent !== '100 %'")
    assert zoom.text_content() == "165 %"
    after = box.bounding_box()
    assert after is not None
    assert abs(after["x"] - before["x"]) < 6  # what is under the pointer stays there
    assert abs(after["y"] - before["y"]) < 6
    page.mouse.wheel(0, -200)
    assert zoom.text_content() == "165 %"  # without Ctrl it scrolls
    page.locator("[data-node='0']").focus()
    for key, told in [("0", "100 %"), ("+", "125 %"), ("=", "156 %"), ("-", "125 %")]:
        page.keyboard.press(key)
        assert zoom.text_content() == told


def test_the_view_is_dragged_and_a_drag_is_no_click(page: Page) -> None:
    show(page, noisy(150), with_form=False)
    page.get_by_role("button", name="Unfold all").click()
    page.get_by_role("button", name="100 %").click()
    count = page.locator(".box").count()
    scrolled = "view => [view.scrollLeft, view.scrollTop]"
    page.eval_on_selector(".view", "view => view.scrollTo(300, 600)")
    x, y = page.evaluate(
        """() => {
          const view = document.querySelector(".view").getBoundingClientRect();
          const places = [...document.querySelectorAll(".box[aria-expanded] .frame")]
            .map((frame) => frame.getBoundingClientRect());
          const found = places.find((place) => place.top > view.top + 60
            && place.left > view.left + 90 && place.bottom < view.bottom
            && place.right < view.right);
          return [found.left + 3, found.bottom - 3];
        }"""
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 20)
    page.mouse.move(x - 80, y - 50)
    page.mouse.up()
    assert page.eval_on_selector(".view", scrolled) == [380, 650]
    assert page.locator(".box").count() == count
    page.mouse.click(x - 80, y - 50)
    assert page.locator(".box").count() != count


def test_a_tree_in_something_hidden_is_fitted_when_it_is_shown(page: Page) -> None:
    part = tree_part(penguins()[0]._model, with_form=False)
    html = page_of(part).replace("<main>", "<main hidden>")
    page.set_viewport_size({"width": 1200, "height": 700})
    page.set_content(html)
    page.eval_on_selector("main", "main => (main.hidden = false)")
    room = page.eval_on_selector(".view", "view => view.clientWidth")
    whole = page.eval_on_selector(".view svg", "svg => svg.viewBox.baseVal.width")
    page.wait_for_function("document.querySelector('[data-part=zoom]').textContent !== '100 %'")
    width = float(page.locator(".view svg").get_attribute("width") or 0)
    assert 0.6 * whole < room < whole
    assert width == pytest.approx(room)
    page.set_viewport_size({"width": 1000, "height": 700})
