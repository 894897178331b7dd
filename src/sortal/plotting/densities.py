"""The classes along one direction: histograms and normal curves; the directions of a fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from sortal.base.tables import split_target
from sortal.decision.options import is_whole
from sortal.errors import ParameterError, agreed, counted, listed
from sortal.plotting.axes import (
    BLACK,
    Style,
    class_entries,
    color,
    marker,
    name_axes,
    open_axes,
    short_number,
    shown,
    vector_text,
    write_legend,
    write_title,
)
from sortal.plotting.plane import criterion
from sortal.plotting.rows import attribute, class_means, fitted_rows, numbers_of, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.plotting.rows import Classifier, PlotRows

    Kind = Literal["histogram", "rug"]

# Bars of a histogram over all classes: few enough to see a shape, many enough to see a gap.
_LEAST_BARS, _MOST_BARS = 8, 40

# Normal curves are drawn to this many standard deviations, beyond which they lie on the axis.
_REACH = 3.5

# A standard deviation below this share of the picture's width would be a needle.
_HARDLY = 1e-3


class DensitiesDisplay:
    """Class densities of coordinates wᵀx: histograms (or a rug) and the curves N(mₖ, sₖ²/nₖ).

    `along` has a coordinate a row, `labels` the class of each. Means and variances of the curves
    are calculated from the coordinates where they are not given. `threshold` is the separating
    point: "midpoint" (of the two means; none with more classes), a number, or None.

    Attributes: `along`, `means`, `variances`, `threshold`, `J`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        along: ArrayLike,
        labels: LabelsLike,
        *,
        classes: ArrayLike | None = None,
        means: ArrayLike | None = None,
        variances: ArrayLike | None = None,
        threshold: float | Literal["midpoint"] | None = "midpoint",
        J: float | None = None,
        w: ArrayLike | None = None,
        name: str = "wᵀx",
    ) -> None:
        self.rows = read_rows(read_along(along), labels, classes=classes, names=(name,))
        self.along: Float = self.rows.points[:, 0]
        K = len(self.rows.classes)
        found = class_means(self.along, self.rows.codes, K)
        self.means = found if means is None else numbers_per_class(means, K, "means")
        spread = class_means((self.along - found[self.rows.codes]) ** 2, self.rows.codes, K)
        self.variances = (
            spread if variances is None else numbers_per_class(variances, K, "variances")
        )
        self.threshold = _read_threshold(threshold, self.means)
        self.J = criterion(self.along, self.rows.codes, K) if J is None else float(J)
        self.w = None if w is None else np.asarray(w, dtype=np.float64)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        w: ArrayLike | None = None,
        component: int = 0,
        feature: str | int | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X along a direction: w, a number a term, or else a fitted one.

        The curves and the separating point are the estimator's own where it has them. With
        `feature`, a column of numbers by name or position, rows are drawn along that column, and
        the curves are those of its values.
        """
        if feature is not None:
            display = cls._of_column(estimator, X, y, feature)
            kw = {"title": f"{shown(display.rows.names[0])} by class"} | kw
        elif w is None and hasattr(estimator, "dual_coef_"):
            found = projected(estimator, X, y, component)
            del found["scatters"]  # curves are those of the rows, which need not be all of the fit
            display = cls(**found)
        elif w is None:
            display = cls._fitted(estimator, X, y, component)
        else:
            display = cls._given(estimator, X, y, w)
        return display.plot(ax, **kw)

    @classmethod
    def _of_column(
        cls, estimator: Classifier, X: TableLike, y: LabelsLike, feature: str | int
    ) -> Self:
        classes = attribute(estimator, "classes_")
        rows = read_rows(X, y, features=[feature], classes=classes)
        along = rows.points[:, 0]
        return cls(along, rows.labels, classes=classes, threshold=None, name=rows.names[0])

    @classmethod
    def _fitted(cls, estimator: Classifier, X: TableLike, y: LabelsLike, component: int) -> Self:
        direction = fitted_direction(estimator, component)
        X, y = split_target(X, y, type(estimator).__name__)
        along = np.asarray(attribute(estimator, "transform")(X, scaling="unit"))[:, component]
        threshold = fitted_threshold(estimator, direction) if component == 0 else None
        return cls(
            along,
            y,
            classes=attribute(estimator, "classes_"),
            threshold=threshold,
            w=direction,
            name="wᵀ(x − mean)" if hasattr(estimator, "xbar_") else "wᵀx",
            **_judged(estimator, direction),
        )

    @classmethod
    def _given(cls, estimator: Classifier, X: TableLike, y: LabelsLike, w: ArrayLike) -> Self:
        rows, terms = fitted_rows(estimator, X, y, None, None)
        remedy = "w needs a number for each term; keep columns of numbers only."
        all_terms_shown(estimator, rows, terms, remedy)
        direction = unit_vector(w, len(terms))
        along = rows.points @ direction[terms]
        return cls(
            along, rows.labels, classes=rows.classes, w=direction, **_judged(estimator, direction)
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: Kind = "histogram",
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to `Axes.hist`, or to `Axes.plot` for a rug."""
        if kind not in ("histogram", "rug"):
            raise ParameterError(f"kind={kind!r} is not drawn: give 'histogram' or 'rug'.")
        ax, own = open_axes(ax, (8.0, 4.2))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        handles = self._draw_curves(ax)
        (self._draw_histogram if kind == "histogram" else self._draw_rug)(ax, kw)
        labels = class_entries(self.rows.classes, self.rows.counts)
        if self.threshold is not None:
            handles.append(ax.axvline(self.threshold, color=BLACK, linestyle="--", linewidth=1.4))
            labels.append(f"separating point {short_number(self.threshold)}")
        self._write(ax, title)
        if legend:
            write_legend(ax, handles, labels, outside=own or legend == "beside")
        return self

    def _draw_curves(self, ax: Axes) -> list[Artist]:
        """Normal curves; a class that hardly varies is a line at its place."""
        handles: list[Artist] = []
        spread = np.sqrt(self.variances)
        low = min(np.nanmin(self.means - _REACH * spread), self.along.min())
        high = max(np.nanmax(self.means + _REACH * spread), self.along.max())
        for k, (mean, deviation) in enumerate(zip(self.means, spread, strict=True)):
            if deviation > _HARDLY * (high - low):
                x = np.union1d(np.linspace(low, high, 201), [mean])
                style = _curve_style(k) | {"markevery": [int(np.searchsorted(x, mean))]}
                handles += ax.plot(x, _normal(x, mean, deviation), **style)
            else:  # a class without rows has no place either
                place = [] if np.isnan(mean) else [mean, mean]
                across = ax.get_xaxis_transform()
                up = [0, 1][: len(place)]
                handles += ax.plot(place, up, color=color(k), linewidth=2.0, transform=across)
        return handles

    def _draw_histogram(self, ax: Axes, kw: Style) -> None:
        edges = _edges(self.along, self.rows.codes)
        for k in range(len(self.rows.classes)):
            mine = self.along[self.rows.codes == k]
            if len(mine):
                style: Style = {"color": color(k), "alpha": 0.3, "edgecolor": color(k)} | kw
                ax.hist(mine, bins=edges, density=True, histtype="stepfilled", **style)

    def _draw_rug(self, ax: Axes, kw: Style) -> None:
        """A short stroke for each row below the axis, a line a class."""
        for k in range(len(self.rows.classes)):
            mine = self.along[self.rows.codes == k]
            height = np.full(len(mine), -0.03 * (k + 1))
            style: Style = {"color": color(k), "marker": "|", "linestyle": "none"}
            style |= {"markersize": 9, "clip_on": False} | kw
            ax.plot(mine, height, transform=ax.get_xaxis_transform(), **style)
        ax.tick_params(axis="x", pad=6 + 11 * len(self.rows.classes))

    def _write(self, ax: Axes, title: str | None) -> None:
        of = "" if self.w is None else f" = {vector_text(self.w)}"
        said = f"Classes along w{of}\nJ(w) = {short_number(self.J)}" if title is None else title
        write_title(ax, said)
        name_axes(ax, shown(self.rows.names[0]), "density")
        ax.set_ylim(bottom=0)


def read_along(along: ArrayLike) -> Float:
    """A coordinate a row, as a table of one column."""
    column = np.asarray(along, dtype=np.float64)
    if column.ndim != 1:
        raise ParameterError(
            f"Coordinates of shape {column.shape} were given: give one coordinate a row."
        )
    return column[:, None]


def numbers_per_class(given: ArrayLike, n_classes: int, name: str) -> Float:
    """Numbers that were given for the classes."""
    numbers = np.asarray(given, dtype=np.float64)
    if numbers.shape != (n_classes,):
        raise ParameterError(
            f"{name} has the shape {numbers.shape}, and there are {n_classes} classes: give one "
            "number a class."
        )
    return numbers


def _read_threshold(given: float | str | None, means: Float) -> float | None:
    if given is None or isinstance(given, int | float | np.number):
        return None if given is None else float(given)
    if given != "midpoint":
        raise ParameterError(
            f"threshold={given!r} cannot be read: give 'midpoint', a number or None."
        )
    return float(means.mean()) if len(means) == 2 else None


def _judged(estimator: object, direction: Float) -> dict[str, Any]:
    """J, means and variances as the estimator has them, where it judges directions."""
    if not hasattr(estimator, "evaluate_direction"):
        return {}
    found = estimator.evaluate_direction(direction)
    return {"J": found.J, "means": found.means, "variances": found.variances}


def _curve_style(k: int) -> Style:
    """A line in the class' color, with its marker, dark-edged, at the top."""
    edge = {"markersize": 6, "markeredgecolor": "0.2", "markeredgewidth": 0.4}
    return {"color": color(k), "marker": marker(k), "linewidth": 2.0} | edge


def _normal(x: Float, mean: float, deviation: float) -> Float:
    z = (x - mean) / deviation
    return np.asarray(np.exp(-0.5 * z**2) / (math.sqrt(2 * math.pi) * deviation))


def _edges(along: Float, codes: Places) -> list[float]:
    """Edges of bars that all classes share, as narrow as the class that needs them narrowest.

    The width is Scott's, 3.49 σ / ∛n, which is made for classes that are about normal.
    """
    low, high = float(along.min()), float(along.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    classes = [along[codes == k] for k in np.unique(codes)]
    widths = [3.49 * float(mine.std()) / len(mine) ** (1 / 3) for mine in classes]
    bars = max((high - low) / width if width > 0 else 0.0 for width in widths)
    n_bars = int(np.clip(bars, _LEAST_BARS, _MOST_BARS))
    return [float(edge) for edge in np.linspace(low, high, n_bars + 1)]


# --- A fitted estimator's directions --------------------------------------------------------------


def all_terms_shown(estimator: object, rows: PlotRows, terms: Sequence[int], remedy: str) -> None:
    """A direction can be drawn only among all the terms it was fitted with."""
    names = list(attribute(estimator, "terms_"))
    if len(terms) != len(names):
        raise ParameterError(
            f"This {type(estimator).__name__} was fitted with {counted(len(names), 'term')} "
            f"({listed(names)}), and the picture shows {len(terms)} ({listed(rows.names)}): its "
            f"direction does not lie in them. {remedy}"
        )


def unit_vector(given: ArrayLike, size: int, name: str = "w") -> Float:
    """A direction of length one."""
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    length = float(np.linalg.norm(vector))
    if vector.shape != (size,) or not 0 < length < math.inf:
        raise ParameterError(
            f"{name}={given!r} is no direction in {size} attributes: give {size} finite numbers, "
            "not all zero."
        )
    return vector / length


def _nth_direction(component: int, n: int) -> int:
    if not is_whole(component) or not 0 <= component < n:
        raise ParameterError(
            f"component={component!r} is none of the fitted directions: there "
            f"{agreed(n, 'is', 'are')} {n}, counted from 0."
        )
    return int(component)


def fitted_direction(estimator: object, component: int) -> Float:
    """One of the fitted directions, of length one, an entry a term."""
    name = "directions_" if hasattr(estimator, "directions_") else "scalings_"
    directions = numbers_of(estimator, name)
    size, n = directions.shape
    return unit_vector(directions[:, _nth_direction(component, n)], size)


def criterion_of(estimator: object, w: Float) -> float | None:
    """The estimator's own J of a direction over all its terms; None where it has none."""
    judged = getattr(estimator, "evaluate_direction", None)
    return None if judged is None else float(judged(w).J)


def fitted_threshold(estimator: object, w: Float) -> float | None:
    """The separating point among the coordinates that `transform` gives.

    None where there is none: with more classes than two, or where costs move it.
    """
    if hasattr(estimator, "threshold_"):
        return None if estimator.threshold_ is None else float(estimator.threshold_)
    classes = attribute(estimator, "classes_")
    if len(classes) != 2 or getattr(estimator, "costs", None) is not None:
        return None
    beta0, beta = attribute(estimator, "boundary")(*classes)
    slope = float(beta @ w)
    return float(-(beta0 + beta @ attribute(estimator, "xbar_")) / slope) if slope else None


def in_terms(w: Float, terms: Sequence[int]) -> Float:
    """A vector by attributes shown, in the order of the estimator's terms (all shown)."""
    ordered = np.empty(len(terms))
    ordered[list(terms)] = w
    return ordered


# --- What pictures read of a fitted kernel discriminant: projections, where they part classes ----


def projection_of(estimator: object, component: int) -> Callable[[TableLike], Float]:
    """The function that gives each row of a table its projection onto one direction."""
    place = _nth_direction(component, numbers_of(estimator, "dual_coef_").shape[1])
    transform = attribute(estimator, "transform")
    return lambda X: np.asarray(transform(X), dtype=np.float64)[:, place]


def projected(estimator: object, X: TableLike, y: LabelsLike, component: int) -> dict[str, Any]:
    """Rows along one direction with the projected classes: what displays of one axis are given.

    Means and scatters are those of the fit, which has them by its weights.
    """
    project = projection_of(estimator, component)
    n = numbers_of(estimator, "dual_coef_").shape[1]
    X, y = split_target(X, y, type(estimator).__name__)
    found = {
        "along": project(X),
        "labels": y,
        "classes": attribute(estimator, "classes_"),
        "means": numbers_of(estimator, "projected_means_")[:, component],
        "scatters": numbers_of(estimator, "projected_scatters_")[:, component],
        "threshold": None,
        "name": direction_name(n, component),
    }
    if n == 1 and getattr(estimator, "costs", None) is None:
        odds = np.asarray(attribute(estimator, "decision_function")(X), dtype=np.float64)
        found["threshold"] = _separating_point(found["along"], odds)
    return found


def direction_name(n_directions: int, component: int) -> str:
    """How the axis of a projection is called."""
    return "wᵀφ(x)" if n_directions == 1 else f"wᵀφ(x), direction {component + 1}"


def _separating_point(p: Float, odds: Float) -> float | None:
    """Where log-odds, which are linear in the only projection, pass zero.

    None where the rows do not tell: they lie in one place, or so far off that a class is certain.
    """
    if odds.ndim != 1:
        return None
    low, high = int(p.argmin()), int(p.argmax())
    rise, width = odds[high] - odds[low], p[high] - p[low]
    if not (width > 0 and np.isfinite(rise) and rise != 0):
        return None
    return float(p[low] - odds[low] * width / rise)
