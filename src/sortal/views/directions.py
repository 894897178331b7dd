"""Three directions side by side: most variance, between the means, most separation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal.errors import InputError, OptionError
from sortal.views.axes import open_grid
from sortal.views.densities import DensitiesDisplay
from sortal.views.fitted import (
    all_terms_shown,
    criterion_of,
    fitted_direction,
    fitted_rows,
    in_terms,
)
from sortal.views.lettering import number_text
from sortal.views.planes import box_of, criterion, unit_vector
from sortal.views.projection import ProjectionDisplay
from sortal.views.rows import Rows, read_rows, refuse_other_than_two

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from sortal.views.palette import Style

    Float = NDArray[np.float64]

CAPTIONS = ("First principal component", "Line of centroids", "Fisher direction")


class DirectionsDisplay:
    """First principal component, line of centroids and Fisher direction of two classes, with J.

    With two attributes each panel shows points and their feet, and below it the classes along the
    direction; with more attributes, the classes along the direction only. The Fisher direction is
    calculated from the points where it is not given. All are oriented so that the first class lies
    above the last.

    Attributes: `directions` (a column a panel), `J` (a number a panel); after `plot`, `ax_` (an
    array of axes) and `figure_`.
    """

    ax_: NDArray[Any]
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        *,
        fisher: ArrayLike | None = None,
        J: Sequence[float | None] | None = None,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        self.rows = read_rows(points, labels, classes=classes, names=names)
        refuse_other_than_two(self.rows.classes, "DirectionsDisplay")
        _refuse_empty_class(self.rows)
        given = None if fisher is None else unit_vector(fisher, len(self.rows.names), "fisher")
        self.directions = _three_directions(self.rows, given)
        self.J = tuple(
            criterion(self.rows.points @ w, self.rows.codes, 2) if known is None else float(known)
            for w, known in zip(self.directions.T, J or (None, None, None), strict=True)
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X; the Fisher direction and each J are the estimator's.

        The attributes are all columns the estimator was fitted with; they must be numbers.
        """
        rows, terms = fitted_rows(estimator, X, y, features, None)
        remedy = "Show all of them (features=None), or fit with the columns shown only."
        all_terms_shown(estimator, rows, terms, remedy)
        refuse_other_than_two(rows.classes, "DirectionsDisplay")
        display = cls(
            rows.points,
            rows.labels,
            fisher=fitted_direction(estimator, 0)[terms],
            classes=rows.classes,
            names=rows.names,
        )
        judged = [criterion_of(estimator, in_terms(w, terms)) for w in display.directions.T]
        display.J = tuple(
            old if new is None else new for old, new in zip(display.J, judged, strict=True)
        )
        return display.plot(ax, **kw)

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw on three axes, or six (three above three) with two attributes.

        Other keywords go to `Axes.scatter` for the points, or to `Axes.hist` without them.
        """
        flat = len(self.rows.names) == 2
        self.ax_ = _new_axes(2 if flat else 1) if ax is None else _given_axes(ax, flat)
        self.figure_ = self.ax_.flat[0].figure
        # beside the last panel where the figure is ours, else within the first
        legends = [ax is not None, False, "beside" if ax is None else False]
        for i, legend in enumerate(legends):
            draw = self._draw_points if flat else self._draw_classes
            draw(i, self.ax_[0, i], {"legend": legend} | kw)
            if len(self.ax_) == 2:
                self._draw_classes(i, self.ax_[1, i], {"legend": False})
        if flat:
            _share_limits(self.ax_[0], self.rows.points)
        if ax is None:  # the ticks are known only when both axes have one unit
            self.figure_.draw_without_rendering()
        return self

    def _draw_points(self, i: int, ax: Axes, kw: Style) -> None:
        display = ProjectionDisplay(
            self.rows.points,
            self.rows.labels,
            self.directions[:, i],
            classes=self.rows.classes,
            names=self.rows.names,
            J=self.J[i],
        )
        said: Style = {"title": CAPTIONS[i]}
        display.plot(ax, **(said | kw))

    def _draw_classes(self, i: int, ax: Axes, kw: Style) -> None:
        along = self.rows.points @ self.directions[:, i]
        display = DensitiesDisplay(along, self.rows.labels, classes=self.rows.classes, J=self.J[i])
        cut = f"separating point {number_text(display.threshold or 0.0)}"
        above = "" if len(self.ax_) == 2 else f"{CAPTIONS[i]}\nJ(w) = {number_text(self.J[i])}, "
        said: Style = {"title": above + cut}
        display.plot(ax, **(said | kw))


def _new_axes(n_rows: int) -> NDArray[Any]:
    return open_grid((13.5, 3.7 * n_rows), n_rows, 3, height_ratios=(1.3, 1.0)[:n_rows])


def _share_limits(axes: NDArray[Any], points: Float) -> None:
    """The same points at the same places in every panel, so that only the lines differ."""
    lines = [line.get_xydata() for ax in axes for line in ax.lines]
    box = box_of(np.vstack([*lines, points]), margin=0.02)
    for ax in axes:
        ax.update_datalim(box)
        ax.autoscale_view()


def _given_axes(ax: Any, flat: bool) -> NDArray[Any]:
    axes = np.asarray(ax, dtype=object)
    if axes.size != 3 and not (flat and axes.size == 6):
        allowed = "three axes, or six in two rows of three" if flat else "three axes"
        raise OptionError(
            f"ax has {axes.size} axes, and there are three directions: give {allowed}."
        )
    return axes.reshape(-1, 3)


def _refuse_empty_class(rows: Rows) -> None:
    if (rows.counts == 0).any():
        absent = rows.classes[int((rows.counts == 0).argmax())]
        raise InputError(
            f"No row of class {absent!r} was given: directions between two classes need rows of "
            "both."
        )


def _three_directions(rows: Rows, fisher: Float | None) -> Float:
    """First principal component, difference of means, Fisher's; a column each."""
    difference = rows.means[0] - rows.means[1]
    if not difference.any():
        raise InputError(
            "The two classes have the same mean: there is no line of centroids, and no direction "
            "tells their means apart. Choose other attributes."
        )
    centered = rows.points - rows.points.mean(axis=0)
    principal = np.linalg.svd(centered, full_matrices=False)[2][0]
    best = _separating(rows, difference) if fisher is None else fisher
    columns = np.array([principal, difference, best])
    columns /= np.linalg.norm(columns, axis=1, keepdims=True)
    above = columns @ difference
    return np.asarray((columns * np.where(above < 0, -1.0, 1.0)[:, None]).T)


def _separating(rows: Rows, difference: Float) -> Float:
    """The direction of largest J.

    It solves S w = μ₁ − μ₂. With the scatter of all points in place of S its direction is the same,
    and it is right also where classes do not vary along it.
    """
    centered = rows.points - rows.points.mean(axis=0)
    return np.asarray(np.linalg.lstsq(centered.T @ centered, difference)[0])
