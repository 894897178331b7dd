"""Running a comparison within its time budget: which fold is next, what a model may take.

Time counts in seconds of a worker. What is left, less what models need that are under way, is
shared evenly by the models that have not shown yet how long they take. A model shows it by its
first fold. If all folds would take more than its share, it goes on with a part of the training
rows, and shows again.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from math import floor, log10, sqrt
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
    from sortal.tasks.compare.fold_run import Candidate, FoldProblem, FoldResult
    from sortal.tasks.compare.workers import Said, Worker

    Progress = Callable[[int, int, str, float], None]

# A forecast may take so much of a share; the rest is for what a first fold does not tell.
_FULL = 0.9

# A first fold is given up when it took so much more than its part of the share, and two seconds.
_PATIENCE = 1.5

_LEAST_SECONDS = 2.0

# A first fold also warms up: if it seems too slow and took less, the second one tells.
_CHEAP = 3.0

# A model that takes so little in all goes on, however small its share is.
_TRIFLE = 1.0

# If a first fold was given up, nothing is known but that so many rows are far too many.
_FAR_TOO_MANY = 8

# So often a model is tried with fewer rows: what takes long may be something else than they.
_ATTEMPTS = 2

# A part that takes less of the share is made larger, once.
_TOO_SMALL = 0.35

# A model under way may take so much more than its share before it is stopped.
_STRETCH = 1.5

State = Literal["waiting", "first", "on", "done", "unfinished", "error"]


@dataclass
class Run:
    """A model on its way through the folds. `n_rows` is the part of the training rows, or None."""

    name: str
    n_folds: int
    n_train: int
    least: int
    n_rows: int | None = None
    state: State = "waiting"
    words: str = ""
    share: float = 0.0
    spent: float = 0.0
    attempts: int = 0
    raised: bool = False
    too_many: int = 0
    results: dict[int, FoldResult] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.waiting = deque(range(self.n_folds))
        self.too_many = self.n_train

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "unfinished", "error")

    @property
    def need(self) -> float:
        """How many seconds it will take yet, by the folds so far."""
        left = self.n_folds - len(self.results)
        return left * median(self.seconds) if self.seconds else 0.0

    def stop(self, state: State, words: str) -> None:
        """Go no further."""
        self.state, self.words = state, words
        self.waiting.clear()

    def again(self, n_rows: int) -> None:
        """From the first fold, with so many training rows."""
        self.n_rows, self.state = n_rows, "waiting"
        self.results.clear()
        self.seconds.clear()
        self.waiting = deque(range(self.n_folds))

    def shrink(self, seconds: float | None) -> None:
        """With fewer rows, so that all folds fit the share; `seconds` is what the first one took.

        That assumes time in proportion to rows, which asks for no more than needed of any learner
        that takes longer than that.
        """
        n = self.n_rows or self.n_train
        self.too_many = n
        self.attempts += 1
        wanted = n / _FAR_TOO_MANY
        if seconds is not None:
            wanted = min(n / 2, n * _FULL * self.share / (seconds * self.n_folds))
        if n > self.least and self.attempts <= _ATTEMPTS:
            self.again(max(self.least, rounded(wanted)))
            return
        rows = "" if self.n_rows is None else f", trained on {counted(n, 'row')} only,"
        self.results.clear()
        self.stop("unfinished", f"unfinished: its folds{rows} take longer than the budget allows")

    def larger(self, seconds: float) -> int | None:
        """The rows of a larger part, where the present one leaves most of the share unused.

        This assumes time in proportion to the square of rows.
        """
        if self.n_rows is None or self.raised:
            return None
        used = seconds * self.n_folds / self.share
        if used > _TOO_SMALL:
            return None
        wanted = rounded(min(self.n_rows * sqrt(_FULL / max(used, 1e-6)), self.too_many / 2))
        return wanted if wanted >= 1.5 * self.n_rows else None


def rounded(n: float) -> int:
    """Down to one digit and zeros, as one says numbers of rows."""
    if n < 1:
        return 0
    unit: int = 10 ** floor(log10(n))
    return floor(n / unit) * unit


class Schedule:
    """All runs, the workers' time that is left, and who is next."""

    def __init__(
        self, runs: Sequence[Run], n_workers: int, budget: float, clock: Callable[[], float]
    ) -> None:
        self.runs, self._n_workers, self._budget = runs, n_workers, budget
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """From now on the budget counts."""
        self._deadline = self._clock() + self._budget

    @property
    def over(self) -> bool:
        """Whether every run is over."""
        return all(run.over for run in self.runs)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self._deadline - self._clock())

    def share(self) -> float:
        """What a model may take that has not shown yet how long it takes."""
        known, unknown = self._known(), self._unknown()
        return max(0.0, self.left * self._n_workers - known) / max(unknown, 1)

    def seconds_left(self) -> float:
        """How long all will take yet, at most until the deadline."""
        shown = [sum(run.seconds) + run.need for run in self.runs if run.seconds]
        guess = sum(shown) / len(shown) if shown else self.share()
        needed = self._known() + self._unknown() * min(guess, self.share())
        return min(self.left, needed / self._n_workers)

    def _known(self) -> float:
        """Seconds that models need that have shown how long they take."""
        return sum(run.need for run in self.runs if run.state == "on")

    def _unknown(self) -> int:
        """How many have not."""
        return sum(run.state in ("waiting", "first") for run in self.runs)

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
                run.state, run.share = "first", self.share()
                return run, run.waiting.popleft()
        helped = max(self.runs, key=lambda run: len(run.waiting) if run.state == "on" else 0)
        if helped.state == "on" and helped.waiting:
            return helped, helped.waiting.popleft()
        return None

    def patience(self, run: Run) -> float:
        """How long a fold that was begun may take."""
        if run.state == "first":
            return max(_LEAST_SECONDS, _PATIENCE * run.share / run.n_folds)
        return max(_LEAST_SECONDS, _STRETCH * run.share - run.spent)

    def record(self, run: Run, fold: int, result: FoldResult, seconds: float) -> None:
        """Note what a fold gave, and decide how the model goes on."""
        run.spent += seconds
        if run.over:
            return
        if result.error:
            run.stop("error", f"error: {result.error}")
            return
        first = run.state == "first"
        run.results[fold] = result
        run.seconds.append(seconds)
        if first:
            self._judge_first(run)
        if len(run.results) == run.n_folds:
            run.stop("done", run.words)

    def _judge_first(self, run: Run) -> None:
        run.share = max(run.share, self.share())
        seconds = min(run.seconds)
        forecast = seconds * run.n_folds
        if forecast > max(_FULL * run.share, min(_TRIFLE, self.left)):
            if seconds < _CHEAP and len(run.seconds) == 1:
                run.state = "waiting"
            else:
                run.shrink(seconds)
            return
        larger = run.larger(seconds)
        if larger is None:
            run.state = "on"
        else:
            run.raised = True
            run.again(larger)

    def give_up(self, run: Run, seconds: float) -> None:
        """A fold took too long."""
        run.spent += seconds
        if run.over:
            return
        if run.state == "first" and self.left > 0:
            run.share = max(run.share, self.share())
            run.shrink(None)
            return
        self._unfinished(run)

    def lose(self, run: Run, words: str) -> None:
        """A fold ended its worker's process."""
        if not run.over:
            run.stop("error", f"error: {words}")

    def close(self) -> None:
        """The deadline has come."""
        for run in self.runs:
            if not run.over:
                self._unfinished(run)

    def _unfinished(self, run: Run) -> None:
        done = f"{len(run.results)} of {run.n_folds} folds"
        run.stop("unfinished", f"unfinished: {done} within its share of the budget")


# --- Running a comparison: workers are given folds, by a schedule that keeps the budget ----------

# Limits are looked at, and time left is said, so often.
_TICK = 0.25

_SAY_EVERY = 1.0

# A part of the training rows has so many at least: all together, and of a class on average; and
# such a share of them.
_LEAST_ROWS, _LEAST_OF_CLASS, _LEAST_SHARE = 200, 20, 1 / 64


@dataclass(frozen=True)
class Job:
    """A fold that a worker has; what a worker must load first does not count."""

    run: Run
    fold: int
    began: float | None = None

    def seconds(self) -> float:
        return 0.0 if self.began is None else time.monotonic() - self.began


class ComparisonRun:
    """All models on all folds. `runs` has one run a model, in the order of the entrants."""

    def __init__(
        self,
        problem: FoldProblem,
        entrants: Sequence[Candidate],
        n_workers: int,
        budget: float,
        progress: Progress | None = None,
    ) -> None:
        folds, n = problem.folds, len(problem.y)
        n_train = n - -(-n // folds.folds)
        least = max(_LEAST_ROWS, _LEAST_OF_CLASS * len(problem.labels), int(_LEAST_SHARE * n_train))
        self.runs = [
            Run(entrant.name, folds.n, n_train, min(least, n_train)) for entrant in entrants
        ]
        self._entrants = {entrant.name: entrant for entrant in entrants}
        self._packed: dict[str, bytes] = {}
        self._by_value: set[str] = set()
        self._problem, self._n_workers = problem, n_workers
        self._schedule = Schedule(self.runs, n_workers, budget, time.monotonic)
        self._progress, self._said, self._done = progress, 0.0, 0
        self._changed = False

    def run(self) -> None:
        """To the end, or to the deadline; whatever happens, no worker is left."""
        self._say("starting")
        with WorkerPool(self._problem) as self._crew:
            self._await_worker()
            while not self._schedule.over:
                if self._schedule.left <= 0:
                    self._schedule.close()
                    break
                self._hand_out()
                self._tick()
                self._crew.listen(min(_TICK, self._schedule.left), self._hear)
                self._stop_overdue()
        self._say("done")

    def _await_worker(self) -> None:
        """Time counts from the first worker that is ready: starting Python is no model's affair."""
        self._crew.keep(min(self._n_workers, self._schedule.jobs_waiting()))
        while not self._crew.idle():
            self._crew.listen(_TICK, self._hear)
        self._schedule.begin()

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
        worker.job, worker.last = Job(run, fold), run
        worker.send("fold", run.name, self._packed[run.name], fold, run.n_rows)

    def _hear(self, worker: Worker, words: Said) -> None:
        job = worker.job
        if words is None:
            self._bury(worker, job)
            return
        assert job is not None  # noqa: S101  (workers speak when they are spoken to)
        if words[0] == "begun":
            worker.job = replace(job, began=time.monotonic())
            return
        worker.job, self._changed = None, True
        if words[0] == "unreadable":
            self._send_whole(worker, job, words[1])
            return
        self._schedule.record(job.run, job.fold, words[1], job.seconds())

    def _bury(self, worker: Worker, job: Job | None) -> None:
        """A worker's process has ended by itself."""
        self._changed = True
        how, said = worker.end(), worker.last_words()
        self._crew.dismiss(worker)
        if job is None:
            raise SortalError(f"A worker cannot read the table: {how} ({said or 'silently'}).")
        self._schedule.lose(job.run, how)

    def _send_whole(self, worker: Worker, job: Job, why: str) -> None:
        """A class that a worker cannot import travels by value."""
        if job.run.name in self._by_value:
            self._schedule.lose(job.run, f"a worker cannot read this learner: {why}")
        elif self._pack(job.run, by_value=True):
            self._send(worker, job.run, job.fold)

    def _pack(self, run: Run, by_value: bool = False) -> bool:
        """Make the bytes that a worker reads a model from."""
        entrant = self._entrants[run.name]
        try:
            self._packed[run.name] = pack(entrant, by_value)
        except Exception as error:  # noqa: BLE001  (a class may hold anything)
            if not by_value:
                return self._pack(run, by_value=True)
            self._schedule.lose(run, f"it cannot be sent to a worker: {one_line(error)}")
            return False
        if by_value:
            self._by_value.add(run.name)
        return True

    def _stop_overdue(self) -> None:
        for worker, job in self._crew.busy():
            seconds = job.seconds()
            if job.run.over or seconds > self._schedule.patience(job.run):
                self._crew.dismiss(worker)
                self._schedule.give_up(job.run, seconds)

    def _tick(self) -> None:
        """Say what is at work, when something has changed and every second."""
        if self._changed or time.monotonic() - self._said > _SAY_EVERY:
            self._changed = False
            at_work = {job.run.name for _, job in self._crew.busy()}
            names = [run.name for run in self.runs if run.name in at_work]
            self._say(", ".join(names) or "starting")

    def _say(self, words: str) -> None:
        self._said = time.monotonic()
        if self._progress is None:
            return
        done = sum(r.n_folds if r.over else len(r.results) for r in self.runs)
        self._done = max(self._done, done)
        total = sum(run.n_folds for run in self.runs)
        self._progress(self._done, total, words, self._schedule.seconds_left())


# --- Predictions of rows that models had not seen, kept where they are asked for -----------------


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold predictions of one model, from the first repeat, in the order of the rows.

    `rows` are places among the labeled rows, of which there are `of`; `truth` and `said` are codes
    of the comparison's classes. `probabilities` has a column for every class, and is None where
    the model gives none. `folds` were done of `n_folds`; `trained_on` is the number of training
    rows where the budget left a part of them only.
    """

    rows: Places
    truth: Codes
    said: Codes
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
    """Join the predictions of a run, which has them no longer; None where there are none."""
    n_folds = problem.folds.folds
    found = {f: r for f, r in run.results.items() if f < n_folds and r.said is not None}
    if not found:
        return None
    tested = np.concatenate([problem.split[fold][1] for fold in found])
    order = np.argsort(tested)
    said = _joined([result.said for result in found.values()])
    probabilities = _joined([result.probabilities for result in found.values()])
    for result in found.values():
        result.forget()  # many rows and classes need not be there twice
    rows = tested[order]
    return OutOfFold(
        rows=rows,
        truth=problem.y[rows].astype(np.int32),
        said=cast("Codes", said)[order],
        probabilities=None if probabilities is None else probabilities[order],
        of=len(problem.y),
        folds=len(found),
        n_folds=n_folds,
        trained_on=run.n_rows,
    )


def _joined(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One array; None where a fold has none."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if len(there) == len(parts) else None
