"""The hyperplane between two classes whose functions are linear."""

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


def boundary(
    classes: Values, constants: Float, weights: Float, first: Any, second: Any
) -> Boundary:
    """Where the functions of two classes are equal: c_k - c_l + xᵀ(w_k - w_l) = 0."""
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
    k, l = classes.index(first), classes.index(second)  # noqa: E741  (the books' letters)
    return Boundary(float(constants[k] - constants[l]), np.asarray(weights[k] - weights[l]))
