"""Displays of discrete Bayes: weights of evidence by value; and its pictures in a report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.lines import Line2D

from sortal.errors import ParameterError
from sortal.pictures import Plan, Scene, Words, cut_table, several
from sortal.pictures.shared import add_columns
from sortal.plotting.axes import (
    BLACK,
    Style,
    color,
    marker,
    name_axes,
    open_axes,
    plain,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.rows import attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float
    from sortal.pictures import Pictures
    from sortal.records.tables import Cell


# So many values have room for a line each; of more, those that say most are drawn.
MOST_VALUES = 20

# Evidence beyond this many bits is drawn at the edge: nearly a proof, and maybe infinite.
_MOST_BITS = 12.0


def evidence_of(shares: Float, priors: Float) -> Float:
    """log2 P(v|c) − log2 P(v|not c), a row a value and a column a class. (S 69)

    `shares` are P(v|c) and `priors` P(c). A class that no value tells of has no evidence (0).
    """
    joint = shares * priors
    others = joint.sum(axis=1, keepdims=True) - joint
    rest = 1 - priors
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.log2(shares) - np.log2(np.maximum(others, 0) / rest)
    return np.where(np.isnan(bits), 0.0, bits)


def information(shares: Float, priors: Float) -> float:
    """Bits that a value is expected to tell of the class, Σ P(v, c) log2 P(v|c) / P(v). (S 70)"""
    joint = shares * priors
    total = joint.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log2(shares / total)
    return float(np.nansum(terms))


class EvidenceDisplay:
    """Weights of evidence of a category's values, for each class against all others, in bits.

    `shares` are P(v|c), a row a value and a column a class; `priors` are P(c), `values` and
    `classes` the names. One bit more doubles the odds of a class.

    Attributes: `bits` (a row a value, a column a class), `values`, `classes`; after `plot`, `ax_`
    and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        shares: ArrayLike,
        priors: ArrayLike,
        *,
        values: Sequence[object],
        classes: Sequence[object],
        name: str = "value",
    ) -> None:
        given, weights = np.asarray(shares, dtype=float), np.asarray(priors, dtype=float)
        if given.shape != (len(values), len(classes)) or weights.shape != (len(classes),):
            raise ParameterError(
                f"shares has the shape {given.shape} and priors {weights.shape}, with "
                f"{len(values)} values and {len(classes)} classes: give a row a value, a column a "
                "class, and a prior a class."
            )
        self.bits = evidence_of(given, weights)
        self.shares, self.priors, self.name = given, weights, name
        self.values, self.classes = tuple(values), tuple(classes)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature: Any, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Draw a category column of a fitted discrete Bayes model, by its name."""
        return cls(**tables_of(estimator)[_known(estimator, feature)]).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        max_values: int = MOST_VALUES,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.plot` for the dots."""
        drawn = self._chosen(max_values)
        n = len(drawn)
        ax, own = open_axes(ax, (8.0, 1.3 + 0.34 * n))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        lines = np.arange(n)[::-1]
        rule: Style = {"colors": "0.85", "linewidths": 0.8, "zorder": 1}
        bits = np.clip(self.bits[drawn], -_MOST_BITS, _MOST_BITS)
        ax.hlines(lines, bits.min(axis=1), bits.max(axis=1), **rule)
        ax.axvline(0, color=BLACK, linewidth=0.8, zorder=1)
        for k in self._told():
            ax.plot(bits[:, k], lines, **(_dots(k) | kw))
        ax.set_yticks(lines, [shown(self.values[v], 20) for v in drawn], usetex=False)
        ax.set_ylim(-0.6, n - 0.4)
        part = f"{n} of {len(self.values)} values drawn" if n < len(self.values) else ""
        said = f"What {shown(self.name)} says of the class" if title is None else title
        write_title(ax, said, part)
        edge = " (12 and more at the edge)" if np.abs(self.bits[drawn]).max() > _MOST_BITS else ""
        name_axes(ax, f"{self._axis()}{edge}", "")
        if legend and len(self.classes) > 2:
            handles = [Line2D([], [], **_dots(k)) for k in self._told()]
            names = [shown(self.classes[k]) for k in self._told()]
            write_legend(ax, handles, names, outside=own or legend == "beside")
        return self

    def _axis(self) -> str:
        if len(self.classes) != 2:
            return "← against the class · bits of evidence · for the class →"
        first, second = (shown(label, 20) for label in self.classes)
        return f"← for {first} · bits of evidence · for {second} →"

    def _told(self) -> list[int]:
        """All classes; of two, what is said for one is said against the other."""
        return [1] if len(self.classes) == 2 else list(range(len(self.classes)))

    def _chosen(self, most: int) -> list[int]:
        """The values that say most, in their own order."""
        weight = (self.shares * self.priors).sum(axis=1)
        says = weight * np.abs(np.clip(self.bits, -_MOST_BITS, _MOST_BITS)).max(axis=1)
        best = np.argsort(-says, kind="stable")[:most]
        return [int(v) for v in np.sort(best)]


def tables_of(estimator: Any) -> dict[str, dict[str, Any]]:
    """What a display takes of each category column of a discrete Bayes model, by name."""
    working = attribute(estimator, "working")()
    classes = list(attribute(estimator, "classes_"))
    priors = np.array(working["priors"].column("P(c)"), dtype=float)
    found = {}
    for table in working:
        if table.equation != "S 2":
            continue
        cells = np.array([row[1 + len(classes) :] for row in table.rows], dtype=float)
        name, values = table.columns[0], [row[0] for row in table.rows]
        told = {"values": values, "classes": classes, "name": name}
        found[name] = {"shares": cells.reshape(len(values), -1), "priors": priors, **told}
    return found


def _known(estimator: Any, feature: Any) -> str:
    names = list(tables_of(estimator))
    if str(feature) not in names:
        raise ParameterError(
            f"feature={feature!r} is no category column of this {type(estimator).__name__}: it has "
            f"{', '.join(map(repr, names)) or 'none'}."
        )
    return str(feature)


def _dots(k: int) -> Style:
    edge: Style = {"markeredgecolor": "0.2", "markeredgewidth": 0.4}
    return {"color": color(k), "marker": marker(k), "markersize": 7.0, "linestyle": "none"} | edge


# --- Pictures of discrete Bayes ------------------------------------------------------------------

# So many category columns have a picture.
MOST_CATEGORIES = 3


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Densities of columns of numbers, and what values of categories say."""
    scene = Scene("bayes", estimator, X, y, rows=rows)
    numbers = _number_names(estimator)
    columns = [one for one in scene.numbers if scene.names[one.place] in numbers]
    if columns:
        add_columns(scene, columns)
    _add_evidence(scene)
    return scene.pictures()


def _number_names(estimator: Any) -> set[str]:
    """Columns that enter by a normal density: those that vary."""
    tables = {table.name: table for table in estimator.working()}
    if "gaussians" not in tables:
        return set()
    found = tables["gaussians"]
    pairs = zip(found.column("column"), found.column("note"), strict=True)
    return {str(name) for name, note in pairs if not note}


def _add_evidence(scene: Scene) -> None:
    tables = tables_of(scene.estimator)
    bits = {name: information(own["shares"], own["priors"]) for name, own in tables.items()}
    order = sorted(bits, key=lambda name: -bits[name])
    for i, name in enumerate(order[:MOST_CATEGORIES]):
        title = f"What {plain(name)} says of the class"
        note = f"A value is expected to tell {short_number(bits[name])} bits of the class."
        if i == 0 and len(order) > MOST_CATEGORIES:
            note += (
                f" The {MOST_CATEGORIES} most telling of {len(order)} columns of words are drawn; "
                "for another one, displays.EvidenceDisplay.from_estimator(model, feature=...)."
            )
        plan = Plan(EvidenceDisplay, {"feature": name}, with_rows=False)
        scene.plan(f"evidence-{i + 1}", title, plan, partial(_words, title, note))


def _words(title: str, note: str, display: Any) -> Words:
    K = len(display.classes)
    told = []
    for k, label in enumerate(display.classes):
        v = int(np.argmax(display.bits[:, k]))
        strength = short_number(float(display.bits[v, k]))
        told.append(f"{plain(label)} {plain(display.values[v])} ({strength} bits)")
    said = (
        f"{title}: bits of evidence of each value, for a class and against all others; one bit "
        f"doubles the odds. The value that says most for a class: for {several(told, 'classes')}."
    )
    rows: list[tuple[Cell, ...]] = [
        (
            str(value),
            str(display.classes[k]),
            float(display.shares[v, k]),
            float(display.bits[v, k]),
        )
        for v, value in enumerate(display.values)
        for k in range(K)
    ]
    heads = (display.name, "class", "P(value | class)", "bits of evidence")
    table, cut = cut_table("evidence", title, heads, rows)
    n = len(display.values)
    left = "" if len(display.ax_.get_yticks()) == n else "max_values=... draws more values."
    return Words(said, table, " ".join(filter(None, [note, left, cut])))
