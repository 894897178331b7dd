"""Kernels: inner products of rows in a feature space that is never written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from sortal.data.checks import numbers
from sortal.errors import InputError
from sortal.models.layout import Layout, Number, Whole, Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Float = NDArray[np.float64]

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
