"""Pictures of every learner: what they are, for any table, and never an exception."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from tests.explained import read
from tests.plotting.drawn import clouds, comparison, predictions

from sortal import DiscreteBayes, LinearDiscriminant, TreeClassifier, datasets, displays
from sortal.bayes.displays import EvidenceDisplay, evidence_of, information, tables_of
from sortal.errors import MissingValueWarning
from sortal.evaluation import Confusion, Reliability, Roc
from sortal.pictures import Pictures, Plan, Scene, Words, between_share
from sortal.pictures.coarse import CELLS
from sortal.pictures.shared import comparison_pictures, evaluation_pictures
from sortal.plotting.comparison import ImportancesDisplay
from sortal.tasks import registry
from sortal.tasks.registry import LearnerEntry, LearnerFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.collections import PathCollection

    from sortal.pictures import Picture

NAMES = ["tree", "bayes", "lda", "qda", "fisher", "indicator", "neighbors", "kernel"]
SHORT = 400_000


def fit(name: str, X: Any, y: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return registry.find(name).make(**options).fit(X, y)


def drawn(name: str, X: Any, y: Any, *, rows: bool = False, **options: Any) -> Pictures:
    found = registry.find(name).draw(fit(name, X, y, **options), X, y, rows=rows)
    assert found is not None
    return found


@cache
def penguins() -> tuple[pd.DataFrame, pd.Series]:
    frame = datasets.penguins()
    return frame.drop(columns="species"), frame["species"]


@cache
def of_penguins(name: str) -> tuple[Any, Pictures]:
    X, y = penguins()
    model = fit(name, X, y)
    found = registry.find(name).draw(model, X, y, rows=False)
    assert found is not None
    return model, found


def blobs(n: int, p: int, K: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(n + p + K)
    codes = rng.integers(0, K, n)
    cells = 3 * rng.normal(size=(K, p))[codes] + rng.normal(size=(n, p))
    return pd.DataFrame(cells, columns=[f"c{j}" for j in range(p)]), codes


def mixed(n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, words, dates and truth values, with missing values."""
    rng = np.random.default_rng(7)
    X, codes = blobs(n, 3, 3)
    days = pd.to_timedelta(40 * codes + rng.integers(0, 60, n), unit="D")
    X["when"] = pd.Timestamp("2020-01-01") + days
    X["word"] = np.where(rng.random(n) < 0.7, np.array(["a", "b", "c"])[codes], "d")
    X["flag"] = rng.random(n) < 0.3 + 0.2 * codes
    X["many"] = [f"v{i}" for i in rng.integers(0, 40, n)]
    for name in ("c0", "when", "word"):
        X.loc[rng.random(n) < 0.1, name] = None
    return X, np.array(["red", "green", "blue"])[codes]


def hostile() -> tuple[pd.DataFrame, np.ndarray]:
    X, codes = blobs(120, 2, 2)
    X["words"] = np.where(codes, "<script>alert(1)</script>", "$x_{1}$ & ")
    X.columns = pd.Index(["$a_{b}$ <i>", "&\n\u202ex \u05d0\u05d1", "_hidden 漢字"])
    return X, np.array(["</svg><b>", "_$\\alpha$"])[codes]


CASES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "one column": lambda: blobs(80, 1, 2),
    "words": lambda: (mixed()[0][["word", "flag", "many"]], mixed()[1]),
    "60 columns": lambda: blobs(300, 60, 3),
    "30 classes": lambda: blobs(1500, 6, 30),
    "mixed": mixed,
    "hostile": hostile,
    "array": lambda: (blobs(90, 3, 2)[0].to_numpy(), blobs(90, 3, 2)[1]),
}


# Not every learner for every table: what is drawn by the same parts is drawn once; the first of
# each by the quick tier.
LEARNERS = {
    "one column": ["bayes", "tree", "fisher", "neighbors", "kernel"],
    "words": ["neighbors", "tree", "qda", "kernel"],
    "60 columns": ["bayes", "lda"],
    "30 classes": ["qda", "tree", "kernel"],
    "mixed": ["tree", "bayes", "lda", "kernel"],
    "hostile": ["fisher", "tree", "bayes", "neighbors"],
    "array": ["kernel", "tree", "indicator"],
}
DRAWN = [
    pytest.param(what, name, marks=[pytest.mark.full] if place else [])
    for what, names in LEARNERS.items()
    for place, name in enumerate(names)
]


@cache
def case(name: str) -> tuple[Any, Any]:
    return CASES[name]()


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_has_pictures_with_words_and_data(name: str) -> None:
    _, found = of_penguins(name)
    assert len(found) >= 1
    assert found.left_out == ()
    for picture in found:
        assert re.fullmatch(rf"{name}-[a-z0-9-]+", picture.name)
        assert picture.title
        assert re.search(r"\d", picture.alt), picture.alt
        assert picture.alt.endswith(".")
        assert picture.table is not None
        assert 1 <= len(picture.table.rows) <= 60
        assert svg_of_penguins(name)[picture.name].startswith("<svg")


@cache
def svg_of_penguins(name: str) -> dict[str, str]:
    return {picture.name: picture.svg() for picture in of_penguins(name)[1]}


def test_all_of_penguins_are_small() -> None:
    names = [picture.name for name in NAMES for picture in of_penguins(name)[1]]
    assert len(set(names)) == len(names)
    sizes = [len(svg.encode()) for name in NAMES for svg in svg_of_penguins(name).values()]
    assert sum(sizes) < 1_000_000
    assert max(sizes) < SHORT


@pytest.mark.parametrize("name", NAMES)
def test_the_code_draws_the_picture(name: str) -> None:
    model, found = of_penguins(name)
    X, y = penguins()
    for picture in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingValueWarning)
            exec(picture.code, {"model": model, "X": X, "y": y})  # noqa: S102
        (number,) = plt.get_fignums()
        drawn_axes = plt.figure(number).axes
        own = picture.draw().axes
        # panels that stay empty are taken away in the picture
        assert [ax.get_xlabel() for ax in drawn_axes][: len(own)] == [a.get_xlabel() for a in own]
        plt.close("all")


@pytest.mark.parametrize("name", NAMES)
def test_no_single_row_is_seen_unless_it_may(name: str) -> None:
    seen = 0
    for picture in of_penguins(name)[1]:
        for ax in picture.draw().axes:
            for cloud in clouds(ax):
                shares = shares_of(ax, cloud) * CELLS % 1
                assert np.allclose(shares, shares[0], atol=1e-6), picture.name
                seen += 1
        if "grid" in picture.note:
            assert f"{CELLS} × {CELLS}" in picture.note
    assert seen or name == "bayes"


def shares_of(ax: Any, cloud: PathCollection) -> np.ndarray:
    offsets = np.asarray(cloud.get_offsets(), dtype=float)
    return np.asarray(ax.transAxes.inverted().transform(ax.transData.transform(offsets)))


def test_rows_are_drawn_where_they_lie_if_they_may_be_seen() -> None:
    X, y = blobs(150, 2, 2)
    found = {p.name: p for p in drawn("fisher", X, y, rows=True)}
    assert "fisher-projection" in found
    ax = found["fisher-regions"].draw().axes[0]
    places = np.vstack([np.asarray(cloud.get_offsets()) for cloud in clouds(ax)])
    order = np.lexsort(places.T)
    shown = [ax.get_xlabel(), ax.get_ylabel()]
    cells = X[shown].to_numpy()
    assert np.allclose(places[order], cells[np.lexsort(cells.T)])
    assert "grid" not in found["fisher-regions"].note


@pytest.mark.parametrize(("what", "name"), DRAWN)
def test_any_table_has_its_pictures_or_reasons(what: str, name: str) -> None:
    X, y = case(what)
    found = drawn(name, X, y)
    assert len(found) or found.left_out
    for picture in found:
        svg = picture.svg()
        assert len(svg.encode()) < SHORT, picture.name
        assert "<script" not in svg
        assert picture.table is not None
        assert len(picture.table.rows) <= 60
    for reason in found.left_out:
        assert "is not drawn: " in reason


@pytest.mark.parametrize("name", ["tree", "lda"])
def test_of_many_rows_some_are_drawn_and_it_is_said(name: str) -> None:
    X, y = blobs(5_000, 4, 2)
    options: dict[str, Any] = {"max_leaf_nodes": 9, "pruning": None} if name == "tree" else {}
    found = drawn(name, X, y, **options)
    told = [picture for picture in found if "2,000 of 5,000 rows are drawn" in picture.note]
    assert told
    assert all("max_points=len(X)" in picture.code for picture in told)
    assert all(len(picture.svg().encode()) < SHORT for picture in found)


def test_a_single_column_has_no_plane_and_says_so() -> None:
    X, y = case("one column")
    (reason,) = drawn("qda", X, y).left_out
    assert "two columns of numbers" in reason
    leaf = drawn("tree", X, np.zeros(len(X), dtype=int))
    assert len(leaf) == 0
    assert "single leaf" in leaf.left_out[0]


def test_costs_are_drawn_as_they_decide() -> None:
    X, y = blobs(120, 2, 2)
    found = {p.name: p for p in drawn("lda", X, y, costs=[[0, 1], [9, 0]])}
    assert "DecisionsDisplay" in found["lda-regions"].code


def test_a_given_complexity_is_drawn() -> None:
    X, y = penguins()
    model = TreeClassifier(pruning=None).fit(X, y)
    record = model.cost_complexity_path(X, y, cv=3)
    found = registry.find("tree").draw(model, X, y, rows=False, complexity=record)
    assert found is not None
    (picture,) = [p for p in found if p.name == "tree-complexity"]
    assert "on rows left out" in picture.alt
    assert "model.cost_complexity_path(X, y)" in picture.code
    assert picture.table is not None
    assert "cv_error" in picture.table.columns


def test_trouble_is_a_reason_and_a_mistake_is_not() -> None:
    X, y = blobs(40, 2, 2)
    scene = Scene("a", fit("lda", X, y), X, y, rows=False)
    plan = Plan(displays.DecisionsDisplay, {"features": ["nowhere", "c1"]}, points=True)
    scene.plan("a", "A plane", plan, lambda _: Words("."))
    assert scene.pictures().left_out[0].startswith("A plane is not drawn: features names 'nowhere'")
    with pytest.raises(AttributeError):
        scene.plan("a", "A plane", Plan(object), lambda _: Words("."))


def test_the_measure_of_telling_is_that_of_the_f_ratio() -> None:
    from sklearn.feature_selection import f_classif

    X, codes = blobs(200, 5, 4)
    shares = np.array([between_share(X[c].to_numpy(), codes, 4) for c in X])
    F = (200 - 4) * shares / (3 * (1 - shares))
    assert np.allclose(F, f_classif(X, codes)[0])
    assert np.allclose(between_share(1e9 + 1e-3 * X["c0"].to_numpy(), codes, 4), shares[0], 1e-4)
    assert between_share(np.full(200, 3.0), codes, 4) == 0.0
    assert between_share(np.full(200, np.nan), codes, 4) == 0.0
    missing = np.where(np.arange(200) < 50, np.nan, X["c1"])
    assert np.isclose(between_share(missing, codes, 4), between_share(missing[50:], codes[50:], 4))


def test_evidence_is_that_of_explain_with_two_classes() -> None:
    table = datasets.play_tennis()
    model = DiscreteBayes().fit(table, "PlayTennis")
    tables = tables_of(model)
    assert list(tables) == ["Outlook", "Temperature", "Humidity", "Wind"]
    row = table[1:2]
    told = read(model.explain(row)[0])
    for part in told.parts:
        own = tables[part.part]
        bits = evidence_of(own["shares"], own["priors"])[own["values"].index(part.value)]
        assert np.isclose(bits[list(model.classes_).index(told.label)], part.bits)
    outlook = tables["Outlook"]
    joint = outlook["shares"] * outlook["priors"]
    rows, columns = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    expected = float((joint * np.log2(joint / (rows * columns))).sum())
    assert np.isclose(information(outlook["shares"], outlook["priors"]), expected)


def test_evidence_may_be_a_proof() -> None:
    bits = evidence_of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]))
    assert (bits == [[np.inf, -np.inf], [-np.inf, np.inf]]).all()
    assert information(np.eye(2), np.array([0.5, 0.5])) == 1.0
    display = EvidenceDisplay(np.eye(2), [0.5, 0.5], values=["a", "b"], classes=["x", "y"])
    assert "at the edge" in display.plot().ax_.get_xlabel()


def test_importances_are_drawn_longest_first_and_cut() -> None:
    display = ImportancesDisplay([0.1, 0.6, 0.0, 0.3], list("abcd")).plot(max_bars=2)
    assert display.names == ("b", "d", "a", "c")
    assert [bar.get_width() for bar in display.ax_.containers[0]] == [0.6, 0.3]
    assert "2 of 3 columns" in display.ax_.get_title()


def toy_pictures(estimator: Any, X: Any, y: Any, *, rows: bool) -> Pictures:
    return Pictures((), (f"{estimator} {X} {y} {rows}",))


def test_a_learner_of_ones_own_brings_its_pictures() -> None:
    facts = LearnerFacts(probabilistic=False, reads="Not at all.")
    plain: Any = LearnerEntry("toy", object, "toy", facts)
    assert plain.draw(None, 1, 2, rows=True) is None
    own: Any = LearnerEntry("toy", object, "toy", facts, pictures=f"{__name__}:toy_pictures")
    found = own.draw("e", 1, 2, rows=True)
    assert found is not None
    assert found.left_out == ("e 1 2 True",)


def picture_named(found: Pictures, name: str) -> Picture:
    return next(picture for picture in found if picture.name == name)


def test_words_say_what_is_seen() -> None:
    found = of_penguins("tree")[1]
    assert "flipper_length_mm 57%" in picture_named(found, "tree-importances").alt
    assert "7 leaves" in picture_named(found, "tree-tree").title
    bayes = of_penguins("bayes")[1]
    assert "Torgersen" in picture_named(bayes, "bayes-evidence-1").alt
    lda = of_penguins("lda")[1]
    assert "Class centers: Adelie at (" in picture_named(lda, "lda-canonical").alt


# Of judged predictions and of a comparison


def judge(n: int, K: int) -> tuple[Confusion, Reliability, Roc]:
    truth, said, shares = predictions(K, n)
    classes = [f"class {k}" for k in range(K)]
    return (
        Confusion.of(truth, said, classes),
        Reliability.of(truth, said, shares),
        Roc.of(truth, shares, classes),
    )


@pytest.mark.parametrize("K", [2, 30])
def test_pictures_of_what_was_judged(K: int) -> None:
    confusion, reliability, roc = judge(2000, K)
    found = evaluation_pictures("lda", confusion, reliability, roc)
    names = [picture.name for picture in found]
    assert names == ["lda-judged-confusion", "lda-judged-reliability", "lda-judged-roc"]
    assert not found.left_out
    for picture in found:
        assert len(picture.svg().encode()) < SHORT
        assert picture.table is not None
        assert len(picture.table.rows) <= 60
    first, second, third = (picture.alt for picture in found)
    assert f"{2000 - confusion.n_wrong:,} of 2,000 rows are predicted correctly" in first
    assert "expected calibration error" in second
    assert "area under the curve" in third


def test_letters_in_cells_stay_light_where_cells_are_dark() -> None:
    truth = np.repeat([0, 1], [20, 40])
    said = np.where(np.arange(60) == 59, 0, truth)
    (picture,) = evaluation_pictures("x", Confusion.of(truth, said, ["a", "b"]))
    root = ET.fromstring(picture.svg())  # noqa: S314  (our own)
    texts = {e.text: e.get("fill") for e in root.iter() if e.text}
    assert texts["20"] == texts["39"] == "#ffffff"
    assert texts["1"] == "currentColor"  # a pale cell: as dark or light as the page's letters


def test_the_code_of_judged_pictures_draws_the_like() -> None:
    X = datasets.iris()
    y = X.pop(X.columns[-1])
    names = {"model": LinearDiscriminant(), "X": X, "y": y}
    for picture in evaluation_pictures("lda", *judge(50, 3)):
        exec(picture.code, dict(names))  # noqa: S102
        assert len(plt.get_fignums()) == 1
        plt.close("all")


def test_nothing_judged_has_no_picture() -> None:
    assert len(evaluation_pictures("fisher", None)) == 0
    empty = Roc.of([0, 0], [[1.0, 0.0], [1.0, 0.0]], ["a", "b"])
    found = evaluation_pictures("fisher", None, None, empty)
    assert len(found) == 0
    assert "is not drawn: There is no curve" in found.left_out[0]


def test_a_comparison_is_a_picture() -> None:
    (picture,) = comparison_pictures(comparison(recommended="lda"))
    assert "the lda 0.9 (0.8 to 0.95), recommended" in picture.alt
    assert picture.table is not None
    names = [row[0] for row in picture.table.rows]
    assert names == ["the lda", "the tree", "the svm", "the slow"]
    assert len(picture.svg()) < 20_000
