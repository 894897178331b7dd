"""Baselines: any table as a matrix, prepared columns, counted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import datasets
from sortal.tasks.compare.baselines import (
    as_matrix,
    baselines,
    find_baseline,
    make_baseline,
    size_of_baseline,
)

FRAME = pd.DataFrame(
    {
        "n": [1.0, 2.0, np.nan, 4.0],
        "w": ["b", None, "a", "b"],
        "t": [True, False, True, True],
        "day": pd.to_datetime(["1970-01-02", None, "1970-01-04", "1970-01-05"]),
        "zip": [10, 20, 10, 30],
    }
)
EXPECTED = [[1, 1, 1, 1, 10], [2, -1, 0, np.nan, 20], [np.nan, 0, 1, 3, 10], [4, 1, 1, 4, 30]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_any_table_becomes_the_same_matrix(library: str) -> None:
    frame: Any = FRAME
    if library != "pandas":
        columns = {name: FRAME[name].to_list() for name in ("n", "w", "t", "zip")}
        columns["n"] = [1.0, 2.0, None, 4.0]
        columns["w"] = ["b", None, "a", "b"]
        days = [None if pd.isna(day) else day.date() for day in FRAME["day"]]
        frame = pl.DataFrame({**columns, "day": days}).select(list(FRAME.columns))
    matrix = as_matrix(frame.to_arrow() if library == "pyarrow" else frame)
    np.testing.assert_array_equal(matrix.values, EXPECTED)
    assert matrix.is_category == (False, True, True, False, False)
    named = as_matrix(frame, ["zip"])
    assert named.is_category[-1]
    assert named.values[:, -1].tolist() == [0, 1, 0, 2]


def test_every_baseline_takes_words_and_missing_values() -> None:
    penguins = datasets.penguins()
    matrix, y = as_matrix(penguins.drop(columns="species")), penguins["species"].to_numpy()
    for name in (baseline.name for baseline in baselines()):
        model = make_baseline(name, matrix).fit(matrix.values[::2], y[::2])
        assert hasattr(model, "predict_proba") == find_baseline(name).probabilistic
        right = (model.predict(matrix.values[1::2]) == y[1::2]).mean()
        assert right > (0.4 if name == "majority" else 0.95), name


def test_numbers_are_counted() -> None:
    matrix = as_matrix(FRAME[["n", "w"]])
    y = np.array([0, 1, 0, 1])
    sizes = {
        one.name: size_of_baseline(one.name, make_baseline(one.name, matrix).fit(matrix.values, y))
        for one in baselines()
    }
    # n, where n is missing, and w = missing, a, b: five terms and a constant; of n a median, of the
    # first two a mean and a scale; three values of w
    assert sizes["logistic"] == sizes["linear_svm"] == (5 + 1) + (1 + 4 + 3)
    assert sizes["majority"] == 1
    support = make_baseline("rbf_svm", matrix).fit(matrix.values, y)[-1].n_support_.sum()
    assert sizes["rbf_svm"] == support * (5 + 1) + 1 + 1 + (1 + 4 + 3)


def test_rare_values_go_together_and_new_ones_with_them() -> None:
    values = [f"v{i}" for i in range(100)] * 2 + ["common"] * 100
    matrix = as_matrix(pd.DataFrame({"w": values}))
    y = np.arange(300) % 2
    model = make_baseline("logistic", matrix).fit(matrix.values, y)
    assert model[0].transform([[1.0]]).shape == (1, 30)
    rare = np.asarray(model[0].transform([[5.0]]).todense())
    np.testing.assert_array_equal(np.asarray(model[0].transform([[777.0]]).todense()), rare)


def test_a_column_without_values_and_one_that_is_new_do_no_harm() -> None:
    frame = pd.DataFrame({"n": [np.nan] * 6, "m": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    matrix = as_matrix(frame)
    model = make_baseline("logistic", matrix).fit(matrix.values, [0, 0, 0, 1, 1, 1])
    assert model.predict([[7.0, 9.0], [np.nan, np.nan]])[0] == 1
