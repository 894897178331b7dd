"""The pictures, under one name: `from sortal import displays`."""

from sortal.views.canonical import CanonicalDisplay
from sortal.views.comparison_display import ComparisonDisplay
from sortal.views.complexity import ComplexityDisplay
from sortal.views.confusion import ConfusionDisplay
from sortal.views.cuts import FrequenciesDisplay, ScoresDisplay
from sortal.views.decisions import DecisionsDisplay
from sortal.views.densities import DensitiesDisplay
from sortal.views.directions import DirectionsDisplay
from sortal.views.evidence import EvidenceDisplay
from sortal.views.feature_space import FeatureSpaceDisplay
from sortal.views.importances import ImportancesDisplay
from sortal.views.kernel_contours import KernelContoursDisplay
from sortal.views.kernel_projection import KernelProjectionDisplay
from sortal.views.loo_curve import LooCurveDisplay
from sortal.views.neighbors_display import NeighborsDisplay
from sortal.views.partition import PartitionDisplay
from sortal.views.projection import ProjectionDisplay
from sortal.views.regions import RegionsDisplay
from sortal.views.reliability import ReliabilityDisplay
from sortal.views.roc import RocDisplay
from sortal.views.tree_display import TreeDisplay

__all__ = [
    "CanonicalDisplay",
    "ComparisonDisplay",
    "ComplexityDisplay",
    "ConfusionDisplay",
    "DecisionsDisplay",
    "DensitiesDisplay",
    "DirectionsDisplay",
    "EvidenceDisplay",
    "FeatureSpaceDisplay",
    "FrequenciesDisplay",
    "ImportancesDisplay",
    "KernelContoursDisplay",
    "KernelProjectionDisplay",
    "LooCurveDisplay",
    "NeighborsDisplay",
    "PartitionDisplay",
    "ProjectionDisplay",
    "RegionsDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "ScoresDisplay",
    "TreeDisplay",
]
