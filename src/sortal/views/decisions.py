"""Decision regions with curved boundaries, and how priors and costs move them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.collections import LineCollection

from sortal.data.checks import is_whole
from sortal.errors import OptionError
from sortal.learners.options import read_priors
from sortal.views.answers import deciding_functions
from sortal.views.axes import open_axes
from sortal.views.boundaries import Curve, Grid, snapped
from sortal.views.fitted import attribute
from sortal.views.gaussians import box_with, draw_ellipses, find_ellipses, marginals, read_level
from sortal.views.lettering import equation_text, few_text, write_legend
from sortal.views.palette import BLACK, Style, color
from sortal.views.plane_tables import Plane
from sortal.views.points import draw_points, write_plane
from sortal.views.projection import MOST_POINTS
from sortal.views.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]
    Functions = Callable[[Float], Float]

# Lines of the grid in each direction; vertices of the curves are exact all the same.
_RESOLUTION = 200


class DecisionsDisplay:
    """Regions in which each of K functions of two attributes is the largest, whatever their shape.

    `functions` takes points (n × 2) and gives their values (n × K). Solid curves are where two of
    them are equal and the largest. `fitted` are functions before a change, named by `change`, such
    as other priors: their boundaries are drawn as broken curves. With `means` (K × 2) and
    `covariance` (2 × 2 for all or K × 2 × 2), ellipses hold a share `level` of each class' normal
    distribution. `note` is a line below the title. What is smaller than a cell of the grid, of
    `resolution` lines in each direction, may be missed; vertices of the curves are exact. Without
    `exact`, functions are asked at the crossings of the grid alone, and curves pass between them.

    Attributes: `box` (its lower and its upper corner), `grid` (`x`, `y`, `values`, and `labels`, a
    row a y: places in `rows.classes`), `curves` and `fitted_curves` (first, second, points),
    `ellipses` (points of one a class); after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        functions: Functions,
        *,
        fitted: Functions | None = None,
        change: str = "the change",
        means: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
        level: float = 0.95,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
        resolution: int = _RESOLUTION,
        exact: bool = True,
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.level, self.note, self.change = read_level(level), note, change
        self.ellipses = find_ellipses(self.rows, means, covariance, self.level)
        self.box = box_with(self.rows.points, self.ellipses)
        K, fine = len(self.rows.classes), read_resolution(resolution)
        if not exact:
            functions = snapped(functions, self.box, fine)
            fitted = None if fitted is None else snapped(fitted, self.box, fine)
        self.grid = Grid(functions, self.box, K, fine)
        self.curves: list[Curve] = self.grid.curves()
        self.fitted_curves: list[Curve] | None = None
        if fitted is not None:
            self.fitted_curves = Grid(fitted, self.box, K, fine).curves()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        at: Mapping[Any, Any] | None = None,
        priors: Any = None,
        costs: ArrayLike | None = None,
        level: float = 0.95,
        resolution: int = _RESOLUTION,
        exact: bool = True,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw where a fitted estimator says which class, over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: the first two). Other
        numbers stay at their overall mean and categories at their most frequent value, or at what
        `at` says. Points are drawn by the two attributes alone, whatever else they hold. With
        `priors` or `costs`, given as to `predict` instead of those of the fit, regions and solid
        curves are what is decided then, and the boundaries of the fit are broken curves.
        """
        classes = tuple(np.asarray(attribute(estimator, "classes_"), dtype=object).tolist())
        plane = Plane(estimator, X, y, features, at)
        own = deciding_functions(estimator, classes)
        asked = deciding_functions(estimator, classes, priors, costs)
        change = _say_change(priors, costs)
        normal: dict[str, Any] = marginals(estimator, plane.terms) if plane.terms else {}
        display = cls(
            plane.rows.points,
            plane.rows.labels,
            lambda points: asked(plane.table(points)),
            fitted=(lambda points: own(plane.table(points))) if change else None,
            change=change,
            **normal,
            level=level,
            classes=plane.rows.classes,
            names=plane.rows.names,
            note=_join(plane.note, _say_priors(priors, plane.rows.classes)),
            resolution=resolution,
            exact=exact,
        )
        title = f"Decision regions of {type(estimator).__name__}"
        return display.plot(ax, **({"title": title} | kw))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.scatter`.

        The legend stands beside the axes if they are made here, or if it is "beside".
        """
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_regions(ax)
        handles = draw_points(ax, self.rows, drawn, kw)
        handles += self._draw_curves(ax)
        handles += draw_ellipses(ax, self.ellipses, self.level)
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        said = "Decision regions" if title is None else title
        write_plane(ax, self.rows, said, self.note, drawn)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_regions(self, ax: Axes) -> None:
        x, y = self.grid.x, self.grid.y
        for k in np.unique(self.grid.labels):
            lead = self.grid.leads(int(k))
            style: Style = {"colors": [color(int(k))], "alpha": 0.13, "zorder": 0.5}
            if lead.min() >= 0:  # a class that is everywhere has no contour
                ax.axvspan(*self.box[:, 0], color=color(k), alpha=0.13, linewidth=0)
            else:
                ax.contourf(x, y, lead, levels=[0, np.inf], **style)

    def _draw_curves(self, ax: Axes) -> list[Any]:
        """Solid boundaries, and broken ones of the fit before the change."""
        told = "boundary" if self.fitted_curves is None else f"boundary with {self.change}"
        solid: Style = {"colors": BLACK, "linewidths": 1.8, "zorder": 2.4, "label": told}
        handles = [LineCollection([curve.points for curve in self.curves], **solid)]
        if self.fitted_curves is not None:
            broken: Style = {"colors": "0.25", "linewidths": 1.4, "zorder": 2.2}
            broken |= {"linestyles": [(0, (5, 3))], "label": "boundary of the fit"}
            handles.append(LineCollection([c.points for c in self.fitted_curves], **broken))
        for lines in handles:
            ax.add_collection(lines)
        return handles


def read_resolution(resolution: int) -> int:
    """Lines of a grid in each direction."""
    if not is_whole(resolution) or not 2 <= resolution <= 5000:
        raise OptionError(
            f"resolution={resolution!r} cannot be drawn: give a whole number from 2 to 5000, the "
            "lines of the grid in each direction."
        )
    return int(resolution)


def _say_change(priors: Any, costs: Any) -> str:
    given = [name for name, value in (("priors", priors), ("costs", costs)) if value is not None]
    return f"these {' and '.join(given)}" if given else ""


def _say_priors(priors: Any, classes: tuple[Any, ...]) -> str:
    """Priors that were given, for the line below the title; of many the first."""
    found = read_priors(priors, classes)
    if found is None:
        return ""
    pairs = zip(classes, found.tolist(), strict=True)
    return f"priors {few_text([equation_text(name, share) for name, share in pairs])}"


def _join(*notes: str) -> str:
    return "\n".join(note for note in notes if note)
