"""Priors and costs of Fisher's discriminant and of indicators, against Gaussians written out."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.discriminants.tables import plain, whole_penguins

from sortal import FisherDiscriminant, IndicatorRegression, LinearDiscriminant, datasets
from sortal.plotting.rows import deciding_functions
from sortal.tasks.report.page import decider

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Rows: TypeAlias = tuple[Float, Labels]

TABLES: Final = ("iris", "penguins", "drawn")
COSTS: Final = [[0.0, 1.0, 9.0], [5.0, 0.0, 1.0], [2.0, 3.0, 0.5]]
RULES: Final[list[dict[str, Any]]] = [
    {"priors": "empirical"},
    {"priors": [0.6, 0.3, 0.1]},
    {"costs": COSTS},
    {"costs": "balanced"},
    {"priors": [0.1, 0.3, 0.6], "costs": COSTS},
    {"priors": [0.0, 0.4, 0.6]},
]
TWO: Final[list[dict[str, Any]]] = [
    {"priors": "empirical"},
    {"priors": [0.9, 0.1]},
    {"costs": [[0.0, 1.0], [20.0, 0.5]]},
    {"costs": "balanced"},
    {"priors": [0.3, 0.7], "costs": [[0.0, 8.0], [1.0, 0.0]]},
]


def rows_of(name: str, n_classes: int) -> Rows:
    """Rows of which the first classes have more, and of the first two the boundary is crossed."""
    if name == "iris":
        frame = datasets.iris()[::-1]
        X, y = frame.drop(columns="species").to_numpy(), frame["species"].to_numpy()
    elif name == "penguins":
        frame = whole_penguins()
        X, y = frame.iloc[:, 2:6].to_numpy(dtype=float), frame["species"].to_numpy()
    else:
        X, y = plain(20).X, plain(20).y
    classes = np.unique(y)[-n_classes:]
    kept = np.isin(y, classes) & ~((y == classes[-1]) & (np.arange(len(y)) % 3 > 0))
    return X[kept], y[kept]


def more_rows(X: Float) -> Float:
    """Many rows about those of a table."""
    rng = np.random.default_rng(0)
    return np.asarray(X.mean(axis=0) + rng.normal(size=(2000, X.shape[1])) * 2 * X.std(axis=0))


def scatter_within(X: Float, y: Labels) -> Float:
    """S, by loops."""
    S = np.zeros((X.shape[1], X.shape[1]))
    for label in np.unique(y):
        for x in X[y == label]:
            z = x - X[y == label].mean(axis=0)
            S += np.outer(z, z)
    return S


def linear(rule: dict[str, Any]) -> LinearDiscriminant:
    """The linear discriminant, whose priors are empirical unless given."""
    return LinearDiscriminant(**{k: v for k, v in rule.items() if v != "empirical"})


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("rule", [*RULES, *TWO], ids=str)
def test_fisher_decides_as_the_linear_discriminant(name: str, rule: dict[str, Any]) -> None:
    X, y = rows_of(name, 3 if rule in RULES else 2)
    if np.size(next(iter(rule.values()))) == 1 and name == "iris":
        X, y = rows_of(name, 2)
    asked = np.vstack([X, more_rows(X)])
    model = FisherDiscriminant(**rule).fit(X, y)
    wanted = linear(rule).fit(X, y).predict(asked)
    np.testing.assert_array_equal(model.predict(asked), wanted)
    assert [one.label for one in model.explain(asked[:50])] == wanted[:50].tolist()
    labels = model.working(asked[:50])["verdicts"].column("predicted")
    assert list(labels) == wanted[:50].tolist()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("rule", TWO, ids=str)
@pytest.mark.parametrize("make", [FisherDiscriminant, IndicatorRegression])
def test_two_classes_part_where_gaussians_on_the_line_cost_alike(
    name: str, rule: dict[str, Any], make: Any
) -> None:
    X, y = rows_of(name, 2)
    model, (first, last) = make(**rule).fit(X, y), np.unique(y)
    w = model.coef_[0]
    a, a_first, a_last = X @ w, X[y == first] @ w, X[y == last] @ w
    variance = w @ scatter_within(X, y) @ w / (len(X) - 2)
    prior = rule.get("priors", "empirical")
    pi = [np.mean(y == first), np.mean(y == last)] if prior == "empirical" else prior
    C = rule.get("costs", [[0, 1], [1, 0]])
    C = [[0, 1 / pi[0]], [1 / pi[1], 0]] if C == "balanced" else C
    odds = np.log(pi[0] / pi[1]) + np.log((C[0][1] - C[0][0]) / (C[1][0] - C[1][1]))
    m, n = a_first.mean(), a_last.mean()
    log_odds = (m - n) * (a - (m + n) / 2) / variance + odds
    np.testing.assert_array_equal(model.predict(X), np.where(log_odds > 0, first, last))
    where = (m + n) / 2 - odds * variance / (m - n)  # where wᵀx decides neither way
    scale = np.abs(a).max()
    np.testing.assert_allclose(where, -model.intercept_[0], atol=1e-9 * scale)
    if make is FisherDiscriminant:
        unit = -w / np.linalg.norm(w)  # the direction points to the first class
        np.testing.assert_allclose(model.directions_[:, 0], unit, atol=1e-12)
        np.testing.assert_allclose(model.threshold_, -where / np.linalg.norm(w), rtol=1e-9)
        assert model.threshold_ == model.working()["criterion"].column("separating point")[0]
    else:
        beta0, beta = model.boundary(first, last)
        np.testing.assert_array_equal(X @ beta + beta0 > 0, log_odds > 0)
        functions = model._decided(X).functions
        np.testing.assert_allclose(functions.sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("within", ["scatter", "covariance"])
@pytest.mark.parametrize("n_components", [1, 2])
def test_balanced_costs_are_the_rule_without_any(name: str, within: Any, n_components: int) -> None:
    X, y = rows_of(name, 3)
    options: Any = {"within": within, "n_components": n_components}
    asked = more_rows(X)
    plain_model = FisherDiscriminant(**options).fit(X, y)
    balanced = FisherDiscriminant(**options, costs="balanced").fit(X, y)
    equal = FisherDiscriminant(**options, priors=[1 / 3] * 3).fit(X, y)
    for model in (balanced, equal):
        np.testing.assert_array_equal(model.predict(asked), plain_model.predict(asked))


def test_more_classes_are_gaussians_on_the_directions_kept() -> None:
    X, y = rows_of("iris", 3)
    model = FisherDiscriminant(n_components=1, priors=[0.5, 0.4, 0.1]).fit(X, y)
    w = model.directions_[:, 0]
    variance = w @ scatter_within(X, y) @ w / (len(X) - 3)
    means = np.array([(X[y == c] @ w).mean() for c in np.unique(y)])
    asked = more_rows(X)
    log_joint = np.log([0.5, 0.4, 0.1]) - 0.5 * ((asked @ w)[:, None] - means) ** 2 / variance
    np.testing.assert_array_equal(model.predict(asked), np.unique(y)[log_joint.argmax(axis=1)])
    functions = model.decision_function(asked)
    np.testing.assert_allclose(
        functions - functions[:, :1], log_joint - log_joint[:, :1], rtol=1e-9, atol=1e-9
    )
    written = asked @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(functions - written, 0.0, atol=1e-8 * np.abs(written).max())


def test_moments_that_are_given_and_rows_in_pieces() -> None:
    X, y = rows_of("drawn", 2)
    rule: dict[str, Any] = {"priors": "empirical", "costs": {("c", "b"): 7}}
    whole: Any = FisherDiscriminant(**rule).fit(X, y)
    pieces: Any = FisherDiscriminant(**rule).partial_fit(X[::2], y[::2])
    pieces.partial_fit(X[1::2], y[1::2])
    np.testing.assert_allclose(pieces.threshold_, whole.threshold_, rtol=1e-10)
    given: Any = FisherDiscriminant.from_moments(
        [X[y == c].mean(axis=0) for c in "bc"],
        covariances=[np.cov(X[y == c].T, bias=True) for c in "bc"],
        counts=[(y == c).sum() for c in "bc"],
        classes=["b", "c"],
        **rule,
    )
    np.testing.assert_allclose(given.threshold_, whole.threshold_, rtol=1e-10)


def test_indicators_that_nothing_tells_apart_decide_by_priors() -> None:
    X, y = np.tile(np.array([[0.0], [1.0]]), (4, 1)), np.repeat(["a", "b"], [6, 2])
    for make in (IndicatorRegression, FisherDiscriminant):
        assert set(make(priors=[0.2, 0.8]).fit(X, y).predict(X)) == {"b"}
        assert set(make(costs={("b", "a"): 2}).fit(X, y).predict(X)) == {"a"}
        assert set(make(costs={("b", "a"): 4}).fit(X, y).predict(X)) == {"b"}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pictures_and_pages_decide_alike(n_classes: int) -> None:
    X, y = rows_of("iris", n_classes)
    costs = [row[:n_classes] for row in COSTS[:n_classes]]
    model: Any = FisherDiscriminant(costs=costs).fit(X, y)
    functions = deciding_functions(model, tuple(model.classes_.tolist()))(X)
    said = model.classes_[functions.argmax(axis=1)]
    np.testing.assert_array_equal(said, model.predict(X))
    page: Any = decider(model._model, costs=model._fitted.read_costs())
    assert (page["costs"] is None, page["model"]["prior"] is None) == (n_classes == 2,) * 2
