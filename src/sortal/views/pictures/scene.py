"""A fitted estimator with its rows, of which pictures are made one by one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from sortal.data.printing import agreed, counted
from sortal.data.table import read_table
from sortal.errors import SortalError
from sortal.views import displays
from sortal.views.axes import open_grid
from sortal.views.fitted import column_names, number_terms
from sortal.views.pictures.coarse import CELLS, coarsen
from sortal.views.pictures.laying import move_legend, plainly, settle
from sortal.views.pictures.picture import Picture
from sortal.views.pictures.telling import Telling, most_telling
from sortal.views.rows import read_labels, split_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from sortal.models.records import Table

    Options = Mapping[str, Any]

# So many points are drawn on a coarse grid; as they are, or of many classes, whose markers are
# seldom alike, fewer keep a picture small.
MOST_COARSE: Final = 2000
MOST_SINGLE: Final = 1000
MOST_OF_MANY: Final = 400
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

    def __init__(self, prefix: str, estimator: Any, X: Any, y: Any, *, rows: bool) -> None:
        super().__init__(prefix)
        self.estimator, self.rows = estimator, rows
        self.X, self.y = split_labels(X, y)
        self.table = read_table(self.X)
        self.classes = tuple(np.asarray(estimator.classes_, dtype=object).tolist())
        self.codes = read_labels(self.y, self.table.n_rows, self.classes)[0]

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
        given = (self.estimator, self.X, self.y) if plan.with_rows else (self.estimator,)
        return getattr(displays, plan.display).from_estimator(*given, **plan.options, **most, **kw)

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
                f"{counted(n - known, 'row')} with a hole in these columns "
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
