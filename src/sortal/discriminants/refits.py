"""Models without some of the rows: summaries of parts, merged without the part that goes.

Nothing is subtracted, so that what is left is as sharp as a summary of these rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.decision.folds import assign_folds
from sortal.decision.options import is_whole, read_class_weight, read_priors
from sortal.decision.posterior import log_of, log_posterior
from sortal.discriminants.statistics import multiply, read_statistics
from sortal.engines import one_blas_thread
from sortal.errors import ParameterError, SortalError, brief, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sortal._typing import Codes, Float, Mask, Places
    from sortal.data.columns import Values
    from sortal.data.schema import Schema
    from sortal.data.sources import Batch, TableSource
    from sortal.decision.scores import Mapped, RowFunctions
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.engines import Engine
    from sortal.summaries.counts import DiscriminantSummary, SummarizeDiscriminant


# Rows that are left out one by one between two passes over all others.
_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class FoldModel:
    """What a model of some rows says of others.

    `scores` is None where nothing could be learned: then only the prior is left, of classes that
    have rows.
    """

    scores: RowFunctions | None
    prior: Float
    present: Mask

    def log_posteriors(self, batch: Batch) -> tuple[Float, Mapped | None]:
        """ln P(k|x) of rows, and what was met in them."""
        if self.scores is None:
            log_prior = np.where(self.present, log_of(self.prior), -np.inf)
            log_joint, mapped = np.tile(log_prior, (batch.n_rows, 1)), None
        else:
            mapped = self.scores(batch)
            log_joint = mapped.values + log_of(self.prior)
        return log_posterior(log_joint, self.prior), mapped


@dataclass(frozen=True, eq=False)
class Refit:
    """Summary → Judge, by the schema, the class weights and the priors of a fit."""

    schema: Schema
    class_weight: Any
    priors: Any

    def statistics(self, summary: DiscriminantSummary) -> ClassStatistics | None:
        """The statistics of a summary, classes weighted; None where no row has weight."""
        if not summary.labels:
            return None
        stats = read_statistics(summary, self.schema)
        if self.class_weight is not None:
            factor = read_class_weight(self.class_weight, stats.classes, stats.weight)
            stats = multiply(stats, factor)
        return stats if stats.present.any() else None

    def judge(
        self, stats: ClassStatistics | None, learn: Callable[[ClassStatistics], Any]
    ) -> FoldModel:
        """The model of statistics, or what stands for it."""
        if stats is not None:
            try:
                with np.errstate(divide="ignore", invalid="ignore"):
                    model = learn(stats)
            except SortalError:  # nothing varies any more
                pass
            else:
                return FoldModel(model.scores, model.prior, stats.present)
        prior, K = read_priors(self.priors, self.schema.classes), len(self.schema.classes)
        if prior is None:
            prior = np.full(K, 1 / K) if stats is None else stats.weight / stats.total_weight
        return FoldModel(None, prior, np.ones(K, dtype=bool) if stats is None else stats.present)


def without_each(
    parts: Sequence[DiscriminantSummary | None], rest: DiscriminantSummary | None = None
) -> Iterator[DiscriminantSummary]:
    """For each part the merged others: those before it, those after it, and the rest. (S 56)"""
    after: list[DiscriminantSummary | None] = [None]
    for part in reversed(parts[1:]):
        after.append(_merged(part, after[-1]))
    before = rest
    for part in parts:
        others = _merged(before, after.pop())
        assert others is not None  # noqa: S101  (two parts, or a rest)
        yield others
        before = _merged(before, part)


def _merged(
    a: DiscriminantSummary | None, b: DiscriminantSummary | None
) -> DiscriminantSummary | None:
    return b if a is None else a if b is None else a.merge(b)


@dataclass(frozen=True, eq=False)
class SummarizeWithout:
    """Block → summary without some rows, given by their places in the source."""

    plan: SummarizeDiscriminant
    rows: Places

    def __call__(self, batch: Batch) -> DiscriminantSummary:
        """The summary of the others of one block."""
        keep = np.ones(batch.n_rows, dtype=bool)
        keep[_inside(self.rows, batch)] = False
        return self.plan(batch if keep.all() else batch.take(keep))


@dataclass(frozen=True, eq=False)
class PickRows:
    """Block → some of its rows, each as a block of its own."""

    rows: Places

    def __call__(self, batch: Batch) -> list[Batch]:
        """Those of one block."""
        return [batch.take(np.array([i])) for i in _inside(self.rows, batch)]


def _inside(rows: Places, batch: Batch) -> Places:
    inside = rows[(rows >= batch.start) & (rows < batch.start + batch.n_rows)]
    return np.asarray(inside - batch.start)


def leave_out_each(
    engine: Engine, source: TableSource, plan: SummarizeDiscriminant, rows: Places
) -> Iterator[tuple[int, Batch, DiscriminantSummary]]:
    """Each of some rows (rising places), as a block, and the summary of all others."""
    for start in range(0, len(rows), _AT_A_TIME):
        some = rows[start : start + _AT_A_TIME]
        rest = engine.reduce(source, SummarizeWithout(plan, some))
        single = [row for block in engine.map(source, PickRows(some)) for row in block]
        with one_blas_thread():
            summaries = without_each([plan(row) for row in single], rest)
            yield from zip(some.tolist(), single, summaries, strict=True)


@dataclass(frozen=True, eq=False)
class ReadClasses:
    """Block → the class of each row, -1 where a row has no weight."""

    classes: Values

    def __call__(self, batch: Batch) -> Codes:
        """The classes of one block."""
        codes = batch.labels().recode({label: k for k, label in enumerate(self.classes)})
        return codes if batch.units is None else np.where(batch.units > 0, codes, np.int32(-1))


def read_folds(given: Any, classes: Codes) -> tuple[Places, int]:
    """The fold of each row, -1 for none, and how many folds there are: dealt out, or as labeled."""
    if is_whole(given):
        weighs = classes >= 0
        n = int(weighs.sum())
        if not 2 <= given <= n:
            raise ParameterError(
                f"cv={brief(given)} cannot be used: give a whole number from 2 to the number of "
                f"rows ({n}), or the fold of each row."
            )
        own = np.full(len(classes), -1, dtype=np.intp)
        own[weighs] = assign_folds(classes[weighs], int(given), 0)
        return own, int(given)
    return _labeled(given, len(classes))


def _labeled(given: Any, n_rows: int) -> tuple[Places, int]:
    try:
        labels = given.tolist() if isinstance(given, np.ndarray) else list(given)
        place = {label: fold for fold, label in enumerate(dict.fromkeys(labels))}
    except TypeError:
        raise ParameterError(
            f"cv={brief(given)} cannot be used: give a whole number, or a list of one label for "
            f"each of {counted(n_rows, 'row')}."
        ) from None
    if any(label is None or label != label for label in place):  # noqa: PLR0124  (NaN)
        raise ParameterError("cv has rows without a label: give each row one, or a whole number.")
    if isinstance(given, str) or len(labels) != n_rows or len(place) < 2:
        raise ParameterError(
            f"cv is a {type(given).__name__} of {counted(len(labels), 'label')}, {len(place)} "
            f"of them different: give a whole number, or a label for each of "
            f"{counted(n_rows, 'row')}, at least two different ones."
        )
    return np.array([place[label] for label in labels], dtype=np.intp), len(place)


@dataclass(frozen=True, eq=False)
class SummarizeFolds:
    """Block → the summary of each fold; folds[i] is that of row i of the source, or -1."""

    plan: SummarizeDiscriminant
    folds: Places
    n_folds: int

    def __call__(self, batch: Batch) -> list[DiscriminantSummary]:
        """The summaries of one block."""
        own = self.folds[batch.start : batch.start + batch.n_rows]
        return [self.plan(batch.take(own == fold)) for fold in range(self.n_folds)]


def summarize_folds(
    engine: Engine, source: TableSource, summarize: SummarizeFolds
) -> list[DiscriminantSummary]:
    """The summary of each fold."""
    blocks = engine.map(source, summarize)
    merged = next(blocks)
    for block in blocks:
        merged = [a.merge(b) for a, b in zip(merged, block, strict=True)]
    return merged


@dataclass(frozen=True, eq=False)
class ScoreFolds:
    """Block → posteriors of its rows by the judge of their fold; the last judges those without."""

    judges: Sequence[FoldModel]
    folds: Places

    def __call__(self, batch: Batch) -> tuple[Float, list[Mapped]]:
        """Judge one block."""
        own = self.folds[batch.start : batch.start + batch.n_rows]
        proba = np.empty((batch.n_rows, len(self.judges[0].prior)))
        met = []
        for fold in np.unique(own).tolist():
            chosen = own == fold
            log_proba, mapped = self.judges[fold].log_posteriors(batch.take(chosen))
            proba[chosen] = np.exp(log_proba)
            met += [] if mapped is None else [mapped]
        return proba, met
