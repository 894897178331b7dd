"""The discriminants against a slow oracle, scikit-learn, numerical integration and brute force."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from tests.discriminants.oracle import NAMES, Oracle, close, make_table

from sortal import FisherDiscriminant, IndicatorRegression, LinearDiscriminant
from sortal.errors import MissingValueWarning, PerfectSeparationWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Learner: TypeAlias = FisherDiscriminant | LinearDiscriminant | IndicatorRegression

every_seed = pytest.mark.parametrize("seed", range(2))
every_norm = pytest.mark.parametrize("norm", ["unbiased", "mle"])


def oracle_of(
    X: Float,
    y: Labels,
    norm: Any = "unbiased",
    weight: Float | None = None,
    priors: Mapping[str, float] | None = None,
    shrinkage: float = 0.0,
) -> Oracle:
    """Gaussian classes with one covariance: those of the quadratic discriminant, all pooled."""
    return Oracle(X, y, norm, 1.0, shrinkage, weight, priors)


# --- LinearDiscriminant --------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_decision_functions_and_coefficients(n_classes: int) -> None:
    X, y = make_table(1, n_classes)
    oracle = oracle_of(X, y)
    model = LinearDiscriminant().fit(X, y)
    first = oracle.classes[0]
    expected = np.array([[oracle.log_odds(x, c, first) for c in oracle.classes] for x in X])
    rows = 1 if n_classes == 2 else n_classes
    assert (model.coef_.shape, model.intercept_.shape) == ((rows, 3), (rows,))
    functions = X @ model.coef_.T + model.intercept_
    for found in (functions, model.decision_function(X).reshape(len(X), rows)):
        close(found if rows == 1 else found - found[:, :1], expected[:, -rows:])


def centered(X: Float, y: Labels) -> Float:
    return np.vstack([X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)])


PEERS: Final[dict[str, Callable[[Float], float]]] = {
    "ledoit_wolf": lambda Z: float(ledoit_wolf_shrinkage(Z, assume_centered=True)),
    "oas": lambda Z: float(oas(Z, assume_centered=True)[1]),
}


@pytest.mark.parametrize("rule", PEERS)
@pytest.mark.parametrize(("norm", "p"), [("mle", 2), ("unbiased", 5), ("mle", 18)])
def test_shrinkage_by_a_rule(norm: Any, rule: Any, p: int) -> None:
    """λ of the rows about their class means, and posteriors with it; p may exceed n."""
    rng = np.random.default_rng(p)
    y = NAMES[rng.permutation(np.arange(16) % 3)]
    X = rng.standard_t(5, size=(16, p)) * rng.uniform(0.5, 2.0, p) + (y == "ash")[:, None] + 3
    lam = PEERS[rule](centered(X, y))
    assert 0 < lam <= 1
    model = LinearDiscriminant(norm, rule).fit(X, y)
    assert model.shrinkage_ == pytest.approx(lam, rel=1e-10)
    oracle = oracle_of(X, y, norm, shrinkage=lam)
    close(model.covariance_, oracle.pooled, 1e-10)
    close(model.predict_log_proba(X[::4]), oracle.log_posteriors(X[::4]), 1e-7)


@pytest.mark.parametrize("rule", PEERS)
def test_shrinkage_by_a_rule_takes_weights_as_copies(rule: Any) -> None:
    X, y = make_table(5)
    w = np.random.default_rng(5).integers(1, 4, len(X))
    model = LinearDiscriminant(shrinkage=rule).fit(X, y, sample_weight=w)
    copies = centered(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert model.shrinkage_ == pytest.approx(PEERS[rule](copies), rel=1e-10)


@pytest.mark.parametrize("rule", PEERS)
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_shrinkage_by_a_rule_far_from_zero(rule: Any, offset: float) -> None:
    """Fourth powers of deviations: those of the rows, not those of the offset."""
    rng = np.random.default_rng(6)
    X, y = np.round(rng.normal(size=(60, 4)) * 1024) / 1024, NAMES[np.arange(60) % 2]
    model = LinearDiscriminant(shrinkage=rule).fit(X + offset, y)
    assert model.shrinkage_ == pytest.approx(PEERS[rule](centered(X, y)), rel=1e-8)


@pytest.mark.parametrize("m", [1, 2])
def test_fewer_variates_are_the_first(m: int) -> None:
    X, y = make_table(2, 4)
    full, few = LinearDiscriminant().fit(X, y), LinearDiscriminant(n_components=m).fit(X, y)
    close(few.scalings_, full.scalings_[:, :m], 1e-12)
    close(few.transform(X), full.transform(X)[:, :m], 1e-11)
    assert few.explained_variance_ratio_.shape == (m,)
    close(few.explained_variance_ratio_, full.explained_variance_ratio_[:m], 1e-12)


def test_variates_weigh_classes_by_priors() -> None:
    """B = Σ π_k (μ_k − x̄)(μ_k − x̄)ᵀ with x̄ = Σ π_k μ_k, as in MASS::lda."""
    X, y = make_table(4)
    priors = np.array([0.7, 0.2, 0.1])
    model = LinearDiscriminant(priors=priors).fit(X, y)
    deviations = model.means_ - priors @ model.means_
    between = np.einsum("k,ki,kj->ij", priors, deviations, deviations)
    values = np.sort(np.linalg.eigvals(np.linalg.solve(model.covariance_, between)).real)[::-1][:2]
    close(model.explained_variance_ratio_, values / values.sum(), 1e-9)
    close(model.scalings_.T @ between @ model.scalings_, np.diag(values), 1e-9)
    close(model.scalings_.T @ model.covariance_ @ model.scalings_, np.eye(2), 1e-10)


def condition(matrix: Float) -> float:
    d = np.sqrt(np.diag(matrix))
    return float(np.linalg.cond(matrix / np.outer(d, d)))


def test_condition_numbers() -> None:
    X, y = make_table(0)
    X[:, 1] *= 1e5  # the unit of a column is nobody's fault
    pooled, total = oracle_of(X, y).pooled, np.cov(X.T)
    assert LinearDiscriminant().fit(X, y).condition_ == pytest.approx(condition(pooled), rel=1e-7)
    fisher = FisherDiscriminant().fit(X, y)
    assert fisher.condition_ == pytest.approx(condition(fisher.within_), rel=1e-7)
    assert fisher.condition_ == pytest.approx(condition(pooled), rel=1e-7)
    regression = IndicatorRegression().fit(X, y)
    assert regression.condition_ == pytest.approx(condition(total), rel=1e-7)


def test_a_direction_without_spread_within_gets_a_floor() -> None:
    """x is 0 or 1 by class; its variance over all rows is 1/4, so within it is 2.5e-10."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(PerfectSeparationWarning, match="x0"):
        model = LinearDiscriminant("mle").fit(X, list("ppqq"))
    constant, beta = model.boundary("q", "p")
    close(np.ravel(beta) * 2.5e-10, [1.0])
    assert float(constant) * 2.5e-10 == pytest.approx(-0.5, rel=1e-9)
    assert model.predict([[0.49], [0.51]]).tolist() == ["p", "q"]


# --- Fisher for many classes, and its threshold --------------------------------------------------


@pytest.mark.parametrize("within", ["scatter", "covariance"])
@pytest.mark.parametrize("m", [None, 1, 2])
def test_fisher_takes_the_nearest_mean(within: Any, m: int | None) -> None:
    X, y = make_table(m or 0, 4)
    model = FisherDiscriminant(within, m).fit(X, y)
    lengths = np.sqrt(np.einsum("jm,ji,im->m", model.directions_, model.within_, model.directions_))
    A = model.directions_ / lengths
    assert A.shape[1] == (m or 3)
    far = np.array([[-0.5 * ((x @ A - mean @ A) ** 2).sum() for mean in model.means_] for x in X])
    decision = model.decision_function(X)
    close(decision - decision[:, :1], far - far[:, :1], 1e-9)
    assert model.predict(X).tolist() == model.classes_[np.argmax(far, axis=1)].tolist()
    assert model.threshold_ is None


@every_seed
def test_fisher_of_two_classes_cuts_at_the_midpoint(seed: int) -> None:
    X, y = make_table(seed, 2)
    model = FisherDiscriminant().fit(X, y)
    a = X @ model.directions_[:, 0]
    cut = (a[y == "ash"].mean() + a[y == "birch"].mean()) / 2
    assert model.threshold_ == pytest.approx(cut, rel=1e-11)
    close(model.decision_function(X), cut - a, 1e-10)
    assert model.predict(X).tolist() == np.where(a >= cut, "ash", "birch").tolist()


def least_error(a: Float, is_first: NDArray[np.bool_], w: Float) -> float:
    """Every cut between two neighbours; the best, and of several the one nearest the midpoint."""
    middle = (np.average(a[is_first], weights=w[is_first])
              + np.average(a[~is_first], weights=w[~is_first])) / 2  # fmt: skip
    values = np.unique(a)
    cuts = (values[1:] + values[:-1]) / 2
    errors = [round(float(w[(a >= cut) != is_first].sum()), 9) for cut in cuts]
    best = [cut for cut, error in zip(cuts, errors, strict=True) if error == min(errors)]
    return float(min(best, key=lambda cut: abs(cut - middle)))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_cut_of_least_error_by_brute_force(weighted: bool) -> None:
    for seed in range(12):
        X, y = make_table(seed, 2)
        w = np.random.default_rng(seed).integers(1, 5, len(X)) / 4 if weighted else np.ones(len(X))
        given = w if weighted else None
        model = FisherDiscriminant(threshold="least_error").fit(X, y, sample_weight=given)
        a = X @ model.directions_[:, 0]
        cut = least_error(a, y == "ash", w)
        assert model.threshold_ == pytest.approx(cut, rel=1e-9), f"seed {seed}"
        plain = FisherDiscriminant().fit(X, y, sample_weight=w)
        close(model.directions_, plain.directions_, 1e-12)


@pytest.mark.parametrize(
    ("first", "last", "cut"),
    [
        # One error at 1.5 and at 6.5; the midpoint of the means is 4.5.
        ([2.0, 10.0, 11.0], [0.0, 1.0, 3.0], 6.5),
        # The mirror image: one error at −6.5 and at −1.5, midpoint −4.5.
        ([-3.0, -1.0, 0.0], [-11.0, -10.0, -2.0], -6.5),
        # Equal values are on one side: cuts are at 0.5 (two errors) and at 1.5 (one).
        ([1.0, 2.0, 2.0], [0.0, 1.0, 1.0], 1.5),
        # One cut without error, far from the midpoint of the means, which is 6.
        ([4.0, 14.0, 18.0], [-3.0, 1.0, 2.0], 3.0),
    ],
)
def test_of_several_best_cuts_the_one_nearest_the_midpoint(
    first: list[float], last: list[float], cut: float
) -> None:
    x = np.array([*first, *last])[:, None]
    model = FisherDiscriminant(threshold="least_error").fit(x, list("aaabbb"))
    assert model.directions_.tolist() == [[1.0]]
    assert model.threshold_ == pytest.approx(cut, rel=1e-12)
    assert model.predict([[cut + 1e-6], [cut - 1e-6]]).tolist() == ["a", "b"]


# --- evaluate_direction --------------------------------------------------------------------------


def shared_area(m: Float, v: Float) -> float:
    """∫ min(p_1, p_2), on a fine grid."""
    lo, hi = (m - 12 * np.sqrt(v)).min(), (m + 12 * np.sqrt(v)).max()
    x = np.linspace(lo, hi, 400_001)
    density = np.exp(-((x - m[:, None]) ** 2) / (2 * v[:, None])) / np.sqrt(2 * np.pi * v[:, None])
    return float(np.trapezoid(density.min(axis=0), x))


@pytest.mark.parametrize("within", ["scatter", "covariance"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_direction_is_judged_as_defined(within: Any, n_classes: int) -> None:
    X, y = make_table(n_classes, n_classes)
    model = FisherDiscriminant(within).fit(X, y)
    w = np.random.default_rng(0).normal(size=3) * 7
    seen: Any = model.evaluate_direction(w)
    a = X @ w / np.linalg.norm(w)
    own = [a[y == c] for c in model.classes_]
    close(seen.direction, w / np.linalg.norm(w), 1e-14)
    close(seen.means, [x.mean() for x in own], 1e-11)
    close(seen.scatters, [((x - x.mean()) ** 2).sum() for x in own], 1e-11)
    close(seen.J, (w @ model.between_ @ w) / (w @ model.within_ @ w), 1e-11)
    if within == "scatter":
        close(seen.variances, [x.var() for x in own], 1e-11)
    overlap = np.asarray(seen.overlap)
    assert overlap.shape == (n_classes, n_classes)
    close(np.diag(overlap), 1, 1e-12)
    close(overlap, overlap.T, 1e-14)
    for i in range(n_classes):
        for j in range(i):
            two = [own[i], own[j]]
            area = shared_area(np.array([x.mean() for x in two]), np.array([x.var() for x in two]))
            assert overlap[i, j] == pytest.approx(area, abs=1e-7)


@pytest.mark.parametrize(
    "variances", [(1.0, 4.0), (4.0, 4.0), (1.0, 1.0 + 1e-9), (1.0, 1e6), (1e-8, 1.0)]
)
@pytest.mark.parametrize("distance", [1e-9, 1e-3, 1.0, 5.0])
def test_overlap_of_two_bells(variances: tuple[float, float], distance: float) -> None:
    """Of one width they cross once, else twice: 2 Φ(−½|m1 − m2| / σ) is shared where σ is one."""
    model = FisherDiscriminant.from_moments(
        [[0.0], [distance]], scatters=[[[10 * v]] for v in variances], counts=[10, 10]
    )
    seen: Any = model.evaluate_direction([1.0])
    grid = np.array([0.0, distance]), np.array(variances)
    # The grid is the weaker part where one bell is a needle.
    area = shared_area(*grid) if min(variances) / max(variances) > 1e-3 else needle(*grid)
    assert np.asarray(seen.overlap)[0, 1] == pytest.approx(area, abs=1e-7)
    if variances[0] == variances[1]:
        exact = math.erfc(distance / math.sqrt(8 * variances[0]))
        assert np.asarray(seen.overlap)[0, 1] == pytest.approx(exact, abs=1e-9)


def needle(m: Float, v: Float) -> float:
    """∫ min around the narrow bell, and the rest of the wide one is above it only there."""
    narrow, wide = (0, 1) if v[0] < v[1] else (1, 0)
    s = math.sqrt(v[narrow])
    x = m[narrow] + s * np.linspace(-12, 12, 400_001)
    density = [np.exp(-((x - m[k]) ** 2) / (2 * v[k])) / math.sqrt(2 * math.pi * v[k])
               for k in (narrow, wide)]  # fmt: skip
    return float(np.trapezoid(np.minimum(*density), x))


# --- explain -------------------------------------------------------------------------------------

LEARNERS: Final[dict[str, Callable[[], Learner]]] = {
    "fisher": FisherDiscriminant,
    "covariance": lambda: FisherDiscriminant("covariance"),
    "linear": LinearDiscriminant,
    "shrunk": lambda: LinearDiscriminant(shrinkage=0.3),
    "indicator": IndicatorRegression,
    "ridge": lambda: IndicatorRegression(1.0),
}


# --- from_moments --------------------------------------------------------------------------------


@pytest.mark.parametrize("make", LEARNERS, ids=LEARNERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_of_its_own_moments_is_the_same(make: str, n_classes: int) -> None:
    X, y = make_table(0, n_classes)
    fitted = LEARNERS[make]().fit(X, y)
    oracle = oracle_of(X, y)
    model = type(fitted).from_moments(
        list(oracle.means.values()),
        scatters=list(oracle.scatters.values()),
        counts=[oracle.n(c) for c in oracle.classes],
        classes=oracle.classes,
        **fitted.get_params(),
    )
    close(model.decision_function(X), fitted.decision_function(X), 1e-9)
    assert model.predict(X).tolist() == fitted.predict(X).tolist()
    close(model.means_, fitted.means_, 1e-12)
    assert model.classes_.tolist() == fitted.classes_.tolist()
    with pytest.warns(MissingValueWarning):
        incomplete = model.decision_function(np.where([False, True, False], np.nan, X))
    with pytest.warns(MissingValueWarning):
        close(incomplete, fitted.decision_function(np.where([False, True, False], np.nan, X)), 1e-9)


@every_norm
def test_lda_of_a_common_covariance_and_counts(norm: Any) -> None:
    X, y = make_table(2)
    fitted = LinearDiscriminant(norm).fit(X, y)
    oracle = oracle_of(X, y, norm)
    model = LinearDiscriminant.from_moments(
        fitted.means_,
        covariances=fitted.covariance_,
        counts=[oracle.n(c) for c in oracle.classes],
        classes=fitted.classes_,
        covariance=norm,
    )
    close(model.predict_proba(X), fitted.predict_proba(X), 1e-10)
    close(model.covariance_, oracle.pooled, 1e-12)
    close(model.priors_, fitted.priors_, 1e-14)


def test_population_moments_weigh_classes_alike_or_by_priors() -> None:
    """P(q | x) = 1 / (1 + e^(−(x₁ + x₂ − 1)) π_p / π_q) for Σ = I, μ_p = 0, μ_q = (1, 1)."""
    x = np.array([[0.3, 0.4], [2.0, 1.0]])
    odds = np.exp(x.sum(axis=1) - 1)
    means, sigma = [[0.0, 0.0], [1.0, 1.0]], np.eye(2)
    model = LinearDiscriminant.from_moments(means, covariances=sigma, classes=["p", "q"])
    close(model.predict_proba(x)[:, 1], odds / (1 + odds), 1e-13)
    close(model.covariance_, sigma, 1e-15)
    told = LinearDiscriminant.from_moments(
        means, covariances=sigma, classes=["p", "q"], priors=[0.9, 0.1]
    )
    close(told.predict_proba(x)[:, 1], odds / 9 / (1 + odds / 9), 1e-13)
    # Fisher: Σ1 + Σ2 = 2 I, so J = 2 / 2 = 1.
    fisher = FisherDiscriminant.from_moments(
        means, covariances=[sigma, sigma], classes=["p", "q"], within="covariance"
    )
    close(fisher.directions_[:, 0], [-math.sqrt(0.5)] * 2, 1e-13)
    close(fisher.eigenvalues_, [1.0], 1e-13)
    assert fisher.threshold_ == pytest.approx(-math.sqrt(0.5), rel=1e-13)


def test_names_of_moments_are_matched_with_frames() -> None:
    model = LinearDiscriminant.from_moments(
        [[0.0, 0.0], [4.0, 0.0]], covariances=np.eye(2), names=["a", "b"], classes=["p", "q"]
    )
    frame = pd.DataFrame({"b": [0.0, 9.0], "a": [1.0, 3.0]})
    assert model.predict(frame).tolist() == ["p", "q"]
    assert model.feature_names_in_.tolist() == ["a", "b"]
    log_odds = model.decision_function(frame)
    close(log_odds, [4 * 1.0 - 8, 4 * 3.0 - 8], 1e-13)
