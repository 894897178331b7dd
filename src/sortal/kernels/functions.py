"""Kernels, inner products in a feature space that is never written down, and their inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.linalg import eigvalsh
from scipy.spatial.distance import cdist

from sortal.decision.options import numbers
from sortal.discriminants.linear_functions import TermBlock
from sortal.errors import InputError
from sortal.modelfile.arrays import Array
from sortal.modelfile.fields import FromSchema, Layout, Number, Whole, Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal._typing import Float, Mask
    from sortal.data.schema import Design
    from sortal.data.sources import Batch


# Kernels that are positive by their form; those of users are looked at.
NAMED = ("rbf", "poly", "linear", "laplacian")

KEPT = (*NAMED, "precomputed")  # a file cannot hold a function

# Where γ‖u‖² is larger, differences are taken: of products, digits of the exponent would be lost.
_MOST_EXPONENT = 1e5


@dataclass(frozen=True)
class KernelFunction:
    """k(u, u') of inputs u: rbf exp(-γ‖u - u'‖²), laplacian exp(-γ‖u - u'‖₁), poly
    (γ uᵀu' + coef0)^degree, linear uᵀu'; or a function of two matrices of inputs.
    """

    name: str = "rbf"
    gamma: float = 1.0
    degree: int = 2
    coef0: float = 0.0
    function: Callable[[Any, Any], Any] | None = field(default=None, compare=False)

    LAYOUT: ClassVar[Layout] = Layout(
        name=Word(KEPT),
        gamma=Number(least=0.0),
        degree=Whole(least=1),
        coef0=Number(least=0.0),
    )

    @property
    def stationary(self) -> bool:
        """Whether only differences of inputs matter, and k(u, u) = 1."""
        return self.name in ("rbf", "laplacian")

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
        if self.stationary:
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


# --- Inputs of a kernel: the terms of a row, moved and scaled, without missing values ------------


@dataclass(frozen=True, eq=False)
class ReadInputs:
    """Inputs of a block, a row each; which cells have no value, which of these an unknown one."""

    u: Float
    missing: Mask
    unknown: Mask


@dataclass(frozen=True, eq=False)
class KernelInputs:
    """u = (x - shift) · factor over the terms of a design; `fill` stands for what is not known."""

    design: Design
    shift: Float
    factor: Float
    fill: Float

    LAYOUT: ClassVar[Layout] = Layout(
        design=FromSchema("design"),
        shift=Array("f8", "terms"),
        factor=Array("f8", "terms", least=0.0),
        fill=Array("f8", "terms"),
    )

    def __call__(self, batch: Batch) -> ReadInputs:
        """The inputs of a block."""
        block, rows = TermBlock.of(self.design, batch), np.arange(batch.n_rows)
        missing, unknown = block.missing(rows), block.unknown(rows)
        u = block.known_part(rows, self.shift)
        if missing.any():
            u = np.where(missing[:, self.design.owner], self.fill - self.shift, u)
        u *= self.factor
        return ReadInputs(u, missing, unknown)


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
