"""The bundled tables: their shapes, their counts, and the same values on every backend."""

import math
import subprocess
import sys
from collections import Counter
from typing import Any

import narwhals as nw
import pytest
from sklearn.datasets import load_iris

from sortal.data import datasets
from sortal.errors import OptionError

BACKENDS = ["pandas", "polars", "pyarrow"]
MEASURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
UCI_ROW = (4.9, 3.1, 1.5, 0.1)

# function: (rows, columns in order, class column, class counts)
TABLES: dict[str, tuple[int, list[str], str, dict[Any, int]]] = {
    "iris": (
        150,
        [*MEASURES, "species"],
        "species",
        {"setosa": 50, "versicolor": 50, "virginica": 50},
    ),
    "discretized_iris": (
        150,
        ["sepal_length", "sepal_width", "species"],
        "species",
        {"setosa": 50, "other": 100},
    ),
    "play_tennis": (
        14,
        ["Outlook", "Temperature", "Humidity", "Wind", "PlayTennis"],
        "PlayTennis",
        {"Yes": 9, "No": 5},
    ),
    "loves_sports": (
        7,
        ["LovesOpera", "LovesMovies", "Age", "LovesSports"],
        "LovesSports",
        {"Yes": 3, "No": 4},
    ),
    "table_19_3": (6, ["Age", "Car", "Risk"], "Risk", {"H": 4, "L": 2}),
    "table_19_4": (9, ["a1", "a2", "a3", "Class"], "Class", {"Y": 4, "N": 5}),
    "table_19_5": (8, ["A", "B", "Class"], "Class", {"H": 5, "L": 3}),
    "table_20_1": (4, ["X1", "X2", "y"], "y", {1: 2, -1: 2}),
    "penguins": (
        344,
        [
            "species",
            "island",
            "bill_length_mm",
            "bill_depth_mm",
            "flipper_length_mm",
            "body_mass_g",
            "sex",
            "year",
        ],
        "species",
        {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68},
    ),
}
WHOLE_NUMBERS = {
    "loves_sports": {"Age"},
    "table_19_3": {"Age"},
    "table_20_1": {"y"},
    "penguins": {"year"},
}


def load(name: str, backend: str = "pandas", **options: Any) -> nw.DataFrame[Any]:
    return nw.from_native(getattr(datasets, name)(backend, **options), eager_only=True)


def plain(frame: nw.DataFrame[Any]) -> dict[str, list[Any]]:
    """Columns as Python lists, every kind of hole as None."""
    return {
        name: [None if isinstance(x, float) and math.isnan(x) else x for x in column.to_list()]
        for name, column in frame.to_dict().items()
    }


def test_every_public_function_is_listed_here() -> None:
    assert set(datasets.__all__) == set(TABLES)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", TABLES)
def test_shape_columns_and_class_counts(name: str, backend: str) -> None:
    rows, columns, target, counts = TABLES[name]
    frame = load(name, backend)
    assert frame.shape == (rows, len(columns))
    assert frame.columns == columns
    assert Counter(frame[target].to_list()) == counts


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", TABLES)
def test_result_is_a_native_frame_of_the_backend(name: str, backend: str) -> None:
    native = getattr(datasets, name)(backend)
    assert type(native).__module__.split(".")[0] == backend


@pytest.mark.parametrize("name", TABLES)
def test_pandas_is_the_default(name: str) -> None:
    native = getattr(datasets, name)()
    assert type(native).__module__.split(".")[0] == "pandas"


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
@pytest.mark.parametrize("name", TABLES)
def test_backends_agree(name: str, backend: str) -> None:
    assert plain(load(name, backend)) == plain(load(name, "pandas"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", TABLES)
def test_numbers_are_numbers_and_words_are_words(name: str, backend: str) -> None:
    schema = load(name, backend).schema
    whole = {column for column, dtype in schema.items() if dtype == nw.Int64}
    assert whole == WHOLE_NUMBERS.get(name, set())
    assert set(schema.values()) <= {nw.Int64(), nw.Float64(), nw.String()}


def test_iris_has_the_two_uci_rows() -> None:
    rows = load("iris").select(MEASURES).rows()
    assert rows[34] == UCI_ROW
    assert rows[37] == UCI_ROW


def test_iris_is_scikit_learn_elsewhere() -> None:
    ours = load("iris").rows()
    bunch = load_iris()
    theirs = [
        (*map(float, x), str(bunch.target_names[k]))
        for x, k in zip(bunch.data, bunch.target, strict=True)
    ]
    assert [i for i in range(150) if ours[i] != theirs[i]] == [34, 37]


@pytest.mark.parametrize("backend", BACKENDS)
def test_discretized_iris_has_the_frequencies_of_table_19_1(backend: str) -> None:
    frame = load("discretized_iris", backend)
    assert Counter(frame.select("sepal_length", "species").rows()) == {
        ("Very Short", "setosa"): 39,
        ("Very Short", "other"): 6,
        ("Short", "setosa"): 11,
        ("Short", "other"): 39,
        ("Long", "other"): 43,
        ("Very Long", "other"): 12,
    }


def test_discretized_iris_keeps_the_rows_of_iris() -> None:
    cut, whole = load("discretized_iris"), load("iris")
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


def test_play_tennis_temperatures() -> None:
    temperatures = load("play_tennis")["Temperature"].to_list()
    assert "".join(name[0] for name in temperatures) == "HHHMCCCMCMMMHM"


def test_play_tennis_is_decided_by_three_attributes() -> None:
    """Outlook, then humidity when sunny and wind when raining, explain every row (MSML 603)."""
    for row in load("play_tennis").iter_rows(named=True):
        by_outlook = {
            "Sunny": row["Humidity"] == "Normal",
            "Overcast": True,
            "Rain": row["Wind"] == "Weak",
        }
        assert by_outlook[row["Outlook"]] == (row["PlayTennis"] == "Yes")


def test_loves_sports_counts_of_the_worked_example() -> None:
    frame = load("loves_sports")
    by_opera = Counter(frame.select("LovesOpera", "LovesSports").rows())
    by_movies = Counter(frame.select("LovesMovies", "LovesSports").rows())
    assert by_opera == {("Yes", "Yes"): 1, ("Yes", "No"): 3, ("No", "Yes"): 2, ("No", "No"): 1}
    assert by_movies == {("Yes", "Yes"): 3, ("Yes", "No"): 1, ("No", "No"): 3}
    assert frame["Age"].to_list() == [7, 12, 18, 35, 38, 50, 83]


def test_table_19_3_cells() -> None:
    assert load("table_19_3").rows() == [
        (25, "Sports", "L"),
        (20, "Vintage", "H"),
        (25, "Sports", "L"),
        (45, "SUV", "H"),
        (20, "Sports", "H"),
        (25, "SUV", "H"),
    ]


def test_table_19_4_cells() -> None:
    assert plain(load("table_19_4")) == {
        "a1": list("TTTFFFFTF"),
        "a2": list("TTFFTTFFT"),
        "a3": [5.0, 7.0, 8.0, 3.0, 7.0, 4.0, 5.0, 6.0, 1.0],
        "Class": list("YYNYNNNYN"),
    }


def test_table_19_5_cells() -> None:
    assert plain(load("table_19_5")) == {
        "A": [3.5, 2.0, 9.1, 2.0, 1.5, 7.0, 2.1, 8.0],
        "B": [4.0, 4.0, 4.5, 6.0, 7.0, 6.5, 2.5, 4.0],
        "Class": list("HHLHHHLL"),
    }


def test_table_20_1_cells() -> None:
    assert load("table_20_1").rows() == [
        (4.0, 2.9, 1),
        (3.5, 4.0, 1),
        (2.5, 1.0, -1),
        (2.0, 2.1, -1),
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_penguins_holes(backend: str) -> None:
    columns = plain(load("penguins", backend))
    measured = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    holes = {name: [i for i, x in enumerate(cells) if x is None] for name, cells in columns.items()}
    assert {name: len(rows) for name, rows in holes.items() if rows} == {
        **dict.fromkeys(measured, 2),
        "sex": 11,
    }
    unmeasured = holes["bill_length_mm"]
    assert all(holes[name] == unmeasured for name in measured)
    assert set(unmeasured) < set(holes["sex"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_holes_are_nulls_to_narwhals(backend: str) -> None:
    frame = load("penguins", backend)
    assert frame["sex"].null_count() == 11
    assert frame["body_mass_g"].null_count() == 2


def test_penguins_values() -> None:
    columns = plain(load("penguins"))
    assert Counter(columns["island"]) == {"Biscoe": 168, "Dream": 124, "Torgersen": 52}
    assert Counter(columns["year"]) == {2007: 110, 2008: 114, 2009: 120}
    assert Counter(columns["sex"]) == {"male": 168, "female": 165, None: 11}
    sums = {
        name: math.fsum(x for x in columns[name] if x is not None)
        for name in ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    }
    assert sums == pytest.approx(
        {
            "bill_length_mm": 15021.3,
            "bill_depth_mm": 5865.7,
            "flipper_length_mm": 68713.0,
            "body_mass_g": 1437000.0,
        }
    )


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("backend", ["spark", "duckdb", "Pandas", ""])
def test_unknown_backend(name: str, backend: str) -> None:
    with pytest.raises(OptionError) as error:
        getattr(datasets, name)(backend)
    assert repr(backend) in str(error.value)
    assert "'pandas', 'polars', 'pyarrow'" in str(error.value)


def test_pandas_is_not_needed_for_polars() -> None:
    code = (
        "import sys\n"
        "sys.modules['pandas'] = None\n"
        "from sortal.data import datasets\n"
        "for name in datasets.__all__:\n"
        "    getattr(datasets, name)('polars')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
