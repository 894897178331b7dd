"""The public names, pinned: what is added or taken away is taken away or added here on purpose."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest

import sortal

PARAMETERS = {
    "DiscreteBayes": [
        "structure", "alpha", "numeric", "priors", "class_weight", "costs",
        "categorical_features", "missing", "unknown", "n_jobs",
    ],
}  # fmt: skip
METHODS = {
    "DiscreteBayes": {
        "fit", "partial_fit", "forget", "predict", "predict_proba", "predict_log_proba",
        "loo_proba", "explain", "working", "score", "coef_", "intercept_",
    },
}  # fmt: skip


def test_the_names_of_the_package() -> None:
    assert sorted(sortal.__all__) == ["DiscreteBayes", "__version__", "datasets", "errors"]
    assert dir(sortal) == sorted(sortal.__all__)
    assert all(hasattr(sortal, name) for name in sortal.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tree'"):
        _ = sortal.Tree


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_parameters_of_an_estimator(name: str) -> None:
    assert list(inspect.signature(getattr(sortal, name)).parameters) == PARAMETERS[name]


@pytest.mark.parametrize("name", METHODS)
def test_the_methods_of_an_estimator(name: str) -> None:
    estimator = getattr(sortal, name)
    assert {n for n in METHODS[name] if n not in dir(estimator)} == set()
    own = {n for n in vars(estimator) if not n.startswith("_") and not n.startswith("set_")}
    assert own <= METHODS[name]


def test_the_version_is_that_of_the_metadata() -> None:
    assert sortal.__version__ == version("sortal")


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, sortal; print([m for m in ('numpy', 'sklearn', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
