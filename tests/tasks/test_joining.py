"""Rare text is joined, and nothing else is changed."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from sortal.tasks.holding import held
from sortal.tasks.joining import join_rare, joined
from sortal.tasks.show import show

N = 12


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_text_of_few_rows(library: Any) -> None:
    columns: dict[str, list[Any]] = {
        "a": ["x"] * 6 + ["y"] * 3 + ["z", None, "z"],
        "n": [1, 1, 1, 1, 1, 7, 8, 9, None, None, None, None],
        "code": [1, 1, 1, 1, 1, 7, 8, 9, None, None, None, None],
        "is": [True] * 11 + [False],
        "target": ["u"] * 11 + ["v"],
    }
    table = nw.from_dict(columns, backend=library).to_native()
    made = nw.from_native(join_rare(table, "target", 5, ["code"]), eager_only=True)
    assert made["a"].to_list()[:10] == ["x"] * 6 + ["other"] * 4
    assert made["a"].is_null().to_list() == [False] * 10 + [True, False]
    assert made["code"].to_list()[:8] == ["1"] * 5 + ["other"] * 3
    for name in ("n", "is", "target"):
        assert made[name].is_null().to_list() == [cell is None for cell in columns[name]]
        assert made[name].drop_nulls().to_list() == [c for c in columns[name] if c is not None]
    few = joined(table, "target", 5, ["code"])
    assert few.texts == {"a": {"y", "z"}, "code": {"7", "8", "9"}}
    assert few.n_rows == {"a": 5, "code": 3}
    assert few.masked("such as 'y', '8' or 'x'") == "such as '…', '…' or 'x'"
    assert join_rare(table, "target", 1) is table


def test_types_that_declare_text() -> None:
    table = pd.DataFrame(
        {
            "some": pd.Categorical(["p"] * N, ["p", "nobody"]),
            "scale": pd.Categorical(["low"] * (N - 1) + ["high"], ["low", "high"], ordered=True),
            5: ["m"] * (N - 1) + [3],
        },
        index=range(7, 7 + N),
    )
    made = join_rare(table, "none", 5)
    assert made["some"].tolist() == ["p"] * N
    assert not isinstance(made["some"].dtype, pd.CategoricalDtype)
    assert made["scale"].equals(table["scale"])
    assert made[5].tolist() == ["m"] * (N - 1) + ["other"]
    assert made.index.equals(table.index)


def table_of_notes() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    notes = [f"note {i}" for i in range(20)] + ["none"] * 20
    return pd.DataFrame({"x": rng.normal(size=40), "note": notes, "y": ["a", "b"] * 20})


FEW = "21 values of 'note' (20 of them in fewer than 5 rows)"


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@pytest.mark.parametrize(
    ("learner", "options", "said"),
    [
        ("bayes", {}, FEW),
        ("bayes", {"structure": "joint"}, f"{FEW}; 21 combinations of values"),
        ("tree", {}, "21 values of 'note'"),
        ("lda", {}, "21 values of 'note'"),
        ("neighbors", {}, f"{FEW}; 40 rows of the table"),
        ("kernel", {}, "21 values of 'note'; 40 rows of the table"),
    ],
)
def test_a_model_says_what_it_holds(learner: str, options: Any, said: str, tmp_path: Any) -> None:
    from sortal.tasks.fit import fit

    fit(table_of_notes(), "y", learner, options).save(tmp_path / "model.sortal")
    assert show(tmp_path / "model.sortal").to_dict()["facts"]["holds"] == said


def test_counts_of_weighted_rows_are_no_rows() -> None:
    from sortal import DiscreteBayes, LinearDiscriminant

    table = table_of_notes()
    X, y = table[["x", "note"]], table["y"]
    weighted = DiscreteBayes().fit(X, y, sample_weight=np.full(40, 10.0))
    assert held(weighted) == "21 values of 'note'"
    assert held(LinearDiscriminant().fit(X[["x"]], y)) == "class labels and numbers only"


def test_sentences_do_not_quote_rare_text() -> None:
    long = "x" * 30
    table = pd.DataFrame({"a": ["it's", long, 'say "so"', *["often"] * 9], "y": ["u"] * N})
    few = joined(table, "y", 5)
    said = f"It isn't {'it' + chr(39) + 's'!r}, {long!r}, {long[:23] + '…'!r} or {'often'!r}."
    assert few.masked(said) == "It isn't '…', '…', '…' or 'often'."
