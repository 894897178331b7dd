"""ln f_k(x) of Gaussian classes with their own covariances, for rows of a block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.models.decision import across
from sortal.models.distances import Means
from sortal.models.holes import each_pattern, patterns_of
from sortal.models.layout import FromSchema, Layout
from sortal.models.layout_arrays import Record
from sortal.models.quadratic_classes import QuadraticClasses, QuadraticParts, Roots
from sortal.models.term_block import TermBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design
    from sortal.models.term_block import Mapped

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuadraticMap:
    """-½ ln det Σ_k - ½ ‖(x - μ_k)ᵀR_k‖², a column a class, up to a term common to all. (Bar qda)

    `holes` gives roots where only some terms are known.
    """

    design: Design
    means: Means
    whole: Roots
    holes: QuadraticClasses

    LAYOUT: ClassVar[Layout] = Layout(
        design=FromSchema("design"),
        means=Record(Means),
        whole=Record(Roots, rank="rank"),
        holes=Record(QuadraticClasses, rank="rank"),
    )

    @property
    def center(self) -> Float:
        """What rows are compared with where single ones are looked at."""
        return self.means.center

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        block = TermBlock.of(self.design, batch)
        values = -0.5 * (self.means.squares(block, self.whole.roots) + self.whole.log_dets)
        # rows with holes, and those so far from all classes that their squares are infinite
        rows = np.flatnonzero(~(across(np.maximum, values) > -np.inf))
        missing = block.missing(rows)
        patterns, places = patterns_of(missing)
        unknown, parts = patterns[:, self.design.owner], self.parts if len(rows) else None
        single, cells = self.holes.functions, self.whole.roots.size
        for i, some in each_pattern(unknown, parts, single, cells):
            these = rows[places[i]]
            squares = self.means.some_squares(block, these, some.roots)
            values[these] = -0.5 * (squares + some.log_dets)
        return block.mapped(values, rows, missing)

    @cached_property
    def parts(self) -> QuadraticParts | None:
        """Roots where terms are not known, for many patterns at a time."""
        return self.holes.parts(self.design.fewer_terms)
