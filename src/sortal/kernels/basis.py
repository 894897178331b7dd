"""The basis of a kernel discriminant: all rows, or landmarks among them; and what rows are counted.

The directions of the feature space are sums over the rows of the basis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal.data.columns import UNKNOWN, CategoryColumn
from sortal.errors import InputError
from sortal.kernels.landmark_space import SummarizeLandmarks
from sortal.summaries.counts import DiscriminantSummary, count_rows, sizes_of, whole_rows
from sortal.summaries.moments import measure_classes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Mask, Places
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.kernels.functions import KernelFunction, KernelInputs
    from sortal.kernels.landmark_space import LandmarkSpace
    from sortal.kernels.model import KernelModel
    from sortal.kernels.primal import ReportProgress
    from sortal.summaries.counts import ClassCounts, RowCounts


@dataclass(frozen=True, eq=False)
class BasisRows:
    """Rows of a fit: inputs, places in the table, labels and weights before class weights."""

    u: Float
    ids: Counts
    labels: NDArray[Any]
    weight: Float

    def take(self, rows: Counts) -> BasisRows:
        """Some of them, in this order."""
        return BasisRows(self.u[rows], self.ids[rows], self.labels[rows], self.weight[rows])

    def codes(self, classes: Values) -> Counts:
        """The places of the labels among the classes."""
        place = {label: c for c, label in enumerate(classes)}
        return np.array([place[label] for label in self.labels.tolist()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SelectRows:
    """Block → which rows take part: those with weight, complete unless missing values are filled.

    Rows of the classes `without` do not.
    """

    with_missing: bool
    without: tuple[Any, ...] = ()

    def __call__(self, batch: Batch) -> Mask:
        """Of one block."""
        keep = batch.row_units() > 0
        for label in self.without:
            keep &= batch.labels().recode({label: 0}) != 0
        if not self.with_missing:
            whole = np.zeros(batch.n_rows, dtype=bool)
            whole[whole_rows(batch)] = True
            keep &= whole
        return np.asarray(keep)


@dataclass(frozen=True, eq=False)
class GatherRows:
    """Block → those of its rows that are wanted; `wanted` has a flag for each row of the table."""

    inputs: KernelInputs
    wanted: Mask

    def __call__(self, batch: Batch) -> BasisRows:
        """Of one block."""
        keep = self.wanted[batch.start : batch.start + batch.n_rows]
        taken = batch.take(keep)
        labels = taken.labels()
        values = np.empty(len(labels.values), dtype=object)
        values[:] = labels.values
        weight = np.ldexp(taken.row_units().astype(np.float64), -batch.exponent)
        ids = batch.start + np.flatnonzero(keep)
        return BasisRows(self.inputs(taken).u, ids, values[labels.codes], weight)


def gather_rows(blocks: Iterable[BasisRows]) -> BasisRows:
    """Blocks as one."""
    parts = list(blocks)
    return BasisRows(
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
    rows: BasisRows
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
        """All rows and their missing values."""
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

    taking_part: SelectRows

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
    rows = BasisRows(model.basis, model.ids, labels[model.codes], weight)
    return KernelBasis(model.kernel, model.inputs, rows, space, len(model.ids))


@dataclass(frozen=True, eq=False)
class CountUnknown:
    """Block → by column, values that the inputs do not know."""

    inputs: KernelInputs

    def __call__(self, batch: Batch) -> Counts:
        """Count one block."""
        codes = self.inputs.design.code_arrays(batch)
        found = np.zeros(len(batch.columns), dtype=np.int64)
        found[list(self.inputs.design.categories)] = (codes == UNKNOWN).sum(axis=1)
        return found


# --- Landmarks: rows by whose kernel values all others are described -----------------------------

# Rows among which landmarks are chosen: more describe the kernel hardly better.
MOST_SAMPLED = 50_000

# Rows proposed at a time, of which some are turned down.
_PROPOSED = 200

# What is left of k(x, x), as a share, when a row counts as described by the landmarks so far.
_DESCRIBED = 1e-10

# What is left of a kernel that is none, as a share below 0 that rounding does not reach.
_BELOW = 1e-6


def choose_landmarks(
    kernel: KernelFunction, sample: Float, m: int, seed: int, tell: ReportProgress
) -> Places:
    """Up to m rows of a sample, in the order of choice, by randomly pivoted Cholesky. (S 91)

    A row is drawn with the probability of what is left of k(x, x) when its projection on the
    landmarks so far is taken off (Chen, Epperly, Tropp and Webber). Rows are drawn many at a time
    by the residuals before, and each is kept with the share of its residual that those kept
    before it leave: the outcome has the same distribution (Epperly, Tropp and Webber), and the
    work is products of matrices.
    """
    random = np.random.default_rng(seed)
    own = kernel.diagonal(sample)
    if (own < 0).any():
        raise InputError(
            "The kernel is not positive: k(x, x) is below 0 for some rows. Use a kernel that is an "
            "inner product (rbf, laplacian, linear, poly with coef0 >= 0)."
        )
    left, chosen = own.copy(), np.empty(0, dtype=np.intp)
    root = np.empty((m, len(sample)))  # K ≈ rootᵀ root, a row a landmark
    while left.any():
        proposed = random.choice(len(sample), _PROPOSED, p=left / left.sum())
        thresholds = random.random(_PROPOSED) * left[proposed]
        known, n = root[: len(chosen)], len(chosen)
        among = kernel.matrix(sample[proposed], sample[proposed])
        among -= known[:, proposed].T @ known[:, proposed]
        stay, upper = _kept(among, thresholds, _DESCRIBED * own[proposed], m - n)
        if not stay:  # what was proposed is described but for rounding
            left[proposed] = 0.0
            continue
        new = proposed[stay]
        chosen = np.append(chosen, new)
        tell(len(chosen) / m)
        if len(chosen) == m:
            break
        rows = kernel.matrix(sample[new], sample)
        rows -= known[:, new].T @ known
        more = root[n : len(chosen)]
        # NumPy's inverse, not SciPy's: that has another BLAS, whose threads then stand in the way
        np.matmul(np.linalg.inv(upper).T, rows, out=more)
        left -= np.einsum("ij,ij->j", more, more)
        if (left < -_BELOW * own).any():
            raise _not_positive()
        left[left <= _DESCRIBED * own] = 0.0
        left[new] = 0.0
    return chosen


def _kept(among: Float, thresholds: Float, floor: Float, most: int) -> tuple[list[int], Float]:
    """Which of the rows proposed stay, one after the other, by what is left of `among`; and Lᵀ,
    where LLᵀ is `among` of these.
    """
    stay: list[int] = []
    root, left = np.empty_like(among), np.diag(among).copy()  # a row of `root` for each that stays
    for i in range(len(among)):
        if left[i] > max(thresholds[i], floor[i]) and len(stay) < most:
            known = root[: len(stay)]
            new = (among[i] - known[:, i] @ known) / np.sqrt(left[i])
            root[len(stay)] = new
            left -= new * new
            stay.append(i)
    return stay, np.triu(root[: len(stay), stay])


def _not_positive() -> InputError:
    """The error for kernels that landmarks find not to be inner products."""
    return InputError(
        "The kernel is not positive: what is left of k(x, x) beside the landmarks is below 0. "
        "Use a kernel that is an inner product (rbf, laplacian, linear, poly with coef0 >= 0)."
    )
