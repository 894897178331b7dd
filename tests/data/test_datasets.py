"""The bundled tables: their shapes, their counts, and the same values on every backend."""

import math
from collections import Counter
from typing import Any

import narwhals as nw
import pytest

from sortal.data import datasets

BACKENDS = ["pandas", "polars", "pyarrow"]
MEASURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
BODY = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
PENGUINS = ["species", "island", *BODY, "sex", "year"]
SPECIES = ["setosa", "versicolor", "virginica"]
WEATHER = ["Outlook", "Temperature", "Humidity", "Wind"]
LOVES = ["LovesOpera", "LovesMovies"]

# function: (rows, columns in order, counts of the classes in the last column, whole numbers)
TABLES: dict[str, tuple[int, list[str], dict[Any, int], set[str]]] = {
    "iris": (150, [*MEASURES, "species"], dict.fromkeys(SPECIES, 50), set()),
    "discretized_iris": (150, [*MEASURES[:2], "species"], {"setosa": 50, "other": 100}, set()),
    "play_tennis": (14, [*WEATHER, "PlayTennis"], {"Yes": 9, "No": 5}, set()),
    "loves_sports": (7, [*LOVES, "Age", "LovesSports"], {"Yes": 3, "No": 4}, {"Age"}),
    "table_19_3": (6, ["Age", "Car", "Risk"], {"H": 4, "L": 2}, {"Age"}),
    "table_19_4": (9, ["a1", "a2", "a3", "Class"], {"Y": 4, "N": 5}, set()),
    "table_19_5": (8, ["A", "B", "Class"], {"H": 5, "L": 3}, set()),
    "table_20_1": (4, ["X1", "X2", "y"], {1: 2, -1: 2}, {"y"}),
    "penguins": (344, PENGUINS, {2007: 110, 2008: 114, 2009: 120}, {"year"}),
}


def load(name: str, backend: str = "pandas", **options: Any) -> nw.DataFrame[Any]:
    return nw.from_native(getattr(datasets, name)(backend, **options), eager_only=True)


def plain(frame: nw.DataFrame[Any]) -> dict[str, list[Any]]:
    """Columns as Python lists, every kind of missing value as None."""
    return {
        name: [None if isinstance(x, float) and math.isnan(x) else x for x in column.to_list()]
        for name, column in frame.to_dict().items()
    }


def counts(frame: nw.DataFrame[Any], *names: str) -> Counter[Any]:
    return Counter(frame.select(*names).rows())


def test_every_public_function_is_listed_here() -> None:
    assert set(datasets.__all__) == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_shape_columns_types_and_counts_on_every_backend(name: str) -> None:
    rows, columns, classes, whole = TABLES[name]
    for backend in BACKENDS:
        frame = load(name, backend)
        assert type(frame.to_native()).__module__.split(".")[0] == backend
        assert frame.shape == (rows, len(columns))
        assert frame.columns == columns
        assert Counter(frame[columns[-1]].to_list()) == classes
        assert {column for column, dtype in frame.schema.items() if dtype == nw.Int64} == whole
        assert set(frame.schema.values()) <= {nw.Int64(), nw.Float64(), nw.String()}
        assert plain(frame) == plain(load(name))
    assert type(getattr(datasets, name)()).__module__.startswith("pandas")


def test_iris_is_scikit_learn_except_for_the_two_rows_of_uci() -> None:
    from sklearn.datasets import load_iris

    ours, bunch = load("iris").rows(), load_iris()
    assert ours[34][:4] == ours[37][:4] == (4.9, 3.1, 1.5, 0.1)
    theirs = [
        (*map(float, x), str(bunch.target_names[k]))
        for x, k in zip(bunch.data, bunch.target, strict=True)
    ]
    assert [i for i in range(150) if ours[i] != theirs[i]] == [34, 37]


def test_discretized_iris_has_the_frequencies_of_table_19_1() -> None:
    cut, whole = load("discretized_iris"), load("iris")
    assert counts(cut, "sepal_length", "species") == {
        ("Very Short", "setosa"): 39,
        ("Very Short", "other"): 6,
        ("Short", "setosa"): 11,
        ("Short", "other"): 39,
        ("Long", "other"): 43,
        ("Very Long", "other"): 12,
    }
    assert cut["sepal_width"].to_list() == whole["sepal_width"].to_list()
    lengths: dict[str, list[float]] = {}
    for name, length in zip(cut["sepal_length"], whole["sepal_length"], strict=True):
        lengths.setdefault(name, []).append(length)
    # Every cut point is a value of the data, and belongs to the bin on its left.
    assert {name: (min(x), max(x)) for name, x in lengths.items()} == {
        "Very Short": (4.3, 5.2),
        "Short": (5.3, 6.1),
        "Long": (6.2, 7.0),
        "Very Long": (7.1, 7.9),
    }


def test_play_tennis_shows_the_day_on_request() -> None:
    frame = load("play_tennis", day=True)
    assert frame.columns == ["Day", *TABLES["play_tennis"][1]]
    assert frame.schema["Day"] == nw.Int64
    assert frame["Day"].to_list() == list(range(1, 15))
    assert plain(frame.drop("Day")) == plain(load("play_tennis"))


def test_play_tennis_is_decided_by_three_attributes() -> None:
    """Outlook, then humidity when sunny and wind when raining, explain every row (MSML 603)."""
    for row in load("play_tennis").iter_rows(named=True):
        by_outlook = {
            "Sunny": row["Humidity"] == "Normal",
            "Overcast": True,
            "Rain": row["Wind"] == "Weak",
        }
        assert by_outlook[row["Outlook"]] == (row["PlayTennis"] == "Yes")
    temperatures = load("play_tennis")["Temperature"].to_list()
    assert "".join(name[0] for name in temperatures) == "HHHMCCCMCMMMHM"


def test_loves_sports_counts_of_the_worked_example() -> None:
    frame = load("loves_sports")
    by_opera = {("Yes", "Yes"): 1, ("Yes", "No"): 3, ("No", "Yes"): 2, ("No", "No"): 1}
    assert counts(frame, "LovesOpera", "LovesSports") == by_opera
    by_movies = {("Yes", "Yes"): 3, ("Yes", "No"): 1, ("No", "No"): 3}
    assert counts(frame, "LovesMovies", "LovesSports") == by_movies
    assert frame["Age"].to_list() == [7, 12, 18, 35, 38, 50, 83]


def test_cells_of_the_tables_of_the_book() -> None:
    age, car = [25, 20, 25, 45, 20, 25], ["Sports", "Vintage", "Sports", "SUV", "Sports", "SUV"]
    assert plain(load("table_19_3")) == {"Age": age, "Car": car, "Risk": list("LHLHHH")}
    assert plain(load("table_19_4")) == {
        "a1": list("TTTFFFFTF"),
        "a2": list("TTFFTTFFT"),
        "a3": [5.0, 7.0, 8.0, 3.0, 7.0, 4.0, 5.0, 6.0, 1.0],
        "Class": list("YYNYNNNYN"),
    }
    assert plain(load("table_19_5")) == {
        "A": [3.5, 2.0, 9.1, 2.0, 1.5, 7.0, 2.1, 8.0],
        "B": [4.0, 4.0, 4.5, 6.0, 7.0, 6.5, 2.5, 4.0],
        "Class": list("HHLHHHLL"),
    }
    points = [(4.0, 2.9, 1), (3.5, 4.0, 1), (2.5, 1.0, -1), (2.0, 2.1, -1)]
    assert load("table_20_1").rows() == points


def test_penguins() -> None:
    columns = plain(load("penguins"))
    assert Counter(columns["species"]) == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert Counter(columns["island"]) == {"Biscoe": 168, "Dream": 124, "Torgersen": 52}
    assert Counter(columns["sex"]) == {"male": 168, "female": 165, None: 11}
    sums = [math.fsum(x for x in columns[name] if x is not None) for name in BODY]
    assert sums == pytest.approx([15021.3, 5865.7, 68713.0, 1437000.0])
    missing = {name: [i for i, x in enumerate(x) if x is None] for name, x in columns.items()}
    assert {name: len(rows) for name, rows in missing.items() if rows} == {
        **dict.fromkeys(BODY, 2),
        "sex": 11,
    }
    assert all(missing[name] == missing["body_mass_g"] for name in BODY)
    assert set(missing["body_mass_g"]) < set(missing["sex"])
    for backend in BACKENDS:
        frame = load("penguins", backend)
        assert [frame[name].null_count() for name in ("sex", "body_mass_g")] == [11, 2]
