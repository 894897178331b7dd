"""Kernels, their inputs, and the fitted model: basis rows, coefficients, classes along them."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh
from scipy.spatial.distance import cdist

from sortal._typing import Counts, Float
from sortal.data.columns import Design, Values
from sortal.decision.options import as_real, is_whole, non_negative, numbers
from sortal.decision.posterior import log_of
from sortal.decision.scores import Mapped
from sortal.discriminants.functions import TermBlock
from sortal.errors import InputError, ParameterError, brief
from sortal.modelfile.fields import INF, check_prior, need
from sortal.modelfile.record import limits, of_schema, record
from sortal.records.tables import Table

if TYPE_CHECKING:
    from sortal._typing import Mask
    from sortal.data.sources import Batch


# Kernels that have a name; those of users are functions, which a file cannot hold.
KernelName = Literal["rbf", "poly", "linear", "laplacian", "precomputed"]

# A function of two matrices of inputs gives the matrix of their kernel values.
KernelLike: TypeAlias = "KernelName | Callable[[Float, Float], ArrayLike]"

Solver = Literal["dense", "landmarks"]

Penalty = Literal["rkhs", "coefficients"]

# Where only differences of inputs matter, and k(u, u) = 1.
STATIONARY = ("rbf", "laplacian")

# Where γ‖u‖² is larger, differences are taken: of products, digits of the exponent would be lost.
_MOST_EXPONENT = 1e5


def kernel_name(kernel: KernelLike) -> str:
    """A kernel's name; of a function, that it is one."""
    return kernel if isinstance(kernel, str) else "callable"


class HasKernel(Protocol):
    """Options with a kernel."""

    kernel: KernelLike


def is_matrix(options: HasKernel) -> bool:
    """Whether tables are matrices of kernel values."""
    return kernel_name(options.kernel) == "precomputed"


@record(eq=True)
class KernelFunction:
    """k(u, u') of inputs u: rbf exp(-γ‖u - u'‖²), laplacian exp(-γ‖u - u'‖₁), poly
    (γ uᵀu' + coef0)^degree, linear uᵀu'; or a function of two matrices of inputs.
    """

    name: str = limits(among=get_args(KernelName), default="rbf")
    gamma: float = limits(least=0.0, default=1.0)
    degree: int = limits(least=1, default=2)
    coef0: float = limits(least=0.0, default=0.0)
    function: Callable[[Float, Float], ArrayLike] | None = field(default=None, compare=False)

    def matrix(self, A: Float, B: Float, out: Float | None = None) -> Float:
        """k(a, b), a row for each of A and a column for each of B; in `out`, if there is one."""
        if self.name == "rbf":
            return _gaussian(A, B, self.gamma, out)
        made = self._made(A, B)
        if out is None:
            return made
        out[...] = made
        return out

    def _made(self, A: Float, B: Float) -> Float:
        if self.name == "laplacian":
            return _exp(cdist(A, B, "cityblock"), -self.gamma)
        if self.name == "callable":
            return self._asked(A, B)
        with np.errstate(over="ignore", invalid="ignore"):  # whoever asks looks at what is infinite
            made = A @ B.T
            return np.asarray(made if self.name == "linear" else self._power(made))

    def diagonal(self, A: Float) -> Float:
        """k(a, a) of each row."""
        if self.name in STATIONARY:
            return np.ones(len(A))
        if self.name == "callable":
            return np.array([float(self._asked(a, a)[0, 0]) for a in A[:, None, :]])
        with np.errstate(over="ignore"):
            own = squares(A)
            return own if self.name == "linear" else self._power(own)

    def _power(self, products: Float) -> Float:
        """(γ uᵀu' + coef0)^degree, in the place of the products."""
        products *= self.gamma
        products += self.coef0
        return products if self.degree == 1 else products**self.degree

    def _asked(self, A: Float, B: Float) -> Float:
        """What a function of the user's says."""
        assert self.function is not None  # noqa: S101  (a file cannot hold one)
        made = numbers("kernel(U, V)", self.function(A, B))
        if made.shape != (len(A), len(B)):
            raise InputError(
                f"The kernel gave an array of the shape {made.shape} for {len(A)} and {len(B)} "
                f"rows: it must give ({len(A)}, {len(B)}) finite numbers."
            )
        return made


def beyond() -> InputError:
    """The error for kernel values that are no numbers any more."""
    return InputError(
        "Kernel values of these rows are beyond what a float64 holds: divide the columns by a "
        "constant, set scale='std', or take a smaller degree."
    )


def squares(A: Float) -> Float:
    """‖a‖² of each row."""
    return np.asarray(np.einsum("ij,ij->i", A, A))


def _gaussian(A: Float, B: Float, gamma: float, out: Float | None) -> Float:
    """exp(-γ‖a - b‖²), -γ‖a - b‖² = 2γaᵀb - γ‖a‖² - γ‖b‖² being one product of wider matrices.

    Each further pass over the exponents would cost as much as the exponential itself: so they are
    left as they come where rounding takes one above 0 by a few units of the last place.
    """
    own, other = squares(A), squares(B)
    out = np.empty((len(A), len(B))) if out is None else out
    if gamma * max(own.max(initial=0.0), other.max(initial=0.0)) > _MOST_EXPONENT:
        out[...] = cdist(A, B, "sqeuclidean")
        return _exp(out, -gamma)
    ones = np.ones((len(A), 1))
    left = np.hstack([(2.0 * gamma) * A, -gamma * own[:, None], ones])
    right = np.hstack([B, np.ones((len(B), 1)), -gamma * other[:, None]])
    np.matmul(left, right.T, out=out)
    return np.exp(out, out=out)


def _exp(exponents: Float, factor: float) -> Float:
    exponents *= factor
    return np.asarray(np.exp(exponents, out=exponents))


# --- The parameters of a kernel, as they are given ------------------------------------------------

# The largest power of 2 that float64 holds is 2^1023.
MOST_DEGREE = 1000


def check_kernel(name: str, given: object) -> object:
    """A kernel by its name, or a function."""
    names = get_args(KernelName)
    if callable(given) or (isinstance(given, str) and given in names):
        return given
    raise ParameterError(
        f"{name}={brief(given)} is not known: it can be {', '.join(map(repr, names))}, or a "
        "function of two matrices of rows."
    )


def check_width(name: str, given: object) -> float | None:
    """γ, above 0."""
    if given is None or 0 < as_real(given) < math.inf:
        return None if given is None else as_real(given)
    raise ParameterError(f"{name}={brief(given)} cannot be used: give a number above 0, or None.")


def check_degree(name: str, given: int) -> int:
    """The power of a polynomial."""
    if is_whole(given) and 1 <= given <= MOST_DEGREE:
        return int(given)
    raise ParameterError(
        f"{name}={brief(given)} cannot be used: give a whole number from 1 to {MOST_DEGREE}."
    )


def check_constant(name: str, given: object) -> float:
    """coef0, at least 0."""
    if as_real(given) < 0:
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: below 0, (γ uᵀu' + coef0)^degree is no inner "
            "product. Give a number of at least 0."
        )
    return non_negative(name, given)


# --- Inputs of a kernel: the terms of a row, moved and scaled, without missing values ------------


@dataclass(frozen=True, eq=False)
class ReadInputs:
    """Inputs of a block, a row each; which cells have no value, which of these an unknown one."""

    u: Float
    missing: Mask
    unknown: Mask


@record()
class KernelInputs:
    """u = (x - shift) · factor over the terms of a design; `fill` stands for what is not known."""

    design: Design
    shift: Float = limits("terms")
    factor: Float = limits("terms", least=0.0)
    fill: Float = limits("terms")

    def __call__(self, batch: Batch) -> ReadInputs:
        """The inputs of a block."""
        block, rows = TermBlock.of(self.design, batch), np.arange(batch.n_rows)
        missing, unknown = block.missing(rows), block.unknown(rows)
        u = block.known_part(rows, self.shift)
        if missing.any():
            u = np.where(missing[:, self.design.owner], self.fill - self.shift, u)
        u *= self.factor
        return ReadInputs(u, missing, unknown)


# --- The kernel matrix of all rows ---------------------------------------------------------------

# Told the share of the work that is done; what it raises ends the work.
ReportProgress: TypeAlias = "Callable[[float], object]"


def no_progress(share: float) -> None:
    """For whoever does not want to know."""


# Rows and columns of K that are made at a time: a tile stays in the cache of a core.
TILE = 256


def kernel_matrix(
    kernel: KernelFunction, basis: Float, threads: int, tell: ReportProgress
) -> Float:
    """K of all rows, exactly symmetric."""
    n = len(basis)
    K = np.empty((n, n))

    def fill(start: int) -> None:
        stop = min(start + TILE, n)
        for left in range(0, stop, TILE):
            right = min(left + TILE, stop)
            tile = kernel.matrix(basis[start:stop], basis[left:right])
            if left == start:
                tile = (tile + tile.T) / 2  # a product may round u'u otherwise than uu'
            K[start:stop, left:right] = tile
            K[left:right, start:stop] = tile.T

    # short strips first: the memory of K is then taken little by little, and the first word is soon
    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(fill, range(0, n, TILE))):
            tell(min(1.0, (done + 1) * TILE / n))
    K[np.diag_indices(n)] = kernel.diagonal(basis)
    return K


# --- Kernels that are not known to be positive: looked at before they are believed ---------------

# What two values that ought to be equal may differ by, as a share of the largest.
_ASYMMETRY = 1e-8

# How far below zero an eigenvalue may be by rounding, as a share of n times the largest diagonal.
_NEGATIVE = 1e-10

# The same two, of numbers in single precision.
_SINGLE = float(np.finfo(np.float32).eps)


def positive(K: Float, what: str) -> Float:
    """K, exactly symmetric; what is no matrix of inner products is refused. `what` names it.

    Numbers of single precision, whatever type they came in, may be off by so much more.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"{what} has the shape {K.shape}, and a kernel matrix is square: give k(x_i, x_j) of "
            "the rows of the fit with each other."
        )
    with np.errstate(over="ignore"):  # beyond a float32 they are none
        single = bool((K.astype(np.float32) == K).all())
    largest = float(np.abs(K).max(initial=0.0))
    off = np.abs(K - K.T)
    if float(off.max(initial=0.0)) > (_SINGLE if single else _ASYMMETRY) * largest:
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise InputError(
            f"{what} is not symmetric: k(x_{i}, x_{j}) = {K[i, j]:.6g} and k(x_{j}, x_{i}) = "
            f"{K[j, i]:.6g}. A kernel is an inner product, the same in both orders."
        )
    made = (K + K.T) / 2
    slack = (_SINGLE if single else _NEGATIVE) * len(K) * float(np.diag(made).max(initial=0.0))
    try:
        np.linalg.cholesky(made + (slack + np.finfo(float).tiny) * np.eye(len(K)))
    except np.linalg.LinAlgError:
        least = float(eigvalsh(made, subset_by_index=[0, 0])[0])
        if least >= -slack and slack > 0:
            return made
        raise InputError(
            f"{what} is not positive: its least eigenvalue is {least:.6g}, and lengths in feature "
            "space would be imaginary. Use a kernel that is an inner product (rbf, laplacian, "
            "linear, poly with coef0 >= 0), or take its negative eigenvalues off first."
        ) from None
    return made


# --- The fitted model: projections of rows on directions, and a Gaussian a class there -----------

# Kernel values that are in memory at a time, 32 MB of them, and rows that is at most.
TILE_CELLS, TILE_ROWS = 1 << 22, 4096


def rows_at_a_time(n_basis: int) -> int:
    """How many rows are asked about at a time."""
    return max(1, min(TILE_ROWS, TILE_CELLS // max(1, n_basis)))


@record()
class KernelModel:
    """Directions Σ_j a_j φ(x_j) of the feature space, one a column of `coefs`, of unit length each.

    `basis` has the inputs of the rows x_j, `ids` their places in the table of the fit, `codes`
    their classes and `weight_of_basis` their weights; a kernel matrix that was given has no inputs.
    `mu` is the weight of the penalty. `eigenvalues` are λ, `lengths` √aᵀ(N + P)a, `means` and
    `scatters` those of the projected rows of each class, whose weight is in `weight`. `divisor` is
    that of the pooled covariance. `curve` is what was tried where the ridge was chosen by leaving
    out rows.
    """

    classes: Values = of_schema()
    kernel: KernelFunction
    inputs: KernelInputs
    basis: Float = limits("basis", "inputs")
    ids: Counts = limits("basis", least=0)
    codes: Counts = limits("basis", least=0)
    weight_of_basis: Float = limits("basis", least=0.0)
    solver: str = limits(among=get_args(Solver))
    penalty: str = limits(among=get_args(Penalty))
    ridge: float = limits(least=0.0)
    mu: float = limits(least=0.0)
    coefs: Float = limits("basis", "directions")
    eigenvalues: Float = limits("directions", least=0.0, most=INF)
    lengths: Float = limits("directions", least=0.0)
    means: Float = limits("classes", "directions")
    scatters: Float = limits("classes", "directions", least=0.0)
    weight: Float = limits("classes", least=0.0)
    prior: Float = limits("classes", least=0.0)
    divisor: float = limits(least=0.0)
    condition: float = limits(least=0.0, most=INF)
    curve: Table | None = None

    def check(self) -> None:
        """Refuse, of a model from a file, what no fit could have made."""
        n_terms = self.inputs.design.n_terms
        need(self.kernel.gamma > 0, "a kernel without a width")
        given = self.kernel.name == "precomputed"
        need(self.basis.shape[1] == (0 if given else n_terms), "basis rows of other columns")
        need(not given or (self.ids < n_terms).all(), "basis rows that there are not")
        need(len(self.ids) > 0 and (self.codes < len(self.classes)).all(), "basis rows of no class")
        need(len(np.unique(self.ids)) == len(self.ids), "a basis row twice")
        need((self.lengths > 0).all() and self.divisor > 0, "a covariance of nothing")
        check_prior(self.prior)
        need(self.weight.any(), "no class with weight")
        if not given:
            with np.errstate(all="ignore"):
                own = self.kernel.diagonal(self.basis)[:, None] * self.coefs
            need(np.isfinite(own).all(), "kernel values that are too large")

    def with_basis(self, u: Float) -> Float:
        """k(x_j, x), a row for each of inputs u and a column for each row of the basis."""
        if self.kernel.name == "precomputed":
            return np.asarray(u[:, self.ids])
        return self.kernel.matrix(u, self.basis)

    def project(self, batch: Batch) -> Mapped:
        """p_q(x) = Σ_j a_jq k(x_j, x) of a block's rows, a column a direction. (ZM 20.22)"""
        values = np.empty((batch.n_rows, self.coefs.shape[1]))
        missing, unknown = np.zeros((2, len(batch.columns)), dtype=np.int64)
        step = rows_at_a_time(max(len(self.ids), self.inputs.design.n_terms))
        for start in range(0, batch.n_rows, step):
            rows = np.arange(start, min(start + step, batch.n_rows))
            read = self.inputs(batch.take(rows))
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                values[rows] = self.with_basis(read.u) @ self.coefs
            unknown += read.unknown.sum(axis=0)
            missing += read.missing.sum(axis=0)
        if not np.isfinite(values).all():
            row = batch.start + int((~np.isfinite(values)).any(axis=1).argmax())
            raise InputError(
                f"The kernel values of row {row} with those of the fit are beyond what a float64 "
                "holds: the row is in other units, or the kernel's function does not give numbers."
            )
        return Mapped(values, missing - unknown, unknown)

    def log_densities(self, projected: Float) -> Float:
        """ln f_c(x) = -½ D ‖c(x) - c_c‖² in canonical coordinates c_q = p_q / ℓ_q. (S 92)

        One Gaussian a class with the pooled covariance of the penalized problem, up to a constant
        that is common to all classes; a class without rows has density 0.
        """
        values = np.full((len(projected), len(self.weight)), -np.inf)
        for c in np.flatnonzero(self.weight > 0).tolist():
            with np.errstate(over="ignore"):
                apart = (projected - self.means[c]) / self.lengths
                values[:, c] = -0.5 * self.divisor * np.einsum("iq,iq->i", apart, apart)
        return values

    def score(self, batch: Batch) -> Mapped:
        """The same of a block's rows."""
        found = self.project(batch)
        return replace(found, values=self.log_densities(found.values))

    @property
    def log_prior(self) -> Float:
        """ln π_c."""
        return log_of(self.prior)

    @property
    def size(self) -> int:
        """How many numbers predict needs: basis rows, coefficients, and the projected means."""
        return self.basis.size + self.coefs.size + self.means.size
