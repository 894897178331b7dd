"""The time budget of a comparison: which fold is next, and what a model may take.

Time counts in seconds of a worker. What is left, less what models need that are under way, is
shared evenly by the models that have not shown yet how long they take. A model shows it by its
first fold. If all folds would take more than its share, it goes on with a part of the training
rows, and shows again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import floor, log10, sqrt
from statistics import median
from typing import TYPE_CHECKING, Literal

from sortal.data.printing import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.tasks.comparing.contest import FoldResult

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
        known = sum(run.need for run in self.runs if run.state == "on")
        unknown = sum(run.state in ("waiting", "first") for run in self.runs)
        return max(0.0, self.left * self._n_workers - known) / max(unknown, 1)

    def seconds_left(self) -> float:
        """How long all will take yet, at most until the deadline."""
        unknown = sum(run.state in ("waiting", "first") for run in self.runs)
        shown = [sum(run.seconds) + run.need for run in self.runs if run.seconds]
        guess = sum(shown) / len(shown) if shown else self.share()
        known = sum(run.need for run in self.runs if run.state == "on")
        return min(self.left, (known + unknown * min(guess, self.share())) / self._n_workers)

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
