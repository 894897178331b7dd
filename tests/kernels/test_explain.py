"""Explanations of KernelDiscriminant: pulls that add up, whom they come from, and their faces."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.explained import read
from tests.kernels.tables import iris

from sortal import KernelDiscriminant, datasets
from sortal.errors import MissingValueWarning, SortalWarning, UnknownCategoryWarning

# --- Tables that are drawn -----------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Rows with labels and weights, rows to explain, and what the learner is told."""

    X: pd.DataFrame
    labels: tuple[str, ...]
    asked: pd.DataFrame
    weight: tuple[float, ...] | None
    options: dict[str, Any]
    most: int

    def fit(self) -> KernelDiscriminant:
        model = KernelDiscriminant(**self.options)
        quietly(model.fit, self.X, np.array(self.labels), self.weight)
        return model


def quietly(ask: Any, *given: Any) -> Any:
    """Missing values, unknown words and separation are meant here; no other warning is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return ask(*given)


def frame(draw: st.DrawFn, n: int, *, asked: bool) -> pd.DataFrame:
    """A number, a word and another number; queries have missing values and unknown words."""
    number: st.SearchStrategy[float | None] = st.integers(-8, 8).map(lambda k: k / 4)
    word: st.SearchStrategy[str | None] = st.sampled_from("abc")
    if asked:
        number, word = number | st.none(), st.sampled_from(["a", "b", "zebra", None])
    rows = draw(st.lists(st.tuples(number, word, number), min_size=n, max_size=n))
    if not asked:  # every column varies
        rows[:2] = [(-1.0, "a", 0.5), (1.0, "b", 0.0)]
    columns = list(zip(*rows, strict=True))
    return pd.DataFrame(
        {
            "size": pd.Series(columns[0], dtype="float64"),
            "word": pd.Series(columns[1], dtype="str"),
            "mass": pd.Series(columns[2], dtype="float64"),
        }
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    more = draw(st.integers(3, 9))
    labels = ("p", "q", "p", *draw(st.lists(st.sampled_from("pqr"), min_size=more, max_size=more)))
    n, k = len(labels), len(set(labels))
    weight = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.5]), min_size=n, max_size=n))
    prior = draw(st.none() | st.lists(st.integers(1, 5), min_size=k, max_size=k))
    line = st.tuples(*(st.integers(0, 3).map(float) for _ in range(k)))
    options = {
        "kernel": draw(st.sampled_from(["rbf", "laplacian", "poly", "linear"])),
        "coef0": draw(st.sampled_from([0.0, 1.0])),
        "ridge": draw(st.sampled_from([1e-3, 0.1])),
        "penalty": draw(st.sampled_from(["rkhs", "coefficients"])),
        "priors": None if prior is None else [p / sum(prior) for p in prior],
        "class_weight": draw(st.sampled_from([None, "balanced"])),
        "costs": draw(st.none() | st.tuples(*(line for _ in range(k)))),
        "solver": draw(st.sampled_from(["dense", "landmarks"])),
    }
    known, asked = frame(draw, n, asked=False), frame(draw, draw(st.integers(1, 3)), asked=True)
    weights = None if weight is None else tuple(weight)
    return Case(known, labels, asked, weights, options, draw(st.integers(1, 6)))


# --- Numbers -------------------------------------------------------------------------------------


@given(cases())
def test_explanations_of_any_table(case: Case) -> None:
    model = case.fit()
    made = quietly(model.explain, case.asked, case.most)
    every = quietly(model.explain, case.asked, len(case.X))
    shares = quietly(model.predict_proba, case.asked)
    assert [row.label for row in made] == quietly(model.predict, case.asked).tolist()
    np.testing.assert_allclose([row.facts["posterior"] for row in made], shares, atol=1e-12)
    logs = quietly(model.predict_log_proba, case.asked)
    for row, whole, ln in zip(map(read, made), map(read, every), logs, strict=True):
        assert row.classes == tuple(sorted(set(case.labels)))
        check_against(row, ln)
        check_listed(row, whole, case.most)
        check_pulls(whole, model, case)


def check_against(row: Any, ln: Any) -> None:
    """The most probable other class; parts add up to the log-odds of the posterior."""
    others = [s for c, s in zip(row.classes, row.posterior, strict=True) if c != row.label]
    assert row.against != row.label
    assert row.posterior[row.classes.index(row.against)] == max(others)
    parts = [row.start, row.rest, *(pull.pull for pull in row.parts)]
    size = max(1.0, *map(abs, parts))
    assert sum(parts) == pytest.approx(row.log_odds, abs=1e-12 * size)
    assert row.start + sum(row.by_class) == pytest.approx(row.log_odds, abs=1e-12 * size)
    odds = ln[row.classes.index(row.label)] - ln[row.classes.index(row.against)]
    assert row.log_odds == pytest.approx(odds, abs=1e-9 * size)


def check_listed(row: Any, whole: Any, most: int) -> None:
    """The strongest pulls of each side."""
    assert whole.rest == 0 or len(whole.parts) < whole.n_basis
    up = sorted((p.pull for p in whole.parts if p.pull > 0), reverse=True)
    down = sorted(p.pull for p in whole.parts if p.pull < 0)
    assert [pull.pull for pull in row.parts] == [*up[:most], *down[:most]]
    assert all(part in whole.parts for part in row.parts)


def check_pulls(row: Any, model: KernelDiscriminant, case: Case) -> None:
    """A pull names its row and class, and is what its coefficient makes of the kernel."""
    at = {int(j): place for place, j in enumerate(model.basis_ids_)}
    assert row.n_basis == len(at)
    assert row.basis == ("landmarks" if model.solver_ == "landmarks" else "rows")
    a, b = row.classes.index(row.label), row.classes.index(row.against)
    gap = model.projected_means_[a] - model.projected_means_[b]
    measure = model._model.divisor / model._model.lengths**2
    for pull in row.parts:
        assert vars(pull)["class"] == case.labels[pull.id]
        assert pull.pull == pull.coefficient * pull.kernel
        want = sum(model.dual_coef_[at[pull.id]] * measure * gap)
        assert pull.coefficient == pytest.approx(want, rel=1e-9, abs=1e-9)


def test_kernel_values_are_those_of_the_rows() -> None:
    X, y = iris()
    model = KernelDiscriminant(gamma=0.7).fit(X, y)
    Z = X.to_numpy() / X.to_numpy().std(axis=0)
    (row,) = map(read, model.explain(X[70:71]))
    assert len(row.parts) == 10
    for pull in row.parts:
        want = math.exp(-0.7 * ((Z[70] - Z[pull.id]) ** 2).sum())
        assert pull.kernel == pytest.approx(want, rel=1e-9)


def test_a_given_kernel_pulls_like_the_one_it_was_made_by() -> None:
    X, y = iris()
    K = X.to_numpy() @ X.to_numpy().T
    plain = KernelDiscriminant("linear").fit(X, y)
    given_ = KernelDiscriminant("precomputed").fit(K, y)
    asked = plain.explain(X[68:72]), given_.explain(K[68:72])
    pairs = zip(*(map(read, made) for made in asked), strict=True)
    for i, (one, other) in enumerate(pairs, start=68):
        assert (one.label, one.against) == (other.label, other.against)
        assert one.log_odds == pytest.approx(other.log_odds, rel=1e-6)
        assert [pull.id for pull in one.parts] == [pull.id for pull in other.parts]
        assert [pull.kernel for pull in other.parts] == [K[i, pull.id] for pull in one.parts]


def test_a_given_kernel_of_rows_without_weight() -> None:
    """Ids and kernel values are those of all rows that were given, also of those that count."""
    X, y = iris()
    K, w = X.to_numpy() @ X.to_numpy().T, np.ones(150)
    w[::7] = 0.0
    model = KernelDiscriminant("precomputed").fit(K, y, w)
    row = read(model.explain(K[71:72], max_rows=150)[0])
    assert not {pull.id for pull in row.parts} & set(range(0, 150, 7))
    assert all(pull.kernel == K[71, pull.id] for pull in row.parts)


# --- Classes that cannot be, and costs -----------------------------------------------------------


def test_a_class_of_prior_zero_is_infinitely_far() -> None:
    X, y = iris()
    model = KernelDiscriminant(priors=[0.5, 0.5, 0.0]).fit(X, y)
    why = KernelDiscriminant(priors=[0.0, 1.0, 0.0]).fit(X, y).explain(X[70:71])[0]
    row = read(why)
    assert (row.label, row.log_odds, row.start) == ("versicolor", math.inf, math.inf)
    assert json.loads(json.dumps(why.to_dict(), allow_nan=False))["log_odds"] == "inf"
    assert "inf" in str(why)
    assert math.isfinite(model.explain(X[70:71])[0].total)


def without_rows(**options: Any) -> Any:
    """A row of a fit whose class c has no rows."""
    X = pd.DataFrame({"x": np.arange(10.0) ** 2})
    model = KernelDiscriminant("linear", **options)
    return read(model.partial_fit(X, list("ab") * 5, list("abc")).explain(X[:1])[0])


@pytest.mark.parametrize("options", [{}, {"costs": [[9.0, 9.0, 1.0]] * 3}], ids=str)
def test_a_class_without_rows_is_not_explained(options: dict[str, Any]) -> None:
    """Not even where it would cost least: it is never predicted."""
    row = without_rows(**options)
    assert {row.label, row.against} == set(row.classes) == {"a", "b"}
    assert len(row.posterior) == len(row.by_class) == 2


# --- Cells without a value -----------------------------------------------------------------------


def tennis() -> tuple[KernelDiscriminant, pd.DataFrame]:
    table = datasets.play_tennis()
    return KernelDiscriminant().fit(table, "PlayTennis"), table.drop(columns="PlayTennis")


def test_cells_without_a_value_are_marked() -> None:
    model, X = tennis()
    asked = X[:2].astype("object")
    asked.loc[0, "Outlook"], asked.loc[1, "Wind"] = None, "Gusty"
    asked = asked.astype("str").where(asked.notna(), None)
    with pytest.warns(MissingValueWarning, match="mean"), pytest.warns(UnknownCategoryWarning):
        first, second = model.explain(asked)
    (filled,) = first.facts["filled"]
    assert filled == {"attribute": "Outlook", "value": None, "mark": "missing"}
    assert "; missing: Outlook  (S 94)" in str(first)
    assert "; unknown: Wind  (S 94)" in str(second)
    assert second.to_dict()["filled"] == [
        {"attribute": "Wind", "value": "Gusty", "mark": "unknown"}
    ]


def test_many_missing_values_are_counted() -> None:
    X = pd.DataFrame({f"x{j}": np.random.default_rng(j).normal(size=9) for j in range(6)})
    model = KernelDiscriminant().fit(X, list("pqrpqrpqr"))
    with pytest.warns(MissingValueWarning):
        row = model.explain(X[:1].assign(**{f"x{j}": np.nan for j in range(5)}))[0]
    assert "; missing: x0, x1, x2, 2 more" in str(row)
    assert len(row.facts["filled"]) == 5


# --- Faces ---------------------------------------------------------------------------------------


def iris_explained(**options: Any) -> Any:
    X, y = iris()
    return KernelDiscriminant(**options).fit(X, y).explain(X[70:72], max_rows=2)


def test_the_text_reads_from_offset_to_log_odds() -> None:
    made = iris_explained()[0]
    lines = str(made).splitlines()
    share = read(made).posterior[made.classes.index(made.label)]
    assert lines[0] == (
        f"{made.label} (P = {share:.4g}) against {made.against}: positive pulls are to "
        f"{made.label}, negative to {made.against}  (S 94)"
    )
    assert lines[1].split() == ["part", "id", "class", "kernel", "coefficient", "pull"]
    assert [line.split()[0] for line in lines[3:]] == ["offset", *["row"] * 4, "146", "log-odds"]


def test_landmarks_are_called_so() -> None:
    made = iris_explained(solver="landmarks", n_landmarks=5)[0]
    parts = made.to_table().column("part")
    assert set(parts[1:-2]) == {"landmark"}
    assert parts[-2] == "1 more landmark"
    assert made.facts["n_basis"] == 5


def test_no_line_for_the_rest_where_all_are_listed() -> None:
    X = pd.DataFrame({"x": [0.0, 1.0, 5.0, 7.0]})
    made = KernelDiscriminant(ridge=0.1).fit(X, list("ppqq")).explain(X[:1], max_rows=4)[0]
    assert made.to_table().column("part") == ("offset", *["row"] * 4, "log-odds")
    assert read(made).rest == 0.0


def test_the_cells_of_the_rows_that_pull_are_not_told() -> None:
    X = pd.DataFrame({"word": ["alpha", "beta", "gamma", "delta"] * 3})
    row = KernelDiscriminant(ridge=0.1).fit(X, list("ppqq") * 3).explain(X[:1], max_rows=12)[0]
    told = json.dumps(row.to_dict()) + str(row)
    assert not [word for word in ("alpha", "beta", "gamma", "delta") if word in told]
