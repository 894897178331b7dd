"""All Displays, under one name: `from sortal import displays`."""

from __future__ import annotations

from sortal.bayes.displays import EvidenceDisplay
from sortal.discriminants.displays.canonical import CanonicalDisplay
from sortal.discriminants.displays.directions import DirectionsDisplay, ProjectionDisplay
from sortal.kernels.displays.contours import KernelContoursDisplay
from sortal.kernels.displays.projection import FeatureSpaceDisplay, KernelProjectionDisplay
from sortal.neighbors.displays import LooCurveDisplay, NeighborsDisplay
from sortal.plotting.comparison import ComparisonDisplay, ImportancesDisplay
from sortal.plotting.decision_regions import DecisionsDisplay
from sortal.plotting.densities import DensitiesDisplay
from sortal.plotting.evaluation import ConfusionDisplay, ReliabilityDisplay, RocDisplay
from sortal.trees.displays.cuts import FrequenciesDisplay, ScoresDisplay
from sortal.trees.displays.partition import PartitionDisplay
from sortal.trees.displays.tree import ComplexityDisplay, TreeDisplay

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
    "ReliabilityDisplay",
    "RocDisplay",
    "ScoresDisplay",
    "TreeDisplay",
]
