"""The regions of a tree: they are where it says what they say, and lines lie between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from tests.plotting.drawn import PLANE, legend_of, rendered, words_of
from tests.trees.some_trees import book_rows, book_tree

from sortal import TreeClassifier, datasets
from sortal.trees.displays.partition import PartitionDisplay

if TYPE_CHECKING:
    from numpy.typing import NDArray


def region_at(display: PartitionDisplay, x: float, y: float) -> Any:
    """The one region that holds a point."""
    (found,) = (r for r in display.regions if r.low1 < x <= r.high1 and r.low2 < y <= r.high2)
    return found


def grid(display: PartitionDisplay) -> NDArray[np.float64]:
    low, high = display.box
    return np.random.default_rng(0).uniform(low, high, size=(200, 2))


def check(display: PartitionDisplay, model: TreeClassifier, at: dict[str, Any]) -> None:
    """The regions decide as the tree does, where other columns are held fixed."""
    points = grid(display)
    rows = pd.DataFrame(points, columns=list(display.rows.names)).assign(**at)
    said = model.predict(rows[list(model.feature_names_in_)]).tolist()
    assert [region_at(display, *point).label for point in points] == said


# Figure 19.1


def test_figure_19_1() -> None:
    display = PartitionDisplay.from_estimator(book_tree(), *book_rows(), z=(6.75, 4.25))
    said = " ".join(f"{r.name.removeprefix('leaf ')}:{r.label}" for r in display.regions)
    assert said == "3:c1 4:c2 5:c1 7:c2 9:c1 10:c2"
    depths = [(cut.node, cut.depth) for cut in display.lines]
    assert depths == [(0, 0), (1, 1), (2, 2), (6, 1), (8, 2)]
    assert region_at(display, 6.75, 4.25).name == "leaf 10"
    tests = [f"test at depth {d}" for d in range(3)]
    assert legend_of(display.ax_) == ["c1 (50)", "c2 (100)", *tests, "z"]
    words = words_of(display.ax_)
    assert [word for word in words if word.startswith("h")] == ["h0", "h1", "h2", "h6", "h8"]
    assert "leaf 7" in words
    assert "z" in words
    drawn = [c for c in display.ax_.collections if isinstance(c, PolyCollection)]
    assert sum(len(c.get_paths()) for c in drawn) == 6
    assert display.ax_.get_title() == "Regions of TreeClassifier"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == tuple(PLANE)
    assert rendered(display)


def test_hyperplanes_end_at_their_own_regions() -> None:
    display = PartitionDisplay.from_estimator(book_tree(), *book_rows())
    (left, bottom), (right, top) = display.box
    ends = {cut.node: tuple(cut[:4]) for cut in display.lines}
    assert ends == {
        0: (5.45, bottom, 5.45, top),
        1: (left, 2.8, 5.45, 2.8),
        2: (4.7, bottom, 4.7, 2.8),
        6: (5.45, 3.45, right, 3.45),
        8: (6.5, 3.45, 6.5, top),
    }


def test_deeper_lines_are_thinner_and_broken() -> None:
    display = PartitionDisplay.from_estimator(book_tree(), *book_rows())
    lines = [c for c in display.ax_.collections if isinstance(c, LineCollection)]
    widths = [float(np.ravel(c.get_linewidth())[0]) for c in lines]
    assert widths == sorted(widths, reverse=True)
    assert len({str(c.get_linestyle()) for c in lines}) == 3


# Attributes that are held fixed


def penguins() -> tuple[Any, TreeClassifier]:
    frame = datasets.penguins().dropna()
    columns = ["bill_length_mm", "island", "bill_depth_mm", "body_mass_g", "species"]
    return frame[columns], TreeClassifier(max_depth=5, pruning=None).fit(frame[columns], "species")


@pytest.mark.parametrize("island", ["Biscoe", "Dream", "Torgersen"])
def test_other_attributes_are_held_at_given_values(island: str) -> None:
    frame, model = penguins()
    at = {"island": island, "body_mass_g": 4000}
    display = PartitionDisplay.from_estimator(
        model, frame, "species", features=["bill_depth_mm", "bill_length_mm"], at=at
    )
    check(display, model, at)
    assert display.ax_.get_title().endswith(f"at island = {island}, body_mass_g = 4000")
    assert display.ax_.get_xlabel() == "bill_depth_mm"


def test_lines_are_those_that_are_met() -> None:
    X = pd.DataFrame({"a": [0.0, 1, 2, 3, 4, 5], "w": list("uuuvvv"), "b": [0.0, 1, 0, 1, 0, 1]})
    y = ["p", "q", "q", "p", "p", "q"]
    model = TreeClassifier(pruning=None).fit(X, y)
    lines = {}
    for w in "uv":
        display = PartitionDisplay.from_estimator(model, X, y, features=["a", "b"], at={"w": w})
        lines[w] = {cut.node for cut in display.lines}
        check(display, model, {"w": w})
    nodes = model.to_frame()
    asked = set(nodes["node"][nodes["test"].str.startswith(("a", "b"))])
    assert lines["u"] | lines["v"] == asked


def test_one_branch_a_value_and_what_a_node_keeps() -> None:
    tennis = datasets.play_tennis().assign(a=np.arange(14.0), b=np.arange(14.0)[::-1] ** 2)
    model = TreeClassifier(categorical_split="multiway", pruning=None).fit(
        tennis[["Outlook", "Temperature", "a", "b", "PlayTennis"]], "PlayTennis"
    )
    nodes = model.to_frame()
    assert nodes["test"].str.startswith("Outlook: ").any()
    for outlook in ("Overcast", "Rain", "Sunny"):
        at = {"Outlook": outlook, "Temperature": "Hot"}  # no rainy day was hot
        display = PartitionDisplay.from_estimator(
            model, tennis, "PlayTennis", features=["a", "b"], at=at
        )
        check(display, model, at)


def test_dates_are_days_and_can_be_held_fixed() -> None:
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(40), unit="D")
    X = pd.DataFrame({"day": days, "a": np.arange(40.0) % 7, "b": np.arange(40.0) % 5})
    y = np.where((X["day"] > "2024-01-20") & (X["a"] > 3) | (X["b"] > 3), "p", "q")
    model = TreeClassifier(pruning=None).fit(X, y)
    shown = PartitionDisplay.from_estimator(model, X, y, features=["day", "a"], at={"b": 1})
    assert shown.ax_.get_xlabel() == "day (days since 1970)"
    for when in ("2024-01-05", pd.Timestamp("2024-02-05"), np.datetime64("2024-02-05")):
        display = PartitionDisplay.from_estimator(
            model, X, y, features=["a", "b"], at={"day": when}
        )
        check(display, model, {"day": pd.Timestamp(when)})


def test_numbers_that_were_taken_as_categories_cannot_be_shown() -> None:
    X = pd.DataFrame({"a": [1, 2, 3, 1, 2, 3], "b": [1.0, 2, 3, 4, 5, 6], "c": [0.0, 1] * 3})
    y = ["p", "q", "p", "p", "q", "p"]
    model = TreeClassifier(categorical_features=["a"], pruning=None).fit(X, y)
    shown = PartitionDisplay.from_estimator(model, X, y, at={"a": 2})
    assert shown.rows.names == ("b", "c")


# Defaults, plain arrays, words


def test_the_attributes_that_are_asked_are_shown() -> None:
    frame = datasets.iris()
    X, y = frame.drop(columns="species"), frame["species"]
    model = TreeClassifier(max_depth=2, pruning=None).fit(X, y)
    asked = {test.split(" ")[0] for test in model.to_frame()["test"] if test}
    display = PartitionDisplay.from_estimator(model, X, y)
    assert asked <= set(display.rows.names)


def test_a_tree_of_one_leaf_is_one_region() -> None:
    X, y = book_rows()
    display = PartitionDisplay.from_estimator(
        TreeClassifier(max_depth=0, pruning=None).fit(X, y), X, y
    )
    (region,) = display.regions
    assert region.label == "c2"
    assert display.lines == []
    assert legend_of(display.ax_) == ["c1 (50)", "c2 (100)"]


def test_plain_arrays() -> None:
    points = [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]
    regions = [
        (-math.inf, 0.5, -math.inf, math.inf, "a", "R1"),
        (0.5, math.inf, -math.inf, math.inf, "b", "R2"),
        (90, 91, 0, 1, "b", "far away"),
    ]
    lines = [(0.5, -math.inf, 0.5, math.inf, 0, 0), (70, 0, 70, 1, 1, 1), (0, 80, 2, 80, 2, 1)]
    figure, ax = plt.subplots()
    display = PartitionDisplay(points, ["a", "b", "b"], regions, lines, note="a note")
    display.plot(ax, title="Mine", legend=False)
    assert [r.name for r in display.regions] == ["R1", "R2"]
    assert [cut.node for cut in display.lines] == [0]
    assert (display.ax_, display.figure_) == (ax, figure)
    assert ax.get_title() == "Mine\na note"
    assert words_of(ax) == ["R1", "R2", "h0"]


def test_names_are_written_where_they_are_few() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = (X**2).sum(axis=1) < 1
    model = TreeClassifier(pruning=None).fit(X, y)
    many = PartitionDisplay.from_estimator(model, X, y)
    assert len(many.lines) > 14
    assert words_of(many.ax_) == []
    assert legend_of(many.ax_)[-1] == "test at depth 3 and below"
    asked = many.plot(name_lines=True)
    assert len(words_of(asked.ax_)) == len(many.lines)
    few = PartitionDisplay.from_estimator(
        book_tree(), *book_rows(), name_lines=False, name_regions=False
    )
    assert words_of(few.ax_) == []


def test_the_plane_shows_where_known_values_lead() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    y = np.where((X["a"] > 0) ^ (X["b"] > 0.5), "p", "q")
    model = TreeClassifier(missing="branch", pruning=None)
    model.fit(X.where(rng.random(X.shape) > 0.2), y)
    display = PartitionDisplay.from_estimator(model, X, y)
    assert display.note == "known values only"
    assert len(display.regions) < model.get_n_leaves()
    check(display, model, {})
    assert PartitionDisplay.from_estimator(book_tree(), *book_rows()).note == ""
