"""What is given as an option, checked: words and numbers."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.errors import ParameterError, brief

if TYPE_CHECKING:
    from sortal._typing import Float


# Beyond it squares and products leave float64, and what stands beside such a number is lost.
LARGEST = 1e100


def choose(name: str, given: Any, allowed: tuple[str, ...], *, none: bool = False) -> str:
    """One of a few words; `none` says that None is allowed beside them."""
    if not isinstance(given, str) or given not in allowed:
        words = ", ".join(map(repr, (*allowed, None) if none else allowed))
        raise ParameterError(f"{name}={brief(given)} is not known: it can be {words}.")
    return str(given)


def check_progress(given: Any) -> None:
    """A function to be told how far a fit is, or None."""
    if given is not None and not callable(given):
        raise ParameterError(
            f"progress={brief(given)} cannot be used: give a function of two numbers, (done, of "
            "how "
            "many), or None."
        )


def as_real(given: Any) -> float:
    """A real number as float64; NaN for what is none, infinite where float64 cannot hold it."""
    if not is_whole(given) and not isinstance(given, float | np.floating):
        return math.nan
    try:
        return float(given)
    except OverflowError:  # as of 10**400
        return math.inf if given > 0 else -math.inf


def non_negative(name: str, given: Any) -> float:
    """A number of at least 0, small enough to be reckoned with."""
    if not 0 <= as_real(given) <= LARGEST:
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: give a finite number of at least 0 (and at "
            "most "
            f"{LARGEST:g})."
        )
    return as_real(given)


def share(name: str, given: Any) -> float:
    """A number from 0 to 1."""
    if not 0 <= as_real(given) <= 1:
        raise ParameterError(f"{name}={brief(given)} cannot be used: give a number from 0 to 1.")
    return as_real(given)


def is_whole(given: Any) -> bool:
    """Whether something is a whole number; truth values are not, nor are spans of time."""
    return isinstance(given, Integral) and not isinstance(given, bool | np.timedelta64)


def whole_number(name: str, given: Any, least: int, none: str = "") -> None:
    """A whole number of at least so much, or None where that has a meaning."""
    if (is_whole(given) and given >= least) or (given is None and none):
        return
    otherwise = f", or None for {none}" if none else ""
    raise ParameterError(
        f"{name}={brief(given)} cannot be used: give a whole number of at least {least}{otherwise}."
    )


def read_seed(given: Any) -> int:
    """The seed of a random_state: a number itself, 0 for None, and one drawn from a RandomState."""
    if isinstance(given, np.random.RandomState):
        return int(given.randint(2**31 - 1))
    if given is not None and not (is_whole(given) and given >= 0):
        raise ParameterError(
            f"random_state={brief(given)} cannot be used: give a whole number of at least 0, None "
            "for 0, or a numpy.random.RandomState, from which a number is drawn."
        )
    return int(given or 0)


def numbers(name: str, given: Any) -> Float:
    """Finite numbers."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # the last is that of 10**400
        array = np.array([np.nan])
    if not np.isfinite(array).all():
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: it must hold finite numbers only."
        )
    return array
