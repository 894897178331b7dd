"""Trees in real use: untidy tables, and missing values, weights, costs and pruning together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sortal import TreeClassifier
from sortal.errors import MissingValueWarning, UnknownCategoryWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Many tables here are noise, of which pruning rightly leaves one leaf; some have one class.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning"),
    pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning"),
]

WHOLE: Final = ("direction", "branch", "majority")  # rows stay whole
POLICIES: Final = (*WHOLE, "fractional")
# Every example grows and prunes a dozen trees.
FEW: Final = settings(max_examples=10)
every_policy = pytest.mark.parametrize("missing", POLICIES)


def grow(X: Any, y: Any, weights: Any = None, **options: Any) -> TreeClassifier:
    """A tree that is not pruned, unless it is asked for."""
    return TreeClassifier(**{"pruning": None, **options}).fit(X, y, weights)


N: Final = 1100
SAID: Final = {"no": 0, "yes": 1, "later": 2}


@cache
def wild_rows() -> pd.DataFrame:
    """Whatever a table may hold, mostly with missing values; `full` and `constant` have none."""
    rng = np.random.default_rng(0)
    label = rng.choice(list(SAID), N, p=[0.5, 0.3, 0.2])
    k = np.array([SAID[name] for name in label])
    names = np.array([f"u{i:03d}" for i in range(1000)], dtype=object)
    users = np.concatenate([np.arange(1000), rng.integers(0, 1000, N - 1000)])
    word = np.array(list("abcd"), dtype=object)[(k + rng.integers(0, 2, N)) % 4]
    days = pd.to_timedelta(rng.integers(0, 400, N) + 100 * k, unit="D")

    def incomplete(values: Any, part: float = 0.1) -> pd.Series:
        return pd.Series(values).mask(rng.random(N) < part)

    frame = pd.DataFrame(
        {
            "word": incomplete(word),
            "x": incomplete(rng.normal(size=N) + k),
            "count": incomplete(pd.array(rng.integers(0, 9, N) + k, dtype="Int64")),
            "when": incomplete(pd.Timestamp("2020-01-01") + days),
            "member": incomplete(pd.array(rng.random(N) < 0.3 + 0.2 * k, dtype="boolean")),
            "user": incomplete(names[users], 0.02),
            "no word": pd.Series([None] * N, dtype=object),
            "no number": np.full(N, np.nan),
            "constant": "same",
            "full": rng.integers(0, 5, N),
            "label": label,
        }
    )
    return frame.assign(**{"x again": frame["x"], "word again": frame["word"]})


def wild() -> pd.DataFrame:
    return wild_rows().copy()


@cache
def grown_wild(missing: str) -> TreeClassifier:
    """The tree of a policy; none who asks it changes it."""
    return grow(wild(), "label", missing=missing)


def strange() -> pd.DataFrame:
    """Rows to come: missing values where the fit had none, and values that it never saw."""
    rows = wild()[:6].drop(columns="label")
    rows.loc[0, ["constant", "word", "x"]] = None
    rows["full"] = rows["full"].astype("Int64")
    rows.loc[1, "full"] = None
    rows.loc[2:3, "word"] = "never seen"
    rows.loc[4, "user"] = "u9999"
    return rows


BACKENDS: Final[dict[str, Callable[[pd.DataFrame], Any]]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def read_in_full(model: TreeClassifier, rows: Any, n: int) -> None:
    """All that a tree says of itself and of rows can be had."""
    shares = model.predict_proba(rows)
    assert shares.shape == (n, 3)
    assert_allclose(shares.sum(axis=1), 1)
    said = model.predict(rows)
    assert set(said) <= set(SAID)
    why = model.explain(rows)
    assert len(why) == n
    assert [one.label for one in why[:3]] == said[:3].tolist()
    assert str(why[0])
    assert len(model.rules()) == model.get_n_leaves()
    assert str(model.rules(by="class"))
    assert model.to_text().startswith("root: n ")
    assert "<svg" in model.to_svg()
    assert "<" in model.to_html()
    assert len(model.to_frame()) == len(model._model.kind)


# Every policy and every library.
WILD: Final = list(zip(POLICIES, [*BACKENDS, "pandas"], strict=True))


@pytest.mark.parametrize(("missing", "backend"), WILD)
def test_tables_of_the_wild_need_no_preparation(missing: str, backend: str) -> None:
    table = BACKENDS[backend](wild())
    model = grow(table, "label", missing=missing, n_jobs=3)  # a warning would be an error here
    assert model.to_text() == grown_wild(missing).to_text()
    read_in_full(model, table, N)
    assert len(model.working(0, table, "label")["tests"].rows) == 12  # one line a column
    assert model.score(table, "label") > 0.9
    assert type(model.to_frame()) is type(model.rules().to_frame()) is type(table)
    assert model.fit_report_.missing["no word"] == model.fit_report_.missing["no number"] == N
    assert not {"no word", "no number", "constant"} & set(asked(model))
    assert not {"x again", "word again"} & set(asked(model))  # of equal columns the first


def asked(model: TreeClassifier) -> list[str]:
    """The columns of a tree's tests."""
    places = model._model.attribute[model._model.kind > 0]
    return [model._schema.names[j] for j in places]


PRUNINGS: Final[dict[str, dict[str, Any]]] = {
    "by number": {"pruning": "cost_complexity", "cp": 0.01},
    "by folds": {"pruning": "cost_complexity", "cv": 3},
    "by rows held out": {"pruning": "reduced_error"},
    "by estimates": {"pruning": "pessimistic"},
    "joined": {"pruning": None, "join_leaves": True},
}


# rows that judge a tree may hold words that its fit has not met
may_meet_words = pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")


@pytest.mark.parametrize(("missing", "backend"), WILD)
def test_rows_to_come_are_read_and_what_is_new_in_them_is_told(missing: str, backend: str) -> None:
    model = grown_wild(missing)
    for ask in (model.predict, model.predict_proba, model.apply, model.explain):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert len(ask(BACKENDS[backend](strange()))) == 6
        assert [one.category for one in told] == [MissingValueWarning, UnknownCategoryWarning]
        is_nan, unknown = (str(one.message) for one in told)
        assert is_nan.startswith("2 cells ('constant' 1, 'full' 1) have no value; they ")
        assert ("go down every branch" in is_nan) == (missing == "fractional")
        assert "3 cells ('word' 2, 'user' 1) hold values never seen at fit" in unknown
        assert "the branch of larger weight" in unknown


@every_policy
def test_a_column_may_lose_all_values_or_gain_its_first(missing: str) -> None:
    model = grown_wild(missing)
    rows = wild()[:5].drop(columns="label")
    for name in ("word", "x", "when", "member", "user", "no word", "no number"):
        empty = pd.Series([None] * 5, dtype=object)
        assert len(model.predict(rows.assign(**{name: empty}))) == 5
        assert len(model.predict(pl.from_pandas(rows).with_columns(pl.lit(None).alias(name)))) == 5
    assert_array_equal(model.predict(rows.assign(**{"no number": 1.5})), model.predict(rows))
    with pytest.warns(UnknownCategoryWarning, match="'no word' 5"):
        first = model.predict(rows.assign(**{"no word": "first"}))
    assert_array_equal(first, model.predict(rows))


CLASSES: Final = np.array(["ash", "birch", "elm"])
COSTS: Final = np.array([[0.0, 1, 4], [2, 0, 1], [3, 5, 0]])
COUNTING: Final[dict[str, dict[str, Any]]] = {
    "plain": {},
    "class_weight": {"class_weight": {"ash": 3, "elm": 2}},
    "costs": {"costs": COSTS},
    "both": {"class_weight": "balanced", "costs": COSTS},
    "priors": {"priors": {"ash": 0.2, "birch": 0.7, "elm": 0.1}, "smoothing": "shrinkage"},
}


@dataclass(frozen=True)
class Rows:
    X: pd.DataFrame
    y: NDArray[Any]
    weights: NDArray[np.int64]

    def take(self, places: Any) -> Rows:
        X = self.X.iloc[places].reset_index(drop=True)
        return Rows(X, self.y[places], self.weights[places])

    def copies(self) -> Rows:
        """In another order, which must not matter either."""
        order = np.random.default_rng(0).permutation(
            np.repeat(np.arange(len(self.y)), self.weights)
        )
        rows = self.take(order)
        return Rows(rows.X, rows.y, np.ones(len(rows.y), dtype=np.int64))


def incomplete_rows(seed: int, n: int = 60, part: float = 0.15) -> Rows:
    """A number of many values, one of few, words; every class occurs."""
    rng = np.random.default_rng(seed)
    k = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    X = pd.DataFrame(
        {
            "many": rng.normal(size=n) + k / 2,
            "word": pd.Series(np.array(list("abcde"), object)[(k + rng.integers(0, 3, n)) % 5]),
            "few": rng.integers(0, 4, n) + k % 2 / 1.0,
        }
    )
    return Rows(X.mask(rng.random(X.shape) < part), CLASSES[k], rng.integers(1, 4, n))


seeds: Final = st.integers(0, 10**9)
policies: Final = st.sampled_from(POLICIES)
whole_policies: Final = st.sampled_from(WHOLE)
countings: Final = st.sampled_from(list(COUNTING))
splits: Final = st.sampled_from(["subset", "multiway"])


def prune_all(model: TreeClassifier, judges: Rows) -> dict[str, TreeClassifier]:
    """Each way of pruning that does not deal rows out."""
    return {
        "number": model.prune("cost_complexity", cp=0.05),
        "estimates": model.prune("pessimistic"),
        "joined": model.prune(None, join_leaves=True),
        "others": model.prune("reduced_error", judges.X, judges.y, sample_weight=judges.weights),
    }


def nodes(model: TreeClassifier) -> pd.DataFrame:
    return model.to_frame(max_values=None)


@may_meet_words
@FEW
@given(seeds, policies, countings, splits)
@example(0, "fractional", "class_weight", "subset")  # costs of parts equal but for rounding
def test_weights_are_copies(seed: int, missing: str, counting: str, split: str) -> None:
    rows, judges = incomplete_rows(seed), incomplete_rows(seed + 1, 40)
    options = {"missing": missing, "categorical_split": split, **COUNTING[counting]}
    model = grow(rows.X, rows.y, rows.weights, **options)
    twin = grow(rows.copies().X, rows.copies().y, **options)
    made = {"grown": model, **prune_all(model, judges)}
    twins = {"grown": twin, **prune_all(twin, judges.copies())}
    for way, one in made.items():
        pd.testing.assert_frame_equal(nodes(one), nodes(twins[way]), rtol=1e-9, obj=way)
        assert_allclose(one.predict_proba(judges.X), twins[way].predict_proba(judges.X), rtol=1e-9)


@pytest.mark.full
@FEW
@given(seeds, policies, splits, st.sampled_from([1.0, 0.3]))
def test_costs_of_zero_and_one_change_nothing(
    seed: int, missing: str, split: str, one: float
) -> None:
    rows = incomplete_rows(seed)
    options = {"missing": missing, "categorical_split": split}
    for way, how in PRUNINGS.items():
        plain = grow(rows.X, rows.y, rows.weights, **options, **how)
        costs = one * (1 - np.eye(3))
        same = grow(rows.X, rows.y, rows.weights, **options, **how, costs=costs)
        assert same.to_text() == plain.to_text(), way
        assert str(same.fit_report_) == str(plain.fit_report_)
        assert_array_equal(same.predict_proba(rows.X), plain.predict_proba(rows.X))
        assert getattr(same, "cp_table_", None) == getattr(plain, "cp_table_", None)


@FEW
@given(seeds, policies, countings, splits)
def test_to_prune_afterwards_is_to_prune_at_fit(
    seed: int, missing: str, counting: str, split: str
) -> None:
    rows = incomplete_rows(seed)
    options = {"missing": missing, "categorical_split": split, **COUNTING[counting]}
    grown = grow(rows.X, rows.y, rows.weights, **options)
    before = grown.to_text()
    again = {"X": rows.X, "y": rows.y, "sample_weight": rows.weights}
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"pruning": "cost_complexity", "cp": 0.03}, {}),
        ({"pruning": "cost_complexity", "cp": "min", "cv": 3}, again),
        ({"pruning": "pessimistic", "confidence": 0.5}, {}),
        ({"pruning": "pessimistic", "join_leaves": True}, {}),
        ({"pruning": None, "join_leaves": True}, {}),
    ]
    for how, given_rows in ways:
        fitted = grow(rows.X, rows.y, rows.weights, **options, **how)
        pruned = grown.prune(**how, **given_rows)
        assert pruned.to_text() == fitted.to_text(), how
        assert str(pruned.fit_report_) == str(fitted.fit_report_)
        assert str(pruned.get_params()) == str(fitted.get_params())
        assert getattr(pruned, "cp_table_", None) == getattr(fitted, "cp_table_", None)
        told = f"pruned from {grown.get_n_leaves()} to"
        assert told in str(pruned.fit_report_) or how["pruning"] is None
        assert_array_equal(pruned.predict_proba(rows.X), fitted.predict_proba(rows.X))
    assert (grown.to_text(), grown.pruning) == (before, None)
    assert not hasattr(grown, "cp_table_")


def recount(model: TreeClassifier, rows: Rows) -> NDArray[np.float64]:
    """The weight of each class that passes each node, from the paths of the rows."""
    hot = (rows.y[:, None] == model.classes_) * rows.weights[:, None]
    return np.asarray(model.decision_path(rows.X).T @ hot, dtype=np.float64)


@may_meet_words
@FEW
@given(seeds, whole_policies, countings, splits)
def test_counts_are_those_of_the_rows_that_come(
    seed: int, missing: str, counting: str, split: str
) -> None:
    rows, judges = incomplete_rows(seed), incomplete_rows(seed + 1, 40)
    options = {"missing": missing, "categorical_split": split, **COUNTING[counting]}
    model = grow(rows.X, rows.y, rows.weights, **options)
    for way, pruned in {"grown": model, **prune_all(model, judges)}.items():
        counts = nodes(pruned)[[f"n({name})" for name in CLASSES]].to_numpy()
        assert_array_equal(counts, recount(pruned, rows), err_msg=way)


def validate_by_hand(
    rows: Rows, folds: NDArray[np.int64], options: dict[str, Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Costs of rows left out, from trees that are fitted, pruned and asked one by one."""
    costs = np.asarray(options.get("costs", 1 - np.eye(3)), dtype=np.float64)
    whole = grow(rows.X, rows.y, rows.weights, **options)
    path = whole.cost_complexity_path()
    totals = np.array([rows.weights[rows.y == name].sum() for name in CLASSES])
    root, total = (totals @ costs).min(), totals.sum()
    between = [np.inf, *np.sqrt(np.multiply(path.cp[:-1], path.cp[1:]))]
    paid = np.zeros((len(between), len(rows.y)))
    true = np.searchsorted(CLASSES, rows.y)
    for fold in np.unique(folds):
        out = folds == fold
        part, rest = rows.take(out), rows.take(~out)
        tree = grow(rest.X, rest.y, rest.weights, **options)
        own = (np.array([rest.weights[rest.y == name].sum() for name in CLASSES]) @ costs).min()
        for i, cp in enumerate(between):
            price = cp * root * (rest.weights.sum() / total) / own
            pruned = tree.prune("cost_complexity", cp=min(price * (1 + 1e-12), 1e9))
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # a fold may lack missing values or values of the whole
                said = np.searchsorted(CLASSES, pruned.predict(part.X))
            paid[i, out] = costs[true[out], said]
    cost, squares = paid @ rows.weights, paid**2 @ rows.weights
    return cost / root, np.sqrt(np.maximum(squares - cost**2 / total, 0)) / root


@pytest.mark.parametrize(
    ("missing", "counting", "split"),
    [
        ("direction", "costs", "multiway"),
        ("branch", "plain", "subset"),
        ("majority", "costs", "subset"),
        ("majority", "plain", "multiway"),
    ],
)
def test_cross_validation_with_missing_values_is_what_one_would_do_by_hand(
    missing: str, counting: str, split: str
) -> None:
    rows = incomplete_rows(5, 90)
    folds = np.arange(90) // 3 % 4
    options = {"missing": missing, "categorical_split": split, **COUNTING[counting]}
    model = grow(rows.X, rows.y, rows.weights, **options, pruning="cost_complexity", cv=folds)
    errors, deviations = validate_by_hand(rows, folds, options)
    assert_allclose(model.cp_table_.cv_error or (), errors, rtol=1e-10)
    assert_allclose(model.cp_table_.cv_deviation or (), deviations, rtol=1e-10)


def reduce_by_hand(
    tree: TreeClassifier, judges: Rows, costs: NDArray[np.float64]
) -> list[tuple[Any, ...]]:
    """What is left of each node's line, from the last node to the first."""
    frame = nodes(tree)
    true, ends = np.searchsorted(CLASSES, judges.y), tree.apply(judges.X)
    passing = tree.decision_path(judges.X).toarray().T.astype(bool)
    kept: dict[int, list[tuple[Any, ...]]] = {}
    least: dict[int, float] = {}
    for t in reversed(range(len(frame))):
        line = frame.iloc[t]
        pay = judges.weights * costs[true, np.searchsorted(CLASSES, line["prediction"])]
        below = frame.index[frame["parent"] == t].tolist()
        alone = pay[passing[t]].sum()
        apart = pay[ends == t].sum() + sum(least[b] for b in below)
        told = (line["depth"], line["n"], line["prediction"])
        if not below or alone <= apart:
            kept[t], least[t] = [("", *told)], alone
        else:
            kept[t] = [(line["test"], *told), *(one for b in below for one in kept[b])]
            least[t] = apart
    return kept[0]


@may_meet_words
@FEW
@given(seeds, whole_policies, st.sampled_from(["plain", "costs"]), splits)
def test_reduced_error_of_rows_with_missing_values_and_unknown_values(
    seed: int, missing: str, counting: str, split: str
) -> None:
    rows, judges = incomplete_rows(seed), incomplete_rows(seed + 1, 50, part=0.25)
    judges.X.loc[judges.X["word"] == "a", "word"] = "never seen"
    options = {"missing": missing, "categorical_split": split, **COUNTING[counting]}
    grown = grow(rows.X, rows.y, rows.weights, **options)
    again = (judges.X, judges.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)
        pruned = grown.prune("reduced_error", *again, sample_weight=judges.weights)
        costs = np.asarray(options.get("costs", 1 - np.eye(3)), dtype=np.float64)
        by_hand = reduce_by_hand(grown, judges, costs)
    made = nodes(pruned)[["test", "depth", "n", "prediction"]]
    assert list(made.itertuples(index=False, name=None)) == by_hand


@may_meet_words
@FEW
@given(seeds, countings, st.sampled_from([None, "laplace", "m_estimate", "shrinkage"]))
def test_parts_of_rows_add_up(seed: int, counting: str, smoothing: str | None) -> None:
    rows, others = incomplete_rows(seed), incomplete_rows(seed + 1, 40, part=0.5)
    options = {"missing": "fractional", "smoothing": smoothing, **COUNTING[counting]}
    model = grow(rows.X, rows.y, rows.weights, **options)
    for tree in (model, *prune_all(model, others).values()):
        assert_allclose(tree.predict_proba(others.X).sum(axis=1), 1, rtol=1e-12)
        frame = nodes(tree)
        leaves = frame[frame["test"] == ""]
        assert_allclose(leaves["n"].sum(), rows.weights.sum(), rtol=1e-9)


def test_parts_follow_the_weight_that_classes_count_for() -> None:
    X, y = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6, 7, np.nan]}), list("ppqqqqqq")
    missing = pd.DataFrame({"x": [np.nan]})
    by_class = grow(X, y, missing="fractional", max_depth=1, class_weight={"p": 10, "q": 1})
    by_row = grow(X, y, [10, 10, 1, 1, 1, 1, 1, 1], missing="fractional", max_depth=1)
    assert_allclose(by_class.predict_proba(missing), by_row.predict_proba(missing), rtol=1e-9)
    assert by_class.apply(missing).tolist() == by_row.apply(missing).tolist()


@pytest.mark.parametrize("options", [{"class_weight": "balanced"}, {"priors": [0.2, 0.3, 0.5]}])
def test_a_fold_may_lack_a_class(options: dict[str, Any]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.array([*["p", "q"] * 29, "p", "r"])
    model = grow(X, y, pruning="cost_complexity", **options)
    assert np.isfinite(model.cp_table_.cv_error or np.nan).all()
    assert model.classes_.tolist() == ["p", "q", "r"]


def test_strangers_of_an_order_are_judged_where_predict_sends_them() -> None:
    order = pd.Categorical(list("abc" * 4), categories=list("abc"), ordered=True)
    model = grow(pd.DataFrame({"o": order}), list("ppq" * 4))
    strangers = pd.DataFrame({"o": list("zzz")})
    told = r"3 cells \('o' 3\) hold values never seen"
    with pytest.warns(UnknownCategoryWarning, match=told):
        assert model.predict(strangers).tolist() == ["p"] * 3
    with pytest.warns(UnknownCategoryWarning, match=told):
        assert model.prune("reduced_error", strangers, list("qqq")).get_n_leaves() == 1


def test_a_leaf_says_that_its_tests_were_pruned() -> None:
    rows = incomplete_rows(5, 200)
    model = grow(rows.X, rows.y, pruning="pessimistic")
    nodes_of = model.to_frame()
    leaf = int(nodes_of.index[(nodes_of["test"] == "") & (nodes_of["purity"] < 1)][0])
    (row,) = model.working(leaf)["test"].rows
    assert "its tests were pruned" in str(row[-1])


def test_no_part_of_a_row_is_lost_beside_large_weights() -> None:
    for seed in (0, 37):  # the second parts a row into nothing where parts may vanish
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({name: rng.choice(list("abcd"), 40).astype(object) for name in "uvw"})
        X = X.assign(x=rng.normal(size=40)).mask(rng.random((40, 4)) < 0.35)
        options = {
            "missing": "fractional",
            "categorical_split": "multiway",
            "pruning": "pessimistic",
        }
        y, weights = rng.integers(0, 3, 40), 10 ** rng.uniform(-12, 0, 40)
        for class_weight in (None, "balanced"):
            model = grow(X, y, weights, **options, class_weight=class_weight)
            assert np.isfinite(model.predict_proba(X)).all()
