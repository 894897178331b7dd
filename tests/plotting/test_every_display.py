"""What every picture of a fitted estimator promises: axes, titles, points, tables, names."""

from __future__ import annotations

from typing import Any, Final

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from tests.plotting.drawn import PLANE, clouds, legend_of, n_drawn, rendered, setosa_or_not

from sortal import (
    FisherDiscriminant,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
    displays,
)
from sortal.errors import MissingValueWarning

TREE: Final = TreeClassifier(max_depth=2, pruning=None)
GRID: Final = {"resolution": 30}
# what draws rows over two columns
PLANES: Final[dict[str, tuple[Any, Any, dict[str, Any]]]] = {
    "projection": (displays.ProjectionDisplay, FisherDiscriminant(), {}),
    "decisions": (displays.DecisionsDisplay, QuadraticDiscriminant(), GRID),
    "partition": (displays.PartitionDisplay, TREE, {}),
}
KINDS: Final = PLANES | {
    "canonical": (displays.CanonicalDisplay, LinearDiscriminant(), {}),
    "densities": (displays.DensitiesDisplay, FisherDiscriminant(), {}),
    "confusion": (displays.ConfusionDisplay, LinearDiscriminant(), {}),
    "reliability": (displays.ReliabilityDisplay, LinearDiscriminant(), {}),
    "roc": (displays.RocDisplay, LinearDiscriminant(), {}),
    "frequencies": (displays.FrequenciesDisplay, TREE, {}),
    "scores": (displays.ScoresDisplay, TREE, {}),
}


def drawn(kind: str, X: Any = None, y: Any = None, shown: Any = None, **kw: Any) -> Any:
    """The picture of an estimator fitted to X; `shown` are the rows in it, if others."""
    display, estimator, options = KINDS[kind]
    X, y = setosa_or_not() if X is None else (X, y)
    fitted = estimator.fit(X, y)
    return display.from_estimator(fitted, X if shown is None else shown, y, **options | kw)


@pytest.mark.parametrize("kind", KINDS)
def test_given_axes_and_titles(kind: str) -> None:
    figure, ax = plt.subplots()
    display = drawn(kind, ax=ax, title="Mine", legend=False)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert ax.get_title().startswith("Mine")
    assert ax.get_legend() is None


@pytest.mark.parametrize("kind", [*PLANES, "canonical"])
def test_many_points_are_thinned_and_the_picture_says_so(kind: str) -> None:
    display = drawn(kind, max_points=30, s=99)
    assert display.ax_.get_title().endswith("30 of 150 points drawn")
    assert n_drawn(display.ax_) in (30, 60)  # of a projection also the feet
    assert 99.0 in {float(cloud.get_sizes()[0]) for cloud in clouds(display.ax_)}
    assert "setosa (50)" in " ".join(legend_of(display.ax_)) or kind == "canonical"


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", PLANES)
def test_tables_of_every_kind(kind: str) -> None:
    X, y = setosa_or_not()
    plain = drawn(kind, X, y)
    assert (plain.ax_.get_xlabel(), plain.ax_.get_ylabel()) == tuple(PLANE)
    for table in (pl.DataFrame(X.to_dict("list")), X.to_numpy()):
        other = drawn(kind, table, y)
        nameless = isinstance(table, np.ndarray)
        assert other.ax_.get_xlabel() == ("x0" if nameless else "sepal_length")
        np.testing.assert_allclose(other.rows.points, X.to_numpy())
    # an array for an estimator fitted with names, and more columns in another order
    turned = drawn(kind, X, y, X.to_numpy(), features=(1, 0))
    assert turned.ax_.get_xlabel() == "sepal_width"
    wide = datasets.iris()[["petal_width", "sepal_width", "sepal_length"]]
    assert drawn(kind, X, y, wide).ax_.get_xlabel() == "sepal_width"


@pytest.mark.parametrize("kind", KINDS)
def test_names_from_data_are_harmless(kind: str) -> None:
    X, y = setosa_or_not()
    odd = X.set_axis([r"$\frac{1}", "_hidden $ \n" + 40 * "x"], axis=1)
    before = dict(mpl.rcParams)
    display = drawn(kind, odd, np.where(y == "rest", "$a_{", "_b\u202e<i>$"))
    assert rendered(display)
    assert dict(mpl.rcParams) == before
    if kind in PLANES:
        assert display.ax_.get_xlabel() == r"\$\frac{1}"
        assert legend_of(display.ax_)[0] == r"\$a_{ (100)"


@pytest.mark.parametrize("kind", ["decisions", "canonical"])
def test_a_class_that_was_declared_and_never_met(kind: str) -> None:
    display, _, options = KINDS[kind]
    X, y = setosa_or_not()
    fitted = LinearDiscriminant().partial_fit(X, y, classes=["blue", "rest", "setosa"])
    found = display.from_estimator(fitted, X, y, **options)
    assert rendered(found)
    assert found.rows.counts.tolist() == [0, 100, 50]
    if kind == "regions":
        assert len(found.regions[0]) == 0
    if kind == "decisions":
        assert set(found.grid.labels.ravel()) == {1, 2}
        assert legend_of(found.ax_)[0] == "blue (0)"


@pytest.mark.parametrize("kind", ["decisions"])
def test_rows_with_missing_values_are_left_out(kind: str) -> None:
    X, y = setosa_or_not()
    display, estimator, options = KINDS[kind]
    fitted = estimator.fit(X, y)
    X.loc[:1, "sepal_width"] = np.nan
    with pytest.warns(MissingValueWarning, match="2 of 150 rows have a missing value"):
        found = display.from_estimator(fitted, X, y, **options)
    assert found.rows.counts.sum() == 148


def test_names_are_not_given_to_tex() -> None:
    with mpl.rc_context({"text.usetex": True}):
        _, ax = plt.subplots()
        drawn("projection", ax=ax)
    legend = ax.get_legend()
    assert legend is not None
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *legend.get_texts()]
    assert not any(text.get_usetex() for text in texts)
