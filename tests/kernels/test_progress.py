"""How far a fit is."""

from __future__ import annotations

from sortal.kernels.first_pass import StagedProgress, each


def test_parts_of_a_hundred_rise() -> None:
    told: list[tuple[int, int]] = []
    progress = StagedProgress(lambda done, total: told.append((done, total)))
    first, second = progress.part(0.0, 0.5), progress.part(0.25, 1.0)
    first(0.5)
    first(0.501)  # nothing new
    first(1.0)
    second(0.1)  # less than was told before
    second(1.0)
    assert told == [(25, 100), (50, 100), (100, 100)]


def test_items_are_told_of_as_they_come() -> None:
    told: list[float] = []
    assert list(each("abcd", 4, told.append)) == list("abcd")
    assert told == [0.25, 0.5, 0.75, 1.0]
    StagedProgress(None).tell(1.0)
