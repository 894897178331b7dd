"""The model of the kernel discriminant: what no fit could have made is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sortal import KernelDiscriminant, datasets
from sortal.errors import FormatError, InputError
from sortal.learners.kernel_space import LandmarkSpace
from sortal.models.kernel import TILE_CELLS, TILE_ROWS, KernelModel, rows_at_a_time
from sortal.models.kernel_functions import KernelFunction

IRIS = datasets.iris()
X = IRIS.drop(columns="species")
FITTED = KernelDiscriminant(n_landmarks=9, solver="landmarks").fit(X, IRIS["species"])
MODEL: KernelModel = FITTED._model
N = len(MODEL.ids)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kernel": KernelFunction(gamma=0.0)}, "without a width"),
        ({"basis": MODEL.basis[:, 1:]}, "other columns"),
        ({"kernel": KernelFunction("precomputed")}, "other columns"),
        ({"codes": np.full(N, 3)}, "no class"),
        ({"ids": np.zeros(N, dtype=np.int64)}, "twice"),
        ({"lengths": np.zeros(2)}, "covariance of nothing"),
        ({"divisor": 0.0}, "covariance of nothing"),
        ({"weight": np.zeros(3)}, "no class with weight"),
        ({"prior": np.zeros(3)}, "priors that are no probabilities"),
        ({"kernel": KernelFunction("linear"), "basis": np.full((N, 4), 1e200)}, "too large"),
    ],
)
def test_what_no_fit_makes_is_refused(change: dict[str, Any], words: str) -> None:
    MODEL.check()
    with pytest.raises(FormatError, match=words):
        replace(MODEL, **change).check()


def test_functions_of_rows_are_those_of_their_projections() -> None:
    p = FITTED.transform(X)
    assert_array_equal(MODEL.scores.of(p) + MODEL.log_prior, FITTED.decision_function(X))
    u = (X.to_numpy() - MODEL.inputs.shift) * MODEL.inputs.factor
    assert_allclose(MODEL.coordinates.with_basis(u) @ MODEL.coefs, p, atol=1e-12)
    assert_array_equal(MODEL.scores.center, MODEL.inputs.fill)


def test_rows_are_few_where_the_basis_is_large() -> None:
    assert rows_at_a_time(0) == rows_at_a_time(10) == TILE_ROWS
    assert rows_at_a_time(10_000) * 10_000 <= TILE_CELLS < (rows_at_a_time(10_000) + 1) * 10_000
    assert rows_at_a_time(10**9) == 1


def test_rows_beyond_what_a_kernel_can_say_are_refused() -> None:
    made = KernelDiscriminant("poly", degree=3).fit(X, IRIS["species"])
    with pytest.raises(InputError, match="kernel values of row 0"):
        made.predict(X * 1e120)


def test_landmarks_that_are_not_independent_are_refused() -> None:
    same = replace(MODEL, basis=np.zeros_like(MODEL.basis))
    space = LandmarkSpace(same.kernel, same.inputs, same.basis)
    with pytest.raises(FormatError, match="not independent"):
        space.features(same.basis)
