"""Folds as scikit-learn's users give them: a number, fold numbers, a splitter, or pairs of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.checks import is_whole
from sortal.data.weights import read_weights
from sortal.errors import OptionError, told
from sortal.learners.folds import dealt, from_pairs, numbered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Place = NDArray[np.intp]


def read_folds(
    cv: Any, classes: NDArray[np.int32], sample_weight: ArrayLike | None, seed: int
) -> Place:
    """A fold for each row that has weight; a splitter sees these rows only."""
    if is_whole(cv):
        return dealt(classes, int(cv), seed)
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):  # texts and patterns split, too
        pairs = list(cv.split(np.zeros((len(classes), 1)), classes))
        return from_pairs(pairs, len(classes))
    if sample_weight is None or np.ndim(sample_weight) == 0:
        return _listed(cv, len(classes))
    units = np.asarray(read_weights(sample_weight, np.size(sample_weight)).units)
    return numbered(_listed(cv, len(units))[units > 0], len(classes))


def _listed(cv: Any, n_rows: int) -> Place:
    try:
        items = [] if isinstance(cv, str | bytes) else list(cv)
    except TypeError:
        items = []
    if items and all(is_whole(item) for item in items):
        return numbered(np.array(items), n_rows)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return from_pairs(items, n_rows)
    raise OptionError(
        f"cv={told(cv)} cannot be used: give a number of folds, a fold number for each row, a "
        "splitter of scikit-learn, or pairs of rows to grow from and rows to leave out."
    )
