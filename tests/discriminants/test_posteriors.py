"""Linear and quadratic discriminant against a slow oracle, and that against numbers by hand."""

import math
import warnings
from itertools import permutations, product
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.discriminants.oracle import NAMES, Oracle, close, make_table
from tests.explained import read

from sortal import LinearDiscriminant, QuadraticDiscriminant
from sortal.errors import MissingValueWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

every_seed = pytest.mark.parametrize("seed", range(2))
every_norm = pytest.mark.parametrize("norm", ["unbiased", "mle"])
every_mixture = pytest.mark.parametrize(
    ("norm", "pooling", "shrinkage"),
    [
        ("unbiased", 0.0, 0.0),
        ("mle", 0.3, 0.0),
        ("mle", 0.0, 0.2),
        ("unbiased", 0.6, 0.4),
        ("unbiased", 1.0, 0.1),
    ],
)


def some_weights(kind: str, n: int) -> Float | None:
    rng = np.random.default_rng(n)
    if kind == "whole":
        return rng.integers(1, 4, n).astype(float)
    return rng.uniform(0.1, 2.0, n) if kind == "fractional" else None


def differences(functions: Any) -> Float:
    """Of several functions only the differences mean something; of two, the decision is that."""
    found = np.asarray(functions, dtype=np.float64)
    return found[:, 1:] - found[:, :1]


# --- The oracle, by hand -------------------------------------------------------------------------

LINE: Final = [[-1.0], [1.0], [2.0], [6.0]]  # S = 2 about 0, and S = 8 about 4
SQUARE: Final = [[1.0, 1], [1, -1], [-1, 1], [-1, -1]]
# rows, labels, options; and the covariances of the classes, in order
BY_HAND: Final[dict[str, tuple[Any, str, dict[str, Any], list[Any]]]] = {
    "2/2, 8/2": (LINE, "aabb", {}, [[[1]], [[4]]]),
    "unbiased": (LINE, "aabb", {"covariance": "unbiased"}, [[[2]], [[8]]]),
    "(1 + 5)/(1 + 2), (4 + 5)/(1 + 2)": (LINE, "aabb", {"pooling": 0.5}, [[[2]], [[3]]]),
    "(1 + 5)/(½ + 1), (4 + 5)/(½ + 1)": (
        LINE,
        "aabb",
        {"pooling": 0.5, "covariance": "unbiased"},
        [[[4]], [[6]]],
    ),
    "all pooled": (LINE, "aabb", {"pooling": 1.0}, [[[2.5]], [[2.5]]]),
    "mixed by scatter: (1 + 5)/(½ + 2), (4 + 5)/(1.5 + 2)": (
        [*LINE, [4.0], [4.0]],
        "aabbbb",
        {"pooling": 0.5, "covariance": "unbiased"},
        [[[6 / 2.5]], [[9 / 3.5]]],
    ),
    "shrunk: 0.8 · (½, 2) + 0.2 · 1.25": (
        [[1.0, 0], [-1, 0], [0, 2], [0, -2], [9, 9], [8, 8], [9, 8], [8, 9]],
        "aaaabbbb",
        {"shrinkage": 0.2},
        [np.diag([0.65, 1.85]), np.diag([0.25, 0.25])],
    ),
    "pooled diag(1, ⅔) fills the gap of two rows along an axis": (
        [*SQUARE, [3.0, 0], [5, 0]],
        "aaaabb",
        {},
        [np.eye(2), np.diag([1.0, 2 / 3])],
    ),
    # Σ = [1 ⅓; ⅓ 1] has variance 4/3 along (1, −1), where Σ_b = [1 1; 1 1] has none: added is
    # Σaaᵀ Σ / (aᵀΣa) = ⅓ [1 −1; −1 1]
    "two rows across the axes": (
        [*SQUARE, [0.0, 0], [2, 2]],
        "aaaabb",
        {},
        [np.eye(2), np.array([[4, 2], [2, 4]]) / 3],
    ),
    "one row, and one point": (
        [*SQUARE, [0.0, 0], [7, 7], [7, 7]],
        "aaaabcc",
        {"covariance": "unbiased"},
        [np.eye(2) * 4 / 3, np.eye(2), np.eye(2)],
    ),
    "fractions count rows: S = 1, D = 1 · (2 − 1)/2": (
        LINE,
        "aabb",
        {"covariance": "unbiased", "weight": np.full(4, 0.5)},
        [[[2]], [[8]]],
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")
def test_covariances_by_hand(name: Any) -> None:
    rows, labels, given, expected = BY_HAND[name]
    X, y, options = np.array(rows), np.array(list(labels)), {"covariance": "mle", **given}
    oracle = Oracle(X, y, **options)
    close([oracle.used(k) for k in oracle.classes], expected, 1e-14)
    model = QuadraticDiscriminant(**{k: v for k, v in options.items() if k != "weight"})
    close(model.fit(X, y, sample_weight=options.get("weight")).covariances_, expected, 1e-14)


def test_functions_by_hand() -> None:
    """N(0, 1) and N(4, 4): −½x² + ½(x − 4)²/4 + ln 2 = ln 2 + 2 − x − ⅜x²."""
    oracle = Oracle(np.array(LINE), np.array(list("aabb")), "mle")
    for x, expected in ((0.0, math.log(2) + 2), (4.0, math.log(2) - 8)):
        assert oracle.log_odds(np.full(1, x), "a", "b") == pytest.approx(expected, rel=1e-14)
    told = Oracle(np.array(LINE), np.array(list("aabb")), "mle", priors={"a": 0.1, "b": 0.9})
    odds = 2 * math.e**2 / 9
    close(told.posterior(np.zeros(1)), [odds / (1 + odds), 1 / (1 + odds)], 1e-14)
    beta0, beta, gamma = oracle.boundary("a", "b")
    close([beta0, beta[0], gamma[0, 0]], [math.log(2) + 2, -1.0, -0.375], 1e-14)


def test_missing_values_and_parts_by_hand() -> None:
    y = np.array(list("aaaabb"))
    oracle = Oracle(np.array([*SQUARE, [0, 0], [2, 2]]), y, "mle", priors={"a": 0.5, "b": 0.5})
    found = oracle.log_odds(np.array([np.nan, 2.0]), "a", "b")
    assert found == pytest.approx(0.5 * math.log(4 / 3) - 2 + 0.5 / (4 / 3), rel=1e-13)
    assert oracle.posterior(np.array([np.nan, np.nan])) == [0.5, 0.5]
    # at (2, 1), of N(0, I) and N((1, 1), diag(4, 1)): −2 + ⅛, −½ + 0 and ½ ln 4
    X = np.array([*SQUARE, [3, 2], [3, 0], [-1, 2], [-1, 0]])
    offset, parts = Oracle(X, np.repeat(["a", "b"], 4), "mle").parts(np.array([2.0, 1.0]), "a", "b")
    close([offset, *parts], [math.log(2), -2 + 1 / 8, -0.5], 1e-14)


# --- Posteriors ----------------------------------------------------------------------------------


def check_posteriors(model: Any, oracle: Oracle, rows: Float) -> None:
    """Of either discriminant."""
    close(model.predict_proba(rows), oracle.posteriors(rows))
    close(model.predict_log_proba(rows), oracle.log_posteriors(rows))
    functions = differences(oracle.all_functions(rows))
    decision = model.decision_function(rows)
    close(decision if decision.ndim == 1 else differences(decision), np.squeeze(functions))
    said = [oracle.classes[int(np.argmax(p))] for p in oracle.posteriors(rows)]
    assert model.predict(rows).tolist() == said
    assert model.classes_.tolist() == oracle.classes
    close(model.priors_, [oracle.prior(k) for k in oracle.classes], 1e-13)
    close(model.means_, [oracle.means[k] for k in oracle.classes], 1e-12)
    assert model.shrinkage_ == oracle.shrinkage


def check_model(model: QuadraticDiscriminant, oracle: Oracle, rows: Float) -> None:
    """Everything the definitions say of a fit."""
    check_posteriors(model, oracle, rows)
    sigmas = np.array([oracle.used(k) for k in oracle.classes])
    assert model.covariances_.shape == sigmas.shape
    close(model.covariances_, sigmas, 1e-11)
    assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]
    assert np.issubdtype(model.ranks_.dtype, np.integer)
    assert (model.pooling_, model.shrinkage_) == (oracle.pooling, oracle.shrinkage)
    assert isinstance(model.pooling_, float)
    assert isinstance(model.shrinkage_, float)


POOLINGS: Final = (0, 0.3, 1.0)
SHRINKAGES: Final = (None, 0.2, 1.0)
KINDS: Final = ("none", "whole", "fractional")
CLASS_WEIGHTS: Final = (None, {"ash": 2.0, "birch": 0.5}, "balanced", {"ash": 3.0, "cedar": 2.0})


@every_norm
@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS, ids=str)
def test_posteriors(norm: Any, class_weight: Any) -> None:
    """Each weight with each pooling and shrinkage; tables of all shapes."""
    shapes = [(2, 1), (2, 3), (5, 2), (3, 5), (3, 3)]
    for i, (pooling, shrinkage) in enumerate(product(POOLINGS, SHRINKAGES)):
        X, y = make_table(5 + i, *(shapes[i % 5] if class_weight is None else (3, 3)))
        w = some_weights(KINDS[(i // 3 + i) % 3], len(X))
        oracle = Oracle(X, y, norm, pooling, shrinkage or 0.0, w, None, class_weight)
        model = QuadraticDiscriminant(norm, pooling, shrinkage, class_weight=class_weight)
        check_model(model.fit(X, y, sample_weight=w), oracle, X[::4])
        if pooling == 1:
            linear = LinearDiscriminant(norm, shrinkage, class_weight=class_weight)
            check_posteriors(linear.fit(X, y, sample_weight=w), oracle, X[::4])
            close(linear.covariance_, oracle.pooled, 1e-11)


@every_mixture
def test_priors(norm: Any, pooling: float, shrinkage: float) -> None:
    """At fit by label or in order, or at predict: the covariances stay pooled by counts."""
    X, y = make_table(0)
    priors, listed = {"ash": 0.6, "birch": 0.3, "cedar": 0.1}, [0.6, 0.3, 0.1]
    oracle = Oracle(X, y, norm, pooling, shrinkage, priors=priors)
    expected = oracle.posteriors(X)
    said = [oracle.classes[int(np.argmax(row))] for row in expected]

    def make(**more: Any) -> Any:
        if pooling == 1:
            return LinearDiscriminant(norm, shrinkage, **more).fit(X, y)
        return QuadraticDiscriminant(norm, pooling, shrinkage, **more).fit(X, y)

    check_posteriors(make(priors=priors), oracle, X[::3])
    np.testing.assert_array_equal(
        make(priors=listed).predict_proba(X), make(priors=priors).predict_proba(X)
    )
    plain = make()
    close(plain.predict_proba(X, priors=priors), expected)
    close(plain.predict_log_proba(X, priors=listed), oracle.log_posteriors(X))
    assert plain.predict(X, priors=priors).tolist() == said
    close(plain.priors_, [(y == c).mean() for c in oracle.classes], 1e-14)


def test_a_prior_of_zero_is_impossible() -> None:
    X, y = make_table(2)
    model = QuadraticDiscriminant(priors=[0.5, 0.0, 0.5]).fit(X, y)
    assert (model.predict_proba(X)[:, 1] == 0).all()
    assert np.isneginf(model.predict_log_proba(X)[:, 1]).all()
    close(model.predict_proba(X).sum(axis=1), 1, 1e-14)
    oracle = Oracle(X, y, priors={"ash": 0.5, "birch": 0.0, "cedar": 0.5})
    close(model.predict_proba(X), oracle.posteriors(X))


@every_norm
@pytest.mark.parametrize("unit", [1e-3, 1e9])
def test_the_unit_of_fractional_weights_does_not_matter(norm: Any, unit: float) -> None:
    X, y = make_table(4)
    w = np.random.default_rng(4).uniform(0.5, 2.5, len(X))
    one = QuadraticDiscriminant(norm, 0.3, 0.1).fit(X, y, sample_weight=w)
    other = QuadraticDiscriminant(norm, 0.3, 0.1).fit(X, y, sample_weight=w * unit)
    close(other.covariances_, one.covariances_, 1e-10)
    close(other.predict_proba(X), one.predict_proba(X), 1e-10)


def test_condition_is_that_of_the_pooled_matrix_or_worse() -> None:
    """A number of at least 1, free of units."""
    X, y = make_table(3)
    one = QuadraticDiscriminant().fit(X, y).condition_
    other = QuadraticDiscriminant().fit(X * [1.0, 1e6, 1e-6], y).condition_
    assert 1 <= one < 1e4
    assert other == pytest.approx(one, rel=1e-6)


# --- Boundaries and costs ------------------------------------------------------------------------

COSTS: Final = np.array([[0.0, 2.0, 6.0], [4.0, 1.0, 3.0], [5.0, 9.0, 0.5]])


def at(boundary: Any, x: Float) -> Float:
    """β_0 + xᵀβ + xᵀΓx."""
    quadratic = np.einsum("ij,jm,im->i", x, boundary.gamma, x)
    return np.asarray(boundary.beta0 + x @ boundary.beta + quadratic)


@every_seed
@every_mixture
def test_boundaries_are_log_odds(seed: int, norm: Any, pooling: float, shrinkage: float) -> None:
    X, y = make_table(seed)
    oracle = Oracle(X, y, norm, pooling, shrinkage)
    model = QuadraticDiscriminant(norm, pooling, shrinkage).fit(X, y)
    logs = model.predict_log_proba(X)
    for k, l in permutations(range(3), 2):  # noqa: E741  (the books' letters)
        found = model.boundary(NAMES[k], NAMES[l])
        beta0, beta, gamma = oracle.boundary(NAMES[k], NAMES[l])
        assert found.beta0 == pytest.approx(beta0, rel=1e-8, abs=1e-8)
        close(found.beta, beta, 1e-8)
        close(found.gamma, gamma, 1e-9)
        close(found.gamma, np.transpose(found.gamma), 1e-14)
        close(at(found, X), logs[:, k] - logs[:, l], 1e-8)
        if pooling == 1:
            close(found.gamma, np.zeros((3, 3)), 1e-12)
            line = LinearDiscriminant(norm, shrinkage).fit(X, y).boundary(NAMES[k], NAMES[l])
            close([line.beta0, *line.beta], [beta0, *beta], 1e-8)


def test_priors_of_a_boundary() -> None:
    X, y = make_table(0)
    model = QuadraticDiscriminant().fit(X, y)
    priors = [0.7, 0.1, 0.2]
    logs = model.predict_log_proba(X, priors=priors)
    found = model.boundary("cedar", "birch", priors=priors)
    close(at(found, X), logs[:, 2] - logs[:, 1], 1e-8)
    by_label = model.boundary("cedar", "birch", priors=dict(zip(NAMES, priors, strict=False)))
    assert by_label.beta0 == found.beta0
    plain = model.boundary("cedar", "birch")
    shift = math.log(0.2 / 0.1) - math.log(model.priors_[2] / model.priors_[1])
    assert found.beta0 - plain.beta0 == pytest.approx(shift, rel=1e-9)
    np.testing.assert_array_equal(found.beta, plain.beta)
    np.testing.assert_array_equal(found.gamma, plain.gamma)


@every_seed
@pytest.mark.parametrize("make", [QuadraticDiscriminant, LinearDiscriminant])
def test_costs_of_a_boundary(seed: int, make: Any) -> None:
    """β_0 + ln((C_kl − C_kk)/(C_lk − C_ll))."""
    X, y = make_table(seed)
    model = make().fit(X, y)
    for k, l in permutations(range(3), 2):  # noqa: E741
        shift = math.log((COSTS[k, l] - COSTS[k, k]) / (COSTS[l, k] - COSTS[l, l]))
        plain = model.boundary(NAMES[k], NAMES[l])
        found = model.boundary(NAMES[k], NAMES[l], costs=COSTS)
        assert found.beta0 - plain.beta0 == pytest.approx(shift, rel=1e-9)
        np.testing.assert_array_equal(found.beta, plain.beta)
        both = model.boundary(NAMES[k], NAMES[l], priors=[0.2, 0.3, 0.5], costs=COSTS)
        told = model.boundary(NAMES[k], NAMES[l], priors=[0.2, 0.3, 0.5])
        assert both.beta0 - told.beta0 == pytest.approx(shift, rel=1e-9)


@every_seed
@pytest.mark.parametrize("make", [QuadraticDiscriminant, LinearDiscriminant])
def test_two_classes_are_said_as_their_boundary_with_costs_says(seed: int, make: Any) -> None:
    X, y = make_table(seed, 2)
    model = make().fit(X, y)
    costs, priors = np.array([[1.0, 7.0], [3.0, 0.0]]), [0.4, 0.6]
    grid = X[np.random.default_rng(seed).integers(0, len(X), (200, 3)), np.arange(3)]
    found = model.boundary("ash", "birch", priors=priors, costs=costs)
    value = found.beta0 + grid @ found.beta
    if make is QuadraticDiscriminant:
        value = at(found, grid)
    said = model.predict(grid, priors=priors, costs=costs)
    assert said.tolist() == np.where(value > 0, "ash", "birch").tolist()


# --- Reasons -------------------------------------------------------------------------------------


@every_mixture
@pytest.mark.parametrize(("n_classes", "missing"), [(2, False), (2, True), (4, True)])
@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
def test_reasons(
    norm: Any, pooling: float, shrinkage: float, n_classes: int, missing: bool
) -> None:
    X, y = make_table(0, n_classes)
    oracle = Oracle(X, y, norm, pooling, shrinkage)
    model = QuadraticDiscriminant(norm, pooling, shrinkage).fit(X, y)
    rows = X[:9].copy()
    if missing:
        rows[::2, 1] = np.nan
        rows[0] = np.nan
    reasons: Any = model.explain(rows)
    assert len(reasons) == 9
    said = model.predict(rows)
    logs = model.predict_log_proba(rows)
    for i, (x, reason) in enumerate(zip(rows, map(read, reasons), strict=True)):
        order = np.argsort(-np.array(oracle.functions(x)), kind="stable")
        k, l = oracle.classes[order[0]], oracle.classes[order[1]]  # noqa: E741
        assert (reason.label, reason.against) == (k, l)
        assert said[i] == k
        offset, amounts = oracle.parts(x, k, l)
        assert reason.start == pytest.approx(offset, rel=1e-9, abs=1e-9)
        assert [p.part for p in reason.parts] == ["x0", "x1", "x2"]
        close([p.amount for p in reason.parts], amounts)
        total = reason.start + sum(p.amount for p in reason.parts)
        assert reason.total == pytest.approx(total, rel=1e-11, abs=1e-11)
        assert reason.total == pytest.approx(oracle.log_odds(x, k, l), rel=1e-9, abs=1e-9)
        assert reason.total == pytest.approx(logs[i, order[0]] - logs[i, order[1]], abs=1e-9)
        functions = dict(zip(reason.classes, reason.functions, strict=True))
        assert functions[k] - functions[l] == pytest.approx(reason.total, rel=1e-9, abs=1e-9)
        for part, value in zip(reason.parts, x, strict=True):
            assert part.mark == ("missing" if np.isnan(value) else "")
            assert part.amount == 0 or not np.isnan(value)


def test_reasons_of_a_decision_by_costs() -> None:
    """What is predicted is explained, against the likeliest of the others, costs apart."""
    X, y = make_table(1)
    model = QuadraticDiscriminant(costs=COSTS).fit(X, y)
    said, logs = model.predict(X), model.predict_log_proba(X)
    reasons: Any = model.explain(X)
    for label, row, reason in zip(said, logs, map(read, reasons), strict=True):
        assert reason.label == label
        k = model.classes_.tolist().index(label)
        others = [j for j in range(3) if j != k]
        best = max(others, key=lambda j: row[j])
        assert reason.against == model.classes_[best]
        log_odds = reason.total - reason.costs
        assert log_odds == pytest.approx(row[k] - row[best], rel=1e-8, abs=1e-8)
        assert reason.total >= 0


# --- Given moments -------------------------------------------------------------------------------


@every_mixture
def test_a_model_of_its_own_moments(norm: Any, pooling: float, shrinkage: float) -> None:
    X, y = make_table(0)
    fitted = QuadraticDiscriminant(norm, pooling, shrinkage).fit(X, y)
    oracle = Oracle(X, y, norm)
    given: dict[str, Any] = {
        "counts": [oracle.n(k) for k in oracle.classes],
        "classes": oracle.classes,
        **fitted.get_params(),
    }
    means = list(oracle.means.values())
    by_scatter = QuadraticDiscriminant.from_moments(
        means, scatters=list(oracle.scatters.values()), **given
    )
    by_covariance = QuadraticDiscriminant.from_moments(
        means, covariances=[oracle.own(k) for k in oracle.classes], **given
    )
    for model in (by_scatter, by_covariance):
        close(model.predict_log_proba(X), fitted.predict_log_proba(X))
        close(model.covariances_, fitted.covariances_, 1e-12)
        assert model.predict(X).tolist() == fitted.predict(X).tolist()
        assert model.ranks_.tolist() == fitted.ranks_.tolist()


@every_norm
def test_moments_of_populations(norm: Any) -> None:
    """Without counts they are exact: N(0, 1) against N(4, 4), ln 2 + 2 − x − ⅜x² at equal odds."""
    model = QuadraticDiscriminant.from_moments(
        [[0.0], [4.0]], covariances=[[[1.0]], [[4.0]]], classes=["a", "b"], covariance=norm
    )
    x = np.linspace(-9, 9, 37)[:, None]
    expected = math.log(2) + 2 - x[:, 0] - 0.375 * x[:, 0] ** 2
    close(model.decision_function(x), -expected, 1e-12)
    found = model.boundary("a", "b")
    close([found.beta0, found.beta[0], found.gamma[0, 0]], [math.log(2) + 2, -1, -0.375], 1e-13)
    close(model.covariances_[:, 0, 0], [1, 4], 1e-14)
    told = QuadraticDiscriminant.from_moments(
        [[0.0], [4.0]], covariances=[[[1.0]], [[4.0]]], priors=[0.9, 0.1], covariance=norm
    )
    close(told.decision_function(x), -expected - math.log(9), 1e-12)


def test_a_common_covariance_makes_it_linear() -> None:
    means, sigma = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], np.array([[2.0, 0.3], [0.3, 1.0]])
    X = np.random.default_rng(0).normal(size=(20, 2))
    one = QuadraticDiscriminant.from_moments(means, covariances=sigma)
    other = LinearDiscriminant.from_moments(means, covariances=sigma)
    close(one.predict_log_proba(X), other.predict_log_proba(X), 1e-12)
    close(one.boundary(0, 1).gamma, np.zeros((2, 2)), 1e-14)
    close(one.boundary(0, 1).beta, other.boundary(0, 1).beta, 1e-12)
    assert one.boundary(0, 1).beta0 == pytest.approx(other.boundary(0, 1).beta0, rel=1e-12)


# --- Categories ----------------------------------------------------------------------------------


def mixed_table(seed: int) -> tuple[Any, Float, Labels]:
    """A frame with a category, and the same with an indicator less: no pooled direction is lost."""
    X, y = make_table(seed, n_terms=2)
    words = np.random.default_rng(seed).choice(["p", "q", "r"], len(X))
    frame = pd.DataFrame({"a": X[:, 0], "word": words, "b": X[:, 1]})
    plain = np.column_stack([X[:, 0], words == "q", words == "r", X[:, 1]]).astype(float)
    return frame, plain, y


@every_seed
@every_norm
@pytest.mark.parametrize("pooling", [0.0, 0.3])
def test_categories_are_indicators(seed: int, norm: Any, pooling: float) -> None:
    """Posteriors do not depend on which indicator is left out, or on none being so."""
    frame, plain, y = mixed_table(seed)
    with warnings.catch_warnings():  # a class may lack a word
        warnings.simplefilter("ignore")
        model = QuadraticDiscriminant(norm, pooling).fit(frame, y)
    oracle = Oracle(plain, y, norm, pooling)
    close(model.predict_log_proba(frame), oracle.log_posteriors(plain), 1e-8)
    assert model.terms_.tolist() == ["a", "word=p", "word=q", "word=r", "b"]
    assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]
    assert model.covariances_.shape == (3, 5, 5)
    # without the word: both its indicators are integrated out
    with pytest.warns(MissingValueWarning):
        found = model.predict_log_proba(frame.assign(word=None))
    incomplete = plain.copy()
    incomplete[:, 1:3] = np.nan
    close(found, oracle.log_posteriors(incomplete), 1e-8)
    # parts of a word are those of its indicators, added up
    reasons: Any = model.explain(frame[:5])
    for x, reason in zip(plain[:5], map(read, reasons), strict=True):
        assert [p.part for p in reason.parts] == ["a", "word", "b"]
        total = reason.start + sum(p.amount for p in reason.parts)
        expected = oracle.log_odds(x, reason.label, reason.against)
        assert total == pytest.approx(expected, rel=1e-8, abs=1e-8)
