"""New rows from files: what a cell is does not depend on the other rows."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from sortal.errors import ColumnError, UnknownCategoryWarning
from sortal.tasks.fit import fit
from sortal.tasks.predict import predict

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
    model = fit(table, "y", "tree", categories=categories)
    text = f"{column}\n{new}"
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        said = predict(model, written(tmp_path / "new.csv", text))["prediction"].tolist()
    assert said[:2] == ["a", "b"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        assert predict(model, "-")["prediction"].tolist() == said


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    model = fit(written(tmp_path / "old.csv", "flag,y\n" + "true,a\nfalse,b\n" * 9), "y", "tree")
    with pytest.raises(ColumnError, match="'flag', which this table lacks"):
        predict(model, written(tmp_path / "new.csv", "other\n1\n"))


def test_whole_numbers_as_labels_stay_whole_beside_holes(tmp_path: Path) -> None:
    table = written(tmp_path / "old.csv", "x,y\n" + "1,0\n2,1\n3,\n" * 9)
    with pytest.warns(UserWarning, match="9 of 27 rows have no 'y'"):
        assert fit(table, "y", "tree").classes_.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="9 of 27"):
        assert fit(table, "y", "tree").classes_.dtype.kind == "i"
