"""Pictures of kernel discriminants in a report: no row is told unless it may be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from numpy.testing import assert_allclose

from sortal import KernelDiscriminant, datasets
from sortal.kernels.displays.contours import pictures
from sortal.pictures.coarse import CELLS


def spots(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of two classes anywhere: what a narrow kernel knows of them, it knows by heart."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"]), np.arange(n) % 2


@cache
def narrow() -> Any:
    return KernelDiscriminant(gamma=30.0).fit(*spots())


@cache
def drawn(*, rows: bool) -> dict[str, Any]:
    found = pictures(narrow(), *spots(), rows=rows)
    assert found.left_out == ()
    return {picture.name: picture for picture in found}


def points(picture: Any) -> np.ndarray:
    clouds = [c for c in picture.draw().axes[0].collections if isinstance(c, PathCollection)]
    return np.vstack([np.asarray(cloud.get_offsets()) for cloud in clouds])


def test_without_rows_classes_are_densities_and_curves_pass_between_lines() -> None:
    found = drawn(rows=False)
    assert list(found) == ["kernel-along", "kernel-contours", "kernel-regions"]
    contours = found["kernel-contours"]
    assert f"resolution={CELLS}" in contours.code
    assert f"crossings of {CELLS} × {CELLS} lines" in contours.note
    assert f"grid of {CELLS} × {CELLS} cells" in contours.note
    cells = spots()[0].to_numpy()
    for name in ("kernel-contours", "kernel-regions"):
        places = points(found[name])
        assert not any(np.isclose(cells, x).any() and np.isclose(cells, y).any() for x, y in places)
        assert len(places) < len(cells) + 1


def test_no_cell_of_a_row_is_in_words_or_tables_without_rows() -> None:
    X, y = spots()
    cells = X.to_numpy().ravel()
    p = narrow().transform(X).ravel()
    for picture in drawn(rows=False).values():
        told = f"{picture.title} {picture.alt} {picture.note} {picture.table}"
        words = {f"{x:.6g}" for x in (*cells, *p)}
        long = {word for word in words if len(word) > 6}  # 0.13 can be of anything
        assert len(long) > 0.9 * len(words)
        assert not [word for word in long if word in told]
        assert picture.table is not None
        assert picture.table.rows
        assert set(np.unique(y).astype(str)) <= {
            str(cell) for row in picture.table.rows for cell in row
        }


def test_with_rows_they_are_seen_where_they_lie() -> None:
    X, _ = spots()
    found = drawn(rows=True)
    assert list(found) == ["kernel-along", "kernel-projection", "kernel-contours", "kernel-regions"]
    places = np.sort(points(found["kernel-projection"])[:, 0])
    assert_allclose(places, np.sort(narrow().transform(X)[:, 0]))
    contours = found["kernel-contours"]
    ax = contours.draw().axes[0]
    assert_allclose(np.sort(points(contours)[:, 0]), np.sort(X[ax.get_xlabel()]))
    assert "lines" not in contours.note
    table = found["kernel-projection"].table
    assert_allclose(table.column("projected mean"), narrow().projected_means_[:, 0])
    assert_allclose(table.column("projected scatter"), narrow().projected_scatters_[:, 0])
    assert "separating point" in found["kernel-projection"].alt


def test_the_words_of_several_directions_and_fixed_columns() -> None:
    iris = datasets.iris()
    X, y = iris.drop(columns="species"), iris["species"]
    found = {p.name: p for p in pictures(KernelDiscriminant().fit(X, y), X, y)}
    along, contours = found["kernel-along"], found["kernel-contours"]
    assert along.title == "Classes along the fitted directions"
    assert along.alt.count("setosa around") == 2
    assert contours.title == "Curves of constant first projection over petal_length and petal_width"
    assert "at sepal_length = 5.84, sepal_width = 3.05" in contours.alt
    assert "a curve every " in contours.alt
    for picture in found.values():
        assert len(picture.svg().encode()) < 40_000
        assert picture.png().startswith(b"\x89PNG")


@pytest.mark.parametrize("p", [0, 1])
def test_fewer_than_two_numbers_have_no_plane(p: int) -> None:
    X, y = spots()
    table = pd.DataFrame({"word": np.where(X["c"] > 0, "up", "down")}).join(X.iloc[:, :p])
    found = pictures(KernelDiscriminant().fit(table, y), table, y)
    assert [picture.name for picture in found] == ["kernel-along"]
    assert len(found.left_out) == 2
    assert all(f"two columns of numbers, and the model has {p}" in why for why in found.left_out)


def test_a_precomputed_kernel_and_classes_of_one_mean_have_none() -> None:
    X, y = spots()
    K = X.to_numpy() @ X.to_numpy().T
    found = pictures(KernelDiscriminant("precomputed").fit(K, y), K, y)
    assert len(found) == 0
    assert "no columns to draw them over" in found.left_out[0]

    class Flat:
        classes_ = np.array([0, 1])
        kernel_ = narrow().kernel_
        dual_coef_ = np.empty((len(X), 0))

    nothing: Any = Flat()
    flat = pictures(nothing, X, y)
    assert len(flat) == 0
    assert "no direction parts them" in flat.left_out[0]
