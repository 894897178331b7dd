"""BLAS runs one thread inside a block: the engine's own threads have the cores already."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import local
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Passes(local):
    """How many passes a thread has open: they may end in another order than they began."""

    n_open = 0


_passes = _Passes()


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries costs milliseconds, so that it is done once."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS while a pass of this thread runs.

    The limit belongs to the process; that threads do not fight over it is threadpoolctl's care (the
    first to set one keeps the right to). Where it is not granted, a pass is slower, not different.
    """
    if _passes.n_open == 0:
        _passes.limiter = _controller().limit(limits=1, user_api="blas")
    _passes.n_open += 1
    try:
        yield
    finally:
        _passes.n_open -= 1
        if _passes.n_open == 0:
            _passes.limiter.restore_original_limits()
