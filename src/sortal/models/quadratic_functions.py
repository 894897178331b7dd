"""ln f_k(x) of Gaussian classes with their own covariances, for rows of a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.models.term_block import TermBlock, in_loops, patterns_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design
    from sortal.models.quadratic_classes import QuadraticClasses, Roots
    from sortal.models.term_block import Mapped

    Float = NDArray[np.float64]

# Rows at a time: their distances from a class mean and the product with its root stay in the cache.
TILE_ROWS = 1024


@dataclass(frozen=True, eq=False)
class QuadraticMap:
    """-½ ln det Σ_k - ½ ‖(x - μ_k)ᵀR_k‖², a column a class, up to a term common to all. (Bar qda)

    `gap` are the class means less `center`; `holes` gives roots where only some terms are known.
    Rows are compared with each class mean itself, so that no digits go where means lie far apart.
    """

    design: Design
    center: Float
    gap: Float
    whole: Roots
    holes: QuadraticClasses

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        block = TermBlock.of(self.design, batch)
        values, rows = self._whole_rows(block)
        missing = block.missing(rows)
        z = block.known_part(rows, self.center)
        for columns, chosen in patterns_of(missing):
            some = self.holes.functions(~columns[self.design.owner])
            values[rows[chosen]] = log_densities(z[chosen], self.gap, some)
        return block.mapped(values, rows, missing)

    def _whole_rows(self, block: TermBlock) -> tuple[Float, NDArray[np.int64]]:
        """The functions of all rows, and which rows must be looked at again for their holes."""
        p, K = self.design.n_terms, len(self.gap)
        origins = in_loops(self.design, self.center + self.gap)
        roots = np.ascontiguousarray(
            in_loops(self.design, self.whole.roots.transpose(0, 2, 1)).transpose(0, 2, 1)
        )
        values, again = np.empty((block.n_rows, K)), []
        z = np.empty((TILE_ROWS, p + 2))
        y = np.empty((TILE_ROWS, roots.shape[2]))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, block.n_rows, TILE_ROWS):
                rows = np.arange(start, min(start + TILE_ROWS, block.n_rows))
                tile, turned = z[: len(rows)], y[: len(rows)]
                for k in range(K):
                    if block.center(rows, origins[k], tile) and not k:
                        again.append(rows[~np.isfinite(tile[:, -1])])
                    np.matmul(tile[:, :p], roots[k], out=turned)
                    values[rows[0] : rows[-1] + 1, k] = np.einsum("ij,ij->i", turned, turned)
            values += self.whole.log_dets
        values *= -0.5
        return values, np.concatenate(again) if again else np.empty(0, dtype=np.int64)


def log_densities(z: Float, gap: Float, some: Roots) -> Float:
    """The functions of rows z, given as distances from the center of the class means `gap`."""
    values = np.empty((len(z), len(gap)))
    for k, root in enumerate(some.roots):
        turned = (z - gap[k]) @ root
        values[:, k] = -0.5 * ((turned * turned).sum(axis=1) + some.log_dets[k])
    return values
