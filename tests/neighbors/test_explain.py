"""Explanations of NeighborsClassifier: their numbers by hand, their marks, and their faces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.explained import read
from tests.kernels.tables import iris

from sortal import NeighborsClassifier, datasets
from sortal.errors import MissingValueWarning, UnknownCategoryWarning

if TYPE_CHECKING:
    from sortal.neighbors.learn import Unknown


# --- What they differ in -------------------------------------------------------------------------


def ellipse_shares(S: np.ndarray[Any, Any], z: np.ndarray[Any, Any]) -> Any:
    solved = np.linalg.solve(S, z)
    return z * solved / (z @ solved)


def test_mahalanobis_shares_are_z_times_its_solution_and_may_be_negative() -> None:
    X, y = iris()
    model = NeighborsClassifier(20, "mahalanobis").fit(X, y)
    S, rows = np.cov(X.to_numpy().T), X.to_numpy()
    row = read(model.explain(X[70:71])[0])
    assert [part.share for part in row.parts[0].parts] == [0.0] * 4  # the row itself
    negative = 0
    for neighbor in row.parts[1:]:
        want = ellipse_shares(S, rows[70] - rows[neighbor.id])
        shares = [part.share for part in neighbor.parts]
        assert shares == pytest.approx(want.tolist(), rel=1e-9, abs=1e-12)
        assert sum(shares) == pytest.approx(1.0)
        negative += min(shares) < 0
    assert negative


def test_mahalanobis_shares_are_of_the_columns_that_a_row_has() -> None:
    X, y = iris()
    asked = X[70:71].assign(petal_length=np.nan)
    model = NeighborsClassifier(metric="mahalanobis").fit(X, y)
    with pytest.warns(MissingValueWarning):
        row = read(model.explain(asked)[0])
    known = [0, 1, 3]
    S, rows = np.cov(X.to_numpy().T)[np.ix_(known, known)], X.to_numpy()[:, known]
    for neighbor in row.parts[1:]:
        z = rows[70] - rows[neighbor.id]
        assert [(p.share, p.mark) for p in neighbor.parts if p.mark] == [(0.0, "missing")]
        shares = [part.share for part in neighbor.parts if not part.mark]
        assert shares == pytest.approx(ellipse_shares(S, z).tolist(), rel=1e-9, abs=1e-12)
        distance = math.sqrt(z @ np.linalg.solve(S, z) * 4 / 3)
        assert neighbor.distance == pytest.approx(distance)


def test_a_distance_that_is_rounding_only_has_no_shares() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 5.0], "b": [0.0, 2.0, 4.0, 6.0, 10.0]})
    model = NeighborsClassifier(2, "mahalanobis").fit(X, list("ppqqq"))
    near, far = read(model.explain(pd.DataFrame({"a": [0.0], "b": [5.0]}))[0]).parts
    assert near.distance < 1e-12  # b − 2a never varies, and the rest is the same
    assert [part.share for part in near.parts] == [0.0, 0.0]
    assert sum(part.share for part in far.parts) == pytest.approx(1.0)


def test_a_column_that_does_not_count_is_no_part() -> None:
    X = pd.DataFrame({"same": [7.0] * 4, "size": [1.0, 2.0, 4.0, 5.0], "none": [np.nan] * 4})
    made = read(NeighborsClassifier(2).fit(X, list("ppqq")).explain(X[:1])[0])
    assert [[part.attribute for part in n.parts] for n in made.parts] == [["size"]] * 2


def test_numbers_are_floats_and_days_are_dates() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-02-01", "2024-03-01"])
    X = pd.DataFrame({"day": days, "size": [1, 2, 3, 5]})
    rows = pd.DataFrame(
        {"day": np.array(["2024-02-29T00", "1969-12-31T06"], dtype="M8[s]"), "size": [5, 1]}
    )
    made = map(read, NeighborsClassifier(1).fit(X, list("ppqq")).explain(rows))
    first = [[(p.value, p.neighbor_value) for p in row.parts[0].parts] for row in made]
    assert first[0][0] == ("2024-02-29", "2024-03-01")
    assert first[1][0] == ("1969-12-31T06:00:00", "2024-01-01")
    assert all(type(value) is float for pair in first for value in pair[1])


def test_dates_are_dates_where_they_are_equal_or_not() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-02-01", None])
    X = pd.DataFrame({"day": days, "size": [1, 2, 3, 5]})
    asked = pd.DataFrame({"day": pd.to_datetime(["2024-01-03", "2025-01-01"]), "size": [1, 9]})
    model = NeighborsClassifier(4, "hamming").fit(X, list("ppqq"))
    with pytest.warns(UnknownCategoryWarning):
        first, second = map(read, model.explain(asked))
    pairs = {n.id: (n.parts[0].value, n.parts[0].neighbor_value) for n in first.parts}
    assert pairs[0] == ("2024-01-03", "2024-01-01")
    assert pairs[3] == ("2024-01-03", None)
    assert {n.parts[0].value for n in second.parts} == {"2025-01-01"}
    marks = {n.id: tuple(p.mark for p in n.parts) for n in second.parts}
    assert marks == dict.fromkeys(range(3), ("unknown", "unknown")) | {3: ("missing", "unknown")}


# --- Nobody, and others --------------------------------------------------------------------------


def test_a_row_without_values_has_no_neighbors_and_keeps_the_prior() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    model = NeighborsClassifier(2).fit(X, ["p", "p", "q"])
    with pytest.warns(MissingValueWarning):
        made = model.explain(pd.DataFrame({"a": [np.nan, 1.0]}))
    assert (made[0].parts.rows, made[0].facts["votes"]) == ((), (0.0, 0.0))
    assert made[0].facts["posterior"] == (2 / 3, 1 / 3)
    title = str(made[0]).splitlines()[0]
    assert title == "p (P = 0.6667): no neighbors; nobody votes, and the prior stands  (S 78)"
    assert len(made[1].parts.rows) == 2
    assert made.to_frame()["row"].tolist() == [1, 1]


# --- Faces ---------------------------------------------------------------------------------------


def iris_explained(**options: Any) -> Any:
    table = datasets.iris()
    return NeighborsClassifier(**options).fit(table, "species").explain(table[70:72])


def head(made: Any) -> str:
    return str(made).splitlines()[0]


def test_the_text_counts_the_neighbors() -> None:
    first, second = iris_explained()
    assert head(first) == (
        "virginica (P = 0.6): 5 neighbors, 3 of them virginica, 2 versicolor  (S 78)"
    )
    assert head(second) == "versicolor (P = 1): 5 neighbors, all of them versicolor  (S 78)"
    assert head(iris_explained(n_neighbors=1)[0]) == (
        "versicolor (P = 1): 1 neighbor, versicolor  (S 78)"
    )
    assert head(iris_explained(n_neighbors=3, weights="rank")[0]) == (
        "versicolor (P = 0.5): 3 neighbors, 2 of them virginica, 1 versicolor; "
        "votes: 3 for versicolor, 3 for virginica  (S 78)"
    )


def test_classes_that_are_numbers_are_called_classes() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 9.0]})
    made = NeighborsClassifier(3, weights="rank").fit(X, [1, 0, 0, 1]).explain(X)
    assert head(made[1]) == (
        "0 (P = 0.6667): 3 neighbors, 2 of them of class 0, 1 of class 1; votes: 4 for 0, 2 for 1"
        "  (S 78)"
    )


def test_a_line_says_in_what_a_neighbor_differs() -> None:
    lines = str(iris_explained()[0]).splitlines()
    assert lines[1].split()[:4] == ["id", "class", "distance", "vote"]
    assert lines[3].split() == ["70", "versicolor", "0", "1", "nothing"]
    assert lines[4].endswith("sepal_width 3.2 / 3 (94%), sepal_length 5.9 / 6 (6%)")
    assert lines[7].endswith(", petal_length 4.8 / 4.5 (9%), 1 more (4%)")


def test_a_line_says_what_is_missing_or_unknown() -> None:
    tennis = datasets.play_tennis()
    asked = tennis.drop(columns="PlayTennis")[:2].astype("object")
    asked.loc[0, "Outlook"], asked.loc[1, "Wind"] = None, "Gusty"
    wanted: dict[Unknown, str] = {
        "differs": "Wind Gusty (unknown) / Strong (100%)",
        "skip": "nothing; unknown: Wind",
    }
    for unknown, want in wanted.items():
        model = NeighborsClassifier(3, unknown=unknown).fit(tennis, "PlayTennis")
        with pytest.warns(MissingValueWarning), pytest.warns(UnknownCategoryWarning):
            first, second = model.explain(asked.astype("str").where(asked.notna(), None))
        cells = first.to_table().column("differs in: here / there (share)")
        assert cells[-1] == "Wind Weak / Strong (100%); missing: Outlook"
        assert want in second.to_table().column("differs in: here / there (share)")


def test_many_missing_values_are_counted() -> None:
    X = pd.DataFrame({f"x{j}": [1.0, 2.0, 3.0] for j in range(6)})
    asked = X[:1].assign(**{f"x{j}": np.nan for j in range(5)})
    with pytest.warns(MissingValueWarning):
        made = NeighborsClassifier(1).fit(X, ["p", "q", "q"]).explain(asked)[0]
    (cell,) = made.to_table().column("differs in: here / there (share)")
    assert cell == "nothing; missing: x0, x1, x2, 2 more"


def test_a_long_frame_has_the_share_of_every_column() -> None:
    made = iris_explained()
    frame: Any = made.to_frame("shares")
    assert list(frame.columns) == [
        *("row", "id", "class", "distance", "part", "kernel", "vote"),
        *("attribute", "value", "neighbor value", "share", "mark"),
    ]
    assert list(frame["row"]) == [0] * 20 + [1] * 20
    assert list(frame["id"])[:20:4] == [*made[0].parts.column("id")]
    shares = [share for row in made for share in row.facts["shares"].column("share")]
    assert list(frame["share"]) == shares
    assert made[0].facts["shares"].equation == "S 83"
