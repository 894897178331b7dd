"""Posteriors by leave-one-out and cross-validation, and options chosen by them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.decision.options import read_priors
from sortal.discriminants.estimator import DiscriminantClassifier
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
from sortal.discriminants.refits import (
    ReadClasses,
    Refit,
    ScoreFolds,
    SummarizeFolds,
    leave_out_each,
    read_folds,
    summarize_folds,
    without_each,
)
from sortal.discriminants.statistics import plan, read_statistics, weigh_classes
from sortal.engines import gather
from sortal.errors import CollinearityWarning, ParameterError, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from sortal._typing import Float
    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.discriminants.leave_one_out import GridScores, LeaveOneOutDensity
    from sortal.discriminants.refits import FoldModel
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Table
    from sortal.summaries.counts import DiscriminantSummary, SummarizeDiscriminant


class LeaveOneOutMixin(DiscriminantClassifier):
    """Leave-one-out, folds, and the choice of shares from 0 to 1 by leave-one-out.

    Options have the class weights of the fit and may have "loo" for each of `_shares`.
    """

    _shares: tuple[str, ...] = ("shrinkage",)

    @abstractmethod
    def _kernel(self, settings: Sequence[Any]) -> LeaveOneOutDensity:
        """What calculates densities without a row, for several options."""

    def loo_proba(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Float:
        """P(k|x) of each row by the model without this row, for the price of a few predictions.

        A row goes with all its weight. Priors and shares that were given, or chosen by "loo", stay;
        all else is what a fit to the other rows would find. A row that was not in the fit (it has a
        missing value, or no weight) gets what `predict_proba` says. Rows that have no closed form
        are left out by merging all others, which takes milliseconds for each: where columns are
        constant within classes, or a quadratic discriminant has a class without a covariance of its
        own, those are all rows.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        source, summarize = self._same_source(X, y, sample_weight, "loo_proba")
        if not same_rows(self._summarize(source, summarize), self._summary):
            raise not_fitted("loo_proba")
        source, options = replace(source, block_rows=BLOCK_ROWS), self._held()
        tiles = self._tiles(self._summary, self._schema, [options])
        left = gather(self._engine().map(source, leave_one_out(tiles)))
        refit, judges = self._refit(options), []
        again = np.flatnonzero(left.again)
        for row, batch, summary in leave_out_each(self._engine(), source, summarize, again):
            judges.append(refit.judge(refit.statistics(summary), self._learner(options)))
            left.proba[row] = np.exp(judges[-1].log_posteriors(batch)[0][0])
        _warn_of_constant(judges, "rows")
        if left.outside.any():
            left.proba[left.outside] = self._answer(X, None, "proba")[left.outside]
        return self._spread(left.proba)

    def cv_proba(
        self, X: Any, y: Any, cv: Any = 10, sample_weight: ArrayLike | None = None
    ) -> Float:
        """P(k|x) of each row by the model without the rows of its fold.

        What is kept from the fit, and what is not, is as in `loo_proba`.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.
        cv : int or one label a row, default=10
            So many folds, to which the rows of each class are dealt at random, always in the same
            way (rows without weight get what `predict_proba` says); or the fold of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        source, summarize = self._same_source(X, y, sample_weight, "cv_proba")
        source = replace(source, block_rows=BLOCK_ROWS)
        read = ReadClasses(self._schema.classes)
        classes = np.concatenate(list(self._engine().map(source, read)))
        own, n_folds = read_folds(cv, classes)
        parts = summarize_folds(self._engine(), source, SummarizeFolds(summarize, own, n_folds))
        options = self._held()
        refit, learn = self._refit(options), self._learner(options)
        *others, everything = without_each([*parts, None])
        if not same_rows(everything, self._summary):
            raise not_fitted("cv_proba")
        judges = [refit.judge(refit.statistics(summary), learn) for summary in others]
        _warn_of_constant(judges, "folds")
        judges.append(refit.judge(refit.statistics(self._summary), learn))
        blocks = list(self._engine().map(source, ScoreFolds(judges, own)))
        met = [mapped for _, block in blocks for mapped in block]
        if met:
            missing = np.sum([mapped.missing for mapped in met], axis=0)
            self._report_columns(missing, np.sum([mapped.unknown for mapped in met], axis=0))
        return self._spread(np.concatenate([proba for proba, _ in blocks]))

    @property
    def loo_curve_(self) -> Table:
        """The mean of ln P(y|x) without each row, for every setting that was tried."""
        found: Table | None = self._fitted_model().curve
        if found is None:
            names = " or ".join(f"{name}='loo'" for name in self._shares)
            raise AttributeError(f"loo_curve_ exists after a fit with {names}.")
        return replace(found, backend=self._backend)

    def _same_source(
        self, X: Any, y: Any, sample_weight: Any, method: str
    ) -> tuple[TableSource, SummarizeDiscriminant]:
        """The rows of the fit again, and how they are summarized."""
        self._fitted_model()
        if self._summary is None:
            raise ParameterError(
                f"This {type(self).__name__} was built from given moments, and {method} leaves out "
                "rows: fit one to the rows."
            )
        self._refuse_fill(self._summary, method)
        source = self._open_more(X, y, sample_weight, self._fitted).source
        return source, self._later_plan(source.schema, self._fitted)

    def _refuse_fill(self, summary: DiscriminantSummary, what: str) -> None:
        """What stands for a missing value was read from all rows."""
        if self.missing == "mean" and summary.rows.missing.any():
            raise ParameterError(
                f"{what} leaves out rows, and with missing='mean' missing values hold means of all "
                "rows, "
                "also of those left out: set missing='drop_rows', or fill the missing values first."
            )

    def _held(self) -> Any:
        """The options of the fit, with the shares that were chosen then."""
        model = self._fitted_model()
        chosen = {name: getattr(model, name) for name in _unknown(self._fitted, self._shares)}
        return replace(self._fitted, **chosen)

    def _learner(self, options: Any) -> Callable[[ClassStatistics], Any]:
        return partial(self._learn, options=options)

    def _refit(self, options: Any) -> Refit:
        return Refit(self._schema, options.class_weight, options.priors)

    def _tiles(
        self, summary: DiscriminantSummary, schema: Schema, settings: Sequence[Any]
    ) -> Tiles:
        options = settings[0]
        prior = read_priors(options.priors, schema.classes)
        stats = read_statistics(summary, schema)
        fitted = read_fitted(stats, options.class_weight, prior, summary.exponent)
        return Tiles.of(fitted, self._kernel(settings), bool(summary.rows.missing.any()))

    def _build(
        self,
        summary: DiscriminantSummary,
        schema: Schema,
        options: Any,
        source: TableSource | None,
    ) -> Any:
        names = _unknown(options, self._shares)
        if not names:
            return super()._build(summary, schema, options, source)
        assert source is not None  # noqa: S101  (pieces were refused)
        self._refuse_unfit(summary, schema)
        self._refuse_fill(summary, f"{names[0]}='loo'")
        stats = weigh_classes(read_statistics(summary, schema), options.class_weight)
        settings = list(product(*(_values(options, name) for name in self._shares)))
        filled = [
            replace(options, **dict(zip(self._shares, setting, strict=True)))
            for setting in settings
        ]
        self._learn(stats, filled[-1])  # what cannot be learned is said now
        tried = self._try(summary, schema, filled, replace(source, block_rows=BLOCK_ROWS))
        chosen = best(settings, tried)
        model = self._learn(stats, filled[settings.index(chosen)])
        return replace(model, curve=curve(self._shares, settings, tried, chosen))

    def _try(
        self,
        summary: DiscriminantSummary,
        schema: Schema,
        settings: Sequence[Any],
        source: TableSource,
    ) -> GridScores:
        """Every setting on every row, without the row."""
        engine = self._engine()
        tiles = self._tiles(summary, schema, settings)
        blocks = engine.map(source, score_grid(tiles, len(settings)))
        tried = next(blocks)
        for block in blocks:
            tried = tried.merge(block)
        refit = Refit(schema, settings[0].class_weight, settings[0].priors)
        learners = [self._learner(setting) for setting in settings]
        place = {label: k for k, label in enumerate(schema.classes)}
        order = np.argsort(tried.again)
        again, redo = tried.again[order], tried.redo[order]
        others = leave_out_each(engine, source, plan(source.schema, None), again)
        for (_, batch, without), left in zip(others, redo, strict=True):
            stats = refit.statistics(without)
            g = int(batch.labels().recode(place)[0])
            judges = {i: refit.judge(stats, learners[i]) for i in np.flatnonzero(left).tolist()}
            tried = add_row(tried, batch, g, judges)
        return tried

    def _not_incremental(self) -> str:
        chosen = _unknown(self, self._shares)
        if chosen:
            return f"{chosen[0]}='loo' needs all rows at once: use fit, or give a number."
        return super()._not_incremental()


def _unknown(options: Any, names: Sequence[str]) -> list[str]:
    """Which shares are to be chosen."""
    given = {name: getattr(options, name) for name in names}
    return [name for name, value in given.items() if isinstance(value, str) and value == "loo"]


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
