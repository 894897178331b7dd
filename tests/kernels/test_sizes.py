"""How many rows, landmarks and bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sortal.kernels import first_pass as kernel_sizes
from sortal.kernels.first_pass import (
    count_landmarks,
    free_memory,
    needed_memory,
    resolve_solver,
    sample_size,
)
from sortal.kernels.learn import KernelOptions


@pytest.mark.parametrize(
    ("asked", "n", "sample"),
    [(10, 40, 40), (10, 90_000, 5000), (2000, 90_000, 10_000), (60_000, 90_000, 60_000)],
)
def test_landmarks_are_chosen_among_so_many_rows(asked: int, n: int, sample: int) -> None:
    assert sample_size(asked, n) == sample


def test_how_many_landmarks() -> None:
    assert count_landmarks(KernelOptions(), 300) == 300
    assert count_landmarks(KernelOptions(), 30_000) == 1000
    assert count_landmarks(KernelOptions(n_landmarks=30), 30) == 30


def test_memory_follows_the_square_of_the_rows() -> None:
    assert needed_memory(KernelOptions(), 1000) == 8e6
    for by_eigenvectors in ({"ridge": 0}, {"ridge": "loo"}, {"penalty": "coefficients"}):
        assert needed_memory(KernelOptions(**by_eigenvectors), 1000) > 8e6


def test_memory_where_the_system_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (free_memory() or 0) > 1e6
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "MemAvailable: many")
    assert (free_memory() or 0) > 1e6  # all that is there
    monkeypatch.delattr("os.sysconf")
    assert free_memory() is None
    assert resolve_solver(KernelOptions(), 10_000) == "dense"
    assert resolve_solver(KernelOptions(), 10_001) == "landmarks"
    monkeypatch.setattr(kernel_sizes, "free_memory", lambda: 1.0)
    assert resolve_solver(KernelOptions(), 10) == "landmarks"
    assert resolve_solver(KernelOptions(solver="dense"), 10) == "dense"
