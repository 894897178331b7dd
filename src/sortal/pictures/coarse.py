"""Points on a coarse grid: where rows lie, without showing any single one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.transforms import IdentityTransform

from sortal.pictures.svg import has_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from sortal._typing import Float, Places

CELLS: Final = 40

# Areas of markers, in square points: of the fullest cell, and the least that is still seen.
_MOST: Final = 70.0

_LEAST: Final = 7.0

# Markers of all classes together have about so many sizes.
_SIZES: Final = 24

# Markers of several classes stand around the middle of their cell, so many cells away from it.
_APART: Final = 0.2


def coarsen(figure: Figure) -> Figure:
    """Points become markers in a grid of 40 × 40 cells of their axes, in place.

    A cell has one marker a class, at its middle or a little beside it; the area of a marker grows
    with the number of rows.
    """
    if has_layout(figure):  # limits depend on it where axes have one unit
        figure.draw_without_rendering()
    for ax in figure.axes:
        _coarsen_axes(ax)
    return figure


def _coarsen_axes(ax: Axes) -> None:
    ax.apply_aspect()
    limits = ax.get_xlim(), ax.get_ylim()
    clouds = [c for c in ax.collections if isinstance(c, PathCollection) and len(_places(c))]
    found = [_cells(ax, cloud) for cloud in clouds]
    fullest = max((int(counts.max()) for _, counts in found), default=1)
    for k, (cloud, (cells, counts)) in enumerate(zip(clouds, found, strict=True)):
        middle = (cells + 0.5 + _beside(k, len(clouds))) / CELLS
        places = ax.transData.inverted().transform(ax.transAxes.transform(middle))
        _replace(ax, cloud, places, _areas(counts / fullest, len(clouds)))
    ax.set_aspect("auto")  # the limits are such that both axes have their unit already
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])


def _replace(ax: Axes, cloud: PathCollection, places: Float, areas: Float) -> None:
    """Markers of one size by one artist, which writes their shape once."""
    for area in np.unique(areas):
        ax.add_collection(
            PathCollection(
                cloud.get_paths(),
                [area],
                offsets=places[areas == area],
                offset_transform=ax.transData,
                transform=IdentityTransform(),
                facecolors=cloud.get_facecolor(),
                edgecolors=cloud.get_edgecolor(),
                linewidths=cloud.get_linewidth(),
                zorder=cloud.get_zorder(),
            ),
            autolim=False,  # places on the page depend on the limits
        )
    cloud.remove()


def _places(cloud: PathCollection) -> Float:
    return np.asarray(cloud.get_offsets(), dtype=np.float64)


def _cells(ax: Axes, cloud: PathCollection) -> tuple[NDArray[Any], Places]:
    """The cells in which rows lie, and how many."""
    on_page = cloud.get_offset_transform().transform(_places(cloud))
    shares = ax.transAxes.inverted().transform(on_page)
    cells = np.clip(np.floor(shares * CELLS), 0, CELLS - 1)
    found, counts = np.unique(cells, axis=0, return_counts=True)
    return found, counts


def _areas(shares: Float, n_classes: int) -> Float:
    """Areas in a few steps: markers of one size are written together."""
    n = max(_SIZES // n_classes, 3)
    steps = np.ceil(shares * n) / n
    return np.maximum(_MOST * steps, _LEAST)


def _beside(k: int, n: int) -> Float:
    """Where in a cell the marker of one of n classes stands."""
    if n == 1:
        return np.zeros(2)
    angle = 2 * np.pi * (k / n + 0.125)
    return _APART * np.array([np.cos(angle), np.sin(angle)])
