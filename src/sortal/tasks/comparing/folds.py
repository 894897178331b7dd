"""The folds of a comparison: how many, which rows, and parts of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from sortal.data.checks import whole_number
from sortal.data.printing import counted
from sortal.errors import LabelError, OptionError, listed, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

# So many repeats below so many rows: the fewer rows, the more a score depends on how they fall.
_REPEATS = ((1_000, 10), (10_000, 3))
# Repeats; rows of all folds together, 8 bytes each; and what scikit-learn takes for a seed.
_MOST_REPEATS, _MOST_PLACES, _MOST_SEED = 1_000, 1 << 28, 2**32 - 1


@dataclass(frozen=True)
class Folds:
    """Repeated stratified cross-validation; the same for every model. `notes` say what was set."""

    folds: int
    repeats: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many fits it takes."""
        return self.folds * self.repeats

    @property
    def test_share(self) -> float:
        """The test rows of a fold by its training rows."""
        return 1 / (self.folds - 1)

    def split(self, y: NDArray[Any]) -> list[tuple[Rows, Rows]]:
        """The training and the test rows of each fold, by the labels of all rows."""
        splitter = RepeatedStratifiedKFold(
            n_splits=self.folds, n_repeats=self.repeats, random_state=self.seed
        )
        return list(splitter.split(np.zeros((len(y), 1)), y))

    def __str__(self) -> str:
        once = {1: "once", 2: "twice"}.get(self.repeats, f"{self.repeats} times")
        return f"{counted(self.folds, 'fold')}, {once}"


def plan_folds(
    counts: Sequence[int], classes: Sequence[Any], folds: Any, repeats: Any, seed: Any
) -> Folds:
    """Folds for classes of so many rows each: no more than the smallest class can fill."""
    whole_number("folds", folds, 2)
    whole_number("repeats", repeats, 1, "what fits the number of rows")
    whole_number("random_state", seed, 0)
    if seed > _MOST_SEED:
        raise OptionError(
            f"random_state={told(seed)} cannot be used: give a whole number from 0 to {_MOST_SEED}."
        )
    _refuse_lonely(counts, classes)
    notes = []
    least = min(counts)
    if least < folds:
        rare = classes[list(counts).index(least)]
        notes.append(
            f"{least} folds instead of {told(folds)}: class {rare!r} has {least} rows, and every "
            "fold needs one."
        )
    n_folds = min(int(folds), least)
    if repeats is None:
        repeats = next((r for below, r in _REPEATS if sum(counts) < below), 1)
    _refuse_many(repeats, n_folds, sum(counts))
    return Folds(n_folds, int(repeats), int(seed), tuple(notes))


def _refuse_many(repeats: int, n_folds: int, n_rows: int) -> None:
    """No more than memory holds; repeats share their rows, so that many more tell little more."""
    most = max(1, min(_MOST_REPEATS, _MOST_PLACES // (n_folds * n_rows)))
    if repeats > most:
        raise OptionError(
            f"repeats={told(repeats)} cannot be used: {n_folds} folds of {n_rows:,} rows can be "
            f"repeated {counted(most, 'time')} at most. Give fewer, or None for what fits the rows."
        )


def _refuse_lonely(counts: Sequence[int], classes: Sequence[Any]) -> None:
    lonely = [label for label, n in zip(classes, counts, strict=True) if n < 2]
    if lonely:
        one = len(lonely) == 1
        raise LabelError(
            f"{'Class' if one else 'Classes'} {listed(lonely)} of the target "
            f"{'has' if one else 'have'} one row only, which cannot be both learned from and "
            "tested on: leave such rows out, join rare classes into one, or add rows."
        )


def part_of(rows: Rows, y: NDArray[Any], n: int, seed: int, fold: int) -> Rows:
    """About n of the training rows of a fold, ascending: of each class the same share.

    Of every class two rows at least, where it has them. The rows of a smaller part are among those
    of a larger one.
    """
    rng = np.random.default_rng([seed, fold])
    kept = []
    for label in np.unique(y[rows]):
        own = rng.permutation(rows[y[rows] == label])
        kept.append(own[: max(2, round(n * len(own) / len(rows)))])
    return np.sort(np.concatenate(kept))
