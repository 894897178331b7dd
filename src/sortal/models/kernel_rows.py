"""Rows as a kernel discriminant sees them, for whoever looks at single ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.models.linear_blocks import CenterBlock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.models.kernel import KernelModel

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows that are looked at one by one: inputs u, projections p, functions ln f_c.

    And which cells have no value, which of these an unknown one, and the cells as they were given.
    """

    u: Float
    projections: Float
    functions: Float
    missing: Mask
    unknown: Mask
    given: NDArray[Any]

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True, eq=False)
class ReadKernelRows:
    """Block → KernelRows."""

    model: KernelModel

    def __call__(self, batch: Batch) -> KernelRows:
        """Read one block."""
        model = self.model
        read = CenterBlock(model.coordinates)(batch)
        u, functions = model.inputs(batch).u, model.scores.of(read.values)
        return KernelRows(u, read.values, functions, read.missing, read.unknown, read.given)


def gather_kernel_rows(blocks: Sequence[KernelRows]) -> KernelRows:
    """Blocks as one."""
    return KernelRows(
        np.concatenate([block.u for block in blocks]),
        np.concatenate([block.projections for block in blocks]),
        np.concatenate([block.functions for block in blocks]),
        np.concatenate([block.missing for block in blocks]),
        np.concatenate([block.unknown for block in blocks]),
        np.concatenate([block.given for block in blocks]),
    )
