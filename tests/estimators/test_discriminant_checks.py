"""scikit-learn's own battery for the discriminants: nothing excused, nothing skipped."""

from __future__ import annotations

from typing import Any

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from sortal import FisherDiscriminant, IndicatorRegression, LinearDiscriminant

# A battery that shrank would still look green: the number of checks is pinned for the versions
# that constraints.txt and constraints-oldest.txt install. Transformers have some more.
INSTANCES = {
    "fisher": (FisherDiscriminant(), {"1.9": 67, "1.7": 66}),
    "fisher by covariance": (FisherDiscriminant("covariance"), {"1.9": 67, "1.7": 66}),
    "linear": (LinearDiscriminant(), {"1.9": 68, "1.7": 67}),
    "linear, shrunk": (LinearDiscriminant("mle", "ledoit_wolf"), {"1.9": 68, "1.7": 67}),
    "indicator": (IndicatorRegression(), {"1.9": 62, "1.7": 61}),
    "indicator, categories": (
        IndicatorRegression(categorical_features="all"),
        {"1.9": 62, "1.7": 61},
    ),
}


@pytest.mark.parametrize("name", INSTANCES)
# The battery's tables are small: columns outnumber rows, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
def test_check_estimator_passes_whole(name: str) -> None:
    model, _ = INSTANCES[name]
    results: list[dict[str, Any]] = check_estimator(model, on_fail=None, on_skip=None)
    troubled = [
        (r["check_name"], r["status"], r["exception"]) for r in results if r["status"] != "passed"
    ]
    assert troubled == []


@pytest.mark.parametrize("name", INSTANCES)
def test_the_number_of_checks_is_pinned(name: str) -> None:
    model, counts = INSTANCES[name]
    series = ".".join(sklearn.__version__.split(".")[:2])
    assert len(list(estimator_checks_generator(model))) == counts[series]
