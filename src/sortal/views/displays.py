"""The pictures, under one name: `from sortal import displays`."""

from sortal.views.densities import DensitiesDisplay
from sortal.views.directions import DirectionsDisplay
from sortal.views.projection import ProjectionDisplay
from sortal.views.regions import RegionsDisplay

__all__ = ["DensitiesDisplay", "DirectionsDisplay", "ProjectionDisplay", "RegionsDisplay"]
