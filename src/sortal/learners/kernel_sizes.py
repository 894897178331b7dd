"""Sizes: whether all rows can be the basis, how many landmarks, and among how many rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sortal.data.printing import agreed, counted
from sortal.errors import InputError, OptionError, told
from sortal.learners.kernel_landmarks import MOST_SAMPLED

if TYPE_CHECKING:
    from sortal.learners.kernel_options import KernelOptions

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
        raise OptionError(
            f"n_landmarks={told(options.n_landmarks)} but {counted(n, 'row')} "
            f"{agreed(n, 'takes', 'take')} part: give at most that, or None."
        )
    return int(options.n_landmarks)


def sample_size(asked: int, n: int) -> int:
    """Among how many of n rows landmarks are chosen."""
    return min(n, max(asked, min(MOST_SAMPLED, max(5 * asked, _LEAST_SAMPLED))))
