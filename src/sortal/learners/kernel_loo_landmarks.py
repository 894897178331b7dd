"""Leave one out in landmark space: the kernel discriminant among those that summaries give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import NumberColumn
from sortal.data.schema import ColumnSchema, Schema
from sortal.learners.discriminant import read_statistics
from sortal.learners.kernel_left import PrimalBase
from sortal.learners.leave_out import read_fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.values import Values
    from sortal.learners.discriminant import ClassStatistics
    from sortal.learners.kernel_primal import Features
    from sortal.learners.kernel_space import LandmarkSpace
    from sortal.learners.leave_out import Fitted, Left
    from sortal.summaries.discriminant import DiscriminantSummary

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LandmarkLeaveOut:
    """What calculates densities in landmark space without a row, for several penalties.

    `features` gives what is solved there its ridge; see `learners.leave_out.Kernel`.
    """

    features: Features
    penalties: tuple[float, ...]
    most: int | None

    def prepare(self, stats: ClassStatistics) -> PrimalBase:
        """All rows, in the coordinates of the landmarks."""
        made = replace(
            self.features, weight=stats.weight, means=stats.means, scatter=stats.within[None]
        )
        return PrimalBase(made)

    def densities(
        self, base: PrimalBase, g: int, u: Float, left: Left
    ) -> list[tuple[Float, NDArray[np.bool_]]]:
        """-½ D d² without each row; every row is safe."""
        divisor, safe = left.pooled_divisor("unbiased"), np.zeros(len(u), dtype=bool)
        return [
            (-0.5 * divisor * base.squares(u, g, left, mu, self.most), safe)
            for mu in self.penalties
        ]


@dataclass(frozen=True, eq=False)
class OnLandmarks:
    """Block → what `ask` says of the same block with the features of its rows as columns.

    Rows with holes become rows of holes, unless `fill` says that the inputs have means for them.
    """

    space: LandmarkSpace
    fill: bool
    ask: Callable[[Batch], Any]

    def __call__(self, batch: Batch) -> Any:
        """Ask one block."""
        read = self.space.inputs(batch)
        z = self.space.features(read.u)
        if not self.fill:
            z[(read.missing & ~read.unknown).any(axis=1)] = np.nan
        columns = tuple(NumberColumn(column) for column in np.ascontiguousarray(z.T))
        return self.ask(replace(batch, columns=columns, matrix=None))


def space_fitted(
    summary: DiscriminantSummary, classes: Values, class_weight: Any, prior: Float | None
) -> Fitted:
    """The statistics of landmark space, without k(x, x), ready to lose a row."""
    m = summary.moments
    short = replace(
        m,
        numbers=m.numbers[:-1],
        origin=m.origin[:, :-1],
        mean=m.mean[:, :-1],
        scatter=m.scatter[:, :-1, :-1],
        third=m.third[:, :-1],
        slack=np.delete(m.slack, -2, axis=1),
    )
    schema = Schema(tuple(ColumnSchema(name, "number") for name in short.numbers), classes)
    stats = read_statistics(replace(summary, moments=short), schema)
    return read_fitted(stats, class_weight, prior, summary.exponent)
