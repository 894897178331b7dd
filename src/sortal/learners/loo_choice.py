"""Shrinkage and pooling chosen by leave-one-out: the setting under which rows are likeliest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.models.records import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.learners.leave_out import Tiles
    from sortal.learners.refits import Judge
    from sortal.models.records import Cell

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Place = NDArray[np.intp]

# What is tried of a share from 0 to 1.
GRID = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# A sum of logarithms that is worse by this share of itself is as good.
_AS_GOOD = 1e-12


@dataclass(frozen=True, eq=False)
class Tried:
    """Σ v ln P(y|x) without each row, a setting a place, and the weight of the rows.

    `again` are rows of which some settings, marked in `redo`, are still to be added.
    """

    sums: Float
    weight: float
    again: Place
    redo: Mask

    def merge(self, other: Tried) -> Tried:
        """Both together."""
        return Tried(
            self.sums + other.sums,
            self.weight + other.weight,
            np.concatenate([self.again, other.again]),
            np.concatenate([self.redo, other.redo]),
        )


@dataclass(frozen=True, eq=False)
class TryBlock:
    """Block → Tried, by all settings of a kernel."""

    tiles: Tiles
    n_settings: int

    def __call__(self, batch: Batch) -> Tried:
        """Try the rows of one block."""
        nothing = np.empty(0, dtype=np.intp), np.empty((0, self.n_settings), dtype=bool)
        tried = Tried(np.zeros(self.n_settings), 0.0, *nothing)
        for tile in self.tiles(batch):
            left, g = tile.left, tile.g
            # a class that goes with its only row, or is never expected, says nothing of a setting
            v = np.where(np.isneginf(left.log_prior[g]), 0.0, tile.weight)
            v = np.broadcast_to(v, tile.rows.shape)  # rows of one weight share a number
            found = self.tiles.kernel.densities(tile.base, g, tile.u, left)
            redo = np.stack([unsafe for _, unsafe in found], axis=1) & (v > 0)[:, None]
            log_p = [log_share(left.log_prior + log_density, g) for log_density, _ in found]
            counts = (v > 0) & ~redo.T  # a setting a row
            sums = np.where(counts, np.array(log_p), 0.0) @ v
            some = redo.any(axis=1)
            rows = tile.rows[some] + batch.start
            tried = tried.merge(Tried(sums, float(v.sum()), rows, redo[some]))
        return tried


def log_share(log_joint: Float, g: int) -> Float:
    """ln P(g|x), a row a class."""
    behind = log_joint - log_joint.max(axis=0)
    return np.asarray(behind[g] - np.log(np.exp(behind).sum(axis=0)))


def add_row(tried: Tried, row: Batch, g: int, judges: Mapping[int, Judge]) -> Tried:
    """What was tried, and one row of class g by models of some settings."""
    v, sums = float(np.ldexp(float(row.row_units()[0]), -row.exponent)), tried.sums.copy()
    for place, judge in judges.items():
        sums[place] += v * judge.log_posteriors(row)[0][0, g]
    return replace(tried, sums=sums)


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
