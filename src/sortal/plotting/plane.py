"""Geometry of the plane, without drawing: feet, lines, polygons, ellipses, rows of its points.

A half-plane (a, b) holds the points x with a·x + b ≥ 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.columns import as_categories
from sortal.data.sources import read_frame, read_table
from sortal.data.table import as_two_dimensional
from sortal.errors import ColumnError, ParameterError, listed
from sortal.plotting.axes import equation_text, fixed_text
from sortal.plotting.fitted import column_names, fixed_terms, number_terms
from sortal.plotting.rows import PlotRows, choose_columns, class_means, read_rows, split_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Float, Places
    from sortal.data.sources import DataTable

    HalfPlane = tuple[Float, float]

# Below this share of the sizes involved, a difference is rounding.
_ROUNDING = 1e-12


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


def box_sides(box: Float) -> list[HalfPlane]:
    """The four half-planes whose common part is a box."""
    (x0, y0), (x1, y1) = box
    sides = [((1, 0), -x0), ((-1, 0), x1), ((0, 1), -y0), ((0, -1), y1)]
    return [(np.array(a, dtype=float), float(b)) for a, b in sides]


def cut_line(normal: Float, offset: float, near: Float, cuts: Iterable[HalfPlane]) -> Float | None:
    """The part of the line normal·x + offset = 0 within half-planes, as its two ends, or None.

    `near` is a point of the picture: distances along the line count from its foot, so that they
    keep their digits where the origin is far away.
    """
    length = float(np.linalg.norm(normal))
    if length == 0:
        return None
    foot = near - normal * ((normal @ near + offset) / length**2)
    along = np.array([-normal[1], normal[0]]) / length
    low, high = -math.inf, math.inf
    for a, b in cuts:
        value, slope = float(a @ foot) + b, float(a @ along)
        size = float(np.abs(a) @ np.abs(foot)) + abs(b)
        if abs(slope) <= _ROUNDING * float(np.linalg.norm(a)):
            if value < -_ROUNDING * size:
                return None
        elif slope > 0:
            low = max(low, -value / slope)
        else:
            high = min(high, -value / slope)
    return foot + np.outer((low, high), along) if low < high else None


def cut_polygon(corners: Float, cuts: Iterable[HalfPlane]) -> Float:
    """What is left of a convex polygon within half-planes: its corners in order, maybe none."""
    for a, b in cuts:
        corners = _cut_once(corners, a, b)
    return corners


def _cut_once(corners: Float, a: Float, b: float) -> Float:
    """Keep the corners inside; where a side leaves or enters, its crossing is a new corner."""
    inside = corners @ a + b
    kept = []
    for i, here in enumerate(corners):
        before = i - 1
        if (inside[i] >= 0) != (inside[before] >= 0):
            share = inside[before] / (inside[before] - inside[i])
            kept.append(corners[before] + share * (here - corners[before]))
        if inside[i] >= 0:
            kept.append(here)
    return np.array(kept).reshape(-1, 2)


def box_corners(box: Float) -> Float:
    """The four corners of a box, in order."""
    (x0, y0), (x1, y1) = box
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def wins(coef: Float, intercept: Float, k: int, others: Sequence[int]) -> list[HalfPlane]:
    """Half-planes in which function k is not below another one."""
    return [(coef[k] - coef[m], float(intercept[k] - intercept[m])) for m in others]


def ellipse(mean: Float, covariance: Float, coverage: float, n: int = 181) -> Float:
    """Points of the ellipse that holds a share `coverage` of a normal distribution in the plane.

    Its squared radius is the quantile of χ² with two degrees of freedom, -2 ln(1 - coverage).
    """
    values, vectors = np.linalg.eigh(covariance)
    radius = math.sqrt(-2 * math.log1p(-coverage))
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean + radius * (circle * np.sqrt(np.maximum(values, 0))) @ vectors.T)


# --- Rows for the points of a plane: two columns vary, the others are held at one value each -----

_MICROSECONDS = 86_400_000_000  # of a day


class Plane:
    """Two columns of numbers of a table, drawn for an estimator that answers for whole rows.

    Numbers that are not drawn are held at their overall mean, categories at their most frequent
    value, or at what `at` says. Attributes: `rows` (to draw), `terms` (the estimator's terms that
    the two columns are, or None), `note` (what is held fixed).
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        features: Sequence[Any] | None,
        at: Mapping[Any, Any] | None,
    ) -> None:
        self._X, y = split_labels(X, y)
        self._table = read_table(self._X)
        self._names = [str(name) for name in column_names(estimator, self._table)]
        self._term = number_terms(estimator, self._table)
        self._places = self._choose(estimator, features)
        self.terms = None if self._term is None else [self._term[j] for j in self._places]
        self.rows = self._read(estimator, y)
        self._at = {str(name): value for name, value in (at or {}).items()}
        self._refuse_strangers()
        self._fixed_numbers, self._fixed_rows = self._fix(estimator)
        self._row = self._one_row()
        self.note = self._say(estimator)

    def table(self, points: Float) -> Any:
        """Rows like those of X, whose two columns have the given values."""
        cells = {j: self._cells(j, points[:, i]) for i, j in enumerate(self._places)}
        if isinstance(self._row, nw.DataFrame):
            many = nw.maybe_reset_index(self._row[[0] * len(points)])
            return many.with_columns(*_as_series(self._row, cells)).to_native()
        rows = np.repeat(self._row, len(points), axis=0)
        for j, column in cells.items():
            rows[:, j] = column
        return rows

    def _choose(self, estimator: Any, features: Sequence[Any] | None) -> list[int]:
        if features is None:
            numbers = [j for j in range(len(self._names)) if self._is_number(j)]
            features = numbers[:2] if len(numbers) > 1 else None
        places = choose_columns(self._table, features, 2)
        strange = [self._names[j] for j in places if not self._is_number(j)]
        if strange:
            raise ColumnError(
                f"{listed(strange)} is no number that this {type(estimator).__name__} was fitted "
                f"with: its terms are {listed(list(estimator.terms_))}."
            )
        return places

    def _read(self, estimator: Any, y: Any) -> PlotRows:
        own = not self._table.has_names
        told = [self._names[j] for j in self._places] if own else None
        return read_rows(self._X, y, features=self._places, classes=estimator.classes_, names=told)

    def _is_number(self, j: int) -> bool:
        """Whether the fit has column j as a number."""
        is_number = self._table.column_schema(j).is_number
        return is_number and (self._term is None or j in self._term)

    def _refuse_strangers(self) -> None:
        shown = [self._names[j] for j in self._places]
        for name in self._at:
            if name in shown:
                raise ParameterError(
                    f"at fixes {name!r}, which the picture shows: leave it out, or name other "
                    "features."
                )
            if name not in self._names:
                raise ColumnError(
                    f"at names {name!r}, which is no column of this table: it has "
                    f"{listed(self._names)}."
                )

    def _fix(self, estimator: Any) -> tuple[dict[int, float], dict[int, int]]:
        """Numbers by their values, everything else by a row that has the value."""
        rest = [j for j in range(len(self._names)) if j not in self._places]
        overall = self._overall(estimator)
        numbers, rows = {}, {}
        for j in rest:
            if self._is_number(j):
                numbers[j] = self._number(j, overall)
            else:
                rows[j] = _row_with(self._table, j, self._names[j], self._at)
        return numbers, rows

    def _overall(self, estimator: Any) -> Float | None:
        """Means of the estimator's own terms, if it has any."""
        if self.terms is None or not hasattr(estimator, "means_"):
            return None
        return fixed_terms(estimator, self.rows, self.terms, None)

    def _number(self, j: int, overall: Float | None) -> float:
        name = self._names[j]
        if name in self._at:
            try:
                return float(self._at[name])
            except (TypeError, ValueError):
                raise ParameterError(
                    f"at has {self._at[name]!r} for {name!r}: give a number."
                ) from None
        if overall is not None and self._term is not None:
            return float(overall[self._term[j]])
        cells = self._table.numbers(j, 0, self._table.n_rows).values
        known = cells[~np.isnan(cells)]
        return float(known.mean()) if len(known) else float("nan")

    def _say(self, estimator: Any) -> str:
        """What is held fixed: first what was asked for; what the fit does not use is not told."""
        used = getattr(estimator, "feature_names_in_", None)
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
        frame = read_frame(self._X)
        fixed = self._fixed_numbers | dict.fromkeys(self._places, 0.0)
        cells = {j: self._cells(j, np.array([value])) for j, value in fixed.items()}
        if frame is not None:
            return self._one_of_frame(frame, cells)
        array = as_two_dimensional(self._X)
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


def _row_with(table: DataTable, j: int, name: str, at: Mapping[str, Any]) -> int:
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
