"""Curves of scores over the cuts of an attribute: their style, their marks, and what was given."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.patheffects import withStroke

from sortal.errors import ParameterError
from sortal.plotting.axes import BLACK, Style, color, marker, short_number, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float

T = TypeVar("T")

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
