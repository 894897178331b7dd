"""Displays of a node's cuts: rows below each, and its score (Figures 19.2 and 19.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import matplotlib.pyplot as plt
import numpy as np

from sortal.base.tables import split_target
from sortal.data.sources import read_table
from sortal.decision.options import is_whole
from sortal.errors import ColumnError, ParameterError, listed
from sortal.plotting.axes import (
    BLACK,
    Style,
    name_axes,
    open_axes,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.curves import (
    are_apart,
    best_text,
    curve_style,
    draw_curve,
    leave_room,
    mark_style,
    name_ticks,
    one_per_class,
    places,
    read_curve,
    read_place,
    read_v,
    share_axis,
    v_text,
    write_at,
    write_best,
)
from sortal.plotting.rows import attribute, names_of_fit
from sortal.trees.split_scores import CRITERIA_BY_NAME
from sortal.trees.working.node import table_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, LabelsLike, TableLike
    from sortal.records.tables import Table, Working

    Feature = str | int


# --- The cuts of a node as pictures read them: from the tables of an estimator's `working` -------


class Cuts(NamedTuple):
    """The cuts X <= v of one attribute: numbers, dates (datetime64) or words in their order.

    `counts` is N_vi, a row a cut and a column a class; `best` is the place of the cut that ranks
    first, None where none is allowed, and `chosen` whether the node asks it.
    """

    name: str
    v: NDArray[Any]
    counts: Float
    scores: Float
    best: int | None
    chosen: bool


class NodeCuts(NamedTuple):
    """The cuts of a node, by attribute."""

    node: int
    criterion: str
    classes: tuple[str, ...]
    totals: tuple[float, ...]
    cuts: list[Cuts]


def read_node(
    estimator: object,
    X: TableLike,
    y: LabelsLike,
    node: int,
    features: Sequence[Feature] | None,
    sample_weight: ArrayLike | None,
) -> NodeCuts:
    """The cuts of the features named, or of all columns that are cut, the best of them first."""
    working = attribute(estimator, "working")(node, X, y, sample_weight)
    names, dates = _columns(estimator, X, y)
    tables = dict(zip(names, table_names(names), strict=True))
    wanted = names if features is None else [_named(feature, names) for feature in features]
    known = {table.name: table for table in working}
    cut = [name for name in wanted if known[tables[name]].columns[0] == "v"]
    if features is not None and len(cut) < len(wanted):
        strange = [name for name in wanted if name not in cut]
        raise ColumnError(
            f"features names {listed(strange)}, which is not cut by this tree: name columns of "
            "numbers, dates or ordered categories."
        )
    made = [_read_cuts(working[tables[name]], name, working, name in dates) for name in cut]
    found = [cuts for cuts in made if len(cuts.v)]
    if not found:
        raise ParameterError(
            f"Node {node} has no cut of {listed(wanted)}: there each of them has one value, or is "
            "not cut. Choose another node or other features."
        )
    classes = working["node"]
    return NodeCuts(
        node,
        str(working["test"].column("criterion")[0]),
        tuple(map(str, classes.column("class"))),
        tuple(float(n or 0) for n in classes.column("n_i")),
        found if features is not None else _by_rank(found, working),
    )


def _read_cuts(table: Table, name: str, working: Working, is_date: bool) -> Cuts:
    K = len(working["node"].rows)
    kept = _one_a_threshold(table)
    ranks, chosen = ([table.column(head)[i] for i in kept] for head in ("rank", "chosen"))
    places = {rank: i for i, rank in enumerate(ranks) if rank is not None}
    best = places[min(places)] if places else None
    if True in chosen:
        best = chosen.index(True)
    return Cuts(
        name,
        _positions([table.column("v")[i] for i in kept], is_date),
        _counts_below(table, K)[kept],
        np.array([table.column("score")[i] for i in kept], dtype=np.float64),
        best,
        best is not None and bool(chosen[best]),
    )


def _one_a_threshold(table: Table) -> list[int]:
    """The rows to be drawn: where missing values may be on either side, the better one.

    The one that is asked is drawn in any case; whether a value is known is no cut.
    """
    score, chosen = table.column("score"), table.column("chosen")
    best: dict[Any, int] = {}
    for i, v in enumerate(table.column("v")):
        if v is None:
            continue
        other = best.setdefault(v, i)
        if (chosen[i], score[i]) > (chosen[other], score[other]):
            best[v] = i
    return list(best.values())


def _counts_below(table: Table, K: int) -> Float:
    """N_vi of the rows whose value is known."""
    has_missing = table.columns[1:2] == ("missing",)
    start = 2 + K if has_missing else 1
    cells = [row[start : start + K] for row in table.rows]
    counts = np.array(cells, dtype=np.float64).reshape(-1, K)
    v = table.column("v")
    if has_missing and len(set(v)) < len(
        v
    ):  # missing values are on a side only where each v comes twice
        missing = np.array([row[2:start] for row in table.rows], dtype=np.float64)
        counts -= missing * (np.array(table.column("missing")) == "yes")[:, None]
    return counts


def _positions(v: Sequence[Any], is_date: bool) -> NDArray[Any]:
    if not is_date:
        return np.array(v)
    # close to 1970 a moment can be so fine that it is written as a number of days
    odd = any(text.endswith(" days") for text in v)
    return np.array(v if odd else [np.datetime64(text, "ns") for text in v])


def _by_rank(cuts: list[Cuts], working: Working) -> list[Cuts]:
    """In the order of the node's best tests."""
    order = list(working["tests"].column("attribute"))
    return sorted(cuts, key=lambda own: order.index(own.name))


def _columns(estimator: object, X: TableLike, y: LabelsLike) -> tuple[list[str], set[str]]:
    """The estimator's columns, and which of them hold dates."""
    table, names = read_table(split_target(X, y)[0]), names_of_fit(estimator)
    kinds = [table.column_schema(j).kind for j in range(len(table.names))]
    here = table.names if table.has_names else names
    return names, {name for name, kind in zip(here, kinds, strict=False) if kind == "date"}


def as_features(features: Feature | Sequence[Feature], count: int | None = None) -> list[Feature]:
    """Columns by name or position; one of them needs no list."""
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        features = [features]
    named = list(features)
    if not named or (count is not None and len(named) != count):
        wanted = "one column at least" if count is None else f"{count} column"
        raise ParameterError(f"features={features!r} names {len(named)}: give {wanted}.")
    return named


def _named(feature: Feature, names: list[str]) -> str:
    """A column by name or position."""
    by_position = is_whole(feature)
    if by_position and -len(names) <= int(feature) < len(names):
        return names[int(feature)]
    if by_position or str(feature) not in names:
        raise ColumnError(
            f"features names {feature!r}, which is no column of this tree: it has {listed(names)}."
        )
    return str(feature)


# Of more classes than this the counts at a cut are not written beside it.
_MOST_WRITTEN = 4

# So many attributes are drawn where none are named.
_MOST_CURVES = 6


class FrequenciesDisplay:
    """N_vi, the weight of each class at or below a cut v, against v (Zaki & Meira, Figure 19.2).

    `v` are numbers, dates or words in their order, `counts` has a row a cut and a column a class.
    `chosen` is the place of a cut to be marked, `totals` the weight of each class for the legend,
    `note` a line below the title.

    After `plot`: `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        v: ArrayLike,
        counts: ArrayLike,
        *,
        classes: Sequence[object] | None = None,
        totals: Sequence[float] | None = None,
        chosen: int | None = None,
        name: object = "X",
        note: str = "",
    ) -> None:
        self.v = read_v(v)
        self.counts = np.asarray(counts, dtype=np.float64)
        if self.counts.ndim != 2 or len(self.counts) != len(self.v):
            raise ParameterError(
                f"counts has the shape {self.counts.shape}: give a row for each of the "
                f"{len(self.v)} cuts and a column for each class."
            )
        K = self.counts.shape[1]
        self.classes = one_per_class(range(K) if classes is None else classes, K, "classes")
        self.totals = None if totals is None else one_per_class(totals, K, "totals")
        self.chosen = read_place(chosen, len(self.v), "chosen")
        self.name, self.note = str(name), note

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: TableLike,
        y: LabelsLike,
        *,
        node: int = 0,
        features: Feature | Sequence[Feature] | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the rows below every cut of one attribute in a node of a fitted tree.

        X, y and sample_weight are the rows of the fit. `features` is one column by name or position
        (default: that of the node's test, or of the best cut).
        """
        named = None if features is None else as_features(features, 1)
        found = read_node(estimator, X, y, node, named, sample_weight)
        cuts = found.cuts[0]
        display = cls(
            cuts.v,
            cuts.counts,
            classes=found.classes,
            totals=found.totals,
            chosen=cuts.best if cuts.chosen else None,
            name=cuts.name,
            note=f"node {found.node}",
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.plot` for the curves."""
        ax, own = open_axes(ax, (8.0, 4.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        handles = [
            ax.plot(places(self.v), counts, **(curve_style(k, len(self.v)) | kw))[0]
            for k, counts in enumerate(self.counts.T)
        ]
        if self.chosen is not None:
            self._mark(ax, self.chosen)
        leave_room(ax, float(self.counts.max(initial=0.0)) or 1.0)
        name_ticks(ax, self.v)
        told = f"Rows below every cut of {shown(self.name)}" if title is None else title
        write_title(ax, told, self.note)
        name_axes(ax, f"cut v of {shown(self.name)}", "N, rows of the class with X ≤ v")
        if legend:
            write_legend(ax, handles, self._entries(), outside=own or legend == "beside")
        return self

    def _mark(self, ax: Axes, i: int) -> None:
        """A line at the chosen cut, and the counts where it meets the curves."""
        x = places(self.v)[i]
        ax.axvline(x, color=BLACK, linewidth=1.2, linestyle=(0, (5, 4)), zorder=1.5)
        ends: Style = {"ha": "left", "va": "top"} if i < len(self.v) / 2 else {"ha": "right"}
        above: Style = {"xycoords": ax.get_xaxis_transform(), "va": "top"}
        offset = 6 if i < len(self.v) / 2 else -6
        write_at(ax, f"v = {v_text(self.v[i])}", (x, 0.98), (offset, 0), ends | above)
        for k, n in enumerate(self.counts[i]):
            ax.plot([x], [n], **mark_style(k))
            if len(self.classes) <= _MOST_WRITTEN:  # a curve that rises leaves room to its left
                write_at(ax, short_number(n), (x, n), (-7, 4), {"ha": "right", "va": "bottom"})

    def _entries(self) -> list[str]:
        if self.totals is None:
            return [shown(name) for name in self.classes]
        pairs = zip(self.classes, self.totals, strict=True)
        return [f"{shown(name)} ({short_number(n)})" for name, n in pairs]


class ScoresDisplay:
    """The score of every cut against v, of one or several attributes (Zaki & Meira, Figure 19.3).

    `curves` has a tuple (name, v, scores) for each attribute, or (name, v, scores, place of the
    best); by default the best is the first of the largest scores. Attributes whose values lie far
    apart, or are of different kinds, have axes of their own. `criterion` names the scores, `note`
    is a line below the title.

    Attributes: `curves`; after `plot`, `ax_` (one axes, or a list of them) and `figure_`.
    """

    ax_: Axes | list[Axes]
    figure_: Figure

    def __init__(
        self, curves: Sequence[Sequence[Any]], *, criterion: str = "gain", note: str = ""
    ) -> None:
        self.curves = [read_curve(*curve) for curve in curves]
        if not self.curves:
            raise ParameterError(
                "curves is empty: give (name, v, scores) for one attribute at least."
            )
        self.criterion, self.note = criterion, note

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: TableLike,
        y: LabelsLike,
        *,
        node: int = 0,
        features: Feature | Sequence[Feature] | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Axes | Sequence[Axes] | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the score of every cut in a node of a fitted tree.

        X, y and sample_weight are the rows of the fit. `features` are columns by name or position
        (default: all that are cut, or the best six of them).
        """
        named = None if features is None else as_features(features)
        found = read_node(estimator, X, y, node, named, sample_weight)
        drawn = found.cuts[:_MOST_CURVES] if features is None else found.cuts
        part = f";  the best {len(drawn)} of {len(found.cuts)} attributes"
        display = cls(
            [(cuts.name, cuts.v, cuts.scores, cuts.best) for cuts in drawn],
            criterion=found.criterion,
            note=f"node {found.node}{part if len(drawn) < len(found.cuts) else ''}",
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: Any,
    ) -> Self:
        """Draw on one axes, or on one for each attribute; other keywords go to `Axes.plot`."""
        axes = self._new_axes() if ax is None else self._given_axes(ax)
        together = len(axes) == 1
        self.ax_ = axes[0] if together else axes
        self.figure_ = cast("Figure", axes[0].figure)
        panels = [axes[0 if together else i] for i in range(len(self.curves))]
        top = max(float(curve.scores.max(initial=0.0)) for curve in self.curves) or 1.0
        handles = [
            draw_curve(panel, curve, i, kw)
            for i, (panel, curve) in enumerate(zip(panels, self.curves, strict=True))
        ]
        alone = not together or len(self.curves) == 1
        for panel, curve in zip(panels, self.curves, strict=True):
            leave_room(panel, top)
            name_ticks(panel, curve.v)
            name_axes(panel, f"cut v of {shown(curve.name)}" if alone else "cut v", "")
        known = CRITERIA_BY_NAME.get(self.criterion)
        axes[0].set_ylabel(known.axis if known else shown(self.criterion), usetex=False)
        self._write(axes, title)
        if alone:
            for panel, curve in zip(panels, self.curves, strict=True):
                write_best(panel, curve, "")
        else:
            entries = self._name_curves(axes[0], in_legend=bool(legend))
            if legend:
                write_legend(axes[0], handles, entries, outside=ax is None or legend == "beside")
        return self

    def _name_curves(self, ax: Axes, *, in_legend: bool) -> list[str]:
        """The best cuts written beside them; where words would meet, in the legend."""
        names = [shown(curve.name) for curve in self.curves]
        pairs = list(zip(self.curves, names, strict=True))
        if in_legend and not are_apart(ax, self.curves):
            return [best_text(curve, name) for curve, name in pairs]
        for curve, name in pairs:
            write_best(ax, curve, name)
        return names

    def _write(self, axes: list[Axes], title: str | None) -> None:
        told = "Scores of every cut" if title is None else title
        if len(axes) == 1:
            write_title(axes[0], told, self.note)
        else:
            lines = "\n".join(line for line in (told, self.note) if line)
            self.figure_.suptitle(lines, fontsize="medium", usetex=False)

    def _new_axes(self) -> list[Axes]:
        n = 1 if share_axis(self.curves) else len(self.curves)
        n_columns = min(n, 3)
        n_rows = -(-n // n_columns)
        size = (8.0 if n == 1 else 4.0 * n_columns, 4.4 if n == 1 else 3.4 * n_rows)
        _, axes = plt.subplots(
            n_rows, n_columns, figsize=size, sharey=True, squeeze=False, layout="constrained"
        )
        for spare in axes.flat[n:]:
            spare.remove()
        return list(axes.flat[:n])

    def _given_axes(self, ax: Axes | Sequence[Axes]) -> list[Axes]:
        axes: list[Axes] = list(np.asarray(ax, dtype=object).flat)
        kinds = {curve.v.dtype.kind for curve in self.curves}
        if len(axes) != len(self.curves) and (len(axes) != 1 or len(kinds) > 1):
            one = "one axes, or " if len(kinds) == 1 else ""
            raise ParameterError(
                f"ax has {len(axes)} axes, and there are {len(self.curves)} attributes: give "
                f"{one}one for each of them."
            )
        return axes
