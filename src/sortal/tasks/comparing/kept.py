"""What models said of rows that they had not seen, kept where it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sortal.data.printing import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.tasks.comparing.budget import Run
    from sortal.tasks.comparing.contest import Problem


@dataclass(frozen=True, eq=False)
class Kept:
    """Out-of-fold predictions of one model, from the first repeat, in the order of the rows.

    `rows` are places among the labeled rows, of which there are `of`; `truth` and `said` are codes
    of the comparison's classes. `probabilities` has a column for every class, and is None where
    the model gives none. `folds` were done of `n_folds`; `trained_on` is the number of training
    rows where the budget left a part of them only.
    """

    rows: NDArray[np.intp]
    truth: NDArray[np.int32]
    said: NDArray[np.int32]
    probabilities: NDArray[np.float64] | None
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


def join_kept(run: Run, problem: Problem) -> Kept | None:
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
    return Kept(
        rows=rows,
        truth=problem.y[rows].astype(np.int32),
        said=cast("NDArray[np.int32]", said)[order],
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
