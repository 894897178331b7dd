"""Rows that come in parts, gathered into one place without being in memory twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import HOLE
from sortal.data.values import union
from sortal.summaries.kept_rows import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.summaries.kept_rows import KeptRows

    Codes = NDArray[np.int32]


def gather_rows(parts: Iterable[KeptRows], n: int, dtype: np.dtype[Any]) -> KeptRows:
    """Rows that come in parts, in the order of their ids, copied into one place: n in all.

    What merging the parts would give, without their numbers being twice in memory.
    """
    gathered: KeptRows | None = None
    at, all_units = 0, []
    for part in parts:
        if gathered is None:
            gathered = _room(part, n, dtype)
        now = slice(at, at + len(part))
        gathered.numbers[now], gathered.ids[now] = part.numbers, part.ids
        values = []
        for j, (u, v) in enumerate(zip(gathered.values, part.values, strict=True)):
            values.append(_add_codes(gathered.codes[:, j], u, at, v, part.codes[:, j]))
        labels = _add_codes(gathered.y, gathered.labels, at, part.labels, part.y)
        all_units.append(part.row_units())
        at += len(part)
        gathered = replace(gathered, values=tuple(values), labels=labels, next_id=part.next_id)
    assert gathered is not None  # noqa: S101  (a source has a block)
    return replace(gathered, units=canonical(np.concatenate(all_units), gathered.exponent))


def _room(like: KeptRows, n: int, dtype: np.dtype[Any]) -> KeptRows:
    """Room for n rows, without any value so far."""
    return replace(
        like,
        numbers=np.empty((n, like.numbers.shape[1]), dtype=dtype),
        codes=np.empty((n, len(like.values)), dtype=np.int32),
        values=((),) * len(like.values),
        labels=(),
        y=np.empty(n, dtype=np.int32),
        ids=np.empty(n, dtype=np.int64),
    )


def _add_codes(codes: Codes, values: Values, at: int, more: Values, added: Codes) -> Values:
    """Codes join `at` codes that are there already; the values of both."""
    both, a, b = union(values, more)
    if len(both) > len(values) and at:
        codes[:at] = np.append(a, HOLE)[codes[:at]]
    codes[at : at + len(added)] = np.append(b, HOLE)[added]
    return both
