"""Functions of a row: linear ones, c + (x - center)ᵀW, quadratic ones, and boundaries.

Every discriminant but the quadratic ends as linear functions: one a class or a direction. The
center is a float64 near the mean, so that an offset of 1e8 costs no digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal import native
from sortal._typing import Float
from sortal.data.columns import MISSING, UNKNOWN, Design, as_numbers, given_values
from sortal.data.table import LARGEST, infinite, too_large, two_sum
from sortal.decision.geometry import survey
from sortal.decision.posterior import across
from sortal.decision.scores import Mapped
from sortal.discriminants.gaussian import (
    GaussianClasses,
    Inverse,
    LinearParts,
    QuadraticClasses,
    Roots,
    each_pattern,
    patterns_of,
)
from sortal.errors import ParameterError, listed
from sortal.modelfile.fields import INF, check_scatter, need
from sortal.modelfile.record import limits, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Label, Mask, Places
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.decision.scores import RowFunctions
    from sortal.discriminants.gaussian import QuadraticParts


# A block's rows as terms of a design: distances from a center, and which cells have no value.


@dataclass(frozen=True, eq=False)
class TermBlock:
    """The columns of a block in the order of the loops: numbers first, then categories."""

    design: Design
    numbers: Sequence[Float]
    codes: Codes
    sizes: Sequence[int]
    n_rows: int

    @classmethod
    def of(cls, design: Design, batch: Batch) -> TermBlock:
        """A block as functions of terms read it."""
        sizes = [design.sizes[j] for j in design.categories]
        numbers, codes = design.number_arrays(batch), design.code_arrays(batch)
        return cls(design, numbers, codes, sizes, batch.n_rows)

    def center(self, rows: Counts, origin: Float, out: Float) -> int:
        """out[i] = (z, 1, ‖z‖²), z = row - origin, both in the order of the loops; missing is NaN.

        Returns how many rows are not finite.
        """
        codes = list(self.codes)
        return native.center_rows(self.numbers, codes, self.sizes, rows, origin, None, None, out)

    def known_part(self, rows: Counts, center: Float) -> Float:
        """Rows minus a center in the order of the terms, 0 where nothing is known."""
        z, origin = np.empty((len(rows), self.design.n_terms + 2)), in_loops(self.design, center)
        codes = list(self.codes)
        native.center_rows(self.numbers, codes, self.sizes, rows, origin, origin, None, z)
        return np.asarray(z[:, :-2][:, self.design.loop_order])

    def missing(self, rows: Counts) -> Mask:
        """missing[i, j]: whether column j of a row has no value or one never fitted."""
        missing = np.zeros((len(rows), len(self.design.sizes)), dtype=bool)
        for j, column in zip(self.design.numbers, self.numbers, strict=True):
            cells = column[rows]
            if (np.abs(cells) > LARGEST).any():
                name = self.design.schema.columns[j].name
                raise infinite(name) if np.isinf(cells).any() else too_large(name)
            missing[:, j] = np.isnan(cells)
        for j, codes in zip(self.design.categories, self.codes, strict=True):
            missing[:, j] = codes[rows] <= MISSING
        return missing

    def unknown(self, rows: Counts) -> Mask:
        """unknown[i, j]: whether column j of a row has a value that was never fitted."""
        unknown = np.zeros((len(rows), len(self.design.sizes)), dtype=bool)
        for j, codes in zip(self.design.categories, self.codes, strict=True):
            unknown[:, j] = codes[rows] == UNKNOWN
        return unknown

    def mapped(self, values: Float, rows: Counts, missing: Mask) -> Mapped:
        """Functions of all rows, and the missing values of those among `rows`, which have some."""
        unknown = self.unknown(rows).sum(axis=0)
        return Mapped(values, missing.sum(axis=0) - unknown, unknown)


def in_loops(design: Design, terms: Float) -> Float:
    """An array whose last axis are terms, in the order of the loops."""
    ordered = np.empty(terms.shape)  # rows side by side, whatever the order of `terms`
    ordered[..., design.loop_order] = terms
    return ordered


# --- Squared distances of a block's rows from class means, each class in a metric of its own -----

# Squares of such distances, and sums of many, are still numbers.
_FAR = 1e150


@record()
class Means:
    """Class means as center + gap[k] + tail[k]: what the float64 of a gap cannot hold is kept.

    Rows are compared with each class mean itself. So a class that is narrow keeps all its digits,
    however far away others lie.
    """

    center: Float = limits("terms")
    gap: Float = limits("classes", "terms")
    tail: Float = limits("classes", "terms")

    def squares(self, block: TermBlock, roots: Float) -> Float:
        """‖(x - μ_k)ᵀR_k‖² of all rows, a column a class; NaN where a term is not known."""
        design = block.design
        near, rest = (in_loops(design, part) for part in self.near())
        values = np.empty((block.n_rows, len(near)))
        triangles, codes = _triangles(in_loops(design, roots.transpose(0, 2, 1))), list(block.codes)
        rows = block.numbers, codes, block.sizes
        # what the machine's wider instructions do has the same digits
        native.square_rows(*rows, near, rest, triangles, wide=True, out=values)
        return values

    def near(self) -> tuple[Float, Float]:
        """The float64 nearest to each mean, and the rest."""
        near, rest = two_sum(np.broadcast_to(self.center, self.gap.shape), self.gap)
        return near, rest + self.tail

    def some_squares(
        self, block: TermBlock, rows: Counts, roots: Float, more: Float | float = 0.0
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


@record()
class ConditionalMean:
    """A term that is not known takes its mean given the known ones. (S 15)

    By the scatter `total` of all rows, whatever their class, about their mean at center + `mean`.
    """

    total: Float = limits("terms", "terms")
    mean: Float = limits("terms")
    magnitude: Float = limits("terms", least=0.0)
    weights: Float = limits("terms", "functions")
    offsets: Float = limits("functions", least=-INF)

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


@record()
class Nearest:
    """Class means, and a root that leads to where distances from them are the plain ones."""

    means: Means
    root: Float = limits("terms", "rank")

    def squares(self, block: TermBlock) -> Float:
        """Squared distances of a block's rows; NaN where a term is not known."""
        K = len(self.means.gap)
        return self.means.squares(block, np.broadcast_to(self.root, (K, *self.root.shape)))


@record()
class LinearMap:
    """offsets + (x - center)ᵀ weights, a column a function; `missing` says what to do without x.

    Where classes lie so far apart that such numbers hold no digits of a row, `nearest` gives
    functions that differ from these by a term common to all: minus half the squared distances.
    """

    design: Design
    center: Float = limits("terms")
    weights: Float = limits("terms", "functions")
    offsets: Float = limits("functions", least=-INF)
    missing: GaussianClasses | ConditionalMean = limits(functions="functions")
    nearest: Nearest | None = limits(classes="functions", default=None)

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        return map_rows(self, batch) if self.nearest is None else map_nearest(self, batch)

    def check(self) -> None:
        """Refuse a rule for missing values that gives other functions."""
        if isinstance(self.missing, GaussianClasses):
            n_functions = self.weights.shape[1]
            need(len(self.missing.weight) == n_functions, "functions that are not one a class")

    @cached_property
    def parts(self) -> LinearParts | None:
        """The functions where terms are not known, for many patterns at a time."""
        return self.missing.parts(self.design.fewer_terms)

    @property
    def size(self) -> int:
        """How many numbers rows without missing values need: K(p + 1), K functions of p terms."""
        return int(self.weights.size + self.offsets.size)

    @property
    def intercepts(self) -> Float:
        """The constants of the same functions written as c + xᵀW."""
        return np.asarray(self.offsets - self.center @ self.weights)


def map_rows(function: LinearMap, batch: Batch) -> Mapped:
    """Evaluate linear functions; rows with missing values afterwards, by their own functions."""
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
    single = function.missing.functions
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
        root, more = function.missing.ways(known, means.gap, function.nearest.root)
        these, roots = rows[places], np.broadcast_to(root, (len(means.gap), *root.shape))
        squares[these] = means.some_squares(block, these, roots, more)
    values = np.where(function.offsets > -np.inf, -0.5 * squares, -np.inf)
    return block.mapped(values, rows, missing)


# --- ln f_k(x) of Gaussian classes with their own covariances, for rows of a block ---------------


@record()
class QuadraticMap:
    """-½ ln det Σ_k - ½ ‖(x - μ_k)ᵀR_k‖², a column a class, up to a term common to all. (Bar qda)

    `missing` gives roots where only some terms are known.
    """

    design: Design
    means: Means
    whole: Roots = limits(rank="rank")
    missing: QuadraticClasses = limits(rank="rank")

    @property
    def center(self) -> Float:
        """What rows are compared with where single ones are looked at."""
        return self.means.center

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        block = TermBlock.of(self.design, batch)
        values = -0.5 * (self.means.squares(block, self.whole.roots) + self.whole.log_dets)
        # rows with missing values, and those so far from all classes that their squares are
        # infinite
        rows = np.flatnonzero(~(across(np.maximum, values) > -np.inf))
        missing = block.missing(rows)
        patterns, places = patterns_of(missing)
        unknown, parts = patterns[:, self.design.owner], self.parts if len(rows) else None
        single, cells = self.missing.functions, self.whole.roots.size
        for i, some in each_pattern(unknown, parts, single, cells):
            these = rows[places[i]]
            squares = self.means.some_squares(block, these, some.roots)
            values[these] = -0.5 * (squares + some.log_dets)
        return block.mapped(values, rows, missing)

    @cached_property
    def parts(self) -> QuadraticParts | None:
        """Roots where terms are not known, for many patterns at a time."""
        return self.missing.parts(self.design.fewer_terms)


# --- Where two classes meet: a hyperplane, or a quadric; and how costs move it -------------------


class Boundary(NamedTuple):
    """beta0 + xᵀbeta = 0; positive on the side of the first class."""

    beta0: float
    beta: Float


class QuadraticBoundary(NamedTuple):
    """beta0 + xᵀbeta + xᵀ gamma x = 0; positive on the side of the first class."""

    beta0: float
    beta: Float
    gamma: Float


def boundary(
    classes: Values, constants: Float, weights: Float, first: Label, second: Label
) -> Boundary:
    """Where the functions of two classes are equal: c_k - c_l + xᵀ(w_k - w_l) = 0."""
    k, l = pair_of(classes, constants, first, second)  # noqa: E741  (the books' letters)
    return Boundary(float(constants[k] - constants[l]), np.asarray(weights[k] - weights[l]))


def pair_of(classes: Values, constants: Float, first: Label, second: Label) -> tuple[int, int]:
    """The places of two classes between which there is a boundary."""
    strangers = [label for label in (first, second) if label not in classes]
    if strangers or first == second:
        raise ParameterError(
            f"A boundary lies between two different classes of {listed(classes)}; {first!r} and "
            f"{second!r} were given."
        )
    impossible = [c for c in (first, second) if not np.isfinite(constants[classes.index(c)])]
    if impossible:
        raise ParameterError(
            f"There is no boundary with {listed(impossible)}, to which no row belongs: a prior "
            "is 0, or a class has no rows."
        )
    return classes.index(first), classes.index(second)


def cost_shift(costs: Float, classes: Values, first: Label, second: Label) -> float:
    """ln((C_kl - C_kk) / (C_lk - C_ll)), by which costs move the log-odds of two classes. (S 57)

    Saying k costs less where P(k|x) (C_kl - C_kk) > P(l|x) (C_lk - C_ll).
    """
    k, l = pair_of(classes, np.zeros(len(classes)), first, second)  # noqa: E741
    saved_k, saved_l = costs[k, l] - costs[k, k], costs[l, k] - costs[l, l]
    if saved_k <= 0 or saved_l <= 0:
        raise ParameterError(
            f"These costs make no boundary of {first!r} and {second!r}: saying the wrong one of "
            f"the two must cost more than saying the right one, and does so by {saved_k:g} and "
            f"{saved_l:g}."
        )
    return float(np.log(saved_k) - np.log(saved_l))


# --- Passes over blocks ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CenteredRows:
    """Rows as distances from a center, 0 where nothing is known; cells as they were given.

    `values` are the functions of the rows.
    """

    values: Float
    z: Float
    missing: Mask
    unknown: Mask
    given: NDArray[Any]


def read_centered(function: RowFunctions) -> Callable[[Batch], CenteredRows]:
    """A pass for whoever looks at single rows."""

    def read(batch: Batch) -> CenteredRows:
        design, rows = function.design, np.arange(batch.n_rows)
        block = TermBlock.of(design, batch)
        missing, unknown = block.missing(rows), block.unknown(rows)
        given = np.empty((batch.n_rows, len(design.sizes)), dtype=object)
        for j in design.numbers:
            given[:, j] = as_numbers(batch.columns[j]).tolist()
        for j in design.categories:
            given[:, j] = given_values(batch.columns[j])
        given[missing & ~unknown] = None
        z = block.known_part(rows, function.center)
        return CenteredRows(function(batch).values, z, missing, unknown, given)

    return read


@dataclass(frozen=True, eq=False)
class ProjectedRows:
    """Rows of a fit along a direction, their classes and weights."""

    along: Float
    codes: Codes
    weight: Float


def project_training(
    function: LinearMap, classes: Values, with_missing: bool
) -> Callable[[Batch], ProjectedRows]:
    """A pass: projections of labeled rows.

    Rows with missing values are left out, unless the fit used them too.
    """
    place = {label: k for k, label in enumerate(classes)}

    def project(batch: Batch) -> ProjectedRows:
        mapped = function(batch)
        weights = np.ldexp(batch.row_units().astype(np.float64), -batch.exponent)
        keep = weights > 0
        if mapped.missing.any() and not with_missing:
            for column in batch.columns:
                keep &= ~column.missing()
        codes = batch.labels().recode(place)
        return ProjectedRows(mapped.values[keep, 0], codes[keep], weights[keep])

    return project
