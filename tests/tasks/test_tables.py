"""Tables for the tasks; and new rows from files: a cell does not depend on the other rows."""

from __future__ import annotations

import io
import re
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

from sortal.errors import InputError, UnknownCategoryWarning
from sortal.tasks.fit import fit
from sortal.tasks.predict import predict
from sortal.tasks.tables import open_table, read

if TYPE_CHECKING:
    from pathlib import Path


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("column", "rows", "new"),
    [
        ("flag", "true,a\nfalse,b\n", "true\nfalse\nunknown\n"),
        ("zip", "12345,a\n54321,b\n", "12345\n54321\n01234\n"),
        ("word", "007,a\nx,b\n", "007\nx\n8\n"),
        ("half", "0.5,a\n2,b\n", "0.50\n2.0\n3\n"),
    ],
)
def test_one_odd_cell_changes_no_other_row(
    tmp_path: Path, column: str, rows: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path / "old.csv", f"{column},y\n" + rows * 20)
    categories = [column] if column in ("zip", "half") else []
    model = fit(table, "y", "tree", categorical_features=categories)
    text = f"{column}\n{new}"
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        said = predict(model, written(tmp_path / "new.csv", text))["prediction"].tolist()
    assert said[:2] == ["a", "b"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        assert predict(model, "-")["prediction"].tolist() == said


def test_whole_numbers_as_labels_stay_whole_beside_missing_values(tmp_path: Path) -> None:
    table = written(tmp_path / "old.csv", "x,y\n" + "1,0\n2,1\n3,\n" * 9)
    with pytest.warns(UserWarning, match="9 of 27 rows have no 'y'"):
        assert fit(table, "y", "tree").classes_.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="9 of 27"):
        assert fit(table, "y", "tree").classes_.dtype.kind == "i"


@pytest.mark.parametrize(
    ("fitted", "name", "new", "where"),
    [
        ("1.5", "new.csv", "x\n2.5\n\n3.5\n4.5 kg\n", "line 5: '4.5 kg'"),
        ("1,5", "new.csv", "x;z\n" + "2,5;\n" * 9 + "bad;\n", "line 11: 'bad'"),
        ("1", "new.csv", 'z,x\n"a\n\nb",2\nc,007\n', "line 5: '007'"),
        ("1", "new.jsonl", '{"x": 1}\n\n{"x": "bad"}\n', "line 3: 'bad'"),
        ("2024-01-11", "new.csv", "x\n2024-02-01\n2024-02-30\n", "line 3: '2024-02-30'"),
    ],
)
def test_a_cell_that_is_not_what_was_fitted_is_named_with_its_line(
    tmp_path: Path, fitted: str, name: str, new: str, where: str
) -> None:
    rows = f"{fitted};a\n{fitted.replace('1', '2', 1)};b\n" * 9
    model = fit(written(tmp_path / "old.csv", "x;y\n" + rows), "y", "tree")
    with pytest.raises(InputError, match=f"{name}, {where} in the column 'x' is not a"):
        predict(model, written(tmp_path / name, new))


def test_commas_of_which_nobody_knows_the_meaning_are_named(tmp_path: Path) -> None:
    model = fit(written(tmp_path / "old.csv", "x,y\n" + "1,a\n2,b\n" * 9), "y", "tree")
    new = written(tmp_path / "new.csv", "x;z\n1,234;0\n")
    with pytest.raises(InputError, match=r"line 2: '1,234' .* say which by decimal="):
        predict(model, new)
    assert len(predict(model, new, decimal=",")) == 1


def test_a_table_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;NA\n2;x\n")
    opened = open_table(path, text=["a"])
    assert opened.file is not None
    assert opened.file.name == "t.csv"
    frame: Any = opened.frame
    assert frame["a"].tolist() == ["1", "2"]
    assert opened.notes == ("'NA' was read as a missing value: 'b' 1.",)
    assert open_table(opened) is opened
    assert read(str(path), na_values=["x"])["b"].isna().all()
    path.write_text("a,b\n1\n")
    with pytest.raises(InputError, match=re.escape("t.csv, line 2: 1 cell")):
        read(path, delimiter=",", header=True)


def test_frames_stay_as_they_are() -> None:
    for frame in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})):
        opened = open_table(frame)
        assert opened.frame is frame
        assert opened.file is None
        assert opened.notes == ()
