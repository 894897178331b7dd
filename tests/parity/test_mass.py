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

from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from sortal import LinearDiscriminant, QuadraticDiscriminant

Table: TypeAlias = tuple[NDArray[np.float64], NDArray[np.str_]]

every_table = pytest.mark.parametrize("name", ["iris", "penguins", "unequal"])
every_prior = pytest.mark.parametrize("prior", ["empirical", "equal", "skewed"])
every_method = pytest.mark.parametrize(
    ("method", "covariance"), [("moment", "unbiased"), ("mle", "mle")]
)


class Case:
    """One fit of both: what MASS found, and the estimator."""

    def __init__(
        self, given: dict[str, Any], table: Table, prior: str, method: str, covariance: str
    ) -> None:
        self.given = given
        self.expected = given["fits"][prior][method]["lda"]
        self.priors = np.array(given["priors"][prior])
        self.X, self.y = table
        asked = None if prior == "empirical" else self.priors
        self.model = LinearDiscriminant(covariance=covariance, priors=asked).fit(self.X, self.y)


@pytest.fixture
def case(
    mass: dict[str, Any],
    tables: dict[str, Table],
    name: str,
    prior: str,
    method: str,
    covariance: str,
) -> Case:
    return Case(mass[name], tables[name], prior, method, covariance)


def turned(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The signs that make each column's entry of largest size positive."""
    largest = np.abs(directions).argmax(axis=0)
    signs: NDArray[np.float64] = np.sign(directions[largest, np.arange(directions.shape[1])])
    return signs


@every_table
@every_prior
@every_method
class TestLinear:
    def test_classes_priors_and_means(self, case: Case) -> None:
        assert_array_equal(case.model.classes_, case.given["classes"])
        assert_allclose(case.model.priors_, case.priors, rtol=1e-13)
        assert_allclose(case.model.means_, case.given["means"], rtol=1e-12)

    def test_posteriors(self, case: Case) -> None:
        rows, expected = case.given["rows"], case.expected["predicted"]["posterior"]
        assert_allclose(case.model.predict_proba(case.X[rows]), expected, rtol=1e-9)

    def test_predicted_classes(self, case: Case) -> None:
        expected = case.expected["predicted"]
        found = case.model.predict(case.X)
        numbers = expected["class"]
        assert_array_equal(found[case.given["rows"]], case.model.classes_[numbers])
        assert np.sum(found != case.y) == expected["errors"]

    def test_directions(self, case: Case) -> None:
        found, expected = case.model.scalings_, np.array(case.expected["scaling"])
        assert_allclose(found * turned(found), expected, rtol=1e-9, atol=1e-9 * abs(expected).max())

    def test_scores(self, case: Case) -> None:
        center = case.priors @ np.array(case.given["means"])
        expected = (case.X - center) @ np.array(case.expected["scaling"])
        found = case.model.transform(case.X) * turned(case.model.scalings_)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

    def test_singular_values(self, case: Case) -> None:
        K, N = len(case.given["classes"]), len(case.y)
        divisor = K if case.model.covariance == "mle" else K - 1
        between = case.priors @ case.model.transform(case.model.means_) ** 2
        assert_allclose(np.sqrt(N * between / divisor), case.expected["svd"], rtol=1e-9)

    def test_proportion_of_trace(self, case: Case) -> None:
        expected = case.expected["proportion_of_trace"]
        assert_allclose(case.model.explained_variance_ratio_, expected, rtol=1e-9)


@every_table
@every_prior
@every_method
def test_priors_given_when_predicting(
    mass: dict[str, Any],
    tables: dict[str, Table],
    name: str,
    prior: str,
    method: str,
    covariance: str,
) -> None:
    """The pooled covariance does not depend on the priors: they may come as late as that."""
    X, y = tables[name]
    rows, expected = mass[name]["rows"], mass[name]["fits"][prior][method]["lda"]["predicted"]
    model = LinearDiscriminant(covariance=covariance).fit(X, y)
    found = model.predict_proba(X[rows], priors=mass[name]["priors"][prior])
    assert_allclose(found, expected["posterior"], rtol=1e-9)


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
    covariance: str,
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
