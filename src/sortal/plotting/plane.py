"""Geometry of the plane: feet, ellipses, rows of its points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from matplotlib.lines import Line2D

from sortal.data.columns import as_categories
from sortal.data.sources import read_frame
from sortal.data.table import as_two_dimensional
from sortal.errors import ColumnError, ParameterError, listed
from sortal.plotting.axes import color, equation_text, fixed_text, short_number
from sortal.plotting.rows import (
    ShownTable,
    class_means,
    held_number,
    numbers_of,
    overall_means,
    refuse_drawn,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.data.sources import DataTable
    from sortal.plotting.rows import Classifier, Features, HeldAt, PlotRows


def feet_on_line(points: Float, center: Float, w: Float) -> Float:
    """Where the perpendiculars from points meet the line through `center` along the unit w."""
    return center + np.outer((points - center) @ w, w)


def criterion(along: Float, codes: Places, n_classes: int) -> float:
    """Fisher's J of coordinates along a direction: squared distance of means over scatter."""
    means = class_means(along, codes, n_classes)
    scatter = float(((along - means[codes]) ** 2).sum())
    counts = np.bincount(codes, minlength=n_classes)
    if n_classes == 2:
        between = float((means[0] - means[1]) ** 2)
    else:
        between = float(np.nansum(counts * (means - along.mean()) ** 2))
    if scatter > 0:
        return between / scatter
    return math.inf if between > 0 else math.nan


def box_of(points: Float, margin: float = 0.06) -> Float:
    """Corners (low, high) of a box around points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    return np.array([low - margin * width, high + margin * width])


def ellipse(mean: Float, covariance: Float, coverage: float, n: int = 73) -> Float:
    """Points of the ellipse that holds a share `coverage` of a normal distribution in the plane.

    Its squared radius is the quantile of χ² with two degrees of freedom, -2 ln(1 - coverage).
    """
    values, vectors = np.linalg.eigh(covariance)
    radius = math.sqrt(-2 * math.log1p(-coverage))
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean + radius * (circle * np.sqrt(np.maximum(values, 0))) @ vectors.T)


# --- Normal classes in a picture: ellipses that hold a share of each, and the box around all -----

# How much of the points' extent ellipses may add on each side before they are cut.
_ELLIPSE_ROOM = 0.5


def shaped(given: ArrayLike, shape: tuple[int, ...], name: str) -> Float:
    """An array of a shape that begins with the number of classes."""
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape:
        raise ParameterError(
            f"{name} has the shape {array.shape}, and with {shape[0]} classes and two attributes "
            f"it needs {shape}."
        )
    return array


def read_coverage(coverage: float) -> float:
    """A share between 0 and 1."""
    if isinstance(coverage, bool) or not isinstance(coverage, int | float) or not 0 < coverage < 1:
        raise ParameterError(f"coverage={coverage!r} is no share: give a number between 0 and 1.")
    return float(coverage)


def find_ellipses(
    rows: PlotRows, means: ArrayLike | None, covariance: ArrayLike | None, coverage: float
) -> list[Float]:
    """Points of an ellipse a class; none without a covariance, for all (2 × 2) or one a class."""
    if covariance is None:
        return []
    K = len(rows.classes)
    centers = rows.means if means is None else shaped(means, (K, 2), "means")
    given = np.asarray(covariance, dtype=np.float64)
    each = np.broadcast_to(given, (K, 2, 2)) if given.shape == (2, 2) else given
    shapes = shaped(each, (K, 2, 2), "covariance")
    return [
        _ellipse(center, shape, coverage) for center, shape in zip(centers, shapes, strict=True)
    ]


def box_with(points: Float, curves: list[Float]) -> Float:
    """A box around points and ellipses; ellipses far beyond the points are cut."""
    low, high = box_of(points, margin=_ELLIPSE_ROOM)
    near = [np.clip(curve, low, high) for curve in curves if np.isfinite(curve).all()]
    return box_of(np.vstack([points, *near]))


def marginals(estimator: object, terms: list[int]) -> dict[str, Float]:
    """Means and covariances in two terms, of an estimator that takes classes as normal."""
    if hasattr(estimator, "covariances_"):
        covariance = np.asarray(estimator.covariances_)[:, terms][:, :, terms]
    elif hasattr(estimator, "covariance_"):
        covariance = np.asarray(estimator.covariance_)[np.ix_(terms, terms)]
    else:
        return {}
    return {"means": numbers_of(estimator, "means_")[:, terms], "covariance": covariance}


def draw_ellipses(ax: Axes, curves: list[Float], coverage: float) -> list[Artist]:
    """Contours of the classes, of which the legend tells once."""
    for k, curve in enumerate(curves):
        ax.plot(curve[:, 0], curve[:, 1], color=color(k), linewidth=1.6, zorder=2.3)
    share = f"{short_number(100 * coverage)} % of a class"
    return [Line2D([], [], color="0.4", linewidth=1.6, label=share)] if curves else []


def _ellipse(center: Float, shape: Float, coverage: float) -> Float:
    """A class that the fit has no rows of has no place, and no ellipse."""
    known = np.isfinite(center).all() and np.isfinite(shape).all()
    return ellipse(center, shape, coverage) if known else np.full((1, 2), np.nan)


# --- Rows for the points of a plane: two columns vary, the others are held at one value each -----

_MICROSECONDS = 86_400_000_000  # of a day


class Plane:
    """Two columns of numbers of a table, drawn for an estimator that answers for whole rows.

    Numbers that are not drawn are held at their overall mean, categories at their most frequent
    value, or at what `at` says. Attributes: `rows` (to draw), `terms` (the estimator's terms that
    the two columns are, or None), `note` (what is held fixed).
    """

    def __init__(
        self, estimator: Classifier, X: TableLike, y: LabelsLike, features: Features, at: HeldAt
    ) -> None:
        self._given = ShownTable(estimator, X, y)
        self._table, self._names = self._given.table, self._given.names
        self._places = self._given.choose(features, 2)
        own = self._given.terms
        self.terms = None if own is None else [self._given.term[j] for j in self._places]
        self.rows = self._given.rows(self._places)
        self._at = {str(name): value for name, value in (at or {}).items()}
        self._refuse_strangers()
        self._fixed_numbers, self._fixed_rows = self._fix()
        self._row = self._one_row()
        self.note = self._say()

    def table(self, points: Float) -> TableLike:
        """Rows like those of X, whose two columns have the given values."""
        cells = {j: self._cells(j, points[:, i]) for i, j in enumerate(self._places)}
        if isinstance(self._row, nw.DataFrame):
            many = nw.maybe_reset_index(self._row[[0] * len(points)])
            filled: TableLike = many.with_columns(*_as_series(self._row, cells)).to_native()
            return filled
        rows = np.repeat(self._row, len(points), axis=0)
        for j, column in cells.items():
            rows[:, j] = column
        return rows

    def _refuse_strangers(self) -> None:
        for name in self._at:
            refuse_drawn(name, [self._names[j] for j in self._places])
            if name not in self._names:
                raise ColumnError(
                    f"at names {name!r}, which is no column of this table: it has "
                    f"{listed(self._names)}."
                )

    def _fix(self) -> tuple[dict[int, float], dict[int, int]]:
        """Numbers by their values, everything else by a row that has the value."""
        overall, estimator = None, self._given.estimator
        if self.terms is not None and hasattr(estimator, "means_"):
            overall = overall_means(estimator, self.rows)
        numbers, rows = {}, {}
        for j in [j for j in range(len(self._names)) if j not in self._places]:
            if self._given.is_number(j):
                numbers[j] = self._number(j, overall)
            else:
                rows[j] = _row_with(self._table, j, self._names[j], self._at)
        return numbers, rows

    def _number(self, j: int, overall: Float | None) -> float:
        name = self._names[j]
        if name in self._at:
            return held_number(name, self._at[name])
        if overall is not None:
            return float(overall[self._given.term[j]])
        cells = self._table.numbers(j, 0, self._table.n_rows).values
        known = cells[~np.isnan(cells)]
        return float(known.mean()) if len(known) else float("nan")

    def _say(self) -> str:
        """What is held fixed: first what was asked for; what the fit does not use is not told."""
        used = getattr(self._given.estimator, "feature_names_in_", None)
        told = dict(self._at)
        for j, name in enumerate(self._names):
            if j in self._places or name in told or not (used is None or name in used):
                continue
            told[name] = self._fixed_numbers[j] if j in self._fixed_numbers else self._value(j)
        return fixed_text([equation_text(name, value) for name, value in told.items()])

    def _value(self, j: int) -> object:
        i = self._fixed_rows[j]
        column = as_categories(self._table.categories(j, i, i + 1))
        return column.values[column.codes[0]] if column.codes[0] >= 0 else "a missing value"

    def _cells(self, j: int, numbers: Float) -> NDArray[Any]:
        """Numbers as the column has them: dates are days for those who calculate."""
        if self._table.column_schema(j).kind == "date":
            return (numbers * _MICROSECONDS).round().astype("datetime64[us]")
        return np.ascontiguousarray(numbers)

    def _one_row(self) -> NDArray[Any] | nw.DataFrame[Any]:
        """A row with all that is fixed; the two columns that vary are numbers already."""
        frame = read_frame(self._given.X)
        fixed = self._fixed_numbers | dict.fromkeys(self._places, 0.0)
        cells = {j: self._cells(j, np.array([value])) for j, value in fixed.items()}
        if frame is not None:
            return self._one_of_frame(frame, cells)
        array = as_two_dimensional(self._given.X)
        if array.dtype.kind != "O" and not self._fixed_rows:
            return np.column_stack([cells[j] for j in range(array.shape[1])])
        row = np.empty((1, array.shape[1]), dtype=object)
        for j in range(array.shape[1]):
            row[:, j] = cells[j] if j in cells else array[self._fixed_rows[j], j]
        return row

    def _one_of_frame(
        self, frame: nw.DataFrame[Any], cells: dict[int, NDArray[Any]]
    ) -> nw.DataFrame[Any]:
        """Column by column, because each takes its value from a row of its own."""
        rows = [self._fixed_rows.get(j, 0) for j in range(len(frame.columns))]
        columns = [frame.get_column(name)[[i]] for name, i in zip(frame.columns, rows, strict=True)]
        row = nw.concat([_bare(series) for series in columns], how="horizontal")
        return row.with_columns(*_as_series(row, cells))


def _as_series(frame: nw.DataFrame[Any], cells: dict[int, NDArray[Any]]) -> list[nw.Series[Any]]:
    backend = frame.implementation
    return [nw.new_series(frame.columns[j], c, backend=backend) for j, c in cells.items()]


def _bare(series: nw.Series[Any]) -> nw.DataFrame[Any]:
    """A frame of one column; pandas would put rows beside each other by their index."""
    return nw.maybe_reset_index(series.to_frame())


def _row_with(table: DataTable, j: int, name: str, at: Mapping[str, object]) -> int:
    """A row that has the value asked for, or else the most frequent one."""
    if table.column_schema(j).kind == "date":  # the fit does not use it, or it would be a number
        return 0
    column = as_categories(table.categories(j, 0, table.n_rows))
    codes = column.codes
    if name in at:
        wanted = [c for c, value in enumerate(column.values) if str(value) == str(at[name])]
        found = np.flatnonzero(np.isin(codes, wanted))
        if not len(found):
            raise ColumnError(
                f"at has {at[name]!r} for {name!r}, which no row has: they have "
                f"{listed(list(column.values))}."
            )
        return int(found[0])
    if not (codes >= 0).any():
        return 0
    return int(np.flatnonzero(codes == np.bincount(codes[codes >= 0]).argmax())[0])
