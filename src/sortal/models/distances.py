"""Squared distances of a block's rows from class means, each class in a metric of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal import native
from sortal.data.arrays import two_sum
from sortal.models.layout import Layout
from sortal.models.layout_arrays import Array
from sortal.models.term_block import in_loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.term_block import TermBlock

    Float = NDArray[np.float64]
    Rows = NDArray[np.int64]

# Squares of such distances, and sums of many, are still numbers.
_FAR = 1e150


@dataclass(frozen=True, eq=False)
class Means:
    """Class means as center + gap[k] + tail[k]: what the float64 of a gap cannot hold is kept.

    Rows are compared with each class mean itself. So a class that is narrow keeps all its digits,
    however far away others lie.
    """

    center: Float
    gap: Float
    tail: Float

    LAYOUT: ClassVar[Layout] = Layout(
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        tail=Array("f8", "classes", "terms"),
    )

    def squares(self, block: TermBlock, roots: Float) -> Float:
        """‖(x - μ_k)ᵀR_k‖² of all rows, a column a class; NaN where a term is not known."""
        design = block.design
        near, rest = (in_loops(design, part) for part in self.near())
        values = np.empty((block.n_rows, len(near)))
        triangles, codes = _triangles(in_loops(design, roots.transpose(0, 2, 1))), list(block.codes)
        native.square_rows(block.numbers, codes, block.sizes, near, rest, triangles, values)
        return values

    def near(self) -> tuple[Float, Float]:
        """The float64 nearest to each mean, and the rest."""
        near, rest = two_sum(np.broadcast_to(self.center, self.gap.shape), self.gap)
        return near, rest + self.tail

    def some_squares(
        self, block: TermBlock, rows: Rows, roots: Float, more: Float | float = 0.0
    ) -> Float:
        """The same of some rows, by roots that are 0 for terms that are not known.

        `more` is what is added for these, in the coordinates of the roots.

        Beyond 1e150 standard deviations squares are brought down to what float64 holds: what is
        left of them says which class is the nearest.
        """
        triples = zip(*self.near(), roots, strict=True)
        turned = [(block.known_part(rows, near) - rest) @ root for near, rest, root in triples]
        ways = np.stack(turned, axis=1) + more
        far = np.abs(ways).max(axis=(1, 2), initial=0.0)
        scaled = ways / np.maximum(far / _FAR, 1.0)[:, None, None]
        return np.asarray(np.square(scaled).sum(axis=2))


def _triangles(roots: Float) -> Float:
    """Roots turned until they are triangles, which is half the work for the same lengths."""
    return np.asarray(np.linalg.qr(roots, mode="r")).transpose(0, 2, 1).copy()
