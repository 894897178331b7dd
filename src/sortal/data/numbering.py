"""Numbering: combinations of codes get one number each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal import native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int32]


def number_cells(codes: Codes, sizes: Sequence[int]) -> tuple[Codes, NDArray[np.intp]]:
    """The lexicographic rank of each row among the distinct rows, and a row of each rank."""
    key = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for j, size in enumerate(sizes):
        if span * size >= 1 << 62:  # the running number would overflow: rank what there is so far
            seen, key32 = native.rank_integers(key)
            key, span = key32.astype(np.int64), len(seen)
        key = key * size + codes[:, j]
        span *= max(size, 1)
    found, cell = native.rank_integers(key)
    first = np.zeros(len(found), dtype=np.intp)
    first[cell[::-1]] = np.arange(len(codes))[::-1]
    return cell, first
