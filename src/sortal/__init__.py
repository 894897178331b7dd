"""sortal: classifiers that people can read.

Public names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from sortal import errors
    from sortal.data import datasets
    from sortal.estimators.bayes import DiscreteBayes
    from sortal.estimators.fisher import FisherDiscriminant
    from sortal.estimators.indicator import IndicatorRegression
    from sortal.estimators.kernel import KernelDiscriminant
    from sortal.estimators.linear import LinearDiscriminant
    from sortal.estimators.neighbors import NeighborsClassifier
    from sortal.estimators.quadratic import QuadraticDiscriminant
    from sortal.estimators.tree import TreeClassifier
    from sortal.tasks.compare import compare
    from sortal.tasks.inspect import inspect
    from sortal.tasks.load import load
    from sortal.tasks.partition import score_partition
    from sortal.tasks.report import report
    from sortal.tasks.sklearn_tree import from_sklearn
    from sortal.tasks.tables import read
    from sortal.tasks.work import work
    from sortal.views import displays

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
    "DiscreteBayes": "sortal.estimators.bayes",
    "FisherDiscriminant": "sortal.estimators.fisher",
    "IndicatorRegression": "sortal.estimators.indicator",
    "KernelDiscriminant": "sortal.estimators.kernel",
    "LinearDiscriminant": "sortal.estimators.linear",
    "NeighborsClassifier": "sortal.estimators.neighbors",
    "QuadraticDiscriminant": "sortal.estimators.quadratic",
    "TreeClassifier": "sortal.estimators.tree",
    "compare": "sortal.tasks.compare",
    "datasets": "sortal.data.datasets",
    "displays": "sortal.views.displays",
    "errors": "sortal.errors",
    "from_sklearn": "sortal.tasks.sklearn_tree",
    "inspect": "sortal.tasks.inspect",
    "load": "sortal.tasks.load",
    "read": "sortal.tasks.tables",
    "report": "sortal.tasks.report",
    "score_partition": "sortal.tasks.partition",
    "work": "sortal.tasks.work",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sortal' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    return getattr(module, name, module)  # some names are modules


def __dir__() -> list[str]:
    return sorted(__all__)
