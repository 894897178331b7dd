"""The local engine: order, the shape of merging, bounds, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky import get_reusable_executor

from sortal import engines
from sortal.data.columns import ColumnSchema, Schema
from sortal.data.sources import Batch, TableSource
from sortal.data.table import ArrayTable
from sortal.engines import LocalEngine, n_threads
from sortal.modelfile.record import to_bytes
from sortal.summaries.counts import SummarizeBayes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOBS = (1, 2, 3, None)


@dataclass(frozen=True)
class Expression:
    """A summary that only remembers how it was merged."""

    text: str

    def merge(self, other: Self) -> Expression:
        return Expression(f"({self.text} {other.text})")


@dataclass
class Counting:
    """A source of empty blocks that counts those opened and not yet delivered."""

    n_blocks: int
    opened: int = 0
    delivered: int = 0
    most_open: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def block(self, b: int) -> Batch:
        with self.lock:
            self.opened += 1
            self.most_open = max(self.most_open, self.opened - self.delivered)
        return Batch(start=b, n_rows=0, columns=())


def number(batch: Batch) -> int:
    # later blocks are done sooner, so that order has to be kept and does not come by itself
    time.sleep(0.002 if batch.start % 4 == 0 else 0.0)
    return batch.start


def name(batch: Batch) -> Expression:
    return Expression(str(number(batch)))


def threads_alive() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("sortal")]


@pytest.fixture(autouse=True)
def _no_thread_survives() -> Iterator[None]:
    yield
    assert threads_alive() == []


@pytest.mark.parametrize("n_jobs", JOBS)
def test_merging_is_a_balanced_tree_in_the_order_of_blocks(n_jobs: int | None) -> None:
    engine = LocalEngine(n_jobs)
    assert list(engine.map(Counting(40), number)) == list(range(40))
    for n_blocks, wanted in (
        (1, "0"),
        (2, "(0 1)"),
        (3, "((0 1) 2)"),
        (4, "((0 1) (2 3))"),
        (5, "(((0 1) (2 3)) 4)"),
        (7, "(((0 1) (2 3)) ((4 5) 6))"),
        (8, "(((0 1) (2 3)) ((4 5) (6 7)))"),
    ):
        assert engine.reduce(Counting(n_blocks), name).text == wanted


def small_blocks() -> tuple[TableSource, SummarizeBayes]:
    """130 blocks of 3 rows: one number column far from zero, one of categories."""
    rng = np.random.default_rng(0)
    table = np.column_stack([1e8 + rng.normal(size=390), rng.integers(0, 5, 390)])
    schema = Schema((ColumnSchema("x", "number"), ColumnSchema("c", "category")))
    target = ArrayTable(rng.integers(0, 3, 390)[:, None], ("y",))
    source = TableSource(ArrayTable(table), schema, (0, 1), target, block_rows=3)
    return source, SummarizeBayes((1,), (0,), ("x",), (1,))


def test_every_number_of_threads_gives_the_same_bits() -> None:
    source, summarize = small_blocks()
    assert source.n_blocks == 130
    found = {to_bytes(LocalEngine(n_jobs).reduce(source, summarize)) for n_jobs in JOBS}
    assert len(found) == 1


@pytest.mark.parametrize(("n_jobs", "most"), [(1, 1), (2, 4), (3, 6)])
def test_few_blocks_are_open_at_a_time(n_jobs: int, most: int) -> None:
    source = Counting(60)
    for _ in LocalEngine(n_jobs).map(source, number):
        source.delivered += 1
    assert source.opened == 60
    assert source.most_open <= most
    results = LocalEngine(n_jobs).map(Counting(60), number)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert threads_alive() == []


def test_there_are_no_more_threads_than_blocks_and_one_is_the_callers_own() -> None:
    seen: set[str] = set()
    list(LocalEngine(8).map(Counting(3), lambda _: seen.add(threading.current_thread().name)))
    assert len(seen) <= 3
    [caller] = LocalEngine(1).map(Counting(1), lambda _: threading.current_thread())
    assert caller is threading.current_thread()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_of_a_block_or_of_the_reader_ends_the_pass(
    n_jobs: int, error: type[BaseException]
) -> None:
    def summarize(batch: Batch) -> Expression:
        if batch.start == 5:
            raise error("block 5")
        return name(batch)

    def read(results: Iterator[int]) -> None:
        for result in results:
            if result == 5:
                raise error("block 5")

    passes: list[Callable[[Counting], object]] = [
        lambda source: LocalEngine(n_jobs).reduce(source, summarize),
        lambda source: read(LocalEngine(n_jobs).map(source, number)),
    ]
    for act in passes:
        source = Counting(10_000)
        with pytest.raises(error, match="block 5"):
            act(source)
        assert source.opened <= 6 + 2 * n_jobs


def test_blocks_that_wait_are_not_begun_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            cancelled.set()
            super().shutdown(wait=wait)

    def summarize(batch: Batch) -> Expression:
        if batch.start == 0:
            raise ZeroDivisionError
        assert cancelled.wait(600)
        return Expression("")

    monkeypatch.setattr(engines, "ThreadPoolExecutor", Pool)
    source = Counting(10)
    with pytest.raises(ZeroDivisionError):
        LocalEngine(2).reduce(source, summarize)
    # four were sent; two threads had begun two more when the first failed, the fourth had to wait
    assert source.opened <= 3


# At most four blocks are sent that were not delivered: the signal is met before the next one.
INTERRUPTED = """
import signal, threading
from sortal.data.sources import Batch
from sortal.engines import LocalEngine

opened = []
class Endless:
    n_blocks = 10**6
    def block(self, b):
        opened.append(b)
        if b == 20:
            signal.raise_signal(signal.SIGINT)
        return Batch(b, 0, ())

try:
    for _ in LocalEngine(2).map(Endless(), id):
        pass
except KeyboardInterrupt:
    assert max(opened) <= 25, "late"
    assert not [t for t in threading.enumerate() if t.name.startswith("sortal")], "threads left"
    print("done")
"""
FORKED = """
import os
from sortal.data.sources import Batch
from sortal.engines import LocalEngine

class Source:
    n_blocks = 50
    block = staticmethod(lambda b: Batch(b, 0, ()))

def run():
    return list(LocalEngine(2).map(Source(), lambda batch: batch.start)) == list(range(50))

assert run()
child = os.fork()
if child == 0:
    os._exit(0 if run() else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
print("done")
"""


@pytest.mark.parametrize("script", [INTERRUPTED, FORKED], ids=["Ctrl-C", "a fork after a pass"])
def test_signals_and_forks_which_concern_a_whole_process(script: str) -> None:
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_inside_a_joblib_worker_one_thread_is_enough_and_more_can_be_asked_for(
    backend: str,
) -> None:
    asked = (None, None, 3, 3)
    found = Parallel(n_jobs=2, backend=backend)(delayed(n_threads)(n_jobs) for n_jobs in asked)
    get_reusable_executor().shutdown(wait=True)
    assert found == [1, 1, 3, 3]


def test_threads_are_counted_as_joblib_counts_them() -> None:
    cores = cpu_count()
    whole: Any = np.int64(5)
    for n_jobs, wanted in (
        *((None, cores), (-1, cores), (-cores, 1), (-1000, 1), (5, 5), (whole, 5)),
        (100_000, max(8, cores)),  # more threads than cores do no more work
    ):
        assert n_threads(n_jobs) == wanted
