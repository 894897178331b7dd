"""ln f_k(x) of Gaussian classes with their own covariances, for rows of a block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal import native
from sortal.models.decision import across
from sortal.models.holes import each_pattern, patterns_of
from sortal.models.layout import FromSchema, Layout
from sortal.models.layout_arrays import Array, Record
from sortal.models.quadratic_classes import QuadraticClasses, QuadraticParts, Roots
from sortal.models.term_block import TermBlock, in_loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design
    from sortal.models.term_block import Mapped

    Float = NDArray[np.float64]

# Squares of such distances, and sums of many, are still numbers.
_FAR = 1e150


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

    LAYOUT: ClassVar[Layout] = Layout(
        design=FromSchema("design"),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        whole=Record(Roots, rank="rank"),
        holes=Record(QuadraticClasses, rank="rank"),
    )

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        block = TermBlock.of(self.design, batch)
        values, rows = self._whole_rows(block)
        missing = block.missing(rows)
        z = block.known_part(rows, self.center)
        patterns, places = patterns_of(missing)
        unknown, parts = patterns[:, self.design.owner], self.parts if len(rows) else None
        single, cells = self.holes.functions, self.whole.roots.size
        for i, some in each_pattern(unknown, parts, single, cells):
            values[rows[places[i]]] = log_densities(z[places[i]], self.gap, some)
        return block.mapped(values, rows, missing)

    @cached_property
    def parts(self) -> QuadraticParts | None:
        """Roots where terms are not known, for many patterns at a time."""
        return self.holes.parts(self.design.fewer_terms)

    def _whole_rows(self, block: TermBlock) -> tuple[Float, NDArray[np.int64]]:
        """The functions of all rows, and which rows must be looked at again for their holes."""
        means = self.center + self.gap  # as far as float64 holds them, and the rest
        rests = in_loops(self.design, self.gap - (means - self.center))
        means, triangles = in_loops(self.design, means), self._triangles()
        values, codes = np.empty((block.n_rows, len(means))), list(block.codes)
        native.square_rows(block.numbers, codes, block.sizes, means, rests, triangles, values)
        values += self.whole.log_dets
        values *= -0.5
        # also rows so far from all classes that their squared distances are infinite
        return values, np.flatnonzero(~(across(np.maximum, values) > -np.inf))

    def _triangles(self) -> Float:
        """Roots turned until they are triangles, which is half the work for the same lengths."""
        roots = in_loops(self.design, self.whole.roots.transpose(0, 2, 1))
        return np.asarray(np.linalg.qr(roots, mode="r")).transpose(0, 2, 1).copy()


def log_densities(z: Float, gap: Float, some: Roots) -> Float:
    """The functions of rows z, given as distances from the center of the class means `gap`.

    Beyond 1e150 standard deviations squares are brought down to what float64 holds: what is left of
    the functions says which class is the nearest.
    """
    turned = np.stack([(z - own) @ root for own, root in zip(gap, some.roots, strict=True)], axis=1)
    far = np.abs(turned).max(axis=(1, 2), initial=0.0)
    squares = (np.square(turned / np.maximum(far / _FAR, 1.0)[:, None, None])).sum(axis=2)
    return np.asarray(-0.5 * (squares + some.log_dets))
