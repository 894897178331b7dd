"""The kernel discriminant solved: in features of the rows, or by the dual problem.

In features the penalty of a direction is its length, and the rest is a linear discriminant with a
ridge. Where nearly as many features as rows would be needed, the dual problem costs less: a matrix
as large as K, bordered by the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.linalg.blas import dsyr2
from scipy.linalg.lapack import dpocon, dpotrf, dpstrf, dtrtri

from sortal.decision.geometry import EPS, VARIANCE_FLOOR
from sortal.engines import one_blas_thread
from sortal.kernels.model import TILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal._typing import Float, Mask
    from sortal.kernels.first_pass import Labeled


# An eigenvalue below this share of the largest is what rounding has left of none.
NOTHING = 1e-12

# λ is a share of what varies within the classes: below this it says nothing.
_LEAST_EIGENVALUE = 1e-14

# How many times what rounding may have made of it a size must be, to count as one.
_SURE = 4.0

# What rounding leaves of a sum of squares, as a share of the largest, for each feature.
_ROUNDED = 8 * EPS

# The share of aᵀKa that may be rounding.
_BLUR = 1e-9

# The root of K is thin with so many times as many rows as columns. With fewer, its singular vectors
# cost more than the dual's factor saves.
_THIN = 4


# Columns of a panel: wide enough for matrix products at full speed, and done in less than a second
# at 20,000 rows.
_PANEL = 512


# --- What every form is given, and what it gives -------------------------------------------------


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

    def along(self, most: int | None) -> Solution:
        """The first directions alone."""
        parts = "coefs", "eigenvalues", "lengths", "means", "scatters"
        return replace(self, **{name: getattr(self, name)[..., :most] for name in parts})


def _oriented(solution: Solution) -> Solution:
    """Directions that point from the class that sorts last to the first."""
    sign = np.where(solution.means[0] < solution.means[-1], -1.0, 1.0)
    return replace(solution, coefs=solution.coefs * sign, means=solution.means * sign)


def class_scale(weight: Float) -> float:
    """From λ of B = Σ n_c (μ_c - μ)(μ_c - μ)ᵀ to that of the book, where there are two classes.

    There B = (μ_1 - μ_2)(μ_1 - μ_2)ᵀ, as (ZM 20.13) has it.
    """
    if len(weight) != 2 or not weight.all():
        return 1.0
    return float(weight.sum() / weight.prod())


# --- Features: the linear discriminant with a ridge ----------------------------------------------


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as features z, of which p(x) = vᵀ(z(x) + origin): means and scatters of the classes.

    A direction v costs vᵀ(ridge)v, or its squared length where there is no such matrix; it has the
    coefficients to_coefs v, and the squared length vᵀ(norm)v in feature space. Where the rows are
    at hand, `z` are they and `labeled` their classes, which have twice the digits of a scatter;
    else `scatter` has a matrix a class. `blur` is what rounding may have made of the root of the
    scatter along each coordinate. `sizes` are these roots, of all rows together, where the
    features are axes already. `trace` is that of K, where coefficients may be sums over rows; a
    ridge is seen beside rounding above `least_ridge`.
    """

    weight: Float
    means: Float
    to_coefs: Float
    norm: Float
    ridge: Float | None = None
    scatter: Float | None = None
    z: Float | None = None
    labeled: Labeled | None = None
    blur: Float | None = None
    sizes: Float | None = None
    origin: Float | float = 0.0
    trace: float | None = None
    least_ridge: float = np.inf

    def of_rows(self, z: Float, labeled: Labeled) -> Features:
        """The same of these rows alone."""
        made = labeled.sizes, labeled.means(z)
        return replace(self, weight=made[0], means=made[1], z=z, labeled=labeled, sizes=None)

    @cached_property
    def rows(self) -> Float | None:
        """√v times the rows less the means of their classes; rowsᵀrows is S_w."""
        if self.z is None or self.labeled is None:
            return None
        away = self.z - self.means[self.labeled.codes]
        return np.asarray(self.labeled.root[:, None] * away)

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
    def away(self) -> Float:
        """μ_c - μ, a row a class."""
        return np.asarray(self.means - self.weight @ self.means / self.weight.sum())

    @property
    def spread(self) -> Float:
        """√n_c (μ_c - μ), a row a class."""
        return np.asarray(np.sqrt(self.weight)[:, None] * self.away)

    @property
    def n_classes(self) -> int:
        """Classes that have rows."""
        return int((self.weight > 0).sum())

    @cached_property
    def axes(self) -> Axes:
        """The features in coordinates along which they are told apart."""
        p = self.means.shape[1]
        if self.sizes is not None and self.rows is not None and self.blur is not None:
            return Axes(np.eye(p), self.sizes, self.blur, self.rows, self.spread)
        flat = np.eye(p) if self.ridge is None else _flattened(self.ridge)
        rows, spread = self._flat_rows(flat), self.spread @ flat
        _, sizes, right = np.linalg.svd(np.vstack([rows, spread]), full_matrices=False)
        summed = np.full(p, np.sqrt(_ROUNDED * p) * sizes.max(initial=0.0))
        blur = np.sqrt(right**2 @ (summed if self.blur is None else self.blur) ** 2)
        real = sizes > _SURE * blur
        X = right[real].T
        return Axes(flat @ X, sizes[real], blur[real], rows @ X, spread @ X)

    def _flat_rows(self, flat: Float) -> Float:
        """Rows, or as many as there are features, whose scatter is S_w in flat coordinates."""
        if self.rows is not None:
            return np.asarray(self.rows @ flat)
        values, vectors = np.linalg.eigh(flat.T @ self.within @ flat)
        return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)

    def coefs(self, v: Float, values: Float, mu: float) -> Float:
        """Coefficients of directions of unit length, with eigenvalues λ.

        With a ridge μw = Bw/λ - S_w w is a sum over rows, as in the dual problem; where rounding
        would show in it, the least coefficients are taken.
        """
        least, z, rows = self.to_coefs @ v, self.z, self.labeled
        if self.trace is None or z is None or rows is None or not mu > 0 or np.isinf(values).any():
            return least
        away = (self.away @ v / values)[rows.codes] - (z - self.means[rows.codes]) @ v
        summed = rows.root[:, None] * away / mu
        return rows.root[:, None] * summed if is_sharp(summed, 1.0, self.trace) else least


def _flattened(ridge: Float) -> Float:
    """F with Fᵀ ridge F = I: in coordinates Fᵀz the penalty of a direction is its length."""
    upper = cholesky(ridge, check_finite=False)
    return np.asarray(solve_triangular(upper, np.eye(len(upper)), check_finite=False))


def is_sharp(coefs: Float, squares: Float | float, trace: float) -> bool:
    """Whether rounding in K stays small beside aᵀKa, the squared lengths of directions.

    Where K has no eigenvalue near zero but rounding, coefficients hold 1/μ, and K ought to take
    them to 0.
    """
    return bool((EPS * trace * (coefs**2).sum(axis=0) < _BLUR * squares).all())


@dataclass(frozen=True, eq=False)
class Axes:
    """Features along which the penalty is the identity and all rows have scatter `sizes`².

    By `turn` a direction on the axes is one of the features; `rows` and `spread` are those of the
    features, on the axes. Along none of these is the scatter rounding alone.
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

    def missed(self, away: Float) -> Float:
        """What (S_w + μI)⁻¹ measures of rows beyond (S_T + μI)⁻¹, NaN for without end."""
        if self.apart.any():
            return np.full(len(away), np.nan)
        return np.asarray((away @ self.v) ** 2 @ (1.0 / self.inside - 1.0))

    @property
    def white(self) -> Float:
        """The directions with vᵀ(S_w + μI)v = 1; none where one of them cannot be so."""
        return self.v[:, :0] if self.apart.any() else self.v / np.sqrt(self.inside)


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


def solve_features(features: Features, mu: float) -> Solution:
    """Bv = λ(S_w + μ ridge)v, λ falling; without a ridge the limit of a vanishing one."""
    ridge = features.ridge
    found = _ridged(features, ridge, mu) if mu > 0 and ridge is not None else None
    v, inside, values, condition = _by_axes(features, mu) if found is None else found
    size = np.sqrt(((features.norm @ v) * v).sum(axis=0))
    v = v / size
    means = (features.means + features.origin) @ v
    return _oriented(
        Solution(
            features.coefs(v, values, mu),
            values * class_scale(features.weight),
            np.sqrt(inside) / size,
            means,
            features.scatters(v),
            condition,
        )
    )


def _by_axes(features: Features, mu: float) -> tuple[Float, Float, Float, float]:
    """Directions, vᵀ(S_w + μ ridge)v or the least that is assumed, λ, and a condition number."""
    axes = features.axes
    found = canonical_directions(axes, features.n_classes, mu)
    scattered, least = axes.sizes**2 + mu, found.inside.min(initial=1.0, where=~found.apart)
    condition = float(scattered.max() / scattered.min() / least) if len(scattered) else 1.0
    inside = np.where(found.apart, VARIANCE_FLOOR * found.between, found.inside)
    return axes.turn @ found.v, inside, found.eigenvalues, condition


def _ridged(
    features: Features, ridge: Float, mu: float
) -> tuple[Float, Float, Float, float] | None:
    """Where S_w + μ ridge is LLᵀ, directions are L⁻ᵀ times singular vectors of spread L⁻ᵀ.

    None where the ridge is below rounding, and might as well vanish.
    """
    penalized = features.within + mu * ridge
    try:
        lower = cholesky(penalized, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    condition = condition_of(lower, float(np.abs(penalized).sum(axis=0).max()))
    if not condition * _SURE**2 * _ROUNDED * len(lower) < 1.0:
        return None
    leaning = solve_triangular(lower, features.spread.T, lower=True, check_finite=False)
    left, roots, _ = np.linalg.svd(leaning, full_matrices=False)
    real = roots**2 > NOTHING * (roots[0] ** 2 if len(roots) else 0.0)
    real[max(0, features.n_classes - 1) :] = False
    v = solve_triangular(lower, left[:, real], lower=True, trans="T", check_finite=False)
    return v, np.ones(v.shape[1]), roots[real] ** 2, condition


def condition_of(lower: Float, norm: float) -> float:
    """An estimate of the condition number of LLᵀ, whose largest sum of a column is `norm`."""
    reciprocal, _ = dpocon(lower.T, norm, uplo="U")
    return float(1.0 / reciprocal) if reciprocal > 0 else np.inf


# --- One row less --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Whitened:
    """Rows less the means of their classes, and class means, where S_w + P is the identity.

    Coordinates are those along which class means differ. `missed` is, of each row, 1 - v / n_g less
    v times its squared length along all. (S 93)
    """

    rows: Float
    means: Float
    missed: Float


# --- The dual problem: one Cholesky factor, and matrices of the classes --------------------------
# With √v_i k(x_i, x_j) √v_j as K and the orthonormal indicators Z of the classes, the rows less
# the means of their classes are those of (I - ZZᵀ)K: centering is bordering by Z, and nothing but
# (K + μI)⁻¹Z is ever asked for.


@dataclass(frozen=True, eq=False)
class Dual:
    """R = (K + μI)⁻¹Z, Q = ZᵀR and, for leaving out, the diagonal of (K + μI)⁻¹."""

    labeled: Labeled
    mu: float
    R: Float
    Q: Float
    condition: float
    diagonal: Float

    @classmethod
    def of(
        cls, K: Float, labeled: Labeled, mu: float, norm: float, *, diagonal: bool
    ) -> Dual | None:
        """By Cholesky, in the lower triangle of K; None where it has no factor."""
        K[np.diag_indices(len(K))] += mu
        if not factor(K):
            return None
        Z = labeled.indicators()
        Y = solve_triangular(K, Z, lower=True, check_finite=False)
        R = solve_triangular(K, Y, lower=True, trans="T", check_finite=False)
        condition = condition_of(K, norm + mu)
        inverse = _inverse_diagonal(K) if diagonal else np.empty(0)
        return cls(labeled, mu, R, Y.T @ Y, condition, inverse)

    @cached_property
    def canonical(self) -> tuple[Float, Float, Float]:
        """Ma = λ(N + μK)a by a C × C eigenproblem, C being the classes: λ, a and Ka. (ZM 20.21)

        With Q = Zᵀ(K + μI)⁻¹Z the class means have, by (S_w + μI)⁻¹, the inner products
        T = (μQ)⁻¹ - I, each times √(n_c n_d); less their mean, the eigenvectors b of T are the
        canonical directions, with the eigenvalues λ. (S 86) The coefficients are
        a = (K + μI)⁻¹Z Q⁻¹b / (μ√λ), and the projections (Z - μR)Q⁻¹b / (μ√λ). (S 87)
        """
        mu, sizes = self.mu, self.labeled.sizes
        here = sizes > 0
        share = np.sqrt(sizes[here] / sizes.sum())
        inverse = np.linalg.inv(self.Q[np.ix_(here, here)])
        T = inverse / mu - np.eye(len(share))
        H = np.eye(len(share)) - np.outer(share, share)
        values, vectors = np.linalg.eigh(H @ ((T + T.T) / 2) @ H)
        values, vectors = values[::-1], vectors[:, ::-1]
        noise = NOTHING * max(values.max(initial=0.0), NOTHING * np.abs(inverse / mu).max())
        n_real = min(int((values > noise).sum()), len(share) - 1)
        values, vectors = values[:n_real], H @ vectors[:, :n_real]
        weights = inverse @ vectors / (mu * np.sqrt(values))
        R, Z = self.R[:, here], self.labeled.indicators()[:, here]
        return values, R @ weights, (Z - mu * R) @ weights

    def is_sharp(self, trace: float) -> bool:
        """Whether its coefficients hold digits, `trace` being that of K."""
        _, coefs, fitted = self.canonical
        return is_sharp(coefs, (coefs * fitted).sum(axis=0), trace)

    def solution(self) -> Solution:
        """The directions."""
        (values, coefs, fitted), labeled = self.canonical, self.labeled
        root, norms = labeled.root[:, None], np.sqrt((coefs * fitted).sum(axis=0))
        projected = fitted / norms / root
        means = labeled.means(projected)
        scatters = labeled.sums((root * (projected - means[labeled.codes])) ** 2)
        return _oriented(
            Solution(
                coefs / norms * root,
                values * class_scale(labeled.sizes),
                1.0 / norms,
                means,
                scatters,
                self.condition,
            )
        )

    def whitened(self) -> Whitened:
        """A row of class g less its mean is e_i - z_g√(v/n_g) of the orthonormal rows, over √v.

        By (S_w + μI)⁻¹ its squared length is (1 - v/n_g - μP_ii) / v, P = M⁻¹ - RQ⁻¹Rᵀ, M = K + μI.
        """
        here = self.labeled.sizes > 0
        R = self.R[:, here]
        turned = R @ np.linalg.inv(self.Q[np.ix_(here, here)])
        missed = self.mu * (self.diagonal - (turned * R).sum(axis=1))
        p = self.canonical[2] / self.labeled.root[:, None]
        means = self.labeled.means(p)
        return Whitened(p - means[self.labeled.codes], means, missed)


def factor(A: Float) -> bool:
    """A = LLᵀ in the lower triangle; False where there is none.

    Panel by panel from the left, so that Ctrl-C is heard in between: of each panel, what the panels
    before it explain is taken off in one product of matrices.
    """
    n = len(A)
    for start in range(0, n, _PANEL):
        stop = min(start + _PANEL, n)
        known, lower = A[start:stop, :start], np.tril_indices(stop - start)
        corner, info = dpotrf(A[start:stop, start:stop] - known @ known.T, lower=1)
        if info:
            return False
        A[start:stop, start:stop][lower] = corner[lower]
        below = A[stop:, start:stop] - A[stop:, :start] @ known.T
        A[stop:, start:stop] = solve_triangular(corner, below.T, lower=True, check_finite=False).T
    return True


def _inverse_diagonal(L: Float) -> Float:
    """The diagonal of (LLᵀ)⁻¹, of which L is overwritten: sums of squares in rows of L⁻ᵀ."""
    upper = L.T  # LAPACK reads columns, in which this is the upper triangle
    inverse, info = dtrtri(upper, lower=0, overwrite_c=1)
    assert info == 0  # noqa: S101  (pivots are above 0)
    return np.array([float(row[i:] @ row[i:]) for i, row in enumerate(inverse)])


# --- The form in which all rows are solved -------------------------------------------------------
# With √v_i k(x_i, x_j) √v_j as K and s = √v / √Σv, the rows less their mean are those of (I -
# ssᵀ)K. What all rows share is taken off before ranks are decided: it may be large, and nothing
# varies along it. What is left and no larger than the rounding of K itself is none.


def solved_form(
    make: Callable[[], Float],
    labeled: Labeled,
    penalty: str,
    mu: float | None,
    *,
    diagonal: bool = False,
) -> Dual | Features:
    """Features where the root of K is thin, and for what the dual cannot do.

    That is a penalty of coefficients, several ridges (`mu` is None), none, or one beside which the
    rounding of K shows. `make` gives the kernel matrix, which is used up.
    """
    by_length, root = penalty == "rkhs", labeled.root
    K = _weighed(make(), root)
    own, n = np.diag(K).copy(), len(K)
    rounding = n * EPS * float(own.max())
    norm = max(float(np.abs(K[i : i + TILE]).sum(axis=1).max()) for i in range(0, n, TILE))
    mean = K @ labeled.share
    if by_length:
        _center(K, mean, labeled.share)
    F = _thin_root(K, rounding)
    if F is not None:
        with one_blas_thread():  # several wait for each other most of the time
            vectors, sizes, _ = np.linalg.svd(F, full_matrices=False)
        return _features(labeled, by_length, sizes**2, vectors, mean, rounding, float(own.sum()))
    if by_length and mu is not None and mu > rounding:
        K[np.diag_indices(n)] = own
        dual = Dual.of(K, labeled, mu, norm, diagonal=diagonal)
        if dual is not None and dual.is_sharp(float(own.sum())):
            return dual
    K = _weighed(make(), root)
    if by_length:
        _center(K, mean, labeled.share)
    values, vectors = eigh(K.T, lower=True, overwrite_a=True, check_finite=False)
    return _features(labeled, by_length, values, vectors, mean, rounding, float(own.sum()))


def _weighed(K: Float, root: Float) -> Float:
    """√v_i K_ij √v_j, in place."""
    if not (root == 1.0).all():
        K *= root
        K *= root[:, None]
    return K


def _center(K: Float, mean: Float, s: Float) -> None:
    """The upper triangle of (I - ssᵀ)K(I - ssᵀ), in place; the lower one stays."""
    off = mean - (s @ mean) / 2 * s
    dsyr2(-1.0, s, off, a=K.T, lower=1, overwrite_a=1)


def _thin_root(K: Float, rounding: float) -> Float | None:
    """F with K = FFᵀ, of the upper triangle of K, where it is thin."""
    # every third row tells mostly, and in little time, that there are more
    for part in (np.array(K[::3, ::3]), K):
        root, order, rank, _ = dpstrf(part.T, tol=rounding, lower=1, overwrite_a=1)
        if rank > len(K) // _THIN:
            return None
    F = np.empty((len(K), rank))
    F[order - 1] = np.tril(root[:, :rank])
    return F


def _features(
    labeled: Labeled,
    by_length: bool,
    values: Float,
    vectors: Float,
    mean: Float,
    rounding: float,
    trace: float,
) -> Features:
    """Features of eigenvalues and eigenvectors of K, which is centered where w is penalized.

    What is penalized is the length of w, or that of the coefficients: the features are then kernel
    values, less their means over the rows. (S 88)
    """
    s, root = labeled.share, labeled.root
    noise = rounding + 16 * EPS * float(values.max(initial=0.0))
    real = values > _SURE * noise
    k, V = values[real], vectors[:, real]
    if by_length:
        U = V - np.outer(s, s @ V)  # what is left of s by rounding meets all that the rows share
        sizes = np.sqrt(k)
        to_coefs, norm = U / sizes, np.eye(len(k))
        origin, blur = mean @ to_coefs, noise / sizes + len(U) * EPS * sizes
    else:
        shared = V.T @ s
        U, sizes, turn = np.linalg.svd((V - np.outer(s, shared)) * k, full_matrices=False)
        real = sizes > _SURE * noise
        U, sizes, turn = U[:, real], sizes[real], turn[real]
        to_coefs, norm = V @ turn.T, (turn * k) @ turn.T
        origin, blur = turn @ (k * shared), noise + len(U) * EPS * sizes
    z = U * sizes / root[:, None]
    return Features(
        labeled.sizes,
        labeled.means(z),
        root[:, None] * to_coefs,
        norm,
        z=z,
        labeled=labeled,
        blur=blur,
        sizes=sizes,
        origin=origin / np.sqrt(labeled.weight.sum()),
        trace=trace if by_length else None,
        least_ridge=noise if by_length else noise**2,
    )
