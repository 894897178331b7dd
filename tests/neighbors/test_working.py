"""The working of NeighborsClassifier: each table by hand, in the order in which one would work."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from tests.explained import read
from tests.neighbors.tables import Case, cases

from sortal import NeighborsClassifier, datasets
from sortal.errors import MissingValueWarning

if TYPE_CHECKING:
    from tests.neighbors.oracle import Oracle

    from sortal.records.tables import Table

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
        ({"metric": "gower"}, "S 73", 3, [0, 3, 4, 7], [0, 1.5, 2, 3.5]),
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
    working = (
        NeighborsClassifier(metric="mahalanobis").fit(iris, "species").working(X[:2], max_rows=9)
    )
    table, inverse, rows = working["distances"], np.linalg.inv(np.cov(X.to_numpy().T)), X.to_numpy()
    assert table.equation == "S 74"
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


def test_a_missing_value_is_no_term_and_the_sum_is_stretched() -> None:
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
    whole, cut = (
        model.working(CORNERS)["distances"],
        model.working(CORNERS, max_rows=2)["distances"],
    )
    assert whole.title == f"Distances, the nearest 4 of 4 rows (ids from 0): {said}"
    assert cut.title == f"Distances, the nearest 2 of 4 rows (ids from 0): {said}"
    assert cut.rows == tuple(row for row in whole.rows if row[1] in (1, 2))
    assert cut.column("query") == (0, 0, 1, 1, 2, 2, 3, 3)


def test_a_short_list_does_not_change_the_votes() -> None:
    model = corners(weights="triangular")
    assert model.working(CORNERS, max_rows=1)["votes"] == model.working(CORNERS)["votes"]


# --- Any table -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@given(cases())
def test_a_working_of_any_table(case: Case) -> None:
    """Lines add up, in the order of the search; votes are those of predict to the last bit."""
    model, X = case.fit(), case.frame(case.queries)
    working, made, oracle = model.working(X), [*map(read, model.explain(X))], case.oracle(model)
    lines, votes = working["distances"], working["votes"]
    distances, ids = model.kneighbors(X, len(model.ids_))
    assert lines.column("id") == tuple(ids[ids >= 0].tolist())
    assert lines.column("distance") == tuple(distances[ids >= 0].tolist())
    check_lines(lines, oracle)
    assert (votes.columns, votes.equation) == (("query", "class", "votes", "P"), "S 78")
    assert numbers(votes, "P") == [share for row in made for share in row.posterior]
    assert numbers(votes, "votes") == [vote for row in made for vote in row.votes]
    for name in ("part", "kernel", "vote"):
        cells = list(zip(lines.column(name), lines.column("part"), strict=True))
        inside = [getattr(n, name) for row in made for n in row.parts]
        assert [cell for cell, part in cells if part] == inside
        assert {cell for cell, part in cells if not part} <= {0.0}
    assert json.loads(json.dumps(working.to_dict(), allow_nan=False)) == working.to_dict()


def check_lines(table: Table, oracle: Oracle) -> None:
    """The sum of a line is that of its terms, over the columns that both rows have."""
    at = {name: j for j, name in enumerate(table.columns)}
    d, previous = len(oracle.used), (-1, 0.0, -1)
    for row in table.rows:
        line: Any = row
        terms = [term for term in line[4 : at.get("known", at["sum"])] if term is not None]
        known = line[at["known"]] if "known" in at else d
        assert known == len(terms)
        largest = oracle.power == math.inf
        total = max(terms) if largest else sum(terms) * d / known
        assert line[at["sum"]] == pytest.approx(total, rel=1e-14)
        wanted = oracle.distance(line[at["sum"]])
        assert line[at["distance"]] == pytest.approx(wanted, rel=1e-14)
        order = (line[0], line[at["sum"]], line[2])
        assert order > previous  # by key and id, to the last bit
        previous = order


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
