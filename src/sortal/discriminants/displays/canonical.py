"""The canonical plot, and pictures of every discriminant in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from matplotlib.lines import Line2D
from scipy.stats import norm

from sortal.base.tables import read_codes, split_target
from sortal.decision.options import is_whole
from sortal.discriminants.displays.directions import ProjectionDisplay
from sortal.errors import ParameterError, agreed, counted, listed
from sortal.pictures import Plan, Scene, Words, class_table, several
from sortal.pictures.shared import add_columns, add_directions, add_regions
from sortal.plotting.axes import (
    BLACK,
    Style,
    class_entries,
    color,
    name_axes,
    open_axes,
    plain,
    point_style,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.curves import write_at
from sortal.plotting.plane import box_with, draw_ellipses, find_ellipses, read_coverage
from sortal.plotting.rows import (
    MOST_POINTS,
    attribute,
    centroid_handle,
    class_means,
    draw_centroids,
    draw_points,
    read_rows,
    write_plane,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.pictures import Pictures
    from sortal.plotting.rows import PlotRows


# --- Rows in the directions of a fitted discriminant, scaled to a variance of 1 within classes ---


class Coordinates(NamedTuple):
    """Points and class centroids, a column a direction; shares of the variance between classes."""

    points: Float
    labels: LabelsLike
    centroids: Float
    shares: Float
    directions: Float
    letter: str


def read_coordinates(estimator: object, X: TableLike, y: LabelsLike) -> Coordinates:
    """All canonical coordinates of rows, as a linear discriminant or Fisher's has them."""
    if hasattr(estimator, "directions_") and not hasattr(estimator, "explained_variance_ratio_"):
        return _of_fisher(estimator, X, y)
    shares = np.asarray(attribute(estimator, "explained_variance_ratio_"), dtype=np.float64)
    points = np.asarray(attribute(estimator, "transform")(X), dtype=np.float64)
    directions = np.asarray(attribute(estimator, "scalings_"), dtype=np.float64)
    away = np.asarray(attribute(estimator, "means_")) - np.asarray(attribute(estimator, "xbar_"))
    return Coordinates(points, y, away @ directions, shares, directions, "LD")


def _of_fisher(estimator: object, X: TableLike, y: LabelsLike) -> Coordinates:
    """Unit directions, scaled by what the rows vary within their classes.

    The directions are uncorrelated within classes, and J orders them.
    """
    along = np.asarray(attribute(estimator, "transform")(X, scaling="unit"), dtype=np.float64)
    classes = attribute(estimator, "classes_")
    codes, _ = read_codes(y, len(along), classes)
    known = ~np.isnan(along).any(axis=1)
    means = class_means(along[known], codes[known], len(classes))
    within = along[known] - means[codes[known]]
    spread = np.sqrt((within**2).sum(axis=0) / max(len(within) - len(classes), 1))
    scale = np.where(spread > 0, spread, 1.0)
    middle = along[known].mean(axis=0)
    J = np.maximum(np.asarray(attribute(estimator, "eigenvalues_"), dtype=np.float64), 0.0)
    shares = J / J.sum() if 0 < J.sum() < np.inf else np.full(len(J), 1 / len(J))
    directions = np.asarray(attribute(estimator, "directions_")) / scale
    centers = (means - middle) / scale
    return Coordinates((along - middle) / scale, y, centers, shares, directions, "w")


# --- Classes along one canonical coordinate: a lane each, with its density and its points --------

# A lane is 1 high: the density above its line, the points below.
_DENSITY, _POINTS = 0.55, (0.08, 0.36)

# Densities are drawn to this many standard deviations, beyond which they lie on the line.
_REACH = 3.5


def draw_strips(
    ax: Axes,
    rows: PlotRows,
    drawn: Places,
    centers: Float,
    intervals: list[Float],
    coverage: float,
    kw: Style,
) -> list[Any]:
    """N(center, 1) of each class, the interval that holds a share of it, and its points."""
    K = len(rows.classes)
    lanes = np.arange(K, dtype=np.float64)[::-1]  # the first class on top
    handles = []
    for k, entry in enumerate(class_entries(rows.classes, rows.counts)):
        _draw_density(ax, centers[k], lanes[k], k)
        ax.plot(intervals[k], [lanes[k]] * 2, color=color(k), linewidth=3.0, zorder=2.3)
        mine = drawn[rows.codes[drawn] == k]
        y = lanes[k] - _POINTS[0] - (_POINTS[1] - _POINTS[0]) * spread(len(mine))
        style = point_style(k) | {"s": 20.0, "zorder": 3, "alpha": 0.75} | kw
        handles.append(ax.scatter(rows.points[mine, 0], y, label=entry, **style))
    draw_centroids(ax, np.column_stack([centers, lanes]))
    ax.set_yticks(lanes, [shown(name, 16) for name in rows.classes], usetex=False)
    ax.set_ylim(-0.45, K - 1 + _DENSITY + 0.1)
    share = f"{short_number(100 * coverage)} % of a class"
    return [*handles, centroid_handle(), Line2D([], [], color="0.4", linewidth=3.0, label=share)]


def _draw_density(ax: Axes, center: float, lane: float, k: int) -> None:
    z = np.linspace(-_REACH, _REACH, 141)
    height = lane + _DENSITY * np.exp(-0.5 * z**2)
    ax.plot(center + z, height, color=color(k), linewidth=1.6, zorder=2.2)
    ax.fill_between(center + z, lane, height, color=color(k), alpha=0.13, linewidth=0)


def spread(n: int) -> Float:
    """Heights from 0 to 1 that keep neighbors apart, the same on each run."""
    golden = (np.sqrt(5) - 1) / 2
    return np.asarray(np.arange(1, n + 1) * golden % 1)


# The longest arrow takes this part of the way to the edge of the picture.
_ARROW_REACH = 0.8


class CanonicalDisplay:
    """Rows in one or two canonical coordinates, in which each class has the covariance I.

    `points` (n × 1 or n × 2) are the coordinates, `labels` the class of each row. `centroids` (K ×
    1 or K × 2) are by default the means of the points. Circles hold a share `coverage` of a normal
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
        points: TableLike,
        labels: LabelsLike,
        *,
        centroids: ArrayLike | None = None,
        coverage: float = 0.95,
        arrows: ArrayLike | None = None,
        arrow_names: Sequence[object] = (),
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
    ) -> None:
        self.rows = read_rows(points, labels, classes=classes, names=names)
        self.n_coordinates = _one_or_two(self.rows.points.shape[1])
        self.coverage, self.note = read_coverage(coverage), note
        self.centroids = _read_centroids(centroids, self.rows.means)
        self.circles = self._find_circles()
        self.arrows = _read_arrows(arrows, arrow_names, self.n_coordinates)
        self.arrow_names = tuple(map(str, arrow_names))
        self.box = box_with(self._plane(), self.circles if self.n_coordinates == 2 else [])
        self.arrow_scale = self._find_scale()

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: TableLike,
        y: LabelsLike,
        *,
        components: int | Sequence[int] = (0, 1),
        coverage: float = 0.95,
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
        found = read_coordinates(estimator, *split_target(X, y))
        chosen = _choose(components, len(found.shares))
        told: dict[str, Any] = {}
        if arrows and len(chosen) == 2:
            told = _structure(estimator, found.directions[:, chosen])
        display = cls(
            found.points[:, chosen],
            found.labels,
            centroids=found.centroids[:, chosen],
            coverage=coverage,
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

    def _draw_plane(self, ax: Axes, title: str, drawn: Places, kw: Style) -> list[Any]:
        handles = draw_points(ax, self.rows, drawn, {"alpha": 0.75} | kw)
        draw_centroids(ax, self.centroids)
        handles += [centroid_handle()]
        handles += draw_ellipses(ax, self.circles, self.coverage)
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
        told = f"structure correlations\n(longest {short_number(longest)})"
        return [
            ax.plot([], [], color=BLACK, linewidth=1.2, marker=">", markevery=[-1], label=told)[0]
        ]

    def _draw_strips(self, ax: Axes, title: str, drawn: Places, kw: Style) -> list[Any]:
        handles = draw_strips(
            ax, self.rows, drawn, self.centroids[:, 0], self.circles, self.coverage, kw
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
            return find_ellipses(self.rows, self.centroids, np.eye(2), self.coverage)
        reach = float(norm.ppf((1 + self.coverage) / 2))
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
        raise ParameterError(
            f"Points with {counted(n, 'coordinate')} were given: this picture shows one or two. "
            "Choose among the columns."
        )
    return n


def _choose(components: int | Sequence[int], n: int) -> list[int]:
    """Directions to draw; of one that is all there is, the default takes that."""
    given: object = [components] if is_whole(components) else components
    if not isinstance(given, list | tuple) or not all(map(is_whole, given)):
        raise ParameterError(
            f"components={components!r} cannot be read: give one or two whole numbers, such as "
            "(0, 1), counted from 0."
        )
    chosen = [0] if n == 1 and tuple(given) == (0, 1) else [int(i) for i in given]
    if len(chosen) not in (1, 2) or len(set(chosen)) < len(chosen):
        raise ParameterError(
            f"components={components!r} names {len(chosen)} directions: give one, or two that "
            "differ."
        )
    if any(i not in range(n) for i in chosen):
        raise ParameterError(
            f"components={components!r} names a direction that was not fitted: there "
            f"{agreed(n, 'is', 'are')} {n}, counted from 0. K classes have at most K − 1."
        )
    return chosen


def _structure(estimator: object, directions: Float) -> dict[str, Any]:
    """Correlations within classes of terms and coordinates, whatever shrinkage made of Σ."""
    covariance = np.asarray(attribute(estimator, "covariance_"), dtype=np.float64)
    share = float(getattr(estimator, "shrinkage_", 0.0))
    if share == 1:
        raise ParameterError(
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
        raise ParameterError(
            f"centroids has the shape {centroids.shape}: give a row a class and a column a "
            f"coordinate, {means.shape}."
        )
    return centroids


def _read_arrows(given: ArrayLike | None, names: Sequence[object], n: int) -> Float | None:
    if given is None:
        return None
    arrows = np.asarray(given, dtype=np.float64)
    if n != 2 or arrows.shape != (len(names), 2) or not np.isfinite(arrows).all():
        raise ParameterError(
            f"arrows has the shape {arrows.shape} with the names {listed(list(names))}, in {n} "
            "coordinates: in two coordinates, give two finite numbers and a name for each arrow."
        )
    return arrows


# --- Rows in the directions that part the class means best ---------------------------------------

# More arrows hide the points.
_MOST_ARROWS = 8


def add_canonical(scene: Scene, *, arrows: bool) -> None:
    """The first two canonical coordinates, or the only one."""
    terms = len(scene.estimator.terms_)
    with_arrows = arrows and 2 <= terms <= _MOST_ARROWS and len(scene.classes) > 2
    options = {"arrows": True} if with_arrows else {}
    title = "Rows in the directions that part the classes best"
    plan = Plan(CanonicalDisplay, options, points=True)
    scene.plan("canonical", title, plan, lambda display: _words(scene, title, display))


def _words(scene: Scene, title: str, display: CanonicalDisplay) -> Words:
    names = [plain(name) for name in display.rows.names]
    shares = " and ".join(names)
    centers = [
        f"{plain(label)} at ({', '.join(short_number(x) for x in center)})"
        for label, center in zip(scene.classes, display.centroids, strict=True)
    ]
    drawn = "one coordinate" if len(names) == 1 else "two coordinates"
    share = f"{100 * display.coverage:.0f} %"
    said = (
        f"{title}: {drawn}, {shares}, with their shares of the variance of the class means. "
        f"Class centers: {several(centers, 'classes')}. Within a class every coordinate has a "
        f"deviation of 1, so that centers further apart than 4 hardly overlap; "
        f"{'bars' if len(names) == 1 else 'circles'} hold {share} of each class."
    )
    if display.arrows is not None:
        said += " Arrows show with which columns the coordinates go together."
    table, note = class_table("canonical", display.rows)
    return Words(said, table, note)


# --- Pictures of Fisher's discriminant -----------------------------------------------------------


def fisher_pictures(
    estimator: object, X: TableLike, y: LabelsLike, *, rows: bool = False
) -> Pictures:
    """Classes along the directions, and in the plane of the first two; regions over two columns."""
    scene = Scene("fisher", estimator, X, y, rows=rows)
    n = int(scene.estimator.directions_.shape[1])
    if n > 1:
        add_canonical(scene, arrows=False)
    add_directions(scene, min(n, 2))
    # feet of single rows are seen there
    if rows and len(scene.numbers) == 2 == len(scene.estimator.terms_):
        _add_projection(scene)
    add_regions(scene)
    return scene.pictures()


def _add_projection(scene: Scene) -> None:
    title = "Rows and their feet on the best direction"
    features = [scene.feature(j) for j in sorted(one.place for one in scene.numbers)]
    plan = Plan(ProjectionDisplay, {"features": features}, points=True)

    def words(display: ProjectionDisplay) -> Words:
        table, note = class_table("projection", display.rows)
        w = " and ".join(short_number(x) for x in display.w)
        said = f"{title}, whose parts are {w}; J = {short_number(display.J)}."
        return Words(said, table, note)

    scene.plan("projection", title, plan, words)


# --- Pictures of indicator regression ------------------------------------------------------------


def indicator_pictures(
    estimator: object, X: TableLike, y: LabelsLike, *, rows: bool = False
) -> Pictures:
    """Regions over two columns."""
    scene = Scene("indicator", estimator, X, y, rows=rows)
    add_regions(scene)
    return scene.pictures()


# --- Pictures of a linear discriminant -----------------------------------------------------------


def linear_pictures(
    estimator: object, X: TableLike, y: LabelsLike, *, rows: bool = False
) -> Pictures:
    """Canonical coordinates, densities along them, and regions over two columns."""
    scene = Scene("lda", estimator, X, y, rows=rows)
    whole = float(getattr(estimator, "shrinkage_", 0.0) or 0.0) < 1
    add_canonical(scene, arrows=whole)
    add_directions(scene, min(scene.estimator.scalings_.shape[1], 2))
    add_regions(scene)
    return scene.pictures()


# --- Pictures of a quadratic discriminant --------------------------------------------------------


def quadratic_pictures(
    estimator: object, X: TableLike, y: LabelsLike, *, rows: bool = False
) -> Pictures:
    """Regions with the ellipses of the classes over two columns; densities of the columns."""
    scene = Scene("qda", estimator, X, y, rows=rows)
    add_regions(scene)
    add_columns(scene, [one for one in scene.numbers if one.share > 0][:2])
    return scene.pictures()
