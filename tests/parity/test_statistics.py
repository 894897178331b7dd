"""The classical statistics against R, and against what SPSS prints for Fisher's irises.

`statistics.json` holds R's numbers: `summary.manova` and `MASS::lda`, and Box's M and Mardia's
statistics written out in R from their definitions. Signs of functions follow sortal's rule, from
the class that sorts last to the first.
"""

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from sortal import LinearDiscriminant
from sortal.models.records import Working

Table: TypeAlias = tuple[NDArray[np.float64], NDArray[np.str_]]

every_table = pytest.mark.parametrize("name", ["iris", "penguins", "unequal"])


@pytest.fixture(scope="module")
def frozen() -> dict[str, Any]:
    text = Path(__file__).with_name("statistics.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["tables"]
    return found


def numbers(working: Working, name: str, first: int = 1) -> NDArray[np.float64]:
    """A table from a column on."""
    return np.array([row[first:] for row in working[name].rows], dtype=np.float64)


@every_table
class TestAgainstR:
    @pytest.fixture
    def r(self, frozen: dict[str, Any], name: str) -> Any:
        return frozen[name]

    @pytest.fixture
    def working(self, tables: dict[str, Table], name: str) -> Working:
        return LinearDiscriminant().fit(*tables[name]).working()

    def test_eigenvalues_and_correlations(self, r: Any, working: Working) -> None:
        found = numbers(working, "eigenvalues")
        expected = np.array(r["eigenvalues"])
        assert_allclose(found[:, 0], expected, rtol=1e-9)
        assert_allclose(found[:, 1], expected / expected.sum(), rtol=1e-9)
        assert_allclose(found[:, 2], np.cumsum(expected) / expected.sum(), rtol=1e-9)
        assert_allclose(found[:, 3], r["correlations"], rtol=1e-9)

    def test_wilks(self, r: Any, working: Working) -> None:
        assert_allclose(numbers(working, "wilks"), r["wilks"], rtol=1e-8)
        assert_allclose(numbers(working, "manova", 0)[0], r["manova"], rtol=1e-8)

    def test_functions(self, r: Any, working: Working) -> None:
        for name in ("standardized", "structure", "centroids"):
            assert_allclose(numbers(working, name), r[name], rtol=1e-9, atol=1e-9)

    def test_box(self, r: Any, working: Working) -> None:
        logs = numbers(working, "determinants", 2)[:, 0]
        assert_allclose(logs, r["box"]["log_determinants"], rtol=1e-10)
        box = numbers(working, "box_m", 0)[0]
        assert_allclose(box[:4], r["box"]["chi_squared"], rtol=1e-9)
        assert_allclose(box[4:], r["box"]["f"], rtol=1e-9)

    def test_mardia(self, r: Any, tables: dict[str, Table], name: str) -> None:
        X, y = tables[name]
        checked = LinearDiscriminant().fit(X, y).check_assumptions(X, y)
        found = np.array([row[3:-1] for row in checked["normality"].rows], dtype=np.float64)
        assert_allclose(found, r["mardia"], rtol=1e-8)


class TestAgainstSpss:
    """To the digits that SPSS prints."""

    @pytest.fixture
    def working(self) -> Working:
        X, y = load_iris(return_X_y=True)
        return LinearDiscriminant().fit(X, y).working()

    def test_eigenvalues(self, working: Working) -> None:
        first, second = numbers(working, "eigenvalues")
        assert [f"{x:.3f}" for x in first] == ["32.192", "0.991", "0.991", "0.985"]
        assert [f"{x:.3f}" for x in second] == ["0.285", "0.009", "1.000", "0.471"]

    def test_wilks(self, working: Working) -> None:
        first, second = numbers(working, "wilks")
        assert [f"{x:.3f}" for x in first[:3]] == ["0.023", "546.115", "8.000"]
        assert [f"{x:.3f}" for x in second[:3]] == ["0.778", "36.530", "3.000"]

    def test_box(self, working: Working) -> None:
        box = numbers(working, "box_m", 0)[0]
        assert f"{box[0]:.3f}" == "146.663"
        assert [f"{x:.3f}" for x in box[4:7]] == ["7.045", "20.000", "77566.751"]
