"""The basis of a kernel discriminant: all rows, or landmarks among them; and what rows are counted.

The directions of the feature space are sums over the rows of the basis. All that the discriminant
needs of other rows are the moments of the classes in the space of landmarks: rows as kernel values
with these. They merge, so that rows can come in blocks, from many places and in many calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

import numpy as np
from scipy.linalg import solve_triangular

from sortal.data.columns import CategoryColumn, kept
from sortal.decision.options import read_class_weight
from sortal.engines import merge_all
from sortal.errors import FormatError, InputError
from sortal.kernels.model import beyond
from sortal.kernels.primal import Features, each
from sortal.summaries.class_moments import measure_classes, moments_of_sums
from sortal.summaries.counts import (
    ClassCounts,
    DiscriminantSummary,
    RowCounts,
    count_rows,
    sizes_of,
    whole_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from sortal._typing import ClassWeight, Counts, Float, Label, Mask, Places
    from sortal.base.learner import Training
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.kernels.model import KernelFunction, KernelInputs, KernelModel
    from sortal.kernels.primal import ReportProgress

T = TypeVar("T")

# A function of a block.
Pass: TypeAlias = "Callable[[Batch], T]"  # noqa: S105  (no password)


# --- Landmark space: rows as kernel values with landmarks, and their class moments there ---------

# Rows of a class taken at a time: their kernel values are what a thread holds beside the moments.
_TILE = 8192

# Rows whose kernel values stay in the cache of a core while they are made.
_STRIP = 128

# Rows of a block, for each class and at most: to begin and to merge the moments of a class takes as
# long as some 350 rows, whatever the number of landmarks.
_ROWS_A_CLASS, _MOST_ROWS = 5_000, 50_000

# Beyond this condition of K among the landmarks, moments of kernel values would lose digits.
_WORST = 1e6

# Parts of a triangular product: 4 leave out 6 of 16 parts that are zero.
_PARTS = 4


def block_rows(n_rows: int, n_classes: int) -> int:
    """How many rows a block of the pass has, all nearly alike, so that threads end together."""
    most = min(_ROWS_A_CLASS * max(n_classes, 2), _MOST_ROWS, max(_ROWS_A_CLASS, -(-n_rows // 2)))
    n_blocks = max(1, -(-n_rows // most))
    return max(1, -(-n_rows // n_blocks))


@dataclass(frozen=True, eq=False)
class LandmarkSpace:
    """Features of a row: its kernel values with the landmarks, or L⁻¹ times these. (S 90)

    K_mm = LLᵀ are the kernel values among the landmarks. L⁻¹k(x) are coordinates in feature space,
    and keep their digits where landmarks are nearly dependent; `turned` says that they are used.
    """

    kernel: KernelFunction
    inputs: KernelInputs
    basis: Float

    @property
    def n_landmarks(self) -> int:
        """How many landmarks there are."""
        return len(self.basis)

    @cached_property
    def gram(self) -> Float:
        """K_mm."""
        made = self.kernel.matrix(self.basis, self.basis)
        return np.asarray((made + made.T) / 2)

    @cached_property
    def root(self) -> Float:
        """L."""
        try:
            return np.asarray(np.linalg.cholesky(self.gram), dtype=np.float64)
        except np.linalg.LinAlgError:  # landmarks that were drawn have a factor
            raise FormatError(
                "The landmarks of this model are not independent, so they were not drawn by a "
                "fit: the model file was changed. Fit the model again."
            ) from None

    @cached_property
    def inverse(self) -> Float:
        """L⁻¹."""
        identity = np.eye(self.n_landmarks)
        return np.asarray(solve_triangular(self.root, identity, lower=True, check_finite=False))

    @cached_property
    def turned(self) -> bool:
        """Whether features are coordinates."""
        pivots = np.diag(self.root)
        return bool((pivots.max() / pivots.min()) ** 2 > _WORST)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of the moments are called; the last is k(x, x)."""
        return (*(f"z{j + 1}" for j in range(self.n_landmarks)), "k(x,x)")

    def features(self, u: Float, out: Float | None = None) -> Float:
        """The features of a few rows, given as inputs of the kernel; in `out`, if there is one."""
        out = np.empty((len(u), self.n_landmarks)) if out is None else out
        if not self.turned:
            return self.kernel.matrix(u, self.basis, out)
        values = self.kernel.matrix(u, self.basis)
        # L⁻¹k for each row k; what is zero above the diagonal of L⁻¹ is mostly left out
        ends = np.linspace(0, self.n_landmarks, _PARTS + 1).astype(int)
        for start, stop in pairwise(ends):
            part = self.inverse[start:stop, :stop]
            np.matmul(values[:, :stop], part.T, out=out[:, start:stop])
        return out

    def from_coefs(self, matrix: Float) -> Float:
        """A quadratic form in the coefficients, as one in directions of the features."""
        return self.inverse @ matrix @ self.inverse.T if self.turned else matrix


def summarize_landmarks(space: LandmarkSpace, *, fills: bool) -> Pass[DiscriminantSummary]:
    """A pass: the summary of a block's features and of k(x, x).

    Rows with missing values are left out, unless they are filled by the means of the inputs.
    """

    def summarize(batch: Batch) -> DiscriminantSummary:
        read, units = space.inputs(batch), batch.row_units()
        keep = units > 0
        if not fills:
            keep &= ~(read.missing & ~read.unknown).any(axis=1)
        labels = batch.labels().take(keep)
        made = summarize_inputs(space, read.u[keep], labels, units[keep], batch.exponent)
        return replace(made, rows=count_rows(batch))

    return summarize


def summarize_inputs(
    space: LandmarkSpace, u: Float, labels: CategoryColumn, units: Counts, exponent: int
) -> DiscriminantSummary:
    """The summary of rows that were read before, all with weight and complete."""
    by_class = [np.flatnonzero(labels.codes == c) for c in range(len(labels.values))]
    here = np.array([len(rows) > 0 for rows in by_class], dtype=bool)
    classes = kept(labels.values, here)
    by_class = [rows for rows in by_class if len(rows)]
    copies = units if exponent == 0 else np.ones_like(units)
    sizes = ClassCounts(classes, _sums(copies, by_class))
    rows = RowCounts(int(copies.sum()), np.zeros(0, dtype=np.int64))
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond is said then
        origin, sums = _measure(space, u, by_class, units)
        weight = _sums(units, by_class)
        moments = moments_of_sums((space.names, (), ()), classes, weight, exponent, origin, sums)
    if moments is None:
        raise beyond()
    return DiscriminantSummary(rows, sizes, moments)


def _measure(
    space: LandmarkSpace, u: Float, by_class: list[Places], units: Counts
) -> tuple[Float, Float]:
    """Σ u (z, 1, ‖z‖²)(z, 1, ‖z‖²)ᵀ by class, z from an origin near the mean of the class."""
    p = space.n_landmarks + 1
    sums = np.empty((len(by_class), p + 2, p + 2))
    origin = np.empty((len(by_class), p))
    wide = np.empty((min(_TILE, max(map(len, by_class), default=0)), p + 2))
    for c, rows in enumerate(by_class):
        near = u[rows[:_STRIP]]
        own = space.kernel.diagonal(near)
        origin[c] = np.append(space.features(near).mean(axis=0), own.mean())
        for start in range(0, len(rows), _TILE):
            part = rows[start : start + _TILE]
            mine = wide[: len(part)]
            _fill(mine, space, u[part], origin[c])
            if not (units[part] == 1).all():
                mine *= np.sqrt(units[part].astype(np.float64))[:, None]
            if start == 0:
                np.matmul(mine.T, mine, out=sums[c])
            else:
                sums[c] += mine.T @ mine
    return origin, sums


def _fill(wide: Float, space: LandmarkSpace, u: Float, origin: Float) -> None:
    """(z, 1, ‖z‖²) of rows, few at a time, so that their cells stay in the cache of a core."""
    p = len(origin)
    wide[:, p - 1], wide[:, p] = space.kernel.diagonal(u), 1.0
    for start in range(0, len(u), _STRIP):
        strip = slice(start, start + _STRIP)
        z = wide[strip, :p]
        space.features(u[strip], z[:, :-1])
        z -= origin
        np.einsum("ij,ij->i", z, z, out=wide[strip, p + 1])


def _sums(units: Counts, by_class: list[Places]) -> Counts:
    return np.array([units[rows].sum() for rows in by_class], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SpaceStatistics:
    """Per class of a schema: weight v, mean features, scatter, and the mean of k(x, x)."""

    weight: Float
    means: Float
    scatter: Float
    diagonal: Float

    @property
    def diagonal_sum(self) -> float:
        """Σ v_i k(x_i, x_i)."""
        return float(self.weight @ self.diagonal)


def read_space(
    summary: DiscriminantSummary, classes: Values, class_weight: ClassWeight
) -> SpaceStatistics:
    """The statistics of a summary, classes weighted."""
    moments = summary.moments.over(classes, ())
    weight = np.ldexp(moments.units.astype(np.float64), -moments.exponent)
    means = moments.origin + moments.mean
    unit = np.ldexp(1.0, -moments.exponent)
    scatter = moments.scatter[:, :-1, :-1]
    scatter = scatter if unit == 1.0 else unit * scatter
    made = SpaceStatistics(weight, means[:, :-1], scatter, means[:, -1])
    if class_weight is None:
        return made
    factor = read_class_weight(class_weight, classes, weight)
    return replace(made, weight=weight * factor, scatter=factor[:, None, None] * scatter)


def space_features(
    stats: SpaceStatistics, space: LandmarkSpace, penalty: str, weight_of_basis: Float
) -> Features:
    """What is solved in landmark space: S_w + μK_mm, or S_w + ε diag(1/v)."""
    norm = space.from_coefs(space.gram)
    ridge = norm if penalty == "rkhs" else space.from_coefs(np.diag(1.0 / weight_of_basis))
    to_coefs = space.inverse.T if space.turned else np.eye(space.n_landmarks)
    return Features(stats.weight, stats.means, ridge, to_coefs, norm, stats.scatter)


# --- The rows of the basis, and what a fit knows of all rows -------------------------------------


@dataclass(frozen=True, eq=False)
class BasisRows:
    """Rows of a fit: inputs, places in the table, labels and weights before class weights."""

    u: Float
    ids: Counts
    labels: NDArray[np.object_]
    weight: Float

    def take(self, rows: Counts) -> BasisRows:
        """Some of them, in this order."""
        return BasisRows(self.u[rows], self.ids[rows], self.labels[rows], self.weight[rows])

    def codes(self, classes: Values) -> Counts:
        """The places of the labels among the classes."""
        place = {label: c for c, label in enumerate(classes)}
        return np.array([place[label] for label in self.labels.tolist()], dtype=np.int64)


def select_rows(*, fills: bool, without: Collection[Label] = ()) -> Pass[Mask]:
    """A pass: which rows take part: with weight, and complete unless missing values are filled.

    Rows of the classes `without` do not.
    """

    def select(batch: Batch) -> Mask:
        keep = batch.row_units() > 0
        if without:
            labels = batch.labels()
            gone = [code for code, label in enumerate(labels.values) if label in without]
            keep &= ~np.isin(labels.codes, gone)
        if not fills:
            whole = np.zeros(batch.n_rows, dtype=bool)
            whole[whole_rows(batch)] = True
            keep &= whole
        return np.asarray(keep)

    return select


def read_rows(inputs: KernelInputs, wanted: Mask) -> Pass[BasisRows]:
    """A pass: the rows that are wanted; `wanted` has a flag for each row of the table."""

    def read(batch: Batch) -> BasisRows:
        keep = wanted[batch.start : batch.start + batch.n_rows]
        taken = batch.take(keep)
        labels = taken.labels()
        values = np.array(labels.values, dtype=object)
        weight = np.ldexp(taken.row_units().astype(np.float64), -batch.exponent)
        ids = batch.start + np.flatnonzero(keep)
        return BasisRows(inputs(taken).u, ids, values[labels.codes], weight)

    return read


@dataclass(frozen=True, eq=False)
class KernelBasis:
    """The rows of the basis, and how rows are read and compared.

    `asked` is how many landmarks were asked for; 0 where all rows are the basis.
    """

    kernel: KernelFunction
    inputs: KernelInputs
    rows: BasisRows
    asked: int = 0

    @cached_property
    def space(self) -> LandmarkSpace | None:
        """Of landmarks, their space."""
        return LandmarkSpace(self.kernel, self.inputs, self.rows.u) if self.asked else None


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
    def labels(self) -> Values:
        """The classes that have weight."""
        return self.counts.labels

    @property
    def class_weights(self) -> Counts:
        """Their weights, in units."""
        return self.counts.class_weights

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
        made = summarize_inputs(basis.space, rows.u, labels, units, self.exponent)
        return KernelSummary(basis, replace(made, rows=self.rows))


def count_training(
    training: Training, basis: KernelBasis, tell: ReportProgress, *, fills: bool
) -> DiscriminantSummary:
    """Counts of the rows that take part, and of landmarks the moments in their space."""
    source, engine, select = training.source, training.engine, select_rows(fills=fills)

    def count(batch: Batch) -> DiscriminantSummary:
        """As a summary without columns."""
        rows = np.flatnonzero(select(batch))
        moments = measure_classes(
            (), (), (), batch.labels(), batch.units, batch.exponent, rows, (), (), None
        )
        assert moments is not None  # noqa: S101  (there is no column in which to overflow)
        return DiscriminantSummary(count_rows(batch), sizes_of(batch, rows), moments)

    if basis.space is None:
        return engine.reduce(source, count)
    n_classes = len(set(basis.rows.labels.tolist()))
    source = replace(source, block_rows=block_rows(source.table.n_rows, n_classes))
    blocks = engine.map(source, summarize_landmarks(basis.space, fills=fills))
    return merge_all(each(blocks, source.n_blocks, tell))


def basis_of(model: KernelModel, factor: Float) -> KernelBasis:
    """The basis of a model, whose weights of rows are without those of classes again."""
    labels = np.array(model.classes, dtype=object)
    of_rows = factor[model.codes]
    weight = model.weight_of_basis / np.where(of_rows > 0, of_rows, 1.0)
    rows = BasisRows(model.basis, model.ids, labels[model.codes], weight)
    asked = len(model.ids) if model.solver == "landmarks" else 0
    return KernelBasis(model.kernel, model.inputs, rows, asked)


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
            raise InputError(
                "The kernel is not positive: what is left of k(x, x) beside the landmarks is "
                "below 0. Use a kernel that is an inner product (rbf, laplacian, linear, poly with "
                "coef0 >= 0)."
            )
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
