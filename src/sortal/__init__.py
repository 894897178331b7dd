"""sortal: classifiers that people can read.

Public names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from sortal import displays, errors
    from sortal.base.learner import FitReport
    from sortal.bayes.estimator import DiscreteBayes
    from sortal.data import datasets
    from sortal.discriminants.estimators.gaussian import LinearDiscriminant, QuadraticDiscriminant
    from sortal.discriminants.estimators.scored import FisherDiscriminant, IndicatorRegression
    from sortal.discriminants.fisher import DirectionEvaluation
    from sortal.discriminants.functions import Boundary, QuadraticBoundary
    from sortal.evaluation import Confusion, Reliability, Roc
    from sortal.kernels.estimator import KernelDiscriminant
    from sortal.neighbors.estimator import NeighborsClassifier
    from sortal.records.tables import Explanation, Explanations, Table, Working
    from sortal.tasks.compare.compare import compare
    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.findings import Finding
    from sortal.tasks.inspection import Inspection, inspect
    from sortal.tasks.load import load
    from sortal.tasks.predict import working
    from sortal.tasks.report.report import Report, report
    from sortal.tasks.tables import read
    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.drawing.layout import Drawing
    from sortal.trees.estimator import TreeClassifier
    from sortal.trees.from_sklearn import from_sklearn
    from sortal.trees.rules import ClassRule, ClassRules, Rule, Rules
    from sortal.trees.split_scores import SplitScore, score_split

__version__ = "0.1.0"
__all__ = [
    "Boundary",
    "ClassRule",
    "ClassRules",
    "Comparison",
    "Confusion",
    "CostComplexityPath",
    "DirectionEvaluation",
    "DiscreteBayes",
    "Drawing",
    "Explanation",
    "Explanations",
    "Finding",
    "FisherDiscriminant",
    "FitReport",
    "IndicatorRegression",
    "Inspection",
    "KernelDiscriminant",
    "LinearDiscriminant",
    "NeighborsClassifier",
    "QuadraticBoundary",
    "QuadraticDiscriminant",
    "Reliability",
    "Report",
    "Roc",
    "Rule",
    "Rules",
    "SplitScore",
    "Table",
    "TreeClassifier",
    "Working",
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
    "score_split",
    "working",
]

_HOMES = {
    "Boundary": "sortal.discriminants.functions",
    "ClassRule": "sortal.trees.rules",
    "ClassRules": "sortal.trees.rules",
    "Comparison": "sortal.tasks.compare.comparison",
    "Confusion": "sortal.evaluation",
    "CostComplexityPath": "sortal.trees.cost_complexity",
    "DirectionEvaluation": "sortal.discriminants.fisher",
    "DiscreteBayes": "sortal.bayes.estimator",
    "Drawing": "sortal.trees.drawing.layout",
    "Explanation": "sortal.records.tables",
    "Explanations": "sortal.records.tables",
    "Finding": "sortal.tasks.findings",
    "FisherDiscriminant": "sortal.discriminants.estimators.scored",
    "FitReport": "sortal.base.learner",
    "IndicatorRegression": "sortal.discriminants.estimators.scored",
    "Inspection": "sortal.tasks.inspection",
    "KernelDiscriminant": "sortal.kernels.estimator",
    "LinearDiscriminant": "sortal.discriminants.estimators.gaussian",
    "NeighborsClassifier": "sortal.neighbors.estimator",
    "QuadraticBoundary": "sortal.discriminants.functions",
    "QuadraticDiscriminant": "sortal.discriminants.estimators.gaussian",
    "Reliability": "sortal.evaluation",
    "Report": "sortal.tasks.report.report",
    "Roc": "sortal.evaluation",
    "Rule": "sortal.trees.rules",
    "Rules": "sortal.trees.rules",
    "SplitScore": "sortal.trees.split_scores",
    "Table": "sortal.records.tables",
    "TreeClassifier": "sortal.trees.estimator",
    "Working": "sortal.records.tables",
    "compare": "sortal.tasks.compare.compare",
    "datasets": "sortal.data.datasets",
    "displays": "sortal.displays",
    "errors": "sortal.errors",
    "from_sklearn": "sortal.trees.from_sklearn",
    "inspect": "sortal.tasks.inspection",
    "load": "sortal.tasks.load",
    "read": "sortal.tasks.tables",
    "report": "sortal.tasks.report.report",
    "score_split": "sortal.trees.split_scores",
    "working": "sortal.tasks.predict",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sortal' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    return getattr(module, name, module)  # some names are modules


def __dir__() -> list[str]:
    return sorted(__all__)
