"""How finely rows that go down several branches are parted, and limits in the scale of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.errors import WeightError

if TYPE_CHECKING:
    from sortal.learners.tree import TreeRows
    from sortal.models.tree import TreeModel
    from sortal.native import trees

# Rows in parts have at most 2**58 units in all, and a row at most 2**40 parts; a unit is a part
# where there are at least 2**20.
_MOST_BITS, _MOST_PART_BITS, _LEAST_PART_BITS = 58, 40, 20


def part_bits(rows: TreeRows) -> tuple[int, int]:
    """In how many parts rows go down several branches, and how fine their units are; log2 of both.

    Parts of copies are counted exactly, unless there are too many of them.
    """
    fine = max(0, min(_MOST_PART_BITS, _MOST_BITS - rows.total_units.bit_length()))
    return _bits(rows, fine)


def _bits(rows: TreeRows, fine: int) -> tuple[int, int]:
    if rows.exponent == 0 and fine >= _LEAST_PART_BITS:
        return fine, fine
    # sizes count the parts of all rows within 64 bits
    size = rows.size if rows.sizes is None else int(rows.sizes.sum())
    bits = min(_MOST_PART_BITS, 61 - size.bit_length())
    if bits < _LEAST_PART_BITS:
        raise WeightError(
            f"sample_weight sums to {size:.3g} copies of rows, too many to be parted as "
            "missing='fractional' does: divide the weights by a constant, or use another missing."
        )
    return bits, fine


def bits_of(model: TreeModel, rows: TreeRows) -> tuple[int, int]:
    """The same of a tree and the rows that it grew from."""
    spreads = model.policy == "fractional" and any(model.holes)
    return _bits(rows, model.part_bits) if spreads else (0, 0)


def limits_in_parts(growth: trees.Growth) -> trees.Growth:
    """The limits where sizes count parts of rows: a millionth of a row that is missing is rounding.

    As the core reads them.
    """
    if not growth.part_bits:
        return growth
    size_slack, unit_slack = (
        1 << (bits - 20) if bits > 20 else 0 for bits in (growth.part_bits, growth.unit_bits)
    )
    size = min(growth.min_size << growth.part_bits, 1 << 61)
    units = max(growth.min_units - unit_slack, 0)
    return growth._replace(min_size=size - size_slack, min_units=units)
