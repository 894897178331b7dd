"""The budget, in simulated time: who runs fully, who on a part, who not at all."""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sortal.tasks.compare.fold_run import FoldResult
from sortal.tasks.compare.run import Run, Schedule, rounded

if TYPE_CHECKING:
    from collections.abc import Callable

N_TRAIN = 45_000
FIRST_TIME = 0.7  # what a worker takes for a model that it has not met


def simulate(
    takes: dict[str, Callable[[int], float]],
    *,
    budget: float = 150.0,
    n_folds: int = 10,
    n_workers: int = 2,
    least: int = 700,
) -> tuple[dict[str, Run], float]:
    """Models that take so many seconds a fold with n rows; and when all was over."""
    now = 0.0
    runs = [Run(name, n_folds, N_TRAIN, least) for name in takes]
    schedule = Schedule(runs, n_workers, budget, lambda: now)
    idle: list[Run | None] = [None] * n_workers
    events: list[tuple[float, int, Run, int, float, bool]] = []
    count = 0
    met: set[str] = set()
    while not schedule.over:
        for last in list(idle):
            job = schedule.next_job(last)
            if job is None:
                break
            idle.remove(last)
            run, fold = job
            needs = takes[run.name](run.n_rows or N_TRAIN) + FIRST_TIME * (run.name not in met)
            met.add(run.name)
            allowed = schedule.patience(run)
            took = min(needs, allowed)
            count += 1
            heapq.heappush(events, (now + took, count, run, fold, took, needs > allowed))
        assert events, "nobody works, and it is not over"
        when, _, run, fold, took, late = heapq.heappop(events)
        now = when
        if now >= budget:
            now = budget
            schedule.close()
            break
        if late:
            schedule.give_up(run, took)
            now += 2.0  # a new worker
        else:
            schedule.record(run, fold, FoldResult({"accuracy": 0.5}), took)
        idle.append(run)
    return {run.name: run for run in runs}, now


def growing(seconds: float, power: int) -> Callable[[int], float]:
    return lambda n: seconds * (n / N_TRAIN) ** power


steady, linear, quadratic = (partial(growing, power=power) for power in (0, 1, 2))


def test_all_are_finished_where_there_is_time() -> None:
    runs, ended = simulate({f"m{i}": linear(1.0) for i in range(11)})
    assert {run.state for run in runs.values()} == {"done"}
    assert all(len(run.results) == 10 and run.n_rows is None for run in runs.values())
    assert ended < 70


def test_a_slow_model_goes_on_with_a_part_that_uses_its_share() -> None:
    runs, ended = simulate({**{f"m{i}": linear(1.0) for i in range(9)}, "svm": quadratic(90.0)})
    assert {run.state for run in runs.values()} == {"done"}
    assert [name for name, run in runs.items() if run.n_rows is not None] == ["svm"]
    assert 5_000 <= (runs["svm"].n_rows or 0) <= 20_000
    assert len(runs["svm"].results) == 10
    assert ended < 150


@pytest.mark.parametrize("n_folds", [2, 10, 30, 100])
def test_modules_that_load_do_not_make_a_model_slow(n_folds: int) -> None:
    runs, _ = simulate({f"m{i}": steady(0.02) for i in range(11)}, n_folds=n_folds, budget=60.0)
    assert all(run.state == "done" and run.n_rows is None for run in runs.values())


def test_where_fewer_rows_do_not_help_a_model_is_unfinished() -> None:
    takes = {"m": linear(1.0), "predicts": steady(40.0), "n": linear(1.0)}
    runs, ended = simulate(takes, least=10)
    assert runs["predicts"].state == "unfinished"
    assert "longer than the budget allows" in runs["predicts"].words
    assert not runs["predicts"].results
    assert runs["predicts"].attempts == 3
    assert runs["m"].state == runs["n"].state == "done"
    assert runs["m"].n_rows is runs["n"].n_rows is None
    assert ended < 150


@pytest.mark.parametrize("n_workers", [1, 2, 5])
@pytest.mark.parametrize("budget", [1.0, 10.0, 150.0])
def test_the_budget_is_kept_whatever_models_do(n_workers: int, budget: float) -> None:
    def erratic(n: int) -> float:
        erratic.calls += 1  # type: ignore[attr-defined]
        return 0.1 if erratic.calls < 4 else 1e9  # type: ignore[attr-defined]

    erratic.calls = 0  # type: ignore[attr-defined]
    takes = {"a": linear(0.5), "b": erratic, "c": quadratic(1e6), "d": steady(1e9), "e": linear(9)}
    takes["f"] = linear(0.1)
    runs, ended = simulate(takes, n_workers=n_workers, budget=budget)
    assert ended <= budget + 2.0
    assert all(run.over for run in runs.values())
    assert runs["b"].state == runs["d"].state == "unfinished"
    if budget == 150.0:
        assert runs["a"].state == runs["f"].state == "done"
        assert runs["b"].words.startswith("unfinished: 3 of 10 folds")


def test_workers_help_with_the_last_model() -> None:
    runs, ended = simulate({"only": linear(10.0)}, n_folds=10)
    assert runs["only"].state == "done"
    assert ended < 70  # 100 seconds of work


def test_an_error_ends_its_model_alone() -> None:
    runs = [Run(name, 10, N_TRAIN, 700) for name in "ab"]
    schedule = Schedule(runs, 1, 100.0, lambda: 0.0)
    job = schedule.next_job(None)
    assert job is not None
    schedule.record(*job, FoldResult(error="ValueError: no"), 0.1)
    assert (runs[0].state, runs[0].words) == ("error", "error: ValueError: no")
    schedule.record(runs[0], 1, FoldResult({"accuracy": 1.0}), 0.1)  # from another worker
    assert not runs[0].results
    assert schedule.next_job(runs[0]) == (runs[1], 0)


def test_a_share_is_of_what_models_under_way_leave_and_time_left_is_told() -> None:
    runs = [Run(name, 10, N_TRAIN, 700) for name in "abc"]
    schedule = Schedule(runs, 2, 100.0, lambda: 0.0)
    assert schedule.share() == pytest.approx(200 / 3)
    job = schedule.next_job(None)
    assert job is not None
    schedule.record(*job, FoldResult({"accuracy": 1.0}), 4.0)
    assert schedule.share() == pytest.approx((200 - 9 * 4) / 2)
    assert schedule.seconds_left() == pytest.approx((9 * 4 + 20 * 4) / 2)


def test_rows_are_round_numbers() -> None:
    assert [rounded(n) for n in (0.2, 7, 99, 4_321)] == [0, 7, 90, 4_000]
