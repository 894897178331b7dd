"""Linear functions of a row, c + (x - center)ᵀW, over the terms of a design; and rows with holes.

Every discriminant ends as such functions: a function a class, or a coordinate a direction. The
center is a float64 near the mean, so that an offset of 1e8 costs no digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sortal import native
from sortal.data.arrays import LARGEST, infinite, too_large
from sortal.data.columns import HOLE, UNKNOWN
from sortal.models.geometry import survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design

    Codes = NDArray[np.int32]
    Counts = NDArray[np.int64]
    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]


class HoleRule(Protocol):
    """What becomes of linear functions where only some terms of a row are known."""

    def functions(self, known: Mask) -> tuple[Float, Float]:
        """Offsets and weights to use; the weights of unknown terms are zero."""


@dataclass(frozen=True, eq=False)
class LinearMap:
    """offsets + (x - center)ᵀ weights, a column a function; `holes` says what to do without x."""

    design: Design
    center: Float
    weights: Float
    offsets: Float
    holes: HoleRule

    @property
    def intercepts(self) -> Float:
        """The constants of the same functions written as c + xᵀW."""
        return np.asarray(self.offsets - self.center @ self.weights)


@dataclass(frozen=True, eq=False)
class ConditionalMean:
    """A term that is not known takes its mean given the known ones. (S 15)

    By the scatter `total` of all rows, whatever their class, about their mean at center + `mean`.
    """

    total: Float
    mean: Float
    magnitude: Float
    weights: Float
    offsets: Float

    def functions(self, known: Mask) -> tuple[Float, Float]:
        """x_m = mean_m + T_mo T_oo⁺ (x_o - mean_o), put into the functions."""
        T, o, m = self.total, known, ~known
        nothing = np.zeros((1, int(o.sum())))
        sphere = survey(T[np.ix_(o, o)], nothing, self.magnitude[o]).sphere
        from_known = sphere @ (sphere.T @ (T[np.ix_(o, m)] @ self.weights[m]))
        weights = np.zeros_like(self.weights)
        weights[o] = self.weights[o] + from_known
        return self.offsets + self.mean[m] @ self.weights[m] - self.mean[o] @ from_known, weights


@dataclass(frozen=True, eq=False)
class Mapped:
    """The functions of a block's rows; holes by column, unknown values by column."""

    values: Float
    holes: Counts
    unknown: Counts


def map_rows(function: LinearMap, batch: Batch) -> Mapped:
    """Evaluate linear functions; rows with holes afterwards, by their own functions."""
    return _map_block(function, _Block.of(function, batch), batch.n_rows)


def _map_block(function: LinearMap, block: _Block, n_rows: int) -> Mapped:
    design = function.design
    weights = np.empty(function.weights.T.shape)
    weights[:, design.loop_order] = function.weights.T
    values = np.empty((n_rows, len(weights)))
    n_left = native.map_rows(
        block.numbers,
        list(block.codes),
        block.sizes,
        block.center,
        weights,
        function.offsets,
        values,
    )
    holes, unknown = np.zeros((2, len(design.sizes)), dtype=np.int64)
    if n_left:
        rows = np.flatnonzero(np.isnan(values).all(axis=1))
        missing = block.missing(rows)
        values[rows] = _with_holes(function, block, rows, missing)
        unknown = block.unknown(rows).sum(axis=0)
        holes = missing.sum(axis=0) - unknown
    return Mapped(values, holes, unknown)


def center_block(function: LinearMap, batch: Batch) -> tuple[Float, Float, Mask, Mask]:
    """Of all rows of a block: functions, distances from the center, missing and unknown cells.

    Where nothing is known, the distance is 0.
    """
    block, rows = _Block.of(function, batch), np.arange(batch.n_rows)
    values = _map_block(function, block, batch.n_rows).values
    return values, block.known_part(rows), block.missing(rows), block.unknown(rows)


@dataclass(frozen=True, eq=False)
class _Block:
    """The columns of a block and the center, in the order of the loops."""

    design: Design
    numbers: Sequence[Float]
    codes: Codes
    sizes: Sequence[int]
    center: Float

    @classmethod
    def of(cls, function: LinearMap, batch: Batch) -> _Block:
        """A block as linear functions read it."""
        design = function.design
        center = np.empty(design.n_terms)
        center[design.loop_order] = function.center
        sizes = [design.sizes[j] for j in design.categories]
        return cls(design, design.number_arrays(batch), design.code_arrays(batch), sizes, center)

    def known_part(self, rows: NDArray[np.int64]) -> Float:
        """Rows minus the center in the order of the terms, 0 where nothing is known."""
        z = np.empty((len(rows), self.design.n_terms + 2))
        codes, center = list(self.codes), self.center
        native.center_rows(self.numbers, codes, self.sizes, rows, center, center, None, z)
        return np.asarray(z[:, :-2][:, self.design.loop_order])

    def missing(self, rows: NDArray[np.int64]) -> Mask:
        """missing[i, j]: whether column j of a row has no value or one never fitted."""
        missing = np.zeros((len(rows), len(self.design.sizes)), dtype=bool)
        for j, column in zip(self.design.numbers, self.numbers, strict=True):
            cells = column[rows]
            if (np.abs(cells) > LARGEST).any():
                name = self.design.schema.columns[j].name
                raise infinite(name) if np.isinf(cells).any() else too_large(name)
            missing[:, j] = np.isnan(cells)
        for j, codes in zip(self.design.categories, self.codes, strict=True):
            missing[:, j] = codes[rows] <= HOLE
        return missing

    def unknown(self, rows: NDArray[np.int64]) -> Mask:
        """unknown[i, j]: whether column j of a row has a value that was never fitted."""
        unknown = np.zeros((len(rows), len(self.design.sizes)), dtype=bool)
        for j, codes in zip(self.design.categories, self.codes, strict=True):
            unknown[:, j] = codes[rows] == UNKNOWN
        return unknown


def _with_holes(
    function: LinearMap, block: _Block, rows: NDArray[np.int64], missing: Mask
) -> Float:
    """The rows with holes, all of one pattern at a time."""
    z = block.known_part(rows)
    values = np.empty((len(rows), function.weights.shape[1]))
    patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
    for which, columns in enumerate(patterns):
        chosen = pattern.ravel() == which
        offsets, weights = function.holes.functions(~columns[function.design.owner])
        values[chosen] = offsets + z[chosen] @ weights
    return values
