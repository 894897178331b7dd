"""Running a comparison: workers are given folds, by a schedule that keeps the budget."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sortal.errors import SortalError
from sortal.tasks.comparing.budget import Run, Schedule
from sortal.tasks.comparing.contest import one_line
from sortal.tasks.comparing.workers import Crew, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.tasks.comparing.contest import Entrant, Problem
    from sortal.tasks.comparing.workers import Worker

    Progress = Callable[[int, int, str, float], None]

# Limits are looked at, and time left is said, so often.
_TICK = 0.25
_SAY_EVERY = 1.0
# A part of the training rows has so many at least: all together, and of a class on average; and
# such a share of them.
_LEAST_ROWS, _LEAST_OF_CLASS, _LEAST_SHARE = 200, 20, 1 / 64


@dataclass(frozen=True)
class _Job:
    """A fold that a worker has; what a worker must load first does not count."""

    run: Run
    fold: int
    began: float | None = None

    def seconds(self) -> float:
        return 0.0 if self.began is None else time.monotonic() - self.began


class Race:
    """All models on all folds. `runs` has one run a model, in the order of the entrants."""

    def __init__(
        self,
        problem: Problem,
        entrants: Sequence[Entrant],
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
        with Crew(self._problem) as self._crew:
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
        worker.job, worker.last = _Job(run, fold), run
        worker.send("fold", run.name, self._packed[run.name], fold, run.n_rows)

    def _hear(self, worker: Worker, words: Any) -> None:
        job: _Job | None = worker.job
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

    def _bury(self, worker: Worker, job: _Job | None) -> None:
        """A worker's process has ended by itself."""
        self._changed = True
        how, said = worker.end(), worker.last_words()
        self._crew.dismiss(worker)
        if job is None:
            raise SortalError(f"A worker cannot read the table: {how} ({said or 'silently'}).")
        self._schedule.lose(job.run, how)

    def _send_whole(self, worker: Worker, job: _Job, why: str) -> None:
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
        for worker in self._crew.busy():
            job: _Job = worker.job
            seconds = job.seconds()
            if job.run.over or seconds > self._schedule.patience(job.run):
                self._crew.dismiss(worker)
                self._schedule.give_up(job.run, seconds)

    def _tick(self) -> None:
        """Say what is at work, when something has changed and every second."""
        if self._changed or time.monotonic() - self._said > _SAY_EVERY:
            self._changed = False
            at_work = {worker.job.run.name for worker in self._crew.busy()}
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
