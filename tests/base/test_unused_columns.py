"""Frames at predict need the columns that the model uses, and no others; arrays need all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal import DiscreteBayes, LinearDiscriminant, NeighborsClassifier, TreeClassifier, load
from sortal.errors import ColumnError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.trees.learn import Policy

N = 60
A = np.random.default_rng(0).normal(size=N)
X = pd.DataFrame(
    {
        "number": np.arange(N) % 7,
        "a": A,
        "word": ["x", "y"] * (N // 2),
        "flag": [True, False] * (N // 2),
        "day": pd.date_range("2020-01-01", periods=N),
        "level": pd.Categorical(["u"] * N, categories=["s", "u"]),
        "rank": pd.Categorical(["u", "v"] * (N // 2), ordered=True),
        "code": [3, 4] * (N // 2),
        "empty": pd.Series([None] * N, dtype=object),
    }
)
Y = np.where(A > 0, "p", "q")


@pytest.mark.parametrize(
    ("missing", "library"),
    [
        ("direction", pd.DataFrame),
        ("branch", pl.from_pandas),
        ("fractional", pa.Table.from_pandas),
        ("majority", pl.from_pandas),
        ("error", pd.DataFrame),
    ],
)
def test_a_tree_needs_the_columns_that_it_asks(
    missing: Policy, library: Any, tmp_path: Path
) -> None:
    rows = X if missing != "error" else X.drop(columns="empty")
    model = TreeClassifier(missing=missing, unknown="error", categorical_features=["code"])
    model.fit(rows, Y).save(tmp_path / "model")
    for made in (model, load(tmp_path / "model")):
        few = library(X[["a"]])
        assert made.predict(few).tolist() == Y.tolist()
        assert np.array_equal(made.predict_proba(few), model.predict_proba(rows))
        assert made.apply(few).tolist() == model.apply(rows).tolist()
        assert str(made.explain(few)[0]) == str(model.explain(rows)[0])
        assert made.score(few, Y) == 1
        with pytest.raises(ColumnError, match=r"columns 'a', which this table lacks: it has 'flag"):
            made.predict(library(X[["flag"]]))
    with pytest.raises(ColumnError, match="lacks"):  # the rows of the fit have all columns
        model.working(0, X[["a", "code"]], Y)


def test_arrays_keep_all_columns() -> None:
    numbers = np.column_stack([A, np.arange(N)])
    model = TreeClassifier().fit(numbers, Y)
    with pytest.raises(InputError, match="X has 1 features"):
        model.predict(A[:, None])
    named = TreeClassifier().fit(pd.DataFrame(numbers, columns=["a", "b"]), Y)
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(InputError, match="has 1"):
        named.predict(A[:, None])
    assert named.predict(pd.DataFrame({"a": A})).tolist() == Y.tolist()
    assert named.n_features_in_ == 2


@pytest.mark.parametrize("learner", [DiscreteBayes, NeighborsClassifier])
def test_a_column_that_never_varied_may_be_absent(learner: Any) -> None:
    rows = pd.DataFrame({"a": A, "still": 7.0, "word": ["x", "y"] * (N // 2)})
    model = learner().fit(rows, Y)
    assert any("'still' never varies" in note for note in model.fit_report_.notes)
    few = rows.drop(columns="still")
    assert np.array_equal(model.predict_proba(few), model.predict_proba(rows))
    assert str(model.explain(few)[0]) == str(model.explain(rows)[0])
    with pytest.raises(ColumnError, match="'word', which this table lacks: it has 'a'"):
        model.predict(rows[["a"]])


def test_functions_of_all_columns_need_all() -> None:
    rows = pd.DataFrame({"a": A, "b": A[::-1]})
    with pytest.raises(ColumnError, match="'b', which this table lacks"):
        LinearDiscriminant().fit(rows, Y).predict(rows[["a"]])
