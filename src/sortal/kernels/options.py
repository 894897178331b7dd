"""Options of the kernel discriminant, checked; the size of its basis; progress of a fit."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sortal.decision.options import as_real, is_whole, non_negative, whole_number
from sortal.errors import InputError, ParameterError, agreed, brief, choose, counted
from sortal.kernels.basis import MOST_SAMPLED
from sortal.kernels.functions import KEPT as KERNELS
from sortal.kernels.model import PENALTIES, SOLVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

RULES = ("gaussian", "nearest_mean")

# The largest power of 2 that float64 holds is 2^1023.
MOST_DEGREE = 1000


@dataclass(frozen=True)
class KernelOptions:
    """Checked options; `fills` says that rows with missing values take part."""

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
            raise ParameterError(
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
        raise ParameterError(
            f"kernel={brief(options.kernel)} is not known: it can be {words}, or a function of two "
            "matrices of rows."
        )
    gamma = options.gamma
    if gamma is not None and not 0 < as_real(gamma) < math.inf:
        raise ParameterError(
            f"gamma={brief(gamma)} cannot be used: give a number above 0, or None."
        )
    if not is_whole(options.degree) or not 1 <= options.degree <= MOST_DEGREE:
        raise ParameterError(
            f"degree={brief(options.degree)} cannot be used: give a whole number from 1 to "
            f"{MOST_DEGREE}."
        )
    if as_real(options.coef0) < 0:
        raise ParameterError(
            f"coef0={brief(options.coef0)} cannot be used: below 0, (γ uᵀu' + coef0)^degree is no "
            "inner product. Give a number of at least 0."
        )
    non_negative("coef0", options.coef0)


def _check_ridge(given: Any) -> None:
    if isinstance(given, str) and given != "loo":
        raise ParameterError(
            f"ridge={given!r} is not known: it can be a number of at least 0, 'loo', or None."
        )
    if given is not None and not isinstance(given, str):
        non_negative("ridge", given)


def priorless() -> ParameterError:
    """The error for priors of a rule that has none."""
    return ParameterError(
        "priors cannot be given with rule='nearest_mean', in which all classes count alike: set "
        "rule='gaussian', or priors=None."
    )


# --- Sizes: whether all rows can be the basis, how many landmarks, and among how many rows -------

# Up to so many rows all of them are the basis, where nothing else is asked for.
MOST_DENSE = 10_000

# Landmarks, where nothing else is asked for.
DEFAULT_LANDMARKS = 1000

# Landmarks are chosen among 5 times as many rows, and among so many at least.
_LEAST_SAMPLED = 5_000

# Kernel matrices that are in memory at a time: Cholesky works in place, eigenvectors do not.
_BY_CHOLESKY, _BY_EIGENVECTORS, _LOOKED_AT = 1, 12, 6

_GB = 2.0**30


def resolve_solver(options: KernelOptions, n: int) -> str:
    """Dense up to 10,000 rows where memory allows, unless another is asked for."""
    if options.name == "precomputed":
        return "dense"
    if options.solver != "auto":
        return options.solver
    if options.n_landmarks is not None:  # who counts them wants them
        return "landmarks"
    there = free_memory()
    fits = there is None or needed_memory(options, n) <= there
    return "dense" if n <= MOST_DENSE and fits else "landmarks"


def refuse_memory(options: KernelOptions, n: int) -> None:
    """A kernel matrix that does not fit is refused before it is made."""
    there, need = free_memory(), needed_memory(options, n)
    if there is not None and need > there:
        raise InputError(
            f"The kernel matrix of {counted(n, 'row')} needs {need / _GB:.1f} GB of memory, and "
            f"there are {there / _GB:.1f} GB: use solver='landmarks', or give fewer rows."
        )


def needed_memory(options: KernelOptions, n: int) -> float:
    """Bytes that a dense fit takes at its height."""
    by_eigenvectors = options.penalty == "coefficients" or options.chooses or options.ridge == 0
    matrices = _BY_EIGENVECTORS if by_eigenvectors else _BY_CHOLESKY
    if options.name in ("callable", "precomputed"):
        matrices = max(matrices, _LOOKED_AT)
    return 8.0 * n * n * matrices


def free_memory() -> float | None:
    """Bytes that programs can still have; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def count_landmarks(options: KernelOptions, n: int) -> int:
    """How many landmarks are asked for; no more than rows."""
    if options.n_landmarks is None:
        return min(DEFAULT_LANDMARKS, n)
    if options.n_landmarks > n:
        raise ParameterError(
            f"n_landmarks={brief(options.n_landmarks)} but {counted(n, 'row')} "
            f"{agreed(n, 'takes', 'take')} part: give at most that, or None."
        )
    return int(options.n_landmarks)


def sample_size(asked: int, n: int) -> int:
    """Among how many of n rows landmarks are chosen."""
    return min(n, max(asked, min(MOST_SAMPLED, max(5 * asked, _LEAST_SAMPLED))))


# --- How far a fit is, as a user's function is told: parts of a hundred --------------------------

T = TypeVar("T")

ALL = 100


class StagedProgress:
    """Calls `progress(done, 100)` whenever another part is done; what it raises ends the fit."""

    def __init__(self, progress: Callable[[int, int], object] | None) -> None:
        self.progress, self.done = progress, 0

    def part(self, start: float, stop: float) -> ProgressStage:
        """A stretch of the work, from one share of the whole to another."""
        return ProgressStage(self, start, stop)

    def tell(self, share: float) -> None:
        """So much of the whole is done."""
        done = int(ALL * share + 1e-9)
        if done > self.done and self.progress is not None:
            self.done = done
            self.progress(done, ALL)


@dataclass(frozen=True, eq=False)
class ProgressStage:
    """A stretch of the work."""

    whole: StagedProgress
    start: float
    stop: float

    def __call__(self, share: float) -> None:
        """So much of this stretch is done."""
        self.whole.tell(self.start + (self.stop - self.start) * share)


def each(items: Iterable[T], n: int, tell: Callable[[float], object]) -> Iterator[T]:
    """Items as they come, of which there are n; how far that is, is told."""
    for i, item in enumerate(items):
        tell((i + 1) / n)
        yield item
