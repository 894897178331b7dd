"""Every learner of the registry: whatever the weights, what it predicts are probabilities."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from sortal.tasks import registry

LEARNERS = registry.learners()
WEIGHED = [one.name for one in LEARNERS if "class_weight" in one.options()]
RNG = np.random.default_rng(4)
Y = np.repeat([0, 1, 2], 8)
X = RNG.normal(Y[:, None], 1.0, (24, 2))

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def fit(name: str, table: Any = X, weights: Any = None, **options: Any) -> Any:
    return registry.find(name).make(**options).fit(table, Y, sample_weight=weights)


@pytest.mark.parametrize("name", WEIGHED)
def test_class_weights_within_bounds_give_probabilities(name: str) -> None:
    cases = product([{0: 1e20}, {0: 1e-20}, {0: 1e20, 1: 1e-20}], [1.0, 1e130, 1e-130])
    for weights, size in cases:
        model = fit(name, size * X, class_weight=weights)
        assert set(model.predict(size * X)) <= {0, 1, 2}, (weights, size)
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(size * X)
            assert (shares >= 0).all(), (weights, size)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", [one.name for one in LEARNERS if one.name != "neighbors"])
def test_the_unit_of_small_sample_weights_does_not_matter(name: str) -> None:
    one, other = fit(name, weights=np.full(24, 0.125)), fit(name, weights=np.full(24, 2.0**-165))
    assert (one.predict(X) == other.predict(X)).all()
