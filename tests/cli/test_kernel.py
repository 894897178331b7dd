"""A kernel discriminant at the command line: what its file holds, and what is shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIT = ("fit", "penguins.csv", "-t", "species", "-l", "kernel", "-o", "new.sortal")


@pytest.mark.usefixtures("here")
def test_a_file_that_holds_rows_says_so(run: Callable[..., Any]) -> None:
    done = run(*FIT)
    assert done.code == 0
    assert done.out.startswith("kernel discriminant, ")
    assert "wrote new.sortal\nnote: this file holds the rows of the basis" in done.err
    assert "holds the rows" not in run(*FIT, "-q").err


def test_a_model_is_shown_by_its_classes_and_directions(
    run: Callable[..., Any], here: Path
) -> None:
    run(*FIT, "--set", "gamma=0.25")
    assert (here / "new.sortal").exists()
    shown = run("show", "new.sortal").out
    assert "0.25" in next(line for line in shown.splitlines() if line.startswith("width γ"))
    assert "dense" in next(line for line in shown.splitlines() if line.startswith("solver"))
    assert "Projected classes" in shown
