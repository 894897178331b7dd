"""The errors most worth looking at: described, and copied only where rows are allowed."""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, copysign, isnan, sqrt
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
from scipy.stats import hypergeom, mannwhitneyu

from sortal.base.tables import declare_schema
from sortal.data.columns import MISSING, CategoryColumn
from sortal.data.sources import read_column, read_table
from sortal.errors import agreed, counted
from sortal.evaluation import Confusion
from sortal.records.render import moment_text, number_text
from sortal.records.tables import Record, Sentences, Shown, Table, fields_of, framed, sheet, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from narwhals.typing import IntoDataFrame

    from sortal._typing import Codes, Float, Mask, Places, TableLike
    from sortal.data.columns import Value
    from sortal.records.tables import Cell, Piece
    from sortal.tasks.compare.run import OutOfFold


# --- What tells some rows from others: the columns in which they differ most ---------------------

MOST = 3

# Chance alone shows a difference in one of all columns as seldom as that.
_LEVEL = 0.05

# Smaller ones, in units of spread, are not worth a word, however many rows show them.
_LEAST = 0.2

# So many rows of a side are enough to tell a difference from chance.
_ENOUGH = 2_000

_LONGEST = 40


@dataclass(frozen=True)
class Difference(Record):
    """A column in which some rows differ from others.

    Of numbers `here` and `there` are medians; of categories, and of missing values, the shares of
    rows that have `value`. `size` is the difference in units of spread, above 0 where `here` is
    greater.
    """

    column: str
    kind: str
    value: str | None
    here: float
    there: float
    size: float

    @property
    def words(self) -> str:
        """The difference, as a part of a sentence."""
        more = self.size > 0
        if self.value is None:
            text = _month if self.kind == "date" else _rounded
            word = ("later" if more else "earlier") if self.kind == "date" else None
            word = word or ("greater" if more else "smaller")
            medians = f"median {text(self.here)} against {text(self.there)}"
            return f"{self.column!r} is {word} ({medians})"
        often = "more" if more else "less"
        shares = f"{about_percent(self.here)} against {about_percent(self.there)}"
        what = "missing" if self.kind == "missing" else self.value
        return f"{self.column!r} is {often} often {what} ({shares})"


def about_percent(share: float) -> str:
    """A share in percent, by as many digits as it takes not to call it none or all."""
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    return "almost all" if share > 0.5 else "almost none"


class ComparedColumns:
    """The columns of a table, read once, in which rows are compared."""

    def __init__(self, X: TableLike, categorical_features: Sequence[str], rows: Places) -> None:
        table = read_table(X)
        schema = declare_schema(table, list(categorical_features))
        self._columns: list[_Numbers | _Categories] = []
        for j, column in enumerate(schema.columns):
            name, read = table.names[j], read_column(table, j, column)
            if isinstance(read, CategoryColumn):
                self._columns.append(_Categories(name, read.codes[rows], read.values))
            else:
                self._columns.append(_Numbers(name, column.kind, read.values[rows]))

    def differences(self, some: Places, others: Places) -> tuple[Difference, ...]:
        """The columns in which some rows differ most from others, if it is not by chance."""
        if not (len(some) and len(others)):
            return ()
        level = _LEVEL / max(1, len(self._columns))
        found = [one for column in self._columns for one in column.compare(some, others, level)]
        best: dict[str, Difference] = {}
        for one in sorted(found, key=lambda one: -abs(one.size)):
            best.setdefault(one.column, one)
        return tuple(best.values())[:MOST]


@dataclass(frozen=True, eq=False)
class _Numbers:
    name: str
    kind: str
    values: Float

    def compare(self, some: Places, others: Places, level: float) -> Iterator[Difference]:
        missing = np.isnan(self.values)
        if missing.any():
            level /= 2  # there are two comparisons then
            yield from _shares_differ(
                self.name, "missing", "", missing[some], missing[others], level
            )
        a, b = self.values[some], self.values[others]
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        if len(a) and len(b):
            size = median_distance(a, b, float(np.nanstd(self.values)))
            if abs(size) >= _LEAST and rank_chance(a, b, up=size > 0) <= level:
                here, there = self._median(a), self._median(b)
                yield Difference(self.name, self.kind, None, here, there, size)

    def _median(self, values: Float) -> float:
        """Of whole days the day."""
        median = float(np.median(values))
        days = self.kind == "date" and bool((values == np.floor(values)).all())
        return float(np.floor(median)) if days else median


@dataclass(frozen=True, eq=False)
class _Categories:
    name: str
    codes: Codes
    values: Sequence[Any]

    def compare(self, some: Places, others: Places, level: float) -> Iterator[Difference]:
        n = len(self.values)
        ahead = self._shares(some) - self._shares(others)
        up, down = int(ahead.argmax()), int(ahead.argmin())
        # of two values, what one has more the other has less: the first reads better
        v = up if ahead[up] >= -ahead[down] - 1e-12 else down
        kind, value = ("missing", "") if v == n else ("category", _quoted(self.values[v]))
        code = MISSING if v == n else v
        here, there = self.codes[some] == code, self.codes[others] == code
        yield from _shares_differ(self.name, kind, value, here, there, level / len(ahead))

    def _shares(self, rows: Places) -> Float:
        """The share of each value, and at last of missing values."""
        codes = self.codes[rows]
        n = len(self.values)
        return np.bincount(np.where(codes < 0, n, codes), minlength=n + 1) / len(rows)


def _month(days: float) -> str:
    """The month of a day: the median of a few rows may be that of one of them."""
    return moment_text(days)[:7]


def _rounded(value: float) -> str:
    return number_text(float(f"{value:.3g}"))


def median_distance(a: Float, b: Float, overall: float) -> float:
    """Return (median a − median b) / s, s² = Σ (x − its mean)² / (n_a + n_b − 2) (S 67).

    Where neither varies, s is the standard deviation of all rows.
    """
    apart = float(np.median(a) - np.median(b))
    if apart == 0.0:
        return 0.0
    freedom = len(a) + len(b) - 2
    squares = len(a) * float(np.var(a)) + len(b) * float(np.var(b))
    spread = sqrt(squares / freedom) if freedom else 0.0
    spread = spread or overall
    return apart / spread if spread and not isnan(spread) else copysign(float("inf"), apart)


def share_distance(here: float, there: float) -> float:
    """Return 2 arcsin √here − 2 arcsin √there, the distance of two shares (S 67)."""
    return 2 * asin(sqrt(min(here, 1.0))) - 2 * asin(sqrt(min(there, 1.0)))


def rank_chance(a: Float, b: Float, *, up: bool) -> float:
    """How probable it is by chance that a lies so far above b, or below it (two-sided, by ranks).

    The normal approximation errs on the side of caution where rows are few: one alone is never
    remarkable.
    """
    a, b = _enough(a), _enough(b)
    n = len(a) * len(b)
    above, p = mannwhitneyu(a, b, method="asymptotic")
    return float(p) if (above > n / 2) == up and above != n / 2 else 1.0


def share_chance(k: int, n: int, other_k: int, other_n: int) -> float:
    """How probable it is by chance that k of n differ so from other_k of other_n (Fisher)."""
    known = hypergeom(n + other_n, k + other_k, n)
    return min(1.0, 2 * float(min(known.cdf(k), known.sf(k - 1))))


def _shares_differ(
    name: str,
    kind: str,
    value: str,
    here: Mask,
    there: Mask,
    level: float,
) -> Iterator[Difference]:
    """The difference of two shares, if there is one."""
    k, other = int(here.sum()), int(there.sum())
    share, beside = k / len(here), other / len(there)
    size = share_distance(share, beside)
    if abs(size) >= _LEAST and share_chance(k, len(here), other, len(there)) <= level:
        yield Difference(name, kind, value, share, beside, size)


def _enough(values: Float) -> Float:
    """Every so many-th of very many values, in the order of the rows."""
    n = len(values)
    if n <= _ENOUGH:
        return values
    return values[np.linspace(0, n - 1, _ENOUGH).round().astype(np.intp)]


def _quoted(value: Value) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    text = repr(plain)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# So many confusions are told apart, so many are listed, and so many rows.
_TOLD = 5

_LISTED = 10

_ROWS = 10

_SURE = (0.9, 0.99)


@dataclass(frozen=True)
class ConfusionDetail(Record):
    """A frequent confusion, and what tells its rows from correct ones of the same class."""

    true: Cell
    predicted: Cell
    n: int
    share: float
    n_right: int
    differences: tuple[Difference, ...]

    SAYS = ("true", "predicted", "n", "share", "differences", "sentence")

    @property
    def sentence(self) -> str:
        """What happened, and in what these rows differ."""
        rows = f"{counted(self.n, 'row')} of {self.true!r} ({about_percent(self.share)} of them)"
        head = f"{rows} {agreed(self.n, 'was', 'were')} predicted as {self.predicted!r}."
        them = agreed(self.n, "it", "them")
        if not self.n_right:
            return (
                f"{head} No row of {self.true!r} was predicted correctly, to compare {them} with."
            )
        if not self.differences:
            return (
                f"{head} No column tells {them} from those predicted correctly by more than chance "
                "would."
            )
        told = "; ".join(difference.words for difference in self.differences)
        return f"{head} Compared with those predicted correctly: {told}."


@dataclass(frozen=True)
class ConfidentRows:
    """Rows predicted with a probability of `at_least`; how many are wrong, how many expected so."""

    at_least: float
    n: int
    wrong: int
    expected: float

    @property
    def sentence(self) -> str:
        """How many were wrong, beside what the probabilities themselves lead to expect."""
        if not self.n:
            return f"No row was predicted with a probability of {self.at_least:g} or more."
        return (
            f"Of {counted(self.n, 'row')} predicted with a probability of {self.at_least:g} or "
            f"more, {self.wrong:,} {agreed(self.wrong, 'is', 'are')} wrong; by the probabilities "
            f"themselves one would expect {_about(self.expected)}."
        )


def _about(n: float) -> str:
    """How many are expected: whole ones, where they are not few."""
    return f"{n:.2g}" if n < 9.95 else f"{n:,.0f}"


@dataclass(frozen=True, repr=False)
class ErrorAnalysis(Shown):
    """Errors of predictions for rows that the model had not seen.

    `confusing` has the most frequent confusions with what tells them, `pairs` more of them as a
    table. `sure` says how often the model was sure and wrong, and `worst` lists such rows, by
    their numbers in the table as given, from 1; of a model without probabilities, rows of the most
    frequent confusions. `places` are these rows among the labeled ones, from 0. `cells` are what
    they hold, where rows may be shown, and `near` then their neighbors, of a model that has any.
    """

    n: int
    n_wrong: int
    confusing: tuple[ConfusionDetail, ...]
    pairs: Table | None
    sure: tuple[ConfidentRows, ...]
    worst: Table | None
    places: tuple[int, ...]
    cells: Table | None
    notes: tuple[str, ...] = ()
    near: Table | None = None

    @classmethod
    def of(
        cls,
        kept: OutOfFold,
        X: IntoDataFrame,
        classes: Sequence[Any],
        *,
        places: Places | None = None,
        categorical_features: Sequence[str] = (),
        rows: bool = False,
    ) -> Self:
        """Look at the errors among predictions that were kept.

        `X` has the labeled rows, `classes` the labels of codes; `places` are those of the labeled
        rows in the table as given, from 0, where others stand between them.
        """
        confusion = Confusion.of(kept.truth, kept.predicted, classes)
        if not confusion.n_wrong:
            return cls(confusion.n, 0, (), None, _sure(kept), None, (), None)
        worst = _worst(kept, confusion)
        at = kept.rows[worst]
        numbers = 1 + (at if places is None else places[at])
        made = cls(
            n=confusion.n,
            n_wrong=confusion.n_wrong,
            confusing=_confusing(
                kept, confusion, ComparedColumns(X, categorical_features, kept.rows)
            ),
            pairs=confusion.pairs_table(_LISTED),
            sure=_sure(kept),
            worst=_worst_table(kept, confusion, worst, numbers),
            places=tuple(at.tolist()),
            cells=_cells(X, at, numbers) if rows else None,
            notes=_notes(confusion),
        )
        return framed(made, str(nw.from_native(X, eager_only=True).implementation))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything that is said in words."""
        if not self.n_wrong:
            head = f"None of the {counted(self.n, 'row')} was predicted wrongly."
        else:
            are = agreed(self.n_wrong, "was", "were")
            head = f"{self.n_wrong:,} of {counted(self.n, 'row')} {are} predicted wrongly."
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
        own = fields_of(self, "confusing", "sure", "tables", "notes")
        return {"rows": self.n, "wrong": self.n_wrong, **own}

    def _pieces(self) -> Sequence[Piece]:
        return Sentences(self.sentences, listed=True), *self.tables


def _confusing(
    kept: OutOfFold, confusion: Confusion, columns: ComparedColumns
) -> tuple[ConfusionDetail, ...]:
    """The most frequent confusions, each told from the rows of its class predicted correctly."""
    found = []
    for true, predicted, n in confusion.pair_codes()[:_TOLD]:
        own = kept.truth == true
        wrong = np.flatnonzero(own & (kept.predicted == predicted))
        right = np.flatnonzero(own & (kept.predicted == true))
        differences = columns.differences(wrong, right)
        labels = confusion.classes[true], confusion.classes[predicted]
        found.append(ConfusionDetail(*labels, n, n / int(own.sum()), len(right), differences))
    return tuple(found)


def _sure(kept: OutOfFold) -> tuple[ConfidentRows, ...]:
    if kept.probabilities is None:
        return ()
    p = kept.probabilities[np.arange(len(kept.predicted)), kept.predicted]
    is_wrong = kept.predicted != kept.truth
    return tuple(
        ConfidentRows(
            limit,
            int(np.count_nonzero(p >= limit)),
            int(np.count_nonzero(is_wrong & (p >= limit))),
            float(np.sum(1 - p[p >= limit])),
        )
        for limit in _SURE
    )


def _worst(kept: OutOfFold, confusion: Confusion) -> Places:
    """Which predictions are listed: wrong ones, the surest first, then by the order of rows."""
    wrong = np.flatnonzero(kept.predicted != kept.truth)
    if kept.probabilities is None:
        often = confusion.matrix[kept.truth[wrong], kept.predicted[wrong]]
        order = np.lexsort((wrong, kept.predicted[wrong], kept.truth[wrong], -often))
    else:
        order = np.argsort(-kept.probabilities[wrong, kept.predicted[wrong]], kind="stable")
    return wrong[order[:_ROWS]]


def _worst_table(kept: OutOfFold, confusion: Confusion, worst: Places, numbers: Places) -> Table:
    labels = confusion.classes
    said, true = kept.predicted[worst], kept.truth[worst]
    columns: dict[str, Any] = {
        "row": numbers,
        "true": [labels[k] for k in true],
        "predicted": [labels[k] for k in said],
    }
    title = "Rows of the most frequent confusions"
    if kept.probabilities is not None:
        title = "The rows predicted wrongly with the most probability"
        columns["P(predicted)"] = kept.probabilities[worst, said]
        columns["P(true)"] = kept.probabilities[worst, true]
    cut = f" ({len(worst)} of {confusion.n_wrong:,})" if len(worst) < confusion.n_wrong else ""
    return sheet("worst", f"{title}{cut}", columns)


def _cells(X: IntoDataFrame, at: Places, numbers: Places) -> Table:
    """These rows as the table has them."""
    frame = nw.from_native(X, eager_only=True)
    names = unique(["row", *map(str, frame.columns)])
    rows = frame[at].rows()
    cells = tuple(
        (number, *map(_cell, row)) for number, row in zip(numbers.tolist(), rows, strict=True)
    )
    return Table("cells", "What these rows hold", names, cells)


def _cell(value: object) -> Cell:
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
