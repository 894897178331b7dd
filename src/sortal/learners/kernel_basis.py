"""The basis of a kernel discriminant: all rows, or landmarks among them; and what rows are counted.

The directions of the feature space are sums over the rows of the basis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal.data.columns import UNKNOWN, CategoryColumn
from sortal.learners.kernel_space import SummarizeLandmarks
from sortal.summaries.counts import count_rows
from sortal.summaries.discriminant import DiscriminantSummary, sizes_of, whole_rows
from sortal.summaries.measuring import measure_classes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.values import Values
    from sortal.learners.kernel_space import LandmarkSpace
    from sortal.models.kernel import KernelModel
    from sortal.models.kernel_functions import KernelFunction
    from sortal.models.kernel_inputs import KernelInputs
    from sortal.summaries.counts import ClassCounts, RowCounts

    Float = NDArray[np.float64]
    Int = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a fit: inputs, places in the table, labels and weights before class weights."""

    u: Float
    ids: Int
    labels: NDArray[Any]
    weight: Float

    def take(self, rows: Int) -> Rows:
        """Some of them, in this order."""
        return Rows(self.u[rows], self.ids[rows], self.labels[rows], self.weight[rows])

    def codes(self, classes: Values) -> Int:
        """The places of the labels among the classes."""
        place = {label: c for c, label in enumerate(classes)}
        return np.array([place[label] for label in self.labels.tolist()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TakingPart:
    """Block → which rows take part: those with weight, without holes unless these are filled.

    Rows of the classes `without` do not.
    """

    with_holes: bool
    without: tuple[Any, ...] = ()

    def __call__(self, batch: Batch) -> Mask:
        """Of one block."""
        keep = batch.row_units() > 0
        for label in self.without:
            keep &= batch.labels().recode({label: 0}) != 0
        if not self.with_holes:
            whole = np.zeros(batch.n_rows, dtype=bool)
            whole[whole_rows(batch)] = True
            keep &= whole
        return np.asarray(keep)


@dataclass(frozen=True, eq=False)
class GatherRows:
    """Block → those of its rows that are wanted; `wanted` has a flag for each row of the table."""

    inputs: KernelInputs
    wanted: Mask

    def __call__(self, batch: Batch) -> Rows:
        """Of one block."""
        keep = self.wanted[batch.start : batch.start + batch.n_rows]
        taken = batch.take(keep)
        labels = taken.labels()
        values = np.empty(len(labels.values), dtype=object)
        values[:] = labels.values
        weight = np.ldexp(taken.row_units().astype(np.float64), -batch.exponent)
        ids = batch.start + np.flatnonzero(keep)
        return Rows(self.inputs(taken).u, ids, values[labels.codes], weight)


def gather_rows(blocks: Iterable[Rows]) -> Rows:
    """Blocks as one."""
    parts = list(blocks)
    return Rows(
        np.concatenate([part.u for part in parts]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class KernelBasis:
    """The rows of the basis, how rows are read and compared, and, of landmarks, their space.

    `asked` is how many landmarks were asked for.
    """

    kernel: KernelFunction
    inputs: KernelInputs
    rows: Rows
    space: LandmarkSpace | None = None
    asked: int = 0

    @property
    def solver(self) -> str:
        """Dense, or landmarks."""
        return "dense" if self.space is None else "landmarks"


@dataclass(frozen=True, eq=False)
class KernelSummary:
    """What a fit knows of its rows: the basis, counts, and of landmarks the moments in their space.

    Summaries by one basis merge.
    """

    basis: KernelBasis
    counts: DiscriminantSummary

    @property
    def rows(self) -> RowCounts:
        """All rows and their holes."""
        return self.counts.rows

    @property
    def sizes(self) -> ClassCounts:
        """By class, the rows that take part."""
        return self.counts.sizes

    @property
    def labels(self) -> Values:
        """The classes that have weight."""
        return self.counts.labels

    @property
    def exponent(self) -> int:
        """The unit of weight is 2**-exponent."""
        return self.counts.exponent

    def merge(self, other: Self) -> KernelSummary:
        """The summary of both sets of rows."""
        return replace(self, counts=self.counts.merge(other.counts))

    def in_space(self, basis: KernelBasis) -> KernelSummary:
        """The same rows, all of which are the basis here, by landmarks among them."""
        assert basis.space is not None  # noqa: S101  (of landmarks)
        rows = self.basis.rows
        labels = CategoryColumn(self.labels, rows.codes(self.labels).astype(np.int32))
        units = np.ldexp(rows.weight, self.exponent).astype(np.int64)
        made = SummarizeLandmarks(basis.space, fill=True).of(rows.u, labels, units, self.exponent)
        return KernelSummary(basis, replace(made, rows=self.rows))


@dataclass(frozen=True)
class CountRows:
    """Block → counts of the rows that take part, as a summary without columns."""

    taking_part: TakingPart

    def __call__(self, batch: Batch) -> DiscriminantSummary:
        """Count one block."""
        rows = np.flatnonzero(self.taking_part(batch))
        moments = measure_classes(
            (), (), (), batch.labels(), batch.units, batch.exponent, rows, (), (), None
        )
        assert moments is not None  # noqa: S101  (there is no column in which to overflow)
        return DiscriminantSummary(count_rows(batch), sizes_of(batch, rows), moments)


def basis_of(model: KernelModel, factor: Float, space: LandmarkSpace | None) -> KernelBasis:
    """The basis of a model, whose weights of rows are without those of classes again."""
    labels = np.empty(len(model.classes), dtype=object)
    labels[:] = model.classes
    of_rows = factor[model.codes]
    weight = model.weight_of_basis / np.where(of_rows > 0, of_rows, 1.0)
    rows = Rows(model.basis, model.ids, labels[model.codes], weight)
    return KernelBasis(model.kernel, model.inputs, rows, space, len(model.ids))


@dataclass(frozen=True, eq=False)
class CountUnknown:
    """Block → by column, values that the inputs do not know."""

    inputs: KernelInputs

    def __call__(self, batch: Batch) -> Int:
        """Count one block."""
        codes = self.inputs.design.code_arrays(batch)
        found = np.zeros(len(batch.columns), dtype=np.int64)
        found[list(self.inputs.design.categories)] = (codes == UNKNOWN).sum(axis=1)
        return found
