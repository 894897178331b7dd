"""DiscreteBayes on everyday tables: what is special to it beside what every learner promises."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.contract.learners import labels, whole

from sortal import DiscreteBayes
from sortal.bayes.learn import Structure
from sortal.errors import InputError, MissingValueWarning, UnknownCategoryWarning


def fitted() -> DiscreteBayes:
    return DiscreteBayes().fit(whole(), labels())


def test_an_unseen_value_says_nothing() -> None:
    model = fitted()
    with pytest.warns(UnknownCategoryWarning):
        unseen = model.predict_proba(whole().assign(city="Bonn"))
    with pytest.warns(MissingValueWarning):
        missing = model.predict_proba(whole().assign(city=None))
    assert np.array_equal(unseen, missing)


def test_plain_numbers_are_found_among_levels_declared_in_another_order() -> None:
    levels = pd.Categorical(whole()["visits"], categories=[4, 2, 0, 1, 3], ordered=True)
    declared = whole().assign(visits=levels)
    model = DiscreteBayes().fit(declared, labels())
    assert np.array_equal(model.predict_proba(whole()), model.predict_proba(declared))


@pytest.mark.parametrize("constant", ["same", 7, 7.5, True, None], ids=repr)
def test_a_column_that_never_varies_changes_nothing(constant: Any) -> None:
    frame = whole().assign(constant=constant)
    model = DiscreteBayes().fit(frame, labels())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        found = model.predict_proba(frame)
    assert np.allclose(found, fitted().predict_proba(whole()), rtol=1e-12)
    if isinstance(constant, float):
        assert any("'constant' never varies" in note for note in model.fit_report_.notes)


def test_ten_thousand_categories_in_a_column() -> None:
    codes = pd.DataFrame({"code": [f"code {i}" for i in range(10_000)] * 2})
    y = np.arange(20_000) % 10_000 % 2
    assert np.array_equal(DiscreteBayes().fit(codes, y).predict(codes), y)


@pytest.mark.filterwarnings("ignore::sortal.errors.ManyClassesWarning")
def test_two_hundred_classes() -> None:
    y = np.arange(1000) % 200
    model = DiscreteBayes().fit(np.column_stack([y % 20, y // 20]).astype(str), y)
    assert len(model.classes_) == 200
    assert np.array_equal(model.predict(np.array([["7", "3"]])), [67])


def test_a_column_without_values_at_fit_says_nothing_later() -> None:
    model = DiscreteBayes().fit(whole().assign(empty=None), labels())
    with pytest.warns(UnknownCategoryWarning, match="60 cells"):
        found = model.predict_proba(whole().assign(empty="x"))
    assert np.array_equal(found, fitted().predict_proba(whole()))


def test_intervals_that_pandas_cuts_are_ordered_words() -> None:
    cut = whole().assign(spend=pd.cut(whole()["spend"], [-1e9, 0, 5, 10, 1e9]))
    model = DiscreteBayes().fit(cut, labels())
    listed = model.working()["spend"].column("spend")
    assert listed == tuple(map(str, cut["spend"].cat.categories))
    assert len(model.predict(cut)) == len(cut)


def test_a_number_far_from_all_others_is_judged_or_refused_by_name() -> None:
    model = DiscreteBayes().fit([[1.0], [2.0], [3.0], [6.0]], ["narrow", "narrow", "wide", "wide"])
    assert model.predict([[1e100]]).tolist() == ["wide"]
    try:
        assert model.predict([[1e200]]).tolist() == ["wide"]
    except InputError as error:
        assert "'x0' holds numbers beyond" in str(error)  # noqa: PT017  (either will do)


@pytest.mark.parametrize("structure", ["naive", "joint"])
@pytest.mark.parametrize("cells", [[1.0, 2.0, 4.0], ["a", "b", "a"]])
def test_a_column_may_have_no_values_in_the_first_block(
    structure: Structure, cells: list[Any]
) -> None:
    # the kind of the column is known only from the second block on; the order must not matter
    full = pd.DataFrame({"x": cells, "w": ["u", "v", "u"]})
    empty = pd.DataFrame({"x": [None, None], "w": ["u", "v"]}, dtype=object)
    first = DiscreteBayes(structure).partial_fit(empty, ["n", "y"]).partial_fit(full, list("nyy"))
    last = DiscreteBayes(structure).partial_fit(full, list("nyy")).partial_fit(empty, ["n", "y"])
    assert first.predict_proba(full) == pytest.approx(last.predict_proba(full), abs=1e-15)


def test_the_working_of_rows_changes_nothing_and_warns_at_the_line_that_led_to_it() -> None:
    model, stranger = fitted(), whole().assign(city="Atlantis")[:1]
    before = dict(vars(model))
    with pytest.warns(UnknownCategoryWarning) as caught:
        model.working(stranger)
    assert {warning.filename for warning in caught} == {__file__}
    assert vars(model) == before


def test_class_weights_reach_the_joint_table() -> None:
    X = pd.DataFrame({"a": list("uuvvuv"), "b": list("xyxyxx")})
    y = ["no", "no", "no", "yes", "yes", "yes"]
    options: dict[str, Any] = {"structure": "joint", "alpha": 1.0}
    weighed = DiscreteBayes(class_weight={"yes": 3.0, "no": 1.0}, **options).fit(X, y)
    copies = DiscreteBayes(**options).fit(X, y, sample_weight=[1, 1, 1, 3, 3, 3])
    assert weighed.predict_proba(X) == pytest.approx(copies.predict_proba(X), abs=1e-14)
