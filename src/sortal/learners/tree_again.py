"""Whether the rows given are those that a tree was fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.data.printing import agreed, counted
from sortal.errors import InputError, listed
from sortal.models.faces import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.learners.tree import TreeRows
    from sortal.models.tree import TreeModel


def refuse_strangers(model: TreeModel, rows: TreeRows) -> None:
    """Refuse other columns, values that the tree does not know, holes that it has not met."""
    strange = rows.encoded.unknown + (rows.encoded.holes if model.policy == "error" else 0)
    other = rows.schema != model.schema or rows.column_kinds != model.column_kinds
    if other or strange.any():
        names = [name for name, n in zip(rows.schema.names, strange, strict=True) if n]
        what = f"hold strange values in {listed(names)}" if names else "have other columns"
        raise InputError(f"The rows given {what}: give the same rows as to fit.")
    # of a tree that was taken in, holes are not counted, and ranges not known
    differ = rows.encoded.holes != np.array(model.holes)
    if model.ranges is not None and differ.any():
        j = int(np.flatnonzero(differ)[0])
        n = int(rows.encoded.holes[j])
        raise InputError(
            f"The rows given are not those of the fit: {counted(n, 'cell')} of "
            f"{rows.schema.names[j]!r} {agreed(n, 'is', 'are')} missing, and at fit there were "
            f"{model.holes[j]}. Give the same rows as to fit."
        )


def refuse_other_rows(
    model: TreeModel, rows: TreeRows, found: NDArray[np.int64], n_rows: int, t: int
) -> None:
    """Refuse rows whose units by class are not those that the tree has in node t."""
    # the sums of a tree that was taken in are rounded once, and weights with a fraction one by one
    rounding = n_rows if model.exponent else 0
    alike = rows.exponent == model.row_exponent
    if not alike or (abs(found - model.units[t]) > rounding).any():
        exponent = rows.exponent + model.part_bits
        given, kept = np.ldexp(found.astype(float), -exponent), model.weights()[t]
        where = f"in node {t}" if t else "in all"
        raise InputError(
            f"The rows given are not those of the fit: {where} the classes {_listed(model.classes)}"
            f" weigh {_listed(given.tolist())}, and at fit they weighed {_listed(kept.tolist())}. "
            "Give the same rows, and the same sample_weight, as to fit; without those that "
            "pruning='reduced_error' held out."
        )


def _listed(cells: Sequence[object], most: int = 10) -> str:
    told = [number_text(cell) if isinstance(cell, float) else repr(cell) for cell in cells[:most]]
    return f"({', '.join([*told, '…'] if len(cells) > most else told)})"
