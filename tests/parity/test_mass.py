"""LinearDiscriminant against the frozen numbers of R's MASS::lda.

Both compute the same quantities, so they are equal up to rounding, for any priors, when

- `covariance="unbiased"` meets `method="moment"` (scatter over N − K), and `"mle"` meets `"mle"`
  (scatter over N); MASS too pools by counts, whatever the priors, and uses the priors for the
  overall mean and for the scatter between classes;
- no columns are collinear (MASS drops directions whose singular value is below 1e-4);
- posteriors are MASS's `predict(..., method = "plug-in")`, its default.

The signs of the directions are arbitrary: in the file, and here, the entry of largest size of each
is positive. `svd` is no attribute of sortal's: it is what the directions leave of the class means.
All of MASS's leave-one-out results, those of MASS::qda too, keep the priors of the full table.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from tests.parity.peers import Table, every_method, every_prior, every_table

from sortal import LinearDiscriminant, QuadraticDiscriminant


def turned(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The signs that make each column's entry of largest size positive."""
    largest = np.abs(directions).argmax(axis=0)
    signs: NDArray[np.float64] = np.sign(directions[largest, np.arange(directions.shape[1])])
    return signs


@every_table
@every_prior
@every_method
def test_linear(
    mass: dict[str, Any],
    tables: dict[str, Table],
    name: str,
    prior: str,
    method: str,
    covariance: Any,
) -> None:
    given, (X, y) = mass[name], tables[name]
    expected = given["fits"][prior][method]["lda"]
    priors, rows, means = np.array(given["priors"][prior]), given["rows"], np.array(given["means"])
    asked = None if prior == "empirical" else priors
    model = LinearDiscriminant(covariance=covariance, priors=asked).fit(X, y)
    assert_array_equal(model.classes_, given["classes"])
    assert_allclose(model.priors_, priors, rtol=1e-13)
    assert_allclose(model.means_, means, rtol=1e-12)
    predicted, found = expected["predicted"], model.predict(X)
    assert_allclose(model.predict_proba(X[rows]), predicted["posterior"], rtol=1e-9)
    assert_array_equal(found[rows], model.classes_[predicted["class"]])
    assert np.sum(found != y) == predicted["errors"]
    # the pooled covariance does not depend on the priors: they may come as late as at predict
    late = LinearDiscriminant(covariance=covariance).fit(X, y).predict_proba(X[rows], priors=priors)
    assert_allclose(late, predicted["posterior"], rtol=1e-9)

    scaling, signs = np.array(expected["scaling"]), turned(model.scalings_)
    atol = 1e-9 * abs(scaling).max()
    assert_allclose(model.scalings_ * signs, scaling, rtol=1e-9, atol=atol)
    scores = (X - priors @ means) @ scaling
    assert_allclose(model.transform(X) * signs, scores, rtol=1e-9, atol=1e-9)
    K = len(given["classes"])
    between = priors @ model.transform(model.means_) ** 2
    size = len(y) * between / (K if covariance == "mle" else K - 1)
    assert_allclose(np.sqrt(size), expected["svd"], rtol=1e-9)
    assert_allclose(model.explained_variance_ratio_, expected["proportion_of_trace"], rtol=1e-9)


@pytest.mark.parametrize("kind", ["lda", "qda"])
@every_table
@every_prior
@every_method
def test_left_out(
    mass: dict[str, Any],
    tables: dict[str, Table],
    name: str,
    prior: str,
    method: str,
    covariance: Any,
    kind: str,
) -> None:
    """MASS keeps the priors of the whole table, so that they are given here."""
    X, y = tables[name]
    rows, priors = mass[name]["rows"], mass[name]["priors"][prior]
    expected = mass[name]["fits"][prior][method][kind]["left_out"]
    make = LinearDiscriminant if kind == "lda" else QuadraticDiscriminant
    model = make(covariance=covariance, priors=priors).fit(X, y)
    found = model.loo_proba(X, y)
    assert_allclose(found[rows], expected["posterior"], rtol=1e-8, atol=1e-300)
    assert_array_equal(found[rows].argmax(axis=1), expected["class"])
    assert np.sum(model.classes_[found.argmax(axis=1)] != y) == expected["errors"]
