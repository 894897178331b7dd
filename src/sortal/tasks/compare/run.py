"""Running a comparison within its budget: which fold is next, and with how many training rows.

The budget is CPU time of the workers, so that the load of a machine decides nothing. What is left,
less what models need that are under way, is shared evenly by those that have not shown yet how long
they take. Of a large table a model shows it by one fold with few training rows, then with four
times as many, and so on: it goes on with the largest part, all rows if possible, by which all folds
fit its share. What the smaller parts gave is its learning curve.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from math import floor, log, log10, sqrt
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sortal.errors import SortalError, counted
from sortal.tasks.compare.fold_run import one_line
from sortal.tasks.compare.workers import WorkerPool, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Float, Places
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.fold_run import FoldProblem, FoldResult
    from sortal.tasks.compare.workers import Said, Worker

    Progress = Callable[[int, int, str, float], None]

# From so many training rows on, a model begins with a part of them; each is so much larger.
_LARGE, _STEP = 5_000, 4

# A part has so many rows at least: all together, and of a class on average.
_LEAST_ROWS, _LEAST_OF_CLASS = 200, 20

# How time grows with rows, as a power, before two parts have told.
_POWER = 1.3

# A fold is ended when it took so much more than forecast, and so many seconds.
_PATIENCE, _LEAST_SECONDS = 3.0, 2.0

# A first fold also warms up: if it seems too slow and took less, the second one tells.
_CHEAP = 3.0

# A model that takes so little in all goes on, however small its share is; after so little a fold
# of the next larger part is tried.
_TRIFLE = 1.0

State = Literal["waiting", "trying", "on", "done", "unfinished", "error"]


def training_sizes(n_train: int, n_classes: int) -> tuple[int, ...]:
    """Numbers of training rows to try, ascending; the last are all."""
    least = max(_LEAST_ROWS, _LEAST_OF_CLASS * n_classes)
    sizes = [n_train]
    while sizes[-1] / _STEP >= least:
        sizes.append(rounded(sizes[-1] / _STEP))
    return tuple(reversed(sizes))


def rounded(n: float) -> int:
    """Down to two digits and zeros, as one says numbers of rows."""
    unit: int = 10 ** max(0, floor(log10(n)) - 1)
    return floor(n / unit) * unit


@dataclass
class Run:
    """A model on its way through the folds, with sizes[at] of the training rows.

    `parts` has the results by number of training rows and fold, `seconds` the CPU time of each.
    """

    name: str
    sizes: tuple[int, ...]
    n_folds: int
    at: int = 0
    state: State = "waiting"
    words: str = ""
    capped: bool = False
    parts: dict[int, dict[int, FoldResult]] = field(default_factory=dict)
    seconds: dict[int, list[float]] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)

    def __post_init__(self) -> None:
        if self.sizes[-1] <= _LARGE:
            self.at = len(self.sizes) - 1
        self.turn_to(self.at)

    @property
    def size(self) -> int:
        """The training rows that it goes on with."""
        return self.sizes[self.at]

    @property
    def part(self) -> int | None:
        """The same, None being all."""
        return None if self.size == self.sizes[-1] else self.size

    @property
    def slow(self) -> bool:
        """Whether it took too long for all rows."""
        return self.state == "unfinished" or (self.part is not None and self.state == "done")

    @property
    def results(self) -> dict[int, FoldResult]:
        """What its folds gave with so many rows."""
        return self.parts.setdefault(self.size, {})

    @property
    def times(self) -> list[float]:
        """What they took."""
        return self.seconds.setdefault(self.size, [])

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "unfinished", "error")

    @property
    def need(self) -> float:
        """How many seconds it will take yet, by the folds so far."""
        left = self.n_folds - len(self.results)
        return left * median(self.times) if self.times else 0.0

    @property
    def forecast(self) -> float:
        """How many all folds will take with so many rows."""
        return self.n_folds * min(self.times)

    @property
    def curve(self) -> list[tuple[int, FoldResult]]:
        """What a first fold gave with fewer rows."""
        return [(n, of[0]) for n, of in sorted(self.parts.items()) if n != self.size and 0 in of]

    def stop(self, state: State, words: str) -> None:
        """Go no further."""
        self.state, self.words = state, words
        self.waiting.clear()

    def turn_to(self, at: int) -> None:
        """Go on with so many rows: with all folds that are missing, or by trying one."""
        self.at = at
        self.state = "on" if self.results else "waiting"
        self.waiting = deque(f for f in range(self.n_folds) if f not in self.results)

    def forecast_above(self) -> float:
        """How long all folds would take with the next larger part."""
        power, above = _POWER, self.sizes[self.at + 1]
        if self.at and self.seconds.get(self.sizes[self.at - 1]):
            below = self.sizes[self.at - 1]
            growth = min(self.times) / max(min(self.seconds[below]), 1e-4)
            power = min(max(log(max(growth, 1.0)) / log(self.size / below), 1.0), 3.0)
        return float(self.forecast * (above / self.size) ** power)


class Schedule:
    """All runs, the CPU time that is left, and who is next."""

    def __init__(self, runs: Sequence[Run], n_workers: int, budget: float) -> None:
        self.runs, self._n_workers = runs, n_workers
        self._left, self._spent = budget * n_workers, 0.0

    @property
    def over(self) -> bool:
        """Whether every run is over."""
        return all(run.over for run in self.runs)

    def share(self) -> float:
        """What a model may take that has not shown yet how long it takes."""
        known = sum(run.need for run in self.runs if run.state == "on")
        return max(0.0, self._left - known) / max(self._undecided(), 1)

    def _undecided(self) -> int:
        return sum(run.state in ("waiting", "trying") for run in self.runs)

    def seconds_left(self, elapsed: float) -> float:
        """How long all will take yet, by what CPU time has taken of real time so far.

        A model of which nothing is known takes between what the others take and its share.
        """
        known, share = [sum(run.times) + run.need for run in self.runs if run.times], self.share()
        guess = min(share, sqrt(share * sum(known) / len(known))) if known else 0.0
        need = sum(run.need for run in self.runs if not run.over) + self._undecided() * guess
        pace = elapsed * self._n_workers / self._spent if self._spent > 1 else 1.0
        return need / self._n_workers * min(max(pace, 1.0), 20.0)

    def jobs_waiting(self) -> int:
        """How many folds could be worked on at this moment."""
        first = sum(run.state == "waiting" for run in self.runs)
        return first + sum(len(run.waiting) for run in self.runs if run.state == "on")

    def next_job(self, last: Run | None) -> tuple[Run, int] | None:
        """A fold for a worker: of its last model, of a new one, or to help with another."""
        if last is not None and last.state == "on" and last.waiting:
            return last, last.waiting.popleft()
        for run in self.runs:
            if run.state == "waiting":
                run.state = "trying"
                return run, run.waiting.popleft()
        helped = max(self.runs, key=lambda run: len(run.waiting) if run.state == "on" else 0)
        if helped.state == "on" and helped.waiting:
            return helped, helped.waiting.popleft()
        return None

    def limit(self, run: Run) -> float:
        """How much CPU time a fold may take."""
        expected = median(run.times) if run.times else self.share() / run.n_folds
        return max(_LEAST_SECONDS, _PATIENCE * expected)

    def record(self, run: Run, fold: int, n_rows: int, result: FoldResult, seconds: float) -> None:
        """Note what a fold gave, and decide how the model goes on."""
        self._count(seconds)
        if run.over or n_rows != run.size:
            return
        if result.error:
            run.stop("error", f"error: {result.error}")
            return
        run.results[fold] = result
        run.times.append(seconds)
        if run.state == "trying":
            self._judge(run)
        if len(run.results) == run.n_folds and run.state == "on":
            run.stop("done", run.words)

    def _count(self, seconds: float) -> None:
        self._left -= seconds
        self._spent += seconds

    def _judge(self, run: Run) -> None:
        """After a first fold: more rows, these, or fewer."""
        share = max(self.share(), _TRIFLE)
        largest = run.at + 1 == len(run.sizes)
        # a fold that took little says little, since it also warmed up: one of the next part tells
        quick = min(run.times) < _TRIFLE
        if not largest and not run.capped and (quick or run.forecast_above() <= share):
            run.turn_to(run.at + 1)
        elif run.forecast <= share or (run.capped and run.forecast <= _PATIENCE * share):
            run.state = "on"
        elif len(run.times) == 1 and min(run.times) < _CHEAP and run.waiting:
            run.state = "waiting"
        else:
            self._fewer(run)

    def _fewer(self, run: Run) -> None:
        run.capped = True
        if run.at:
            run.turn_to(run.at - 1)
            return
        rows = counted(run.size, "training row")
        run.stop(
            "unfinished", f"unfinished: its folds of {rows} take longer than the budget allows"
        )

    def too_long(self, run: Run, n_rows: int, seconds: float) -> None:
        """A fold was ended at its limit."""
        self._count(seconds)
        if run.over or n_rows != run.size:
            return
        if run.state == "trying":
            self._fewer(run)
            return
        done = f"{len(run.results)} of {run.n_folds} folds"
        run.stop("unfinished", f"unfinished: {done}, one takes longer than the budget allows")

    def lose(self, run: Run, words: str) -> None:
        """A fold ended its worker's process."""
        if not run.over:
            run.stop("error", f"error: {words}")


# --- Running a comparison: workers are given folds, by a schedule --------------------------------

# Workers are listened to, and time left is said, so often.
_TICK, _SAY_EVERY = 0.25, 1.0

# What uses no CPU time is ended by the clock: after so many limits, and so many seconds.
_ASLEEP, _LEAST_ASLEEP = 20.0, 60.0


@dataclass(frozen=True)
class Job:
    """A fold that a worker has."""

    run: Run
    fold: int
    n_rows: int
    limit: float
    began: float


class ComparisonRun:
    """All models on all folds, by workers that are kept from one schedule to the next."""

    def __init__(
        self,
        problem: FoldProblem,
        candidates: Sequence[Candidate],
        n_workers: int,
        progress: Progress | None = None,
    ) -> None:
        self._candidates = {candidate.name: candidate for candidate in candidates}
        self._packed: dict[str, bytes] = {}
        self._problem, self._n_workers = problem, n_workers
        self._progress, self._said, self._done = progress, 0.0, 0
        self._changed = False
        self._began = time.monotonic()

    def run(self, runs: Sequence[Run], budget: float = math.inf) -> None:
        """To the end; whatever happens, no worker is left."""
        self._schedule = Schedule(runs, self._n_workers, budget)
        self._say("starting")
        with WorkerPool(self._problem) as self._crew:
            while not self._schedule.over:
                self._hand_out()
                self._tick()
                self._crew.listen(_TICK, self._hear)
                self._stop_sleepers()
        self._say("done")

    def _hand_out(self) -> None:
        at_work = len(self._crew.busy())
        self._crew.keep(min(self._n_workers, at_work + self._schedule.jobs_waiting()))
        for worker in self._crew.idle():
            job = self._schedule.next_job(worker.last)
            if job is None:
                return
            self._send(worker, *job)

    def _send(self, worker: Worker, run: Run, fold: int) -> None:
        if run.name not in self._packed and not self._pack(run):
            return
        limit = self._schedule.limit(run)
        worker.job, worker.last = Job(run, fold, run.size, limit, time.monotonic()), run
        worker.send("fold", run.name, self._packed[run.name], fold, run.part, limit)

    def _hear(self, worker: Worker, words: Said) -> None:
        job = worker.job
        if words is None:
            self._bury(worker, job)
            return
        assert job is not None  # noqa: S101  (workers speak when they are spoken to)
        worker.job, self._changed = None, True
        if words[0] == "unreadable":
            self._schedule.lose(job.run, f"a worker cannot read this learner: {words[1]}")
            return
        self._schedule.record(job.run, job.fold, job.n_rows, *words[1:])

    def _bury(self, worker: Worker, job: Job | None) -> None:
        """A worker's process has ended by itself, or at the limit of its CPU time."""
        self._changed = True
        too_long, how, said = worker.too_long, worker.end(), worker.last_words()
        self._crew.dismiss(worker)
        if job is None:
            raise SortalError(f"A worker cannot read the table: {how} ({said or 'silently'}).")
        if too_long:
            self._schedule.too_long(job.run, job.n_rows, job.limit)
        else:
            self._schedule.lose(job.run, how)

    def _pack(self, run: Run) -> bool:
        """Make the bytes that a worker reads a model from."""
        try:
            self._packed[run.name] = pack(self._candidates[run.name])
        except Exception as error:  # noqa: BLE001  (an option may be anything)
            self._schedule.lose(run, f"it cannot be sent to a worker: {one_line(error)}")
            return False
        return True

    def _stop_sleepers(self) -> None:
        for worker, job in self._crew.busy():
            patience = _ASLEEP * job.limit + _LEAST_ASLEEP
            if job.run.over or time.monotonic() - job.began > patience:
                self._crew.dismiss(worker)
                self._schedule.too_long(job.run, job.n_rows, 0.0)

    def _tick(self) -> None:
        """Say what is at work, when something has changed and every second."""
        if self._changed or time.monotonic() - self._said > _SAY_EVERY:
            self._changed = False
            at_work = {job.run.name for _, job in self._crew.busy()}
            names = [run.name for run in self._schedule.runs if run.name in at_work]
            self._say(", ".join(names) or "starting")

    def _say(self, words: str) -> None:
        self._said = time.monotonic()
        if self._progress is None:
            return
        runs = self._schedule.runs
        done = sum(r.n_folds if r.over else len(r.results) for r in runs)
        self._done = max(self._done, done)
        total = max(self._done, sum(run.n_folds for run in runs))
        left = self._schedule.seconds_left(self._said - self._began)
        self._progress(self._done, total, words, left)


# --- Predictions of rows that models had not seen, kept where they are asked for -----------------


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold predictions of one model, from the first repeat, in the order of the rows.

    `rows` are places among the labeled rows, of which there are `of`; `truth` and `predicted` are
    codes of the comparison's classes. `probabilities` has a column for every class, and is None
    where the model gives none. `folds` were done of `n_folds`; `trained_on` is the number of
    training rows where the budget left a part of them only.
    """

    rows: Places
    truth: Codes
    predicted: Codes
    probabilities: Float | None
    of: int
    folds: int
    n_folds: int
    trained_on: int | None = None

    @property
    def whole(self) -> bool:
        """Whether every labeled row was predicted."""
        return self.folds == self.n_folds

    @property
    def words(self) -> str:
        """What was predicted, and by models that saw what."""
        which = f"all {self.of:,} rows" if self.whole else f"{len(self.rows):,} of {self.of:,} rows"
        done = "" if self.whole else f" ({self.folds} of {self.n_folds} folds were done)"
        part = "" if self.trained_on is None else f", trained on about {self.trained_on:,} rows"
        return (
            f"Predictions for {which}{done}, each by a model that had not seen the row{part}: "
            f"{counted(self.n_folds, 'fold')}, the first repeat of the comparison."
        )


def join_out_of_fold(run: Run, problem: FoldProblem) -> OutOfFold | None:
    """Join the predictions of a run; None where there are none."""
    n_folds = problem.folds.folds
    found = {f: r for f, r in run.results.items() if f < n_folds and r.predicted is not None}
    if not found:
        return None
    tested = np.concatenate([problem.split[fold][1] for fold in found])
    order = np.argsort(tested)
    predicted = _joined([result.predicted for result in found.values()])
    probabilities = _joined([result.probabilities for result in found.values()])
    rows = tested[order]
    return OutOfFold(
        rows=rows,
        truth=problem.y[rows].astype(np.int32),
        predicted=cast("Codes", predicted)[order],
        probabilities=None if probabilities is None else probabilities[order],
        of=len(problem.y),
        folds=len(found),
        n_folds=n_folds,
        trained_on=run.part,
    )


def _joined(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One array; None where a fold has none."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if len(there) == len(parts) else None
