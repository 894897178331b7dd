"""Every learner of the registry: whatever the weights, what it predicts are probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sortal.errors import OptionError, WeightError
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
@pytest.mark.parametrize("weight", [1e160, 1e-160, 1e308, 1e-320, 1.1e20, 0.9e-20])
def test_class_weights_beyond_bounds_are_refused(name: str, weight: float) -> None:
    words = "each weight must be 0 or from 1e-20 to 1e\\+20"
    with pytest.raises(OptionError, match=words):
        fit(name, class_weight={0: weight})


@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize("weights", [{0: 1e20}, {0: 1e-20}, {0: 1e20, 1: 1e-20}])
@pytest.mark.parametrize("size", [1.0, 1e130, 1e-130])
def test_class_weights_within_bounds_give_probabilities(
    name: str, weights: dict[int, float], size: float
) -> None:
    model = fit(name, size * X, class_weight=weights)
    predicted = model.predict(size * X)
    assert set(predicted) <= {0, 1, 2}
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(size * X)
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", [one.name for one in LEARNERS])
def test_sample_weights_too_small_to_multiply_are_refused(name: str) -> None:
    with pytest.raises(WeightError, match="multiply them by a constant"):
        fit(name, weights=np.full(24, 1e-315))


@pytest.mark.parametrize("name", [one.name for one in LEARNERS if one.name != "neighbors"])
def test_the_unit_of_small_sample_weights_does_not_matter(name: str) -> None:
    one, other = fit(name, weights=np.full(24, 0.125)), fit(name, weights=np.full(24, 2.0**-165))
    assert (one.predict(X) == other.predict(X)).all()
