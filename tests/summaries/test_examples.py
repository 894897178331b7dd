"""Worked examples, small enough to be counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.summaries.blocks import build_batch

from sortal.data import datasets
from sortal.summaries.counts import (
    ValueCounts,
    aligned,
    count_cells,
    count_classes,
    count_rows,
    count_values,
)
from sortal.summaries.moments import measure_columns

if TYPE_CHECKING:
    from sortal.data.sources import Batch


@pytest.fixture(scope="session")
def tennis() -> Batch:
    """The 14 days: Outlook, Temperature, Humidity, Wind."""
    table = datasets.play_tennis()
    columns = [table[name].tolist() for name in table.columns[:4]]
    return build_batch(table["PlayTennis"].tolist(), columns)


def counts_by_value(counts: ValueCounts, j: int) -> dict[object, list[int]]:
    """Value → weight of each class."""
    return dict(zip(counts.values[j], counts.tables[j].tolist(), strict=True))


def test_columns_are_counted_in_the_order_asked_for(tennis: Batch) -> None:
    assert count_values(tennis, [3, 0]).values == (
        ("Strong", "Weak"),
        ("Overcast", "Rain", "Sunny"),
    )


def test_outlook_and_wind_have_six_cells(tennis: Batch) -> None:
    counts = count_cells(tennis, [0, 3])
    named = [
        tuple(counts.values[j][code] for j, code in enumerate(row)) for row in counts.codes.tolist()
    ]
    assert dict(zip(named, counts.units.tolist(), strict=True)) == {
        ("Overcast", "Strong"): [0, 2],
        ("Overcast", "Weak"): [0, 2],
        ("Rain", "Strong"): [2, 0],
        ("Rain", "Weak"): [0, 3],
        ("Sunny", "Strong"): [1, 1],
        ("Sunny", "Weak"): [2, 1],
    }
    assert named == sorted(named)


def test_the_two_penguins_without_measurements_are_missing_values() -> None:
    table = datasets.penguins()
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    columns = [table[name].tolist() for name in names]
    sex = [word if isinstance(word, str) else None for word in table["sex"]]
    counts = count_rows(build_batch(table["species"].tolist(), [sex], columns))
    assert counts.rows == 344
    assert counts.missing.tolist() == [11, 2, 2, 2, 2]


def test_the_mean_petal_of_each_iris() -> None:
    table = datasets.iris()
    batch = build_batch(table["species"].tolist(), [], [table["petal_length"].tolist()])
    moments = measure_columns(batch, [0], ["petal_length"])
    assert moments.classes == ("setosa", "versicolor", "virginica")
    assert moments.mean[0] == pytest.approx([1.464, 4.26, 5.552], rel=1e-12)
    # 49 times the unbiased variances 0.030106, 0.220816 and 0.304588
    assert moments.m2[0] / 49 == pytest.approx([0.030106, 0.220816, 0.304588], abs=5e-7)


def test_weights_count_instead_of_rows() -> None:
    batch = build_batch(["a", "b", "a"], [["u", "u", "v"]], [], [2, 1, 0])
    counts = count_values(batch, [0])
    assert counts_by_value(counts, 0) == {"u": [2, 1]}


def test_whole_weights_are_copies_in_the_number_of_rows_and_missing_values() -> None:
    whole = count_rows(build_batch(["a", "b", "a"], [["u", None, "v"]], [], [2, 3, 0]))
    assert (whole.rows, whole.missing.tolist()) == (5, [3])
    fractional = count_rows(build_batch(["a", "b", "a"], [["u", None, "v"]], [], [2, 0.5, 0]))
    assert (fractional.rows, fractional.missing.tolist()) == (2, [1])


def test_fractions_are_counted_in_units_of_a_power_of_two() -> None:
    counts = count_classes(build_batch(["a", "b", "a"], weights=[0.5, 0.25, 1.0]))
    assert (counts.units / 2.0**counts.exponent).tolist() == [1.5, 0.25]


def test_a_row_with_a_missing_value_belongs_to_no_cell() -> None:
    batch = build_batch(["a", "b"], [["u", "u"], ["s", None]])
    counts = count_cells(batch, [0, 1])
    assert counts.classes == ("a",)
    assert counts.units.tolist() == [[1]]


def test_numbers_and_words_share_one_order() -> None:
    counts = count_values(build_batch(["k"] * 4, [["b", 10, "a", 9.5]]), [0])
    assert counts.values == ((9.5, 10, "a", "b"),)


def test_an_aligned_table_has_a_row_for_every_value_of_a_schema(tennis: Batch) -> None:
    counts = count_values(tennis, [0])
    schema = (("Fog", "Overcast", "Rain", "Sunny"), ("Maybe", "No", "Yes"))
    wide = aligned(counts.tables[0], counts.values[0], counts.classes, schema)
    assert wide.tolist() == [[0, 0, 0], [0, 0, 4], [0, 2, 3], [0, 3, 2]]


def test_moments_over_more_classes_have_no_weight_there() -> None:
    moments = measure_columns(build_batch(["b", "b"], [], [[1.0, 3.0]]), [0], ["x"])
    wide = moments.over(("a", "b"))
    assert wide.units.tolist() == [[0, 2]]
    assert wide.mean.tolist() == [[0.0, 2.0]]
    assert wide.m2.tolist() == [[0.0, 2.0]]
