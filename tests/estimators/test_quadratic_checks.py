"""scikit-learn's own battery for the quadratic discriminant: nothing excused, nothing skipped."""

from __future__ import annotations

from typing import Any

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from sortal import QuadraticDiscriminant

# A battery that shrank would still look green: the number of checks is pinned for the versions
# that constraints.txt and constraints-oldest.txt install.
N_CHECKS = {"1.9": 62, "1.7": 61}
INSTANCES = {
    "quadratic": QuadraticDiscriminant(),
    "between linear and quadratic": QuadraticDiscriminant("mle", 0.5),
    "shrunk": QuadraticDiscriminant(shrinkage=0.1, class_weight="balanced"),
}


@pytest.mark.parametrize("name", INSTANCES)
# The battery's tables are small: columns outnumber rows, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
def test_check_estimator_passes_whole(name: str) -> None:
    results: list[dict[str, Any]] = check_estimator(INSTANCES[name], on_fail=None, on_skip=None)
    troubled = [
        (r["check_name"], r["status"], r["exception"]) for r in results if r["status"] != "passed"
    ]
    assert troubled == []


def test_the_number_of_checks_is_pinned() -> None:
    counts = {len(list(estimator_checks_generator(model))) for model in INSTANCES.values()}
    assert counts == {N_CHECKS[".".join(sklearn.__version__.split(".")[:2])]}
