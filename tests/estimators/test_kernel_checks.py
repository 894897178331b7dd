"""scikit-learn's own battery for kernel discriminants that are not the default."""

import pytest

from sortal import KernelDiscriminant

pytestmark = [
    pytest.mark.full,
    # Tables of the battery are small, some of one class: both are rightly warned of.
    pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning"),
]
INSTANCES = {
    "linear, no ridge": KernelDiscriminant("linear", ridge=0),
    "coefficients": KernelDiscriminant(penalty="coefficients"),
    "landmarks": KernelDiscriminant(solver="landmarks"),
}
# Kernel matrices: the battery takes the Gram matrix of its rows. Four of its checks make of it
# what is no matrix of inner products, or no square, and refusing that is what is asked for.
NO_KERNEL = {
    "check_positive_only_tag_during_fit": "unexpectedly",  # the mean is taken off
    "check_estimators_dtypes": "not positive",  # rounded to whole numbers
    "check_decision_proba_consistency": "80 rows and 2 columns",
    "check_classifiers_one_label_sample_weights": "should have 'class'",  # not symmetric
}


def troubles(model: KernelDiscriminant) -> dict[str, str]:
    from sklearn.utils.estimator_checks import check_estimator  # slow to import

    results = check_estimator(model, on_fail=None, on_skip=None)
    assert len(results) > 60
    return {r["check_name"]: str(r["exception"]) for r in results if r["status"] != "passed"}


@pytest.mark.parametrize("name", INSTANCES)
def test_check_estimator_passes_whole(name: str) -> None:
    assert troubles(INSTANCES[name]) == {}


def test_kernel_matrices_pass_all_checks_that_give_some() -> None:
    found = troubles(KernelDiscriminant("precomputed"))
    assert set(found) == set(NO_KERNEL)
    assert all(words in found[name] for name, words in NO_KERNEL.items())
