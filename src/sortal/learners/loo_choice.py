"""Shrinkage and pooling chosen by leave-one-out: the setting under which rows are likeliest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.models.records import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.learners.leave_out import Tiles
    from sortal.learners.refits import Judge
    from sortal.models.records import Cell

    Float = NDArray[np.float64]
    Place = NDArray[np.intp]

# What is tried of a share from 0 to 1.
GRID = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# A sum of logarithms that is worse by this share of itself is as good.
_AS_GOOD = 1e-12


@dataclass(frozen=True, eq=False)
class Tried:
    """Σ v ln P(y|x) without each row, a setting a place; the weight of the rows; rows to redo."""

    sums: Float
    weight: float
    again: Place

    def merge(self, other: Tried) -> Tried:
        """Both together."""
        again = np.concatenate([self.again, other.again])
        return Tried(self.sums + other.sums, self.weight + other.weight, again)


@dataclass(frozen=True, eq=False)
class TryBlock:
    """Block → Tried, by all settings of a kernel."""

    tiles: Tiles
    n_settings: int

    def __call__(self, batch: Batch) -> Tried:
        """Try the rows of one block."""
        sums, weight, again = np.zeros(self.n_settings), 0.0, []
        for tile in self.tiles(batch):
            left, g = tile.left, tile.g
            found = self.tiles.kernel.densities(tile.base, g, tile.u, left)
            redo = np.logical_or.reduce([unsafe for _, unsafe in found])
            v = np.where(np.isneginf(left.log_prior[g]) | redo, 0.0, tile.weight)
            again.append(tile.rows[redo])
            weight += float(v.sum())
            for place, (log_density, _) in enumerate(found):
                log_p = _log_share(left.log_prior + log_density, g)
                sums[place] += v @ np.where(v > 0, log_p, 0.0)
        rows = np.concatenate([*again, np.empty(0, dtype=np.intp)]) + batch.start
        return Tried(sums, weight, rows)


def _log_share(log_joint: Float, g: int) -> Float:
    """ln P(g|x), a row a class."""
    behind = log_joint - log_joint.max(axis=0)
    return np.asarray(behind[g] - np.log(np.exp(behind).sum(axis=0)))


def try_again(row: Batch, g: int, judges: Iterable[Judge]) -> Tried:
    """The same of one row, by a model a setting."""
    v = float(np.ldexp(float(row.row_units()[0]), -row.exponent))
    judged = [(judge, judge.log_posteriors(row)[0][0, g]) for judge in judges]
    # a class that has gone with its only row, or is never expected, says nothing of a setting
    v = v if all(judge.present[g] and judge.prior[g] > 0 for judge, _ in judged) else 0.0
    sums = np.array([v * log_p if v > 0 else 0.0 for _, log_p in judged])
    return Tried(sums, v, np.empty(0, dtype=np.intp))


def best(settings: Sequence[tuple[float, ...]], tried: Tried) -> tuple[float, ...]:
    """The setting of the largest sum; of those as good, the one that shrinks most. (S 48)"""
    most = tried.sums.max()
    good = tried.sums >= most - _AS_GOOD * abs(most)
    return max(setting for setting, is_good in zip(settings, good, strict=True) if is_good)


def curve(
    names: Sequence[str], settings: Sequence[tuple[float, ...]], tried: Tried, chosen: Any
) -> Table:
    """What was tried, as a table."""
    mean = tried.sums / (tried.weight or 1.0)
    rows: list[tuple[Cell, ...]] = [
        (*setting, float(value), "chosen" if setting == chosen else "")
        for setting, value in zip(settings, mean, strict=True)
    ]
    heads = (*names, "mean ln P", "choice")
    return Table("loo", "Leave one out", heads, tuple(rows), "S 48")
