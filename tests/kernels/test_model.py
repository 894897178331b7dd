"""The model of the kernel discriminant: its functions of rows, and how many rows at a time."""

from __future__ import annotations

from numpy.testing import assert_allclose, assert_array_equal
from tests.kernels.tables import iris

from sortal import KernelDiscriminant
from sortal.kernels.model import TILE_CELLS, TILE_ROWS, rows_at_a_time


def test_functions_of_rows_are_those_of_their_projections() -> None:
    X, y = iris()
    fitted = KernelDiscriminant(n_landmarks=9, solver="landmarks").fit(X, y)
    model, p = fitted._model, fitted.transform(X)
    assert_array_equal(model.log_densities(p) + model.log_prior, fitted.decision_function(X))
    u = (X.to_numpy() - model.inputs.shift) * model.inputs.factor
    assert_allclose(model.with_basis(u) @ model.coefs, p, atol=1e-12)


def test_rows_are_few_where_the_basis_is_large() -> None:
    assert rows_at_a_time(0) == rows_at_a_time(10) == TILE_ROWS
    assert rows_at_a_time(10_000) * 10_000 <= TILE_CELLS < (rows_at_a_time(10_000) + 1) * 10_000
    assert rows_at_a_time(10**9) == 1
