"""The errors most worth looking at: described, and copied only where rows are allowed."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np

from sortal.data.printing import agreed, counted
from sortal.models import faces
from sortal.models.judged import Confusion
from sortal.models.pages import page
from sortal.models.records import Table, unique
from sortal.models.text_tables import fold
from sortal.tasks.reporting.telling import Columns, about_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.models.records import Cell
    from sortal.tasks.comparing.kept import Kept
    from sortal.tasks.reporting.telling import Difference

    Places = NDArray[np.intp]

# So many confusions are told apart, so many are listed, and so many rows.
_TOLD = 5
_LISTED = 10
_ROWS = 10
_SURE = (0.9, 0.99)


@dataclass(frozen=True)
class Confusing:
    """A frequent confusion, and what tells its rows from those of the same class said right."""

    true: Cell
    said: Cell
    n: int
    share: float
    n_right: int
    differences: tuple[Difference, ...]

    @property
    def sentence(self) -> str:
        """What happened, and in what these rows differ."""
        rows = f"{counted(self.n, 'row')} of {self.true!r} ({about_percent(self.share)} of them)"
        head = f"{rows} {agreed(self.n, 'was', 'were')} said to be {self.said!r}."
        them = agreed(self.n, "it", "them")
        if not self.n_right:
            return f"{head} No row of {self.true!r} was said right, to compare {them} with."
        if not self.differences:
            return f"{head} No column tells {them} from those said right by more than chance would."
        told = "; ".join(difference.words for difference in self.differences)
        return f"{head} Compared with those said right: {told}."

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings."""
        return {
            "true": self.true,
            "said": self.said,
            "n": self.n,
            "share": self.share,
            "differences": [one.to_dict() for one in self.differences],
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Sure:
    """Rows said with a probability of `at_least`: how many, how many wrong, how many expected."""

    at_least: float
    n: int
    wrong: int
    expected: float

    @property
    def sentence(self) -> str:
        """How many were wrong, beside what the probabilities themselves lead to expect."""
        if not self.n:
            return f"No row was said with a probability of {self.at_least:g} or more."
        return (
            f"Of {counted(self.n, 'row')} said with a probability of {self.at_least:g} or more, "
            f"{self.wrong:,} {agreed(self.wrong, 'is', 'are')} wrong; by the probabilities "
            f"themselves one would expect {_about(self.expected)}."
        )


def _about(n: float) -> str:
    """How many are expected: whole ones, where they are not few."""
    return f"{n:.2g}" if n < 9.95 else f"{n:,.0f}"


@dataclass(frozen=True, repr=False)
class ErrorsMet:
    """Errors of predictions for rows that the model had not seen.

    `confusing` has the most frequent confusions with what tells them, `pairs` more of them as a
    table. `sure` says how often the model was sure and wrong, and `worst` lists such rows, by
    their numbers in the table as given, from 1; of a model without probabilities, rows of the most
    frequent confusions. `places` are these rows among the labeled ones, from 0. `cells` are what
    they hold, where rows may be shown, and `near` then their neighbors, of a model that has any.
    """

    n: int
    n_wrong: int
    confusing: tuple[Confusing, ...]
    pairs: Table | None
    sure: tuple[Sure, ...]
    worst: Table | None
    places: tuple[int, ...]
    cells: Table | None
    notes: tuple[str, ...] = ()
    near: Table | None = None

    @classmethod
    def of(
        cls,
        kept: Kept,
        X: Any,
        classes: Sequence[Any],
        *,
        places: Places | None = None,
        categories: Sequence[str] = (),
        rows: bool = False,
    ) -> Self:
        """Look at the errors among predictions that were kept.

        `X` has the labeled rows, `classes` the labels of codes; `places` are those of the labeled
        rows in the table as given, from 0, where others stand between them.
        """
        confusion = Confusion.of(kept.truth, kept.said, classes)
        if not confusion.n_wrong:
            return cls(confusion.n, 0, (), None, _sure(kept), None, (), None)
        backend = str(nw.from_native(X, eager_only=True).implementation)
        worst = _worst(kept, confusion)
        at = kept.rows[worst]
        numbers = 1 + (at if places is None else places[at])
        return cls(
            n=confusion.n,
            n_wrong=confusion.n_wrong,
            confusing=_confusing(kept, confusion, Columns(X, categories, kept.rows)),
            pairs=confusion.pairs_table(_LISTED, backend),
            sure=_sure(kept),
            worst=_worst_table(kept, confusion, worst, numbers, backend),
            places=tuple(at.tolist()),
            cells=_cells(X, at, numbers, backend) if rows else None,
            notes=_notes(confusion),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything that is said in words."""
        if not self.n_wrong:
            head = f"None of the {counted(self.n, 'row')} was said wrong."
        else:
            are = agreed(self.n_wrong, "was", "were")
            head = f"{self.n_wrong:,} of {counted(self.n, 'row')} {are} said wrong."
        sure = [one.sentence for one in self.sure]
        return (head, *(one.sentence for one in self.confusing), *sure, *self.notes)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables that there are."""
        return tuple(
            one for one in (self.pairs, self.worst, self.cells, self.near) if one is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON."""
        return {
            "rows": self.n,
            "wrong": self.n_wrong,
            "confusing": [one.to_dict() for one in self.confusing],
            "sure": [dict(vars(one)) for one in self.sure],
            "tables": [table.to_dict() for table in self.tables],
            "notes": list(self.notes),
        }

    def to_text(self, width: int | None = None) -> str:
        """What is printed; with `width`, in lines that are no longer."""
        words = fold("\n".join(self.sentences), width)
        return faces.join_text("", [words, *(table.to_text(width) for table in self.tables)])

    def to_markdown(self, level: int = 3) -> str:
        """The same in Markdown, tables under headings of this level."""
        words = "\n".join(f"- {faces.marked(words)}" for words in self.sentences)
        return faces.join_text("", [words, *(one.to_markdown(level) for one in self.tables)])

    def to_html(self) -> str:
        """A whole page."""
        return page("Errors", self._repr_html_())

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(words)}</li>" for words in self.sentences)
        tables = [table._repr_html_() for table in self.tables]
        return faces.join_html("", [f"<ul>{items}</ul>", *tables])


def _confusing(kept: Kept, confusion: Confusion, columns: Columns) -> tuple[Confusing, ...]:
    """The most frequent confusions, each told from the rows of its class said right."""
    found = []
    for true, said, n in confusion.pair_codes()[:_TOLD]:
        own = kept.truth == true
        wrong = np.flatnonzero(own & (kept.said == said))
        right = np.flatnonzero(own & (kept.said == true))
        differences = columns.differences(wrong, right)
        labels = confusion.classes[true], confusion.classes[said]
        found.append(Confusing(*labels, n, n / int(own.sum()), len(right), differences))
    return tuple(found)


def _sure(kept: Kept) -> tuple[Sure, ...]:
    if kept.probabilities is None:
        return ()
    p = kept.probabilities[np.arange(len(kept.said)), kept.said]
    is_wrong = kept.said != kept.truth
    return tuple(
        Sure(
            limit,
            int(np.count_nonzero(p >= limit)),
            int(np.count_nonzero(is_wrong & (p >= limit))),
            float(np.sum(1 - p[p >= limit])),
        )
        for limit in _SURE
    )


def _worst(kept: Kept, confusion: Confusion) -> Places:
    """Which predictions are listed: wrong ones, the surest first, then by the order of rows."""
    wrong = np.flatnonzero(kept.said != kept.truth)
    if kept.probabilities is None:
        often = confusion.matrix[kept.truth[wrong], kept.said[wrong]]
        order = np.lexsort((wrong, kept.said[wrong], kept.truth[wrong], -often))
    else:
        order = np.argsort(-kept.probabilities[wrong, kept.said[wrong]], kind="stable")
    return wrong[order[:_ROWS]]


def _worst_table(
    kept: Kept, confusion: Confusion, worst: Places, numbers: Places, backend: str
) -> Table:
    labels = confusion.classes
    columns: list[list[Cell]] = [
        numbers.tolist(),
        [labels[k] for k in kept.truth[worst]],
        [labels[k] for k in kept.said[worst]],
    ]
    heads = ["row", "true", "said"]
    title = "Rows of the most frequent confusions"
    if kept.probabilities is not None:
        title = "The rows said wrong with the most probability"
        heads += ["P(said)", "P(true)"]
        columns += [kept.probabilities[worst, kept.said[worst]].tolist()]
        columns += [kept.probabilities[worst, kept.truth[worst]].tolist()]
    cut = f" ({len(worst)} of {confusion.n_wrong:,})" if len(worst) < confusion.n_wrong else ""
    rows = tuple(zip(*columns, strict=True))
    return Table("worst", f"{title}{cut}", tuple(heads), rows, "", backend)


def _cells(X: Any, at: Places, numbers: Places, backend: str) -> Table:
    """These rows as the table has them."""
    frame = nw.from_native(X, eager_only=True)
    names = unique(["row", *map(str, frame.columns)])
    rows = frame[at].rows()
    cells = tuple(
        (number, *map(_cell, row)) for number, row in zip(numbers.tolist(), rows, strict=True)
    )
    return Table("cells", "What these rows hold", names, cells, "", backend)


def _cell(value: Any) -> Cell:
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or plain != plain or str(plain) in ("NaT", "<NA>"):  # noqa: PLR0124
        return None
    return plain if isinstance(plain, str | bool | int | float) else str(plain)


def _notes(confusion: Confusion) -> tuple[str, ...]:
    there = len(confusion.pairs())
    if there <= _TOLD:
        return ()
    words = f"There are {there} kinds of confusion; the {_TOLD} most frequent are described."
    return (f"{words} `confusion.pairs()` has them all.",)
