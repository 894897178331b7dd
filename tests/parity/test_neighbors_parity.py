"""NeighborsClassifier against R's dist, daisy, mahalanobis and class::knn, and scikit-learn.

`neighbors.json` holds R's numbers (`tools/parity/neighbors.R` says what was asked):

- `dist` leaves a missing value out of its sum and scales the rest up to all columns, as
`missing="skip"`
  does; of the largest difference nothing is scaled.
- `daisy(metric = "gower")` is the mean over the columns that both rows have, numbers by range.
- `class::knn` is Euclidean, unscaled. Of equal votes it draws one, so that a class is compared
  where no other has as many votes; distances within 1e-4 of the farthest are a tie to it, and all
  rows in it vote: such rows are not compared.

scikit-learn's brute force finds the same neighbors where no distances tie, and its weights
"uniform" and "distance" are ours; where a query equals a row, that row decides alone there too.
"""

import math
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from tests.parity.peers import frozen

from sortal import NeighborsClassifier, datasets
from sortal.neighbors.learn import Metric, Scale, Voting

Float: TypeAlias = NDArray[np.float64]
Table: TypeAlias = tuple[Float, NDArray[np.str_]]

NEAR: Final = 1e-4  # what class::knn takes for a tie
every_k = pytest.mark.parametrize("k", [1, 3, 5, 15])
every_scale = pytest.mark.parametrize(
    ("given", "scale"), [("as_they_are", None), ("scaled", "std")]
)


# --- R's distances -------------------------------------------------------------------------------


def birds() -> Any:
    """The rows R was given: all that have missing values, and every ninth of the others."""
    frame = datasets.penguins().drop(columns=["species", "year"])
    return frame[frame.isna().any(axis=1) | (frame.index % 9 == 0)].reset_index(drop=True)


@pytest.mark.parametrize(
    ("name", "metric", "p"),
    [
        ("euclidean", "euclidean", 2.0),
        ("manhattan", "manhattan", 2.0),
        ("minkowski", "minkowski", 3.0),
        ("maximum", "minkowski", math.inf),
        ("gower", "gower", 2.0),
        ("mahalanobis", "mahalanobis", 2.0),
    ],
)
def test_distances(name: str, metric: Metric, p: float) -> None:
    """Of each row to its five nearest others."""
    frame = birds()
    if metric != "gower":
        frame = frame.select_dtypes("number")
    if metric == "mahalanobis":
        frame = frame.dropna()
    scale: Scale | None = "auto" if metric in {"gower", "mahalanobis"} else None
    y = np.arange(len(frame)) % 2
    model = NeighborsClassifier(5, metric, p=p, scale=scale).fit(frame, y)
    found = model.kneighbors()[0]
    expected = np.array(frozen("neighbors")["distances"][name], dtype=np.float64)
    expected[expected == -1] = math.inf
    assert_allclose(found, expected, rtol=1e-9 if metric == "mahalanobis" else 1e-13)
    assert np.isposinf(expected).any() == (metric not in {"gower", "mahalanobis"})


# --- R's votes -----------------------------------------------------------------------------------


def compare(model: NeighborsClassifier, proba: Float, apart: Any, expected: dict[str, Any]) -> None:
    """Shares of the votes, and classes where they are sure."""
    assert apart.mean() > 0.9
    shares, numbers = np.array(expected["share"]), np.array(expected["class"])
    assert_allclose(proba.max(axis=1)[apart], shares[apart], rtol=1e-12)
    sure = apart & (numbers >= 0)
    assert sure.mean() > 0.75
    assert_array_equal(proba.argmax(axis=1)[sure], numbers[sure])


def is_apart(distances: Float) -> Any:
    """Whether the neighbor after the last is farther, to class::knn too."""
    return distances[:, -1] > distances[:, -2] * (1 + 2 * NEAR)


@every_k
@every_scale
def test_votes(tables: dict[str, Table], k: int, given: str, scale: Scale | None) -> None:
    """Rows of odd number, counted from 1, learn; R was given columns over their spread in all."""
    X, y = tables["unequal"]
    X = X / X.std(axis=0) if scale else X
    model = NeighborsClassifier(k, "euclidean", scale=None).fit(X[::2], y[::2])
    apart = is_apart(model.kneighbors(X[1::2], k + 1)[0])
    expected = frozen("neighbors")["votes"][given][str(k)]["asked"]
    compare(model, model.predict_proba(X[1::2]), apart, expected)


@every_k
@every_scale
def test_votes_without_each_row(
    tables: dict[str, Table], k: int, given: str, scale: Scale | None
) -> None:
    """class::knn.cv on columns over their spread is our default scale."""
    X, y = tables["unequal"]
    model = NeighborsClassifier(k, "euclidean", scale=scale).fit(X, y)
    apart = is_apart(model.kneighbors(n_neighbors=k + 1)[0])
    expected = frozen("neighbors")["votes"][given][str(k)]["left_out"]
    compare(model, model.loo_proba(X, y), apart, expected)


# --- scikit-learn --------------------------------------------------------------------------------


def drawn(seed: int, n: int, d: int) -> tuple[Float, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    X = rng.normal(size=(n, d)) + y[:, None] * 0.5
    return X, y  # numbers: scikit-learn 1.7 fails on words in its uniform votes


@pytest.mark.full  # scikit-learn is slow here, and the oracle has the same definitions
@pytest.mark.parametrize(
    ("d", "k", "weights", "metric", "p"),
    [
        (2, 1, "uniform", "euclidean", 2.0),
        (30, 15, "distance", "euclidean", 2.0),
        (7, 4, "uniform", "manhattan", 2.0),
        (2, 4, "distance", "manhattan", 2.0),
        (30, 15, "uniform", "minkowski", 3.0),
        (7, 1, "distance", "minkowski", math.inf),
    ],
)
def test_scikit_learn(d: int, k: int, weights: Voting, metric: Metric, p: float) -> None:
    name = "chebyshev" if p == math.inf else metric
    X, y = drawn(d + k, 300, d)
    queries = np.vstack([drawn(d + k + 100, 40, d)[0], X[:10]])
    more = {"p": p} if name == "minkowski" else {}
    theirs = KNeighborsClassifier(k, weights=weights, algorithm="brute", metric=name, **more)
    theirs.fit(X, y)
    ours = NeighborsClassifier(k, metric, p=p, scale=None, weights=weights).fit(X, y)
    assert_array_equal(ours.classes_, theirs.classes_)
    found, expected = ours.kneighbors(queries), theirs.kneighbors(queries)
    assert_array_equal(found[1], expected[1])
    # its Euclidean distances come from an expansion, and are not quite 0 for equal rows
    assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-6)
    if weights == "uniform" or name != "euclidean":
        assert_allclose(ours.predict_proba(queries), theirs.predict_proba(queries), rtol=1e-9)
    fresh = queries[:40]
    assert_allclose(ours.predict_proba(fresh), theirs.predict_proba(fresh), rtol=1e-6)
    assert_array_equal(ours.predict(fresh), theirs.predict(fresh))


def test_scikit_learn_mahalanobis() -> None:
    k = 5
    X, y = drawn(k, 300, 5)
    queries = drawn(k + 50, 60, 5)[0]
    inverse = np.linalg.inv(np.cov(X.T))
    theirs = KNeighborsClassifier(
        k, algorithm="brute", metric="mahalanobis", metric_params={"VI": inverse}
    ).fit(X, y)
    ours = NeighborsClassifier(k, "mahalanobis").fit(X, y)
    assert_allclose(ours.kneighbors(queries)[0], theirs.kneighbors(queries)[0], rtol=1e-9)
    assert_array_equal(ours.kneighbors(queries)[1], theirs.kneighbors(queries)[1])
    assert_array_equal(ours.predict(queries), theirs.predict(queries))
