"""ln f_k(x) of Gaussian classes with their own covariances, for rows of a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.models.term_block import TermBlock, in_loops, patterns_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design
    from sortal.models.quadratic_classes import QuadraticClasses, Roots
    from sortal.models.term_block import Mapped

    Float = NDArray[np.float64]


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
        origins = in_loops(self.design, self.center + self.gap)
        values, triangles = np.empty((block.n_rows, len(origins))), self._triangles()
        codes = list(block.codes)
        n_left = native.square_rows(block.numbers, codes, block.sizes, origins, triangles, values)
        values += self.whole.log_dets
        values *= -0.5
        none = np.empty(0, dtype=np.int64)
        return values, np.flatnonzero(np.isnan(values).all(axis=1)) if n_left else none

    def _triangles(self) -> Float:
        """Roots turned until they are triangles, which is half the work for the same lengths."""
        roots = in_loops(self.design, self.whole.roots.transpose(0, 2, 1))
        return np.asarray(np.linalg.qr(roots, mode="r")).transpose(0, 2, 1).copy()


def log_densities(z: Float, gap: Float, some: Roots) -> Float:
    """The functions of rows z, given as distances from the center of the class means `gap`."""
    values = np.empty((len(z), len(gap)))
    for k, root in enumerate(some.roots):
        turned = (z - gap[k]) @ root
        values[:, k] = -0.5 * ((turned * turned).sum(axis=1) + some.log_dets[k])
    return values
