"""DiscreteBayes against a slow oracle, scikit-learn, and sums done by hand."""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from tests.bayes.oracle import ONE, Cell, Cells, Oracle, Row, Rules, Schema, learn_schema

from sortal import DiscreteBayes, datasets
from sortal.errors import ImpossibleRowWarning, SortalWarning, TrainingRowsError

T = TypeVar("T")
Floats: TypeAlias = NDArray[np.float64]

# --- Random tables -------------------------------------------------------------------------------

LABELS: Final = ("yes", "no", "maybe", "ask")
POOLS: Final[Mapping[str, tuple[Cell, ...]]] = {
    "word": ("a", "b", "c", "d"),
    "flag": (False, True),
    "level": ("a", "b", "c", "d"),
    "code": (0, 1, 2, 3),
}
STRANGERS: Final[Mapping[str, tuple[Cell, ...]]] = {
    "word": ("z",),
    "flag": (),
    "level": ("z",),
    "code": (9,),
}
WEIGHTS: Final[Mapping[str, tuple[float, ...]]] = {
    "none": (1.0,),
    "whole": (0.0, 1.0, 2.0, 3.0),
    "fractional": (0.0, 0.25, 0.3, 1.5, 2.7),
}


@dataclass(frozen=True)
class Problem:
    """A training table, fresh rows, and what the learner is told."""

    kinds: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]  # declared ones, for columns of kind "level"
    rows: tuple[Row, ...]
    weighting: str
    fresh: tuple[Cells, ...]
    rules: Rules
    backend: str

    @property
    def is_exact(self) -> bool:
        """Only categories and whole weights: everything is counted, so no order can matter."""
        return "number" not in self.kinds and self.weighting != "fractional"

    @property
    def asked(self) -> list[Cells]:
        """All rows to predict: those of the training table and the fresh ones."""
        return [*(row.cells for row in self.rows), *self.fresh]

    @property
    def schema(self) -> Schema:
        return learn_schema(self.rows, self.kinds, self.levels)

    @property
    def oracle(self) -> Oracle:
        return Oracle(self.rows, self.schema, self.rules)


@st.composite
def problems(
    draw: st.DrawFn, *, numbers: bool = True, least: float = 0.0, weightings: Sequence[str] = ()
) -> Problem:
    """Small mixed tables; the first rows are one of each class, with a weight above 0.

    `least` is the smallest weight a row may have.
    """
    labels = LABELS[: draw(st.integers(2, 4))]
    kinds = draw(st.lists(st.sampled_from(list(POOLS)), min_size=1, max_size=4))
    kinds += ["number"] * (draw(st.integers(0, 2)) if numbers else 0)
    pools = [draw(cell_pools(kind)) for kind in kinds]
    levels = tuple(draw(declared_levels()) if kind == "level" else () for kind in kinds)
    weighting = draw(st.sampled_from(weightings or list(WEIGHTS)))
    allowed = [w for w in WEIGHTS[weighting] if w >= least]
    rng, n = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.integers(len(labels), 12))
    columns = [deal(rng, labels, n), deal(rng, [Fraction(w) for w in allowed], n)]
    trained = deal_rows(rng, [trained for trained, _ in pools], n)
    rows = [Row(*row) for row in zip(trained, *columns, strict=True)]
    for i, label in enumerate(labels):
        rows[i] = replace(rows[i], label=label, weight=rows[i].weight or ONE)
    fresh = tuple(deal_rows(rng, [fresh for _, fresh in pools], draw(st.integers(1, 6))))
    rules, backend = draw(rules_for(labels)), draw(st.sampled_from(["pandas", "polars"]))
    return Problem(tuple(kinds), levels, tuple(rows), weighting, fresh, rules, backend)


def deal(rng: np.random.Generator, pool: Sequence[Any], n: int) -> list[Any]:
    return [pool[i] for i in rng.integers(0, len(pool), n).tolist()]


def deal_rows(rng: np.random.Generator, pools: Sequence[Sequence[Cell]], n: int) -> list[Cells]:
    return list(zip(*(deal(rng, pool, n) for pool in pools), strict=True))


@st.composite
def cell_pools(draw: st.DrawFn, kind: str) -> tuple[list[Cell], list[Cell]]:
    """What a column may hold in the training table, and what in fresh rows; a seed deals it out."""
    if kind == "number":
        # A shifted column shows who subtracts squares of large numbers.
        shift = draw(st.sampled_from([0.0, 1000.0]))
        grid = [k / 4 + shift for k in range(-8, 9)]
        few = draw(st.sampled_from([grid, grid, grid[4:6], grid[:1]]))
        missing = [None] * draw(st.sampled_from([0, 1, len(few)]))
        return [*few, *missing], [*grid, *[None] * len(grid)]
    pool = POOLS[kind][: draw(st.integers(1, 4))]
    return [*pool, None], [*pool, *STRANGERS[kind], None]


def declared_levels() -> st.SearchStrategy[tuple[str, ...]]:
    """All values a column may hold, and perhaps one that it never does."""
    return st.sampled_from([("a", "b", "c", "d"), ("e", "d", "c", "b", "a")])


@st.composite
def rules_for(draw: st.DrawFn, labels: Sequence[str]) -> Rules:
    parts = draw(st.tuples(*(st.integers(1, 5) for _ in labels)))
    priors = {c: Fraction(k / sum(parts)) for c, k in zip(labels, parts, strict=True)}
    factor = st.sampled_from([0.3, 0.5, 1.0, 2.0]).map(Fraction)
    by_label = st.fixed_dictionaries(dict.fromkeys(labels, factor))
    return Rules(
        draw(st.sampled_from(["naive", "joint"])),
        draw(st.sampled_from([Fraction(0), Fraction(1, 2), ONE, Fraction(2)])),
        draw(st.none() | st.just(priors)),
        draw(st.none() | st.just("balanced") | by_label),
    )


# --- From problems to estimators -----------------------------------------------------------------

# The oracle rounds once, the library some dozens of times, by 1e-16 of a logarithm that is seldom
# above 1e3: nine digits leave room for that, and no wrong count or variance hides in the tenth.
NINE_DIGITS: Final = 1e-9
# Two models of the same rows differ by their last roundings only.
TWELVE_DIGITS: Final = 1e-12


def make_frame(problem: Problem, rows: Sequence[Cells], strangers: Sequence[str] = ()) -> Any:
    """The rows as a frame; `strangers` are levels that were not declared at fit."""
    columns: dict[str, Any] = {}
    for j, kind in enumerate(problem.kinds):
        cells = [row[j] for row in rows]
        levels = [*problem.levels[j], *strangers]
        if problem.backend == "pandas":
            columns[f"x{j}"] = pd.Series(cells, dtype=pandas_type(kind, levels))
        else:
            columns[f"x{j}"] = pl.Series(cells, dtype=polars_type(kind, levels))
    return pd.DataFrame(columns) if problem.backend == "pandas" else pl.DataFrame(columns)


def pandas_type(kind: str, levels: Sequence[str]) -> Any:
    plain = {"word": "str", "flag": "boolean", "code": "float64", "number": "float64"}
    return pd.CategoricalDtype(levels) if kind == "level" else plain[kind]


def polars_type(kind: str, levels: Sequence[str]) -> Any:
    plain = {"word": pl.String, "flag": pl.Boolean, "code": pl.Int64, "number": pl.Float64}
    return pl.Enum(levels) if kind == "level" else plain[kind]


def make_learner(problem: Problem) -> Any:
    rules = problem.rules
    codes = [f"x{j}" for j, kind in enumerate(problem.kinds) if kind == "code"]
    return DiscreteBayes(
        structure=rules.structure,
        alpha=float(rules.alpha),
        priors=as_floats(rules.priors),
        class_weight=as_floats(rules.class_weight),
        categorical_features=codes or "from_dtype",
    )


def as_floats(given: Mapping[str, Fraction] | str | None) -> Any:
    """What the learner is told, in its own numbers."""
    return {c: float(x) for c, x in given.items()} if isinstance(given, Mapping) else given


def arguments(problem: Problem, rows: Sequence[Row]) -> dict[str, Any]:
    """X, y and sample_weight of some rows."""
    weights = None if problem.weighting == "none" else np.array([float(r.weight) for r in rows])
    labels = np.array([row.label for row in rows])
    cells = [row.cells for row in rows]
    return {"X": make_frame(problem, cells), "y": labels, "sample_weight": weights}


def fit(problem: Problem, rows: Sequence[Row]) -> Any:
    return make_learner(problem).fit(**arguments(problem, rows))


def quietly(call: Callable[[], T]) -> T:
    """Missing values, unknown values and impossible rows are meant here; no other warning is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return call()


def probabilities(learner: Any, problem: Problem) -> Floats:
    """predict_proba of all rows of a problem."""
    X = make_frame(problem, problem.asked, ["z"])
    return np.asarray(quietly(lambda: learner.predict_proba(X)))


def assert_posteriors(
    got: Floats, oracles: Sequence[Oracle], rows: Sequence[Cells], ulps: int = 16
) -> None:
    """Row i has the posterior of oracle i, to nine digits or as many as its numbers allow."""
    assert got.shape == (len(rows), len(oracles[0].schema.classes))
    for line, oracle, cells in zip(got, oracles, rows, strict=True):
        rel = NINE_DIGITS + ulps * 2.0**-52 * oracle.conditioning(cells)
        assert line.tolist() == pytest.approx(oracle.posterior(cells), rel=rel, abs=1e-300)


def assert_same_model(got: Any, want: Any, problem: Problem) -> None:
    """Two learners say the same; bit by bit, if nothing was ever rounded."""
    assert list(got.classes_) == list(want.classes_)
    assert_same_answers(probabilities(got, problem), probabilities(want, problem), problem)


def assert_same_answers(p: Floats, q: Floats, problem: Problem) -> None:
    assert p.shape == q.shape
    if problem.is_exact:
        np.testing.assert_array_equal(p, q)
        return
    oracle = problem.oracle
    for cells, left, right in zip(problem.asked, p, q, strict=True):
        # Taking rows out may cost three digits of a variance, so an ulp counts a thousandfold.
        rel = TWELVE_DIGITS + 2.0**-42 * oracle.conditioning(cells) * ("number" in problem.kinds)
        assert left.tolist() == pytest.approx(right.tolist(), rel=rel, abs=1e-300)


def as_rows(X: NDArray[Any], y: NDArray[Any], w: NDArray[Any] | None = None) -> tuple[Row, ...]:
    """Arrays as rows of the oracle."""
    weights = [1] * len(y) if w is None else w.tolist()
    parts = zip(X.tolist(), y.tolist(), weights, strict=True)
    return tuple(Row(tuple(cells), str(label), Fraction(k)) for cells, label, k in parts)


def full_codes(rng: np.random.Generator, n: int, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Random codes of which every value occurs, so that all learners count the same values."""
    return np.column_stack([rng.permutation(np.arange(n) % size) for size in sizes])


# --- Random tables: the learner and the oracle ---------------------------------------------------


@given(problems())
def test_posteriors_logarithms_and_labels_are_those_of_the_oracle(problem: Problem) -> None:
    learner, oracle = fit(problem, problem.rows), problem.oracle
    assert list(learner.classes_) == list(oracle.schema.classes)
    got = probabilities(learner, problem)
    assert_posteriors(got, [oracle] * len(got), problem.asked)
    X = make_frame(problem, problem.asked, ["z"])
    logs = np.asarray(quietly(lambda: learner.predict_log_proba(X)))
    np.testing.assert_allclose(np.exp(logs), got, rtol=1e-9, atol=1e-300)
    assert quietly(lambda: learner.predict(X)).tolist() == learner.classes_[got.argmax(1)].tolist()


@given(problems())
def test_leaving_one_out_is_a_fit_without_the_row(problem: Problem) -> None:
    """The classes and values of the full table stay known, also those of one row alone."""
    learner = fit(problem, problem.rows)
    got = np.asarray(quietly(lambda: learner.loo_proba(**arguments(problem, problem.rows))))
    rows = problem.rows
    oracles = [
        Oracle(rows[:i] + rows[i + 1 :], problem.schema, problem.rules) for i in range(len(rows))
    ]
    assert_posteriors(got, oracles, [row.cells for row in rows], ulps=2**10)


# --- Random tables: the same model by another way ------------------------------------------------


@pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")  # the first batches may be
@given(problems(least=0.1), st.data())
def test_batches_in_any_order_make_one_fit(problem: Problem, data: st.DataObject) -> None:
    rows = data.draw(st.permutations(problem.rows))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows) - 1))))
    learner = make_learner(problem)
    for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        classes = None if start else list(problem.schema.classes)
        learner.partial_fit(**arguments(problem, rows[start:stop]), classes=classes)
    assert_same_model(learner, fit(problem, problem.rows), problem)


@given(problems(least=0.1), st.data())
def test_forgetting_is_a_fit_without_the_rows(problem: Problem, data: st.DataObject) -> None:
    """Values that go with their last row are unknown again; the first rows keep the classes."""
    n_classes = len(problem.schema.classes)
    rest = range(n_classes, len(problem.rows))
    gone = data.draw(st.sets(st.sampled_from(rest), min_size=1)) if rest else set()
    forgotten = [problem.rows[i] for i in sorted(gone)]
    kept = tuple(row for i, row in enumerate(problem.rows) if i not in gone)
    learner = fit(problem, problem.rows)
    try:
        if forgotten:
            learner.forget(**arguments(problem, forgotten))
    except TrainingRowsError:
        # Numbers may be refused, where what is left of a variance would be all rounding.
        assert "number" in problem.kinds
        return
    assert_same_model(learner, fit(problem, kept), replace(problem, rows=kept))


# --- Other learners ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_naive_bayes_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(60) % 3)
    w = [None, rng.integers(1, 4, 60), rng.uniform(0.1, 2.0, 60)][seed]
    codes, alpha = full_codes(rng, 60, [2, 3, 5]), [0.25, 1.0, 3.0][seed]
    counted = DiscreteBayes(alpha=alpha, categorical_features="all")
    numbers = rng.normal(size=(60, 3)) + y[:, None] * [0.0, 1.0, 2.0] + [0.0, 0.0, 50.0]
    for X, reference, learner, rtol in (
        (codes, CategoricalNB(alpha=alpha), counted, 1e-12),
        # scikit-learn takes squares of numbers about 50 apart from their means
        (numbers, GaussianNB(var_smoothing=0.0), DiscreteBayes(), 1e-9),
    ):
        want = reference.fit(X, y, sample_weight=w).predict_proba(X)
        got = learner.fit(X, y, sample_weight=w).predict_proba(X)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=0)


@pytest.mark.parametrize(("width", "size"), [(10, 3), (70, 2)])
def test_a_joint_table_may_be_wide(width: int, size: int) -> None:
    """70 columns have 2⁷⁰ cells: more than fit in memory, and more than a number of 64 bits."""
    rng = np.random.default_rng(width)
    X, y = full_codes(rng, 40, [size] * width), np.array(["p", "q"])[np.arange(40) % 2]
    learner = DiscreteBayes("joint", 0.5, categorical_features="all").fit(X, y)
    rows = as_rows(X, y)
    schema = learn_schema(rows, ["code"] * width, [()] * width)
    oracle = Oracle(rows, schema, Rules("joint", Fraction(1, 2)))
    asked = np.vstack([X[:5], rng.integers(0, size, (5, width))]).astype(float)
    asked[::2, ::3] = np.nan
    cells = [tuple(None if math.isnan(x) else x for x in line) for line in asked.tolist()]
    got = np.asarray(quietly(lambda: learner.predict_proba(asked)))
    assert_posteriors(got, [oracle] * len(cells), cells)


# --- Forgetting ----------------------------------------------------------------------------------


def test_a_class_goes_with_its_last_row() -> None:
    X = pd.DataFrame({"a": ["u", "v", "u", "v", "w"]})
    y = np.array(["p", "p", "q", "q", "r"])
    learner = DiscreteBayes().fit(X, y).forget(X[4:], y[4:])
    assert learner.classes_.tolist() == ["p", "q"]
    want = DiscreteBayes().fit(X[:4], y[:4]).predict_proba(X[:4])
    np.testing.assert_array_equal(learner.predict_proba(X[:4]), want)


# --- By hand -------------------------------------------------------------------------------------


@given(problems(numbers=False, weightings=["none", "whole"]))
def test_a_joint_table_without_smoothing_is_counting(problem: Problem) -> None:
    """P(c | x) = P(c) n(x, c) / n(c) / P(x) = n(x, c) / n(x), where no row has a missing value."""
    rows = tuple(row for row in problem.rows if None not in row.cells and row.weight > 0)
    if len({row.label for row in rows}) < 2:
        return
    plain = replace(problem, rows=rows, fresh=(), rules=Rules("joint", Fraction(0)))
    got = probabilities(fit(plain, rows), plain)
    n_cell: Counter[Cells] = Counter()
    n_both: Counter[tuple[Cells, str]] = Counter()
    for row in rows:
        n_cell[row.cells] += int(row.weight)
        n_both[row.cells, row.label] += int(row.weight)
    want = [[n_both[r.cells, c] / n_cell[r.cells] for c in plain.schema.classes] for r in rows]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-300)


def test_a_joint_table_learns_what_a_product_cannot() -> None:
    """Exclusive or: each attribute alone says nothing, both together say all."""
    X = pd.DataFrame({"a": ["0", "0", "1", "1"], "b": ["0", "1", "0", "1"]})
    y = np.array(["even", "odd", "odd", "even"])
    naive = DiscreteBayes().fit(X, y).predict_proba(X)
    joint = DiscreteBayes(structure="joint", alpha=1.0).fit(X, y).predict_proba(X)
    assert naive.tolist() == [[0.5, 0.5]] * 4
    # (1 + 1/4) / (2 + 1) against (0 + 1/4) / (2 + 1)
    want = [[5 / 6, 1 / 6], [1 / 6, 5 / 6], [1 / 6, 5 / 6], [5 / 6, 1 / 6]]
    np.testing.assert_allclose(joint, want, rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_two_valued_attributes_make_linear_functions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = full_codes(rng, 30, [2, 2, 2, 2])
    words = np.array(["absent", "present"])[codes]
    X = pd.DataFrame(words, columns=list("abcd"), dtype="str")
    y = np.array(["p", "q", "r"])[rng.permutation(np.arange(30) % 3)]
    learner = DiscreteBayes(alpha=0.5).fit(X, y)
    g = codes @ learner.coef_.T + learner.intercept_
    assert learner.coef_.shape == (3, 4)
    assert learner.intercept_.shape == (3,)
    logs = learner.predict_log_proba(X)
    np.testing.assert_allclose(logs - logs[:, :1], g - g[:, :1], rtol=1e-12, atol=1e-12)
    rows = as_rows(words, y)
    oracle = Oracle(rows, learn_schema(rows, ["word"] * 4, [()] * 4), Rules(alpha=Fraction(1, 2)))
    want = [[math.log(oracle.joint(r.cells, c)) for c in "pqr"] for r in rows]
    np.testing.assert_allclose(g, want, rtol=1e-12)


def test_the_class_that_sorts_first_wins_a_tie() -> None:
    X = pd.DataFrame({"a": ["u", "v", "u", "v"]})
    learner = DiscreteBayes().fit(X, np.array(["zebra", "zebra", "ant", "ant"]))
    assert learner.predict_proba(X).tolist() == [[0.5, 0.5]] * 4
    assert learner.predict(X).tolist() == ["ant"] * 4


@pytest.mark.parametrize("shares", list(permutations((1, 3, 9)))[1:], ids=str)
def test_the_same_factors_in_another_order_are_a_tie(shares: tuple[int, ...]) -> None:
    """Of ten rows a class, so many have u: the sums of logarithms may differ by rounding."""
    columns = zip((1, 3, 9), shares, strict=True)
    cells = ["".join("u" * k + "v" * (10 - k) for k in pair) for pair in columns]
    X = pd.DataFrame({f"x{j}": list(column) for j, column in enumerate(cells)})
    for labels in ("pq", "qp"):
        learner = DiscreteBayes(alpha=0).fit(X, np.repeat(list(labels), 10))
        row = pd.DataFrame({name: ["u"] for name in X})
        assert learner.predict_proba(row).tolist() == [[0.5, 0.5]]
        assert learner.predict(row).tolist() == ["p"]


def test_balanced_classes_tie_if_nothing_tells_them_apart() -> None:
    """Balanced priors are 1/3 each, whatever the sizes, and P(u | c) = 1 in each class."""
    X = pd.DataFrame({"a": ["u"] * 16})
    y = np.array(["ant"] + ["bee"] * 11 + ["cow"] * 4)
    learner = DiscreteBayes(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(learner.predict_proba(X), 1 / 3, rtol=1e-14)
    assert learner.predict(X).tolist() == ["ant"] * 16


def test_the_class_that_sorts_first_wins_a_tie_of_costs() -> None:
    X = pd.DataFrame({"a": ["u", "u"]})
    costs = np.array([[0.0, 2.0], [2.0, 0.0]])
    learner = DiscreteBayes(costs=costs).fit(X, np.array(["zebra", "ant"]))
    assert learner.predict(X).tolist() == ["ant"] * 2


def test_declared_levels_count_as_values() -> None:
    """One row a class, V = 3: (1 + 1) / (1 + 3) against (0 + 1) / (1 + 3)."""
    X = pd.DataFrame({"a": pd.Categorical(["u", "v"], categories=["u", "v", "w"])})
    learner = DiscreteBayes().fit(X, np.array(["p", "q"]))
    np.testing.assert_allclose(learner.predict_proba(X), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    level = pd.DataFrame({"a": pd.Categorical(["w"], categories=["u", "v", "w"])})
    # Known, though no row has it: there is nothing to warn of.
    assert learner.predict_proba(level).tolist() == [[0.5, 0.5]]


def test_a_class_without_numbers_takes_those_of_the_column() -> None:
    """p has 0 and 2: mean 1, variance 1. So has the whole column, and so has q, without any."""
    X = np.array([[0.0], [2.0], [np.nan], [np.nan]])
    learner = DiscreteBayes().fit(X, np.array(["p", "p", "q", "q"]))
    np.testing.assert_allclose(learner.predict_proba(np.array([[0.5], [7.0]])), 0.5, rtol=1e-15)


def test_a_narrow_class_gets_the_floor() -> None:
    """p is 0, 0 and q is −1, 1: column variance 1/2, so p has 5e-10."""
    X = np.array([[0.0], [0.0], [-1.0], [1.0]])
    learner = DiscreteBayes().fit(X, np.array(["p", "p", "q", "q"]))
    x = 1e-4
    log_odds = math.log(1 / 5e-10) / 2 - x**2 / (2 * 5e-10) + x**2 / 2
    got = learner.predict_log_proba(np.array([[x]]))[0]
    assert got[0] - got[1] == pytest.approx(log_odds, rel=1e-12)


@pytest.mark.parametrize("priors", [{"No": 0.9, "Yes": 0.1}, [0.9, 0.1]], ids=["dict", "array"])
def test_priors_by_label_or_in_order(priors: Any) -> None:
    table = datasets.play_tennis()
    X = table.drop(columns="PlayTennis")
    plain = DiscreteBayes().fit(table, "PlayTennis").predict_proba(X)
    got = DiscreteBayes(priors=priors).fit(table, "PlayTennis").predict_proba(X)
    odds = plain[:, 0] / plain[:, 1] / (5 / 9) * 9
    np.testing.assert_allclose(got[:, 0] / got[:, 1], odds, rtol=1e-12)


def test_an_impossible_row_keeps_its_priors() -> None:
    """No q is u, no p is t: with α = 0 nothing can be both."""
    X = pd.DataFrame({"a": ["u", "u", "v"], "b": ["s", "s", "t"]})
    learner = DiscreteBayes(alpha=0.0).fit(X, np.array(["p", "p", "q"]))
    with pytest.warns(ImpossibleRowWarning):
        got = learner.predict_proba(pd.DataFrame({"a": ["u"], "b": ["t"]}))
    np.testing.assert_allclose(got, [[2 / 3, 1 / 3]], rtol=1e-15)
