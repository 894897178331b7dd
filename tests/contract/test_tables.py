"""Tables of every library, everyday columns and missing values: every learner takes them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.contract.learners import (
    ASKS,
    DEFAULTS,
    LIBRARIES,
    N,
    Setting,
    answers,
    assert_same,
    every_learner,
    every_setting,
    fitted,
    labels,
    mixed,
    numbers,
    whole,
)

from sortal.errors import MissingValueWarning, UnknownCategoryWarning

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


@every_learner
def test_every_library_gives_the_same_model(learner: Setting) -> None:
    for to in (LIBRARIES["polars"], LIBRARIES["pyarrow"]):
        model = learner.fit(to(mixed()))
        assert_same(model, fitted(learner), to(mixed()), mixed())
        assert model.working().to_dict() == fitted(learner).working().to_dict()
        assert_same(fitted(learner), fitted(learner), to(mixed()), mixed())


@every_learner
def test_every_array_gives_the_same_model(learner: Setting, tmp_path: Path) -> None:
    X, y = numbers(), labels()
    wanted = learner.fit(X)
    np.save(tmp_path / "X.npy", X)
    still, strided = X.copy(), np.zeros((2 * N, 6))
    still.flags.writeable = y.flags.writeable = False
    strided[::2, ::2] = X
    packed = np.zeros(N, dtype=[("flag", "i1"), ("x", "f8", (3,))])
    packed["x"] = X
    given = {
        "by columns": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "objects": X.astype(object),
        "lists": X.tolist(),
        "every second": strided[::2, ::2],
        "backwards": X[::-1].copy()[::-1],
        "read-only": still,
        "mapped": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "packed": packed["x"],
    }
    for how, table in given.items():
        try:
            assert_same(learner.fit(table, y), wanted, table, X)
        except AssertionError as error:
            raise AssertionError(how) from error


@every_learner
def test_columns_are_found_by_name_and_others_left_aside(learner: Setting) -> None:
    model = fitted(learner)
    turned = mixed()[["spend", "city", "visits", "member"]]
    extra = turned.assign(note="x", when=pd.Timestamp("2020-01-01"))
    extra[0] = [[1]] * N  # an extra column may hold anything and have any name
    for table in (turned, extra, LIBRARIES["polars"](turned.assign(note="x"))):
        assert_same(model, model, table, mixed())


@every_learner
def test_an_array_after_a_frame_is_taken_in_order_with_a_warning(learner: Setting) -> None:
    model = learner.fit(whole())
    with pytest.warns(UserWarning, match=r"(?s)not have valid feature names.*order of the fit"):
        found = model.predict(whole().to_numpy())
    np.testing.assert_array_equal(found, model.predict(whole()))


@every_learner
def test_what_is_done_to_a_table_later_does_not_matter(learner: Setting) -> None:
    X, y, weight = numbers(), labels(), np.ones(N)
    model = learner.fit(X, y, weight)
    np.testing.assert_array_equal(X, numbers())
    said = answers(model, X)
    X[:], y[:], weight[:] = 0, "elm", 7
    for found, wanted in zip(answers(model, numbers()), said, strict=True):
        np.testing.assert_array_equal(found, wanted)


@every_learner
def test_asking_changes_nothing_in_the_table(learner: Setting) -> None:
    frame, y = mixed(), labels()
    model = learner.fit(frame, y)
    answers(model, frame, len(ASKS))
    model.explain(frame[:3])
    pd.testing.assert_frame_equal(frame, mixed())
    np.testing.assert_array_equal(y, labels())


# --- Columns of all kinds ------------------------------------------------------------------------


TYPES = {"city": ["category", "string", "string[pyarrow]"], "visits": ["int8", "float32", "Int64"]}


@every_learner
def test_words_and_numbers_of_any_type(learner: Setting) -> None:
    for city, visits in zip(*TYPES.values(), strict=True):
        frame = mixed().astype({"city": city, "visits": visits})
        assert_same(learner.fit(frame), fitted(learner), frame, mixed())
        assert_same(fitted(learner), fitted(learner), frame, mixed())


@every_learner
def test_numbers_are_categories_where_the_user_says_so(learner: Setting) -> None:
    worded = whole().assign(visits=[f"v{n}" for n in whole()["visits"]])
    wanted = learner.fit(worded)
    mask, index = [False, False, True, False], pd.Index(["visits"])
    given = [["visits"], [2], [-2], np.array([2]), mask, index][DEFAULTS.index(learner) % 6]
    assert_same(learner.fit(whole(), categorical_features=given), wanted, whole(), worded)
    for known in (None, ["city"]):  # words are categories anyway
        model = learner.fit(mixed(), categorical_features=known)
        assert_same(model, fitted(learner), mixed())


@every_learner
def test_words_alone_and_one_number(learner: Setting) -> None:
    city = whole()[["city"]]
    model = learner.fit(city, np.where(city["city"] == "Rome", "yes", "no"))
    assert model.predict(pd.DataFrame({"city": ["Rome", "Oslo"]})).tolist() == ["yes", "no"]
    # of so few rows a tree is pruned, a kernel shrunk, and five neighbors are not to be had
    few: dict[str, Any] = {"tree": {"pruning": None}, "neighbors": {"n_neighbors": 1}}
    few["kernel"] = {"ridge": 0}
    small = learner.make(**few.get(learner.learner.name, {}))
    X, y = [[0.0], [1.0], [1.0]], ["a", "b", "b"]
    assert small.fit(X, y).predict(X).tolist() == y


@every_learner
def test_columns_that_repeat_or_never_vary(learner: Setting) -> None:
    frame = whole().assign(again=whole()["spend"], doubled=2 * whole()["spend"] + 1, still=7.5)
    frame["word"] = "same"
    assert (learner.fit(frame).predict(frame) == labels()).mean() > 0.6


@every_learner
def test_fewer_rows_in_a_class_than_columns(learner: Setting) -> None:
    X, y = np.random.default_rng(1).normal(size=(23, 12)), np.arange(23) // 20
    X[20:] += 4
    assert (learner.fit(X, y).predict(X) == y).mean() > 0.8


# --- Missing and unknown values ------------------------------------------------------------------


@every_setting
def test_missing_values_are_counted_and_warned_of_once(setting: Setting) -> None:
    assert fitted(setting).fit_report_.missing == {"city": 5, "spend": 10}
    model = setting.fit(whole())
    with pytest.warns(MissingValueWarning, match=r"15 cells \('city' 5, 'spend' 10\)") as caught:
        said = model.predict(mixed())
    assert len(caught) == 1
    assert (said == labels()).mean() > 0.6


@every_learner
def test_a_column_without_values_is_missing_whatever_its_type(learner: Setting) -> None:
    model = learner.fit(whole())
    wanted = model.predict(whole().assign(city=None))
    for dtype in ("string", "Int64", "float64", "datetime64[ns]"):
        empty = whole().assign(city=pd.Series([None] * N, dtype=dtype))
        with pytest.warns(MissingValueWarning, match=r"60 cells \('city' 60\)"):
            found = model.predict(empty)
        np.testing.assert_array_equal(found, wanted)


@every_setting
def test_words_never_seen_are_warned_of_once(setting: Setting) -> None:
    model, strange = setting.fit(whole()), whole()
    strange.loc[:2, "city"] = "Bonn"
    with pytest.warns(UnknownCategoryWarning, match=r"3 cells \('city' 3\)") as caught:
        model.predict(strange)
    assert len(caught) == 1


@every_learner
def test_a_warning_points_at_the_line_that_led_to_it(learner: Setting) -> None:
    model, strange = fitted(learner), whole().assign(city="Bonn")[:1]
    for ask in (*ASKS, "explain", "decision_path"):
        if hasattr(model, ask):
            with pytest.warns(UnknownCategoryWarning) as caught:
                getattr(model, ask)(strange)
            assert {warning.filename for warning in caught} == {__file__}, ask


@every_learner
def test_a_whole_table_is_taken_without_a_word(learner: Setting) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = learner.fit(numbers())
        answers(model, numbers(), len(ASKS))
        model.explain(numbers()[:3])
