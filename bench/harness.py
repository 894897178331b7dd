"""Side by side: whole calls on the same input, alternating, the median of at least five runs."""

from __future__ import annotations

import os
import platform
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import sortal

REPEATS = 7


@dataclass(frozen=True)
class Result:
    """Median seconds by name; ours is the first."""

    question: str
    seconds: dict[str, float]
    bar: str
    load: float
    notes: list[str] = field(default_factory=list)

    def ratio(self, ours: str, peer: str) -> float:
        """How many times faster ours is."""
        return self.seconds[peer] / self.seconds[ours]


def compare(
    question: str, calls: dict[str, Callable[[], object]], bar: str, repeats: int = REPEATS
) -> Result:
    """Run all calls in turn, so many times, after one unmeasured round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for repeat in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            elapsed = time.perf_counter() - start
            if repeat:
                times[name].append(elapsed)
    medians = {name: statistics.median(runs) for name, runs in times.items()}
    result = Result(question, medians, bar, os.getloadavg()[0])
    if calls and repeats != REPEATS:
        result.notes.append(f"Median of {repeats} runs.")
    return result


def peak_beyond(prepare: Callable[..., Callable[[], object]], *given: object) -> tuple[float, int]:
    """Seconds of a call, and the peak of its memory beyond what it is given, in its own process.

    `prepare` makes the input and calls once for a small part of it, so that what is loaded by a
    first call is not counted; the call it returns is watched every millisecond.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        return alone.submit(_watched, prepare, given).result()


def _watched(
    prepare: Callable[..., Callable[[], object]], given: tuple[object, ...]
) -> tuple[float, int]:
    call = prepare(*given)
    before, peak, done = _resident(), [0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            peak.append(_resident())
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return seconds, max(peak) - before


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def fit_of_two_classes(estimator: str, n: int, d: int, kind: str) -> Callable[[], object]:
    """For `peak_beyond`: a fit at its defaults, two classes told apart by two columns and noise."""
    model = getattr(sortal, estimator)()
    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype=kind)
    for start in range(0, n, 10_000):
        X[start : start + 10_000] = rng.normal(size=X[start : start + 10_000].shape)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(int)
    model.fit(X[:100], y[:100])
    return lambda: model.fit(X, y)


def render(results: list[Result], packages: list[str]) -> str:
    """Markdown: one table a question."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    processor = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [f"{processor}; {versions}. Median of {REPEATS} alternating runs.", ""]
    for result in results:
        lines += [f"### {result.question}", "", f"{result.bar}. Load {result.load:.2f}.", ""]
        if result.seconds:
            lines += ["| call | seconds | times ours |", "|---|--:|--:|"]
        for name, seconds in result.seconds.items():
            ours = next(iter(result.seconds))
            lines.append(f"| {name} | {seconds:.4f} | {result.ratio(ours, name):.2f} |")
        lines += ["", *result.notes, ""] if result.notes else [""]
    return "\n".join(lines)


def _processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as info:  # noqa: PTH123
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.processor()
