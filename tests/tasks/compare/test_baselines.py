"""Candidates by name, and baselines: any table as a matrix, prepared columns, counted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import datasets
from sortal.errors import ParameterError
from sortal.tasks.baselines import as_matrix, find_baseline, make_baseline, size_of_baseline
from sortal.tasks.compare.candidates import candidates, read_options

FRAME = pd.DataFrame(
    {
        "n": [1.0, 2.0, np.nan, 4.0],
        "w": ["b", None, "a", "b"],
        "t": [True, False, True, True],
        "day": pd.to_datetime(["1970-01-02", None, "1970-01-04", "1970-01-05"]),
        "zip": [10, 20, 10, 30],
    }
)
BASELINES = [one.name for one in candidates(["lda"], baselines=True) if one.baseline]
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
    for name in BASELINES:
        model = make_baseline(name, matrix).fit(matrix.values[::2], y[::2])
        assert hasattr(model, "predict_proba") == find_baseline(name).probabilistic
        right = (model.predict(matrix.values[1::2]) == y[1::2]).mean()
        assert right > (0.4 if name == "constant" else 0.9), name


def test_numbers_are_counted() -> None:
    matrix = as_matrix(FRAME[["n", "w"]])
    y = np.array([0, 1, 0, 1])
    sizes = {
        name: size_of_baseline(name, make_baseline(name, matrix).fit(matrix.values, y))
        for name in BASELINES
    }
    # n, where n is missing, and w = missing, a, b: five terms and a constant; of n a median, of the
    # first two a mean and a scale; three values of w
    assert sizes["logistic"] == sizes["linear_svm"] == (5 + 1) + (1 + 4 + 3)
    assert sizes["constant"] == 1
    support = make_baseline("rbf_svm", matrix).fit(matrix.values, y)[-1].n_support_.sum()
    assert sizes["rbf_svm"] == support * (5 + 1) + 1 + 1 + (1 + 4 + 3)


def test_rare_values_go_together_and_new_ones_with_them() -> None:
    values = [f"v{i}" for i in range(100)] * 2 + ["common"] * 100
    matrix = as_matrix(pd.DataFrame({"w": values}))
    y = np.arange(300) % 2
    model = make_baseline("logistic", matrix).fit(matrix.values, y)
    assert model[0].transform([[1.0]]).shape == (1, 30)
    rare = model[0].transform([[5.0]])
    np.testing.assert_array_equal(model[0].transform([[777.0]]), rare)
    boosted = make_baseline("boosting", matrix).fit(matrix.values, y)  # takes dense columns only
    assert boosted.predict(matrix.values).shape == (300,)


def test_a_column_without_values_and_one_that_is_new_do_no_harm() -> None:
    frame = pd.DataFrame({"n": [np.nan] * 6, "m": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    matrix = as_matrix(frame)
    model = make_baseline("logistic", matrix).fit(matrix.values, [0, 0, 0, 1, 1, 1])
    assert model.predict([[7.0, 9.0], [np.nan, np.nan]])[0] == 1


def test_names_of_candidates_are_read() -> None:
    given = "criterion=gini, max_depth=3,pruning=None,costs=[[0, 2], [1, 0]]"
    assert read_options(given, "") == {
        "criterion": "gini", "max_depth": 3, "pruning": None, "costs": [[0, 2], [1, 0]],
    }  # fmt: skip
    assert read_options("", "") == {}
    first, *others = candidates(["lda:shrinkage=0.1", "tree"], baselines=["logistic"])
    assert first.name == "constant"
    assert [one.name for one in others] == ["lda:shrinkage=0.1", "tree", "logistic"]
    assert [one.grid for one in others[:1]] == [{}]
    everyone = [one.name for one in candidates(None, baselines=False)]
    assert "tree:max_leaf_nodes=16" in everyone


@pytest.mark.parametrize(
    ("learners", "words"),
    [
        (["tree", "tree"], "'tree' would take part more than once"),
        ([], "There is no model to compare"),
        (["nope"], "There is no learner 'nope'"),
        (["tree:max_dept=3"], "has no option 'max_dept'"),
        (["tree:3"], "'tree:3' cannot be read: give each option once, with its value"),
        (["tree:max_depth=3,max_depth=4"], "give each option once"),
    ],
)
def test_what_no_candidate_is_called(learners: list[str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        candidates(learners, baselines=False)
