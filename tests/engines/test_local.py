"""The local engine: order, the shape of merging, bounds, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky import get_reusable_executor

from sortal.data.arrays import ArrayTable
from sortal.data.batch import Batch
from sortal.data.schema import ColumnSchema, Schema
from sortal.data.sources import TableSource
from sortal.engines.local import LocalEngine, n_threads
from sortal.errors import OptionError
from sortal.summaries.bayes import SummarizeBayes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOBS = (1, 2, 3, None)


@dataclass(frozen=True)
class Numbered:
    """A source of empty blocks, each of which knows its number by `start`."""

    n_blocks: int

    def block(self, b: int) -> Batch:
        return Batch(start=b, n_rows=0, columns=())


@dataclass(frozen=True)
class Expression:
    """A summary that only remembers how it was merged."""

    text: str

    def merge(self, other: Self) -> Expression:
        return Expression(f"({self.text} {other.text})")

    def to_bytes(self) -> bytes:
        return self.text.encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        return cls(data.decode())


@dataclass
class Counting:
    """A source that counts the blocks that were opened and not yet delivered."""

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


# --- Order and shape -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", JOBS)
def test_results_come_in_the_order_of_blocks(n_jobs: int | None) -> None:
    assert list(LocalEngine(n_jobs).map(Numbered(40), number)) == list(range(40))


@pytest.mark.parametrize("n_jobs", JOBS)
@pytest.mark.parametrize(
    ("n_blocks", "wanted"),
    [
        (1, "0"),
        (2, "(0 1)"),
        (3, "((0 1) 2)"),
        (4, "((0 1) (2 3))"),
        (5, "(((0 1) (2 3)) 4)"),
        (7, "(((0 1) (2 3)) ((4 5) 6))"),
        (8, "(((0 1) (2 3)) ((4 5) (6 7)))"),
    ],
)
def test_merging_is_a_balanced_tree_in_the_order_of_blocks(
    n_jobs: int | None, n_blocks: int, wanted: str
) -> None:
    assert LocalEngine(n_jobs).reduce(Numbered(n_blocks), name).text == wanted


def test_the_shape_of_merging_depends_on_the_blocks_alone() -> None:
    shapes = {LocalEngine(n_jobs).reduce(Numbered(53), name).text for n_jobs in JOBS}
    assert len(shapes) == 1


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
    found = {LocalEngine(n_jobs).reduce(source, summarize).to_bytes() for n_jobs in JOBS}
    assert len(found) == 1


# --- Bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_jobs", "most"), [(1, 1), (2, 4), (3, 6)])
def test_few_blocks_are_open_at_a_time(n_jobs: int, most: int) -> None:
    source = Counting(60)
    for _ in LocalEngine(n_jobs).map(source, number):
        source.delivered += 1
    assert source.opened == 60
    assert source.most_open <= most


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_a_slow_reader_holds_the_pass_up(n_jobs: int) -> None:
    source = Counting(60)
    results = LocalEngine(n_jobs).map(source, number)
    next(results)
    time.sleep(0.05)
    assert source.opened <= 2 * n_jobs
    results.close()  # type: ignore[attr-defined]


def test_there_are_no_more_threads_than_blocks() -> None:
    seen: set[str] = set()
    list(LocalEngine(8).map(Numbered(3), lambda _: seen.add(threading.current_thread().name)))
    assert len(seen) <= 3


def test_one_thread_is_the_callers_own() -> None:
    [caller] = LocalEngine(1).map(Numbered(1), lambda _: threading.current_thread())
    assert caller is threading.current_thread()


# --- Failures ------------------------------------------------------------------------------------


def fail_at(b: int, error: BaseException) -> Callable[[Batch], Expression]:
    def summarize(batch: Batch) -> Expression:
        if batch.start == b:
            raise error
        return name(batch)

    return summarize


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("error", [ZeroDivisionError("block 5"), KeyboardInterrupt("block 5")])
def test_an_error_in_a_block_ends_the_pass(n_jobs: int, error: BaseException) -> None:
    source = Counting(10_000)
    start = time.monotonic()
    with pytest.raises(type(error), match="block 5"):
        LocalEngine(n_jobs).reduce(source, fail_at(5, error))
    assert time.monotonic() - start < 1
    assert source.opened <= 6 + 2 * n_jobs


def test_blocks_that_wait_are_not_begun_after_an_error() -> None:
    def summarize(batch: Batch) -> Expression:
        if batch.start == 0:
            raise ZeroDivisionError
        time.sleep(0.3)
        return Expression("")

    source = Counting(10)
    with pytest.raises(ZeroDivisionError):
        LocalEngine(2).reduce(source, summarize)
    # four were sent; two threads had begun two more when the first failed, the fourth had to wait
    assert source.opened <= 3


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_an_error_of_the_reader_ends_the_pass(n_jobs: int) -> None:
    def read(results: Iterator[int]) -> None:
        for result in results:
            if result == 5:
                raise KeyboardInterrupt

    source = Counting(10_000)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        read(LocalEngine(n_jobs).map(source, number))
    assert time.monotonic() - start < 1
    assert source.opened <= 6 + 2 * n_jobs


def test_a_pass_that_is_not_read_to_the_end_can_be_closed() -> None:
    results = LocalEngine(2).map(Numbered(1000), number)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert threads_alive() == []


INTERRUPTED = """
import signal, threading, time
from sortal.data.batch import Batch
from sortal.engines.local import LocalEngine

class Endless:
    n_blocks = 10**6
    def block(self, b):
        time.sleep(0.01)
        return Batch(b, 0, ())

sent = []
def press():
    sent.append(time.monotonic())
    signal.raise_signal(signal.SIGINT)

threading.Timer(0.2, press).start()
try:
    for _ in LocalEngine(2).map(Endless(), id):
        pass
except KeyboardInterrupt:
    assert time.monotonic() - sent[0] < 1, "late"
    assert not [t for t in threading.enumerate() if t.name.startswith("sortal")], "threads left"
    print("interrupted")
"""


def run_script(script: str) -> str:
    """In a process of its own, because signals and forks concern the whole process."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_ctrl_c_is_answered_within_a_second() -> None:
    assert run_script(INTERRUPTED) == "interrupted"


# --- Threads and processes around it -------------------------------------------------------------

FORKED = """
import os
from sortal.data.batch import Batch
from sortal.engines.local import LocalEngine

class Source:
    n_blocks = 50
    def block(self, b):
        return Batch(b, 0, ())

def run():
    return list(LocalEngine(2).map(Source(), lambda batch: batch.start)) == list(range(50))

assert run()
child = os.fork()
if child == 0:
    os._exit(0 if run() else 1)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_a_pass_works_after_a_fork_that_followed_a_pass() -> None:
    assert run_script(FORKED) == "0"


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_inside_a_joblib_worker_one_thread_is_enough(backend: str) -> None:
    found = Parallel(n_jobs=2, backend=backend)(delayed(n_threads)(None) for _ in range(4))
    get_reusable_executor().shutdown(wait=True)
    assert found == [1, 1, 1, 1]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_inside_a_joblib_worker_more_threads_can_be_asked_for(backend: str) -> None:
    found = Parallel(n_jobs=2, backend=backend)(delayed(n_threads)(3) for _ in range(2))
    get_reusable_executor().shutdown(wait=True)
    assert found == [3, 3]


@pytest.mark.parametrize(
    ("n_jobs", "wanted"),
    [
        (None, cpu_count()),
        (-1, cpu_count()),
        (-cpu_count(), 1),
        (-1000, 1),
        (5, 5),
        (np.int64(5), 5),
        (100_000, max(8, cpu_count())),  # more threads than cores do no more work
    ],
)
def test_threads_are_counted_as_joblib_counts_them(n_jobs: Any, wanted: int) -> None:
    assert n_threads(n_jobs) == wanted


@pytest.mark.parametrize("n_jobs", [0, 1.5, 2.0, "2", True, [2], float("nan")])
def test_anything_but_a_number_of_threads_is_refused(n_jobs: Any) -> None:
    with pytest.raises(OptionError, match="n_jobs="):
        LocalEngine(n_jobs).map(Numbered(1), number)
