"""The classical statistics against R, and against what SPSS prints for Fisher's irises.

`statistics.json` holds R's numbers: `summary.manova` and `MASS::lda`, and Box's M and Mardia's
statistics written out in R from their definitions. Signs of functions follow sortal's rule, from
the class that sorts last to the first.
"""

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from tests.parity.peers import Table, every_table, frozen

from sortal import LinearDiscriminant
from sortal.records.tables import Working


def numbers(working: Working, name: str, first: int = 1) -> NDArray[np.float64]:
    """A table from a column on."""
    return np.array([row[first:] for row in working[name].rows], dtype=np.float64)


@every_table
def test_r(tables: dict[str, Table], name: str) -> None:
    r, (X, y) = frozen("statistics")["tables"][name], tables[name]
    model = LinearDiscriminant().fit(X, y)
    working, eigenvalues = model.working(), np.array(r["eigenvalues"])
    found, shares = numbers(working, "eigenvalues"), eigenvalues / eigenvalues.sum()
    expected = [eigenvalues, shares, np.cumsum(shares), r["correlations"]]
    assert_allclose(found.T, expected, rtol=1e-9)
    assert_allclose(numbers(working, "wilks"), r["wilks"], rtol=1e-8)
    assert_allclose(numbers(working, "manova", 0)[0], r["manova"], rtol=1e-8)
    for table in ("standardized", "structure", "centroids"):
        assert_allclose(numbers(working, table), r[table], rtol=1e-9, atol=1e-9)
    logs, box = numbers(working, "determinants", 2)[:, 0], numbers(working, "box_m", 0)[0]
    assert_allclose(logs, r["box"]["log_determinants"], rtol=1e-10)
    assert_allclose(box, [*r["box"]["chi_squared"], *r["box"]["f"]], rtol=1e-9)
    normality = model.check_assumptions(X, y)["normality"].rows
    mardia = np.array([row[3:-1] for row in normality], dtype=np.float64)
    assert_allclose(mardia, r["mardia"], rtol=1e-8)


def test_spss() -> None:
    """To the digits that SPSS prints."""
    working = LinearDiscriminant().fit(*load_iris(return_X_y=True)).working()
    first, second = numbers(working, "eigenvalues")
    assert [f"{x:.3f}" for x in first] == ["32.192", "0.991", "0.991", "0.985"]
    assert [f"{x:.3f}" for x in second] == ["0.285", "0.009", "1.000", "0.471"]
    first, second = numbers(working, "wilks")
    assert [f"{x:.3f}" for x in first[:3]] == ["0.023", "546.115", "8.000"]
    assert [f"{x:.3f}" for x in second[:3]] == ["0.778", "36.530", "3.000"]
    box = numbers(working, "box_m", 0)[0]
    assert [f"{x:.3f}" for x in box[[0, 4, 5, 6]]] == ["146.663", "7.045", "20.000", "77566.751"]
