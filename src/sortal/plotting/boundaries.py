"""Curves: where two of K functions of the plane are equal and the largest; scores over cuts.

Contours of a grid say where such curves are; then every vertex is moved, along the side of the cell
that it lies on, to where the functions are equal, and curves end exactly where a third one is.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from contourpy import contour_generator
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.patheffects import withStroke

from sortal.decision.posterior import leading
from sortal.errors import ParameterError
from sortal.plotting.axes import BLACK, Style, color, marker, short_number, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, Places

    Functions = Callable[[Float], Float]

T = TypeVar("T")

# Of equal classes the rounding is not drawn; as `leading` has it.
_TIE = 16 * np.finfo(float).eps

# Stands for infinity among values that are subtracted.
_FAR = 1e300

# Steps of the search between two points; most end after ten.
_STEPS = 60

_CLOSE = 1e-11

# Where curves meet: steps to come near, and steps of Newton's method from there.
_FEW_STEPS, _NEWTON_STEPS, _TRIES = 12, 6, 3

_HARDLY = 1e-8


class Polyline(NamedTuple):
    """A piece of the boundary between two classes (places in `classes`): its points in order."""

    first: int
    second: int
    points: Float


class Grid:
    """Functions at the crossings of lines across a box, `resolution` in each direction.

    Attributes: `x`, `y` (places of the lines), `values` (a row a y, a column an x, then a class),
    `labels` (the class with the largest value, as a place).
    """

    def __init__(self, functions: Functions, box: Float, n_classes: int, resolution: int) -> None:
        self._functions, self._n_classes = functions, n_classes
        self.x, self.y = np.linspace(box[0], box[1], resolution).T
        values = self.at(_crossings(self.x, self.y))
        self.values = values.reshape(resolution, resolution, n_classes)
        self.labels = leading(values).reshape(resolution, resolution)

    def at(self, points: Float) -> Float:
        """The functions' values, a row a point."""
        values = np.asarray(self._functions(points), dtype=np.float64)
        if values.shape != (len(points), self._n_classes) or np.isnan(values).any():
            raise ParameterError(
                f"functions gave values of the shape {values.shape}, maybe with NaN, for "
                f"{len(points)} points and {self._n_classes} classes: it must give a number a "
                "point and class."
            )
        return np.clip(values, -_FAR, _FAR)

    def leads(self, k: int) -> Float:
        """How far class k is above the best of the others."""
        others = np.delete(self.values, k, axis=2).max(axis=2, initial=-_FAR)
        return np.asarray(self.values[:, :, k] - others)

    def curves(self) -> list[Polyline]:
        """Where two functions are equal and none is larger."""
        lines = [
            Polyline(k, m, points)
            for k, m in self._neighbors()
            for points in self._contours(k, m)
            if len(points) > 1
        ]
        return _Vertices(self, lines).cut() if lines else []

    def cell(self) -> Float:
        """Width and height of a cell."""
        return np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])

    def nearby(self, points: Float) -> Float:
        """Points that a step led far away, or nowhere, brought back to around the box."""
        box = np.array([(self.x[0], self.y[0]), (self.x[-1], self.y[-1])])
        width = box[1] - box[0]
        return np.clip(np.where(np.isnan(points), box[0], points), box[0] - width, box[1] + width)

    def _neighbors(self) -> list[tuple[int, int]]:
        """Pairs of classes that meet in a cell."""
        corners = [
            self.labels[i : i - 1 or None, j : j - 1 or None] for i in (0, 1) for j in (0, 1)
        ]
        flat = np.stack([corner.ravel() for corner in corners])
        met = np.sort(np.hstack([flat[[a, b]] for a, b in combinations(range(4), 2)]), axis=0)
        pairs = np.unique(met[:, met[0] != met[1]], axis=1)
        return [(k, m) for k, m in pairs.T.tolist()]

    def _contours(self, k: int, m: int) -> list[Float]:
        z = _difference(self.values[:, :, k], self.values[:, :, m])
        lines = contour_generator(self.x, self.y, z).lines(0.0)
        return [np.asarray(line) for line in lines]

    def sides(self, points: Float) -> tuple[Float, Float]:
        """The two crossings between which each vertex lies, on a line of the grid."""
        origin = np.array([self.x[0], self.y[0]])
        steps = (points - origin) / self.cell()
        nearest = np.clip(steps.round(), 0, len(self.x) - 1)
        low = np.clip(np.floor(steps), 0, len(self.x) - 2)
        # the coordinate that is nearer to a line is the one that lies on it
        on = np.abs(steps - nearest).argmin(axis=1)
        i = np.arange(len(points))
        low[i, on] = nearest[i, on]
        high = low + 1
        high[i, on] = nearest[i, on]
        return self._crossing(low), self._crossing(high)

    def _crossing(self, steps: Float) -> Float:
        x, y = steps.astype(np.intp).T
        return np.column_stack([self.x[x], self.y[y]])


def _crossings(x: Float, y: Float) -> Float:
    return np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])


def snapped(functions: Functions, box: Float, resolution: int) -> Functions:
    """Functions that are constant around each crossing of a grid, asked there once and for all.

    What they hide is what lies between the lines.
    """
    x, y = np.linspace(box[0], box[1], resolution).T
    values = np.asarray(functions(_crossings(x, y)), dtype=np.float64)

    def at(points: Float) -> Float:
        steps = (points - box[0]) / (box[1] - box[0]) * (resolution - 1)
        i, j = np.clip(steps.round(), 0, resolution - 1).astype(np.intp).T
        return np.asarray(values[j * resolution + i])

    return at


class _Vertices:
    """The vertices of all curves, so that the functions are asked a few times for many points."""

    def __init__(self, grid: Grid, lines: list[Polyline]) -> None:
        self._grid = grid
        sizes = [len(line.points) for line in lines]
        self._starts = np.cumsum([0, *sizes])
        self._pairs = np.repeat([(line.first, line.second) for line in lines], sizes, axis=0)
        self._points = self._moved(np.vstack([line.points for line in lines]))

    def _moved(self, points: Float) -> Float:
        """Vertices on the sides of cells, moved to where their two functions are equal."""
        low, high = self._grid.sides(points)
        shares = find_zero(lambda t: self._gaps(between(low, high, t)), len(points))
        return np.where(np.isnan(shares)[:, None], points, between(low, high, shares))

    def cut(self) -> list[Polyline]:
        """The parts of the curves that no third function is above."""
        inside = self._above(self._points, self._pairs)[0] <= 0
        changes = np.flatnonzero(inside[1:] != inside[:-1])
        changes = changes[~np.isin(changes + 1, self._starts)]
        ends = dict(zip((changes + 1).tolist(), self._ends(changes), strict=True))
        bounds = np.union1d(self._starts, changes + 1).tolist()
        found = []
        for start, stop in pairwise(bounds):
            if inside[start]:
                outer = [[ends[i]] if i in ends else np.empty((0, 2)) for i in (start, stop)]
                piece = np.vstack([outer[0], self._points[start:stop], outer[1]])
                k, m = self._pairs[start].tolist()
                found.append(Polyline(k, m, piece))
        return [piece for piece in found if len(piece.points) > 1]

    def _gaps(self, points: Float) -> Float:
        first, second = _pick(self._grid.at(points), self._pairs).T
        return _difference(first, second)

    def _above(self, points: Float, pairs: Places) -> tuple[Float, Places]:
        """How far the best of the other functions is above the two, and which it is."""
        values = self._grid.at(points)
        own = _pick(values, pairs).max(axis=1)
        np.put_along_axis(values, pairs, -_FAR, axis=1)
        return _difference(values.max(axis=1), own), values.argmax(axis=1)

    def _ends(self, changes: Places) -> Float:
        """Where curves go from inside to outside, each between two of its vertices."""
        low, high, pairs = self._points[changes], self._points[changes + 1], self._pairs[changes]
        if not len(changes):
            return low
        above: Callable[[Float], Float] = lambda t: self._above(between(low, high, t), pairs)[0]
        shares = find_zero(above, len(changes), _FEW_STEPS)
        near = between(low, high, np.where(np.isnan(shares), 0.5, shares))
        third, points = self._above(near, pairs)[1], near
        for _ in range(_TRIES):
            points = self._meet(near, np.column_stack([pairs, third]))
            above_them, other = self._above(points, pairs)
            passed = above_them > _HARDLY
            # where a fourth function passes within the cell, the curve ends at that one
            third = np.where(passed, other, third)
        return np.where(passed[:, None], near, points)

    def _meet(self, near: Float, three: Places) -> Float:
        """The points where three functions are equal, by Newton's method; else what was near."""
        cell, points = self._grid.cell(), near
        for _ in range(_NEWTON_STEPS):
            gaps, slopes = self._slopes(points, three, 1e-4 * cell)
            points = points - _solve_pairs(slopes, gaps)
        close = (np.abs(points - near) <= cell).all(axis=1, keepdims=True)  # not if they are NaN
        return np.where(close, points, near)

    def _slopes(self, points: Float, three: Places, step: Float) -> tuple[Float, Float]:
        """First less second and first less third function, and their derivatives."""
        shifts = np.vstack([np.zeros(2), np.diag(step), -np.diag(step)])
        asked = self._grid.nearby((shifts[:, None] + points).reshape(-1, 2))
        values = _pick(self._grid.at(asked), np.tile(three, (len(shifts), 1)))
        gaps = (values[:, :1] - values[:, 1:]).reshape(len(shifts), len(points), 2)
        return gaps[0], np.moveaxis(gaps[1:3] - gaps[3:], 0, 2) / (2 * step)


def between(low: Float, high: Float, share: Float) -> Float:
    """Points part of the way from one to another; the whole way is exactly the other."""
    t = share[:, None]
    return np.asarray(np.where(t < 1, low + t * (high - low), high))


def find_zero(gap: Callable[[Float], Float], n: int, steps: int = _STEPS) -> Float:
    """Where in [0, 1] each of n functions passes zero; NaN where its ends are on one side.

    The false position, with the end that stays halved in weight (Illinois): as safe as halving the
    interval, and as fast as the secant once it is near.
    """
    low, high = np.zeros(n), np.ones(n)
    at_low, at_high = gap(low), gap(high)
    apart = (at_low > 0) != (at_high > 0)
    t = np.where(apart, high, np.nan)
    for _ in range(steps):
        total = np.where(at_low == at_high, 1.0, at_low - at_high)
        before, t = t, np.where(apart, low + (high - low) * (at_low / total), np.nan)
        here = gap(np.nan_to_num(t))
        same = (here > 0) == (at_low > 0)
        low, high = np.where(same, t, low), np.where(same, high, t)
        at_low, at_high = np.where(same, here, at_low / 2), np.where(same, at_high / 2, here)
        if not (apart & (here != 0) & (np.abs(t - before) > _CLOSE)).any():
            break
    return t


def _pick(values: Float, places: Places) -> Float:
    """Of each row the entries at its own places."""
    return np.take_along_axis(values, places, axis=1)


def _difference(first: Float, second: Float) -> Float:
    """first - second, zero where that is rounding."""
    gap = first - second
    size = np.maximum(1.0, np.minimum(np.abs(first), np.abs(second)))
    return np.where(np.abs(gap) <= _TIE * size, 0.0, gap)


def _solve_pairs(matrices: Float, right: Float) -> Float:
    """Two equations in two unknowns, many times; infinite or NaN where there is no solution."""
    (a, b), (c, d) = matrices[:, 0].T, matrices[:, 1].T
    u, v = right.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        solved = np.column_stack([d * u - b * v, a * v - c * u]) / (a * d - b * c)[:, None]
    return np.asarray(solved)


# --- Curves over the cuts of an attribute: their style, their marks, and what was given checked --

# More cuts than this are a line without marks.
_MOST_MARKS = 60

# So many words have room below an axis.
_MOST_WORDS = 10

# Curves share an axis if each spans at least this part of it.
_LEAST_SPAN = 0.1


class ScoreCurve(NamedTuple):
    """The scores of an attribute's cuts; `best` is the place of the one to be marked, if any."""

    name: str
    v: NDArray[Any]
    scores: Float
    best: int | None


def draw_curve(ax: Axes, curve: ScoreCurve, i: int, kw: Style) -> Line2D:
    """A curve and a mark at its best cut."""
    x = places(curve.v)
    (line,) = ax.plot(x, curve.scores, **(curve_style(i, len(x)) | kw))
    if curve.best is not None:
        ax.plot([x[curve.best]], [curve.scores[curve.best]], **mark_style(i))
    return line


def best_text(curve: ScoreCurve, name: str) -> str:
    """What the best cut says, and its score."""
    if curve.best is None:
        return name
    cut, score = v_text(curve.v[curve.best]), short_number(curve.scores[curve.best])
    return f"{name} ≤ {cut}:  {score}".lstrip()


def write_best(ax: Axes, curve: ScoreCurve, name: str) -> None:
    """Words above the best cut; near an end of the axis they go inwards."""
    if curve.best is None:
        return
    point = places(curve.v)[curve.best], curve.scores[curve.best]
    across = _shares(ax, curve)[0]
    side = "left" if across < 0.2 else "right" if across > 0.8 else "center"
    write_at(ax, best_text(curve, name), point, (0, 9), {"ha": side, "va": "bottom"})


def are_apart(ax: Axes, curves: Sequence[ScoreCurve]) -> bool:
    """Whether words above the best cuts leave each other room."""
    points = [_shares(ax, curve) for curve in curves if curve.best is not None]
    return all(
        abs(a[0] - b[0]) > 0.3 or abs(a[1] - b[1]) > 0.08 for a, b in combinations(points, 2)
    )


def _shares(ax: Axes, curve: ScoreCurve) -> tuple[float, float]:
    """Where the best cut lies, as shares of the axes."""
    i = cast("int", curve.best)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    spot = places(curve.v)[i]
    if curve.v.dtype.kind == "M":
        spot = date2num(spot)  # type: ignore[no-untyped-call]
    x = float(spot)
    return (x - left) / (right - left), (float(curve.scores[i]) - low) / (high - low)


def write_at(
    ax: Axes, text: str, xy: tuple[float, float], offset: tuple[float, float], place: Style
) -> None:
    """Words at a point, with a white rim that keeps them legible over lines."""
    rim = withStroke(linewidth=3.0, foreground="white")
    said: Style = {"fontsize": "small", "usetex": False, "zorder": 5, "path_effects": [rim]}
    ax.annotate(text, xy, offset, textcoords="offset points", **(said | place))


def leave_room(ax: Axes, top: float) -> None:
    """Room for words above the curves, and for marks on the zero line."""
    ax.set_ylim(-0.025 * top, 1.15 * top)


def curve_style(k: int, n: int) -> Style:
    """How curve k of n cuts is drawn."""
    style: Style = {"color": color(k), "linewidth": 1.4, "zorder": 2}
    marks: Style = {"marker": marker(k), "markersize": 4.0, "markeredgewidth": 0.0}
    return style | marks if n <= _MOST_MARKS else style


def mark_style(k: int) -> Style:
    """How a point of curve k is pointed out."""
    return {
        "color": color(k),
        "marker": marker(k),
        "markersize": 9.0,
        "markeredgecolor": BLACK,
        "linestyle": "none",
        "zorder": 4,
    }


def share_axis(curves: Sequence[ScoreCurve]) -> bool:
    """Whether numbers lie so close together that one axis shows them all."""
    if len(curves) == 1:
        return True
    if any(curve.v.dtype.kind != "f" for curve in curves):
        return False
    spans = [float(np.ptp(curve.v)) for curve in curves]
    values = np.concatenate([curve.v for curve in curves])
    return min(spans) >= _LEAST_SPAN * float(np.ptp(values))


def places(v: NDArray[Any]) -> NDArray[Any]:
    """Where cuts are drawn: words one by one."""
    return np.arange(len(v)) if v.dtype.kind == "U" else v


def name_ticks(ax: Axes, v: NDArray[Any]) -> None:
    """Words below the axis where cuts are words, and short dates where they are dates."""
    if v.dtype.kind == "U":
        every = -(-len(v) // _MOST_WORDS)
        words = [shown(word, 12) for word in v[::every]]
        ax.set_xticks(range(0, len(v), every), words, usetex=False)
    elif v.dtype.kind == "M" and len(v) == 1:
        ax.set_xticks(v, [v_text(v[0])])
    elif v.dtype.kind == "M":
        locator = AutoDateLocator(maxticks=7)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def v_text(v: object) -> str:
    """A cut as it is written."""
    if isinstance(v, np.datetime64):
        return str(np.datetime_as_string(v, unit="auto"))
    return f"{v:.6g}".replace("-", "−") if isinstance(v, float) else shown(v)


def read_v(v: ArrayLike) -> NDArray[Any]:
    """Cuts: numbers, dates or words."""
    given = np.asarray(v)
    if given.ndim != 1 or given.dtype.kind not in "iufMU":
        raise ParameterError(
            f"v has the shape {given.shape} and the type {given.dtype}: give a list of numbers, "
            "dates or words, one a cut."
        )
    return given.astype(np.float64) if given.dtype.kind in "iu" else given


def read_curve(name: object, v: ArrayLike, scores: ArrayLike, *best: int | None) -> ScoreCurve:
    """A curve from what was given of it."""
    cuts, found = read_v(v), np.asarray(scores, dtype=np.float64)
    if found.shape != cuts.shape:
        raise ParameterError(
            f"The curve of {name!r} has {len(cuts)} cuts and scores of the shape {found.shape}: "
            "give one score a cut."
        )
    place = best[0] if best else int(found.argmax()) if len(found) else None
    return ScoreCurve(str(name), cuts, found, read_place(place, len(cuts), "best"))


def read_place(place: int | None, n: int, name: str) -> int | None:
    """The place of one of n cuts, or none."""
    if place is not None and not 0 <= place < n:
        raise ParameterError(f"{name}={place!r} is no cut: there are {n}, counted from 0.")
    return place


def one_per_class(given: Sequence[T], n_classes: int, name: str) -> list[T]:
    """A list that has an entry for each class."""
    listed = list(given)
    if len(listed) != n_classes:
        raise ParameterError(
            f"{name} has {len(listed)} entries, and counts has {n_classes} classes: give one a "
            "class."
        )
    return listed
