"""The learners of the library by name; nothing heavy is imported before one is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sortal.errors import OptionError

_ESTIMATORS = {
    "DiscreteBayes": "sortal.estimators.bayes",
    "FisherDiscriminant": "sortal.estimators.fisher",
    "IndicatorRegression": "sortal.estimators.indicator",
    "LinearDiscriminant": "sortal.estimators.linear",
    "QuadraticDiscriminant": "sortal.estimators.quadratic",
    "TreeClassifier": "sortal.estimators.tree",
}


def estimator_named(class_name: str) -> type[Any]:
    """The estimator class of a name."""
    if class_name not in _ESTIMATORS:
        raise OptionError(
            f"There is no estimator {class_name!r}: there are {', '.join(_ESTIMATORS)}."
        )
    found: type[Any] = getattr(import_module(_ESTIMATORS[class_name]), class_name)
    return found
