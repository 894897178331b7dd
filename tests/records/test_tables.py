"""Records hold numbers; their faces show them."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pytest

from sortal import FisherDiscriminant, TreeClassifier, datasets, score_split
from sortal.errors import ParameterError
from sortal.records.tables import Table, Working

TABLE = Table("t", "A <b>title</b>", ("word", "n"), (("a&b", 1), ("c", 0.25), (None, 3.0)), "S 2")


def test_a_table_prints_words_left_and_numbers_right() -> None:
    assert str(TABLE).splitlines() == [
        "A <b>title</b>  (S 2)",
        "word     n",
        "----  ----",
        "a&b      1",
        "c     0.25",
        "         3",
    ]


def test_text_from_data_is_escaped_in_html() -> None:
    html = TABLE._repr_html_()
    assert "<b>" not in html
    assert "A &lt;b&gt;title&lt;/b&gt;" in html
    assert "a&amp;b" in html


def test_a_table_is_a_dictionary_columns_and_a_frame_of_the_library_that_came_in() -> None:
    assert json.loads(json.dumps(TABLE.to_dict()))["rows"][0] == ["a&b", 1]
    assert TABLE.column("n") == (1, 0.25, 3.0)
    assert isinstance(TABLE.to_frame(), pd.DataFrame)
    frame = Table("t", "", ("x", "y"), ((1, "a"), (2, 3)), backend="polars").to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dict(as_series=False) == {"x": [1, 2], "y": ["a", "3"]}


def test_working_finds_tables_by_name_and_says_which_there_are() -> None:
    working = Working("All", (TABLE,))
    assert working["t"] is TABLE
    assert [table.name for table in working] == list(working.to_frame()) == ["t"]
    with pytest.raises(ParameterError, match=r"no table .x.*it has .t."):
        _ = working["x"]


def test_records_of_their_own_have_markdown_too() -> None:
    tennis = datasets.play_tennis()
    parts = score_split(tennis["Outlook"], tennis["PlayTennis"])
    assert parts.to_markdown().count("### ") == 2
    iris = datasets.iris()
    tree = TreeClassifier(pruning=None).fit(iris, "species")
    assert tree.cost_complexity_path().to_markdown().startswith("### ")
    judged = FisherDiscriminant().fit(iris, "species").evaluate_direction([1, 0, 0, 0])
    assert judged.to_markdown().startswith("### ")
