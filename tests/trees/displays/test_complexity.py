"""The picture of nested trees: errors with their bars, the line, and the tree chosen."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.drawn import legend_of

from sortal import TreeClassifier, datasets
from sortal.displays import ComplexityDisplay


def fitted() -> TreeClassifier:
    table = datasets.penguins().dropna()
    X = table.drop(columns=["species", "year"])
    return TreeClassifier(pruning="cost_complexity").fit(X, table["species"])


def test_errors_their_bars_the_line_and_the_tree_chosen() -> None:
    model = fitted()
    record = model.cp_table_
    display = ComplexityDisplay.from_estimator(model)
    ax = display.ax_
    lines: list[Any] = [ax.lines[0], *ax.lines[-3:]]
    points, line, own, ring = lines
    assert_allclose(points.get_ydata(), record.cv_error or ())
    bars = ax.collections[0].get_segments()  # type: ignore[attr-defined]
    assert_allclose([bar[1, 1] - bar[0, 1] for bar in bars], 2 * np.array(record.cv_deviation))
    assert line.get_ydata()[0] == pytest.approx(record.limit())
    assert_allclose(own.get_ydata(), record.error)
    assert ring.get_xdata()[0] == record.chosen
    assert [text.get_text() for text in ax.get_xticklabels()] == list(map(str, record.n_leaves))
    assert f"{model.get_n_leaves()} leaves chosen" in ax.get_title()
    assert len(legend_of(ax)) == 4


def test_a_path_without_validation_on_given_axes() -> None:
    ax = plt.subplots()[1]
    table = datasets.iris()
    path = (
        TreeClassifier(pruning=None)
        .fit(table.drop(columns="species"), table["species"])
        .cost_complexity_path()
    )
    display = ComplexityDisplay.from_complexity(path, ax=ax, title="Sizes", color="red")
    assert display.ax_ is ax
    assert display.limit is None
    assert ax.get_title() == "Sizes"
    assert ax.lines[0].get_color() == "red"


def test_of_many_trees_some_are_named() -> None:
    n = np.arange(1, 200)
    display = ComplexityDisplay(n, 1 / n, cp=1 / n).plot()
    assert len(display.ax_.get_xticks()) <= 12
