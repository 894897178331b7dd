"""TreeClassifier meets everyday tables: it works, or it says why not and what to do."""

import pickle
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

from sortal import TreeClassifier, datasets
from sortal.errors import (
    ColumnError,
    InputError,
    InputTypeError,
    LabelError,
    MissingValueError,
    MissingValueWarning,
    OptionError,
    UnknownCategoryError,
    UnknownCategoryWarning,
    WeightError,
)

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

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


def choices() -> Labels:
    return np.where(np.arange(N) % 3 + np.sin(np.arange(N)) > 1, "buy", "leave")


def fitted(**options: Any) -> TreeClassifier:
    return TreeClassifier(**{"pruning": None, **options}).fit(customers(), choices())


def nodes(model: TreeClassifier) -> dict[str, list[Any]]:
    """The tree, to be compared: every column of its frame, whatever library it is of."""
    frame = model.to_frame()
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    read = (lambda name: frame[name].to_pylist()) if isinstance(frame, pa.Table) else None
    return {str(name): read(name) if read else list(frame[name]) for name in names}


BACKENDS: dict[str, Callable[[Frame], Frame]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}
every_backend = pytest.mark.parametrize("to", BACKENDS.values(), ids=BACKENDS)


# --- It works ------------------------------------------------------------------------------------


@every_backend
def test_every_library_gives_the_same_tree(to: Callable[[Frame], Frame]) -> None:
    model = TreeClassifier(pruning=None).fit(to(customers()), choices())
    assert nodes(model) == nodes(fitted())
    assert np.array_equal(model.predict(to(customers())), choices())
    assert type(model.to_frame()) is type(to(customers()))


@every_backend
def test_columns_in_another_order_are_found_by_name(to: Callable[[Frame], Frame]) -> None:
    model = fitted(max_depth=3)
    reordered = customers()[["spend", "city", "visits", "member"]]
    assert np.array_equal(model.apply(to(reordered)), model.apply(customers()))


def test_extra_columns_are_left_aside() -> None:
    extra = customers().assign(note="x", when=pd.Timestamp("2020-01-01"))
    extra[0] = [[1]] * N
    assert np.array_equal(fitted().predict(extra), choices())


@every_backend
def test_labels_can_be_a_column_by_name(to: Callable[[Frame], Frame]) -> None:
    frame = to(customers().assign(choice=choices()))
    model = TreeClassifier(pruning=None).fit(frame, "choice")
    assert list(model.feature_names_in_) == list(customers().columns)
    assert nodes(model) == nodes(fitted())
    assert model.score(frame, "choice") == 1.0


@pytest.mark.parametrize(
    ("labels", "listed"),
    [
        (["b", "a"], ["b", "a"]),
        ([1, 0], [1, 0]),
        ([1.0, 0.0], [1.0, 0.0]),
        ([True, False], [True, False]),
        (np.array(["a", 1], dtype=object), ["a", 1]),
        (pd.Series(["b", "a"], index=[9, 9]), ["b", "a"]),
        (pd.Categorical(["b", "a"], categories=["c", "b", "a"]), ["b", "a"]),
        (pl.Series([2**63, 1], dtype=pl.UInt64), [2**63, 1]),
        (pa.array(["b", "a"]), ["b", "a"]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_labels_come_back_as_they_went_in(labels: Any, listed: list[Any]) -> None:
    X = [["x"], ["y"]]
    model = TreeClassifier(pruning=None).fit(X, labels)
    found = model.predict(X).tolist()
    assert found == listed
    assert [type(label) for label in found] == [type(label) for label in listed]
    assert model.classes_.tolist() == listed[::-1]


def test_labels_in_a_column_of_a_matrix_are_flattened_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = TreeClassifier(pruning=None).fit(customers(), choices()[:, None])
    assert nodes(model) == nodes(fitted())


def test_one_class_is_one_leaf() -> None:
    model = TreeClassifier(pruning=None).fit(customers(), ["buy"] * N)
    assert (model.get_depth(), model.get_n_leaves()) == (0, 1)
    assert set(model.predict(customers())) == {"buy"}
    assert model.predict_proba(customers()).tolist() == [[1.0]] * N
    assert model.feature_importances_.tolist() == [0.0] * 4


def test_one_row_is_one_leaf() -> None:
    model = TreeClassifier(pruning=None).fit([["a", 1.0]], ["x"])
    assert model.predict([["a", 7.0]]).tolist() == ["x"]


def test_columns_that_never_vary_are_one_leaf() -> None:
    model = TreeClassifier(pruning=None).fit([["a", 1.0]] * 3, ["x", "y", "x"])
    assert model.get_n_leaves() == 1
    assert model.predict_proba([["a", 1.0]]).tolist() == [[2 / 3, 1 / 3]]


def test_logarithms_of_shares() -> None:
    model = fitted(max_depth=2, smoothing=None)
    with np.errstate(divide="ignore"):
        expected = np.log(model.predict_proba(customers()))
    assert np.array_equal(model.predict_log_proba(customers()), expected)
    assert np.isneginf(fitted(smoothing=None).predict_log_proba(customers())).any()
    assert np.isfinite(fitted().predict_log_proba(customers())).all()


def test_the_first_of_equally_frequent_classes_is_said() -> None:
    model = TreeClassifier(pruning=None).fit([[1.0], [1.0], [1.0], [1.0]], ["z", "b", "b", "z"])
    assert model.predict([[1.0]]).tolist() == ["b"]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint64])
def test_numbers_of_any_type_are_read(dtype: Any) -> None:
    X = (np.arange(40).reshape(20, 2) % 7 % 5).astype(dtype)
    y = np.arange(20) % 2
    found = TreeClassifier(pruning=None).fit(X, y).predict_proba(X)
    assert np.array_equal(
        found, TreeClassifier(pruning=None).fit(X.astype(np.float64), y).predict_proba(X)
    )


def test_float32_is_read_as_it_is() -> None:
    X = np.array([[0.1], [0.2]], dtype=np.float32)
    model = TreeClassifier(pruning=None).fit(X, [0, 1])
    a, b = X[:, 0].astype(np.float64)
    assert a < model._model.threshold[0] < b
    assert model.predict(X).tolist() == [0, 1]


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_in_any_order_give_the_same_tree(order: Any) -> None:
    X = np.sin(np.arange(300.0).reshape(100, 3))
    y = X[:, 0] + X[:, 1] > 0
    wide = np.zeros((100, 6))
    wide[:, ::2] = X
    model = TreeClassifier(pruning=None).fit(np.array(X, order=order), y)
    assert nodes(model) == nodes(TreeClassifier(pruning=None).fit(wide[:, ::2], y))
    assert np.array_equal(model.apply(X), model.apply(wide[::1, ::2]))


def test_read_only_and_mapped_arrays_are_left_alone(tmp_path: Path) -> None:
    X = customers()[["visits", "spend"]].to_numpy()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    y = choices()
    y.flags.writeable = False
    model = TreeClassifier(categorical_features=[0], pruning=None).fit(mapped, y)
    assert np.array_equal(model.predict(mapped), y)
    assert np.array_equal(mapped, X)


@pytest.mark.parametrize(
    "given", [["visits"], [2], [-2], np.array([2]), [False, False, True, False]], ids=str
)
def test_numbers_are_categories_where_the_user_says_so(given: Any) -> None:
    worded = customers().assign(visits=[f"v{n}" for n in customers()["visits"]])
    expected = TreeClassifier(pruning=None).fit(worded, choices()).apply(worded)
    assert np.array_equal(fitted(categorical_features=given).apply(customers()), expected)


def test_truth_values_are_categories() -> None:
    X = pd.DataFrame({"flag": [True, False, True, False]})
    model = TreeClassifier(pruning=None).fit(X, [1, 0, 1, 0])
    assert nodes(model)["test"][0] == "flag in {False}"
    assert model.predict(X).tolist() == [1, 0, 1, 0]


def test_ten_thousand_categories_in_a_column() -> None:
    codes = pd.DataFrame({"code": [f"code {i}" for i in range(10_000)] * 2})
    labels = np.arange(20_000) % 10_000 % 2
    model = TreeClassifier(pruning=None).fit(codes, labels)
    assert np.array_equal(model.predict(codes), labels)
    assert model.get_depth() == 1  # one set of values tells two classes apart


@pytest.mark.filterwarnings("ignore::sortal.errors.ManyClassesWarning")
def test_two_hundred_classes() -> None:
    labels = np.arange(1000) % 200
    X = np.column_stack([labels % 20, labels // 20]).astype(float)
    model = TreeClassifier(pruning=None).fit(X, labels)
    assert len(model.classes_) == 200
    assert np.array_equal(model.predict(X), labels)


# --- Dates and ordered categories ----------------------------------------------------------------


@every_backend
def test_dates_are_cut_and_print_as_dates(to: Callable[[Frame], Frame]) -> None:
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=10)})
    y = np.arange(10) >= 4
    model = TreeClassifier(pruning=None).fit(to(days), y)
    assert nodes(model)["test"][0] == "day <= 2020-01-04T12:00:00"
    assert np.array_equal(model.predict(to(days)), y)
    with pytest.raises(ColumnError, match="'day' was fitted with dates, and now holds numbers"):
        model.predict(pd.DataFrame({"day": [1.5]}))


SIZES = ["S", "M", "L", "XL"]


def sizes(*given: str, ordered: bool = True) -> Frame:
    return pd.DataFrame({"size": pd.Categorical(given, categories=SIZES, ordered=ordered)})


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_an_ordered_category_is_cut_on_its_ranks(split: str) -> None:
    X, y = sizes("S", "M", "L", "XL", "S", "XL"), [0, 0, 1, 1, 0, 1]
    model = TreeClassifier(categorical_split=split, pruning=None).fit(X, y)
    assert nodes(model)["test"] == ["size <= M", "", ""]
    assert model.predict(X).tolist() == y
    # no set of neighbors tells M from the others: two cuts
    two = TreeClassifier(categorical_split=split, pruning=None).fit(X, [0, 1, 0, 0, 0, 0])
    assert [test for test in nodes(two)["test"] if test] == ["size <= M", "size <= S"]


def test_an_enum_of_polars_is_ordered() -> None:
    frame = pl.DataFrame({"size": pl.Series(["S", "L", "XL"], dtype=pl.Enum(SIZES))})
    model = TreeClassifier(pruning=None).fit(frame, [0, 1, 1])
    assert nodes(model)["test"][0] == "size <= M"  # halfway between S and L


def test_an_ordered_category_is_one_like_others_where_named() -> None:
    X, y = sizes("S", "M", "L", "XL"), [0, 1, 0, 0]
    as_set = TreeClassifier(categorical_split={"size": "subset"}, pruning=None).fit(X, y)
    assert nodes(as_set)["test"] == ["size in {M}", "", ""]
    by_value = TreeClassifier(categorical_split={"size": "multiway"}, pruning=None).fit(X, y)
    assert nodes(by_value)["test"][0] == "size: S | M | L | XL"


def test_a_declared_rank_that_no_row_had_has_its_place() -> None:
    model = TreeClassifier(pruning=None).fit(sizes("S", "S", "XL"), [0, 0, 1])
    assert model.predict(sizes("M", "L")).tolist() == [0, 1]


def test_an_unknown_value_of_an_ordered_category_takes_the_heavier_branch() -> None:
    model = TreeClassifier(pruning=None).fit(sizes("S", "XL", "XL"), [0, 1, 1])
    with pytest.warns(UnknownCategoryWarning, match=r"1 cell \('size' 1\)"):
        assert model.predict(pd.DataFrame({"size": ["huge"]})).tolist() == [1]


def test_a_category_without_an_order_is_asked_for_sets() -> None:
    X, y = sizes("S", "M", "L", "XL", ordered=False), [0, 1, 0, 0]
    assert nodes(TreeClassifier(pruning=None).fit(X, y))["test"][0] == "size in {M}"


def test_columns_may_be_asked_in_different_ways() -> None:
    tennis = datasets.play_tennis()
    model = TreeClassifier(categorical_split={"Outlook": "multiway"}, pruning=None).fit(
        tennis, "PlayTennis"
    )
    asked = nodes(model)["test"]
    assert asked[0] == "Outlook: Overcast | Rain | Sunny"
    assert [test for test in asked[1:] if test] == ["Wind in {Strong}", "Humidity in {High}"]


# --- Unknown and absent values -------------------------------------------------------------------


def colors(*given: Any) -> Frame:
    return pd.DataFrame({"color": given})


def test_an_unknown_value_takes_the_heavier_branch_and_is_counted() -> None:
    model = TreeClassifier(pruning=None).fit(colors("red", "red", "blue"), ["r", "r", "b"])
    with pytest.warns(
        UnknownCategoryWarning,
        match=r"2 cells \('color' 2\) hold values never seen at fit; they take the branch of",
    ) as caught:
        found = model.predict(colors("pink", "blue", "gray"))
    assert found.tolist() == ["r", "b", "r"]
    assert len(caught) == 1


def test_of_branches_of_equal_weight_the_first_is_taken() -> None:
    model = TreeClassifier(pruning=None).fit(colors("red", "blue"), ["r", "b"])
    with pytest.warns(UnknownCategoryWarning):
        assert model.predict(colors("pink")).tolist() == ["b"]  # the test is color in {blue}


def test_an_unknown_value_stays_at_a_node_with_a_branch_per_value() -> None:
    X, y = colors("red", "red", "blue", "green"), ["r", "r", "b", "b"]
    model = TreeClassifier(categorical_split="multiway", pruning=None).fit(X, y)
    with pytest.warns(UnknownCategoryWarning):
        assert model.apply(colors("pink")).tolist() == [0]
    with pytest.warns(UnknownCategoryWarning):
        assert model.predict_proba(colors("pink")).tolist() == [[0.5, 0.5]]
    with pytest.warns(UnknownCategoryWarning):
        assert model.decision_path(colors("pink", "red")).toarray().tolist() == [
            [1, 0, 0, 0],
            [1, 0, 0, 1],
        ]


def test_a_value_absent_from_a_node_goes_on_without_a_warning() -> None:
    # green is fitted, but not among the rows with x <= 1.5, where blue and red are asked for
    X = pd.DataFrame({"x": [1, 1, 1, 2, 2], "color": ["red", "red", "blue", "green", "green"]})
    model = TreeClassifier(purity=1.0, pruning=None).fit(X, ["r", "r", "b", "g", "g"])
    asked = nodes(model)["test"]
    assert asked[0] == "x <= 1.5"
    assert asked[1] == "color in {blue}"
    assert model.predict(pd.DataFrame({"x": [1], "color": ["green"]})).tolist() == ["r"]


def test_a_hole_where_the_fit_had_none_is_told_and_where_it_goes() -> None:
    X, rows = customers(), customers()[:2].assign(visits=[np.nan, 1])
    words = {
        "direction": "they take the branch of larger weight, or stay where",
        "fractional": "they go down every branch, by its weight.",
    }
    for missing, told in words.items():
        model = TreeClassifier(missing=missing, pruning=None).fit(X, choices())
        with pytest.warns(
            MissingValueWarning, match=rf"1 cell \('visits' 1\) has no value; {told}"
        ):
            model.predict(rows)


def test_unknown_values_can_be_forbidden() -> None:
    model = fitted(unknown="error")
    assert np.array_equal(model.predict(customers()), choices())
    with pytest.raises(UnknownCategoryError, match=rf"{N} cells .*unknown='majority'"):
        model.predict(customers().assign(city="Bonn"))


def test_a_declared_value_that_no_row_had_is_unknown() -> None:
    kinds = pd.CategoricalDtype(["blue", "green", "red"])
    X = colors("red", "red", "blue").astype(kinds)
    model = TreeClassifier(pruning=None).fit(X, ["r", "r", "b"])
    assert model._schema.columns[0].values == ("blue", "green", "red")
    with pytest.warns(UnknownCategoryWarning, match=r"1 cell \('color' 1\)"):
        assert model.predict(colors("green", "red").astype(kinds)).tolist() == ["r", "r"]
    with pytest.raises(UnknownCategoryError):
        model.set_params(unknown="error").predict(colors("green"))


def test_a_warning_points_at_the_line_that_led_to_it() -> None:
    stranger = customers().assign(city="Atlantis")[:1]
    for method in ("predict", "predict_proba", "predict_log_proba", "apply", "decision_path"):
        with pytest.warns(UnknownCategoryWarning) as caught:
            getattr(fitted(), method)(stranger)
        assert [warning.filename for warning in caught] == [__file__]


# --- Weights -------------------------------------------------------------------------------------


def test_a_row_of_weight_zero_does_not_exist() -> None:
    weight = (np.arange(N) % 4 > 0).astype(int)
    some = TreeClassifier(pruning=None).fit(customers()[weight > 0], choices()[weight > 0])
    assert nodes(
        TreeClassifier(pruning=None).fit(customers(), choices(), sample_weight=weight)
    ) == nodes(some)


def test_what_only_rows_of_weight_zero_have_is_unknown() -> None:
    X = pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "x": [1.0, 2.0, np.nan]})
    model = TreeClassifier(pruning=None).fit(X, ["a", "b", "c"], sample_weight=[1, 1, 0])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.fit_report_.rows == 2
    with pytest.warns(UnknownCategoryWarning):
        model.predict(pd.DataFrame({"city": ["Bonn"], "x": [1.0]}))


def test_infinities_of_weight_zero_do_not_matter() -> None:
    model = TreeClassifier(pruning=None).fit(
        [[1.0], [2.0], [np.inf]], [0, 1, 1], sample_weight=[1, 1, 0]
    )
    assert model.predict([[2.0]]).tolist() == [1]


@pytest.mark.parametrize("given", ["bool", "int", "float"])
def test_whole_weights_are_copies(given: Any) -> None:
    weight = (np.arange(N) % 3).astype(given)
    copies = np.repeat(np.arange(N), weight.astype(int))
    twice = TreeClassifier(leaf_size=3, pruning=None).fit(
        customers().iloc[copies], choices()[copies]
    )
    found = TreeClassifier(leaf_size=3, pruning=None).fit(
        customers(), choices(), sample_weight=weight
    )
    assert nodes(found) == nodes(twice)
    assert found.fit_report_.rows == len(copies)


def test_of_fractional_weights_rows_are_counted() -> None:
    X, y, weight = [[1.0], [2.0], [3.0]], [0, 1, 1], [0.5, 0.25, 1.0]
    frame = nodes(TreeClassifier(pruning=None).fit(X, y, sample_weight=weight))
    assert frame["size"] == [3, 1, 2]
    assert frame["n"] == [1.75, 0.5, 1.25]
    assert frame["n(1)"] == [1.25, 0.0, 1.25]


def test_a_share_of_the_rows_is_rounded_up() -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 2
    assert (
        nodes(TreeClassifier(min_samples_leaf=0.2, pruning=None).fit(X, y))["test"][0]
        == "x0 <= 1.5"
    )
    assert (
        nodes(TreeClassifier(min_samples_leaf=0.21, pruning=None).fit(X, y))["test"][0]
        == "x0 <= 2.5"
    )
    assert (
        nodes(TreeClassifier(min_samples_leaf=3, pruning=None).fit(X, y))["test"][0] == "x0 <= 2.5"
    )


def test_a_share_of_the_weight() -> None:
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    weight = [1, 4, 5]
    light = TreeClassifier(min_weight_fraction_leaf=0.1, pruning=None).fit(
        X, y, sample_weight=weight
    )
    assert nodes(light)["test"][0] == "x0 <= 0.5"
    heavy = TreeClassifier(min_weight_fraction_leaf=0.11, pruning=None).fit(
        X, y, sample_weight=weight
    )
    assert nodes(heavy)["test"][0] == "x0 <= 1.5"


# --- Bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2, 10**30])
def test_a_tree_is_no_deeper_than_told(depth: int) -> None:
    model = fitted(max_depth=depth)
    assert model.get_depth() <= depth
    assert model.get_depth() == min(depth, fitted().get_depth())


@pytest.mark.parametrize("most", [1, 2, 5, 10**30])
def test_a_tree_has_no_more_leaves_than_told(most: int) -> None:
    assert fitted(max_leaf_nodes=most).get_n_leaves() == min(most, fitted().get_n_leaves())


def test_numbers_of_numpy_are_numbers() -> None:
    told = fitted(max_depth=np.int64(2), purity=np.float32(1.0), min_samples_leaf=np.int8(2))
    assert nodes(told) == nodes(fitted(max_depth=2, min_samples_leaf=2))


def test_a_gain_below_the_least_makes_a_leaf() -> None:
    scores = [score for score in nodes(fitted())["score"] if score > 0]
    least = sorted(scores)[len(scores) // 2]
    assert min(score for score in nodes(fitted(min_gain=least))["score"] if score > 0) >= least


# --- Threads, state and copies -------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_no_bit(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 20)  # predict: blocks of five rows
    alone, together = fitted(n_jobs=1), fitted(n_jobs=n_jobs)
    assert nodes(together) == nodes(alone)
    assert np.array_equal(together.apply(customers()), alone.apply(customers()))


def test_four_threads_may_predict_at_once() -> None:
    model, frame = fitted(), customers()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(model.predict_proba, [frame] * 16))
    assert all(np.array_equal(shares, model.predict_proba(frame)) for shares in found)


def test_asking_a_model_changes_nothing_in_it() -> None:
    model = fitted()
    before, written = dict(vars(model)), pickle.dumps(model)
    for method in ("predict", "predict_log_proba", "apply", "decision_path"):
        getattr(model, method)(customers())
    model.to_frame()
    assert model.get_depth() > 0
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert vars(model) == before
    assert pickle.dumps(model) == written


def test_asking_changes_nothing_in_the_table() -> None:
    frame = customers()
    TreeClassifier(pruning=None).fit(frame, choices()).predict(frame)
    pd.testing.assert_frame_equal(frame, customers())


def test_a_pickled_model_predicts_the_same() -> None:
    model = fitted(categorical_split={"city": "multiway"})
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301  (our own bytes)
    assert np.array_equal(copy.predict_proba(customers()), model.predict_proba(customers()))
    assert nodes(copy) == nodes(model)


def test_a_clone_has_the_options_and_not_the_fit() -> None:
    model = clone(fitted(criterion="gini", categorical_split={"city": "multiway"}))
    assert model.get_params()["criterion"] == "gini"
    assert model.get_params()["categorical_split"] == {"city": "multiway"}
    for method in ("predict", "predict_proba", "predict_log_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(customers())
    for ask in (model.to_frame, model.get_depth, model.get_n_leaves):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(model, "feature_importances_")


def spoil(column: str, value: Any) -> Callable[[], tuple[Frame, Any, Any]]:
    return lambda: (customers().assign(**{column: value}), choices(), None)


BAD_FITS: dict[str, Callable[[], tuple[Frame, Any, Any]]] = {
    "infinity": spoil("spend", np.inf),
    "no category": spoil("city", pd.Series([[1]] * N)),
    "no rows": lambda: (customers()[:0], [], None),
    "no named column": lambda: (customers()[["visits"]], np.arange(N) % 3, None),
    "holes in y": lambda: (customers()[["city"]], [1] * (N - 1) + [None], None),
    "weights": lambda: (customers()[["city"]], np.arange(N) % 2, [-1] * N),
    "too few labels": lambda: (customers()[["city"]], [0, 1], None),
}


@pytest.mark.parametrize("bad", BAD_FITS.values(), ids=BAD_FITS)
def test_a_fit_that_fails_leaves_the_model_whole(bad: Callable[[], tuple[Frame, Any, Any]]) -> None:
    model = fitted(categorical_split={"city": "subset"})
    before, expected = dict(vars(model)), model.predict_proba(customers())
    X, y, weight = bad()
    with pytest.raises((InputError, InputTypeError, OptionError)):
        model.fit(X, y, sample_weight=weight)
    assert vars(model) == before
    assert np.array_equal(model.predict_proba(customers()), expected)


@pytest.mark.parametrize("bad", BAD_FITS.values(), ids=BAD_FITS)
def test_a_first_fit_that_fails_leaves_no_model(bad: Callable[[], tuple[Frame, Any, Any]]) -> None:
    model = TreeClassifier(categorical_split={"city": "subset"}, pruning=None)
    before = dict(vars(model))
    X, y, weight = bad()
    with pytest.raises((InputError, InputTypeError, OptionError)):
        model.fit(X, y, sample_weight=weight)
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        model.predict(customers())


def test_a_second_fit_forgets_the_first() -> None:
    model = fitted().fit(np.eye(3), ["x", "y", "z"])
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(np.eye(3)).tolist() == ["x", "y", "z"]


def test_the_report_of_a_fit() -> None:
    report = fitted(max_depth=1).fit_report_
    assert (report.rows, report.missing) == (N, {})
    assert report.notes == ("3 nodes, 2 of them leaves; depth 1",)


# --- Within scikit-learn -------------------------------------------------------------------------


def lowered(frame: Frame) -> Frame:
    return frame.assign(city=frame["city"].str.lower())


def test_cross_validation_and_a_grid_search_over_options() -> None:
    assert cross_val_score(TreeClassifier(pruning=None), customers(), choices(), cv=3).mean() > 0.5
    pipe = Pipeline(
        [("lower", FunctionTransformer(lowered)), ("tree", TreeClassifier(pruning=None))]
    )
    grid = {"tree__criterion": ["gain", "gini", "cart"], "tree__max_depth": [1, None]}
    search = GridSearchCV(pipe, grid, cv=3).fit(customers(), choices())
    assert set(search.best_params_) == set(grid)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_pipeline_routes_weights() -> None:
    weight = np.arange(N) % 5
    with sklearn.config_context(enable_metadata_routing=True):
        tree = TreeClassifier(max_depth=2, pruning=None).set_fit_request(sample_weight=True)
        pipe = Pipeline([("lower", FunctionTransformer(lowered)), ("tree", tree)])
        found = pipe.fit(customers(), choices(), sample_weight=weight).predict_proba(customers())
    direct = TreeClassifier(max_depth=2, pruning=None).fit(
        lowered(customers()), choices(), sample_weight=weight
    )
    assert np.array_equal(found, direct.predict_proba(lowered(customers())))


def test_holes_are_declared_as_read_unless_refused() -> None:
    assert TreeClassifier(pruning=None).__sklearn_tags__().input_tags.allow_nan
    assert not TreeClassifier(missing="error", pruning=None).__sklearn_tags__().input_tags.allow_nan


# --- It says why not -----------------------------------------------------------------------------


def refuses(error: type[Exception], message: str, action: Callable[[], object]) -> None:
    with pytest.raises(error, match=f"(?s){message}"):
        action()


def holey() -> Frame:
    frame = customers()
    frame.loc[::5, "city"] = None
    frame.loc[::6, "spend"] = np.nan
    return frame


@every_backend
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_holes_are_refused_by_name(verb: str, to: Callable[[Frame], Frame]) -> None:
    model = fitted(missing="error")
    frame = to(holey())
    action = (
        (lambda: model.fit(frame, choices())) if verb == "fit" else (lambda: model.predict(frame))
    )
    message = r"22 cells \('city' 12, 'spend' 10\) have no value.*Fill them, drop.*'direction'"
    refuses(MissingValueError, message, action)


@pytest.mark.parametrize(
    ("column", "holes"),
    [
        ("empty", pd.Series([None] * N, dtype=object)),
        ("spend", pd.Series([np.nan] * N)),
        ("visits", pd.Series([1, None] * (N // 2), dtype="Int64")),
        ("city", pd.Series([pd.NaT] * N)),
        ("city", pd.Categorical(["Rome", None] * (N // 2), ordered=True)),
    ],
    ids=["objects", "floats", "Int64", "dates", "ordered"],
)
def test_holes_of_any_type_are_refused_at_fit(column: str, holes: Any) -> None:
    frame = customers().assign(**{column: holes})
    refuses(
        MissingValueError,
        rf"\('{column}' \d+\)",
        lambda: TreeClassifier(missing="error", pruning=None).fit(frame, choices()),
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
    refuses(InputError, r"'spend' holds infinite values \(infinity.*only finite numbers", action)


def test_large_numbers_are_no_infinities() -> None:
    X = [[-1.7e308], [1.7e308], [1.6e308], [1.5e308]]
    assert TreeClassifier(pruning=None).fit(X, [0, 1, 0, 1]).predict(X).tolist() == [0, 1, 0, 1]


def test_a_missing_column_is_named() -> None:
    frame = customers().drop(columns=["city", "spend"])
    message = r"TreeClassifier was fitted with the columns 'city', 'spend', which this table lacks"
    refuses(ColumnError, message, lambda: fitted().predict(frame))


def test_an_array_of_another_width_is_refused() -> None:
    model = TreeClassifier(pruning=None).fit(np.eye(3), [0, 1, 1])
    message = "X has 2 features, but TreeClassifier is expecting 3"
    refuses(InputError, message, lambda: model.predict(np.eye(2)))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("spend", "much", "'spend' was fitted with numbers, and now holds words"),
        ("spend", True, "'spend' was fitted with numbers, and now holds words or truth values"),
        ("spend", pd.Timestamp("2020"), "'spend' was fitted with numbers, and now holds dates"),
        ("city", 1.5, r"'city' was fitted with words .*such as 'Lima'.* now holds numbers"),
    ],
)
def test_another_kind_than_was_fitted_is_refused(column: str, values: Any, message: str) -> None:
    refuses(ColumnError, message, lambda: fitted().predict(customers().assign(**{column: values})))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([*["buy"] * (N - 1), None], f"contains NaN or None, first in row {N - 1}"),
        (np.arange(N) / 4, r"Unknown label type: continuous"),
        (["buy", "leave"], rf"X has {N} rows and y has 2 labels"),
        (np.full((N, 2), "buy"), r"1d array, got an array of shape \(60, 2\)"),
    ],
    ids=["none", "holes", "measurements", "too few", "two columns"],
)
def test_labels_that_cannot_be_classes_are_refused(y: Any, message: str) -> None:
    refuses(LabelError, message, lambda: TreeClassifier(pruning=None).fit(customers(), y))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([-1.0] * N, "negative, missing or infinite"),
        ([0] * N, "zero for every row"),
        ([1] * (N - 1), rf"shape == \({N - 1},\), expected \({N},\)"),
    ],
    ids=["negative", "zero", "too few"],
)
def test_weights_that_cannot_be_used_are_refused(weight: Any, message: str) -> None:
    action = lambda: TreeClassifier(pruning=None).fit(customers(), choices(), sample_weight=weight)
    refuses(WeightError, message, action)


@pytest.mark.parametrize(
    "X", [pd.DataFrame(index=range(N)), pl.DataFrame(), np.empty((N, 0))], ids=type
)
def test_a_table_without_columns_is_refused(X: Any) -> None:
    refuses(
        InputError,
        r"0 feature\(s\).*no columns",
        lambda: TreeClassifier(pruning=None).fit(X, choices()),
    )


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"criterion": "entropy"}, r"criterion='entropy'.*'gain', 'gain_ratio', 'gini', 'cart'"),
    ({"criterion": None}, "criterion=None"),
    ({"purity": 1.1}, "purity=1.1 .*from 0 to 1"),
    ({"purity": -0.1}, "purity=-0.1 .*from 0 to 1"),
    ({"purity": "1"}, "purity='1'"),
    ({"leaf_size": -1}, "leaf_size=-1 .*whole number of at least 0"),
    ({"leaf_size": 1.5}, "leaf_size=1.5"),
    ({"leaf_size": None}, r"leaf_size=None .*at least 0\.$"),
    ({"max_depth": -1}, "max_depth=-1 .*at least 0, or None for no bound"),
    ({"max_depth": 2.0}, "max_depth=2.0"),
    ({"max_depth": True}, "max_depth=True"),
    ({"min_samples_leaf": 0}, "min_samples_leaf=0 .*at least 1, or a share"),
    ({"min_samples_leaf": 1.0}, "min_samples_leaf=1.0 .*between 0 and 1"),
    ({"min_samples_leaf": 0.0}, "min_samples_leaf=0.0"),
    ({"min_samples_leaf": float("nan")}, "min_samples_leaf=nan"),
    ({"min_samples_leaf": "2"}, "min_samples_leaf='2'"),
    ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf=0.6 .*from 0 to 0.5"),
    ({"min_weight_fraction_leaf": -0.1}, "min_weight_fraction_leaf=-0.1"),
    ({"min_gain": -1e-9}, "min_gain=-1e-09 .*at least 0"),
    ({"min_gain": float("inf")}, "min_gain=inf"),
    ({"max_leaf_nodes": 0}, "max_leaf_nodes=0 .*at least 1, or None"),
    ({"max_leaf_nodes": "8"}, "max_leaf_nodes='8'"),
    ({"max_subset": 0}, "max_subset=0 .*at least 1, or None"),
    ({"categorical_split": "binary"}, "categorical_split='binary'.*'subset', 'multiway'"),
    ({"categorical_split": None}, "categorical_split=None"),
    ({"categorical_split": {"city": "binary"}}, "categorical_split=.*'subset', 'multiway'"),
    ({"categorical_split": {"town": "subset"}}, "names 'town', which is no column.*'city'"),
    ({"categorical_split": {"visits": "subset"}}, "names 'visits', which holds numbers"),
    ({"criterion": "cart", "categorical_split": "multiway"}, "compares two sides"),
    ({"criterion": "cart", "categorical_split": {"city": "multiway"}}, "compares two sides"),
    ({"pruning": "cost"}, "pruning='cost' is not known.*'pessimistic'"),
    ({"missing": "skip"}, "missing='skip'.*'direction', 'branch', .*'fractional', 'error'"),
    ({"missing": None}, "missing=None"),
    ({"missing": "branch", "criterion": "cart"}, "compares two sides.*missing='direction'"),
    ({"unknown": "skip"}, "unknown='skip'.*'majority', 'error'"),
    ({"n_jobs": 0}, "n_jobs=0: give a whole number"),
    ({"categorical_features": ["age"]}, "categorical_features names 'age'.*it has 'city'"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=[str(o) for o, _ in BAD_OPTIONS])
def test_an_option_that_cannot_be_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    refuses(OptionError, message, lambda: fitted(**options))


@pytest.mark.filterwarnings("ignore::sortal.errors.ManyClassesWarning")
def test_labels_that_are_identifiers_are_refused() -> None:
    rows = np.arange(65536)
    with pytest.raises(LabelError, match="65536 classes, and a tree tells at most 65535 apart"):
        TreeClassifier(pruning=None).fit(rows[:, None], rows)
    few = TreeClassifier(max_depth=1, pruning=None).fit(rows[:-1, None] // 32768, rows[:-1])
    assert few.get_n_leaves() == 2


@pytest.mark.parametrize("power", [41, 42, 43, 44])
def test_weights_with_a_fraction_are_importances_at_every_scale(power: int) -> None:
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(100, 3)), rng.integers(0, 2, 100), rng.uniform(0.5, 1, 100)
    model = TreeClassifier(min_samples_leaf=5, pruning=None).fit(X, y, weights)
    scaled = TreeClassifier(min_samples_leaf=5, pruning=None).fit(X, y, weights * 2.0**power)
    assert scaled.to_frame()["size"].tolist() == model.to_frame()["size"].tolist()
    assert scaled.to_frame()["test"].tolist() == model.to_frame()["test"].tolist()


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio"])
def test_copies_beyond_what_gain_counts_exactly_are_refused(criterion: str) -> None:
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    weights = np.array([1, 1, 1, 2**46])
    with pytest.raises(WeightError, match=r"exactly up to 2\*\*46 copies.*divide the weights"):
        TreeClassifier(criterion, pruning=None).fit(X, y, weights)
    assert TreeClassifier("gini", pruning=None).fit(X, y, weights).get_n_leaves() == 4
