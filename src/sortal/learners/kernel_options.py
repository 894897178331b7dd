"""The options of the kernel discriminant, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sortal.data.checks import choose, is_whole, non_negative, whole_number
from sortal.errors import OptionError
from sortal.models.kernel import PENALTIES, SOLVERS
from sortal.models.kernel_functions import KEPT as KERNELS

RULES = ("gaussian", "nearest_mean")


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
            f"kernel={options.kernel!r} is not known: it can be {words}, or a function of two "
            "matrices of rows."
        )
    gamma = options.gamma
    if gamma is not None and not (_is_number(gamma) and 0 < gamma < np.inf):
        raise OptionError(f"gamma={gamma!r} cannot be used: give a number above 0, or None.")
    if not is_whole(options.degree) or options.degree < 1:
        raise OptionError(
            f"degree={options.degree!r} cannot be used: give a whole number of at least 1."
        )
    if _is_number(options.coef0) and options.coef0 < 0:
        raise OptionError(
            f"coef0={options.coef0!r} cannot be used: below 0, (γ uᵀu' + coef0)^degree is no "
            "inner product. Give a number of at least 0."
        )
    non_negative("coef0", options.coef0)


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float | np.number) and not isinstance(given, bool)


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
