"""The options of the kernel discriminant, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sortal.data.checks import as_real, choose, is_whole, non_negative, whole_number
from sortal.errors import OptionError, told
from sortal.models.kernel import PENALTIES, SOLVERS
from sortal.models.kernel_functions import KEPT as KERNELS

RULES = ("gaussian", "nearest_mean")
# The largest power of 2 that float64 holds is 2^1023.
MOST_DEGREE = 1000


@dataclass(frozen=True)
class KernelOptions:
    """Checked options; `fills` says that rows with holes take part."""

    kernel: Any = "rbf"
    gamma: Any = None
    degree: Any = 2
    coef0: Any = 0.0
    scale: Any = "auto"
    ridge: Any = None
    penalty: str = "rkhs"
    rule: str = "gaussian"
    n_components: Any = None
    solver: str = "auto"
    n_landmarks: Any = None
    random_state: int = 0
    priors: Any = None
    class_weight: Any = None
    fills: bool = False

    def __post_init__(self) -> None:
        _check_kernel(self)
        if self.scale is not None:
            choose("scale", self.scale, ("auto", "std"), none=True)
        _check_ridge(self.ridge)
        choose("penalty", self.penalty, PENALTIES)
        choose("rule", self.rule, RULES)
        choose("solver", self.solver, ("auto", *SOLVERS))
        whole_number("n_components", self.n_components, 1, none="as many as there are")
        whole_number("n_landmarks", self.n_landmarks, 1, none="1000, or all rows if fewer")
        whole_number("random_state", self.random_state, 0)
        if self.rule == "nearest_mean" and self.priors is not None:
            raise priorless()
        if self.name == "precomputed" and self.solver == "landmarks":
            raise OptionError(
                "solver='landmarks' needs rows, and kernel='precomputed' has none: set "
                "solver='dense'."
            )

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel if isinstance(self.kernel, str) else "callable"

    @property
    def scales(self) -> bool:
        """Whether number terms are divided by their standard deviation."""
        return self.scale == "std" or (self.scale == "auto" and self.stationary)

    @property
    def stationary(self) -> bool:
        """Whether only differences of inputs matter."""
        return self.name in ("rbf", "laplacian")

    @property
    def chooses(self) -> bool:
        """Whether the ridge is chosen by leaving out rows."""
        return isinstance(self.ridge, str)

    def reads(self) -> tuple[Any, ...]:
        """What says how rows are read; rows that were read otherwise cannot be joined.

        Landmarks are those of the first call, so that its random state is of no account later.
        """
        return (
            *(self.kernel, self.gamma, self.degree, self.coef0, self.scale, self.solver),
            self.n_landmarks,
        )


def _check_kernel(options: KernelOptions) -> None:
    known = isinstance(options.kernel, str) and options.kernel in KERNELS
    if not known and not callable(options.kernel):
        words = ", ".join(map(repr, KERNELS))
        raise OptionError(
            f"kernel={told(options.kernel)} is not known: it can be {words}, or a function of two "
            "matrices of rows."
        )
    gamma = options.gamma
    if gamma is not None and not 0 < as_real(gamma) < math.inf:
        raise OptionError(f"gamma={told(gamma)} cannot be used: give a number above 0, or None.")
    if not is_whole(options.degree) or not 1 <= options.degree <= MOST_DEGREE:
        raise OptionError(
            f"degree={told(options.degree)} cannot be used: give a whole number from 1 to "
            f"{MOST_DEGREE}."
        )
    if as_real(options.coef0) < 0:
        raise OptionError(
            f"coef0={told(options.coef0)} cannot be used: below 0, (γ uᵀu' + coef0)^degree is no "
            "inner product. Give a number of at least 0."
        )
    non_negative("coef0", options.coef0)


def _check_ridge(given: Any) -> None:
    if isinstance(given, str) and given != "loo":
        raise OptionError(
            f"ridge={given!r} is not known: it can be a number of at least 0, 'loo', or None."
        )
    if given is not None and not isinstance(given, str):
        non_negative("ridge", given)


def priorless() -> OptionError:
    """The error for priors of a rule that has none."""
    return OptionError(
        "priors cannot be given with rule='nearest_mean', in which all classes count alike: set "
        "rule='gaussian', or priors=None."
    )
