"""A model reads next week's file as it read that of its fit, and says what is otherwise."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import sortal
from sortal.errors import MissingValueWarning, ParameterError, ReadingWarning
from sortal.tasks.fit import fit
from sortal.tasks.predict import explain, predict
from sortal.tasks.show import show

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("-999", "n/a?")


def claims(seed: int, n: int = 90) -> pd.DataFrame:
    """Columns that tell classes apart; missing values are written as numbers and words."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    amount = (20 + 4 * y + rng.normal(size=n)).round(2)
    age = (50 - 6 * y + 3 * rng.normal(size=n)).round(1)
    drawn = rng.choice(["hut", "inn", "house"], n)
    place = np.where(rng.random(n) < 0.5, np.array(["hut", "inn"])[y], drawn)
    gone = rng.random((3, n)) < 0.15
    return pd.DataFrame(
        {
            "amount": np.where(gone[0], "-999", amount.astype(str)),
            "age": np.where(gone[1], "-999.0", age.astype(str)),
            "place": np.where(gone[2], "n/a?", place),
            "row": np.arange(n),
            "paid": np.array(["no", "yes"])[y],
        }
    )


def written(frame: pd.DataFrame, path: Path, **how: Any) -> Path:
    frame.to_csv(path, index=False, **how)
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return written(claims(1), tmp_path / "claims.csv")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return written(claims(2), tmp_path / "new.csv")


def saved(tmp_path: Path, *given: Any, **named: Any) -> Path:
    path = tmp_path / "m.sortal"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        fit(*given, **named).save(path)
    return path


@pytest.mark.parametrize("learner", ["bayes", "neighbors"])
@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
def test_words_for_missing_values_are_those_of_the_fit(
    tmp_path: Path, old: Path, new: Path, learner: str
) -> None:
    path = saved(tmp_path, old, "paid", learner, drop=["row"], na_values=WORDS)
    table = sortal.read(new, na_values=WORDS)
    assert table[["amount", "age", "place"]].isna().sum().min() > 5
    wanted = predict(path, table, proba=True)
    pd.testing.assert_frame_equal(predict(path, new, proba=True), wanted)
    why, parts = explain(path, new, [3, 7]), explain(path, table, [3, 7])
    assert why.to_dict() == parts.to_dict()
    # the same words again are no difference, and kept ones need not be in every file
    pd.testing.assert_frame_equal(predict(path, new, proba=True, na_values=WORDS), wanted)
    whole = written(claims(3)[:1].assign(amount=20, age=50, place="inn"), tmp_path / "one.csv")
    assert len(predict(path, whole)) == 1


@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
def test_what_is_otherwise_is_said(tmp_path: Path, old: Path, new: Path) -> None:
    path = saved(tmp_path, old, "paid", "bayes", drop=["row"], na_values=WORDS)
    words = r"na_values \(--na-values\) '-999' instead of '-999', 'n/a\?'"
    with pytest.warns(ReadingWarning, match=rf"^new.csv is read .* claims.csv.*: {words}\."):
        predict(path, new, na_values=["-999"])
    with pytest.warns(ReadingWarning, match="none instead of"):
        explain(path, new, [1], na_values=[])


@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
def test_signs_of_another_file_are_understood(tmp_path: Path, new: Path) -> None:
    rows = claims(1).drop(columns="row")
    commas = rows.assign(amount=rows["amount"].str.replace(".", ","), age="1")
    path = saved(
        tmp_path, written(commas, tmp_path / "c.csv", sep=";"), "paid", "bayes", na_values=["-999"]
    )
    wanted = predict(path, sortal.read(new, na_values=["-999"]))
    with pytest.warns(ReadingWarning, match=r"decimal mark '\.' instead of ','\. Make sure"):
        found = predict(path, new)  # a delimiter that was found goes without saying
    pd.testing.assert_frame_equal(found, wanted)
    with pytest.warns(ReadingWarning, match=r"instead of ','; delimiter ',' instead of ';'"):
        predict(path, new, delimiter=",")


def test_what_a_file_leaves_open_is_as_at_the_fit(tmp_path: Path) -> None:
    table = tmp_path / "old.csv"
    table.write_text("x^y\n" + "1,250^a\n2,500^b\n" * 20, encoding="utf-8")
    path = saved(tmp_path, table, "y", "tree", delimiter="^", decimal=",")
    table.write_text("x^z\n1,125^2,500\n2,750^3,000\n", encoding="utf-8")
    assert predict(path, table)["prediction"].tolist() == ["a", "b"]
    table.write_text("x,z\n1.125,2\n", encoding="utf-8")  # nothing is open here
    with pytest.warns(ReadingWarning, match="decimal mark"):
        assert predict(path, table)["prediction"].tolist() == ["a"]


def test_of_a_frame_nothing_is_known(old: Path, new: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        model = fit(sortal.read(old, na_values=WORDS), "paid", "bayes", drop=["row"])
        predict(model, new, na_values=WORDS, delimiter=",")
    facts = show(model).to_dict()["facts"]
    assert (facts["target"], facts["dropped"]) == ("paid", "row")
    assert not {"file", "read as"} & set(facts)


def test_show_says_how_the_file_was_read(
    tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1709164800")
    path = saved(tmp_path, old, "paid", "bayes", drop=["row"], na_values=WORDS)
    facts = show(path).to_dict()["facts"]
    assert facts["columns"] == "number: amount, age; category: place"
    assert (facts["target"], facts["dropped"]) == ("paid", "row")
    assert facts["fitted"] == f"2024-02-29, by sortal {sortal.__version__}"
    assert facts["read as"] == (
        "csv, delimiter ',', decimal mark '.'; missing values: NA, ? and the like, '-999', 'n/a?'"
    )
    first = path.read_bytes()
    assert saved(tmp_path, old, "paid", "bayes", drop=["row"], na_values=WORDS) == path
    assert path.read_bytes() == first


def test_a_day_that_cannot_be(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ParameterError, match="SOURCE_DATE_EPOCH='yesterday' is no time"):
        fit(old, "paid", "tree", drop=["row"])


NUMBERS = {
    "csv": ("a,b\n1,-999.00\n-999,2.5\n-9.99e2,+999\n", [1, None, None], [None, 2.5, 999]),
    "comma": ("a;b\n1,5;-999,0\n-999,000;2\n-999;-999.0\n", [1.5, None, None], [None, 2, None]),
    "jsonl": ('{"a": -999.0, "b": 1}\n{"a": 2.5, "b": -999}\n', [None, 2.5], [1, None]),
    "codes": ("a,b\n-0999,-999\n999,x\n", ["-0999", "999"], [None, "x"]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_mean_their_value(tmp_path: Path, case: str) -> None:
    content, *columns = NUMBERS[case]
    path = tmp_path / f"t.{case}"
    path.write_text(content, encoding="utf-8")
    frame = sortal.read(path, na_values=["-999"])
    for name, values in zip("ab", columns, strict=True):
        assert [None if pd.isna(x) else x for x in frame[name]] == values


def test_what_could_be_thousands_is_no_fraction(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,500;x\n-999,000;y\n", encoding="utf-8")
    with pytest.warns(ReadingWarning, match="holds '-999', which"):
        assert sortal.read(path, na_values=["-999"])["a"].tolist() == ["1,500", "-999,000"]
    assert sortal.read(path, na_values=["-999"], decimal=",")["a"].isna().tolist() == [False, True]


def test_numbers_of_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    duckdb.connect().execute(
        "COPY (SELECT i, CAST(i AS DOUBLE) f, CAST(i AS FLOAT) g, CAST(i AS DECIMAL(9, 2)) d, "
        "CAST(i AS VARCHAR) || '.0' w, 9007199254740993 AS big, i = 1 AS b "
        "FROM (VALUES (1), (-999), (3)) AS t(i)) TO 't.parquet'"
    )
    with pytest.warns(ReadingWarning, match="t.parquet holds '9007199254740992', which"):
        frame = sortal.read("t.parquet", na_values=["-999", "9007199254740992"], text=["g"])
    assert frame[list("ifgdw")].isna().to_numpy().tolist() == [[False] * 5, [True] * 5, [False] * 5]
    assert frame["i"].tolist()[::2] == [1, 3]
    assert frame["g"].tolist()[0] == "1.0"
    assert frame["big"].tolist() == ["9007199254740993"] * 3


def test_an_option_without_effect_is_said(old: Path) -> None:
    words = r"na_values \(--na-values\): no column of claims.csv holds '-99', 'none', which changes"
    with pytest.warns(ReadingWarning, match=words):
        sortal.read(old, na_values=["-999", " n/a? ", "-99", "none", "NA", "-99"])
