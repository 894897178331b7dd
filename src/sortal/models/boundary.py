"""Where two classes meet: a hyperplane, or a quadric; and how costs move it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.errors import OptionError, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Values

    Float = NDArray[np.float64]


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
    classes: Values, constants: Float, weights: Float, first: Any, second: Any
) -> Boundary:
    """Where the functions of two classes are equal: c_k - c_l + xᵀ(w_k - w_l) = 0."""
    k, l = pair_of(classes, constants, first, second)  # noqa: E741  (the books' letters)
    return Boundary(float(constants[k] - constants[l]), np.asarray(weights[k] - weights[l]))


def public_functions(functions: Float) -> Float:
    """Functions of classes as scikit-learn has them: of two classes the second less the first."""
    return np.diff(functions, axis=0) if len(functions) == 2 else np.asarray(functions)


def pair_of(classes: Values, constants: Float, first: Any, second: Any) -> tuple[int, int]:
    """The places of two classes between which there is a boundary."""
    strangers = [label for label in (first, second) if label not in classes]
    if strangers or first == second:
        raise OptionError(
            f"A boundary lies between two different classes of {listed(classes)}; {first!r} and "
            f"{second!r} were given."
        )
    impossible = [c for c in (first, second) if not np.isfinite(constants[classes.index(c)])]
    if impossible:
        raise OptionError(
            f"There is no boundary with {listed(impossible)}, to which no row belongs: a prior "
            "is 0, or a class has no rows."
        )
    return classes.index(first), classes.index(second)


def cost_shift(costs: Float, classes: Values, first: Any, second: Any) -> float:
    """ln((C_kl - C_kk) / (C_lk - C_ll)), by which costs move the log-odds of two classes. (S 57)

    Saying k costs less where P(k|x) (C_kl - C_kk) > P(l|x) (C_lk - C_ll).
    """
    k, l = pair_of(classes, np.zeros(len(classes)), first, second)  # noqa: E741
    saved_k, saved_l = costs[k, l] - costs[k, k], costs[l, k] - costs[l, l]
    if saved_k <= 0 or saved_l <= 0:
        raise OptionError(
            f"These costs make no boundary of {first!r} and {second!r}: saying the wrong one of "
            f"the two must cost more than saying the right one, and does so by {saved_k:g} and "
            f"{saved_l:g}."
        )
    return float(np.log(saved_k) - np.log(saved_l))
