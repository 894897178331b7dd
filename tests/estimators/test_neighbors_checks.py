"""scikit-learn's own battery for neighbors that are not the default."""

import pytest

from sortal import NeighborsClassifier

INSTANCES = {
    "gower": NeighborsClassifier(metric="gower", weights="rank"),
    "the largest difference": NeighborsClassifier(metric="minkowski", p=float("inf")),
    "by distance": NeighborsClassifier(weights="distance", scale=None),
}


@pytest.mark.full
@pytest.mark.parametrize("name", INSTANCES)
# Some of the battery's tables have one class only, which is rightly warned of.
@pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")
def test_check_estimator_passes_whole(name: str) -> None:
    from sklearn.utils.estimator_checks import check_estimator  # slow to import

    results = check_estimator(INSTANCES[name], on_fail=None, on_skip=None)
    assert [r["exception"] for r in results if r["status"] != "passed"] == []
