"""The budget, in simulated time: who runs fully, who on a part, who not at all."""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sortal.tasks.compare.fold_run import FoldResult
from sortal.tasks.compare.run import Run, Schedule, rounded, training_sizes

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
    n_train: int = N_TRAIN,
) -> tuple[dict[str, Run], float]:
    """Models that take so many seconds for a fold with n rows; and the CPU time of all workers."""
    now, spent = 0.0, 0.0
    runs = [Run(name, training_sizes(n_train, 2), n_folds) for name in takes]
    schedule = Schedule(runs, n_workers, budget)
    idle: list[Run | None] = [None] * n_workers
    events: list[tuple[float, int, Run, int, int, float, bool]] = []
    count = 0
    met: set[str] = set()
    while not schedule.over:
        for last in list(idle):
            job = schedule.next_job(last)
            if job is None:
                break
            idle.remove(last)
            run, fold = job
            needs = takes[run.name](run.size) + FIRST_TIME * (run.name not in met)
            met.add(run.name)
            allowed = schedule.limit(run)
            took = min(needs, allowed)
            count += 1
            late = needs > allowed
            heapq.heappush(events, (now + took, count, run, fold, run.size, took, late))
        assert events, "nobody works, and it is not over"
        now, _, run, fold, n_rows, took, late = heapq.heappop(events)
        spent += took
        if late:
            schedule.too_long(run, n_rows, took)
        else:
            schedule.record(run, fold, n_rows, FoldResult({"accuracy": 0.5}), took)
        idle.append(run)
    return {run.name: run for run in runs}, spent


def growing(seconds: float, power: int) -> Callable[[int], float]:
    return lambda n: seconds * (n / N_TRAIN) ** power


steady, linear, quadratic = (partial(growing, power=power) for power in (0, 1, 2))


def test_all_are_finished_where_there_is_time() -> None:
    runs, spent = simulate({f"m{i}": linear(1.0) for i in range(11)})
    assert {run.state for run in runs.values()} == {"done"}
    assert all(len(run.results) == 10 and run.part is None for run in runs.values())
    assert spent < 150  # the smaller parts, by which models show how long they take, are cheap


def test_a_slow_model_goes_on_with_a_part_that_fits_its_share() -> None:
    runs, spent = simulate({**{f"m{i}": linear(1.0) for i in range(9)}, "svm": quadratic(90.0)})
    assert {run.state for run in runs.values()} == {"done"}
    assert [name for name, run in runs.items() if run.part is not None] == ["svm"]
    assert runs["svm"].part == 11_000
    assert len(runs["svm"].results) == 10
    assert [n for n, _ in runs["svm"].curve] == [670, 2_700]
    assert spent < 300


@pytest.mark.parametrize("n_folds", [2, 10, 30, 100])
def test_modules_that_load_do_not_make_a_model_slow(n_folds: int) -> None:
    takes = {f"m{i}": steady(0.02) for i in range(11)}
    for n_train in (400, N_TRAIN):
        runs, _ = simulate(takes, n_folds=n_folds, budget=60.0, n_train=n_train)
        assert all(run.state == "done" and run.part is None for run in runs.values())


def test_where_fewer_rows_do_not_help_a_model_is_unfinished() -> None:
    runs, _ = simulate({"m": linear(1.0), "predicts": steady(1000.0), "n": linear(1.0)})
    assert runs["predicts"].state == "unfinished"
    assert "longer than the budget allows" in runs["predicts"].words
    assert not runs["predicts"].results
    assert runs["m"].state == runs["n"].state == "done"
    assert runs["m"].part is runs["n"].part is None


@pytest.mark.parametrize("n_workers", [1, 2, 5])
@pytest.mark.parametrize("budget", [10.0, 150.0])
def test_the_budget_is_about_kept_whatever_models_do(n_workers: int, budget: float) -> None:
    def erratic(n: int) -> float:
        erratic.calls += 1  # type: ignore[attr-defined]
        return 0.1 if erratic.calls < 8 else 1e9  # type: ignore[attr-defined]

    erratic.calls = 0  # type: ignore[attr-defined]
    takes = {"a": linear(0.5), "b": erratic, "c": quadratic(1e6), "d": steady(1e9), "e": linear(9)}
    takes["f"] = linear(0.1)
    runs, spent = simulate(takes, n_workers=n_workers, budget=budget)
    assert spent <= 2 * budget * n_workers + 60
    assert all(run.over for run in runs.values())
    assert runs["b"].state == runs["d"].state == "unfinished"
    if budget == 150.0:
        assert runs["a"].state == runs["f"].state == "done"


def test_an_error_ends_its_model_alone() -> None:
    runs = [Run(name, (400,), 10) for name in "ab"]
    schedule = Schedule(runs, 1, 100.0)
    job = schedule.next_job(None)
    assert job is not None
    schedule.record(*job, 400, FoldResult(error="ValueError: no"), 0.1)
    assert (runs[0].state, runs[0].words) == ("error", "error: ValueError: no")
    schedule.record(runs[0], 1, 400, FoldResult({"accuracy": 1.0}), 0.1)  # from another worker
    assert not runs[0].results
    assert schedule.next_job(runs[0]) == (runs[1], 0)


def test_a_share_is_of_what_models_under_way_leave_and_time_left_is_told() -> None:
    runs = [Run(name, (400,), 10) for name in "abc"]
    schedule = Schedule(runs, 2, 100.0)
    assert schedule.share() == pytest.approx(200 / 3)
    job = schedule.next_job(None)
    assert job is not None
    schedule.record(*job, 400, FoldResult({"accuracy": 1.0}), 4.0)
    assert schedule.share() == pytest.approx((196 - 9 * 4) / 2)
    # two models are to come, between its 40 seconds and their shares of 80
    left = 9 * 4 + 2 * (40 * 80) ** 0.5
    assert schedule.seconds_left(2.0) == pytest.approx(left / 2)
    assert schedule.seconds_left(4.0) == pytest.approx(left)  # workers got half of the clock


def test_rows_are_round_numbers() -> None:
    assert [rounded(n) for n in (7, 99, 432, 4_321)] == [7, 99, 430, 4_300]
    assert training_sizes(300, 2) == (300,)
    assert training_sizes(45_000, 2) == (670, 2_700, 11_000, 45_000)
