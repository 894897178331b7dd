"""The kernel discriminant in coordinates: the linear discriminant of features, with a ridge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpocon

from sortal.decision.geometry import EPS, VARIANCE_FLOOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from sortal._typing import Float, Mask

    Codes = NDArray[np.integer]


# --- What every way of solving the kernel discriminant is given, and what it gives ---------------

# Told the share of the work that is done; what it raises ends the work.
ReportProgress = Callable[[float], object]

# An eigenvalue below this share of the largest is what rounding has left of none.
NOTHING = 1e-12


def no_progress(share: float) -> None:
    """For whoever does not want to know."""


T = TypeVar("T")

# A user's function is told how many parts are done, of so many.
ALL = 100


class StagedProgress:
    """Calls `progress(done, 100)` whenever another part is done; what it raises ends the fit."""

    def __init__(self, progress: Callable[[int, int], object] | None) -> None:
        self.progress, self.done = progress, 0

    def part(self, start: float, stop: float) -> ReportProgress:
        """For a stretch of the work, from one share of the whole to another."""
        return lambda share: self.tell(start + (stop - start) * share)

    def tell(self, share: float) -> None:
        """So much of the whole is done."""
        done = int(ALL * share + 1e-9)
        if done > self.done and self.progress is not None:
            self.done = done
            self.progress(done, ALL)


def each(items: Iterable[T], n: int, tell: ReportProgress) -> Iterator[T]:
    """Items as they come, of which there are n; how far that is, is told."""
    for i, item in enumerate(items):
        tell((i + 1) / n)
        yield item


@dataclass(frozen=True, eq=False)
class Labeled:
    """The classes of the rows that take part, as codes, and their weights v, all above 0."""

    codes: Codes
    weight: Float
    n_classes: int

    @property
    def sizes(self) -> Float:
        """n_c, the weight of each class."""
        return np.bincount(self.codes, self.weight, self.n_classes).astype(np.float64)

    @property
    def root(self) -> Float:
        """√v."""
        return np.sqrt(self.weight)

    @property
    def share(self) -> Float:
        """s = √v / √Σv, of length one."""
        return np.asarray(self.root / np.sqrt(self.weight.sum()))

    def indicators(self) -> Float:
        """Z: √v_i / √n_c in the column of the class, whose columns are orthonormal."""
        size = self.sizes
        Z = np.zeros((len(self.codes), self.n_classes))
        Z[np.arange(len(Z)), self.codes] = self.root / np.sqrt(size[self.codes])
        return Z

    def means(self, projected: Float) -> Float:
        """The mean of each class along each direction, 0 for one without rows. (ZM 20.16)"""
        safe = np.where(self.sizes > 0, self.sizes, 1.0)
        return self.sums(self.weight[:, None] * projected) / safe[:, None]

    def scatters(self, projected: Float, means: Float) -> Float:
        """s_c² of each class along each direction."""
        return self.sums(self.weight[:, None] * (projected - means[self.codes]) ** 2)

    def sums(self, parts: Float) -> Float:
        """Sums over the rows of each class, a column each."""
        made = [np.bincount(self.codes, part, self.n_classes) for part in parts.T]
        return np.stack(made, axis=1) if made else np.zeros((self.n_classes, 0))

    def without(self, centered: Float, i: int) -> Float:
        """Rows of sums of squares less by those of row i, all less the means of their classes.

        They are at right angles to the indicator z of its class: what e_i has beside z is the one
        direction that goes, and the rest of its row in the place of the others. (S 93)
        """
        own = self.indicators()[:, self.codes[i]]
        goes = -own[i] * own
        goes[i] += 1.0
        stays = goes[i]
        return centered - np.outer(goes, centered[i] / stays) if stays > 0 else centered


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients a, one direction a column, aᵀKa = 1, and what they make of the classes.

    `lengths` are √aᵀ(N + P)a, or the least that is assumed where that is zero; `means` and
    `scatters` those of the projected rows, a row a class. `condition` is an estimate for N + P.
    """

    coefs: Float
    eigenvalues: Float
    lengths: Float
    means: Float
    scatters: Float
    condition: float


def class_scale(weight: Float) -> float:
    """From λ of B = Σ n_c (μ_c - μ)(μ_c - μ)ᵀ to that of the book, where there are two classes.

    There B = (μ_1 - μ_2)(μ_1 - μ_2)ᵀ, as (ZM 20.13) has it.
    """
    if len(weight) != 2 or not weight.all():
        return 1.0
    return float(weight.sum() / weight.prod())


def orient(solution: Solution) -> Solution:
    """Directions that point from the class that sorts last to the first."""
    sign = np.where(solution.means[0] < solution.means[-1], -1.0, 1.0)
    return replace(solution, coefs=solution.coefs * sign, means=solution.means * sign)


# λ is a share of what varies within the classes: below this it says nothing.
_LEAST_EIGENVALUE = 1e-14

# How many times what rounding may have made of it a size must be, to count as one.
SURE = 4.0

# What rounding leaves of a sum of squares, as a share of the largest, for each feature.
_ROUNDED = 8 * EPS


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as features z, of which p(x) = vᵀ(z(x) + origin): means and scatters of the classes.

    A direction v costs vᵀ(ridge matrix)v, has the coefficients to_coefs v, and the squared length
    vᵀ(norm)v in feature space. Where the rows are at hand, `rows` are they, less the means of their
    classes and times √v, and `labeled` their classes: rowsᵀrows is S_w, and the rows have twice its
    digits. Else `scatter` has a matrix a class. `blur` is what rounding may have made of the root
    of the scatter along each coordinate of `flat`. `sizes` are these roots, of all rows together,
    where the features are axes already (and the ridge is the identity).
    """

    weight: Float
    means: Float
    ridge: Float
    to_coefs: Float
    norm: Float
    scatter: Float | None = None
    rows: Float | None = None
    labeled: Labeled | None = None
    blur: Float | None = None
    sizes: Float | None = None
    origin: Float | float = 0.0

    @classmethod
    def of_rows(
        cls,
        z: Float,
        rows: Labeled,
        ridge: Float,
        to_coefs: Float,
        norm: Float,
        blur: Float | None,
    ) -> Features:
        """From the rows themselves."""
        means = rows.means(z)
        from_mean = rows.root[:, None] * (z - means[rows.codes])
        parts = rows.sizes, means, ridge, to_coefs, norm
        return cls(*parts, rows=from_mean, labeled=rows, blur=blur)

    @cached_property
    def within(self) -> Float:
        """S_w, of all classes together."""
        assert self.scatter is not None  # noqa: S101  (asked for where there are no rows)
        return np.asarray(self.scatter.sum(axis=0))

    def scatters(self, v: Float) -> Float:
        """vᵀS_c v of each class c, for each direction."""
        if self.rows is not None and self.labeled is not None:
            return self.labeled.sums((self.rows @ v) ** 2)
        assert self.scatter is not None  # noqa: S101  (one of the two is there)
        return np.asarray(np.maximum(((self.scatter @ v) * v).sum(axis=1), 0.0))

    @property
    def spread(self) -> Float:
        """√n_c (μ_c - μ), a row a class."""
        mean = self.weight @ self.means / self.weight.sum()
        return np.asarray(np.sqrt(self.weight)[:, None] * (self.means - mean))

    @cached_property
    def flat(self) -> Float:
        """F with F ridge Fᵀ = I: in coordinates Fz the penalty of a direction is its length."""
        lower = cholesky(self.ridge, lower=True, check_finite=False)
        identity = np.eye(len(lower))
        return np.asarray(solve_triangular(lower, identity, lower=True, check_finite=False))

    @cached_property
    def axes(self) -> Axes:
        """The features in coordinates along which they are told apart."""
        if self.sizes is not None and self.rows is not None and self.blur is not None:
            return Axes(np.eye(len(self.sizes)), self.sizes, self.blur, self.rows, self.spread)
        rows, spread = self._flat_rows(), self.spread @ self.flat.T
        _, sizes, right = np.linalg.svd(np.vstack([rows, spread]), full_matrices=False)
        p = len(self.ridge)
        summed = np.full(p, np.sqrt(_ROUNDED * p) * sizes.max(initial=0.0))
        blur = np.sqrt(right**2 @ (summed if self.blur is None else self.blur) ** 2)
        real = sizes > SURE * blur
        X = right[real].T
        return Axes(self.flat.T @ X, sizes[real], blur[real], rows @ X, spread @ X)

    def _flat_rows(self) -> Float:
        """Rows, or as many as there are features, whose scatter is S_w in coordinates of `flat`."""
        if self.rows is not None:
            return np.asarray(self.rows @ self.flat.T)
        within = self.flat @ self.within @ self.flat.T
        values, vectors = np.linalg.eigh((within + within.T) / 2)
        return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


@dataclass(frozen=True, eq=False)
class Axes:
    """Features as XᵀFz, in which the penalty is the identity and all rows have scatter `sizes`².

    `turn` is FᵀX, by which a direction on the axes is one of the features; `rows` and `spread` are
    those of the features, on the axes. Along none of these is the scatter rounding alone.
    """

    turn: Float
    sizes: Float
    blur: Float
    rows: Float
    spread: Float


@dataclass(frozen=True, eq=False)
class Canonical:
    """Directions v on axes, with vᵀ(S_T + μI)v = 1, and their parts within and between classes.

    `inside` is vᵀ(S_w + μI)v and `between` vᵀBv, the squares of sine and cosine of an angle between
    the features and the classes. λ is infinite where nothing but rounding is inside. (S 89)
    """

    v: Float
    inside: Float
    between: Float
    eigenvalues: Float

    @property
    def apart(self) -> Mask:
        """Along which directions the means differ and no class has scatter."""
        return np.isinf(self.eigenvalues)


def canonical_directions(axes: Axes, n_classes: int, mu: float) -> Canonical:
    """The directions that show a difference of class means, λ falling; also for μ = 0. (S 89)

    Small angles are told by their sines, others by their cosines. Of directions without scatter
    within, those come first along which the means differ most for their penalty.
    """
    scale = 1.0 / np.sqrt(axes.sizes**2 + mu)
    _, cosines, right = np.linalg.svd(axes.spread * scale, full_matrices=False)
    cosines = cosines[: max(0, n_classes - 1)]
    v = scale[:, None] * right[: len(cosines)].T
    near = cosines**2 > 0.5
    small = v[:, near]
    v[:, near] = _least_first(small, np.vstack([axes.rows @ small, np.sqrt(mu) * small]))
    inside = ((axes.rows @ v) ** 2).sum(axis=0) + mu * (v**2).sum(axis=0)
    apart = inside <= ((axes.blur[:, None] * v) ** 2).sum(axis=0)
    v[:, apart] = _least_first(v[:, apart], v[:, apart])
    between = ((axes.spread @ v) ** 2).sum(axis=0)
    values = np.where(apart, np.inf, between / np.where(apart, 1.0, inside))
    largest = float(values.max(initial=0.0, where=~apart))
    real = values > max(NOTHING * largest, 0.0 if mu > 0 else _LEAST_EIGENVALUE)
    order = np.argsort(-values, kind="stable")[: int(real.sum())]
    return Canonical(v[:, order], inside[order], between[order], values[order])


def _least_first(v: Float, image: Float) -> Float:
    """v turned so that its columns have images at right angles, the shortest first."""
    _, _, turn = np.linalg.svd(image, full_matrices=False)
    return np.asarray(v @ turn[::-1].T)


def solve_features(features: Features, mu: float, most: int | None) -> Solution:
    """Bv = λ(S_w + μ ridge)v, λ falling; without a ridge the limit of a vanishing one."""
    found = _ridged(features, mu) if mu > 0 and features.rows is None else None
    v, inside, values, condition = _by_axes(features, mu) if found is None else found
    v, inside, values = v[:, :most], inside[:most], values[:most]
    size = np.sqrt(((features.norm @ v) * v).sum(axis=0))
    v = v / size
    return orient(
        Solution(
            features.to_coefs @ v,
            values * class_scale(features.weight),
            np.sqrt(inside) / size,
            (features.means + features.origin) @ v,
            features.scatters(v),
            condition,
        )
    )


def _by_axes(features: Features, mu: float) -> tuple[Float, Float, Float, float]:
    """Directions, vᵀ(S_w + μ ridge)v or the least that is assumed, λ, and a condition number."""
    axes = features.axes
    found = canonical_directions(axes, int((features.weight > 0).sum()), mu)
    scattered, least = axes.sizes**2 + mu, found.inside.min(initial=1.0, where=~found.apart)
    condition = float(scattered.max() / scattered.min() / least) if len(scattered) else 1.0
    inside = np.where(found.apart, VARIANCE_FLOOR * found.between, found.inside)
    return axes.turn @ found.v, inside, found.eigenvalues, condition


def _ridged(features: Features, mu: float) -> tuple[Float, Float, Float, float] | None:
    """Where S_w + μ ridge is LLᵀ, directions are L⁻ᵀ times singular vectors of spread L⁻ᵀ.

    None where the ridge is below rounding, and might as well vanish.
    """
    penalized = features.within + mu * features.ridge
    try:
        lower = cholesky(penalized, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    condition = condition_of(lower, float(np.abs(penalized).sum(axis=0).max()))
    if not condition * SURE**2 * _ROUNDED * len(lower) < 1.0:
        return None
    leaning = solve_triangular(lower, features.spread.T, lower=True, check_finite=False)
    left, roots, _ = np.linalg.svd(leaning, full_matrices=False)
    real = roots**2 > NOTHING * (roots[0] ** 2 if len(roots) else 0.0)
    real[max(0, int((features.weight > 0).sum()) - 1) :] = False
    v = solve_triangular(lower, left[:, real], lower=True, trans="T", check_finite=False)
    return v, np.ones(v.shape[1]), roots[real] ** 2, condition


def condition_of(lower: Float, norm: float) -> float:
    """An estimate of the condition number of LLᵀ, whose largest sum of a column is `norm`."""
    reciprocal, _ = dpocon(lower.T, norm, uplo="U")
    return float(1.0 / reciprocal) if reciprocal > 0 else np.inf
