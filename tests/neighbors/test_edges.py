"""Missing values, ties, copies, unknown words, kinds of columns, columns that say nothing."""

import math
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.kernels.tables import iris, pairs
from tests.neighbors.oracle import VOTINGS
from tests.neighbors.tables import METRICS

from sortal import NeighborsClassifier
from sortal.errors import MissingValueWarning, UnknownCategoryWarning
from sortal.neighbors.learn import Metric, Voting

NAN: Final = math.nan
every_voting = pytest.mark.parametrize("voting", VOTINGS)
plain_metrics = pytest.mark.parametrize("metric", METRICS[:3])
quiet = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

LINE: Final = np.array([[0.0], [1.0], [3.0], [3.0], [6.0]])
LABELS: Final = np.array(list("abbab"))
TREES: Final = pd.DataFrame(
    {"size": [1.0, 2.0, 5.0, 5.0], "leaf": ["elm", "elm", "oak", "fir"], "old": list("yyyy")}
)
KINDS: Final = np.array(["x", "x", "y", "y"])


def on_line(k: Any = 3, **more: Any) -> NeighborsClassifier:
    weight = more.pop("sample_weight", None)
    more = {"metric": "manhattan", "scale": None, **more}
    return NeighborsClassifier(k, **more).fit(LINE, LABELS, sample_weight=weight)


# --- Missing values
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski", "gower", "mahalanobis"])
def test_a_query_of_which_nothing_is_known(metric: Metric) -> None:
    """Nobody is its neighbor, and the prior stands."""
    X = np.array([[1.0, 2.0], [2.0, 0.0], [4.0, 4.0], [3.0, 1.0], [0.0, 5.0]])
    model = NeighborsClassifier(2, metric).fit(X, LABELS)
    with pytest.warns(MissingValueWarning, match="left out of the distance"):
        proba = model.predict_proba([[NAN, NAN], [1.0, 2.0]])
    assert_allclose(proba[0], [0.4, 0.6], rtol=1e-14)
    with pytest.warns(MissingValueWarning):
        distances, ids = model.kneighbors([[NAN, NAN]])
    assert ids.tolist() == [[-1, -1]]
    assert np.isposinf(distances).all()
    with pytest.warns(MissingValueWarning):
        assert model.predict([[NAN, NAN]]).tolist() == ["b"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"priors": {"a": 0.9, "b": 0.1}}, [0.9, 0.1]),
        ({"class_weight": {"a": 3.0}}, [6 / 9, 3 / 9]),
        ({"class_weight": "balanced"}, [0.5, 0.5]),
        ({"priors": [0.9, 0.1], "class_weight": {"a": 3.0}}, [0.9, 0.1]),
    ],
)
@quiet
def test_the_prior_that_stands(more: dict[str, Any], expected: list[float]) -> None:
    proba = on_line(**more).predict_proba([[NAN]])
    assert_allclose(proba, [expected], rtol=1e-14)


@quiet
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski", "hamming", "gower"])
def test_a_row_of_which_nothing_is_known(metric: Metric) -> None:
    """It is kept, has an id and a weight, and is nobody's neighbor."""
    X = np.array([[1.0, 2.0], [NAN, NAN], [4.0, 4.0], [3.0, 1.0], [0.0, 5.0]])
    model = NeighborsClassifier(2, metric).fit(X, LABELS)
    assert model.ids_.tolist() == [0, 1, 2, 3, 4]
    assert model.fit_report_.missing == dict.fromkeys(model.fit_report_.missing, 1)
    assert sum(model.fit_report_.missing.values()) == 2
    ids = model.kneighbors(X[[0, 2]], n_neighbors=5)[1]
    assert 1 not in ids
    assert (ids[:, -1] == -1).all()
    own = model.kneighbors(n_neighbors=2)[1]
    assert own[1].tolist() == [-1, -1]
    assert_allclose(model.loo_proba(X, LABELS)[1], [0.5, 0.5], rtol=1e-14)  # 2 a, 2 b are left


@quiet
def test_a_column_of_missing_values_is_left_out() -> None:
    X = np.c_[LINE, np.full(5, NAN)]
    model = NeighborsClassifier(3, "manhattan", scale=None).fit(X, LABELS)
    assert_array_equal(model.kneighbors(X)[0], on_line().kneighbors(LINE)[0])
    known = np.c_[LINE, np.full(5, 7.0)]
    assert_array_equal(model.kneighbors(known)[0], on_line().kneighbors(LINE)[0])
    assert model.fit_report_.notes == ("column 'x1' has no value and is left out",)
    words = pd.DataFrame({"size": LINE[:, 0], "leaf": pd.Series([None] * 5, dtype="string")})
    gower = NeighborsClassifier(3, "gower").fit(words, LABELS)
    assert_allclose(gower.kneighbors(words)[0], on_line().kneighbors(LINE)[0] / 6, rtol=1e-15)
    assert any("leaf" in note for note in gower.fit_report_.notes)


# --- Ties and copies -----------------------------------------------------------------------------


@every_voting
@plain_metrics
def test_all_rows_are_equal(metric: Metric, voting: Voting) -> None:
    """The first k of them decide, wherever the query lies."""
    X = np.full((5, 2), 3.0)
    model = NeighborsClassifier(3, metric, scale=None, weights=voting).fit(X, LABELS)
    distances, ids = model.kneighbors([[3.0, 3.0], [0.0, 3.0]])
    assert ids.tolist() == [[0, 1, 2]] * 2
    assert_array_equal(distances, [[0.0] * 3, [3.0] * 3])
    expected = [[0.5, 0.5]] if voting == "rank" else [[1 / 3, 2 / 3]]
    assert_allclose(model.predict_proba([[3.0, 3.0], [0.0, 3.0]]), expected * 2, rtol=1e-14)


def test_weights_fill_places_in_part() -> None:
    weight = [1.0, 0.5, 2.0, 0.0, 0.5]  # 1 on average
    model = on_line(3, sample_weight=weight)
    assert model.ids_.tolist() == [0, 1, 2, 4]
    assert_allclose(model.predict_proba([[2.5]]), [[0.5 / 3, 2.5 / 3]], rtol=1e-14)
    assert model.kneighbors([[2.5]])[1].tolist() == [[2, 1, 0]]  # rows, whatever their weights
    ranks = on_line(3, sample_weight=weight, weights="rank")
    votes = np.array([0.5 * (3.5 - 2.75), 2 * (3.5 - 1) + 0.5 * (3.5 - 2.25)])
    assert_allclose(ranks.predict_proba([[2.5]]), [votes / votes.sum()], rtol=1e-14)


@pytest.mark.parametrize(
    ("voting", "unit"), [("uniform", 0.2), ("rank", 1e-40), ("triangular", 1e3 / 7)]
)
def test_fractional_weights_have_no_unit(voting: str, unit: float) -> None:
    """Equal weights are as none, as those that sum to 1 are; others count by their ratios."""
    queries = [[0.0], [2.9], [4.0], [100.0]]
    alike = on_line(3, weights=voting, sample_weight=np.full(5, unit))
    assert (alike.predict_proba(queries) == on_line(3, weights=voting).predict_proba(queries)).all()
    weight = np.array([1.0, 0.5, 2.0, 0.75, 1.0])
    one = on_line(3, weights=voting, sample_weight=weight)
    other = on_line(3, weights=voting, sample_weight=weight * unit)
    assert_allclose(one.predict_proba(queries), other.predict_proba(queries), rtol=1e-12)


def test_fewer_rows_with_weight_than_places_vote_as_they_are() -> None:
    model = on_line(5, sample_weight=[0.5, 1e-30, 0.25, 0.0, 1e-30])  # boosting makes such weights
    assert model.ids_.tolist() == [0, 2]
    assert_allclose(model.predict_proba([[0.0]]), [[2 / 3, 1 / 3]], rtol=1e-14)


def test_equal_votes_go_to_the_class_that_sorts_first() -> None:
    """Ten rows at distance 10 beside one at 1, whose sum is 1 but for rounding."""
    X = np.array([[1.0], *[[10.0]] * 10])
    tenths = NeighborsClassifier(11, "manhattan", scale=None, weights="distance")
    tenths.fit(X, list("baaaaaaaaaa"))
    assert sum([0.1] * 10) < 1
    assert tenths.predict([[0.0]]).tolist() == ["a"]
    assert tenths.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def test_votes_that_count_nothing_leave_the_prior() -> None:
    model = on_line(1, class_weight={"b": 0.0})
    assert model.predict_proba([[1.0], [0.0]]).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    told = on_line(1, priors={"a": 1.0})
    assert told.predict_proba([[1.0], [0.0]]).tolist() == [[1.0, 0.0], [1.0, 0.0]]


@pairs(metric=METRICS, voting=VOTINGS)
def test_one_row_a_class(metric: Metric, voting: Voting) -> None:
    X = np.array([[0.0, 1.0], [4.0, 0.0], [9.0, 9.0]])
    model = NeighborsClassifier(1, metric, weights=voting).fit(X, list("abc"))
    assert_array_equal(model.predict_proba(X), np.eye(3))
    assert (np.diag(model.loo_proba(X, list("abc"))) == 0).all()


def test_priors_of_a_row_left_out_alone() -> None:
    """Without its only row a class has no vote; the shares are those of the rows that stay."""
    X, y = np.array([[0.0], [1.0], [2.5]]), list("aab")
    model = NeighborsClassifier(2, "manhattan", scale=None, priors={"a": 0.5, "b": 0.5}).fit(X, y)
    found = model.loo_proba(X, y)
    assert_allclose(found[2], [1.0, 0.0], rtol=1e-14)
    assert_allclose(found[0], [0.5, 0.5], rtol=1e-14)  # one row each: factors 1
    assert_allclose(model.predict_proba([[0.9]]), [[1.0, 0.0]], rtol=1e-14)
    assert_allclose(model.predict_proba([[2.0]]), [[1 / 3, 2 / 3]], rtol=1e-14)


# --- Words ---------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("balance", [None, "balanced", {"a": 3.0}])
def test_other_priors_at_predict_are_those_of_a_fit(balance: Any) -> None:
    X, y = iris()
    weight = np.arange(len(y)) % 3
    rows, priors, costs = X.assign(petal_width=NAN), [0.7, 0.1, 0.2], 3.0 * (1 - np.eye(3))
    costs[1, 0] = 20.0
    classes = np.array(list("abc"))[np.unique(y, return_inverse=True)[1]]
    options: dict[str, Any] = {"weights": "distance", "class_weight": balance}
    given = NeighborsClassifier(7, **options, priors=priors, costs=costs)
    given.fit(X, classes, weight)
    plain = NeighborsClassifier(7, **options).fit(X, classes, weight)
    wanted = given.predict_proba(rows)
    assert_array_equal(
        plain.predict_proba(rows, priors=dict(zip("abc", priors, strict=True))), wanted
    )
    assert_array_equal(np.exp(plain.predict_log_proba(rows, priors=priors)) > 0, wanted > 0)
    assert_array_equal(plain.predict(rows, priors=priors, costs=costs), given.predict(rows))
    assert_array_equal(given.predict_proba(rows, priors=priors), wanted)
    assert not np.array_equal(plain.predict_proba(rows), wanted)
    lonely = on_line(3, weights="triangular")  # where nobody votes, the given priors stand
    assert_allclose(lonely.predict_proba([[NAN]], priors=[0.9, 0.1]), [[0.9, 0.1]])


def trees(**more: Any) -> NeighborsClassifier:
    return NeighborsClassifier(2, **more).fit(TREES, KINDS)


def of_trees(size: float, leaf: Any, old: Any = "y") -> pd.DataFrame:
    return pd.DataFrame({"size": [size], "leaf": [leaf], "old": [old]})


def test_unknown_words() -> None:
    """Sizes over 4; two columns of words, of which one never varies and yet counts."""
    query = of_trees(2.0, "yew")
    with pytest.warns(UnknownCategoryWarning, match="differ from every row"):
        distances, ids = trees().kneighbors(query)
    assert ids.tolist() == [[1, 0]]
    assert_allclose(distances, [[1 / 3, 1.25 / 3]], rtol=1e-15)
    with pytest.warns(UnknownCategoryWarning, match="leaf.*1"):
        distances, ids = trees(unknown="skip").kneighbors(query)
    assert_allclose(distances, [[0.0, 0.125]], rtol=1e-15)


@quiet
def test_all_words_unknown_and_left_out() -> None:
    model = NeighborsClassifier(2, "hamming", unknown="skip").fit(TREES[["leaf"]], KINDS)
    query = pd.DataFrame({"leaf": ["yew"]})
    assert model.kneighbors(query)[1].tolist() == [[-1, -1]]
    assert model.predict_proba(query).tolist() == [[0.5, 0.5]]
    other = NeighborsClassifier(2, "hamming").fit(TREES[["leaf"]], KINDS)
    assert other.kneighbors(query)[1].tolist() == [[0, 1]]
    assert other.kneighbors(query)[0].tolist() == [[1, 1]]


def test_hamming_counts_mismatches_of_anything() -> None:
    X = np.array([[0.0, 1.0, 5.0], [-0.0, 2.0, 5.0], [3.0, 1.0, 6.0], [3.0, 2.0, 6.0]])
    model = NeighborsClassifier(4, "hamming").fit(X, KINDS)
    distances, ids = model.kneighbors([[0.0, 1.0, 6.0], [-0.0, 1.0, 5.0]])
    assert ids.tolist() == [[0, 2, 1, 3], [0, 1, 2, 3]]
    assert distances.tolist() == [[1, 1, 2, 2], [0, 1, 2, 3]]
    assert model.scale_ == {}
    mixed = NeighborsClassifier(4, "hamming").fit(TREES, KINDS)
    assert mixed.kneighbors(TREES[3:])[0].tolist() == [[0, 1, 2, 2]]


def test_kinds_of_columns() -> None:
    """Truth values and ordered levels are equal or not; dates are days."""
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-11", "2024-01-05"])
    levels = pd.Categorical(["low", "high", "mid", "low"], ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"day": days, "level": levels, "old": [True, False, True, True]})
    model = NeighborsClassifier(4).fit(frame, KINDS)
    assert model.metric_ == "gower"
    assert model.scale_ == {"day": 10.0}
    distances, ids = model.kneighbors(frame[:1])
    assert ids.tolist() == [[0, 3, 2, 1]]
    assert_allclose(distances, [[0, 0.4 / 3, 2 / 3, 2.2 / 3]], rtol=1e-15)
    dates = NeighborsClassifier(4, scale=None).fit(frame[["day"]], KINDS)
    assert dates.metric_ == "euclidean"
    assert dates.kneighbors(frame[["day"]][:1])[0].tolist() == [[0, 2, 4, 10]]


def test_a_level_that_no_row_has_is_unknown() -> None:
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"level": pd.Series(["low", "mid"] * 2, dtype=levels)})
    model = NeighborsClassifier(1).fit(frame, list("abab"))
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        model.predict(pd.DataFrame({"level": pd.Series(["high"], dtype=levels)}))


def test_hamming_takes_numbers_and_dates_as_they_are() -> None:
    frame = pd.DataFrame({
        "x": [0.0, 1.5, 2.5],
        "n": [2**60, 2**60 + 1, 3],
        "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]),
        "w": ["u", "v", "v"],
    })  # fmt: skip
    model = NeighborsClassifier(1, "hamming").fit(frame, ["a", "b", "b"])
    distances, ids = model.kneighbors(frame[:1].assign(x=-0.0), 3)
    assert distances.tolist() == [[0.0, 4.0, 4.0]]
    assert ids.tolist() == [[0, 1, 2]]


# --- Columns that never vary ---------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["auto", "euclidean", "manhattan", "minkowski", "gower"])
def test_columns_that_never_vary_are_left_out_when_scaled(metric: Metric) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["long", "wide"])
    still = frame.assign(still=4.5)[["long", "still", "wide"]]
    y = np.arange(20) % 2
    one, other = (NeighborsClassifier(3, metric).fit(table, y) for table in (frame, still))
    assert list(other.scale_) == ["long", "wide"]
    assert other.scale_ == one.scale_
    assert any("still" in note for note in other.fit_report_.notes)
    asked = still.assign(still=100.0)
    for found, expected in zip(other.kneighbors(asked), one.kneighbors(frame), strict=True):
        assert_array_equal(found, expected)
    unscaled = NeighborsClassifier(3, "manhattan", scale=None).fit(still, y)
    plain = NeighborsClassifier(3, "manhattan", scale=None).fit(frame, y)
    assert_allclose(unscaled.kneighbors(asked)[0] - 95.5, plain.kneighbors(frame)[0], atol=1e-12)


@quiet
def test_a_column_left_out_is_not_counted_as_known() -> None:
    frame = pd.DataFrame({"long": [0.0, 4.0, 8.0, 6.0], "still": 1.0, "leaf": list("aabb")})
    model = NeighborsClassifier(4).fit(frame, KINDS)
    found = model.kneighbors(pd.DataFrame({"long": [2.0], "still": [1.0], "leaf": [None]}))
    assert_allclose(found[0], [[0.25, 0.25, 0.5, 0.75]], rtol=1e-15)
    assert found[1].tolist() == [[0, 1, 3, 2]]


def test_words_that_never_vary_stay() -> None:
    model = trees()
    with pytest.warns(UnknownCategoryWarning):
        distances, _ = model.kneighbors(of_trees(1.0, "elm", "n"))
    assert_allclose(distances, [[1 / 3, 1.25 / 3]], rtol=1e-15)


@pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")
def test_mahalanobis_in_a_plane() -> None:
    """A column that is the sum of others changes nothing, nor does one that never varies."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    plane = np.c_[X, X.sum(axis=1) * 1e3, np.full(30, 2.0)]
    one = NeighborsClassifier(4, "mahalanobis").fit(X, y)
    other = NeighborsClassifier(4, "mahalanobis").fit(plane, y)
    assert_allclose(other.kneighbors(plane)[0], one.kneighbors(X)[0], rtol=1e-7, atol=1e-7)
    assert_array_equal(other.kneighbors(plane)[1], one.kneighbors(X)[1])
    assert other.fit_report_.notes


# --- Lists of neighbors --------------------------------------------------------------------------


def test_kneighbors_without_distances() -> None:
    model: Any = on_line(2)
    assert model.kneighbors([[3.0]], return_distance=False).tolist() == [[2, 3]]
    assert model.kneighbors([[3.0]], 4, return_distance=False).tolist() == [[2, 3, 1, 0]]
    distances, ids = model.kneighbors()
    assert ids.tolist() == [[1, 2], [0, 2], [3, 1], [2, 1], [2, 3]]
    assert distances.tolist() == [[1, 3], [1, 2], [0, 2], [0, 2], [3, 3]]
    assert (ids.dtype, distances.dtype) == (np.int64, np.float64)


def test_rows_left_out_among_copies() -> None:
    """Only the row itself is left out, not those equal to it."""
    model = on_line(1)
    assert model.loo_proba(LINE, LABELS)[:, 0].tolist() == [0, 1, 1, 0, 0]
    weight = [1.0, 1.0, 5.0, 0.0, 1.0]
    weighed = on_line(1, sample_weight=weight)
    found = weighed.loo_proba(LINE, LABELS, sample_weight=weight)
    # a row goes with all its weight; one without weight is a query like any other
    assert found[:, 0].tolist() == [0, 1, 0, 0, 0]


def test_more_neighbors_are_listed_than_there_are() -> None:
    model = NeighborsClassifier(1, scale=None).fit(LINE, LABELS, [5, 0, 1, 1, 1])
    distances, ids = model.kneighbors([[0.5]], 6)
    assert ids.tolist() == [[0, 2, 3, 4, -1, -1]]  # rows, whatever they weigh
    assert distances.tolist() == [[0.5, 2.5, 2.5, 5.5, math.inf, math.inf]]


# --- What is kept and told -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [("float32", "float32"), ("float16", "float32"), ("float64", "float64"), ("int8", "float64")],
)
def test_numbers_are_kept_as_they_came_and_measured_in_float64(given: str, kept: str) -> None:
    cells = np.array([[0.1, 7.0], [0.7, 3.0], [12.3, 1.0]]).astype(given)
    asked = np.array([[0.3, 5.0]])
    model = NeighborsClassifier(1, scale=None).fit(cells, ["a", "b", "a"])
    assert model._model.numbers.dtype == kept
    assert not np.shares_memory(model._model.numbers, cells)
    wide = NeighborsClassifier(1, scale=None).fit(cells.astype(np.float64), ["a", "b", "a"])
    assert (model.kneighbors(asked, 3)[0] == wide.kneighbors(asked, 3)[0]).all()


def test_the_attributes_of_a_fit() -> None:
    X, y = iris()
    model = NeighborsClassifier().fit(X, y)
    assert (model.metric_, model.n_neighbors_, model.weights_) == ("euclidean", 5, "uniform")
    assert model.scale_ == pytest.approx(dict(X.std(ddof=0)))
    assert model.search_ in ("tree", "bytes", "bits", "scan")
    assert model.n_parameters_ == 150 * 5
