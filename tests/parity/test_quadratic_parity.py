"""QuadraticDiscriminant against MASS::qda and scikit-learn's QuadraticDiscriminantAnalysis.

MASS::qda: `covariance="unbiased"` meets `method="moment"` (scatter over n_k − 1), and `"mle"` meets
`"mle"` (over n_k); posteriors are those of `predict(..., method = "plug-in")`, its default. MASS
refuses classes of fewer rows than columns, so that nothing is compared there.

scikit-learn divides the scatter of a class by n_k − 1 up to 1.9.0, `"unbiased"`, and from 1.9.1 on
by n_k, `"mle"`. It has two ways to make a covariance regular:

- `reg_param` r takes (1 − r) Σ_k + r I, a target in the units of the columns; our `shrinkage` γ is
  (1 − γ) Σ_k + γ (tr Σ_k / p) I. The two are one where tr Σ_k = p for every class: the rows of each
  class are brought to that first.
- solver "eigen" (from 1.8 on) has `shrinkage`, which is ours of Σ_k = S_k / n_k, `"mle"`, in every
  version.

It calls a class singular where a variance is below `tol`, 1e-4 in the units of the columns, unless
told otherwise: here it is.
"""

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from tests.parity.peers import COVARIANCE, Floats, Table, every_method, every_prior, every_table

from sortal import QuadraticDiscriminant

TOL = 1e-12
HAS_SOLVERS = "solver" in inspect.signature(QuadraticDiscriminantAnalysis).parameters


@every_table
@every_prior
@every_method
@pytest.mark.parametrize("when", ["fit", "predict"])
def test_mass(
    mass: dict[str, Any],
    tables: dict[str, Table],
    name: str,
    prior: str,
    method: str,
    covariance: Any,
    when: str,
) -> None:
    """Priors may be given at fit or at predict; they do not touch the covariances."""
    X, y = tables[name]
    rows, expected = mass[name]["rows"], mass[name]["fits"][prior][method]["qda"]["predicted"]
    priors = None if prior == "empirical" else mass[name]["priors"][prior]
    at_fit = QuadraticDiscriminant(covariance, priors=priors if when == "fit" else None).fit(X, y)
    asked = None if when == "fit" else priors
    found = at_fit.predict_proba(X[rows], priors=asked)
    assert_allclose(found, expected["posterior"], rtol=1e-9)
    said = at_fit.predict(X, priors=asked)
    assert_array_equal(said[rows], at_fit.classes_[expected["class"]])
    assert np.sum(said != y) == expected["errors"]
    assert_allclose(at_fit.means_, mass[name]["means"], rtol=1e-12)


def functions(model: Any, X: Floats) -> Floats:
    """Only differences between classes mean something."""
    found = np.asarray(model.decision_function(X))
    return found if found.ndim == 1 else found - found[:, :1]


def compare(ours: QuadraticDiscriminant, theirs: Any, X: Floats) -> None:
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(functions(ours, X), functions(theirs, X), rtol=1e-9, atol=1e-9)
    # Of two classes, theirs is one minus the other: the digits of a small one are lost there.
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-15)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@every_table
@every_prior
def test_scikit_learn(
    mass: dict[str, Any], tables: dict[str, Table], name: str, prior: str
) -> None:
    X, y = tables[name]
    priors = None if prior == "empirical" else mass[name]["priors"][prior]
    theirs = QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True, tol=TOL).fit(X, y)
    ours = QuadraticDiscriminant(COVARIANCE, priors=priors).fit(X, y)
    compare(ours, theirs, X)
    assert_allclose(ours.covariances_, theirs.covariance_, rtol=1e-9, atol=1e-12)


def test_two_classes(tables: dict[str, Table]) -> None:
    X, y = tables["penguins"]
    kept = y != "Gentoo"
    theirs = QuadraticDiscriminantAnalysis().fit(X[kept], y[kept])
    compare(QuadraticDiscriminant(COVARIANCE).fit(X[kept], y[kept]), theirs, X)


def with_unit_variances(X: Floats, y: NDArray[np.str_]) -> Floats:
    """The rows of each class in a unit of their own, in which tr Σ_k = p; means stay apart."""
    ddof = 0 if COVARIANCE == "mle" else 1
    made = X / X.std(axis=0)
    for label in np.unique(y):
        own = made[y == label]
        size = np.sqrt(own.var(axis=0, ddof=ddof).mean())
        made[y == label] = own.mean(axis=0) + (own - own.mean(axis=0)) / size
    return np.asarray(made)


@every_table
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_reg_param(tables: dict[str, Table], name: str, share: float) -> None:
    X, y = tables[name]
    X = with_unit_variances(X, y)
    theirs = QuadraticDiscriminantAnalysis(reg_param=share).fit(X, y)
    compare(QuadraticDiscriminant(COVARIANCE, shrinkage=share).fit(X, y), theirs, X)


if HAS_SOLVERS:  # before 1.8 scikit-learn's QDA could not shrink, and there is nothing to compare

    @every_table
    @pytest.mark.parametrize(
        ("prior", "share"), [("empirical", 0.1), ("equal", 0.3), ("skewed", 1.0)]
    )
    def test_shrinkage(
        mass: dict[str, Any], tables: dict[str, Table], name: str, prior: str, share: float
    ) -> None:
        X, y = tables[name]
        priors = None if prior == "empirical" else mass[name]["priors"][prior]
        theirs = QuadraticDiscriminantAnalysis(
            solver="eigen", shrinkage=share, priors=priors, tol=TOL
        ).fit(X, y)
        compare(QuadraticDiscriminant("mle", shrinkage=share, priors=priors).fit(X, y), theirs, X)
