"""Leave one out: class statistics without a row, passes over such rows, and what they choose.

A row of class g changes the weight, mean and scatter of its class, the latter by a matrix of rank
one. What follows for densities is a matter of kernels, one a learner; here rows are dealt to them,
a cache full of one class at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from sortal.decision.options import read_class_weight
from sortal.decision.posterior import log_of, posterior
from sortal.discriminants.functions import TermBlock, in_loops
from sortal.discriminants.statistics import (
    class_divisors,
    multiply,
    multiply_rows,
    pooled_divisor,
)
from sortal.errors import TrainingRowsError
from sortal.modelfile.record import same
from sortal.records.tables import table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sortal._typing import ClassWeight, Codes, Counts, Float, Mask, Places
    from sortal.data.sources import Batch
    from sortal.discriminants.held_out import FoldModel
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Table
    from sortal.summaries.counts import DiscriminantSummary


# Numbers taken at a time, and rows. Threads wait for each other between the many small steps of a
# tile: of 100,000 × 30 a pass took 53 ms with 2048 rows a tile, 34 ms with 8192.
TILE_NUMBERS = 1 << 18

TILE_ROWS = 1024, 8192

# Rows of a block: small tables, too, have work for several threads.
BLOCK_ROWS = 1 << 14

# Where less than this share of a spread is left, its digits are those of the row that went.
LEAST_LEFT = 1e-3


@dataclass(frozen=True, eq=False)
class ClassesWithoutRow:
    """Classes without a row of class g: a column a row, or one column for rows of one weight.

    `cut` is c in S_g' = S_g - c uuᵀ and `shift` is κ in μ_g' = μ_g - κ u, u being the row less
    the mean of its class. A class that has lost its only row has weight 0.
    """

    weight: Float
    rows: Float
    prior: Float
    cut: Float
    shift: Float

    @cached_property
    def log_prior(self) -> Float:
        """ln π_k, and no prior at all for a class without rows."""
        return np.where(self.weight > 0, log_of(self.prior), -np.inf)

    @property
    def total_weight(self) -> Float:
        """The weight of all other rows."""
        return np.asarray(self.weight.sum(axis=0))

    def pooled_divisor(self, covariance: str) -> Float:
        """N - K or N, as for all rows."""
        return pooled_divisor(self.weight, self.rows, covariance)

    def class_divisors(self, covariance: str) -> Float:
        """N_k - 1 or N_k, as for all rows."""
        return class_divisors(self.weight, self.rows, covariance)


@dataclass(frozen=True, eq=False)
class FittedStatistics:
    """Statistics of all rows before class weights, in the order of the loops; what weighs them.

    `prior` is what was given; `whole` says that weights are copies of rows.
    """

    stats: ClassStatistics
    class_weight: ClassWeight
    prior: Float | None
    whole: bool

    @property
    def by_weight(self) -> bool:
        """Whether the factors of classes depend on the row that goes."""
        return isinstance(self.class_weight, str)

    @cached_property
    def origins(self) -> Float:
        """The means of the classes as far as one float64 holds them."""
        return np.asarray(self.stats.means)

    @cached_property
    def rests(self) -> Float:
        """From there to the means."""
        return np.asarray(self.stats.gap - (self.origins - self.stats.center) + self.stats.tail)

    def without(self, g: int, v: Float) -> ClassesWithoutRow:
        """w_g - v, c = w_g v / (w_g - v), κ = v / (w_g - v), for rows of class g. (S 45)"""
        keep = self.stats.weight[g] - v
        stays = keep > 0
        shift = np.where(stays, v / np.where(stays, keep, 1.0), 0.0)
        weight, rows = (np.tile(part, (len(v), 1)) for part in (self.stats.weight, self.stats.rows))
        weight[:, g] = np.where(stays, keep, 0.0)
        rows[:, g] = np.where(stays, rows[:, g] - (v if self.whole else 1.0), 0.0)
        factor = self.factors(weight)
        weight, rows = multiply_rows(weight, rows, factor)
        total = weight.sum(axis=1, keepdims=True)
        prior = weight / total if self.prior is None else np.tile(self.prior, (len(v), 1))
        cut = factor[:, g] * self.stats.weight[g] * shift
        return ClassesWithoutRow(weight.T, rows.T, prior.T, cut, shift)

    def factors(self, weight: Float) -> Float:
        """The factors of classes that have these weights, along the last axis."""
        factor = read_class_weight(self.class_weight, self.stats.classes, weight)
        return np.broadcast_to(factor, weight.shape)

    def base(self, g: int, v: float) -> ClassStatistics:
        """All rows, weighted as they are when a row of this class and weight goes."""
        if self.class_weight is None:
            return self.stats
        weight = self.stats.weight.copy()
        if self.by_weight:
            weight[g] = max(weight[g] - v, 0.0)
        return multiply(self.stats, self.factors(weight))


def read_fitted(
    stats: ClassStatistics, class_weight: ClassWeight, prior: Float | None, exponent: int
) -> FittedStatistics:
    """Statistics of a fit, ready to lose a row."""
    design = stats.design
    looped = replace(
        stats,
        center=in_loops(design, stats.center),
        gap=in_loops(design, stats.gap),
        scatter=in_loops(design, in_loops(design, stats.scatter).transpose(0, 2, 1)),
        third=in_loops(design, stats.third),
        slack=in_loops(design, np.broadcast_to(stats.slack, stats.gap.shape)),
        tail=in_loops(design, np.broadcast_to(stats.tail, stats.gap.shape)),
    )
    return FittedStatistics(looped, class_weight, prior, exponent == 0)


B = TypeVar("B")


class LeaveOneOutDensity(Protocol[B]):
    """Log densities of rows by the statistics without them, for one or several settings."""

    def prepare(self, stats: ClassStatistics) -> B:
        """What depends on all rows only; statistics in the order of the loops."""

    def densities(
        self, base: B, g: int, u: Float, left: ClassesWithoutRow
    ) -> list[tuple[Float, Mask]]:
        """Of rows u of class g, less its mean: ln f_k up to a common term, and what is not safe.

        For each setting a row a class and a column a row. Rows that are not safe lose digits this
        way, or have no such form: they are to be learned again.
        """


@dataclass(frozen=True, eq=False)
class Tile:
    """Some rows of one class, at places `rows` of a block, less the mean of their class."""

    rows: Counts
    g: int
    u: Float
    weight: Float
    left: ClassesWithoutRow
    base: object


@dataclass(frozen=True, eq=False)
class Tiles:
    """How a block is dealt. Rows with missing values (if there can be some) or no weight stay."""

    fitted: FittedStatistics
    kernel: LeaveOneOutDensity[Any]
    missing: bool
    common: object = None

    @classmethod
    def of(cls, fitted: FittedStatistics, kernel: LeaveOneOutDensity[Any], missing: bool) -> Tiles:
        """What depends on all rows is made once, where that is possible."""
        common = None if fitted.by_weight else kernel.prepare(fitted.base(0, 0.0))
        return cls(fitted, kernel, missing, common)

    def deal(self, batch: Batch) -> Iterator[Tile]:
        """The tiles of a block."""
        stats = self.fitted.stats
        block = TermBlock.of(stats.design, batch)
        size = int(np.clip(TILE_NUMBERS // max(stats.design.n_terms, 1), *TILE_ROWS))
        z = np.empty((size, stats.design.n_terms + 2))
        codes = batch.labels().recode({label: k for k, label in enumerate(stats.classes)})
        for rows in self._cells(codes, batch):
            g, weight = int(codes[rows[0]]), _weights(batch, rows[:1])
            base = self.common
            if self.fitted.by_weight:
                base = self.kernel.prepare(self.fitted.base(g, float(weight[0])))
            for start in range(0, len(rows), size):
                some = rows[start : start + size]
                block.center(some, self.fitted.origins[g], z[: len(some)])
                u = z[: len(some), :-2]
                u -= self.fitted.rests[g]
                if batch.units is not None:
                    weight = _weights(batch, some)
                yield Tile(some, g, u, weight, self.fitted.without(g, weight), base)

    def _cells(self, codes: Codes, batch: Batch) -> list[Counts]:
        """The rows class by class; where factors depend on it, also weight by weight."""
        rows = np.arange(batch.n_rows)
        if batch.units is not None or self.missing:
            keep = batch.row_units() > 0
            for column in batch.columns if self.missing else ():
                keep &= ~column.missing()
            rows = np.flatnonzero(keep)
        # NumPy sorts 16-bit numbers by radix, several times faster than wider ones
        narrow = codes[rows].astype(np.int16 if len(self.fitted.stats.classes) < 2**15 else int)
        units = batch.units[rows] if self.fitted.by_weight and batch.units is not None else None
        keys = (narrow,) if units is None else (units, narrow)
        order = np.argsort(narrow, kind="stable") if units is None else np.lexsort(keys)
        changes = np.logical_or.reduce([np.diff(key[order]) != 0 for key in keys])
        parts = np.split(rows[order], np.flatnonzero(changes) + 1)
        return [part for part in parts if len(part)]


def _weights(batch: Batch, rows: Counts) -> Float:
    return np.ldexp(batch.row_units()[rows].astype(np.float64), -batch.exponent)


@dataclass(frozen=True, eq=False)
class LeaveOneOutPosteriors:
    """Posteriors of a block's rows without them; rows to be learned again; rows never learned."""

    proba: Float
    again: Mask
    outside: Mask


def leave_one_out(tiles: Tiles) -> Callable[[Batch], LeaveOneOutPosteriors]:
    """A pass that leaves out every row of a block, by the only setting of a kernel."""

    def leave(batch: Batch) -> LeaveOneOutPosteriors:
        proba = np.zeros((batch.n_rows, len(tiles.fitted.stats.classes)))
        again, outside = np.zeros(batch.n_rows, dtype=bool), np.ones(batch.n_rows, dtype=bool)
        for tile in tiles.deal(batch):
            kernel, left = tiles.kernel, tile.left
            ((log_density, unsafe),) = kernel.densities(tile.base, tile.g, tile.u, left)
            log_joint, known = (left.log_prior + log_density).T, ~unsafe  # others are learned again
            prior = np.broadcast_to(left.prior.T, log_joint.shape)
            proba[tile.rows[known]] = posterior(log_joint[known], prior[known])
            again[tile.rows], outside[tile.rows] = unsafe, False
        return LeaveOneOutPosteriors(proba, again, outside)

    return leave


def same_rows(a: DiscriminantSummary, b: DiscriminantSummary) -> bool:
    """Whether two summaries can be of the same rows: equal counts, and moments but for rounding."""
    counts = (a.rows, b.rows), (a.sizes, b.sizes)
    if not all(same(*pair) for pair in counts):
        return False
    x, y = a.moments, b.moments
    if (x.classes, x.values, x.exponent) != (y.classes, y.values, y.exponent):
        return False
    units = x.units[:, None].astype(np.float64)
    size = np.sqrt(np.diagonal(x.scatter, axis1=1, axis2=2))
    digit = 1e-14 * np.abs(x.origin)
    near = np.abs((x.origin - y.origin) + (x.mean - y.mean)) <= 1e-9 * size / np.sqrt(units) + digit
    noise = 3e-5 * size + np.sqrt(units) * digit + np.sqrt(x.slack + y.slack)[:, :-1]
    alike = np.abs(x.scatter - y.scatter) <= noise[:, :, None] * noise[:, None, :]
    return bool((x.units == y.units).all() and near.all() and alike.all())


def not_fitted(method: str) -> TrainingRowsError:
    """The error for rows that were not in the fit."""
    return TrainingRowsError(
        f"{method} takes the rows of the fit again, with their labels and weights, and these are "
        "others: give the same X, y and sample_weight as to fit."
    )


# --- Shrinkage and pooling chosen by leave-one-out: the setting under which rows are likeliest ---

# What is tried of a share from 0 to 1.
GRID = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

# A sum of logarithms that is worse by this share of itself is as good.
_AS_GOOD = 1e-12


@dataclass(frozen=True, eq=False)
class GridScores:
    """Σ v ln P(y|x) without each row, a setting a place, and the weight of the rows.

    `again` are rows of which some settings, marked in `redo`, are still to be added.
    """

    sums: Float
    weight: float
    again: Places
    redo: Mask

    def merge(self, other: GridScores) -> GridScores:
        """Both together."""
        return GridScores(
            self.sums + other.sums,
            self.weight + other.weight,
            np.concatenate([self.again, other.again]),
            np.concatenate([self.redo, other.redo]),
        )


def score_grid(tiles: Tiles, n_settings: int) -> Callable[[Batch], GridScores]:
    """A pass that tries all settings of a kernel on the rows of a block."""

    def score(batch: Batch) -> GridScores:
        nothing = np.empty(0, dtype=np.intp), np.empty((0, n_settings), dtype=bool)
        tried = GridScores(np.zeros(n_settings), 0.0, *nothing)
        for tile in tiles.deal(batch):
            left, g = tile.left, tile.g
            # a class that goes with its only row, or is never expected, says nothing of a setting
            v = np.where(np.isneginf(left.log_prior[g]), 0.0, tile.weight)
            v = np.broadcast_to(v, tile.rows.shape)  # rows of one weight share a number
            found = tiles.kernel.densities(tile.base, g, tile.u, left)
            redo = np.stack([unsafe for _, unsafe in found], axis=1) & (v > 0)[:, None]
            log_p = [log_share(left.log_prior + log_density, g) for log_density, _ in found]
            counts = (v > 0) & ~redo.T  # a setting a row
            sums = np.where(counts, np.array(log_p), 0.0) @ v
            some = redo.any(axis=1)
            rows = tile.rows[some] + batch.start
            tried = tried.merge(GridScores(sums, float(v.sum()), rows, redo[some]))
        return tried

    return score


def log_share(log_joint: Float, g: int) -> Float:
    """ln P(g|x), a row a class."""
    behind = log_joint - log_joint.max(axis=0)
    return np.asarray(behind[g] - np.log(np.exp(behind).sum(axis=0)))


def add_row(tried: GridScores, row: Batch, g: int, judges: Mapping[int, FoldModel]) -> GridScores:
    """What was tried, and one row of class g by models of some settings."""
    v, sums = float(np.ldexp(float(row.row_units()[0]), -row.exponent)), tried.sums.copy()
    for place, judge in judges.items():
        sums[place] += v * judge.log_posteriors(row)[0][0, g]
    return replace(tried, sums=sums)


def best(settings: Sequence[tuple[float, ...]], tried: GridScores) -> tuple[float, ...]:
    """The setting of the largest sum; of those as good, the one that shrinks most. (S 48)"""
    most = tried.sums.max()
    good = tried.sums >= most - _AS_GOOD * abs(most)
    return max(setting for setting, is_good in zip(settings, good, strict=True) if is_good)


def curve(
    names: Sequence[str],
    settings: Sequence[tuple[float, ...]],
    tried: GridScores,
    chosen: tuple[float, ...],
) -> Table:
    """What was tried, as a table."""
    mean = tried.sums / (tried.weight or 1.0)
    rows = (
        (*setting, value, "chosen" if setting == chosen else "")
        for setting, value in zip(settings, mean, strict=True)
    )
    return table_of("loo", "Leave one out", (*names, "mean ln P", "choice"), rows, "S 48")
