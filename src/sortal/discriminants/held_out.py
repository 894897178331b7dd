"""Models without some of the rows: leave-one-out, folds, and options chosen by leave-one-out.

Rows that have a closed form are a matter of `leave_one_out`. For others summaries of parts are
merged without the part that goes. Nothing is subtracted, so that what is left is as sharp as a
summary of these rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sortal.decision.folds import assign_folds
from sortal.decision.options import is_whole, read_class_weight, read_priors
from sortal.decision.posterior import log_of, log_posterior
from sortal.decision.scores import Mapped, ScoredTerms
from sortal.discriminants.leave_one_out import (
    BLOCK_ROWS,
    GRID,
    Tiles,
    add_row,
    best,
    curve,
    leave_one_out,
    not_fitted,
    read_fitted,
    same_rows,
    score_grid,
)
from sortal.discriminants.rank_one import GaussianLeaveOut
from sortal.discriminants.statistics import (
    ClassStatistics,
    class_statistics,
    multiply,
    plan,
    read_statistics,
    to_choose,
)
from sortal.engines import gather, one_blas_thread
from sortal.errors import (
    CollinearityWarning,
    ParameterError,
    SortalError,
    brief,
    counted,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sortal._typing import Codes, Float, Mask, Places
    from sortal.base.learner import Fitted, Training
    from sortal.data.columns import Schema, Values
    from sortal.data.sources import Batch, TableSource
    from sortal.decision.scores import RowFunctions
    from sortal.discriminants.leave_one_out import GridScores
    from sortal.engines import Engine
    from sortal.records.tables import Table
    from sortal.summaries.counts import DiscriminantSummary, SummarizeDiscriminant

    AnyFit: TypeAlias = Fitted[Any, Any, Any]


# Rows that are left out one by one between two passes over all others.
_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What is asked, or chosen, of a learner of Gaussian classes by models without some rows.

    `learn` makes a model of statistics. `shares` are options from 0 to 1 that may be "loo". A
    learner without pooling pools all.
    """

    learn: Callable[[ClassStatistics, Any], Any]
    shares: tuple[str, ...]

    # --- Posteriors -----------------------------------------------------------------------------

    def leave_out(self, fitted: AnyFit, training: Training) -> tuple[Float, Mask]:
        """P(k|x) of each row by the model without it; which rows were not in the fit."""
        engine, source, schema = training.engine, training.source, fitted.schema
        summarize = plan(source.schema, fitted.plan.fill)
        if not same_rows(engine.reduce(source, summarize), fitted.summary):
            raise not_fitted("loo_proba")
        source, options = replace(source, block_rows=BLOCK_ROWS), self._held(fitted)
        tiles = self._tiles(fitted.summary, schema, [options])
        left = gather(engine.map(source, leave_one_out(tiles)))
        judges = []
        again = np.flatnonzero(left.again)
        for row, batch, summary in _leave_out_each(engine, source, summarize, again):
            stats = _statistics(summary, schema, options)
            judges.append(self._judge(stats, schema, options))
            left.proba[row] = np.exp(judges[-1].log_posteriors(batch)[0][0])
        _warn_of_constant(judges, "rows")
        return left.proba, left.outside

    def by_folds(self, fitted: AnyFit, training: Training, cv: object) -> ScoredTerms:
        """P(k|x) of each row by the model without the rows of its fold."""
        engine, schema = training.engine, fitted.schema
        summarize = plan(training.source.schema, fitted.plan.fill)
        source = replace(training.source, block_rows=BLOCK_ROWS)
        classes = np.concatenate(list(engine.map(source, _read_classes(schema.classes))))
        own, n_folds = read_folds(cv, classes)
        parts = _merge_each(engine.map(source, _summarize_folds(summarize, own, n_folds)))
        options = self._held(fitted)
        *others, everything = without_each([*parts, None])
        if not same_rows(everything, fitted.summary):
            raise not_fitted("cv_proba")
        learned = [_statistics(summary, schema, options) for summary in others]
        judges = [self._judge(stats, schema, options) for stats in learned]
        _warn_of_constant(judges, "folds")
        stats = _statistics(fitted.summary, schema, options)
        judges.append(self._judge(stats, schema, options))
        return gather(engine.map(source, _score_folds(judges, own)))

    def _held(self, fitted: AnyFit) -> Any:
        """The options of the fit, with the shares that were chosen then."""
        chosen = {
            name: getattr(fitted.model, name) for name in to_choose(fitted.options, self.shares)
        }
        return replace(fitted.options, **chosen)

    def _tiles(
        self, summary: DiscriminantSummary, schema: Schema, settings: Sequence[Any]
    ) -> Tiles:
        options = settings[0]
        prior = read_priors(options.priors, schema.classes)
        stats = read_statistics(summary, schema)
        fitted = read_fitted(stats, options.class_weight, prior, summary.exponent)
        pairs = tuple((getattr(one, "pooling", 1.0), one.shrinkage or 0.0) for one in settings)
        kernel = GaussianLeaveOut(options.covariance, pairs)
        return Tiles.of(fitted, kernel, bool(summary.rows.missing.any()))

    def _judge(self, stats: ClassStatistics | None, schema: Schema, options: Any) -> FoldModel:
        """The model of statistics, or what stands for it."""
        if stats is not None:
            try:
                with np.errstate(divide="ignore", invalid="ignore"):
                    model = self.learn(stats, options)
            except SortalError:  # nothing varies any more
                pass
            else:
                return FoldModel(model.scores, model.prior, stats.present)
        prior, K = read_priors(options.priors, schema.classes), len(schema.classes)
        if prior is None:
            prior = np.full(K, 1 / K) if stats is None else stats.shares
        return FoldModel(None, prior, np.ones(K, dtype=bool) if stats is None else stats.present)

    # --- Shares that are chosen -----------------------------------------------------------------

    def choose(
        self, summary: DiscriminantSummary, schema: Schema, options: Any, training: Training
    ) -> Any:
        """The model by those shares under which rows are likeliest, each without the row."""
        refuse_fill(summary, options, f"{to_choose(options, self.shares)[0]}='loo'")
        stats = class_statistics(summary, schema, options.class_weight)
        settings = list(product(*(_values(options, name) for name in self.shares)))
        given: list[dict[str, Any]] = [
            dict(zip(self.shares, setting, strict=True)) for setting in settings
        ]
        filled = [replace(options, **one) for one in given]
        self.learn(stats, filled[-1])  # what cannot be learned is said now
        source = replace(training.source, block_rows=BLOCK_ROWS)
        tried = self._try(summary, schema, filled, source, training.engine)
        chosen = best(settings, tried)
        model = self.learn(stats, filled[settings.index(chosen)])
        return replace(model, curve=curve(self.shares, settings, tried, chosen))

    def _try(
        self,
        summary: DiscriminantSummary,
        schema: Schema,
        settings: Sequence[Any],
        source: TableSource,
        engine: Engine,
    ) -> GridScores:
        """Every setting on every row, without the row."""
        tiles = self._tiles(summary, schema, settings)
        blocks = engine.map(source, score_grid(tiles, len(settings)))
        tried = next(blocks)
        for block in blocks:
            tried = tried.merge(block)
        place = {label: k for k, label in enumerate(schema.classes)}
        order = np.argsort(tried.again)
        again, redo = tried.again[order], tried.redo[order]
        others = _leave_out_each(engine, source, plan(source.schema, None), again)
        for (_, batch, without), left in zip(others, redo, strict=True):
            stats = _statistics(without, schema, settings[0])
            g = int(batch.labels().recode(place)[0])
            judges = {
                i: self._judge(stats, schema, settings[i]) for i in np.flatnonzero(left).tolist()
            }
            tried = add_row(tried, batch, g, judges)
        return tried


def read_curve(fitted: AnyFit, shares: tuple[str, ...]) -> Table:
    """What was tried where shares were chosen."""
    found: Table | None = fitted.model.curve
    if found is None:
        names = " or ".join(f"{name}='loo'" for name in shares)
        raise AttributeError(f"loo_curve_ exists after a fit with {names}.")
    return replace(found, backend=fitted.names.backend)


def refuse_leaving(fitted: AnyFit, method: str, owner: str) -> None:
    """Rows that are not known, or were filled by all rows, cannot be left out."""
    if isinstance(fitted.summary, ClassStatistics):
        raise ParameterError(
            f"This {owner} was built from given moments, and {method} leaves out "
            "rows: fit one to the rows."
        )
    refuse_fill(fitted.summary, fitted.options, method)


def refuse_fill(summary: DiscriminantSummary, options: Any, what: str) -> None:
    """What stands for a missing value was read from all rows."""
    if options.missing == "mean" and summary.rows.missing.any():
        raise ParameterError(
            f"{what} leaves out rows, and with missing='mean' missing values hold means of all "
            "rows, "
            "also of those left out: set missing='drop_rows', or fill the missing values first."
        )


def _values(options: Any, name: str) -> tuple[float, ...]:
    """What is tried of a share."""
    given = getattr(options, name)
    return GRID if isinstance(given, str) else (float(given or 0.0),)


def _warn_of_constant(judges: Sequence[FoldModel], what: str) -> None:
    n = sum(judge.scores is None for judge in judges)
    if n:
        warn(
            f"Without them, {n} of the {what} leave no column that varies, and nothing to learn "
            "from: they get the prior.",
            CollinearityWarning,
        )


# --- Models of some rows, asked about others -----------------------------------------------------


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


def _statistics(
    summary: DiscriminantSummary, schema: Schema, options: Any
) -> ClassStatistics | None:
    """The statistics of a summary, classes weighted; None where no row has weight."""
    if not summary.labels:
        return None
    stats = read_statistics(summary, schema)
    if options.class_weight is not None:
        factor = read_class_weight(options.class_weight, stats.classes, stats.weight)
        stats = multiply(stats, factor)
    return stats if stats.present.any() else None


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


def _leave_out_each(
    engine: Engine, source: TableSource, plan: SummarizeDiscriminant, rows: Places
) -> Iterator[tuple[int, Batch, DiscriminantSummary]]:
    """Each of some rows (rising places), as a block, and the summary of all others."""
    for start in range(0, len(rows), _AT_A_TIME):
        some = rows[start : start + _AT_A_TIME]
        rest = engine.reduce(source, _summarize_without(plan, some))
        single = [row for block in engine.map(source, _pick_rows(some)) for row in block]
        with one_blas_thread():
            summaries = without_each([plan(row) for row in single], rest)
            yield from zip(some.tolist(), single, summaries, strict=True)


def _summarize_without(
    plan: SummarizeDiscriminant, rows: Places
) -> Callable[[Batch], DiscriminantSummary]:
    """A pass: the summary without some rows, given by their places in the source."""

    def summarize(batch: Batch) -> DiscriminantSummary:
        keep = np.ones(batch.n_rows, dtype=bool)
        keep[_inside(rows, batch)] = False
        return plan(batch if keep.all() else batch.take(keep))

    return summarize


def _pick_rows(rows: Places) -> Callable[[Batch], list[Batch]]:
    """A pass: some of the rows, each as a block of its own."""
    return lambda batch: [batch.take(np.array([i])) for i in _inside(rows, batch)]


def _inside(rows: Places, batch: Batch) -> Places:
    inside = rows[(rows >= batch.start) & (rows < batch.start + batch.n_rows)]
    return np.asarray(inside - batch.start)


# --- Folds ---------------------------------------------------------------------------------------


def _read_classes(classes: Values) -> Callable[[Batch], Codes]:
    """A pass: the class of each row, -1 where a row has no weight."""
    place = {label: k for k, label in enumerate(classes)}

    def read(batch: Batch) -> Codes:
        codes = batch.labels().recode(place)
        return codes if batch.units is None else np.where(batch.units > 0, codes, np.int32(-1))

    return read


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


def _summarize_folds(
    plan: SummarizeDiscriminant, folds: Places, n_folds: int
) -> Callable[[Batch], list[DiscriminantSummary]]:
    """A pass: the summary of each fold; folds[i] is that of row i of the source, or -1."""

    def summarize(batch: Batch) -> list[DiscriminantSummary]:
        own = folds[batch.start : batch.start + batch.n_rows]
        return [plan(batch.take(own == fold)) for fold in range(n_folds)]

    return summarize


def _merge_each(blocks: Iterator[list[DiscriminantSummary]]) -> list[DiscriminantSummary]:
    merged = next(blocks)
    for block in blocks:
        merged = [a.merge(b) for a, b in zip(merged, block, strict=True)]
    return merged


def _score_folds(judges: Sequence[FoldModel], folds: Places) -> Callable[[Batch], ScoredTerms]:
    """A pass: posteriors of rows by the judge of their fold; the last judges those without."""

    def score(batch: Batch) -> ScoredTerms:
        own = folds[batch.start : batch.start + batch.n_rows]
        proba = np.empty((batch.n_rows, len(judges[0].prior)))
        missing = np.zeros(len(batch.columns), dtype=np.int64)
        unknown = missing.copy()
        for fold in np.unique(own).tolist():
            chosen = own == fold
            log_proba, mapped = judges[fold].log_posteriors(batch.take(chosen))
            proba[chosen] = np.exp(log_proba)
            if mapped is not None:
                missing += mapped.missing
                unknown += mapped.unknown
        return ScoredTerms(proba, missing, unknown)

    return score
