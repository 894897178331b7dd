"""The working of NeighborsClassifier: each table by hand, in the order in which one would work."""

from __future__ import annotations

import json
import math
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sortal import NeighborsClassifier, datasets
from sortal.errors import MissingValueWarning, OptionError, SortalWarning

if TYPE_CHECKING:
    from sortal.models.records import Table

# Three rows on a line and one beside it; distances from (0, 0) are 0, 3, 4 and 5.
CORNERS: Final = pd.DataFrame({"a": [0.0, 3.0, 0.0, 3.0], "b": [0.0, 0.0, 4.0, 4.0]})
LABELS: Final = ["p", "q", "p", "q"]
ORIGIN: Final = CORNERS[:1]
RESULTS: Final = ("sum", "distance", "part", "kernel", "vote")


def corners(**options: Any) -> Any:
    model = NeighborsClassifier(**{"n_neighbors": 3, "scale": None, **options})
    return model.fit(CORNERS, LABELS)


def numbers(table: Table, name: str) -> list[float]:
    return [float(cell) for cell in table.column(name) if cell is not None]


# --- Distances by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "equation", "a", "sums", "distances"),
    [
        ({"metric": "euclidean"}, "MSML euclidean", 9, [0, 9, 16, 25], [0, 3, 4, 5]),
        ({"metric": "manhattan"}, "MSML manhattan", 3, [0, 3, 4, 7], [0, 3, 4, 7]),
        (
            {"metric": "minkowski", "p": 3},
            "MSML minkowski",
            27,
            [0, 27, 64, 91],
            [0, 3, 4, 91 ** (1 / 3)],
        ),
        (
            {"metric": "minkowski", "p": math.inf},
            "MSML minkowski",
            3,
            [0, 3, 4, 4],
            [0, 3, 4, 4],
        ),
        ({"metric": "gower"}, "S 86", 3, [0, 3, 4, 7], [0, 1.5, 2, 3.5]),
        ({"metric": "hamming"}, "MSML hamming", 1, [0, 1, 1, 2], [0, 1, 1, 2]),
    ],
)
def test_distances_of_the_slides(
    options: dict[str, Any], equation: str, a: float, sums: list[float], distances: list[float]
) -> None:
    table = corners(**options).working(ORIGIN)["distances"]
    assert table.columns == ("query", "rank", "id", "class", "a", "b", *RESULTS)
    assert table.equation == equation
    assert table.column("query") == (0,) * 4
    assert table.column("rank") == (1, 2, 3, 4)
    assert table.column("id") == (0, 1, 2, 3)
    assert table.column("class") == tuple(LABELS)
    assert numbers(table, "a") == [0, a, 0, a]
    assert numbers(table, "sum") == sums
    assert numbers(table, "distance") == pytest.approx(distances, rel=1e-15)
    assert numbers(table, "part") == numbers(table, "vote") == [1, 1, 1, 0]


def test_mahalanobis_terms_add_up_to_the_square_of_the_distance() -> None:
    iris = datasets.iris()
    X = iris.drop(columns="species")
    working = NeighborsClassifier(metric="mahalanobis").fit(iris, "species").working(X[:2], most=9)
    table, inverse, rows = working["distances"], np.linalg.inv(np.cov(X.to_numpy().T)), X.to_numpy()
    assert table.equation == "S 87"
    for line in table.rows:
        z = rows[int(line[0] or 0)] - rows[int(line[2] or 0)]
        want = (z * (inverse @ z)).tolist()
        assert list(line[4:8]) == pytest.approx(want, rel=1e-9, abs=1e-12)
        assert line[8] == pytest.approx(sum(want), rel=1e-9, abs=1e-12)
        assert line[9] == pytest.approx(math.sqrt(z @ inverse @ z), abs=1e-12)
    names = list(X.columns)
    for name, matrix in (("covariance", np.cov(X.to_numpy().T)), ("inverse", inverse)):
        assert working[name].columns == ("", *names)
        found = np.array([row[1:] for row in working[name].rows], dtype=float)
        np.testing.assert_allclose(found, matrix, rtol=1e-9)
    assert working["inverse"].title == "S⁻¹"
    assert working["scale"].column("divided by") == (None,) * 4


def test_a_singular_covariance_has_a_pseudo_inverse() -> None:
    X = CORNERS.assign(c=CORNERS["a"] + CORNERS["b"])
    working = NeighborsClassifier(1, "mahalanobis").fit(X, LABELS).working()
    assert working["inverse"].title == "S⁺, the pseudo-inverse"
    found = np.array([row[1:] for row in working["inverse"].rows], dtype=float)
    np.testing.assert_allclose(found, np.linalg.pinv(np.cov(X.to_numpy().T)), atol=1e-12)


def test_a_hole_is_no_term_and_the_sum_is_stretched() -> None:
    asked = pd.DataFrame({"a": [3.0], "b": [np.nan]})
    with pytest.warns(MissingValueWarning):
        table = corners(metric="manhattan").working(asked)["distances"]
    assert table.columns == ("query", "rank", "id", "class", "a", "b", "known", *RESULTS)
    assert table.column("id") == (1, 3, 0, 2)
    assert table.column("b") == (None,) * 4
    assert table.column("known") == (1,) * 4
    assert table.column("a") == (0.0, 0.0, 3.0, 3.0)
    assert table.column("sum") == table.column("distance") == (0.0, 0.0, 6.0, 6.0)
    assert "added up · 2 / known, distance = sum" in table.title


def test_rows_that_have_no_column_in_common_are_not_listed() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, np.nan], "b": [1.0, np.nan, 2.0]})
    asked = pd.DataFrame({"a": [np.nan, np.nan], "b": [1.0, np.nan]})
    with pytest.warns(MissingValueWarning):
        working = NeighborsClassifier(1).fit(X, ["p", "q", "q"]).working(asked)
    assert working["distances"].column("id") == (0, 2)
    assert working["distances"].column("query") == (0, 0)
    assert [row[1:] for row in working["votes"].rows] == [
        *(("p", 1.0, 1.0), ("q", 0.0, 0.0)),
        *(("p", 0.0, 1 / 3), ("q", 0.0, 2 / 3)),  # nobody votes: the prior stands
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "euclidean"}, "sum = the columns added up, distance = √sum"),
        ({"metric": "minkowski", "p": 3}, "sum = the columns added up, distance = sum^(1/3)"),
        (
            {"metric": "minkowski", "p": math.inf},
            "sum = the largest of the columns, distance = sum",
        ),
        ({"metric": "gower"}, "sum = the columns added up, distance = sum / 2"),
    ],
)
def test_the_title_says_how_many_rows_and_what_is_added(options: dict[str, Any], said: str) -> None:
    model = corners(**options)
    whole, cut = model.working(CORNERS)["distances"], model.working(CORNERS, most=2)["distances"]
    assert whole.title == f"Distances, the nearest 4 of 4 rows (ids from 0): {said}"
    assert cut.title == f"Distances, the nearest 2 of 4 rows (ids from 0): {said}"
    assert cut.rows == tuple(row for row in whole.rows if row[1] in (1, 2))
    assert cut.column("query") == (0, 0, 1, 1, 2, 2, 3, 3)


def test_a_short_list_does_not_change_the_votes() -> None:
    model = corners(weights="triangular")
    assert model.working(CORNERS, most=1)["votes"] == model.working(CORNERS)["votes"]


# --- Any table -----------------------------------------------------------------------------------


@st.composite
def fits(draw: st.DrawFn) -> tuple[Any, pd.DataFrame]:
    metric = draw(st.sampled_from(["euclidean", "manhattan", "minkowski", "gower", "hamming"]))
    n, d = draw(st.integers(3, 9)), draw(st.integers(1, 4))
    cell = st.integers(-4, 4).map(lambda k: k / 3) | st.none()
    lines = draw(st.lists(st.tuples(*(cell for _ in range(d))), min_size=n, max_size=n))
    X = pd.DataFrame(lines, columns=[f"x{j}" for j in range(d)], dtype="float64")
    X.iloc[0], X.iloc[1] = -1.0, 1.0
    weight = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))
    model = NeighborsClassifier(
        draw(st.integers(1, int(sum(weight or [1] * n)))),
        metric,
        p=draw(st.sampled_from([1.3, 2.0, 3.0, math.inf])),
        weights=draw(st.sampled_from(["uniform", "distance", "gaussian", "rank"])),
    )
    y = ["p", "q", *("r" if i % 2 else "p" for i in range(n - 2))]
    return quietly(lambda X: model.fit(X, y, weight), X), X


def quietly(ask: Any, X: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return ask(X)


def root(model: Any, key: float, d: int) -> float:
    if model.metric_ == "gower":
        return key / d
    p = {"euclidean": 2.0, "minkowski": model.p}.get(model.metric_, 1.0)
    if p in (1.0, math.inf):
        return key
    return math.sqrt(key) if p == 2 else key ** (1 / p)


RANDOM: Final = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@RANDOM
@given(fits())
def test_lines_add_up_and_are_in_the_order_of_the_search(fit: tuple[Any, pd.DataFrame]) -> None:
    model, X = fit
    d, table = X.shape[1], quietly(model.working, X)["distances"]
    distances, ids = quietly(lambda X: model.kneighbors(X, len(X)), X)
    assert table.column("id") == tuple(ids[ids >= 0].tolist())
    assert table.column("distance") == tuple(distances[ids >= 0].tolist())
    at = {name: j for j, name in enumerate(table.columns)}
    largest = model.metric_ == "minkowski" and model.p == math.inf
    previous = (-1, 0.0, -1)
    for row in table.rows:
        line: Any = row
        terms = [term for term in line[4 : 4 + d] if term is not None]
        known = line[at["known"]] if "known" in at else d
        assert known == len(terms)
        total = max(terms) if largest else sum(terms) * d / known
        assert line[at["sum"]] == pytest.approx(total, rel=1e-14)
        assert line[at["distance"]] == pytest.approx(root(model, line[at["sum"]], d), rel=1e-14)
        order = (line[0], line[at["sum"]], line[2])
        assert order > previous  # by key and id, to the last bit
        previous = order


@RANDOM
@given(fits())
def test_votes_are_those_of_predict_to_the_last_bit(fit: tuple[Any, pd.DataFrame]) -> None:
    model, X = fit
    working, made = quietly(model.working, X), quietly(model.explain, X)
    votes = working["votes"]
    shape = len(X), len(model.classes_)
    assert votes.columns == ("query", "class", "votes", "P")
    assert votes.equation == "S 78"
    shares = np.array(numbers(votes, "P")).reshape(shape)
    np.testing.assert_array_equal(shares, quietly(model.predict_proba, X))
    cast = np.array(numbers(votes, "votes")).reshape(shape)
    assert cast.tolist() == [list(row.votes) for row in made]
    lines = working["distances"]
    for name in ("part", "kernel", "vote"):
        found = [
            x for x, part in zip(lines.column(name), lines.column("part"), strict=True) if part
        ]
        assert found == [getattr(n, name) for row in made for n in row.neighbors]
        rest = [x for x, p in zip(lines.column(name), lines.column("part"), strict=True) if not p]
        assert set(rest) <= {0.0}


# --- Scale and classes ---------------------------------------------------------------------------


def test_the_scale_says_what_each_column_is_divided_by() -> None:
    X = pd.DataFrame(
        {
            "size": [1.0, 2.0, 5.0, np.nan],
            "word": list("uvuv"),
            "same": [7.0] * 4,
            "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-11", "2024-01-02"]),
            "none": [np.nan] * 4,
        }
    )
    table = NeighborsClassifier(1).fit(X, LABELS).working()["scale"]
    assert table.columns == ("column", "kind", "divided by", "factor", "note")
    assert table.title == "Columns: differences are divided by the range"
    assert table.rows == (
        ("size", "number", 4.0, 0.25, ""),
        ("word", "category", None, None, "equal or not"),
        ("same", "number", None, None, "left out"),
        ("day", "date", 10.0, 0.1, ""),
        ("none", "number", None, None, "left out"),
    )


def test_the_scale_is_that_of_the_model() -> None:
    iris = datasets.iris()
    model = NeighborsClassifier().fit(iris, "species")
    table = model.working()["scale"]
    assert (
        dict(zip(table.column("column"), table.column("divided by"), strict=True)) == model.scale_
    )
    widths = numbers(table, "divided by")
    assert numbers(table, "factor") == [1 / width for width in widths]
    spread = iris.drop(columns="species").std(ddof=0)
    assert widths == pytest.approx(spread.tolist())
    assert table.title == "Columns: differences are divided by the standard deviation"


def test_without_a_scale_columns_are_divided_by_one() -> None:
    table = corners().working()["scale"]
    assert table.title == "Columns: differences are divided by nothing"
    assert table.column("divided by") == table.column("factor") == (1.0, 1.0)
    words = corners(metric="hamming", scale="auto").working()["scale"]
    assert words.title == "Columns: values are equal or not"
    assert words.column("divided by") == (None, None)


def test_classes_have_rows_weights_and_factors() -> None:
    model = NeighborsClassifier(1, class_weight={"p": 3.0}, priors={"p": 0.75, "q": 0.25})
    table = model.fit(CORNERS, LABELS, [1.0, 2.0, 0.5, 2.5]).working()["classes"]
    assert table.columns == ("class", "rows", "weight", "factor")
    assert [row[:3] for row in table.rows] == [("p", 2, 1.5), ("q", 2, 4.5)]
    assert numbers(table, "factor") == pytest.approx([3 * 0.75 / (1.5 / 6), 0.25 / (4.5 / 6)])


# --- Names and faces -----------------------------------------------------------------------------


def test_tables_come_in_working_order() -> None:
    model = corners()
    assert [table.name for table in model.working()] == ["scale", "classes"]
    rows = ["scale", "classes", "distances", "votes"]
    assert [table.name for table in model.working(ORIGIN)] == rows
    chosen = NeighborsClassifier([1, 3], "mahalanobis").fit(datasets.iris(), "species")
    ellipse = ["scale", "covariance", "inverse", "classes", "loo"]
    assert [table.name for table in chosen.working()] == ellipse
    assert chosen.working()["loo"] == chosen.loo_curve_


def test_the_title_says_what_the_model_is() -> None:
    said = "Nearest neighbors: 3 places, euclidean distance, uniform votes"
    assert corners().working().title == said
    other = corners(n_neighbors=1, metric="minkowski", p=3, weights="rank").working()
    assert other.title == "Nearest neighbors: 1 place, minkowski distance with p = 3, rank votes"


def test_columns_named_like_another_leave_it_its_name() -> None:
    X = CORNERS.rename(columns={"a": "id", "b": "sum"})
    table = NeighborsClassifier(1, scale=None).fit(X, LABELS).working(X[:1])["distances"]
    assert len(set(table.columns)) == len(table.columns) == 11
    assert table.column("id") == (0, 1, 2, 3)
    assert table.column("id (2)") == (0.0, 9.0, 0.0, 9.0)


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_follow_the_library_of_the_rows(backend: str, kind: type) -> None:
    fitted_on = "polars" if backend == "pandas" else "pandas"
    model = NeighborsClassifier([1, 3]).fit(datasets.iris(fitted_on), "species")
    working = model.working(datasets.iris(backend)[:2], most=5)
    frames = working.to_frame()
    assert list(frames) == ["scale", "classes", "loo", "distances", "votes"]
    assert all(isinstance(frame, kind) for frame in frames.values())
    assert [tuple(frame.columns) for frame in frames.values()] == [t.columns for t in working]
    assert len(frames["distances"]) == 10


def test_a_working_is_ready_for_json() -> None:
    working = corners().working(ORIGIN)
    told = json.loads(json.dumps(working.to_dict(), allow_nan=False))
    lines = [tuple(row) for row in told["tables"][2]["rows"]]
    assert lines == list(working["distances"].rows)


@pytest.mark.parametrize("most", [0, -1, 1.5, "all", None, True])
def test_how_many_rows_are_listed_is_a_whole_number(most: Any) -> None:
    with pytest.raises(OptionError, match="most="):
        corners().working(ORIGIN, most=most)
