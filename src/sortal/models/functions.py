"""Linear functions of a row, c + (x - center)ᵀW, over the terms of a design; and rows with holes.

Every discriminant ends as such functions: a function a class, or a coordinate a direction. The
center is a float64 near the mean, so that an offset of 1e8 costs no digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from sortal import native
from sortal.models.checks import check_scatter, need
from sortal.models.decision import across
from sortal.models.distances import Means
from sortal.models.gaussian import GaussianClasses
from sortal.models.geometry import survey
from sortal.models.holes import Inverse, LinearParts, each_pattern, patterns_of
from sortal.models.layout import INF, FromSchema, Layout, Maybe
from sortal.models.layout_arrays import Array, OneOf, Record
from sortal.models.term_block import Mapped, TermBlock, in_loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Places = NDArray[np.intp]


class RowFunctions(Protocol):
    """Functions of rows, a column a function."""

    @property
    def design(self) -> Design:
        """The terms of a row."""

    @property
    def center(self) -> Float:
        """What rows are compared with where single ones are looked at."""

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""


class HoleRule(Protocol):
    """What becomes of linear functions where only some terms of a row are known."""

    def functions(self, known: Mask) -> tuple[Float, Float]:
        """Offsets and weights to use; the weights of unknown terms are zero."""

    def parts(self, fewer: Places) -> LinearParts | None:
        """The functions for many patterns of holes; None where each must be looked at by itself.

        `fewer` are terms from which the others follow.
        """

    def ways(self, known: Mask, gap: Float, root: Float) -> tuple[Float, Float]:
        """(R, r): where only some terms are known, (x - μ_k)ᵀR + r_k stands for (x - μ_k)ᵀroot."""


@dataclass(frozen=True, eq=False)
class ConditionalMean:
    """A term that is not known takes its mean given the known ones. (S 15)

    By the scatter `total` of all rows, whatever their class, about their mean at center + `mean`.
    """

    total: Float
    mean: Float
    magnitude: Float
    weights: Float
    offsets: Float

    LAYOUT: ClassVar[Layout] = Layout(
        total=Array("f8", "terms", "terms"),
        mean=Array("f8", "terms"),
        magnitude=Array("f8", "terms", least=0.0),
        weights=Array("f8", "terms", "functions"),
        offsets=Array("f8", "functions", least=-INF),
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.total)

    def functions(self, known: Mask) -> tuple[Float, Float]:
        """x_m = mean_m + T_mo T_oo⁺ (x_o - mean_o), put into the functions."""
        T, o, m = self.total, known, ~known
        nothing = np.zeros((1, int(o.sum())))
        sphere = survey(T[np.ix_(o, o)], nothing, self.magnitude[o]).sphere
        from_known = sphere @ (sphere.T @ (T[np.ix_(o, m)] @ self.weights[m]))
        weights = np.zeros_like(self.weights)
        weights[o] = self.weights[o] + from_known
        return self.offsets + self.mean[m] @ self.weights[m] - self.mean[o] @ from_known, weights

    def parts(self, fewer: Places) -> LinearParts | None:
        """The same for many sets of known terms: T_oo⁻¹ T_om is -Q_om Q_mm⁻¹, Q = T⁻¹."""
        nothing = np.zeros((1, len(self.total)))
        kept = survey(self.total, nothing, self.magnitude).regular(fewer)
        inverse = None if kept is None else Inverse.of(self.total, kept)
        if inverse is None:
            return None
        # the same functions of rows, whose terms lie where the others follow from those kept
        ties = self.total[:, inverse.kept] @ inverse.times(np.eye(len(inverse.kept)))
        weights = ties.T @ self.weights
        constant = self.offsets + self.mean @ self.weights
        return LinearParts(inverse, weights, constant, np.zeros_like(self.weights.T), self.mean)

    def ways(self, known: Mask, gap: Float, root: Float) -> tuple[Float, Float]:
        """The same for distances from class means, which lie at center + gap."""
        offsets, some = replace(self, weights=root, offsets=0 * root[0]).functions(known)
        return some, offsets + gap @ (some - root)


@dataclass(frozen=True, eq=False)
class Nearest:
    """Class means, and a root that leads to where distances from them are the plain ones."""

    means: Means
    root: Float

    LAYOUT: ClassVar[Layout] = Layout(means=Record(Means), root=Array("f8", "terms", "rank"))

    def squares(self, block: TermBlock) -> Float:
        """Squared distances of a block's rows; NaN where a term is not known."""
        K = len(self.means.gap)
        return self.means.squares(block, np.broadcast_to(self.root, (K, *self.root.shape)))


@dataclass(frozen=True, eq=False)
class LinearMap:
    """offsets + (x - center)ᵀ weights, a column a function; `holes` says what to do without x.

    Where classes lie so far apart that such numbers hold no digits of a row, `nearest` gives
    functions that differ from these by a term common to all: minus half the squared distances.
    """

    design: Design
    center: Float
    weights: Float
    offsets: Float
    holes: HoleRule
    nearest: Nearest | None = None

    LAYOUT: ClassVar[Layout] = Layout(
        design=FromSchema("design"),
        center=Array("f8", "terms"),
        weights=Array("f8", "terms", "functions"),
        offsets=Array("f8", "functions", least=-INF),
        holes=OneOf(
            {"gaussian": GaussianClasses, "conditional mean": ConditionalMean},
            functions="functions",
        ),
        nearest=Maybe(Record(Nearest, classes="functions")),
    )

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        return map_rows(self, batch) if self.nearest is None else map_nearest(self, batch)

    def check(self) -> None:
        """Refuse a rule for holes that gives other functions."""
        if isinstance(self.holes, GaussianClasses):
            n_functions = self.weights.shape[1]
            need(len(self.holes.weight) == n_functions, "functions that are not one a class")

    @cached_property
    def parts(self) -> LinearParts | None:
        """The functions where terms are not known, for many patterns at a time."""
        return self.holes.parts(self.design.fewer_terms)

    @property
    def size(self) -> int:
        """How many numbers rows without holes need: K(p + 1), K functions of p terms."""
        return int(self.weights.size + self.offsets.size)

    @property
    def intercepts(self) -> Float:
        """The constants of the same functions written as c + xᵀW."""
        return np.asarray(self.offsets - self.center @ self.weights)


def map_rows(function: LinearMap, batch: Batch) -> Mapped:
    """Evaluate linear functions; rows with holes afterwards, by their own functions."""
    design, block = function.design, TermBlock.of(function.design, batch)
    weights = in_loops(design, function.weights.T)
    values = np.empty((batch.n_rows, len(weights)))
    n_left = native.map_rows(
        block.numbers,
        list(block.codes),
        block.sizes,
        in_loops(design, function.center),
        weights,
        function.offsets,
        values,
    )
    rows = np.flatnonzero(np.isnan(values).all(axis=1)) if n_left else np.empty(0, dtype=np.int64)
    missing = block.missing(rows)
    z = block.known_part(rows, function.center)
    patterns, places = patterns_of(missing)
    unknown, parts = patterns[:, design.owner], function.parts if len(rows) else None
    single = function.holes.functions
    for i, (offsets, some) in each_pattern(unknown, parts, single, weights.size):
        values[rows[places[i]]] = offsets + z[places[i]] @ some
    return block.mapped(values, rows, missing)


def map_nearest(function: LinearMap, batch: Batch) -> Mapped:
    """Minus half the squared distances from class means, of which absent classes have none."""
    assert function.nearest is not None  # noqa: S101  (asked for)
    design, block = function.design, TermBlock.of(function.design, batch)
    squares, means = function.nearest.squares(block), function.nearest.means
    rows = np.flatnonzero(~np.isfinite(across(np.add, squares)))
    missing = block.missing(rows)
    for pattern, places in zip(*patterns_of(missing), strict=True):
        known = ~pattern[design.owner]
        root, more = function.holes.ways(known, means.gap, function.nearest.root)
        these, roots = rows[places], np.broadcast_to(root, (len(means.gap), *root.shape))
        squares[these] = means.some_squares(block, these, roots, more)
    values = np.where(function.offsets > -np.inf, -0.5 * squares, -np.inf)
    return block.mapped(values, rows, missing)
