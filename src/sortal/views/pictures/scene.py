"""A fitted estimator with its rows, of which pictures are made one by one."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
import matplotlib.style
import numpy as np

from sortal.data.table import read_table
from sortal.errors import MissingValueWarning, SortalError
from sortal.views import displays
from sortal.views.axes import detached, open_grid
from sortal.views.fitted import column_names, number_terms
from sortal.views.pictures.coarse import CELLS, coarsen
from sortal.views.pictures.picture import Picture
from sortal.views.pictures.telling import Telling, most_telling
from sortal.views.rows import read_labels, split_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from sortal.models.records import Table

    Options = Mapping[str, Any]

# So many points are drawn on a coarse grid; as they are, fewer keep a picture small.
MOST_COARSE: Final = 2000
MOST_SINGLE: Final = 1000

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
    """What is said of a picture that was drawn."""

    alt: str
    table: Table | None = None
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """A Display, by its name in `sortal.displays`, and what it is asked to draw.

    `points`: it shows rows one by one. `with_rows`: it takes X and y.
    """

    display: str
    options: Options = field(default_factory=dict)
    points: bool = False
    with_rows: bool = True

    def code(self, ax: str = "") -> str:
        """The line of Python that draws it."""
        options = dict(self.options) | ({"max_points": _Name("len(X)")} if self.points else {})
        options |= {"ax": _Name(ax)} if ax else {}
        given = ["model", *(["X", "y"] if self.with_rows else [])]
        given += [f"{name}={value!r}" for name, value in options.items()]
        return f"displays.{self.display}.from_estimator({', '.join(given)})"


class Scene:
    """Collects pictures of one estimator; `prefix` begins their names."""

    def __init__(self, prefix: str, estimator: Any, X: Any, y: Any, *, rows: bool) -> None:
        self.prefix, self.estimator, self.rows = prefix, estimator, rows
        self.X, self.y = split_labels(X, y)
        self.table = read_table(self.X)
        self.classes = tuple(np.asarray(estimator.classes_, dtype=object).tolist())
        self.codes = read_labels(self.y, self.table.n_rows, self.classes)[0]
        self._pictures: list[Picture] = []
        self._left_out: list[str] = []

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns as the fit has them."""
        return [str(name) for name in column_names(self.estimator, self.table)]

    @cached_property
    def numbers(self) -> list[Telling]:
        """Columns that the fit takes as numbers, the most telling first."""
        terms = number_terms(self.estimator, self.table)
        used = set(self.fitted) if terms is None else {self.names[j] for j in terms}
        places = [j for j in self._number_places() if self.names[j] in used]
        return most_telling(self.table, places, self.codes, len(self.classes))

    @cached_property
    def fitted(self) -> list[str]:
        """Names of all columns of the fit."""
        given = getattr(self.estimator, "feature_names_in_", None)
        n = int(self.estimator.n_features_in_)
        return [f"x{j}" for j in range(n)] if given is None else [str(name) for name in given]

    def feature(self, j: int) -> str | int:
        """A column as a Display is told of it: by name, or by position where it has none."""
        return self.table.names[j] if self.table.has_names else j

    def _number_places(self) -> list[int]:
        n = len(self.table.names)
        return [j for j in range(n) if self.table.column_schema(j).is_number]

    def add(self, name: str, title: str, plan: Plan, words: Callable[[Any], Words]) -> None:
        """One picture of one Display; where it cannot be drawn, the reason."""

        def draw() -> tuple[Figure, Any]:
            display = self._show(plan)
            return display.figure_, display

        code = f"from sortal import displays\n\n{plan.code()}"
        self.add_drawn(name, title, draw, words, code, points=plan.points)

    def add_panels(
        self, name: str, title: str, plans: Sequence[Plan], words: Callable[[Any], Words]
    ) -> None:
        """One picture of several Displays side by side, two in a row, with one legend."""
        if len(plans) == 1:
            self.add(name, title, plans[0], lambda display: words([display]))
            return
        n_rows, n_columns = -(-len(plans) // 2), 2
        size = (9.5, 2.9 * n_rows)

        def draw() -> tuple[Figure, Any]:
            axes = open_grid(size, n_rows, n_columns).ravel()
            for ax in axes[len(plans) :]:
                ax.remove()
            # beside the upper right panel there is room
            legends = ["beside" if i == n_columns - 1 else False for i in range(len(plans))]
            pairs = zip(plans, axes, legends, strict=False)
            shown = [self._show(plan, ax=ax, legend=legend) for plan, ax, legend in pairs]
            return axes[0].figure, shown

        code = _panel_code(plans, size, n_rows, n_columns)
        self.add_drawn(name, title, draw, words, code, points=any(plan.points for plan in plans))

    def leave_out(self, title: str, reason: str) -> None:
        """A picture that this table does not have."""
        self._left_out.append(f"{title} is not drawn: {reason}")

    def pictures(self) -> Pictures:
        """All that was added."""
        return Pictures(tuple(self._pictures), tuple(self._left_out))

    def _show(self, plan: Plan, **kw: Any) -> Any:
        most = {"max_points": MOST_SINGLE if self.rows else MOST_COARSE} if plan.points else {}
        given = (self.estimator, self.X, self.y) if plan.with_rows else (self.estimator,)
        return getattr(displays, plan.display).from_estimator(*given, **plan.options, **most, **kw)

    def add_drawn(
        self,
        name: str,
        title: str,
        draw: Callable[[], tuple[Figure, Any]],
        words: Callable[[Any], Words],
        code: str,
        *,
        points: bool = False,
    ) -> None:
        """One picture that a function draws: its figure, and what `words` is asked of."""
        try:
            with plainly():
                figure, display = draw()
                settle(figure)
                if points and not self.rows:
                    coarsen(figure)
                told = words(display)
        except _TROUBLE as error:
            self.leave_out(title, str(error))
            return
        note = " ".join(filter(None, [told.note, self._say_points(display) if points else ""]))
        full = f"{self.prefix}-{name}"
        made = Picture(full, title, told.alt, lambda: figure, told.table, note, code)
        self._pictures.append(made)

    def _say_points(self, display: Any) -> str:
        """What is seen of the rows, and what is not."""
        n, known = self.table.n_rows, len(display.rows.points)
        most = MOST_SINGLE if self.rows else MOST_COARSE
        told = []
        if not self.rows:
            told.append(
                f"Rows are drawn on a grid of {CELLS} × {CELLS} cells: one marker a cell and "
                "class, its area by the number of rows."
            )
        if known > most:
            told.append(
                f"{most:,} of {known:,} rows are drawn, evenly spaced; the code draws all."
            )
        if n > known:
            told.append(f"{n - known:,} rows with a hole in these columns are not drawn.")
        return " ".join(told)


@contextmanager
def plainly() -> Iterator[None]:
    """Draw in the style of matplotlib's defaults, without a window, and without warnings.

    What is warned of, rows with holes, is said in the note.
    """
    with mpl.style.context("default"), detached(), warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def settle(figure: Figure) -> None:
    """Find the layout once and keep it: each time a figure is saved, it would be sought again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


class _Name:
    """A name in code, which stands as it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


def _panel_code(plans: Sequence[Plan], size: Sequence[float], n_rows: int, n_columns: int) -> str:
    lines = [
        "import matplotlib.pyplot as plt",
        "",
        "from sortal import displays",
        "",
        f"figure, axes = plt.subplots({n_rows}, {n_columns}, figsize={tuple(size)!r}, "
        'layout="constrained")',
        *(plan.code(f"axes.flat[{i}]") for i, plan in enumerate(plans)),
    ]
    return "\n".join(lines)
