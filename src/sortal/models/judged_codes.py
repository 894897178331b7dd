"""What is judged, checked: codes of classes, and probabilities by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.printing import counted
from sortal.errors import InputError, LabelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal.models.records import Cell

    Float = NDArray[np.float64]
    Codes = NDArray[np.intp]

# Sums of probabilities may be off by rounding.
_NEAR = 1e-6


def read_classes(classes: Sequence[Any]) -> tuple[Cell, ...]:
    """Labels as cells of tables: what is no word and no number is shown as a word."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes]
    return tuple(one if isinstance(one, str | bool | int | float) else str(one) for one in plain)


def read_codes(name: str, codes: ArrayLike, n_classes: int, n_rows: int | None = None) -> Codes:
    """Codes of classes, one a row."""
    given = np.asarray(codes)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise InputError(
            f"{name} has the shape {given.shape} and the type {given.dtype}: give one code of a "
            "class a row, a whole number from 0."
        )
    if n_rows is not None and len(given) != n_rows:
        raise InputError(
            f"{name} has {counted(len(given), 'row')} and truth {n_rows}: give one code a row."
        )
    if len(given) and not 0 <= int(given.min()) <= int(given.max()) < n_classes:
        raise LabelError(
            f"{name} has codes from {given.min()} to {given.max()}, and there are {n_classes} "
            f"classes: give codes from 0 to {n_classes - 1}."
        )
    return given.astype(np.intp)


def read_probabilities(probabilities: ArrayLike, n_rows: int, n_classes: int) -> Float:
    """Probabilities, a row each and a column for every class."""
    given = np.asarray(probabilities, dtype=np.float64)
    if given.shape != (n_rows, n_classes):
        raise InputError(
            f"probabilities has the shape {given.shape}: give ({n_rows}, {n_classes}), a row for "
            "each row of truth and a column for each class."
        )
    if not (np.isfinite(given).all() and (given >= 0).all() and (given <= 1 + _NEAR).all()):
        raise InputError("probabilities has numbers outside 0 to 1: give probabilities.")
    return given


def need_rows(n: int) -> None:
    """Refuse to judge nothing."""
    if n == 0:
        raise InputError("There is no row to judge: give one prediction at least.")
