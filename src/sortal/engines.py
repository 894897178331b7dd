"""Engines: where passes over the rows run. A fit reaches rows through `reduce` and `map` only."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from numbers import Integral
from threading import local
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from sortal.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from _typeshed import DataclassInstance

    from sortal.data.sources import Batch, Source
    from sortal.summaries.protocol import Summary


S = TypeVar("S", bound="Summary")

T = TypeVar("T")

R = TypeVar("R", bound="DataclassInstance")


class Engine(Protocol):
    """Runs a function on every block. Results depend on the source only, never on the engine."""

    def reduce(self, source: Source, summarize: Callable[[Batch], S]) -> S:
        """The merged summary of all blocks."""

    def map(self, source: Source, function: Callable[[Batch], T]) -> Iterator[T]:
        """The results block by block, in order."""


# --- The one order in which summaries of blocks are merged ---------------------------------------


def merge_all(summaries: Iterable[S]) -> S:
    """Merge as a balanced tree over the order of blocks, holding a logarithm of them at a time.

    Like counting in binary: two summaries of equally many blocks become one of twice as many.
    A balanced tree keeps rounding small, and the shape depends on the number of blocks alone.
    """
    open_levels: list[tuple[int, S]] = []
    for summary in summaries:
        level, merged = 0, summary
        while open_levels and open_levels[-1][0] == level:
            merged = open_levels.pop()[1].merge(merged)
            level += 1
        open_levels.append((level, merged))
    merged = open_levels.pop()[1]
    while open_levels:
        merged = open_levels.pop()[1].merge(merged)
    return merged


# --- The results of a pass as one ----------------------------------------------------------------


def total() -> Any:
    """A field of a record that a pass gives for each block: added up over blocks."""
    return field(metadata={"gather": None})


def along(axis: int) -> Any:
    """The same: an array whose rows lie along another axis than the first."""
    return field(metadata={"gather": axis})


def gather(blocks: Iterable[R]) -> R:
    """The records of all blocks as one: arrays end to end, totals added up."""
    parts = list(blocks)
    if len(parts) == 1:
        return parts[0]
    joined = {
        one.name: _joined([getattr(part, one.name) for part in parts], one.metadata)
        for one in fields(parts[0])
    }
    return type(parts[0])(**joined)


def _joined(parts: list[Any], how: Mapping[str, int | None]) -> object:
    axis, first = how.get("gather", 0), parts[0]
    if first is None:
        return None
    if axis is None:
        return sum(parts[1:], start=first)
    if is_dataclass(first):
        return gather(parts)
    if isinstance(first, list | tuple):
        return type(first)(one for part in parts for one in part)
    return np.concatenate(parts, axis=axis)


# --- The local engine: this machine's threads. Compiled loops release the GIL, so threads suffice -


# --- BLAS runs one thread inside a block: the engine's own threads have the cores already --------


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


# More threads than cores do no more work; so many can be asked for on any machine.
_ALWAYS = 8


@dataclass(frozen=True)
class LocalEngine:
    """Blocks in threads; at most twice as many blocks are open as there are threads.

    Threads live for one pass, so none is kept across a fork. Ctrl-C is answered between blocks.
    """

    n_jobs: int | None = None

    def reduce(self, source: Source, summarize: Callable[[Batch], S]) -> S:
        """The merged summary of all blocks."""
        with closing(self.map(source, summarize)) as summaries:  # type: ignore[type-var]
            return merge_all(summaries)

    def map(self, source: Source, function: Callable[[Batch], T]) -> Iterator[T]:
        """The results block by block, in order."""
        threads = min(n_threads(self.n_jobs), source.n_blocks)
        return _map_in_threads(source, function, threads) if threads > 1 else _map(source, function)


def _map(source: Source, function: Callable[[Batch], T]) -> Iterator[T]:
    with one_blas_thread():
        for b in range(source.n_blocks):
            yield function(source.block(b))


def _map_in_threads(source: Source, function: Callable[[Batch], T], threads: int) -> Iterator[T]:
    waiting: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="sortal")
    try:
        with one_blas_thread():
            for b in range(source.n_blocks):
                waiting.append(pool.submit(lambda b=b: function(source.block(b))))  # type: ignore[misc]
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def n_cores() -> int:
    """The cores that joblib counts: of the machine, the container or the limit of loky."""
    return _counted(os.environ.get("LOKY_MAX_CPU_COUNT"))


@cache
def _counted(limit: str | None) -> int:  # noqa: ARG001  (what the count depends on)
    # once: a look at the container's limits takes as long as the fit of a small table
    return int(cpu_count())


def n_threads(n_jobs: int | None) -> int:
    """None: all cores, or one inside a joblib worker, where the cores are already at work.

    Negative numbers count back from all cores, as joblib has it: -1 is all, -2 all but one.
    """
    if n_jobs is None:
        nested = getattr(get_active_backend()[0], "nesting_level", 0) or 0
        return 1 if nested > 0 else n_cores()
    given: object = n_jobs
    if isinstance(given, bool) or not isinstance(given, Integral) or given == 0:
        raise ParameterError(
            f"n_jobs={n_jobs!r}: give a whole number of threads, -1 for all cores, or None."
        )
    threads = int(n_jobs) if n_jobs > 0 else max(1, n_cores() + 1 + n_jobs)
    return min(threads, max(_ALWAYS, n_cores()))
