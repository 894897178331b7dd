"""The canonical plot: classes in the directions that part their means best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from scipy.stats import norm

from sortal.data.checks import is_whole
from sortal.data.printing import agreed, counted
from sortal.errors import OptionError, listed
from sortal.views.axes import open_axes
from sortal.views.canonical_rows import read_coordinates
from sortal.views.canonical_strip import draw_strips
from sortal.views.curves import write_at
from sortal.views.fitted import attribute
from sortal.views.gaussians import box_with, draw_ellipses, find_ellipses, read_level
from sortal.views.lettering import name_axes, number_text, shown, write_legend, write_title
from sortal.views.palette import BLACK
from sortal.views.points import centroid_handle, draw_centroids, draw_points, write_plane
from sortal.views.projection import MOST_POINTS
from sortal.views.rows import read_rows, split_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# The longest arrow takes this part of the way to the edge of the picture.
_ARROW_REACH = 0.8


class CanonicalDisplay:
    """Rows in one or two canonical coordinates, in which each class has the covariance I.

    `points` (n × 1 or n × 2) are the coordinates, `labels` the class of each row. `centroids` (K ×
    1 or K × 2) are by default the means of the points. Circles hold a share `level` of a normal
    class with covariance I. `names` are those of the axes. `arrows` is a table (p × 2) of what each
    of p attributes has to do with the coordinates, such as correlations, and `arrow_names` names
    them: drawn from the origin, all to one scale. In one coordinate, each class has its normal
    density, the interval that holds the share, and its points below.

    Attributes: `centroids`, `circles` (points of one a class; in one coordinate, intervals),
    `arrows` and `arrow_scale` (length drawn for 1); after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        *,
        centroids: ArrayLike | None = None,
        level: float = 0.95,
        arrows: ArrayLike | None = None,
        arrow_names: Sequence[object] = (),
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
    ) -> None:
        self.rows = read_rows(points, labels, classes=classes, names=names)
        self.n_coordinates = _one_or_two(self.rows.points.shape[1])
        self.level, self.note = read_level(level), note
        self.centroids = _read_centroids(centroids, self.rows.means)
        self.circles = self._find_circles()
        self.arrows = _read_arrows(arrows, arrow_names, self.n_coordinates)
        self.arrow_names = tuple(map(str, arrow_names))
        self.box = box_with(self._plane(), self.circles if self.n_coordinates == 2 else [])
        self.arrow_scale = self._find_scale()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        components: int | Sequence[int] = (0, 1),
        level: float = 0.95,
        arrows: bool = False,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X in canonical coordinates of a fitted linear or Fisher discriminant.

        `components` are one or two of its directions, counted from 0; two classes have only one.
        An axis says which share its direction has in the variance of the class means. With
        `arrows`, an arrow an attribute shows its correlations with the two coordinates within
        classes (pooled; the structure correlations): it points to where the attribute grows, and
        the shorter it is, the less the two directions tell of the attribute.
        """
        found = read_coordinates(estimator, *split_labels(X, y))
        chosen = _choose(components, len(found.shares))
        told: dict[str, Any] = {}
        if arrows and len(chosen) == 2:
            told = _structure(estimator, found.directions[:, chosen])
        display = cls(
            found.points[:, chosen],
            found.labels,
            centroids=found.centroids[:, chosen],
            level=level,
            classes=attribute(estimator, "classes_"),
            names=[f"{found.letter}{i + 1} ({100 * found.shares[i]:.1f} %)" for i in chosen],
            **told,
        )
        title = f"Canonical coordinates of {type(estimator).__name__}"
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
        ax, own = open_axes(ax, (8.0, self._height()))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        said = "Canonical coordinates" if title is None else title
        draw = self._draw_strips if self.n_coordinates == 1 else self._draw_plane
        handles = draw(ax, said, drawn, kw)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        if own:  # one unit on both axes changes the ticks, for which the layout must make room
            self.figure_.draw_without_rendering()
        return self

    def _draw_plane(self, ax: Axes, title: str, drawn: NDArray[np.intp], kw: Any) -> list[Any]:
        handles = draw_points(ax, self.rows, drawn, {"alpha": 0.75} | kw)
        draw_centroids(ax, self.centroids)
        handles += [centroid_handle()]
        handles += draw_ellipses(ax, self.circles, self.level)
        # circles are circles only if both axes have one unit
        ax.set_aspect("equal", adjustable="datalim")
        ax.update_datalim(self.box)
        ax.autoscale_view()
        handles += self._draw_arrows(ax)
        write_plane(ax, self.rows, title, self.note, drawn)
        return handles

    def _draw_arrows(self, ax: Axes) -> list[Any]:
        """Arrows from the origin, with names beyond their heads."""
        if self.arrows is None:
            return []
        for name, arrow in zip(self.arrow_names, self.arrows * self.arrow_scale, strict=True):
            style = {"arrowstyle": "-|>", "color": BLACK, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", tuple(arrow), (0.0, 0.0), arrowprops=style, zorder=4)
            side = "left" if arrow[0] >= 0 else "right"
            write_at(
                ax,
                shown(name, 20),
                tuple(arrow),
                (4 if side == "left" else -4, 0),
                {"ha": side, "va": "bottom" if arrow[1] >= 0 else "top"},
            )
        longest = float(np.linalg.norm(self.arrows, axis=1).max(initial=0.0))
        told = f"structure correlations\n(longest {number_text(longest)})"
        return [
            ax.plot([], [], color=BLACK, linewidth=1.2, marker=">", markevery=[-1], label=told)[0]
        ]

    def _draw_strips(self, ax: Axes, title: str, drawn: NDArray[np.intp], kw: Any) -> list[Any]:
        handles = draw_strips(
            ax, self.rows, drawn, self.centroids[:, 0], self.circles, self.level, kw
        )
        n = len(self.rows.points)
        part = f"{len(drawn)} of {n} points drawn" if len(drawn) < n else ""
        write_title(ax, title, ";  ".join(note for note in (self.note, part) if note))
        name_axes(ax, shown(self.rows.names[0]), "density by class")
        return handles

    def _plane(self) -> Float:
        """Points and centroids, in two coordinates; the centroids are in the picture too."""
        known = self.centroids[np.isfinite(self.centroids).all(axis=1)]
        return np.vstack([self.rows.points, known])

    def _find_circles(self) -> list[Float]:
        if self.n_coordinates == 2:
            return find_ellipses(self.rows, self.centroids, np.eye(2), self.level)
        reach = float(norm.ppf((1 + self.level) / 2))
        return [center + np.array([-reach, reach]) for center in self.centroids[:, 0]]

    def _height(self) -> float:
        """Inches that a picture with one unit on both axes needs, within reason."""
        if self.n_coordinates == 1:
            return float(np.clip(1.5 * len(self.rows.classes) + 1.0, 3.0, 12.0))
        width, height = self.box[1] - self.box[0]
        return float(np.clip(5.4 * height / width + 1.0, 3.6, 7.0))

    def _find_scale(self) -> float:
        """As long as no arrow leaves the picture."""
        if self.arrows is None or not len(self.arrows):
            return 1.0
        room = np.where(self.arrows >= 0, self.box[1], self.box[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(self.arrows != 0, room / self.arrows, np.inf)
        least = float(most.min())
        return _ARROW_REACH * least if 0 < least < np.inf else 1.0


def _one_or_two(n: int) -> int:
    if n not in (1, 2):
        raise OptionError(
            f"Points with {counted(n, 'coordinate')} were given: this picture shows one or two. "
            "Choose among the columns."
        )
    return n


def _choose(components: int | Sequence[int], n: int) -> list[int]:
    """Directions to draw; of one that is all there is, the default takes that."""
    given: Any = [components] if is_whole(components) else components
    if not isinstance(given, list | tuple) or not all(map(is_whole, given)):
        raise OptionError(
            f"components={components!r} cannot be read: give one or two whole numbers, such as "
            "(0, 1), counted from 0."
        )
    chosen = [0] if n == 1 and tuple(given) == (0, 1) else [int(i) for i in given]
    if len(chosen) not in (1, 2) or len(set(chosen)) < len(chosen):
        raise OptionError(
            f"components={components!r} names {len(chosen)} directions: give one, or two that "
            "differ."
        )
    if any(i not in range(n) for i in chosen):
        raise OptionError(
            f"components={components!r} names a direction that was not fitted: there "
            f"{agreed(n, 'is', 'are')} {n}, counted from 0. K classes have at most K − 1."
        )
    return chosen


def _structure(estimator: Any, directions: Float) -> dict[str, Any]:
    """Correlations within classes of terms and coordinates, whatever shrinkage made of Σ."""
    covariance = np.asarray(attribute(estimator, "covariance_"), dtype=np.float64)
    share = float(getattr(estimator, "shrinkage_", 0.0))
    if share == 1:
        raise OptionError(
            "With shrinkage 1 nothing is left of the correlations within classes: draw without "
            "arrows, or shrink less."
        )
    identity = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    plain = (covariance - share * identity) / (1 - share)
    deviation = np.sqrt(np.maximum(np.diag(plain), 0.0))
    along = np.sqrt(np.einsum("im,ij,jm->m", directions, plain, directions))
    # what does not vary within classes has no correlation
    safe = np.where(deviation > 0, deviation, np.inf)
    names = list(map(str, attribute(estimator, "terms_")))
    return {"arrows": plain @ directions / safe[:, None] / along, "arrow_names": names}


def _read_centroids(given: ArrayLike | None, means: Float) -> Float:
    centroids = means if given is None else np.asarray(given, dtype=np.float64)
    if centroids.shape != means.shape:
        raise OptionError(
            f"centroids has the shape {centroids.shape}: give a row a class and a column a "
            f"coordinate, {means.shape}."
        )
    return centroids


def _read_arrows(given: ArrayLike | None, names: Sequence[object], n: int) -> Float | None:
    if given is None:
        return None
    arrows = np.asarray(given, dtype=np.float64)
    if n != 2 or arrows.shape != (len(names), 2) or not np.isfinite(arrows).all():
        raise OptionError(
            f"arrows has the shape {arrows.shape} with the names {listed(list(names))}, in {n} "
            "coordinates: in two coordinates, give two finite numbers and a name for each arrow."
        )
    return arrows
