"""A page decides as Python does: every kind of model in a real browser, row by row."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from tests.explained import read
from tests.trees.some_trees import NASTY

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    TreeClassifier,
    datasets,
)
from sortal.browser import join_files, read_static
from sortal.errors import MissingValueError, UnknownCategoryError
from sortal.native.trees import CUT
from sortal.tasks.report.page import SCRIPTS, decide_part
from sortal.trees.explain import ends_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from playwright.sync_api import Page

    from sortal.records.render import PagePart

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

COSTS: Final = [[0, 1, 5], [2, 0, 1], [1, 1, 0]]
START: Final = """
window.paths = [];
document.addEventListener("sortal:path", (event) => window.paths.push(event.detail));
for (const data of document.querySelectorAll("script[data-for]")) {
  const root = document.querySelector(`[data-part-of="${data.dataset.for}"]`);
  startDecide(root, JSON.parse(data.textContent));
}
"""
DECIDE: Final = "(rows) => rows.map((row) => document.querySelector('.sortal-decide').decide(row))"


def show(page: Page, *parts: PagePart | None) -> None:
    """A page of these parts, under the policy that a report has: only its own script runs."""
    script = join_files(SCRIPTS) + START
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    body = ""
    for part in parts:
        assert part is not None
        text = json.dumps(part.data, allow_nan=False).replace("<", "\\u003c")
        body += f'{part.html}<script type="application/json" data-for="{part.id}">{text}</script>'
    page.set_content(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Decide</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        f"<style>:root {{ color-scheme: light dark; }} {read_static('decide.css')}</style></head>"
        f"<body><main>{body}</main><script>{script}</script></body></html>"
    )


def decided(page: Page, estimator: Any, rows: pd.DataFrame, **more: Any) -> list[dict[str, Any]]:
    show(page, part_of(estimator, **more))
    found: list[dict[str, Any]] = page.evaluate(DECIDE, as_sent(rows))
    return found


def decided_alike(page: Page, estimator: Any, rows: pd.DataFrame, rtol: float = 1e-9) -> None:
    """Labels and probabilities, to the digits that the case has."""
    rows = decidable(estimator, rows)
    found = decided(page, estimator, rows)
    assert [row["said"] for row in found] == [str(label) for label in estimator.predict(rows)]
    if hasattr(estimator, "predict_proba"):
        mine, proba = [row["probabilities"] for row in found], estimator.predict_proba(rows)
        np.testing.assert_allclose(mine, proba, rtol=rtol, atol=1e-12)


LINEAR: Final = (LinearDiscriminant, FisherDiscriminant, IndicatorRegression)


def decidable(estimator: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Of linear functions, rows without missing values and with values that the fit met."""
    if not isinstance(estimator, LINEAR):
        return rows
    known = rows.notna().all(axis=1)
    for column in estimator._schema.columns:
        if column.kind == "category":
            known &= rows[column.name].astype(object).isin(list(column.values))
    return rows[known].reset_index(drop=True)


def part_of(estimator: Any, name: str = "it", **more: Any) -> PagePart | None:
    known = {"missing": estimator.missing, "unknown": estimator.unknown}
    costs = getattr(estimator, "costs", None)
    return decide_part(estimator._model, title="Decide", name=name, costs=costs, **known, **more)


def mixed(rows: int, seed: int, missing: float) -> tuple[pd.DataFrame, Any]:
    """Numbers small and large, dates, words, whole numbers as words, an order, truth values."""
    rng = np.random.default_rng(seed)
    sizes = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)
    words = {
        "color": rng.choice(["red", "green", "blue", "gray"], rows).astype(object),
        "kind": rng.choice([3, 5, 7], rows).astype(object),
        "old": rng.choice([True, False], rows).astype(object),
    }
    x, far = rng.normal(size=rows).round(2), rng.normal(size=rows) * 1e6 + 3e8
    when = pd.Series(np.datetime64("2020-01-01T00", "s") + rng.integers(0, 9000, rows) * 3600)
    size = pd.Series(pd.Categorical(rng.choice(sizes.categories, rows), dtype=sizes))
    table = pd.DataFrame({"x": x, "far": far, "when": when, "size": size, **words})
    score = (table["kind"] == 5) + (table["color"] == "red") + table["old"].astype(float)
    score += size.cat.codes / 2 + (x > 0) + (far - 3e8) / 1e6 + rng.normal(size=rows)
    y = np.array(["no", "yes", "later"])[np.digitize(score, [1.5, 3])]
    for name in table.columns:
        table.loc[rng.random(rows) < missing, name] = None
    return table, y


@cache
def training() -> tuple[pd.DataFrame, Any]:
    return mixed(400, 3, 0.1)


@cache
def asked(rows: int) -> pd.DataFrame:
    """Rows with missing values, unknown words and numbers far outside."""
    table, _ = mixed(rows, 9, 0.25)
    rng = np.random.default_rng(9)
    for name, value in [
        ("color", "mauve"),
        ("color", "declared"),
        ("kind", 11),
        ("x", -0.0),
        ("x", 50.0),
        ("far", -1e30),
    ]:
        table.loc[rng.random(rows) < 0.06, name] = value
    return table


def plain(value: Any) -> Any:
    if isinstance(value, pd.Timestamp):
        return str(value)
    if value is None or value is pd.NaT or value != value:  # noqa: PLR0124  (NaN)
        return None
    return value.item() if isinstance(value, np.generic) else value


def as_sent(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def on_mixed(kind: type[Any], labels: Any = None, rows: int = 400, **options: Any) -> Any:
    X, y = (part[:rows] for part in training())
    declared = pd.CategoricalDtype(["red", "green", "blue", "gray", "declared"])
    X = X.assign(color=X["color"].astype(declared))  # one of them no row has
    codes = {"no": 10, "yes": 2, "later": 33}
    y = np.array([codes[label] for label in y]) if labels == "int" else y
    y = y == "no" if labels == "two" else y
    return kind(categorical_features=["kind"], **options).fit(X, y)


def tree(**options: Any) -> Any:
    return on_mixed(TreeClassifier, pruning=None, **options)


MODELS: Final[dict[str, Callable[[], Any]]] = {
    "lda": lambda: on_mixed(LinearDiscriminant),
    "lda, shrunk, costs, int": lambda: on_mixed(
        LinearDiscriminant, "int", shrinkage=0.3, costs=COSTS, missing="mean"
    ),
    "fisher": lambda: on_mixed(FisherDiscriminant),
    "fisher, two classes": lambda: on_mixed(FisherDiscriminant, "two", threshold="least_error"),
    "indicator": lambda: on_mixed(IndicatorRegression),
    "bayes": lambda: on_mixed(DiscreteBayes),
    "bayes, counts, costs": lambda: on_mixed(DiscreteBayes, alpha=0, costs=COSTS),
    "bayes, joint": lambda: on_mixed(DiscreteBayes, "int", structure="joint"),
    "bayes, joint counts": lambda: on_mixed(DiscreteBayes, rows=70, structure="joint", alpha=0),
    "tree": tree,
    "tree, fractional": lambda: tree(missing="fractional", max_leaf_nodes=40),
    "tree, majority": lambda: tree(
        labels="int",
        missing="majority",
        categorical_split="multiway",
        smoothing="laplace",
        costs=COSTS,
    ),
    "tree, branch": lambda: tree(
        missing="branch", categorical_split="multiway", class_weight="balanced"
    ),
}
# Other numbers in the place of those above.
VARIANTS: Final[dict[str, Callable[[], Any]]] = {
    "lda, balanced": lambda: on_mixed(LinearDiscriminant, class_weight="balanced"),
    "indicator, balanced": lambda: on_mixed(IndicatorRegression, class_weight="balanced"),
    "tree, proportions": lambda: tree(smoothing=None),
    "tree, fractional, costs": lambda: tree(missing="fractional", costs=COSTS, max_leaf_nodes=12),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_row_is_decided_as_python_decides_it(page: Page, name: str) -> None:
    estimator = MODELS[name]()
    compare(page, estimator, at_thresholds(estimator, asked(35)))


@pytest.mark.full
@pytest.mark.parametrize("name", VARIANTS)
def test_variants_decide_as_python_does(page: Page, name: str) -> None:
    estimator = VARIANTS[name]()
    compare(page, estimator, at_thresholds(estimator, asked(60)))


def at_thresholds(estimator: Any, table: pd.DataFrame) -> pd.DataFrame:
    """Numbers that a tree asks for, and their neighbors."""
    model = estimator._model
    if not isinstance(estimator, TreeClassifier):
        return table
    table = table.copy()
    for j in (0, 1):
        cuts = model.threshold[(model.kind == CUT) & (model.attribute == j)]
        near = [np.nextafter(v, to) for v in cuts for to in (v, -np.inf, np.inf)][: len(table) // 3]
        table.loc[j : len(near) - 1 + j, table.columns[j]] = near
    table.loc[len(table) - 1, "x"] = 1e300
    return table


def compare(page: Page, estimator: Any, table: pd.DataFrame) -> None:
    table = decidable(estimator, table)
    found = decided(page, estimator, table)
    said, reasons = estimator.predict(table), list(estimator.explain(table))
    proba = getattr(estimator, "predict_proba", lambda _: None)(table)
    assert {row["error"] for row in found} == {""}
    assert [row["said"] for row in found] == [str(label) for label in said]
    if proba is not None:
        mine = [row["probabilities"] for row in found]
        known = [label in estimator._model.classes for label in estimator.classes_.tolist()]
        assert (proba[:, ~np.array(known)] == 0).all()
        np.testing.assert_allclose(mine, proba[:, known], rtol=1e-9, atol=1e-300)
    else:
        assert {row["probabilities"] for row in found} == {None}
    for row, why in zip(found, reasons, strict=True):
        same_reason(row, why, [str(label) for label in estimator._model.classes])


def same_reason(row: dict[str, Any], why: Any, classes: list[str]) -> None:
    told = read(why)
    assert [part["mark"] for part in row["path" if why.amount == "share" else "parts"]] == [
        part.mark for part in told.parts
    ]
    if why.amount == "share":
        same_path(row, told)
        return
    assert classes[row["against"]] == str(why.against)
    ending = [row[key] for key in ("cost", "total") if key in row]
    mine = [row["offset"], *[p["amount"] for p in row["parts"]], *ending]
    near(mine, [*why.parts.column(why.amount), why.total])
    if why.amount == "bits":
        assert row["possible"] == told.possible
    else:
        near(row["functions"], told.functions)


def same_path(row: dict[str, Any], why: Any) -> None:
    for key in ("node", "n"):
        assert [step[key] for step in row["path"]] == [getattr(move, key) for move in why.parts]
    assert [s["condition"] for s in row["path"]] == [m.condition.text() for m in why.parts]
    assert row["node"] == row["nodes"][-1] == why.node
    assert (row["held"], row["n"]) == (why.counts[why.classes.index(why.label)], why.n)
    near([s["amount"] for s in row["path"]], [m.amount for m in why.parts])
    near([row["start"], row["spread"]], [why.start, why.rest])
    before = np.cumsum([why.start, *(m.amount for m in why.parts[:-1])])
    near([s["share"] for s in row["path"]], before[: len(why.parts)].tolist())


def near(mine: Sequence[float], python: Sequence[float]) -> None:
    """Equal to 1e-9 of the largest, infinities to the sign."""
    a, b = np.array(mine, dtype=float), np.array(python, dtype=float)
    finite = np.isfinite(b)
    assert (a[~finite] == b[~finite]).all() or np.isnan(b[~finite]).any()
    scale = np.abs(b[finite]).max(initial=1.0)
    np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=1e-9 * scale)


def test_fractional_rows_end_in_several_leaves(page: Page) -> None:
    estimator = tree(missing="fractional", max_leaf_nodes=12)
    table = asked(60)
    found = decided(page, estimator, table)
    rows = estimator._walk(estimator._open(table))
    ends = [len(ends_of(estimator._model, rows, i)) for i in range(len(table))]
    assert [row["ends"] for row in found] == ends
    assert max(ends) > 3


def odd_table() -> tuple[pd.DataFrame, Any]:
    """Columns that separate, stand still, follow from others, and one far from 0."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 240)
    table = pd.DataFrame(rng.normal(size=(240, 3)), columns=["a", "b", "c"])
    table["sum"] = table["a"] + table["b"]
    table["same"] = 5.0
    table["far"] = rng.normal(size=240) + 1e8
    table["v"] = rng.choice(["m", "n"], 240)
    table["w"] = np.where(table["v"] == "m", "M", "N")
    table.loc[y == 2, "c"] = 1.0
    table.loc[y == 3, ["v", "w"]] = ["m", "M"]
    return table, y


@pytest.mark.parametrize(
    "estimator",
    [
        LinearDiscriminant(),
        FisherDiscriminant(),
        IndicatorRegression(ridge=0.5),
        DiscreteBayes(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_columns_that_stand_still_or_follow_from_others(page: Page, estimator: Any) -> None:
    X, y = odd_table()
    rows = X.iloc[:30].astype(object)
    rng = np.random.default_rng(5)
    for name in X.columns:
        rows.loc[rng.random(30) < 0.2, name] = None
    kinds = {name: float for name in X.columns if name not in "vw"}
    compare(page, estimator.fit(X, y), rows.astype(kinds))


def test_columns_that_separate_classes_without_error(page: Page) -> None:
    """Functions are of the size of 1e9 there, and agree to 1e-9 of it."""
    X, y = odd_table()
    X = X[["a", "b"]].assign(apart=y * 2.0)
    estimator = LinearDiscriminant().fit(X, y)
    rows = X.iloc[:40].copy()
    found, why = decided(page, estimator, rows), list(estimator.explain(rows))
    assert [row["said"] for row in found] == [str(one.label) for one in why]
    assert np.abs(why[0].facts["functions"]).max() > 1e6
    for row, one in zip(found, why, strict=True):
        near(row["functions"], one.facts["functions"])


@pytest.mark.parametrize("kind", [LinearDiscriminant, FisherDiscriminant])
def test_narrow_classes_beside_one_far_away(page: Page, kind: type[Any]) -> None:
    """Rows are compared with each class mean itself."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 40)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    X["a"] += np.array([0.0, 2.0, 1e9])[y]
    X["b"] += np.array([0.0, -1.0, 1e8])[y]
    rows = X.iloc[20:100].copy()
    estimator = kind().fit(X, y)
    # numbers of 1e9 leave some seven digits of their differences
    decided_alike(page, estimator, rows, rtol=1e-6)
    assert estimator._model.scores.nearest is not None


@pytest.mark.parametrize("kind", [LinearDiscriminant, FisherDiscriminant])
def test_a_class_without_rows_is_never_said(page: Page, kind: type[Any]) -> None:
    options = {} if kind is FisherDiscriminant else {"priors": [0.3, 0.3, 0.4]}
    X, y = odd_table()
    X, y = X[["a", "b", "c"]], y % 2 * 2
    estimator = kind(**options).partial_fit(X, y, classes=[0, 1, 2])
    rows = X.iloc[:30].copy()
    rows.loc[::2, "b"] = np.nan
    compare(page, estimator, rows)


@pytest.mark.full
def test_products_below_the_smallest_number(page: Page) -> None:
    words = pd.DataFrame(np.full((200, 200), "a", dtype=object)).add_prefix("w")
    words.iloc[:2] = "b"
    estimator = DiscreteBayes(structure="joint").fit(words, ["yes", "no"] * 99 + ["no"] * 2)
    rows = words.iloc[[0, 5]].copy()
    rows.iloc[0, 0] = "a"  # a cell that no row has
    assert estimator.explain(rows)[0].facts["log2_likelihood"][0][0] < np.log2(1e-290)
    decided_alike(page, estimator, rows)


def test_linear_functions_decide_whole_rows(page: Page) -> None:
    estimator = on_mixed(LinearDiscriminant)
    table = asked(40)
    found = decided(page, estimator, table)
    strange = (table["color"] == "mauve") | (table["kind"] == 11)
    with_missing = table.isna().any(axis=1) | strange
    assert [bool(row["error"]) for row in found] == with_missing.tolist()
    assert "decides whole rows only" in next(row["error"] for row in found if row["error"])


def test_a_model_without_room_is_asked_in_python(page: Page) -> None:
    part = part_of(on_mixed(LinearDiscriminant), most_bytes=10, code="it.predict(<rows>)")
    show(page, part)
    assert page.locator("form").count() == 0
    assert "it.predict(<rows>)" in page.locator(".sortal-decide").inner_text()


def test_what_python_refuses_is_said_in_words(page: Page) -> None:
    X, y = odd_table()
    estimator = LinearDiscriminant(missing="error", unknown="error").fit(X[["a", "v"]], y)
    with pytest.raises(MissingValueError):
        estimator.predict(pd.DataFrame({"a": [np.nan], "v": ["m"]}))
    with pytest.raises(UnknownCategoryError):
        estimator.predict(pd.DataFrame({"a": [1.0], "v": ["k"]}))
    show(page, part_of(estimator))
    missing, strange, fine = page.evaluate(
        DECIDE, [{"a": None, "v": "m"}, {"a": 1.0, "v": "k"}, {"a": 1.0, "v": "m"}]
    )
    assert "a has no value" in missing["error"]
    assert "missing='error'" in missing["error"]
    assert "v has a value that the model never saw" in strange["error"]
    assert fine["error"] == ""


def test_numbers_that_cannot_be_read_are_said_at_the_field(page: Page) -> None:
    show(page, part_of(on_mixed(DiscreteBayes)))
    x, when = page.get_by_label("x", exact=True), page.get_by_label("when")
    for field, text, words in [
        (x, "3,5", "cannot be read: write a number"),
        (x, "1e999", "infinite"),
        (x, "1e300", "beyond 1e+140"),
        (when, "31.12.2020", "cannot be read: write a date"),
        (when, "2021-02-30", "cannot be read: write a date"),
    ]:
        field.fill(text)
        assert field.get_attribute("aria-invalid") == "true"
        described = (field.get_attribute("aria-describedby") or "").split()
        told = [page.locator(f"#{name}").inner_text() for name in described]
        assert words in " ".join(told)
        assert "Not decided" in said(page)
        field.fill("")
        assert field.get_attribute("aria-invalid") is None
        assert "The model says" in said(page)


def said(page: Page) -> str:
    return page.locator("[data-part=said]").inner_text()


def penguin_starts() -> list[tuple[str, dict[str, Any]]]:
    table = datasets.penguins()
    rows = [("one of Torgersen", table.iloc[0]), ("one of Biscoe", table.iloc[200])]
    return [(label, row.drop("species").to_dict()) for label, row in rows]


def penguins(estimator: Any) -> Any:
    table = datasets.penguins()
    return estimator.fit(table.drop(columns="species"), table["species"])


def type_in(page: Page, row: dict[str, Any]) -> None:
    for name, value in row.items():
        field = page.get_by_label(name, exact=True)
        if field.count() == 0:  # a tree does not ask it
            continue
        if field.evaluate("(field) => field.tagName") == "SELECT":
            field.select_option(label="" if value is None else value)
        else:
            field.fill("" if value is None else str(value))


@pytest.mark.parametrize(
    "estimator",
    [TreeClassifier(), LinearDiscriminant(), DiscreteBayes()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_typed_row_gets_python_s_answer(page: Page, estimator: Any) -> None:
    penguins(estimator)
    show(page, part_of(estimator))
    table = datasets.penguins().drop(columns="species").iloc[[4, 160]]
    labels, proba = estimator.predict(table), estimator.predict_proba(table)
    for row, label, shares in zip(as_sent(table), labels, proba, strict=True):
        type_in(page, row)
        assert f"The model says {label} with probability" in said(page)
        shown = page.locator("[data-part=shown] table").first.inner_text()
        if 1e-3 < shares.max() < 1 - 1e-3:
            assert f"{shares.max():.3f}" in shown
        assert page.locator(".sortal-decide").get_attribute("data-said") == label


def test_parts_are_shown_by_size_and_add_up(page: Page) -> None:
    estimator = penguins(LinearDiscriminant())
    show(page, part_of(estimator, starts=penguin_starts()))
    rows = page.evaluate(
        """() => [...document.querySelectorAll("[data-part=shown] table")[1].tBodies[0].rows]
          .map((row) => [...row.cells].map((cell) => cell.textContent))"""
    )
    amounts = [float(row[2].replace("−", "-")) for row in rows]
    assert rows[0][0] == "start"
    assert rows[-1][0] == "total"
    assert sorted(amounts[1:-1], key=abs, reverse=True) == amounts[1:-1]
    assert amounts[-1] == pytest.approx(sum(amounts[:-1]), abs=0.02)
    why = estimator.explain(datasets.penguins().iloc[:1])[0]
    by_name = {part.part: part.amount for part in read(why).parts}
    for row in rows[1:-1]:
        assert float(row[2].replace("−", "-")) == pytest.approx(by_name[row[0]], rel=1e-3, abs=1e-9)


def test_rows_to_start_from(page: Page) -> None:
    estimator = penguins(TreeClassifier())
    show(page, part_of(estimator, "tree", starts=penguin_starts()))
    assert "Adelie" in said(page)
    paths = page.evaluate("window.paths")
    assert paths[-1]["name"] == "tree"
    page.get_by_label("Start from").select_option(label="one of Biscoe")
    assert "Gentoo" in said(page)
    after = page.evaluate("window.paths")
    assert len(after) == len(paths) + 1
    walked = estimator.decision_path(datasets.penguins().iloc[200:201]).indices
    assert after[-1]["nodes"] == walked.tolist()
    page.get_by_label("flipper_length_mm").fill("180")
    assert page.get_by_label("Start from").input_value() == ""
    page.get_by_role("button", name="Empty all fields").click()
    fields = page.locator("[data-field]")
    assert [field.input_value() for field in fields.all()] == [""] * fields.count()
    assert "The model says" in said(page)


def test_many_columns_fold_and_many_classes_are_cut(page: Page) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 20, 400)
    X = pd.DataFrame(rng.normal(size=(400, 30)) + y[:, None] * 0.1).add_prefix("c")
    row: Any = ("a row", X.iloc[0].to_dict())
    show(page, part_of(LinearDiscriminant().fit(X, y), starts=[row]))
    assert "8 more classes" in page.locator("[data-part=shown]").inner_text()
    assert "18 more columns, listed below" in page.locator("[data-part=shown]").inner_text()
    page.get_by_text("The other 18 columns").click()
    assert page.locator("details tbody tr").count() == 18


def test_by_keyboard_alone(page: Page) -> None:
    estimator = penguins(TreeClassifier())
    show(page, part_of(estimator, starts=penguin_starts()))
    before = said(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.part") == "start"
    page.keyboard.press("ArrowDown")
    assert said(page) != before
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on the button that empties all
    assert page.get_by_label("flipper_length_mm").input_value() == ""
    while page.evaluate("document.activeElement.id") != "decide-it-2":
        page.keyboard.press("Tab")
    page.keyboard.type("180")
    assert "Adelie" in said(page)


def test_hostile_names_stay_text(page: Page) -> None:
    rng = np.random.default_rng(2)
    words = rng.choice(NASTY, 80)
    X = pd.DataFrame(
        {NASTY[0]: rng.normal(size=80), NASTY[2]: words, NASTY[3]: rng.choice(NASTY, 80)}
    )
    y = np.where(words == NASTY[0], NASTY[2], NASTY[1])
    for estimator in (DiscreteBayes(), TreeClassifier(), FisherDiscriminant()):
        estimator.fit(X, y)
        start = [(NASTY[2], {NASTY[0]: 0.5, NASTY[2]: NASTY[0], NASTY[3]: NASTY[1]})]
        show(page, part_of(estimator, starts=start))
        assert page.locator("img").count() == 0
        assert page.locator("script:not([data-for])").count() == 1
        assert NASTY[2] in said(page)
        assert NASTY[2] in page.locator("label").all_inner_texts()
        assert NASTY[0] in page.locator("[data-part=shown]").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_both_schemes(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    show(page, part_of(penguins(LinearDiscriminant()), starts=penguin_starts()))
    page.get_by_label("bill_length_mm").fill("?")
    contrasts = page.evaluate(
        """() => [...document.querySelectorAll(".hint, .fault, .said, label, button")].map((e) => {
          const probe = document.createElement("canvas").getContext("2d");
          const look = getComputedStyle(e), solid = Number(look.opacity);
          const rgb = (color) => {
            probe.fillStyle = color;
            return [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
          };
          const dark = matchMedia("(prefers-color-scheme: dark)").matches;
          const back = Array(3).fill(dark ? 18 : 255);
          const ink = rgb(look.color).map((x, i) => solid * x + (1 - solid) * back[i]);
          const light = (c) => c.map((x) => x / 255)
            .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
            .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
          const [a, b] = [light(ink), light(back)].sort((p, q) => q - p);
          return (a + 0.05) / (b + 0.05);
        })"""
    )
    page.emulate_media(color_scheme=None)
    assert min(contrasts) >= 4.5
