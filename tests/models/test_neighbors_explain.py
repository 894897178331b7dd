"""Explanations of NeighborsClassifier: their numbers by hand, their marks, and their faces."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import FrozenInstanceError, dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sortal import NeighborsClassifier, datasets
from sortal.errors import MissingValueWarning, SortalWarning, UnknownCategoryWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.neighbors_explain import Neighbor, NeighborsExplanation

Cell: TypeAlias = str | float | None  # None is a hole
Cells: TypeAlias = tuple[Cell, ...]

# --- Tables that are drawn -----------------------------------------------------------------------

NUMBERS: Final = ("euclidean", "manhattan", "minkowski", "mahalanobis")
WEIGHTS: Final = ("uniform", "distance", "triangular", "epanechnikov", "gaussian", "rank")


@dataclass(frozen=True)
class Case:
    """Rows with labels and weights, rows to explain, and what the learner is told."""

    kinds: tuple[str, ...]
    rows: tuple[Cells, ...]
    labels: tuple[str, ...]
    asked: tuple[Cells, ...]
    weight: tuple[float, ...] | None
    options: dict[str, Any]

    def frame(self, rows: Sequence[Cells]) -> pd.DataFrame:
        types = {"word": "str", "number": "float64"}
        columns = {
            f"x{j}": pd.Series([row[j] for row in rows], dtype=types[kind])
            for j, kind in enumerate(self.kinds)
        }
        return pd.DataFrame(columns)

    def fit(self) -> NeighborsClassifier:
        model = NeighborsClassifier(**self.options)
        return model.fit(self.frame(self.rows), np.array(self.labels), self.weight)


def table_of(
    draw: st.DrawFn, kinds: tuple[str, ...], n: int, *, holes: bool, strangers: bool = False
) -> list[Cells]:
    """Few values, so that rows are equal and distances tie."""
    numbers: st.SearchStrategy[Cell] = st.integers(-3, 3).map(lambda k: k / 4)
    words: st.SearchStrategy[Cell] = st.sampled_from([*"abc", *(["zebra"] if strangers else [])])
    if holes:
        numbers, words = st.none() | numbers, st.none() | words
    row = st.tuples(*(numbers if kind == "number" else words for kind in kinds))
    return draw(st.lists(row, min_size=n, max_size=n))


@st.composite
def cases(draw: st.DrawFn, without: str = "") -> Case:
    metrics = [metric for metric in (*NUMBERS, "gower", "hamming") if metric != without]
    metric = draw(st.sampled_from(metrics))
    kinds = ["number"] if metric in NUMBERS else ["word", "number"]
    columns = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)))
    more, holes = draw(st.integers(3, 9)), metric != "mahalanobis" and draw(st.booleans())
    labels = ("p", "q", *draw(st.lists(st.sampled_from("pqr"), min_size=more, max_size=more)))
    rows = table_of(draw, columns, len(labels) - 2, holes=holes)
    # every column has values, and varies
    ends: list[Cells] = [
        tuple("a" if kind == "word" else -1.0 for kind in columns),
        tuple("b" if kind == "word" else 1.0 for kind in columns),
    ]
    asked = table_of(draw, columns, draw(st.integers(1, 4)), holes=True, strangers=True)
    weight = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.5]), min_size=1))
    weights = None if weight is None else tuple(weight[i % len(weight)] for i in range(more + 2))
    line = st.tuples(*(st.integers(0, 3).map(float) for _ in set(labels)))
    options = {
        "n_neighbors": draw(st.integers(1, int(sum(weights or [1.0] * (more + 2))))),
        "metric": metric,
        "p": draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf])),
        "weights": draw(st.sampled_from(WEIGHTS)),
        "class_weight": draw(st.sampled_from([None, "balanced", {"p": 0.5, "q": 3.0}])),
        "costs": draw(st.none() | st.tuples(*(line for _ in set(labels)))),
        "unknown": draw(st.sampled_from(["differs", "skip"])),
    }
    if metric not in ("hamming", "mahalanobis"):
        options["scale"] = draw(st.sampled_from(["auto", None]))
    return Case(columns, (*ends, *rows), labels, tuple(rows + asked), weights, options)


def quietly(ask: Any, X: Any) -> Any:
    """Holes and unknown words are meant here; no other warning is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return ask(X)


RANDOM: Final = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

# --- Who voted -----------------------------------------------------------------------------------


@RANDOM
@given(cases())
def test_an_explanation_is_of_what_was_predicted_to_the_last_bit(case: Case) -> None:
    model, X = case.fit(), case.frame(case.asked)
    made, shares = quietly(model.explain, X), quietly(model.predict_proba, X)
    assert [row.label for row in made] == quietly(model.predict, X).tolist()
    assert [list(row.posterior) for row in made] == shares.tolist()
    assert {row.classes for row in made} == {tuple(sorted(set(case.labels)))}
    for row in made:
        told = row.k, row.weights, row.metric
        assert told == (model.n_neighbors_, model.weights_, model.metric_)


@RANDOM
@given(cases())
def test_neighbors_are_the_nearest_rows_and_fill_the_places(case: Case) -> None:
    model, X, k = case.fit(), case.frame(case.asked), case.options["n_neighbors"]
    weight = np.ones(len(case.rows)) if case.weight is None else np.array(case.weight)
    fractions = bool((weight % 1).any())
    place = weight[weight > 0].mean() if fractions else 1.0
    distances, ids = quietly(lambda x: model.kneighbors(x, len(case.rows)), X)
    for row, far, near in zip(quietly(model.explain, X), distances, ids, strict=True):
        there = near[near >= 0]
        before = np.cumsum(weight[there]) - weight[there]
        parts = np.clip(k * place - before, 0, weight[there]) / place
        n = int((parts > 0).sum())
        assert [neighbor.id for neighbor in row.neighbors] == there[:n].tolist()
        assert [neighbor.distance for neighbor in row.neighbors] == far[:n].tolist()
        assert [neighbor.part for neighbor in row.neighbors] == parts[:n].tolist()
        assert [neighbor.label for neighbor in row.neighbors] == [case.labels[i] for i in there[:n]]


@RANDOM
@given(cases())
def test_votes_of_neighbors_add_up_to_those_of_classes(case: Case) -> None:
    model, X = case.fit(), case.frame(case.asked)
    factors = dict(zip(model.classes_, model._model.class_factors.tolist(), strict=True))
    for row in quietly(model.explain, X):
        sums = dict.fromkeys(row.classes, 0.0)
        for neighbor in row.neighbors:
            by_hand = neighbor.part * neighbor.kernel * factors[neighbor.label]
            assert neighbor.vote == by_hand
            sums[neighbor.label] += neighbor.vote
        assert list(row.votes) == pytest.approx([sums[c] for c in row.classes], rel=1e-14)
        if sum(row.votes):
            shares = [votes / sum(row.votes) for votes in row.votes]
            assert list(row.posterior) == pytest.approx(shares, rel=1e-13)
        if case.options["weights"] == "uniform":
            assert {neighbor.kernel for neighbor in row.neighbors} <= {1.0}


# --- What they differ in -------------------------------------------------------------------------


def differences(case: Case, cells: Cells, other: Cells, scale: dict[str, float]) -> list[float]:
    """What each column adds to the sum; NaN where it is left out."""
    metric, power, known = case.options["metric"], case.options["p"], set()
    for j in range(len(cells)):
        known |= {(j, row[j]) for row in case.rows}
    found = []
    for j, (here, there) in enumerate(zip(cells, other, strict=True)):
        unknown = (case.kinds[j] == "word" or metric == "hamming") and (j, here) not in known
        skipped = unknown and case.options["unknown"] == "skip"
        if here is None or there is None or skipped:
            found.append(math.nan)
        elif metric == "hamming" or isinstance(here, str) or isinstance(there, str):
            found.append(float(here != there))
        else:
            term = abs(here - there) / scale.get(f"x{j}", 1.0)
            p = {"euclidean": 2.0, "minkowski": power}.get(metric, 1.0)
            found.append(term if p == math.inf else term**p)
    return found


@RANDOM
@given(cases(without="mahalanobis"))
def test_shares_are_what_each_column_adds(case: Case) -> None:
    model, X = case.fit(), case.frame(case.asked)
    largest = case.options["metric"] == "minkowski" and case.options["p"] == math.inf
    for row, cells in zip(quietly(model.explain, X), case.asked, strict=True):
        for neighbor in row.neighbors:
            terms = differences(case, cells, case.rows[neighbor.id], model.scale_)
            added = [0.0 if math.isnan(term) else term for term in terms]
            total, shares = sum(added), [part.share for part in neighbor.parts]
            if largest and total:
                want = [0.0] * len(added)
                top = max(added)
                want[next(j for j, a in enumerate(added) if a > top * (1 - 1e-12))] = 1.0
            else:
                want = [term / total if total else 0.0 for term in added]
            assert shares == pytest.approx(want, rel=1e-12, abs=1e-15)
            assert [part.attribute for part in neighbor.parts] == list(X.columns)
            assert sum(shares) == pytest.approx(1.0 if neighbor.distance else 0.0, rel=1e-14)


@RANDOM
@given(cases())
def test_values_and_marks_are_those_of_the_two_rows(case: Case) -> None:
    model, X = case.fit(), case.frame(case.asked)
    by_value = case.options["metric"] == "hamming"
    seen = [{row[j] for row in case.rows} for j in range(len(case.kinds))]
    for row, cells in zip(quietly(model.explain, X), case.asked, strict=True):
        for neighbor in row.neighbors:
            theirs = case.rows[neighbor.id]
            assert tuple(part.value for part in neighbor.parts) == cells
            assert tuple(part.neighbor_value for part in neighbor.parts) == theirs
            for j, part in enumerate(neighbor.parts):
                named = by_value or case.kinds[j] == "word"
                unknown = "unknown" if named and cells[j] not in seen[j] else ""
                missing = cells[j] is None or theirs[j] is None
                assert part.mark == ("missing" if missing else unknown)


def ellipse_shares(S: np.ndarray[Any, Any], z: np.ndarray[Any, Any]) -> Any:
    solved = np.linalg.solve(S, z)
    return z * solved / (z @ solved)


def test_mahalanobis_shares_are_z_times_its_solution_and_may_be_negative() -> None:
    iris = datasets.iris()
    X = iris.drop(columns="species")
    model = NeighborsClassifier(20, "mahalanobis").fit(iris, "species")
    S, rows = np.cov(X.to_numpy().T), X.to_numpy()
    row = model.explain(X[70:71])[0]
    assert [part.share for part in row.neighbors[0].parts] == [0.0] * 4  # the row itself
    negative = 0
    for neighbor in row.neighbors[1:]:
        want = ellipse_shares(S, rows[70] - rows[neighbor.id])
        shares = [part.share for part in neighbor.parts]
        assert shares == pytest.approx(want.tolist(), rel=1e-9, abs=1e-12)
        assert sum(shares) == pytest.approx(1.0)
        negative += min(shares) < 0
    assert negative


def test_mahalanobis_shares_are_of_the_columns_that_a_row_has() -> None:
    iris = datasets.iris()
    X = iris.drop(columns="species")
    asked = X[70:71].assign(petal_length=np.nan)
    model = NeighborsClassifier(metric="mahalanobis").fit(iris, "species")
    with pytest.warns(MissingValueWarning):
        row = model.explain(asked)[0]
    known = [0, 1, 3]
    S, rows = np.cov(X.to_numpy().T)[np.ix_(known, known)], X.to_numpy()[:, known]
    for neighbor in row.neighbors[1:]:
        z = rows[70] - rows[neighbor.id]
        assert [(p.share, p.mark) for p in neighbor.parts if p.mark] == [(0.0, "missing")]
        shares = [part.share for part in neighbor.parts if not part.mark]
        assert shares == pytest.approx(ellipse_shares(S, z).tolist(), rel=1e-9, abs=1e-12)
        distance = math.sqrt(z @ np.linalg.solve(S, z) * 4 / 3)
        assert neighbor.distance == pytest.approx(distance)


def test_a_distance_that_is_rounding_only_has_no_shares() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 5.0], "b": [0.0, 2.0, 4.0, 6.0, 10.0]})
    model = NeighborsClassifier(2, "mahalanobis").fit(X, list("ppqqq"))
    near, far = model.explain(pd.DataFrame({"a": [0.0], "b": [5.0]}))[0].neighbors
    assert near.distance < 1e-12  # b − 2a never varies, and the rest is the same
    assert [part.share for part in near.parts] == [0.0, 0.0]
    assert sum(part.share for part in far.parts) == pytest.approx(1.0)


def test_a_column_that_does_not_count_is_no_part() -> None:
    X = pd.DataFrame({"same": [7.0] * 4, "size": [1.0, 2.0, 4.0, 5.0], "none": [np.nan] * 4})
    made = NeighborsClassifier(2).fit(X, list("ppqq")).explain(X[:1])[0]
    assert [[part.attribute for part in n.parts] for n in made.neighbors] == [["size"]] * 2


def test_numbers_are_floats_and_days_are_dates() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-02-01", "2024-03-01"])
    X = pd.DataFrame({"day": days, "size": [1, 2, 3, 5]})
    rows = pd.DataFrame(
        {"day": np.array(["2024-02-29T00", "1969-12-31T06"], dtype="M8[s]"), "size": [5, 1]}
    )
    made = NeighborsClassifier(1).fit(X, list("ppqq")).explain(rows)
    first = [[(p.value, p.neighbor_value) for p in row.neighbors[0].parts] for row in made]
    assert first[0][0] == ("2024-02-29", "2024-03-01")
    assert first[1][0] == ("1969-12-31T06:00:00", "2024-01-01")
    assert all(type(value) is float for pair in first for value in pair[1])


def test_dates_are_dates_where_they_are_equal_or_not() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-02-01", None])
    X = pd.DataFrame({"day": days, "size": [1, 2, 3, 5]})
    asked = pd.DataFrame({"day": pd.to_datetime(["2024-01-03", "2025-01-01"]), "size": [1, 9]})
    model = NeighborsClassifier(4, "hamming").fit(X, list("ppqq"))
    with pytest.warns(UnknownCategoryWarning):
        first, second = model.explain(asked)
    pairs = {n.id: (n.parts[0].value, n.parts[0].neighbor_value) for n in first.neighbors}
    assert pairs[0] == ("2024-01-03", "2024-01-01")
    assert pairs[3] == ("2024-01-03", None)
    assert {n.parts[0].value for n in second.neighbors} == {"2025-01-01"}
    marks = {n.id: tuple(p.mark for p in n.parts) for n in second.neighbors}
    assert marks == dict.fromkeys(range(3), ("unknown", "unknown")) | {3: ("missing", "unknown")}


# --- Nobody, and others --------------------------------------------------------------------------


def test_a_row_without_values_has_no_neighbors_and_keeps_the_prior() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    model = NeighborsClassifier(2).fit(X, ["p", "p", "q"])
    with pytest.warns(MissingValueWarning):
        made = model.explain(pd.DataFrame({"a": [np.nan, 1.0]}))
    assert (made[0].neighbors, made[0].votes) == ((), (0.0, 0.0))
    assert made[0].posterior == (2 / 3, 1 / 3)
    title = str(made[0]).splitlines()[0]
    assert title == "p (P = 0.6667): no neighbors; nobody votes, and the prior stands  (S 78)"
    assert len(made[1].neighbors) == 2
    assert made.to_frame()["row"].tolist() == [1, 1]


def test_costs_can_turn_the_decision_against_the_votes() -> None:
    costs = [[0.0, 1.0], [50.0, 0.0]]
    X = pd.DataFrame({"a": [1.0, 1.0, 1.0, 2.0]})
    made = NeighborsClassifier(4, costs=costs).fit(X, list("pppq")).explain(X[:1])[0]
    assert (made.label, made.votes, made.posterior) == ("q", (3.0, 1.0), (0.75, 0.25))


# --- Faces ---------------------------------------------------------------------------------------


def iris_explained(backend: str = "pandas", **options: Any) -> Any:
    iris = datasets.iris(backend)
    return NeighborsClassifier(**options).fit(iris, "species").explain(iris[70:72])


def head(made: NeighborsExplanation) -> str:
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
    for unknown, want in (
        ("differs", "Wind Gusty (unknown) / Strong (100%)"),
        ("skip", "nothing; unknown: Wind"),
    ):
        model = NeighborsClassifier(3, unknown=unknown).fit(tennis, "PlayTennis")
        with pytest.warns(MissingValueWarning), pytest.warns(UnknownCategoryWarning):
            first, second = model.explain(asked.astype("str").where(asked.notna(), None))
        cells = first.to_table().column("differs in: here / there (share)")
        assert cells[-1] == "Wind Weak / Strong (100%); missing: Outlook"
        assert want in second.to_table().column("differs in: here / there (share)")


def test_many_holes_are_counted() -> None:
    X = pd.DataFrame({f"x{j}": [1.0, 2.0, 3.0] for j in range(6)})
    asked = X[:1].assign(**{f"x{j}": np.nan for j in range(5)})
    with pytest.warns(MissingValueWarning):
        made = NeighborsClassifier(1).fit(X, ["p", "q", "q"]).explain(asked)[0]
    (cell,) = made.to_table().column("differs in: here / there (share)")
    assert cell == "nothing; missing: x0, x1, x2, 2 more"


@RANDOM
@given(cases())
def test_explanations_are_ready_for_json(case: Case) -> None:
    made = quietly(case.fit().explain, case.frame(case.asked))
    told = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    for row, said in zip(made, told, strict=True):
        assert (said["label"], tuple(said["classes"])) == (row.label, row.classes)
        assert (tuple(said["posterior"]), tuple(said["votes"])) == (row.posterior, row.votes)
        assert (said["k"], said["weights"], said["metric"]) == (row.k, row.weights, row.metric)
        assert [neighbor_of(n) for n in said["neighbors"]] == [fields(n) for n in row.neighbors]


def neighbor_of(told: dict[str, Any]) -> list[Any]:
    names = ["id", "label", "distance", "part", "kernel", "vote"]
    parts = ["attribute", "value", "neighbor_value", "share", "mark"]
    return [*(told[name] for name in names), [[p[name] for name in parts] for p in told["parts"]]]


def fields(n: Neighbor) -> list[Any]:
    parts = [[p.attribute, p.value, p.neighbor_value, p.share, p.mark] for p in n.parts]
    return [n.id, n.label, n.distance, n.part, n.kernel, n.vote, parts]


def test_records_are_frozen_and_equal_by_value() -> None:
    one, other = iris_explained(), iris_explained()
    assert one == other
    assert one[0] != one[1]
    with pytest.raises(FrozenInstanceError):
        one[0].label = "setosa"


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_a_long_frame_has_every_part_of_every_neighbor(backend: str, kind: Any) -> None:
    fitted = NeighborsClassifier().fit(datasets.iris(), "species")
    made = fitted.explain(datasets.iris(backend)[70:72])
    frame: Any = made.to_frame()
    assert type(frame) is kind
    assert list(frame.columns) == [
        *("row", "id", "class", "distance", "part", "kernel", "vote"),
        *("attribute", "value", "neighbor value", "share", "mark"),
    ]
    assert list(frame["row"]) == [0] * 20 + [1] * 20
    assert list(frame["id"])[:20:4] == [neighbor.id for neighbor in made[0].neighbors]
    shares = [part.share for row in made for n in row.neighbors for part in n.parts]
    assert list(frame["share"]) == shares
    assert made[0].to_parts().equation == "S 83"


def test_names_and_words_are_escaped() -> None:
    X = pd.DataFrame({"<b>": ["<i>x", "y", "z"], "a|b": ["s", "t", "t"]})
    made = NeighborsClassifier(2, "hamming").fit(X, ["<p>", "q", "q"]).explain(X[:1])
    html = made.to_html() + made._repr_html_() + made[0].to_table().to_html()
    assert not {"<b>", "<i>", "<p>"} & {html[i : i + 3] for i in range(len(html))}
    assert "&lt;i&gt;x" in html
    assert "&lt;p&gt;" in html
    assert "a\\|b" in made.to_markdown()
