"""sortal: classifiers that people can read.

Public names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from sortal import displays, errors
    from sortal.bayes.estimator import DiscreteBayes
    from sortal.data import datasets
    from sortal.discriminants.fisher.estimator import FisherDiscriminant
    from sortal.discriminants.indicator.estimator import IndicatorRegression
    from sortal.discriminants.linear.estimator import LinearDiscriminant
    from sortal.discriminants.quadratic.estimator import QuadraticDiscriminant
    from sortal.kernels.estimator import KernelDiscriminant
    from sortal.neighbors.estimator import NeighborsClassifier
    from sortal.tasks.compare.compare import compare
    from sortal.tasks.inspect.inspect import inspect
    from sortal.tasks.load import load
    from sortal.tasks.predict import work
    from sortal.tasks.report.report import report
    from sortal.tasks.tables import read
    from sortal.trees.estimator import TreeClassifier
    from sortal.trees.from_sklearn import from_sklearn
    from sortal.trees.split_scores import score_partition

__version__ = "0.1.0"
__all__ = [
    "DiscreteBayes",
    "FisherDiscriminant",
    "IndicatorRegression",
    "KernelDiscriminant",
    "LinearDiscriminant",
    "NeighborsClassifier",
    "QuadraticDiscriminant",
    "TreeClassifier",
    "__version__",
    "compare",
    "datasets",
    "displays",
    "errors",
    "from_sklearn",
    "inspect",
    "load",
    "read",
    "report",
    "score_partition",
    "work",
]

_HOMES = {
    "DiscreteBayes": "sortal.bayes.estimator",
    "FisherDiscriminant": "sortal.discriminants.fisher.estimator",
    "IndicatorRegression": "sortal.discriminants.indicator.estimator",
    "KernelDiscriminant": "sortal.kernels.estimator",
    "LinearDiscriminant": "sortal.discriminants.linear.estimator",
    "NeighborsClassifier": "sortal.neighbors.estimator",
    "QuadraticDiscriminant": "sortal.discriminants.quadratic.estimator",
    "TreeClassifier": "sortal.trees.estimator",
    "compare": "sortal.tasks.compare.compare",
    "datasets": "sortal.data.datasets",
    "displays": "sortal.displays",
    "errors": "sortal.errors",
    "from_sklearn": "sortal.trees.from_sklearn",
    "inspect": "sortal.tasks.inspect.inspect",
    "load": "sortal.tasks.load",
    "read": "sortal.tasks.tables",
    "report": "sortal.tasks.report.report",
    "score_partition": "sortal.trees.split_scores",
    "work": "sortal.tasks.predict",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sortal' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    return getattr(module, name, module)  # some names are modules


def __dir__() -> list[str]:
    return sorted(__all__)
