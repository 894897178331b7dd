"""scikit-learn's own battery for the tree: nothing excused, nothing skipped."""

from __future__ import annotations

from typing import Any

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from sortal import TreeClassifier

# A battery that shrank would still look green: the number of checks is pinned for the versions
# that constraints.txt and constraints-oldest.txt install.
N_CHECKS = {"1.9": 62, "1.7": 61}
INSTANCES = {
    "numbers": TreeClassifier(),
    "numbers, small leaves": TreeClassifier("gini", min_samples_leaf=2, max_leaf_nodes=8),
    "categories": TreeClassifier(categorical_features="all"),
    "a branch per value": TreeClassifier(
        "gain_ratio", categorical_features="all", categorical_split="multiway", pruning=None
    ),
    "classes that count alike": TreeClassifier(class_weight="balanced", smoothing="shrinkage"),
}


@pytest.mark.parametrize("name", INSTANCES)
# On small random tables some predicted values were never fitted, and class weights of 1e7 leave one
# leaf, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
# Some of the battery's tables have one class only, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")
@pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")
def test_check_estimator_passes_whole(name: str) -> None:
    results: list[dict[str, Any]] = check_estimator(INSTANCES[name], on_fail=None, on_skip=None)
    troubled = [
        (r["check_name"], r["status"], r["exception"]) for r in results if r["status"] != "passed"
    ]
    assert troubled == []


def test_the_number_of_checks_is_pinned() -> None:
    series = ".".join(sklearn.__version__.split(".")[:2])
    counts = {len(list(estimator_checks_generator(model))) for model in INSTANCES.values()}
    assert counts == {N_CHECKS[series]}
