"""fit, predict, explain, show and working on frames of any library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pandas as pd
import pytest

from sortal import TreeClassifier, datasets
from sortal.errors import DataWarning, ParameterError
from sortal.tasks import registry
from sortal.tasks.fit import fit
from sortal.tasks.predict import explain, predict, working
from sortal.tasks.show import show

if TYPE_CHECKING:
    from pathlib import Path

LIBRARIES = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_of_any_library(library: str) -> None:
    table = datasets.iris(library)
    model = fit(table, "species", "lda", {"shrinkage": 0.1}, drop=["sepal_width"])
    assert model.shrinkage_ == 0.1
    assert list(model.feature_names_in_) == ["sepal_length", "petal_length", "petal_width"]
    said = nw.from_native(predict(model, table, proba=True, keep=["species"]), eager_only=True)
    assert str(said.implementation) == library
    assert said.columns == [
        *("row", "prediction", "P(setosa)", "P(versicolor)", "P(virginica)", "species")
    ]
    assert said["row"].to_list() == list(range(1, 151))
    X = nw.from_native(table, eager_only=True).drop("species").to_native()
    assert said["prediction"].to_list() == model.predict(X).tolist()
    why = explain(model, table, [71, 1, 71])
    assert len(why) == 2
    assert why[0] == model.explain(X)[70]
    assert str(nw.from_native(why.to_frame(), eager_only=True).implementation) == library
    assert set(nw.from_native(why.to_frame(), eager_only=True)["row"].to_list()) == {71, 1}


def test_a_name_that_is_taken_is_numbered() -> None:
    table = pd.DataFrame({"row": [5, 6, 5, 6], "prediction": list("abab"), "y": list("pqpq")})
    said = predict(fit(table, "y", "bayes"), table, keep=["row", "prediction", "row"])
    assert list(said.columns) == ["row", "prediction", "row (2)", "prediction (2)"]
    assert list(said["row (2)"]) == [5, 6, 5, 6]


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_without_a_label(library: Any) -> None:
    table = nw.from_dict(
        {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", None, "b", None]}, backend=library
    ).to_native()
    with pytest.warns(DataWarning, match=r"2 of 4 rows have no 'y' and are left out"):
        assert fit(table, "y").fit_report_.rows == 2
    with pytest.warns(DataWarning), pytest.raises(ParameterError, match="from 1 to 4"):
        working(table, "y", "bayes", rows=[5])
    with pytest.warns(DataWarning):  # a row without a label can be asked of
        rule = working(table, "y", "bayes", rows=[4])["rule"]
    assert rule.column("row") == (4, 4)


def test_the_working_of_rows_has_their_numbers() -> None:
    tennis = datasets.play_tennis()
    whole = working(tennis, "PlayTennis", "bayes", {"alpha": 0}, rows=[2])
    assert whole["rule"].column("row") == (2, 2)
    assert whole["rule"].column("P(c|x)") == pytest.approx((0.921036, 0.078964), abs=1e-6)
    renamed = tennis.rename(columns={"Outlook": "row"})
    odd = working(renamed, "PlayTennis", "bayes", {"alpha": 0}, rows=[2])
    assert odd["row"].column("row") == ("Overcast", "Rain", "Sunny")  # an attribute of that name
    assert odd["rule"].rows == whole["rule"].rows


@pytest.mark.parametrize("learner", ["lda", "qda", "fisher", "indicator"])
def test_the_working_of_rows_by_functions(learner: str) -> None:
    iris = datasets.iris()
    found = working(iris, "species", learner, rows=[51, 7])
    asked = [table for table in found if table.columns[0] == "row"]
    assert asked
    for table in asked:
        assert table.column("row") == (51, 7)


def test_the_working_of_a_node_and_the_ways_of_rows() -> None:
    iris = datasets.iris()
    found = working(iris, "species", node=2, rows=[1, 51])
    model = fit(iris, "species")
    X, y = iris.drop(columns="species"), iris["species"]
    assert found.tables[:-2] == model.working(2, X, y).tables
    assert [table.name for table in found.tables[-2:]] == ["row 1", "row 51"]


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@pytest.mark.parametrize("learner", [learner.name for learner in registry.learners()])
def test_every_model_can_be_shown(learner: str, tmp_path: Path) -> None:
    model = fit(datasets.penguins(), "species", learner)
    shown = show(model)
    text = str(shown)
    assert registry.find(learner).facts.reads in text
    assert f"{model.n_parameters_:,} numbers" in text
    assert "Options that differ" not in text
    assert json.loads(json.dumps(shown.to_dict()))["facts"]["rows"] == 344
    assert (shown.rules is not None) == (learner == "tree")
    model.save(tmp_path / "m.sortal")
    assert str(show(tmp_path / "m.sortal")) == text
    assert shown.to_markdown().startswith("## ")
    assert "<!doctype html>" in shown.to_html()
    assert "<table>" in shown._repr_html_()


def test_options_that_differ_are_shown() -> None:
    shown = show(fit(datasets.iris(), "species", "lda", {"shrinkage": 0.5, "priors": None}))
    assert shown.options.rows == (("shrinkage", "0.5"),)


def test_a_long_model_is_cut_and_says_so() -> None:
    table = pd.DataFrame({f"x{j}": list("abab") for j in range(30)} | {"y": list("pqpq")})
    shown = show(fit(table, "y", "bayes"))
    assert len(shown.tables) == 20
    assert str(shown).endswith("11 more tables: working(), or --all, has them all")
    assert "11 more tables" in shown.to_html()
    assert len(show(fit(table, "y", "bayes"), everything=True).tables) == 31
    named = pd.DataFrame({"functions": list("abab"), "priors": list("abba"), "y": list("pqpq")})
    assert len(show(fit(named, "y", "bayes")).tables) == 3  # attributes, not functions


def test_an_estimator_that_is_not_registered_is_shown_by_its_class() -> None:
    class OwnTree(TreeClassifier):
        """A tree of one's own."""

    assert str(show(OwnTree().fit(datasets.iris(), "species"))).startswith("OwnTree\n")
