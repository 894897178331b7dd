"""Pictures of a fitted estimator and its rows, made one by one, with texts and tables."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import matplotlib as mpl
import matplotlib.style
import numpy as np

from sortal.errors import MissingValueWarning, SortalError, agreed, counted
from sortal.pictures.coarse import CELLS, coarsen
from sortal.pictures.svg import has_layout, png_of, quiet, svg_of
from sortal.plotting.axes import detached, legend_columns, open_grid, plain, short_number
from sortal.plotting.rows import ShownTable, names_of_fit
from sortal.records.tables import Table, unique

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.plotting.rows import PlotRows
    from sortal.records.render import PagePart
    from sortal.records.tables import Cell

    Options = Mapping[str, Any]


# --- A picture: drawn when it is asked for, with a text instead of it and its data as a table ----


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with its title, what it shows in words (`alt`), and its data.

    `name` is made of small letters, digits and hyphens, and is its own in a report. `note` says
    what was left out and the line of code that shows all; `code` is Python that draws it. `part`
    is what a page shows in its place where there is more to do than to look, with `part_note`
    instead of `note`; `in_page` is False where another part shows the same there.
    """

    name: str
    title: str
    alt: str
    draw: Callable[[], Figure]
    table: Table | None = None
    note: str = ""
    code: str = ""
    part: PagePart | None = None
    part_note: str = ""
    in_page: bool = True

    def svg(self) -> str:
        """An element for a page: colors of its text and axes are those of the page."""
        return svg_of(self.draw(), self.name, self.alt)

    def png(self) -> bytes:
        """A file for papers and repositories, on white."""
        return png_of(self.draw())


# --- How figures of a report are laid out: in one style, once, and as large as their legend ------

# Inches of a further column of a legend.
_COLUMN: Final = 1.8

# How often a figure may grow.
_TRIES: Final = 5


@contextmanager
def plainly(n_classes: int = 2) -> Iterator[None]:
    """Draw in the style of matplotlib's defaults, without a window, and without warnings.

    What is warned of, rows with missing values, is said in the note. A legend of many classes has
    room.
    """
    wider = _COLUMN * (legend_columns(n_classes + 3) - 1)
    with mpl.style.context("default"), detached(wider), quiet():
        warnings.simplefilter("ignore", MissingValueWarning)
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        yield


def move_legend(ax: Axes) -> None:
    """The legend of one panel stands beside all, and the figure is as high as it."""
    legend = ax.get_legend()
    figure = cast("Figure", ax.figure)
    if legend is None:
        return
    handles: Any = legend.legend_handles
    names = [text.get_text() for text in legend.get_texts()]
    legend.remove()
    ncols = legend_columns(len(names))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, max(height, 0.4 + 0.19 * len(names) / ncols))
    together = figure.legend(
        handles, names, loc="outside right upper", fontsize="small", ncols=ncols
    )
    for text in together.get_texts():
        text.set_usetex(False)


def settle(figure: Figure) -> None:
    """Find the layout once and keep it: each time a figure is saved, it would be sought again.

    A figure that is too small for its legend grows.
    """
    engine = figure.get_layout_engine()
    if engine is None or not has_layout(figure):
        return
    for _ in range(_TRIES):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            engine.execute(figure)
        if not any("collapsed" in str(one.message) for one in found):
            break
        figure.set_size_inches(*(1.3 * figure.get_size_inches()))
    figure.set_layout_engine("none")


# --- Which columns tell classes apart best, each taken by itself ---------------------------------


class ColumnSeparation(NamedTuple):
    """A column of numbers, by its place, and the share of its variance that classes explain."""

    place: int
    name: str
    share: float


def between_share(x: Float, codes: Places, n_classes: int) -> float:
    """η² = Σ_k n_k (m_k − m)² / Σ_i (x_i − m)² of the rows without missing values. (S 68)

    0 where a column does not vary. It grows with the F ratio of between and within.
    """
    known = ~np.isnan(x)
    x, codes = x[known], codes[known]
    if not len(x):
        return 0.0
    # about a middle value, and in units of the spread, so that squares keep their digits
    x = x - np.median(x)
    spread = float(np.abs(x).max())
    if spread == 0:
        return 0.0
    x = x / spread
    x = x - x.mean()
    n = np.bincount(codes, minlength=n_classes)
    sums = np.bincount(codes, x, minlength=n_classes)
    met = n > 0
    total = float(x @ x)
    return float((sums[met] ** 2 / n[met]).sum() / total) if total > 0 else 0.0


# So many points are drawn on a coarse grid; as they are, or of many classes, whose markers are
# seldom alike, fewer keep a picture small.
MOST_COARSE: Final = 2000

MOST_SINGLE: Final = 1000

MOST_OF_MANY: Final = 300

_FEW_CLASSES: Final = 8


# What can go wrong where a table is too strange to be drawn; a mistake of the program is not it.
_TROUBLE: Final = (SortalError, ValueError, ArithmeticError, np.linalg.LinAlgError)


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures of a model, and why others are not there: a sentence each."""

    pictures: tuple[Picture, ...]
    left_out: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Picture]:
        return iter(self.pictures)

    def __len__(self) -> int:
        return len(self.pictures)


@dataclass(frozen=True)
class Words:
    """What is said of a picture that was drawn; `part_note` as of a Picture."""

    alt: str
    table: Table | None = None
    note: str = ""
    part_note: str = ""


@dataclass(frozen=True)
class Plan:
    """A Display, which is one of `sortal.displays`, and what it is asked to draw.

    `points`: it shows rows one by one. `with_rows`: it takes X and y.
    """

    display: type[Any]
    options: Options = field(default_factory=dict)
    points: bool = False
    with_rows: bool = True

    def code(self, ax: str = "") -> str:
        """The line of Python that draws it."""
        options = dict(self.options) | ({"max_points": _Name("len(X)")} if self.points else {})
        options |= {"ax": _Name(ax)} if ax else {}
        given = ["model", *(["X", "y"] if self.with_rows else [])]
        given += [f"{name}={value!r}" for name, value in options.items()]
        return f"displays.{self.display.__name__}.from_estimator({', '.join(given)})"


class Sketches:
    """Collects pictures, and reasons where there are none; `prefix` begins their names."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._pictures: list[Picture] = []
        self._left_out: list[str] = []

    def add(
        self,
        name: str,
        title: str,
        draw: Callable[[], Any],
        words: Callable[[Any], Words],
        code: str,
        n_classes: int = 2,
    ) -> None:
        """One picture by a function that gives a Display; what it shows is told by `words`."""
        try:
            with plainly(n_classes):
                display = draw()
                settle(display.figure_)
                told = words(display)
        except _TROUBLE as error:
            self.leave_out(title, str(error))
            return
        figure = display.figure_
        full = f"{self.prefix}-{name}"
        made = Picture(
            full,
            title,
            told.alt,
            lambda: figure,
            told.table,
            told.note,
            code,
            part_note=told.part_note,
        )
        self._pictures.append(made)

    def leave_out(self, title: str, reason: str) -> None:
        """A picture that this table does not have."""
        self._left_out.append(f"{title} is not drawn: {reason}")

    def pictures(self) -> Pictures:
        """All that was added."""
        return Pictures(tuple(self._pictures), tuple(self._left_out))


class Scene(Sketches):
    """Collects pictures of one estimator and its rows."""

    def __init__(
        self, prefix: str, estimator: Any, X: TableLike, y: LabelsLike, *, rows: bool
    ) -> None:
        super().__init__(prefix)
        self.estimator, self.rows = estimator, rows
        self._given = ShownTable(estimator, X, y)
        self.table, self.classes = self._given.table, self._given.classes
        self.names = self._given.names
        _ = self._given.codes  # an error where labels are none of the classes

    @cached_property
    def fitted(self) -> list[str]:
        """Names of all columns of the fit."""
        return names_of_fit(self.estimator)

    @cached_property
    def numbers(self) -> list[ColumnSeparation]:
        """Columns that the fit takes as numbers, the most telling first."""
        given = self._given
        used = set(self.names if given.terms is not None else self.fitted)
        found = []
        for j, name in enumerate(self.names):
            if given.is_number(j) and name in used:
                cells = self.table.numbers(j, 0, self.table.n_rows).values
                share = between_share(cells, given.codes, len(self.classes))
                found.append(ColumnSeparation(j, self.table.names[j], share))
        return sorted(found, key=lambda one: -one.share)

    def feature(self, j: int) -> str | int:
        """A column as a Display is told of it: by name, or by position where it has none."""
        return self.table.names[j] if self.table.has_names else j

    def plan(self, name: str, title: str, plan: Plan, words: Callable[[Any], Words]) -> None:
        """One picture of one Display; where it cannot be drawn, the reason."""

        def draw() -> Any:
            display = self._show(plan)
            if plan.points and not self.rows:
                settle(display.figure_)
                coarsen(display.figure_)
            return display

        def told(display: Any) -> Words:
            own = words(display)
            points = self._say_points(display) if plan.points else ""
            return replace(own, note=" ".join(filter(None, [own.note, points])))

        code = f"from sortal import displays\n\n{plan.code()}"
        self.add(name, title, draw, told, code, len(self.classes))

    def panels(
        self, name: str, title: str, plans: Sequence[Plan], words: Callable[[Any], Words]
    ) -> None:
        """One picture of several Displays without points, two in a row, with one legend."""
        if len(plans) == 1:
            self.plan(name, title, plans[0], lambda display: words([display]))
            return
        n_rows, n_columns = -(-len(plans) // 2), 2
        size = (9.5, 2.9 * n_rows)

        def draw() -> _Panels:
            axes = open_grid(size, n_rows, n_columns).ravel()
            for ax in axes[len(plans) :]:
                ax.remove()
            pairs = zip(plans, axes, strict=False)
            shown = [self._show(plan, ax=ax, legend=i == 0) for i, (plan, ax) in enumerate(pairs)]
            move_legend(axes[0])
            return _Panels(axes[0].figure, shown)

        code = _panel_code(plans, size, n_rows, n_columns)
        self.add(name, title, draw, lambda drawn: words(drawn.displays), code, len(self.classes))

    def _most(self) -> int:
        """How many rows are drawn."""
        if len(self.classes) > _FEW_CLASSES:
            return MOST_OF_MANY
        return MOST_SINGLE if self.rows else MOST_COARSE

    def _show(self, plan: Plan, **kw: Any) -> Any:
        most = {"max_points": self._most()} if plan.points else {}
        given = (
            (self.estimator, self._given.X, self._given.y) if plan.with_rows else (self.estimator,)
        )
        return plan.display.from_estimator(*given, **plan.options, **most, **kw)

    def _say_points(self, display: Any) -> str:
        """What is seen of the rows, and what is not."""
        n, known = self.table.n_rows, len(display.rows.points)
        most = self._most()
        told = []
        if not self.rows:
            told.append(
                f"Rows are drawn on a grid of {CELLS} × {CELLS} cells: one marker a cell and "
                "class, its area by the number of rows."
            )
        if known > most:
            told.append(f"{most:,} of {known:,} rows are drawn, evenly spaced; the code draws all.")
        if n > known:
            told.append(
                f"{counted(n - known, 'row')} with a missing value in these columns "
                f"{agreed(n - known, 'is', 'are')} not drawn."
            )
        return " ".join(told)


class _Panels(NamedTuple):
    """Several Displays in one figure."""

    figure_: Figure
    displays: list[Any]


class _Name:
    """A name in code, which stands as it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


def _panel_code(plans: Sequence[Plan], size: Sequence[float], n_rows: int, n_columns: int) -> str:
    shape = f"{n_rows}, {n_columns}, figsize={tuple(size)!r}"
    lines = [
        "import matplotlib.pyplot as plt",
        "",
        "from sortal import displays",
        "",
        f'figure, axes = plt.subplots({shape}, layout="constrained")',
        *(plan.code(f"axes.flat[{i}]") for i, plan in enumerate(plans)),
    ]
    return "\n".join(lines)


# --- Words and tables that tell what a picture shows to those who do not see it ------------------

MOST_ROWS: Final = 60

# Of so many things a sentence can be listened to.
_MOST_TOLD: Final = 6


def several(things: Sequence[str], what: str) -> str:
    """A list for a sentence; of a long one the first, and how many more there are."""
    told = list(things[:_MOST_TOLD])
    more = len(things) - len(told)
    if more:
        return f"{', '.join(told)} and {more} more {what}"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}" if told else ""


def cut_table(
    name: str, title: str, heads: Sequence[str], rows: Iterable[Sequence[Cell]], equation: str = ""
) -> tuple[Table, str]:
    """A table of at most 60 rows, and what was cut."""
    found = [tuple(row) for row in rows]
    table = Table(name, title, unique(list(heads)), tuple(found[:MOST_ROWS]), equation)
    more = len(found) - MOST_ROWS
    return table, f"The table has the first {MOST_ROWS} of {len(found):,} rows." if more > 0 else ""


def class_table(name: str, rows: PlotRows) -> tuple[Table, str]:
    """Number, mean and standard deviation of each class in the columns that are drawn."""
    heads = ["class", "rows"]
    for column in rows.names:
        heads += [f"mean of {column}", f"deviation of {column}"]
    cells = []
    for k, label in enumerate(rows.classes):
        mine = rows.points[rows.codes == k]
        numbers: list[Cell] = []
        for j in range(rows.points.shape[1]):
            known = len(mine) > 0
            numbers += [float(mine[:, j].mean()), float(mine[:, j].std())] if known else [None] * 2
        cells.append((str(label), len(mine), *numbers))
    return cut_table(name, "Where the classes lie", heads, cells)


def class_places(rows: PlotRows) -> str:
    """Where the middle of each class lies, in words."""
    told = []
    for k, label in enumerate(rows.classes):
        mine = rows.points[rows.codes == k]
        if len(mine):
            place = ", ".join(short_number(x) for x in mine.mean(axis=0))
            told.append(f"{plain(label)} ({counted(len(mine), 'row')}) at ({place})")
    return f"Class means: {several(told, 'classes')}."
