"""Tables for the tasks: a path, an open table, or a frame as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest

from sortal.errors import InputError
from sortal.tasks.tables import open_table, read

if TYPE_CHECKING:
    from pathlib import Path


def test_a_path(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;NA\n2;x\n")
    opened = open_table(path, text=["a"])
    assert opened.file is not None
    assert opened.file.name == "t.csv"
    assert opened.frame["a"].tolist() == ["1", "2"]
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
