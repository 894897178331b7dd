"""DiscreteBayes meets everyday tables: it works, or it says why not and what to do."""

import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from sortal import DiscreteBayes
from sortal.errors import (
    ColumnError,
    InputError,
    InputTypeError,
    LabelError,
    MissingValueError,
    MissingValueWarning,
    OptionError,
    SubtractError,
    UnknownCategoryError,
    UnknownCategoryWarning,
    WeightError,
)

Frame: TypeAlias = Any
Labels: TypeAlias = NDArray[Any]

N = 60


def customers() -> Frame:
    """Words, truth values, whole numbers and fractions, without holes."""
    i = np.arange(N)
    return pd.DataFrame(
        {
            "city": np.array(["Rome", "Oslo", "Lima"])[i % 3],
            "member": i % 4 == 0,
            "visits": i % 7,
            "spend": np.sin(i) * 10 + i % 5,
        }
    )


def with_holes() -> Frame:
    frame = customers()
    frame.loc[::5, "city"] = None
    frame.loc[::6, "spend"] = np.nan
    return frame


def choices() -> Labels:
    return np.where(np.arange(N) % 3 + np.sin(np.arange(N)) > 1, "buy", "leave")


def fitted(**options: Any) -> DiscreteBayes:
    return DiscreteBayes(**options).fit(customers(), choices())


BACKENDS: dict[str, Callable[[Frame], Frame]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}
every_backend = pytest.mark.parametrize("to", BACKENDS.values(), ids=BACKENDS)


# --- It works ------------------------------------------------------------------------------------


@every_backend
def test_words_numbers_and_holes_simply_work(to: Callable[[Frame], Frame]) -> None:
    model = DiscreteBayes().fit(to(with_holes()), choices())
    shares = model.predict_proba(to(customers()))
    assert shares.shape == (N, 2)
    assert np.allclose(shares.sum(axis=1), 1)
    assert set(model.predict(to(customers()))) == {"buy", "leave"}


@every_backend
def test_every_library_gives_the_same_model(to: Callable[[Frame], Frame]) -> None:
    expected = DiscreteBayes().fit(with_holes(), choices()).predict_proba(customers())
    found = DiscreteBayes().fit(to(with_holes()), choices()).predict_proba(to(customers()))
    assert np.array_equal(found, expected)


def test_holes_at_fit_are_reported_by_column() -> None:
    report = DiscreteBayes().fit(with_holes(), choices()).fit_report_
    assert report.rows == N
    assert report.missing == {"city": 12, "spend": 10}


def test_holes_at_predict_are_warned_of_once_with_their_number() -> None:
    with pytest.warns(MissingValueWarning, match=r"22 cells \(.*\) have no value") as caught:
        fitted().predict(with_holes())
    assert len(caught) == 1


def test_holes_can_be_forbidden_at_fit() -> None:
    with pytest.raises(MissingValueError, match=r"22 cells \(.*\) have no value.*missing='skip'"):
        DiscreteBayes(missing="error").fit(with_holes(), choices())


def test_holes_can_be_forbidden_at_predict() -> None:
    with pytest.raises(MissingValueError, match=r"22 cells \(.*\) have no value.*missing='skip'"):
        fitted(missing="error").predict(with_holes())


def test_unseen_values_are_warned_of_once_with_their_number() -> None:
    model, strange = fitted(), customers()
    strange.loc[:2, "city"] = "Bonn"
    with pytest.warns(
        UnknownCategoryWarning, match=r"3 cells \('city' 3\) hold values never seen"
    ) as caught:
        model.predict(strange)
    assert len(caught) == 1


def test_unseen_values_can_be_forbidden() -> None:
    strange = customers().assign(city="Bonn")
    with pytest.raises(UnknownCategoryError, match=rf"{N} cells .*unknown='skip'"):
        fitted(unknown="error").predict(strange)


def test_an_unseen_value_says_nothing() -> None:
    model = fitted()
    with pytest.warns(UnknownCategoryWarning):
        unseen = model.predict_proba(customers().assign(city="Bonn"))
    with pytest.warns(MissingValueWarning):
        missing = model.predict_proba(customers().assign(city=None))
    assert np.array_equal(unseen, missing)


@every_backend
def test_columns_in_another_order_are_found_by_name(to: Callable[[Frame], Frame]) -> None:
    model = fitted()
    reordered = customers()[["spend", "city", "visits", "member"]]
    expected = model.predict_proba(customers())
    assert np.array_equal(model.predict_proba(to(reordered)), expected)


@every_backend
def test_extra_columns_are_left_aside(to: Callable[[Frame], Frame]) -> None:
    model = fitted()
    extra = customers().assign(note="x", when=pd.Timestamp("2020-01-01"))
    expected = model.predict_proba(customers())
    assert np.array_equal(model.predict_proba(to(extra)), expected)


def test_an_extra_column_may_hold_anything_and_have_any_name() -> None:
    model, extra = fitted(), customers()
    extra[0] = [[1]] * N
    assert np.array_equal(model.predict(extra), model.predict(customers()))


def test_more_rows_are_matched_by_name_too() -> None:
    reordered = customers()[["spend", "city", "visits", "member"]]
    twice = DiscreteBayes().fit(pd.concat([customers()] * 2), np.tile(choices(), 2))
    added = fitted().partial_fit(reordered, choices())
    assert np.allclose(added.predict_proba(customers()), twice.predict_proba(customers()))


@every_backend
def test_labels_can_be_a_column_by_name(to: Callable[[Frame], Frame]) -> None:
    frame = to(customers().assign(choice=choices()))
    model = DiscreteBayes().fit(frame, "choice")
    assert list(model.feature_names_in_) == list(customers().columns)
    assert np.array_equal(model.predict_proba(frame), fitted().predict_proba(customers()))


@pytest.mark.parametrize(
    ("labels", "listed"),
    [
        (["b", "a"], ["b", "a"]),
        ([1, 0], [1, 0]),
        ([1.0, 0.0], [1.0, 0.0]),
        ([True, False], [True, False]),
        (np.array([7, 3], dtype=np.uint8), [7, 3]),
        (np.array(["a", 1], dtype=object), ["a", 1]),
        (["a", 1], ["a", 1]),
        (pd.Series(["b", "a"], index=[9, 9]), ["b", "a"]),
        (pd.Series(["b", "a"], dtype="category"), ["b", "a"]),
        (pd.Categorical(["b", "a"]), ["b", "a"]),
        (pd.Series([1, 0], dtype="Int64"), [1, 0]),
        (pl.Series(["b", "a"]), ["b", "a"]),
        (pl.Series([2**63, 1], dtype=pl.UInt64), [2**63, 1]),
        (pl.Series([True, False]), [True, False]),
        (pa.array(["b", "a"]), ["b", "a"]),
        (pa.chunked_array([["b"], ["a"]]), ["b", "a"]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_labels_come_back_as_they_went_in(labels: Any, listed: list[Any]) -> None:
    X = [["x"], ["y"]]
    model = DiscreteBayes().fit(X, labels)
    found = model.predict(X).tolist()
    assert found == listed
    assert [type(label) for label in found] == [type(label) for label in listed]
    assert model.classes_.tolist() == listed[::-1]


def test_labels_in_a_column_of_a_matrix_are_flattened_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = DiscreteBayes().fit(customers(), choices()[:, None])
    assert np.array_equal(model.predict_proba(customers()), fitted().predict_proba(customers()))


@pytest.mark.parametrize(
    "given",
    [["visits"], [2], [-2], np.array([2]), [False, False, True, False], pd.Index(["visits"])],
    ids=str,
)
def test_numbers_are_categories_where_the_user_says_so(given: Any) -> None:
    worded = customers().assign(visits=[f"v{n}" for n in customers()["visits"]])
    expected = DiscreteBayes().fit(worded, choices()).predict_proba(worded)
    found = fitted(categorical_features=given).predict_proba(customers())
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "given", [None, [], "from_dtype", ["city"], [True, True, False, False]], ids=str
)
def test_words_are_categories_whether_named_or_not(given: Any) -> None:
    found = fitted(categorical_features=given).predict_proba(customers())
    assert np.array_equal(found, fitted().predict_proba(customers()))


def test_plain_numbers_are_found_among_levels_declared_in_another_order() -> None:
    levels = pd.Categorical(customers()["visits"], categories=[6, 2, 0, 1, 3, 5, 4], ordered=True)
    declared = customers().assign(visits=levels)
    model = DiscreteBayes().fit(declared, choices())
    assert np.array_equal(model.predict_proba(customers()), model.predict_proba(declared))


@pytest.mark.parametrize("constant", ["same", 7, 7.5, True, None], ids=repr)
def test_a_column_that_never_varies_changes_nothing(constant: Any) -> None:
    frame = customers().assign(constant=constant)
    model = DiscreteBayes().fit(frame, choices())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        found = model.predict_proba(frame)
    assert np.allclose(found, fitted().predict_proba(customers()), rtol=1e-12)


def test_a_number_that_never_varies_is_reported() -> None:
    model = DiscreteBayes().fit(customers().assign(constant=7.5), choices())
    assert any("'constant' never varies" in note for note in model.fit_report_.notes)


def test_ten_thousand_categories_in_a_column() -> None:
    codes = [f"code {i}" for i in range(10_000)] * 2
    labels = np.arange(20_000) % 10_000 % 2
    model = DiscreteBayes().fit(pd.DataFrame({"code": codes}), labels)
    assert np.array_equal(model.predict(pd.DataFrame({"code": codes})), labels)


@pytest.mark.filterwarnings("ignore::sortal.errors.ManyClassesWarning")
def test_two_hundred_classes() -> None:
    labels = np.arange(1000) % 200
    model = DiscreteBayes().fit(np.column_stack([labels % 20, labels // 20]).astype(str), labels)
    assert len(model.classes_) == 200
    assert np.array_equal(model.predict(np.array([["7", "3"]])), [67])


def test_a_column_of_holes_at_fit_says_nothing_later() -> None:
    model = DiscreteBayes().fit(customers().assign(empty=None), choices())
    with pytest.warns(UnknownCategoryWarning, match=f"{N} cells"):
        found = model.predict_proba(customers().assign(empty="x"))
    assert np.array_equal(found, fitted().predict_proba(customers()))


@pytest.mark.parametrize("column", ["city", "member", "visits", "spend"])
@pytest.mark.parametrize(
    "holes",
    [
        pd.Series([None] * N, dtype=object),
        pd.Series([np.nan] * N),
        pd.Series([None] * N, dtype="string"),
        pd.Series([None] * N, dtype="Int64"),
        pd.Series([None] * N, dtype="datetime64[ns]"),
    ],
    ids=lambda holes: str(holes.dtype),
)
def test_a_column_of_holes_at_predict_is_missing_whatever_its_type(column: str, holes: Any) -> None:
    with pytest.warns(MissingValueWarning, match=rf"{N} cells \(.*\) have no value"):
        fitted().predict(customers().assign(**{column: holes}))


@pytest.mark.parametrize("structure", ["naive", "joint"])
def test_read_only_and_mapped_arrays_are_left_alone(structure: str, tmp_path: Path) -> None:
    X = customers()[["visits", "spend"]].to_numpy()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    options: dict[str, Any] = {"structure": structure, "categorical_features": [0]}
    expected = DiscreteBayes(**options).fit(X, choices()).predict_proba(X)
    y = choices()
    y.flags.writeable = False
    found = DiscreteBayes(**options).fit(mapped, y).predict_proba(mapped)
    assert np.array_equal(found, expected)


# --- Threads, state and copies -------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["naive", "joint"])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_no_bit(
    structure: str, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 20)  # twelve blocks of five rows
    alone, together = (
        fitted(structure=structure, n_jobs=1),
        fitted(structure=structure, n_jobs=n_jobs),
    )
    assert together.working().to_dict() == alone.working().to_dict()
    assert np.array_equal(together.predict_proba(customers()), alone.predict_proba(customers()))
    loo = [model.loo_proba(customers(), choices()) for model in (alone, together)]
    assert np.array_equal(loo[0], loo[1])


def test_four_threads_may_predict_at_once() -> None:
    model, frame = fitted(), customers()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(model.predict_proba, [frame] * 16))
    assert all(np.array_equal(shares, model.predict_proba(frame)) for shares in found)


def test_asking_a_model_changes_nothing_in_it() -> None:
    model = fitted()
    before, written = dict(vars(model)), pickle.dumps(model)
    model.predict(customers())
    model.predict_log_proba(customers())
    model.explain(customers())
    model.working(customers())
    model.loo_proba(customers(), choices())
    assert vars(model) == before
    assert pickle.dumps(model) == written


def test_asking_changes_nothing_in_the_table() -> None:
    frame, before = with_holes(), with_holes()
    with pytest.warns(MissingValueWarning):
        DiscreteBayes().fit(frame, choices()).predict(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_pickled_model_predicts_the_same() -> None:
    model = fitted(structure="joint")
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301  (our own bytes)
    assert np.array_equal(copy.predict_proba(customers()), model.predict_proba(customers()))
    assert copy.explain(customers()) == model.explain(customers())


def test_a_clone_has_the_options_and_not_the_fit() -> None:
    model = clone(fitted(alpha=0.5, priors={"buy": 0.3, "leave": 0.7}))
    assert model.get_params()["alpha"] == 0.5
    assert model.get_params()["priors"] == {"buy": 0.3, "leave": 0.7}
    with pytest.raises(NotFittedError):
        model.predict(customers())


def spoil(column: str, value: Any) -> Callable[[], tuple[Frame, Any, Any]]:
    return lambda: (customers().assign(**{column: value}), choices(), None)


BAD_FITS: dict[str, Callable[[], tuple[Frame, Any, Any]]] = {
    "infinity": spoil("spend", np.inf),
    "no category": spoil("city", pd.Series([[1]] * N)),
    "no rows": lambda: (customers()[:0], [], None),
    "holes in y": lambda: (customers()[["city"]], [1] * (N - 1) + [None], None),
    "other classes than the priors": lambda: (customers()[["city"]], np.arange(N) % 3, None),
    "weights": lambda: (customers()[["city"]], np.arange(N) % 2, [-1] * N),
    "too few labels": lambda: (customers()[["city"]], [0, 1], None),
}


@pytest.mark.parametrize("bad", BAD_FITS.values(), ids=BAD_FITS)
def test_a_fit_that_fails_leaves_the_model_whole(bad: Callable[[], tuple[Frame, Any, Any]]) -> None:
    model = fitted(priors=[0.5, 0.5])
    before, expected = dict(vars(model)), model.predict_proba(customers())
    X, y, weight = bad()
    with pytest.raises((InputError, InputTypeError, OptionError)):
        model.fit(X, y, sample_weight=weight)
    assert vars(model) == before
    assert np.array_equal(model.predict_proba(customers()), expected)


@pytest.mark.parametrize("verb", ["partial_fit", "forget", "loo_proba"])
def test_other_verbs_that_fail_leave_the_model_whole(verb: str) -> None:
    model = fitted()
    before = dict(vars(model))
    labels = [1, *choices()[1:].tolist()] if verb != "partial_fit" else [None] * N
    with pytest.raises(InputError):
        getattr(model, verb)(customers(), np.array(labels, dtype=object))
    assert vars(model) == before


def test_a_first_fit_that_fails_leaves_no_model() -> None:
    model = DiscreteBayes()
    with pytest.raises(LabelError):
        model.fit(customers(), [None] * N)
    with pytest.raises(NotFittedError):
        model.predict(customers())


def test_rows_that_were_not_fitted_cannot_be_forgotten() -> None:
    with pytest.raises(SubtractError, match=r"cannot be taken out.*only rows that were fitted"):
        fitted().forget(customers().assign(city="Bonn"), choices())


# --- Within scikit-learn -------------------------------------------------------------------------


def words() -> Frame:
    return customers()[["city"]].assign(member=np.where(customers()["member"], "yes", "no"))


def lowered(frame: Frame) -> Frame:
    return frame.map(str.lower)


def test_a_pipeline_passes_a_frame_of_words() -> None:
    pipe = Pipeline([("lower", FunctionTransformer(lowered)), ("bayes", DiscreteBayes())])
    expected = DiscreteBayes().fit(lowered(words()), choices()).predict(lowered(words()))
    assert np.array_equal(pipe.fit(words(), choices()).predict(words()), expected)


def test_cross_validation_of_a_frame_of_words() -> None:
    scores = cross_val_score(DiscreteBayes(), words(), choices(), cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.5


def test_a_grid_search_over_options() -> None:
    pipe = Pipeline([("lower", FunctionTransformer(lowered)), ("bayes", DiscreteBayes())])
    grid = {"bayes__alpha": [0.1, 1.0], "bayes__structure": ["naive", "joint"]}
    search = GridSearchCV(pipe, grid, cv=3, scoring="neg_log_loss").fit(words(), choices())
    assert set(search.best_params_) == set(grid)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_pipeline_routes_weights() -> None:
    weight = 1 + np.arange(N) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        bayes = DiscreteBayes().set_fit_request(sample_weight=True)
        pipe = Pipeline([("lower", FunctionTransformer(lowered)), ("bayes", bayes)])
        found = pipe.fit(words(), choices(), sample_weight=weight).predict_proba(words())
    direct = DiscreteBayes().fit(lowered(words()), choices(), sample_weight=weight)
    assert np.array_equal(found, direct.predict_proba(lowered(words())))


# --- It says why not -----------------------------------------------------------------------------


def refuses(error: type[Exception], message: str, action: Callable[[], object]) -> None:
    with pytest.raises(error, match=f"(?s){message}"):
        action()


def test_a_missing_column_is_named() -> None:
    frame = customers().drop(columns=["city", "spend"])
    message = r"fitted with the columns 'city', 'spend', which this table lacks.*'member', 'visits'"
    refuses(ColumnError, message, lambda: fitted().predict(frame))


def test_a_missing_column_is_named_when_rows_are_added() -> None:
    frame = customers().drop(columns="city")
    refuses(
        ColumnError,
        "'city', which this table lacks",
        lambda: fitted().partial_fit(frame, choices()),
    )


def test_an_array_of_another_width_is_refused() -> None:
    model = DiscreteBayes().fit(np.eye(3), [0, 1, 1])
    refuses(
        InputError,
        "X has 2 features, but DiscreteBayes is expecting 3",
        lambda: model.predict(np.eye(2)),
    )


def test_an_array_after_a_frame_is_taken_in_order_with_a_warning() -> None:
    model = fitted()
    with pytest.warns(
        UserWarning, match=r"does not have valid feature names.*in the order of the fit"
    ):
        found = model.predict_proba(customers().to_numpy())
    assert np.array_equal(found, model.predict_proba(customers()))


@every_backend
def test_a_table_without_rows_is_refused(to: Callable[[Frame], Frame]) -> None:
    empty = to(customers()[:0])
    refuses(InputError, r"0 sample\(s\).*no rows", lambda: DiscreteBayes().fit(empty, []))
    refuses(InputError, r"0 sample\(s\).*no rows", lambda: fitted().predict(empty))


@pytest.mark.parametrize(
    "X", [pd.DataFrame(index=range(N)), pl.DataFrame(), np.empty((N, 0))], ids=type
)
def test_a_table_without_columns_is_refused(X: Any) -> None:
    refuses(InputError, r"0 feature\(s\).*no columns", lambda: DiscreteBayes().fit(X, choices()))


@every_backend
def test_a_table_of_labels_alone_is_refused(to: Callable[[Frame], Frame]) -> None:
    frame = to(pd.DataFrame({"y": choices()}))
    refuses(InputError, r"0 feature\(s\).*no columns", lambda: DiscreteBayes().fit(frame, "y"))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("spend", "much", "'spend' was fitted with numbers, and now holds words"),
        ("spend", True, "'spend' was fitted with numbers, and now holds words or truth values"),
        (
            "spend",
            pd.Timestamp("2020-01-01"),
            "'spend' was fitted with numbers, and now holds dates",
        ),
        ("city", 1.5, r"'city' was fitted with words .*such as 'Lima'.* now holds numbers"),
        ("city", pd.Timestamp("2020-01-01"), "'city' was fitted with words .* now holds dates"),
    ],
)
def test_another_kind_than_was_fitted_is_refused(column: str, values: Any, message: str) -> None:
    refuses(ColumnError, message, lambda: fitted().predict(customers().assign(**{column: values})))


def test_numbers_where_dates_were_fitted_are_refused() -> None:
    dated = customers().assign(spend=pd.date_range("2020-01-01", periods=N))
    model = DiscreteBayes().fit(dated, choices())
    refuses(
        ColumnError,
        "'spend' was fitted with dates, and now holds numbers",
        lambda: model.predict(customers()),
    )


@pytest.mark.parametrize("verb", ["fit", "predict"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_by_name(verb: str, value: float) -> None:
    frame = customers()
    frame.loc[3, "spend"] = value
    model = fitted()
    action = (
        (lambda: model.fit(frame, choices())) if verb == "fit" else (lambda: model.predict(frame))
    )
    refuses(InputError, "'spend' holds infinite values", action)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([*["buy"] * (N - 1), None], f"contains NaN or None, first in row {N - 1}"),
        ([*["buy"] * (N - 1), float("nan")], f"contains NaN or None, first in row {N - 1}"),
        ([*range(N - 1), float("nan")], f"contains NaN, first in row {N - 1}"),
        (pl.Series([None, *["buy"] * (N - 1)]), "contains NaN or None, first in row 0"),
        (pd.Series([1, None] * (N // 2), dtype="Int64"), "contains NaN or None, first in row 1"),
        (
            np.ma.array([1, 0] * (N // 2), mask=[False, True] * (N // 2)),
            "NaN or None, first in row 1",
        ),
        ([float("inf")] * N, "contains infinity"),
        (
            np.arange(N) / 4,
            r"Unknown label type: continuous \(y holds 0\.25\).*cut it into classes",
        ),
        (np.array([0.5, 1] * (N // 2), dtype=object), r"continuous \(y holds 0\.5\)"),
        (pl.Series([0.5, 1.0] * (N // 2)).cast(pl.Decimal(4, 2)), r"continuous \(y holds 0\.5\)"),
        (["buy", "leave"], rf"X has {N} rows and y has 2 labels"),
        (np.full((N, 2), "buy"), r"1d array, got an array of shape \(60, 2\)"),
        (7, "1d array, got the type int instead"),
        ([[1], [1, 2]], "y cannot be read"),
        (np.array([b"a", b"b"] * (N // 2)), r"Unknown label type: \|S1"),
        (np.array(["2020"] * N, dtype="M8[Y]"), "Unknown label type: datetime64"),
        (pd.Series(pd.date_range("2020", periods=N)), "y holds dates or times.*to strings"),
    ],
    ids=lambda part: part[:30] if isinstance(part, str) else "",
)
def test_labels_that_cannot_be_classes_are_refused(y: Any, message: str) -> None:
    refuses(LabelError, message, lambda: DiscreteBayes().fit(customers(), y))


def test_labels_by_a_name_that_no_column_has_are_refused() -> None:
    message = "y='choice' is no column of this table: it has 'city', 'member'"
    refuses(ColumnError, message, lambda: DiscreteBayes().fit(customers(), "choice"))


def test_labels_by_name_need_names() -> None:
    message = "y='choice' names a column, and X is a ndarray without column names"
    refuses(ColumnError, message, lambda: DiscreteBayes().fit(np.eye(3), "choice"))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([-1.0] * N, "negative, missing or infinite"),
        ([np.nan] * N, "negative, missing or infinite"),
        ([0] * N, "zero for every row"),
        ([1] * (N - 1), rf"shape == \({N - 1},\), expected \({N},\)"),
        (["heavy"] * N, "not a number"),
    ],
    ids=["negative", "missing", "zero", "too few", "words"],
)
def test_weights_that_cannot_be_used_are_refused(weight: Any, message: str) -> None:
    action = lambda: DiscreteBayes().fit(customers(), choices(), sample_weight=weight)
    refuses(WeightError, message, action)


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"structure": "tree"}, r"structure='tree'.*'naive', 'joint'"),
    ({"structure": None}, "structure=None"),
    ({"alpha": -1}, "alpha=-1 .*at least 0"),
    ({"alpha": float("nan")}, "alpha=nan .*finite"),
    ({"alpha": float("inf")}, "alpha=inf .*finite"),
    ({"alpha": "1"}, "alpha='1'"),
    ({"alpha": True}, "alpha=True"),
    ({"alpha": None}, "alpha=None"),
    ({"numeric": "histogram"}, "numeric='histogram'.*'gaussian'"),
    ({"missing": "drop"}, "missing='drop'.*'skip', 'error'"),
    ({"unknown": "ignore"}, "unknown='ignore'.*'skip', 'error'"),
    ({"priors": [0.5, 0.6]}, r"priors=.*sum 1 \(it is 1\.1\)"),
    ({"priors": [-0.5, 1.5]}, "priors=.*at least 0"),
    ({"priors": [1.0]}, r"priors has the shape \(1,\), and there are 2 classes \('buy', 'leave'\)"),
    ({"priors": {"buy": 0.5, "rent": 0.5}}, r"priors names \['rent'\].*'buy', 'leave'"),
    ({"priors": {"buy": 0.5}}, r"priors=.*it is 0\.5"),
    ({"priors": "uniform"}, "priors='uniform'.*finite numbers"),
    ({"priors": [0.5, float("nan")]}, "priors=.*finite numbers"),
    ({"class_weight": "even"}, "class_weight='even'.*'balanced'"),
    ({"class_weight": {"rent": 1}}, r"class_weight names \['rent'\]"),
    ({"class_weight": {"buy": -1}}, "class_weight=.*must be 0 or from 1e-20 to 1e\\+20"),
    ({"class_weight": {"buy": 0, "leave": 0}}, "class_weight=.*above 0"),
    ({"class_weight": [1, 2]}, "class_weight=.*a dict by label"),
    ({"costs": [[0, 1]]}, r"costs has the shape \(1, 2\).*2 × 2"),
    ({"costs": [[0, -1], [1, 0]]}, "costs .*least entry of -1.*at least 0"),
    ({"costs": [[0, float("inf")], [1, 0]]}, "costs=.*finite numbers"),
    ({"costs": [[0, 1], [1]]}, "costs=.*finite numbers"),
    ({"n_jobs": 0}, "n_jobs=0: give a whole number"),
    ({"n_jobs": 1.5}, r"n_jobs=1\.5: give a whole number"),
    ({"n_jobs": "2"}, "n_jobs='2': give a whole number"),
    ({"categorical_features": ["age"]}, "categorical_features names 'age'.*it has 'city'"),
    ({"categorical_features": "city"}, "categorical_features='city'.*a list of names"),
    ({"categorical_features": [True]}, "a mask of length 1, and the table has 4 columns"),
    ({"categorical_features": [7]}, "column 7, and the table has 4 columns"),
    ({"categorical_features": [[0], [1, 2]]}, "categorical_features=.*cannot be read"),
    ({"categorical_features": {"city"}}, "categorical_features=.*cannot be read"),
    ({"categorical_features": [0.5]}, "categorical_features=.*cannot be read"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=[str(o) for o, _ in BAD_OPTIONS])
def test_an_option_that_cannot_be_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    refuses(OptionError, message, lambda: fitted(**options))


def test_dates_are_not_made_categories() -> None:
    dated = customers().assign(day=pd.date_range("2020-01-01", periods=N))
    action = lambda: DiscreteBayes(categorical_features=["day"]).fit(dated, choices())
    refuses(OptionError, "names 'day', which holds dates.*to strings", action)


def test_intervals_that_pandas_cuts_are_ordered_words() -> None:
    cut = customers().assign(spend=pd.cut(customers()["spend"], [-1e9, 0, 5, 10, 1e9]))
    model = DiscreteBayes().fit(cut, choices())
    listed = model.working()["spend"].column("spend")
    assert listed == tuple(map(str, cut["spend"].cat.categories))
    assert len(model.predict(cut)) == len(cut)


# --- What is shown -------------------------------------------------------------------------------


def test_names_and_values_are_escaped_in_html() -> None:
    frame = pd.DataFrame({"<script>name": ["<b>value", "a&b"] * 3})
    model = DiscreteBayes().fit(frame, ["<i>class", "d&e"] * 3)
    for shown in (model.working(frame), model.explain(frame), model):
        html = shown._repr_html_()
        assert not any(raw in html for raw in ("<script>name", "<b>value", "<i>class", "a&b"))
    assert "&lt;script&gt;name" in model.working()._repr_html_()
    assert "&lt;i&gt;class" in model.explain(frame)._repr_html_()


@every_backend
@pytest.mark.parametrize("structure", ["naive", "joint"])
def test_working_and_reasons_go_out_as_the_library_that_came_in(
    to: Callable[[Frame], Frame], structure: str
) -> None:
    frame = to(customers())
    model = DiscreteBayes(structure).fit(frame, choices(), sample_weight=np.arange(N) / 4)
    frames = [*model.working(frame).to_frame().values(), model.explain(frame).to_frame()]
    assert {type(each) for each in frames} == {type(frame)}


def test_a_column_may_have_the_name_of_a_table_of_the_working() -> None:
    frame = customers().rename(columns={"city": "priors", "member": "gaussians"})
    tables = DiscreteBayes().fit(frame, choices()).working()
    assert len(tables.to_frame()) == len(tables)


def test_a_number_far_from_all_others_is_judged_or_refused_by_name() -> None:
    model = DiscreteBayes().fit([[1.0], [2.0], [3.0], [6.0]], ["narrow", "narrow", "wide", "wide"])
    assert model.predict([[1e100]]).tolist() == ["wide"]
    try:
        assert model.predict([[1e200]]).tolist() == ["wide"]
    except InputError as error:
        assert "'x0' holds numbers beyond" in str(error)  # noqa: PT017  (either will do)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain", "working"])
def test_a_warning_points_at_the_line_that_led_to_it(method: str) -> None:
    model = DiscreteBayes().fit(customers(), choices())
    stranger = customers().assign(city="Atlantis")[:1]
    with pytest.warns(UnknownCategoryWarning) as caught:
        getattr(model, method)(stranger)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("structure", ["naive", "joint"])
@pytest.mark.parametrize("cells", [[1.0, 2.0, 4.0], ["a", "b", "a"]])
def test_a_column_may_be_all_holes_in_the_first_block(structure: str, cells: list[Any]) -> None:
    # the kind of the column is known only from the second block on; the order must not matter
    full = pd.DataFrame({"x": cells, "w": ["u", "v", "u"]})
    holes = pd.DataFrame({"x": [None, None], "w": ["u", "v"]}, dtype=object)
    first = DiscreteBayes(structure).partial_fit(holes, ["n", "y"]).partial_fit(full, list("nyy"))
    last = DiscreteBayes(structure).partial_fit(full, list("nyy")).partial_fit(holes, ["n", "y"])
    assert first.predict_proba(full) == pytest.approx(last.predict_proba(full), abs=1e-15)


def test_another_structure_cannot_go_on_with_the_summary_of_the_first() -> None:
    model = DiscreteBayes("naive").fit(customers(), choices()).set_params(structure="joint")
    with pytest.raises(OptionError, match="set after a fit with the other structure"):
        model.partial_fit(customers(), choices())


def test_columns_of_packed_records_are_read() -> None:
    records = np.zeros(6, dtype=[("flag", "i1"), ("x", "f8", (2,))])
    records["x"] = np.arange(12.0).reshape(6, 2)
    model = DiscreteBayes().fit(records["x"], list("aabbab"))
    plain = DiscreteBayes().fit(np.arange(12.0).reshape(6, 2), list("aabbab"))
    assert (model.predict_proba(records["x"]) == plain.predict_proba(records["x"])).all()
