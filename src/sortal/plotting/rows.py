"""What pictures read: rows and their classes, and of a fitted estimator its public attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from matplotlib.lines import Line2D
from scipy.special import logsumexp

from sortal.base.tables import read_codes, split_target
from sortal.data.sources import read_table
from sortal.data.table import objects_of
from sortal.decision.options import read_costs
from sortal.decision.posterior import decide, log_of
from sortal.errors import (
    ColumnError,
    InputError,
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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import CostsLike, Float, LabelsLike, Mask, Places, PriorsLike, TableLike
    from sortal.data.columns import Values
    from sortal.data.sources import DataTable

    Features = Sequence[str | int] | None
    HeldAt = Mapping[str, object] | None


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
    points: TableLike,
    labels: LabelsLike,
    *,
    features: Features = None,
    count: int | None = None,
    classes: ArrayLike | None = None,
    names: Sequence[object] | None = None,
) -> PlotRows:
    """A table (or array) and its labels, as rows to draw.

    `features` are names or positions of the columns to read, by default all numbers, or the first
    `count` of them.
    """
    X, y = split_target(points, labels)
    table = read_table(X)
    return _rows_of(table, choose_columns(table, features, count), y, classes, names)


def _rows_of(
    table: DataTable,
    places: Sequence[int],
    y: LabelsLike,
    classes: ArrayLike | None,
    names: Sequence[object] | None,
) -> PlotRows:
    cells = np.column_stack([table.numbers(j, 0, table.n_rows).values for j in places])
    codes, values = read_codes(y, table.n_rows, classes)
    whole = np.asarray(~np.isnan(cells).any(axis=1))
    _report_missing(whole)
    told = tuple(_name(table, j) for j in places) if names is None else tuple(map(str, names))
    if len(told) != len(places):
        raise ParameterError(
            f"names={names!r} has {len(told)} names, and there are {len(places)} attributes: give "
            "one name an attribute."
        )
    return PlotRows(cells[whole], codes[whole], values, told)


def choose_columns(table: DataTable, features: Features, count: int | None) -> list[int]:
    """Places of the attributes to show: those named, or the first numbers."""
    if features is None:
        numbers = [j for j in range(len(table.names)) if table.column_schema(j).is_number]
        if len(numbers) < (count or 1):
            needed = counted(count or 1, "column of numbers", "columns of numbers")
            raise InputError(
                f"This picture needs {needed}, and the table has {len(numbers)}: its columns are "
                f"{listed(table.names)}. Give a table with more columns of numbers."
            )
        return numbers[:count]
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ParameterError(
            f"features={features!r} is not a list: give names or positions of columns, such as "
            "(0, 1)."
        )
    places = [_place(table, feature) for feature in features]
    if (count is not None and len(places) != count) or len(set(places)) != len(places):
        needed = "different" if count is None else f"{count} different"
        raise ParameterError(
            f"features={features!r} names {listed([table.names[j] for j in places])}: give "
            f"{needed} columns, by name or position."
        )
    return places


def refuse_other_than_two(classes: Sequence[object], owner: str) -> None:
    """Some pictures are of two classes."""
    if len(classes) != 2:
        raise ParameterError(
            f"{owner} shows two classes, and there are {len(classes)} ({listed(list(classes))}): "
            "keep the rows of two, or join classes into one against the rest."
        )


def _place(table: DataTable, feature: str | int) -> int:
    """A column by name or position; it must hold numbers."""
    n = len(table.names)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if not -n <= feature < n:
            raise ColumnError(
                f"features names column {feature}, and the table has {counted(n, 'column')}: "
                f"positions go from 0 to {n - 1}."
            )
        j = int(feature) % n
    elif str(feature) in table.names:
        j = table.names.index(str(feature))
    else:
        raise ColumnError(
            f"features names {feature!r}, which is no column of this table: it has "
            f"{listed(table.names)}."
        )
    if not table.column_schema(j).is_number:
        raise ColumnError(
            f"features names {table.names[j]!r}, which holds words or truth values: points are "
            "drawn by numbers. Name a column of numbers."
        )
    return j


def _name(table: DataTable, j: int) -> str:
    is_date = table.column_schema(j).kind == "date"
    return f"{table.names[j]} (days since 1970)" if is_date else table.names[j]


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


# --- A fitted estimator, and a table beside it ---------------------------------------------------


class Classifier(Protocol):
    """What every picture needs of a fitted classifier; what else it has is asked by name."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""

    def predict(self, X: TableLike, /) -> NDArray[Any]:
        """The class of each row."""


def attribute(estimator: object, name: str) -> Any:
    """A public attribute, or an error that says what to do without it."""
    try:
        return getattr(estimator, name)
    except AttributeError:
        raise ParameterError(
            f"This {type(estimator).__name__} has no {name}, which the picture shows: fit it first "
            "if it is an estimator that has one, or give plain arrays to the display itself."
        ) from None


def numbers_of(estimator: object, name: str) -> Float:
    """A public attribute that is an array of numbers."""
    return np.asarray(attribute(estimator, name), dtype=np.float64)


def names_of_fit(estimator: object) -> list[str]:
    """All columns that an estimator was fitted to, by name; x0, x1, … where they had none."""
    given = getattr(estimator, "feature_names_in_", None)
    n = range(attribute(estimator, "n_features_in_") if given is None else 0)
    return [f"x{j}" for j in n] if given is None else [str(name) for name in given]


class ShownTable:
    """A table and its labels, as a fitted estimator reads them.

    `X` and `y` are apart also where y was a column of X. `names` are those of the table, or of the
    fit where it has none; `terms` those of the estimator, None where it has none, and `term` is
    which of them each column of numbers is, by place.
    """

    def __init__(self, estimator: Classifier, X: TableLike, y: LabelsLike) -> None:
        self.estimator = estimator
        self.classes: Values = tuple(
            np.asarray(attribute(estimator, "classes_"), dtype=object).tolist()
        )
        self.X, self.y = split_target(X, y, type(estimator).__name__)
        self.table = read_table(self.X)
        own, n = self.table.names, len(self.table.names)
        self.terms: list[str] | None = None
        if hasattr(estimator, "terms_"):
            self.terms = [str(name) for name in estimator.terms_]
        given = getattr(estimator, "feature_names_in_", None)
        fitted = [f"x{j}" for j in range(n)] if given is None else list(map(str, given[:n]))
        self.names = list(own) if self.table.has_names else fitted
        terms = self.terms or []
        by_name = self.table.has_names and any(name in terms for name in own)
        matched = enumerate(own if by_name else fitted)
        self.term = {j: terms.index(name) for j, name in matched if name in terms}

    @cached_property
    def codes(self) -> Places:
        """The class of each row, as a place in the classes."""
        return read_codes(self.y, self.table.n_rows, objects_of(self.classes))[0]

    def is_number(self, j: int) -> bool:
        """Whether the fit has column j as a number."""
        return self.table.column_schema(j).is_number and (self.terms is None or j in self.term)

    def choose(self, features: Features, count: int | None) -> list[int]:
        """Places of the attributes to show: those named, or the fit's first numbers."""
        if features is None:
            numbers = [j for j in range(len(self.names)) if self.is_number(j)]
            features = numbers[:count] if len(numbers) >= (count or 1) else None
        places = choose_columns(self.table, features, count)
        if strange := [self.names[j] for j in places if not self.is_number(j)]:
            raise ColumnError(
                f"{listed(strange)} is no number that this {type(self.estimator).__name__} was "
                f"fitted with: its terms are {listed(self.terms or [])}."
            )
        return places

    def rows(self, places: Sequence[int]) -> PlotRows:
        """The rows to draw, in the estimator's classes."""
        told = None if self.table.has_names else [self.names[j] for j in places]
        return _rows_of(self.table, places, self.y, objects_of(self.classes), told)


def fitted_rows(
    estimator: Classifier, X: TableLike, y: LabelsLike, features: Features, count: int | None
) -> tuple[PlotRows, list[int]]:
    """The rows to draw, in the estimator's classes, and the term that each attribute is.

    Without `features`, the attributes are the estimator's columns of numbers, or the first `count`.
    """
    attribute(estimator, "classes_"), attribute(estimator, "terms_")
    given = ShownTable(estimator, X, y)
    places = given.choose(features, count)
    return given.rows(places), [given.term[j] for j in places]


def overall_means(estimator: object, rows: PlotRows) -> Float:
    """The class means of the fit, weighted by how often the rows have each class."""
    met = rows.counts > 0  # a class without rows may have no mean
    means = numbers_of(estimator, "means_")
    return np.asarray(rows.counts[met] / rows.counts.sum() @ means[met])


def refuse_drawn(name: str, drawn: Iterable[str]) -> None:
    """An attribute that is drawn is not held at one value."""
    if name in drawn:
        raise ParameterError(
            f"at fixes {name!r}, which the picture shows: leave it out, or name other features."
        )


def held_number(name: str, value: Any) -> float:
    """The number at which an attribute is held."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"at has {value!r} for {name!r}: give a number.") from None


# --- What pictures ask of an estimator: functions of rows of which the largest decides -----------


def deciding_functions(
    estimator: object, classes: Values, priors: PriorsLike = None, costs: CostsLike = None
) -> Callable[[TableLike], Float]:
    """Log posteriors, or with costs the negative logarithm of what each answer is to cost.

    Without probabilities, the estimator's own functions; where neighbors vote, 1 for the class
    that is decided for and 0 for others. `priors` and `costs` are given instead of those of the
    fit.
    """
    asked = _log_posteriors(estimator, {} if priors is None else {"priors": priors})
    last = estimator  # what decides in the end: of a pipeline, its last step
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    own, fitted = getattr(last, "costs", None), getattr(last, "_fitted", None)
    weight = None if fitted is None else fitted.over_classes(fitted.class_weights, axis=0)
    table = read_costs(own if costs is None else costs, classes, weight)
    if asked is None:
        if priors is not None or costs is not None:
            raise ParameterError(
                f"{type(estimator).__name__} has no probabilities (predict_proba), which priors "
                "and costs need: leave them out, or use an estimator that has them."
            )
        asked = _functions(estimator)
        table = table if len(classes) > 2 else None  # of two classes the function has them in
    if hasattr(last, "kneighbors"):  # votes are even in areas, not along a curve
        return lambda X: np.eye(len(classes))[decide(np.exp(asked(X)), table)]
    if table is None:
        return asked
    return lambda X: _less_costly(asked(X), table)


def _log_posteriors(
    estimator: object, given: Mapping[str, PriorsLike]
) -> Callable[[TableLike], Float] | None:
    """ln P(k|x), as the estimator gives them or from its probabilities."""

    def ask(name: str, X: TableLike) -> Float:
        try:
            return np.asarray(getattr(estimator, name)(X, **given), dtype=np.float64)
        except TypeError as error:
            if not given or "priors" not in str(error):
                raise
            raise ParameterError(
                f"priors cannot be given here: {name} of this estimator has no parameter priors. "
                "Fit with the priors, or leave them out."
            ) from error

    if hasattr(estimator, "predict_log_proba"):
        return lambda X: ask("predict_log_proba", X)
    if hasattr(estimator, "predict_proba"):
        return lambda X: log_of(ask("predict_proba", X))
    return None


def _functions(estimator: object) -> Callable[[TableLike], Float]:
    own = getattr(estimator, "decision_function", None)
    if own is None:
        raise ParameterError(
            f"This {type(estimator).__name__} has neither predict_proba nor decision_function, "
            "from which boundaries are drawn: use a classifier that has one of them."
        )

    def functions(X: TableLike) -> Float:
        found = np.asarray(own(X), dtype=np.float64)
        # of two classes, the function is that of the second
        return found if found.ndim == 2 else np.column_stack([np.zeros(len(found)), found])

    return functions


def _less_costly(log_posterior: Float, costs: Float) -> Float:
    """ln P(k|x) c_k where an error of class k costs c_k whatever is said, else -ln Σ_i P(i|x) C_ij.

    What every answer costs alike where i is true is left out first. Logarithms, because their
    differences keep their digits where another class is all but certain.
    """
    extra = costs - costs.min(axis=1, keepdims=True)
    errors = extra.max(axis=1)
    if np.array_equal(extra, errors[:, None] * (1 - np.eye(len(costs)))):
        return log_posterior + log_of(errors)
    return -np.asarray(logsumexp(log_posterior[:, :, None] + log_of(extra), axis=1))


# --- Points of classes in the plane: how they are drawn, and the words around them ---------------


def draw_points(ax: Axes, rows: PlotRows, drawn: Places, kw: Style) -> list[Artist]:
    """The rows that are drawn, class by class; the legend counts all."""
    handles: list[Artist] = []
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
