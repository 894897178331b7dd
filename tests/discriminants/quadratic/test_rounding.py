"""Rounding in the scatter of a class is no variance."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sortal import QuadraticDiscriminant
from sortal.discriminants.learn import QuadraticOptions, build_quadratic


@pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")
@pytest.mark.parametrize("shrinkage", [None, 0.2, 1.0])
def test_a_point_class_of_which_rounding_left_something(shrinkage: float | None) -> None:
    rng = np.random.default_rng(0)
    X, y = np.vstack([np.full((4, 2), 0.3), rng.normal(size=(12, 2))]), np.repeat([0, 1], [4, 12])
    stats = QuadraticDiscriminant().fit(X, y)._statistics()
    still, noisy = stats.scatter.copy(), stats.scatter.copy()
    still[0], noisy[0] = 0.0, 5e-33 * np.eye(2)
    options = QuadraticOptions(shrinkage=shrinkage)
    expected = build_quadratic(replace(stats, scatter=still), options)
    found = build_quadratic(replace(stats, scatter=noisy), options)
    assert found.ranks.tolist() == expected.ranks.tolist() == [0, 2]
    assert_array_equal(found.covariances, expected.covariances)
