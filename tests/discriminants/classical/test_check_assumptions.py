"""The interface of check_assumptions: tables, missing values, categories, labels, limits."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import LinearDiscriminant, datasets
from sortal.discriminants.classical import assumptions, separability
from sortal.discriminants.classical import assumptions as assumptions_working
from sortal.errors import MissingValueWarning, UnknownCategoryWarning
from sortal.records.tables import Working

NAMES = ["rows", "covariances", "normality", "columns", "separability"]


@pytest.fixture
def iris() -> Any:
    return datasets.iris()


@pytest.fixture
def model(iris: Any) -> LinearDiscriminant:
    return LinearDiscriminant().fit(iris, "species")


def answers(working: Working) -> dict[tuple[str, str], str]:
    table = working["separability"]
    pairs = zip(table.column("class"), table.column("against"), strict=True)
    words = table.column("separable")
    return {(str(a), str(b)): str(w) for (a, b), w in zip(pairs, words, strict=True)}


def is_silent_about_nan(working: Working) -> None:
    for table in working:
        cells = [cell for row in table.rows for cell in row]
        assert not any(isinstance(cell, float) and np.isnan(cell) for cell in cells), table.name


def test_iris(model: LinearDiscriminant, iris: Any) -> None:
    """Setosa lies apart, the other two overlap: known since Fisher."""
    working = model.check_assumptions(iris, "species")
    assert [table.name for table in working] == NAMES
    assert answers(working) == {
        ("setosa", "versicolor"): "yes",
        ("setosa", "virginica"): "yes",
        ("versicolor", "virginica"): "no",
        ("all", "at once"): "no",
    }
    assert working["separability"].rows[-1][-1] == "there is no plane between some pairs"
    assert working["covariances"].rows[0][1:-1] == pytest.approx(model.working()["box_m"].rows[0])
    is_silent_about_nan(working)


def test_words_tell_what_is_asked(model: LinearDiscriminant, iris: Any) -> None:
    working = model.check_assumptions(iris, "species")
    for name in ("covariances", "normality", "columns"):
        assert "null hypothesis" in working[name].title
        assert "tiny deviation is significant" in working[name].title
    assert [working[name].equation for name in NAMES] == ["", "S 52", "S 54", "S 54", "S 55"]


def test_columns_are_matched_by_name_and_other_tables_will_do(
    model: LinearDiscriminant, iris: Any
) -> None:
    plain = model.check_assumptions(iris, "species")
    shuffled = iris[iris.columns[::-1]].sample(frac=1.0, random_state=0)
    found = model.check_assumptions(shuffled, "species")
    for name in ("covariances", "normality", "columns"):
        for a, b in zip(found[name].rows, plain[name].rows, strict=True):
            expected = [x if isinstance(x, str) else pytest.approx(x, rel=1e-8) for x in b]
            assert list(a) == expected
    assert answers(found) == answers(plain)
    polars = model.check_assumptions(pl.from_pandas(iris), "species")
    assert polars.to_dict() == plain.to_dict()
    assert isinstance(polars["rows"].to_frame(), pl.DataFrame)
    apart = model.check_assumptions(iris.drop(columns="species"), iris["species"])
    assert apart.to_dict() == plain.to_dict()


def test_missing_values_are_left_out_and_counted(iris: Any) -> None:
    incomplete = iris.copy()
    incomplete.loc[[0, 1, 60], "sepal_width"] = np.nan
    model = LinearDiscriminant().fit(iris, "species")
    with pytest.warns(MissingValueWarning, match="rows with such cells are left out"):
        found = model.check_assumptions(incomplete, "species")
    expected = model.check_assumptions(incomplete.dropna(), "species")
    assert found["rows"].column("left out") == (2, 1, 0)
    assert found["rows"].column("rows") == (48, 49, 50)
    assert "3 of 150" in found["rows"].title
    for name in NAMES[1:]:
        assert found[name].rows == expected[name].rows


def penguins() -> Any:
    return datasets.penguins().dropna()


def test_categories_are_not_tested_for_normality() -> None:
    birds = penguins()
    working = LinearDiscriminant().fit(birds, "species").check_assumptions(birds, "species")
    assert "island, sex" in working["normality"].title
    assert "island" not in working["columns"].column("column")
    assert working["normality"].column("directions") == (5, 5, 5)
    assert len(working["covariances"].rows) == 2
    assert "determinant is 0" in str(working["covariances"].rows[1][-1])
    assert answers(working)["Chinstrap", "Gentoo"] == "yes"
    is_silent_about_nan(working)


def test_categories_alone() -> None:
    X = pd.DataFrame({"a": list("xxyyxy"), "b": list("pqpqpq")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearDiscriminant().fit(X, list("ssttst"))
    working = model.check_assumptions(X, list("ssttst"))
    assert "no number column" in working["normality"].title
    assert working["normality"].rows == working["columns"].rows == ()
    assert answers(working) == {("s", "t"): "yes", ("all", "at once"): "yes"}
    is_silent_about_nan(working)


def test_an_unknown_value_leaves_its_row_out() -> None:
    birds = penguins()
    model = LinearDiscriminant().fit(birds, "species")
    strange = birds.copy()
    strange.loc[strange.index[0], "island"] = "Anvers"
    with pytest.warns(UnknownCategoryWarning, match="left out"):
        found = model.check_assumptions(strange, "species")
    assert sum(int(n or 0) for n in found["rows"].column("left out")) == 1


def test_small_classes_say_why() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(27, 4))
    y = np.repeat([0, 1, 2, 3], [1, 4, 7, 15])
    X += 0.5 * y[:, None]
    working = LinearDiscriminant().fit(X, y).check_assumptions(X, y)
    notes = working["normality"].column("note")
    assert notes == ("1 row for 4 directions", "4 rows for 4 directions", "", "")
    columns = working["columns"]
    assert columns.rows[0][-1] == "too few rows"
    assert "fewer than 8" in str(columns.rows[4][-1])
    assert columns.rows[-1][-1] == ""
    assert working["covariances"].rows[0][1] is None
    assert "with 1 row," in str(working["covariances"].rows[0][-1])
    is_silent_about_nan(working)


def test_equal_rows_are_not_separable() -> None:
    X = np.array([[0.0, 1.0], [1.0, 2.0], [-0.0, 1.0], [5.0, 5.0], [9.0, 9.0]])
    y = np.array(["a", "a", "b", "b", "c"])
    working = LinearDiscriminant().fit(X, y).check_assumptions(X, y)
    assert answers(working)["a", "b"] == "no"
    assert working["separability"].rows[0][-1] == "a row of one equals a row of the other"
    assert answers(working)["a", "c"] == "yes"
    assert answers(working)["all", "at once"] == "no"


def test_limits_are_said(
    model: LinearDiscriminant, iris: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assumptions, "MOST_PRODUCTS", 10)
    monkeypatch.setattr(separability, "MOST_CELLS", 10)
    working = model.check_assumptions(iris, "species")
    assert "skewness not tried" in str(working["normality"].rows[0][-1])
    assert answers(working)["versicolor", "virginica"] == "not tried"
    assert answers(working)["setosa", "virginica"] == "yes"  # one column shows it
    monkeypatch.setattr(assumptions_working, "MOST_PAIRS", 2)
    working = model.check_assumptions(iris, "species")
    assert answers(working) == {
        ("each", "each other"): "not tried",
        ("all", "at once"): "not tried",
    }
    assert "3 pairs are more than 2" in str(working["separability"].rows[0][-1])


def test_a_table_of_too_many_indicators_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    birds = penguins()
    model = LinearDiscriminant().fit(birds, "species")
    monkeypatch.setattr(assumptions, "MOST_TERM_CELLS", 10)
    working = model.check_assumptions(birds, "species")
    assert answers(working) == {("all", "at once"): "not tried"}
    assert "not tried" in str(working["covariances"].rows[1][-1])
    assert working["covariances"].rows[0][1] is not None


def test_a_model_from_moments_checks_rows_too(iris: Any) -> None:
    fitted = LinearDiscriminant().fit(iris, "species")
    names = [str(name) for name in fitted.feature_names_in_]
    made = LinearDiscriminant.from_moments(
        fitted.means_, covariances=fitted.covariance_, classes=fitted.classes_, names=names
    )
    found, expected = (m.check_assumptions(iris, "species") for m in (made, fitted))
    assert found.to_dict() == expected.to_dict()


def test_blocks_change_nothing(
    model: LinearDiscriminant, iris: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = model.check_assumptions(iris, "species").to_dict()
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 28)
    assert model.check_assumptions(iris, "species").to_dict() == expected
