"""LinearDiscriminant against scikit-learn's LinearDiscriminantAnalysis.

Without shrinkage, and with the default solver "svd", the two are equal up to rounding, for any
priors. scikit-learn up to 1.9.0 divides the pooled scatter by N − K, which is
`covariance="unbiased"`; from 1.9.1 on by N, `"mle"`.

With a number for shrinkage (solvers "lsqr" and "eigen"), scikit-learn shrinks the covariance of
each class, S_k / n_k, toward its own mean variance, and adds the results up weighted by priors:

    Σ_k π_k [(1 − λ) S_k/n_k + λ tr(S_k/n_k)/p I]  =  (1 − λ) A + λ tr(A)/p I,  A = Σ_k π_k S_k/n_k

since the trace is linear and λ is the same for all classes: that is shrinking A. With empirical
priors, π_k = n_k/N, A is the pooled S/N, and all posteriors are those of `covariance="mle"`, in
every version. With other priors A is another matrix, as sortal pools by counts, and nothing is
compared. Nor is, with shrinkage,

- `shrinkage="auto"`: a λ for each class, of standardized columns, against one λ for all;
- `transform` of "eigen": it takes the between-class matrix as the difference of two shrunk ones,
  total less within, which adds a multiple of I to it. Its posteriors need no such matrix, since
  it keeps all p directions for them.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.parity.peers import COVARIANCE, Table, every_prior, every_table

from sortal import LinearDiscriminant


def fitted(table: Table, priors: list[float] | None) -> tuple[Any, Any]:
    """Ours and theirs, without shrinkage."""
    ours = LinearDiscriminant(covariance=COVARIANCE, priors=priors).fit(*table)
    return ours, LinearDiscriminantAnalysis(priors=priors).fit(*table)


@every_table
@every_prior
def test_without_shrinkage(
    mass: dict[str, Any], tables: dict[str, Table], name: str, prior: str
) -> None:
    X, _ = tables[name]
    ours, theirs = fitted(
        tables[name], None if prior == "empirical" else mass[name]["priors"][prior]
    )
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    # only differences between classes mean something: a common term is anyone's choice
    found, expected = ours.decision_function(X), theirs.decision_function(X)
    assert_allclose(found - found[:, :1], expected - expected[:, :1], rtol=1e-9, atol=1e-9)
    found, expected = ours.transform(X), theirs.transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, rtol=1e-9, atol=1e-9)
    assert_allclose(ours.xbar_, theirs.xbar_, rtol=1e-12)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)


@pytest.mark.parametrize("priors", [None, [0.9, 0.1]])
def test_two_classes(tables: dict[str, Table], priors: list[float] | None) -> None:
    X, y = tables["penguins"]
    kept = y != "Gentoo"
    ours, theirs = fitted((X[kept], y[kept]), priors)
    found, expected = ours.decision_function(X), theirs.decision_function(X)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    # Of two classes, theirs is one minus the other: the digits of a small one are lost there.
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-15)


@every_table
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0.3, 1.0])
def test_shrinkage(tables: dict[str, Table], name: str, solver: str, shrinkage: float) -> None:
    X, y = tables[name]
    ours = LinearDiscriminant(covariance="mle", shrinkage=shrinkage).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage).fit(X, y)
    largest = abs(theirs.covariance_).max()
    assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12 * largest)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
