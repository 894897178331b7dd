"""scikit-learn's own battery: nothing fails, nothing is excused, nothing is skipped."""

from __future__ import annotations

from typing import Any

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from sortal import DiscreteBayes

# A battery that shrank would still look green: the number of checks is pinned for the versions
# that constraints.txt and constraints-oldest.txt install.
N_CHECKS = {"1.9": 62, "1.7": 61}
INSTANCES = {
    "numbers": DiscreteBayes(),
    "categories": DiscreteBayes(categorical_features="all"),
    "mixed and joint": DiscreteBayes("joint", categorical_features=[0]),
}


def series_of(version: str) -> str:
    return ".".join(version.split(".")[:2])


@pytest.mark.parametrize("name", INSTANCES)
# On small random tables some predicted values were never fitted, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
# Some of the battery's tables have one class only, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")
def test_check_estimator_passes_whole(name: str) -> None:
    results: list[dict[str, Any]] = check_estimator(INSTANCES[name], on_fail=None, on_skip=None)
    troubled = [
        (r["check_name"], r["status"], r["exception"]) for r in results if r["status"] != "passed"
    ]
    assert troubled == []


def test_the_number_of_checks_is_pinned() -> None:
    counts = {len(list(estimator_checks_generator(model))) for model in INSTANCES.values()}
    assert counts == {N_CHECKS[series_of(sklearn.__version__)]}
