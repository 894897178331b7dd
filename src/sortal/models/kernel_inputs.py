"""What a kernel is asked about: the terms of a row, moved and scaled, without holes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.models.layout import FromSchema, Layout
from sortal.models.layout_arrays import Array
from sortal.models.term_block import TermBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ReadInputs:
    """Inputs of a block, a row each; which cells have no value, which of these an unknown one."""

    u: Float
    missing: Mask
    unknown: Mask


@dataclass(frozen=True, eq=False)
class KernelInputs:
    """u = (x - shift) · factor over the terms of a design; `fill` stands for what is not known."""

    design: Design
    shift: Float
    factor: Float
    fill: Float

    LAYOUT: ClassVar[Layout] = Layout(
        design=FromSchema("design"),
        shift=Array("f8", "terms"),
        factor=Array("f8", "terms", least=0.0),
        fill=Array("f8", "terms"),
    )

    def __call__(self, batch: Batch) -> ReadInputs:
        """The inputs of a block."""
        block, rows = TermBlock.of(self.design, batch), np.arange(batch.n_rows)
        missing, unknown = block.missing(rows), block.unknown(rows)
        u = block.known_part(rows, self.shift)
        if missing.any():
            u = np.where(missing[:, self.design.owner], self.fill - self.shift, u)
        u *= self.factor
        return ReadInputs(u, missing, unknown)
