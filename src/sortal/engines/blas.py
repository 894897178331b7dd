"""BLAS runs one thread inside a block: the engine's own threads have the cores already."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = Lock()
_open: list[Any] = []  # the limiter that is in force, and how many passes rely on it
_passes = 0


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries costs milliseconds, so that it is done once."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS for as long as any pass runs.

    The limit belongs to the process. Passes may overlap (two fits in two threads): the first sets
    it and the last restores what was there before; each restoring for itself would leave the limit
    of another behind.
    """
    global _passes  # noqa: PLW0603
    with _lock:
        if _passes == 0:
            _open.append(_controller().limit(limits=1, user_api="blas"))
        _passes += 1
    try:
        yield
    finally:
        with _lock:
            _passes -= 1
            if _passes == 0:
                _open.pop().restore_original_limits()
