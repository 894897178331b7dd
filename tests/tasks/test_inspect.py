"""inspect: every finding where it belongs, and nowhere else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal import datasets
from sortal.tasks.inspection import inspect

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.inspection import Inspection

N = 400


def frame(**columns: Any) -> pd.DataFrame:
    """Two columns without fault, a target, and others."""
    rng = np.random.default_rng(1)
    plain = {"height": rng.normal(170, 10, N), "city": rng.choice(["Oslo", "Paris", "Rome"], N)}
    return pd.DataFrame(plain | columns | {"y": rng.choice(["no", "yes"], N)})


def found(data: Any, target: str | None = "y", **options: Any) -> dict[str, tuple[str, str]]:
    """Findings by code: column and remedy."""
    looked = inspect(data, target, **options)
    return {finding.code: (finding.column, finding.remedy) for finding in looked.findings}


def words(looked: Inspection, code: str) -> str:
    return next(finding.words for finding in looked.findings if finding.code == code)


def test_nothing_to_find() -> None:
    assert found(frame()) == {}
    assert found(datasets.penguins(), "species") == {}


ROWS = np.arange(N)
MIXED = np.random.default_rng(0).permutation(9 * N)[:N]
CODED: dict[str, list[tuple[str, Any, str]]] = {
    "identifier": [
        ("name", [f"n{i}" for i in ROWS], "all of its 400 values differ"),
        ("name", [f"n{i % 390}" for i in ROWS], "390 of its 400 values differ"),
        ("n", ROWS, "run with the rows"),
        ("n", 7 * N - 7 * ROWS, "run with the rows"),
        ("n", np.random.default_rng(0).permutation(N) + 5, "are 5 to 404, each once"),
        ("user_id", MIXED, "all differ, and it is"),
        ("userId", MIXED, "all differ, and it is"),
    ],
    "personal-text": [
        ("reply", [f"n{i % 9}@example.org" for i in ROWS], "mail addresses, 9 different ones"),
        ("lastName", [f"Van {i % 150}" for i in ROWS], "the word 'name' in its name, and most"),
        ("told", [f"the {i % 150} was not there" for i in ROWS], "looks like free text: most"),
        ("what", [f"n{i % 250}" for i in ROWS], "has 250 different texts in 400 rows"),
    ],
    "code": [
        ("zip", np.array([1234, 20095, 80331])[MIXED % 3], "has the word 'zip'"),
        ("ZipCode", ROWS % 90 + 10000, "has the word 'zip'"),
        ("branch", np.array([101, 205, 317])[MIXED % 3], "only 3, all of 3 digits"),
        ("place", 10000 + ROWS * 89999 // 250 % 90000, "all have 5 digits, from 10000 to 99"),
    ],
}


@pytest.mark.parametrize("code", CODED)
def test_columns_that_are_no_attributes(code: str) -> None:
    for column, values, why in CODED[code]:
        data = frame(**{column: values})
        remedy = f"--categorical {column}" if code == "code" else f"--drop {column}"
        assert found(data) == {code: (column, remedy)}, column
        assert why in words(inspect(data, "y"), code), column


def test_text_that_tells_of_nobody() -> None:
    for values in (
        [f"n{i % 70}" for i in range(N)],
        [f"a sentence of six words {i % 40}" for i in range(N)],
        ["a@b"] * 300 + ["-"] * 100,
    ):
        assert found(frame(name=values)) == {}
    leaking = frame()
    leaking["reply"] = [f"{y}@example.org" for y in leaking["y"]]
    codes = [finding.code for finding in inspect(leaking, "y").findings]
    assert codes == ["leak", "personal-text"]


def test_measured_numbers_are_no_identifiers() -> None:
    assert found(frame(income=np.random.default_rng(0).permutation(9 * N)[:N] * 10)) == {}
    assert found(frame(x=np.random.default_rng(0).normal(size=N))) == {}


def test_constant_and_empty_columns() -> None:
    assert found(frame(k=["x"] * N)) == {"constant": ("k", "--drop k")}
    incomplete = frame(k=["x"] * 300 + [None] * 100)
    assert "apart from 100 missing values" in words(inspect(incomplete, "y"), "constant")
    assert found(frame(k=[None] * N)) == {"empty": ("k", "--drop k")}
    assert found(frame(k=[np.nan] * N)) == {"empty": ("k", "--drop k")}


def test_leaks() -> None:
    rng, data = np.random.default_rng(2), frame()
    truth = data["y"] == "yes"
    leaks: dict[str, Any] = {
        "word": np.where(truth, "approved", "refused"),
        "number": truth * 10 + rng.random(N).round(3),
        "holes": [("x" if is_true else None) for is_true in truth],
        "both": np.where(truth, rng.normal(80, 9, N), np.nan),  # a missing value where it is false
        "nearly": np.where(truth ^ (np.arange(N) == 7), 1.5, 0.5),
    }
    for name, values in leaks.items():
        leaking = data.assign(**{name: values})
        assert found(leaking) == {"leak": (name, f"--drop {name}")}, name
    said = words(inspect(data.assign(word=leaks["word"]), "y"), "leak")
    majority = data["y"].value_counts().max() / N
    assert (
        f"in 100.0 % of the rows; the most frequent class is right in {100 * majority:.1f} %"
        in said
    )
    assert "in 99.8 % of the rows" in words(inspect(data.assign(n=leaks["nearly"]), "y"), "leak")


def test_strong_columns_and_identifiers_are_no_leaks() -> None:
    rng, data = np.random.default_rng(3), frame()
    truth = (data["y"] == "yes").to_numpy()
    strong = np.where(rng.random(N) < 0.9, truth, ~truth)
    assert found(data.assign(strong=strong)) == {}
    assert found(datasets.iris(), "species").keys() == {"duplicate-rows"}
    # rows sorted by class: the running number tells the class, and still names rows
    ordered = data.sort_values("y").assign(n=range(N))
    assert found(ordered) == {"identifier": ("n", "--drop n")}
    names = data.assign(name=[f"{y}{i}" for i, y in enumerate(data["y"])])
    assert found(names) == {"identifier": ("name", "--drop name")}


def test_leaks_of_a_target_with_missing_values_and_of_many_values() -> None:
    data = frame()
    data["copy"] = data["y"].map({"no": "0", "yes": "1"})
    data.loc[:9, "y"] = None
    assert found(data).keys() == {"leak", "target-missing"}
    assert "no value in 10 rows of 400" in words(inspect(data, "y"), "target-missing")
    wide = frame(many=np.arange(N) // 2)
    assert found(wide) == {}


def test_counts_years_and_scales_are_no_codes() -> None:
    rng = np.random.default_rng(4)
    for values in (
        rng.integers(0, 6, N),
        rng.integers(1990, 2024, N),
        rng.choice([100, 200, 300], N),
        rng.integers(2700, 6300, N) // 25 * 25,
    ):
        assert found(frame(n=values)) == {}


def test_dates_and_numbers_as_words() -> None:
    dates = [f"{i % 28 + 1:02d}/{i % 12 + 1:02d}/2024" for i in range(N)]
    assert found(frame(when=dates)) == {"date-as-words": ("when", "--drop when")}
    months = [f"{i % 28 + 1} March 2024" for i in range(N)]
    assert found(frame(when=months)).keys() == {"date-as-words"}
    iso = [f"2024-01-{i % 28 + 1:02d}" for i in range(N)]
    assert "Convert the column" in words(inspect(frame(when=iso), "y"), "date-as-words")
    ages = [str(i % 60) if i % 50 else "unknown" for i in range(N)]
    assert found(frame(age=ages)) == {"number-as-words": ("age", "--na-values unknown")}
    said = words(inspect(frame(age=ages), "y"), "number-as-words")
    assert "would be numbers but for 8 rows ('unknown')" in said
    commas = [f"{i % 60},5" if i % 50 else "unknown" for i in range(N)]
    assert found(frame(age=commas)) == {"number-as-words": ("age", "--na-values unknown")}
    assert found(frame(plz=[f"{i % 70:05d}" for i in range(N)])) == {}


def test_the_target() -> None:
    data = frame()
    rare = data.assign(y=["rare"] * 3 + ["other"] * 9 + ["most"] * (N - 12))
    looked = inspect(rare, "y")
    assert found(rare) == {"rare-class": ("y", "")}
    assert "fewer than 10 rows: 'rare' 3, 'other' 9." in words(looked, "rare-class")
    assert looked.classes is not None
    assert looked.classes.column("rows") == (N - 12, 9, 3)
    for measured in (data["height"], data.index, pd.to_datetime(data.index, unit="D")):
        told = found(data.assign(y=np.asarray(measured)))
        assert told == {"measured-target": ("y", "--target COLUMN")}
    assert found(data.assign(y="same")).keys() == {"one-class"}
    assert found(data.assign(y=None)).keys() == {"empty-target"}


def test_rows_that_repeat_and_contradict() -> None:
    data = frame()
    twice = pd.concat([data, data[:5]], ignore_index=True)
    looked = inspect(twice, "y")
    assert "5 of 405 rows repeat an earlier row" in words(looked, "duplicate-rows")
    assert {finding.code for finding in looked.findings} == {"duplicate-rows"}
    # identifiers do not hide them
    numbered = twice.assign(n=range(len(twice)))
    assert "left out" in words(inspect(numbered, "y"), "duplicate-rows")
    other = data[:5].assign(y=["no" if y == "yes" else "yes" for y in data["y"][:5]])
    looked = inspect(pd.concat([data, other], ignore_index=True), "y")
    assert {finding.code for finding in looked.findings} == {"contradicting-rows"}
    said = words(looked, "contradicting-rows")
    assert "10 of 405 rows have the same values as a row of another class" in said
    assert f"more than {100 * 400 / 405:.1f} % of the rows" in said
    # where few rows are possible, repetition goes without saying
    assert "duplicate-rows" not in found(data[["city", "y"]])
    assert found(data[["city"]], None) == {}


def test_rows_are_compared_as_pandas_compares_them() -> None:
    rng, told = np.random.default_rng(5), set()
    for n_values in (8, 30, 90, 200):
        data = pd.DataFrame(
            {"a": rng.integers(0, n_values, 200), "b": rng.choice([0.5, np.nan, 2], 200)}
        ).assign(
            c=[("x", "z", None)[i] for i in rng.integers(0, 3, 200)],
            y=rng.choice(["p", "q", "r"], 200),
        )
        data[190:] = data[:10]
        n = int(data.duplicated().sum())
        rows = [" ".join(map(str, row[:-1])) for row in data.to_numpy().tolist()]
        groups = pd.crosstab(np.array(rows), data["y"])
        said = " ".join(finding.words for finding in inspect(data, "y").findings)
        ceiling = groups.max(axis=1).sum() / 200
        assert f"no model can be right in more than {100 * ceiling:.1f} %" in said
        same = [
            np.mean([a == b for i, a in enumerate(cells) for b in cells[:i]])
            for cells in ([str(cell) for cell in data[name]] for name in data)
        ]
        told.add(f"{n} of 200 rows repeat" in said)
        assert (f"{n} of 200 rows repeat" in said) == (n > 3 * 199 * 100 * np.prod(same))
    assert told == {True, False}


def test_columns() -> None:
    table = inspect(datasets.penguins(), "species").columns
    assert table.columns == ("column", "kind", "missing", "distinct", "range or most frequent")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["island"] == ("words", 0, 3, "Biscoe (168), Dream (124), Torgersen (52)")
    assert rows["body_mass_g"] == ("whole number", 2, 94, "2700 … 6300")
    assert rows["bill_depth_mm"] == ("number", 2, 80, "13.1 … 21.5")
    data = frame(t=np.arange(N) % 2 == 0, d=pd.to_datetime(["2024-01-31"] * N), e=[None] * N)
    kinds = dict(zip(data, inspect(data, "y").columns.column("kind"), strict=True))
    assert (kinds["t"], kinds["d"], kinds["e"]) == ("truth", "date", "nothing")
    assert "2024-01-31" in inspect(data).columns.column("range or most frequent")


def test_names_of_rows_stay_untold() -> None:
    names = [f"patient {i}" for i in range(40)]
    found = inspect(pd.DataFrame({"name": names, "twice": names[:20] * 2}))
    assert found.columns.column("range or most frequent")[0] == "all different"
    assert "patient 0 (2)" in str(found.columns.column("range or most frequent")[1])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_libraries_give_the_same(library: str) -> None:
    data = frame(zip=np.arange(N) % 70 + 10001, k=["x"] * N, h=[1.5, None] * (N // 2))
    plain = {name: [None if v != v else v for v in data[name].tolist()] for name in data}  # noqa: PLR0124
    other = pl.DataFrame(plain) if library == "polars" else pa.table(plain)
    assert inspect(other, "y").to_dict() == inspect(data, "y").to_dict()


def test_a_file_and_its_notes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame(zip=[f"{i % 50:05d}" for i in range(N)], age=["?", "none", *["7"] * (N - 2)]).to_csv(
        path, index=False
    )
    looked = inspect(path, "y")
    assert looked.title == "t.csv: 400 rows, 5 columns, 1 missing value"
    assert inspect(pd.DataFrame({"a": [1]})).title == "1 row, 1 column, 0 missing values"
    assert any("'zip' is text" in note for note in looked.notes)
    assert inspect(path, "y", drop=["zip"]).to_frame().shape == (4, 5)
    assert inspect(path, "y", text=["height"]).columns.column("kind")[0] == "words"
    ages = frame(age=["?", "none", *(str(i % 60) for i in range(N - 2))])
    ages.to_csv(path, index=False)
    assert found(path)["number-as-words"] == ("age", "--na-values none")


def test_faces() -> None:
    data = frame(**{"<b>\x1b[31m": ["<i>&\x07"] * N, "-x y": [None] * N})
    looked = inspect(data, "y")
    for text in (str(looked), looked.to_markdown(), looked.to_html(), looked._repr_html_()):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "<b>" not in looked._repr_html_().replace("<body>", "")
    assert "<i>" not in looked.to_html()
    assert str(looked).startswith("400 rows, 5 columns, 400 missing values\n\nColumns\n")
    assert "\nFindings\n- '<b>\\x1b[31m' is " in str(looked)
    assert found(data)["empty"] == ("-x y", "--drop='-x y'")
    assert max(map(len, looked.to_text(60).splitlines())) <= 60
    told = json.loads(json.dumps(looked.to_dict(), allow_nan=False))
    assert told["findings"][0]["code"] == "constant"
    assert told["rows"] == N
    assert repr(inspect(frame())).endswith("Findings\n- none")


def test_data_drawn_with_a_common_seed_is_halved_by_another_lot() -> None:
    for seed in (0, 1, 42):
        y = np.where(np.random.default_rng(seed).random(N) < 0.5, "yes", "no")
        data = frame(copy=np.where(y == "yes", 1.5, 2.5)).assign(y=y)
        assert found(data) == {"leak": ("copy", "--drop copy")}
