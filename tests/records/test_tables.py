"""Records hold numbers; their faces show them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import FisherDiscriminant, TreeClassifier, datasets, inspect, score_split
from sortal.errors import ParameterError
from sortal.evaluation import Confusion, Reliability, Roc
from sortal.records.tables import Shown, Table, Working
from sortal.tasks.compare.comparison import Comparison
from sortal.tasks.compare.run import OutOfFold
from sortal.tasks.report.errors import ErrorAnalysis
from sortal.tasks.show import show

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


def test_every_record_shows_itself() -> None:
    iris, tennis = datasets.iris(), datasets.play_tennis()
    tree = TreeClassifier(pruning=None).fit(iris, "species")
    fisher = FisherDiscriminant().fit(iris, "species")
    truth, proba = np.array([0, 0, 1, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0, 1]])
    said = proba.argmax(axis=1)
    kept = OutOfFold(np.arange(4), truth, said, proba, 4, 2, 2)
    records: list[Shown] = [
        TABLE,
        Working("All", (TABLE, TABLE)),
        tree.explain(iris[:2]),
        tree.explain(iris[:2])[0],
        tree.cost_complexity_path(),
        score_split(tennis["Outlook"], tennis["PlayTennis"]),
        fisher.evaluate_direction([1, 0, 0, 0]),
        Confusion.of(truth, said, "ab"),
        Reliability.of(truth, said, proba),
        Roc.of(truth, proba, "ab"),
        ErrorAnalysis.of(kept, iris[:4], "ab"),
        inspect(iris, "species"),
        show(tree),
    ]
    every = {kind for kind in subclasses(Shown) if kind.__name__[0] != "_"}
    assert {type(record) for record in records} == every - {Comparison}  # its tests make one
    for record in records:
        tables = record.to_markdown().count("| ---")
        assert tables == record.to_markdown(4).count("| ---") >= 1
        assert record.to_markdown(4).startswith("#### ") or isinstance(record, ErrorAnalysis)
        assert str(record) == repr(record) == record.short().to_text()
        assert record._repr_html_().count("<table>") >= 1
        assert record.to_html().startswith("<!doctype html>")
        assert record.to_table().to_frame().shape[0] == len(record.to_table().rows)
        plain = record.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def subclasses(kind: type) -> set[type]:
    """All below a class."""
    below: set[type] = set(kind.__subclasses__())
    return below.union(*map(subclasses, below))
