"""Points and their classes: how pictures read rows, and draw them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from matplotlib.lines import Line2D

from sortal.data.columns import as_categories
from sortal.data.sources import DataTable, read_frame, read_table
from sortal.data.table import ArrayTable, FrameTable, objects_of, plain_array, read_values
from sortal.errors import (
    ColumnError,
    InputError,
    LabelError,
    MissingValueWarning,
    ParameterError,
    agreed,
    counted,
    listed,
    warn,
)
from sortal.plotting.axes import (
    BLACK,
    Style,
    class_entries,
    marker,
    name_axes,
    point_style,
    shown,
    write_title,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, Mask, Places
    from sortal.data.columns import Values


@dataclass(frozen=True, eq=False)
class PlotRows:
    """n complete points in d attributes, and the class of each as a place in `classes`."""

    points: Float
    codes: Places
    classes: Values
    names: tuple[str, ...]

    @cached_property
    def counts(self) -> Places:
        """How many rows each class has."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @cached_property
    def means(self) -> Float:
        """The mean of each class, a row each; NaN where a class has no rows."""
        return class_means(self.points, self.codes, len(self.classes))

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The class of each row itself."""
        return objects_of(self.classes)[self.codes]

    def thinned(self, most: int) -> Places:
        """Which rows are drawn where there are too many to see: every so many-th."""
        n = len(self.points)
        return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.intp)


def class_means(cells: Float, codes: Places, n_classes: int) -> Float:
    """Means of the rows of each class; NaN where it has none."""
    nothing = np.full(cells.shape[1:], np.nan)
    groups = (cells[codes == k] for k in range(n_classes))
    return np.array([group.mean(axis=0) if len(group) else nothing for group in groups])


def read_rows(
    points: Any,
    labels: Any,
    *,
    features: Sequence[Any] | None = None,
    count: int | None = None,
    classes: ArrayLike | None = None,
    names: Sequence[object] | None = None,
) -> PlotRows:
    """A table (or array) and its labels, as rows to draw.

    `features` are names or positions of the columns to read, by default all numbers, or the first
    `count` of them.
    """
    points, labels = split_labels(points, labels)
    table = read_table(points)
    places = choose_columns(table, features, count)
    cells = np.column_stack([table.numbers(j, 0, table.n_rows).values for j in places])
    codes, values = read_labels(labels, table.n_rows, classes)
    whole = np.asarray(~np.isnan(cells).any(axis=1))
    _report_missing(whole)
    told = tuple(_name(table, j) for j in places) if names is None else tuple(map(str, names))
    if len(told) != len(places):
        raise ParameterError(
            f"names={names!r} has {len(told)} names, and there are {len(places)} attributes: give "
            "one name an attribute."
        )
    return PlotRows(cells[whole], codes[whole], values, told)


def split_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y, where y may be the name of a column of X."""
    if not isinstance(y, str):
        return X, y
    frame = read_frame(X)
    if frame is None or y not in frame.columns:
        has = "columns without names" if frame is None else listed(list(map(str, frame.columns)))
        raise ColumnError(
            f"y={y!r} is no column of this table: it has {has}. Give the labels themselves, or the "
            "name of the column that holds them."
        )
    return frame.drop(y).to_native(), frame.get_column(y).to_native()


def choose_columns(
    table: DataTable, features: Sequence[Any] | None, count: int | None
) -> list[int]:
    """Places of the attributes to show: those named, or the first numbers."""
    if features is None:
        numbers = [j for j in range(len(table.names)) if table.column_schema(j).is_number]
        if len(numbers) < (count or 1):
            raise InputError(
                f"This picture needs {_numbers(count or 1)}, and the table has {len(numbers)}: its "
                f"columns are {listed(table.names)}. Give a table with more columns of numbers."
            )
        return numbers[:count]
    places = [_place(table, feature) for feature in _as_list(features)]
    if (count is not None and len(places) != count) or len(set(places)) != len(places):
        needed = "different" if count is None else f"{count} different"
        raise ParameterError(
            f"features={features!r} names {listed([table.names[j] for j in places])}: give "
            f"{needed} columns, by name or position."
        )
    return places


def read_labels(y: Any, n_rows: int, classes: ArrayLike | None) -> tuple[Places, Values]:
    """The class of each row as a place in the classes: the given ones, or those that occur."""
    table = _label_table(y)
    if table.n_rows != n_rows:
        raise LabelError(
            f"X has {counted(n_rows, 'row')} and y {counted(table.n_rows, 'label')}: give one "
            "label a row."
        )
    column = as_categories(table.categories(0, 0, n_rows))
    given = column.values if classes is None else np.asarray(classes, dtype=object).tolist()
    values = tuple(value for value in read_values(given, "classes") if value is not None)
    codes = column.recode({value: k for k, value in enumerate(values)})
    if (codes < 0).any():
        odd = [value for value in column.values if value not in values]
        what = f"The labels {listed(odd)} are" if odd else "A missing label is"
        raise LabelError(
            f"{what} none of the classes {listed(values)}: keep rows of these classes only."
        )
    return codes.astype(np.intp), values


def refuse_other_than_two(classes: Sequence[object], owner: str) -> None:
    """Some pictures are of two classes."""
    if len(classes) != 2:
        raise ParameterError(
            f"{owner} shows two classes, and there are {len(classes)} ({listed(list(classes))}): "
            "keep the rows of two, or join classes into one against the rest."
        )


def _label_table(y: Any) -> DataTable:
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return FrameTable(series.alias("y").to_frame())
    cells = plain_array(np.asanyarray(y))
    if isinstance(y, list | tuple) and cells.dtype.kind == "U":
        cells = objects_of(y)  # among words, NumPy would make the word "nan" of a missing value
    if cells.ndim != 1:
        raise LabelError(
            f"Labels of shape {cells.shape} were given: give a list of labels, one a row."
        )
    return ArrayTable(cells[:, None], ("y",))


def _as_list(features: Any) -> list[Any]:
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ParameterError(
            f"features={features!r} is not a list: give names or positions of columns, such as "
            "(0, 1)."
        )
    return list(features)


def _place(table: DataTable, feature: Any) -> int:
    """A column by name or position; it must hold numbers."""
    n = len(table.names)
    by_position = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if by_position and not -n <= feature < n:
        raise ColumnError(
            f"features names column {feature}, and the table has {counted(n, 'column')}: positions "
            f"go from 0 to {n - 1}."
        )
    if not by_position and str(feature) not in table.names:
        raise ColumnError(
            f"features names {feature!r}, which is no column of this table: it has "
            f"{listed(table.names)}."
        )
    j = int(feature) % n if by_position else table.names.index(str(feature))
    if not table.column_schema(j).is_number:
        raise ColumnError(
            f"features names {table.names[j]!r}, which holds words or truth values: points are "
            "drawn by numbers. Name a column of numbers."
        )
    return j


def _name(table: DataTable, j: int) -> str:
    is_date = table.column_schema(j).kind == "date"
    return f"{table.names[j]} (days since 1970)" if is_date else table.names[j]


def _numbers(count: int) -> str:
    return counted(count, "column of numbers", "columns of numbers")


def _report_missing(whole: Mask) -> None:
    if not whole.any():
        raise InputError(
            f"Of {counted(len(whole), 'row')} none has a value in every attribute shown: there is "
            "nothing to draw. Fill the missing values, or choose other attributes."
        )
    if n := int((~whole).sum()):
        warn(
            f"{n} of {len(whole)} rows {agreed(n, 'has', 'have')} a missing value in the "
            "attributes shown "
            f"and {agreed(n, 'is', 'are')} not drawn.",
            MissingValueWarning,
        )


# --- Points of classes in the plane: how they are drawn, and the words around them ---------------


def draw_points(ax: Axes, rows: PlotRows, drawn: Places, kw: Style) -> list[Any]:
    """The rows that are drawn, class by class; the legend counts all."""
    handles = []
    for k, entry in enumerate(class_entries(rows.classes, rows.counts)):
        x, y = rows.points[drawn[rows.codes[drawn] == k]].T
        handles.append(ax.scatter(x, y, label=entry, **(point_style(k) | {"zorder": 3} | kw)))
    return handles


def draw_centroids(ax: Axes, centroids: Float) -> None:
    """The mean of each class, black with its marker."""
    for k, (x, y) in enumerate(centroids):
        ax.plot([x], [y], markersize=10, zorder=4, **centroid_style(k))


def centroid_handle() -> Line2D:
    """What the legend tells of all centroids."""
    return Line2D([], [], markersize=8, label="class centroid", **centroid_style(0))


def centroid_style(k: int) -> Style:
    """Black, with the marker of the class."""
    return {"color": BLACK, "marker": marker(k), "markeredgecolor": "white", "linestyle": "none"}


def write_plane(ax: Axes, rows: PlotRows, title: str, note: str, drawn: Places) -> None:
    """Title, notes below it, and names of both axes."""
    n = len(rows.points)
    part = [f"{len(drawn)} of {n} points drawn"] if len(drawn) < n else []
    write_title(ax, title, ";  ".join([*([note] if note else []), *part]))
    name_axes(ax, shown(rows.names[0]), shown(rows.names[1]))


# More points than this are a blot: every so many-th is drawn then, and the picture says so.
MOST_POINTS = 2000
