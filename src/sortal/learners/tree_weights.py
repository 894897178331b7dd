"""What the classes count for in a tree: priors, class weights and costs, as whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal import native
from sortal.data.checks import choose, non_negative
from sortal.errors import OptionError, WeightError, listed
from sortal.learners.options import read_class_weight, read_costs, read_priors
from sortal.models.tree_criteria import CRITERIA
from sortal.models.tree_shares import SMOOTHINGS, Smoothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.learners.tree import TreeOptions, TreeRows
    from sortal.models.tree import TreeModel

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]

# Multiples are rounded to so many levels, and the smallest of them to so many.
_LEVELS = 1 << 20
_LEAST_LEVELS = 1 << 10

# The most units that rows may count for together: where the core counts copies, logarithms must
# tell single ones apart; otherwise sums must fit 64 bits.
_MOST_COPIES = 2.0**45
_MOST_UNITS = 2.0**61

# Numbers whose ratio is so close to 1 are equal but for their rounding.
_ALIKE = 1e-13

# A factor that is smaller than this beside another could be lost in a product.
_FARTHEST = 1e-100

_DEFAULT_LAMBDA = 5.0


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """`factors` and `costs` as in `TreeModel`; what a row of each class counts in growing.

    `multiples` are whole numbers ∝ factor_k Σ_j costs[k, j]; None where these are all equal.
    """

    factors: Float | None
    costs: Float | None
    multiples: Int64 | None


def read_weights(options: TreeOptions, rows: TreeRows) -> ClassWeights:
    """Priors or class weights, and costs, for the rows of a fit."""
    classes = rows.schema.classes
    units = class_units(rows)
    factors = _read_factors(options, classes, np.ldexp(units.astype(np.float64), -rows.exponent))
    costs = read_tree_costs(options.costs, classes)
    if costs is not None and not costs.any(axis=1).all():
        free = [label for label, row in zip(classes, costs, strict=True) if not row.any()]
        raise OptionError(
            f"costs has a row of zeros for {listed(free)}: to mistake such rows costs nothing, and "
            "they would not count in growing. Give them a cost above 0, or leave them out by "
            "sample_weight 0."
        )
    most = _most_units(options.criterion, rows.exponent)
    return ClassWeights(factors, costs, multiples(_pull(factors, costs), units, most))


def rows_as_grown(model: TreeModel, rows: TreeRows, criterion: str) -> TreeRows:
    """The rows of a tree as they counted when it grew."""
    return scale_rows(rows, multiples_of(model, criterion))


def units_as_grown(model: TreeModel, criterion: str) -> Int64:
    """The units of its nodes likewise."""
    found = multiples_of(model, criterion)
    return model.units if found is None else model.units * found


def multiples_of(model: TreeModel, criterion: str) -> Int64 | None:
    """What a unit of each class counted for when the tree grew; None: all alike."""
    most = _most_units(criterion, model.row_exponent)
    units = model.units[0] >> model.part_bits  # all rows are whole in the root
    return multiples(_pull(model.factors, model.costs), units, most)


def _most_units(criterion: str, exponent: int) -> float:
    copies_by_logs = CRITERIA[criterion].uses_logs and exponent == 0
    return _MOST_COPIES if copies_by_logs else _MOST_UNITS


def class_units(rows: TreeRows) -> Int64:
    """The units of each class."""
    one, K = np.zeros(len(rows.classes), dtype=np.int32), len(rows.schema.classes)
    return np.asarray(native.count_codes(one, 1, rows.classes, K, rows.units)[0])


def _read_factors(options: TreeOptions, classes: Values, weight: Float) -> Float | None:
    """What a unit of each class counts for, so that all weigh together what they do. (S 36)

    A fold may lack a class, which then counts as given, whatever that is.
    """
    there = weight > 0
    priors = read_priors(options.priors, classes)
    if priors is not None:
        name, given = "priors", np.where(there, priors, 1.0)
        factors = given / np.where(there, weight, 1.0)
    else:
        name = "class_weight"
        read = read_class_weight(options.class_weight, classes, weight)
        given = factors = np.where(there, read, 1.0)
    if not there.all():
        factors = np.where(there, factors, factors[there].max())
    if not given.all():
        nothing = [label for label, number in zip(classes, given, strict=True) if not number]
        raise OptionError(
            f"{name} gives {listed(nothing)} the number 0, and rows that count for nothing cannot "
            "be in a tree: give a number above 0, or leave these rows out by sample_weight 0."
        )
    if _alike(factors):
        return None
    factors = factors / factors.max()
    if factors.min() < _FARTHEST:
        raise OptionError(
            f"{name} spans too many orders of magnitude: a class would vanish beside another. Give "
            f"numbers whose ratio is above {_FARTHEST:g}, or leave its rows out by sample_weight 0."
        )
    return np.asarray(factors * (weight.sum() / (factors @ weight)))


def read_tree_costs(given: Any, classes: Values) -> Float | None:
    """costs[i, j]; None also where whatever is wrong costs the same, as without costs."""
    costs = read_costs(given, classes)
    if costs is None:
        return None
    wrong = ~np.eye(len(classes), dtype=bool)
    if len(classes) > 1 and not costs.any():
        raise OptionError(
            "costs holds nothing but zeros, so that whatever is said costs the same: give costs "
            "above 0 to what is wrong, or None."
        )
    same = not costs.diagonal().any() and (costs[wrong] == costs.max(initial=0)).all()
    return None if same else costs


def _pull(factors: Float | None, costs: Float | None) -> Float | None:
    """factor_k Σ_j costs[k, j], up to a common factor; None: the same for all. (S 36)"""
    if costs is None:
        return factors
    # sums that are rounded once: equal costs in another order have equal sums
    sums = np.array([math.fsum(row) for row in (costs / costs.max()).tolist()])
    return sums if factors is None else sums * (factors / factors.max())


def _alike(numbers: Float) -> bool:
    return bool(np.ptp(numbers) <= _ALIKE * numbers.max())


def multiples(pull: Float | None, units: Int64, most: float) -> Int64 | None:
    """Whole numbers in the ratio of `pull`, one a class of so many units; None: all equal.

    Where the ratio is that of whole numbers of at most 2**20, the smallest such: {k: 2} is as two
    copies of each row. Otherwise the largest is 2**20, or more, so that the smallest has ten bits;
    fewer where the units would add up to more than `most`.
    """
    if pull is None or _alike(pull):
        return None
    ratio = pull / pull.max()
    exact = _whole_ratio(ratio)
    if exact is not None and float(exact @ units.astype(np.float64)) <= most:
        return exact
    levels = max(float(_LEVELS), _LEAST_LEVELS / max(float(ratio.min()), 1e-300))
    levels = min(levels, most / float(ratio @ units))
    if levels < _LEAST_LEVELS:
        raise WeightError(
            f"sample_weight sums to {units.sum():.3g}, too many copies to be counted with weights "
            "of classes: divide the weights by a constant, or use criterion='gini'."
        )
    return np.asarray(np.maximum(np.rint(ratio * levels), 1).astype(np.int64))


def _whole_ratio(ratio: Float) -> Int64 | None:
    """The smallest whole numbers in this ratio, where the largest is at most 2**20."""
    common = 1
    parts = []
    for r in ratio.tolist():
        part = Fraction(r).limit_denominator(_LEVELS)
        common = math.lcm(common, part.denominator)
        if not part or abs(float(part) - r) > _ALIKE * r or common > _LEVELS:
            return None
        parts.append(part)
    return np.array([int(part * common) for part in parts], dtype=np.int64)


def scale_rows(rows: TreeRows, multiples: Int64 | None) -> TreeRows:
    """The rows as they count in growing; in sizes they count as ever."""
    if multiples is None:
        return rows
    factors = multiples[rows.classes]
    if rows.units is None:
        return replace(rows, units=factors, scaled=True)
    single = not rows.copies or bool((rows.units == 1).all())
    sizes = None if single else rows.units
    return replace(rows, units=rows.units * factors, sizes=sizes, scaled=True)


def unscale(units: Int64, multiples: Int64 | None) -> Int64:
    """The units of nodes as they were before `scale_rows`."""
    if multiples is None:
        return units
    whole = (units + multiples // 2) // multiples
    return np.asarray(np.maximum(whole, units > 0))  # what is there stays there


def check_smoothing(options: TreeOptions) -> None:
    """Refuse what contradicts itself."""
    kind, strength = options.smoothing, options.smoothing_strength
    if kind is not None:
        choose("smoothing", kind, SMOOTHINGS)
    if strength is None:
        return
    non_negative("smoothing_strength", strength)
    if kind in (None, "laplace"):
        raise OptionError(
            f"smoothing_strength={strength!r} has nothing to act on where smoothing={kind!r}: "
            "leave it None, or set smoothing to 'm_estimate' or 'shrinkage'."
        )


def check_class_options(priors: Any, class_weight: Any) -> None:
    """Priors say what each class counts for in all, whatever its rows weigh."""
    if priors is not None and class_weight is not None:
        raise OptionError(
            "priors and class_weight both say what the classes count for, and priors leave nothing "
            "of class_weight: give one of them."
        )


def read_smoothing(options: TreeOptions, n_classes: int) -> Smoothing | None:
    """How shares are read; by default m is the number of classes, and λ 5."""
    kind, strength = options.smoothing, options.smoothing_strength
    if kind is None:
        return None
    default = {"laplace": 0.0, "m_estimate": float(n_classes), "shrinkage": _DEFAULT_LAMBDA}
    return Smoothing(kind, default[kind] if strength is None else float(strength))
