"""Folds: rows dealt into parts, each of which is held out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.decision.options import is_whole
from sortal.errors import InputError, ParameterError, brief, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Codes, Mask, Places

    Int32 = Codes


def assign_folds(classes: Int32, n_folds: int, seed: int) -> Places:
    """A fold for each row: the rows of each class, shuffled, are dealt out one by one."""
    _refuse_few(n_folds, len(classes))
    order = _by_class(classes, seed)
    folds = np.empty(len(classes), dtype=np.intp)
    folds[order] = np.arange(len(classes)) % n_folds
    return folds


def held_out(classes: Int32, part: float, seed: int) -> Mask:
    """The rows to be left out: this part of each class, but never all of it."""
    order = _by_class(classes, seed)
    counts = np.bincount(classes)
    rank = np.arange(len(classes)) - np.repeat(np.cumsum(counts) - counts, counts)
    most = np.minimum(np.rint(part * counts), counts - 1)
    out = np.zeros(len(classes), dtype=bool)
    out[order] = rank < most[classes[order]]
    if not out.any():
        raise InputError(
            f"validation_fraction={part!r} holds out no row of {len(classes)}: every class keeps "
            "one row at least. Give a larger share or more rows, or prune with rows of your own by "
            "prune()."
        )
    return out


def _by_class(classes: Int32, seed: int) -> Places:
    """The rows in the order of their classes, shuffled within each."""
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    return np.asarray(shuffled[np.argsort(classes[shuffled], kind="stable")])


def numbered(given: Any, n_rows: int) -> Places:
    """Folds given as a number a row, counted from 0 in ascending order."""
    folds = np.asarray(given)
    if folds.ndim != 1 or folds.dtype.kind not in "iu":
        raise ParameterError(
            f"cv is an array of the shape {folds.shape} and the type {folds.dtype}: give one whole "
            "number a row, the fold that it is left out with."
        )
    if len(folds) != n_rows:
        raise ParameterError(
            f"cv has {counted(len(folds), 'fold number')} for {counted(n_rows, 'row')}: give one a "
            "row."
        )
    names, places = np.unique(folds, return_inverse=True)
    if len(names) < 2:
        raise ParameterError(
            f"cv puts all rows into fold {names[0]}, so that none is left to grow from: give two "
            "folds at least."
        )
    return np.asarray(places)


def from_pairs(pairs: Sequence[Any], n_rows: int) -> Places:
    """Folds given as pairs of rows to grow from and rows to be left out."""
    _refuse_few(len(pairs), n_rows)
    folds = np.full(n_rows, -1, dtype=np.intp)
    for fold, (_, left_out) in enumerate(pairs):
        rows = np.asarray(left_out)
        if rows.dtype.kind not in "iu" or not np.isin(rows, np.arange(n_rows)).all():
            raise ParameterError(
                f"cv leaves out rows in fold {fold} that are no positions of "
                f"{counted(n_rows, 'row')}."
            )
        if (folds[rows] >= 0).any():
            raise ParameterError(
                f"cv leaves out a row in two folds, {folds[rows].max()} and {fold}: every row is "
                "to be left out once. Use KFold or StratifiedKFold, or give fold numbers."
            )
        folds[rows] = fold
    if (folds < 0).any():
        raise ParameterError(
            f"cv never leaves out row {int((folds < 0).argmax())}: every row is to be left out "
            "once. Use KFold or StratifiedKFold, or give fold numbers."
        )
    return numbered(folds, n_rows)


def _refuse_few(n_folds: int, n_rows: int) -> None:
    if not is_whole(n_folds) or n_folds < 2:
        raise ParameterError(f"cv={brief(n_folds)} cannot be used: give two folds at least.")
    if n_folds > n_rows:
        raise ParameterError(
            f"cv={brief(n_folds)} asks for more folds than there are rows ({n_rows}): give fewer "
            "folds."
        )
