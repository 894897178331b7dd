"""Rows in a tree's terms: read, weighed as whole numbers, and sent down to the nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.data.columns import (
    MISSING,
    UNKNOWN,
    ColumnSchema,
    Schema,
    as_categories,
    as_numbers,
    recode_columns,
)
from sortal.data.sources import with_weight
from sortal.data.table import infinite
from sortal.decision.options import read_class_weight, read_costs, read_priors
from sortal.decision.posterior import log_of
from sortal.decision.scores import Question, ScoredTerms
from sortal.errors import LabelError, ParameterError, WeightError, listed
from sortal.native import trees
from sortal.trees.branches import heaviest_branches
from sortal.trees.model import TreeModel, decide_labels, reweigh
from sortal.trees.split_scores import CRITERIA_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, CostsLike, Counts, Float
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.decision.scores import RowPass
    from sortal.trees.learn import CategoricalSplit, TreeOptions

    Int64 = Counts

ASKED_AS = {"subset": trees.SUBSET, "multiway": trees.MULTIWAY}


# --- Cells as a tree reads them, and the nodes where rows end ------------------------------------


@dataclass(frozen=True, eq=False)
class EncodedTreeRows:
    """A block in a tree's terms: float64 where a column is cut, else codes by the schema's values.

    `missing` and `unknown` count cells by column.
    """

    columns: tuple[Float | Codes, ...]
    missing: Counts
    unknown: Counts


def encode(
    batch: Batch, schema: Schema, column_kinds: Sequence[int], unseen: Sequence[Sequence[int]]
) -> EncodedTreeRows:
    """Cells as a tree reads them; infinite numbers are refused by name.

    Codes listed in `unseen` count as unknown.
    """
    read: dict[int, Float | Codes] = {}
    missing, unknown = np.zeros((2, len(schema.columns)), dtype=np.int64)
    numbers = [j for j, column in enumerate(schema.columns) if column.is_number]
    arrays = [as_numbers(batch.columns[j]) for j in numbers]
    read.update(zip(numbers, arrays, strict=True))
    missing[numbers] = native.count_missing(arrays)
    if len(strange := np.flatnonzero(missing < 0)):
        raise infinite(schema.names[strange[0]], "finite numbers")
    words = [j for j, column in enumerate(schema.columns) if not column.is_number]
    listed = [schema.columns[j].values for j in words]
    coded = recode_columns([batch.columns[j] for j in words], listed, batch.n_rows)
    for j, codes in zip(words, coded, strict=True):
        if unseen[j]:
            codes[np.isin(codes, unseen[j])] = UNKNOWN
        missing[j], unknown[j] = (np.count_nonzero(codes == mark) for mark in (MISSING, UNKNOWN))
        read[j] = as_ranks(codes) if column_kinds[j] == trees.CUT else codes
    return EncodedTreeRows(tuple(read[j] for j in range(len(read))), missing, unknown)


def encode_for(model: TreeModel, batch: Batch) -> EncodedTreeRows:
    """A block in the terms of a tree."""
    return encode(batch, model.schema, model.column_kinds, model.unseen)


def as_ranks(codes: Codes) -> Float:
    """Codes as numbers to be cut; a missing value is NaN, a value that no fit saw infinite."""
    ranks = np.where(codes == MISSING, np.nan, codes)
    return np.where(codes == UNKNOWN, np.inf, ranks)


def end_nodes(model: TreeModel, encoded: EncodedTreeRows) -> Codes:
    """The node where each row ends."""
    nodes = np.empty(len(encoded.columns[0]), dtype=np.int32)
    is_cut = np.array(model.column_kinds) == trees.CUT
    # infinite numbers stand for unknown values, which only the careful way through knows
    fallback = np.empty_like(nodes) if encoded.unknown[is_cut].any() else None
    arrays = model.arrays
    if model.policy == "fractional":  # of all branches the heaviest is followed
        arrays = arrays._replace(missing=heaviest_branches(model))
    trees.route_rows(arrays, encoded.columns, model.n_values, nodes, fallback)
    return nodes


def ends(model: TreeModel) -> RowPass:
    """A pass: the node where each row of a block ends."""

    def route(batch: Batch) -> ScoredTerms:
        encoded = encode_for(model, batch)
        return ScoredTerms(end_nodes(model, encoded), encoded.missing, encoded.unknown)

    return route


def answer(model: TreeModel, question: Question) -> RowPass:
    """A pass: what is asked of a block's rows, by the shares where they end.

    Where missing values spread, a row ends in several nodes, with a part in each.
    """
    costs, spreads = read_tree_costs(question.costs, model.classes), model.policy == "fractional"

    def told(shares: Float) -> NDArray[np.generic]:
        if question.what == "label":
            return decide_labels(shares, costs)
        return log_of(shares) if question.what == "log_proba" else shares

    as_fitted = question.prior is None and np.array_equal(costs, model.costs)  # type: ignore[arg-type]
    if question.what == "label" and as_fitted and not spreads:
        by_node: NDArray[np.generic] = model.labels()
    else:
        shares = model.shares()
        if question.prior is not None:
            shares = reweigh(shares, model.plain_shares()[0], question.prior)
        by_node = told(shares)

    def ask(batch: Batch) -> ScoredTerms:
        encoded = encode_for(model, batch)
        if spreads and encoded.missing.any():
            given = encoded.columns, model.n_values, model.pull(), shares
            answered = told(trees.spread_answers(model.arrays, *given))
        else:
            answered = by_node[end_nodes(model, encoded)]
        return ScoredTerms(answered, encoded.missing, encoded.unknown)

    return ask


# --- The rows of a fit ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeRows:
    """The rows of a fit that have weight, as the core reads them.

    Where classes count for more or less than their rows weigh, units are `scaled`, and no copies;
    `sizes` are then the copies, None where each row is one.
    """

    schema: Schema
    column_kinds: tuple[int, ...]
    encoded: EncodedTreeRows
    classes: Codes
    units: Counts | None
    exponent: int
    sizes: Counts | None = None
    scaled: bool = False

    @property
    def labels(self) -> Values:
        """Their classes."""
        return self.schema.classes

    @property
    def class_weights(self) -> Int64:
        """Their weights, in units."""
        return class_units(self)

    @property
    def total_units(self) -> int:
        """The weight of all rows, in units."""
        return len(self.classes) if self.units is None else int(self.units.sum())

    @property
    def copies(self) -> bool:
        """Whether units are copies of rows, as whole numbers are."""
        return self.exponent == 0 and not self.scaled

    @property
    def size(self) -> int:
        """How many rows there are, copies counted."""
        if self.sizes is not None:
            return int(self.sizes.sum())
        return self.total_units if self.copies else len(self.classes)


def read_rows(batch: Batch, declared: Schema, options: TreeOptions) -> TreeRows:
    """All rows of a fit, over the values and classes that have weight and the values declared."""
    batch = with_weight(batch)
    labels = batch.labels()
    if len(labels.values) > trees.MOST_CLASSES:
        raise LabelError(
            f"y holds {len(labels.values)} classes, and a tree tells at most {trees.MOST_CLASSES} "
            "apart. Check that y is no identifier; join classes otherwise."
        )
    schema = read_schema(declared, batch)
    kinds = column_kinds(schema, options.categorical_split)
    encoded = encode(batch, schema, kinds, ((),) * len(kinds))
    return TreeRows(schema, kinds, encoded, labels.codes, batch.units, batch.exponent)


def read_again(batch: Batch, model: TreeModel) -> TreeRows:
    """The rows of a fit once more, in the terms of its model."""
    batch = with_weight(batch)
    labels = batch.labels()
    codes = labels.recode({label: k for k, label in enumerate(model.classes)})
    if (codes < 0).any():
        strange = [label for label in labels.values if label not in model.classes]
        raise LabelError(
            f"y holds {listed(strange)}, and the tree was fitted with the classes "
            f"{listed(model.classes)}: give the same rows as to fit."
        )
    encoded = encode_for(model, batch)
    return TreeRows(model.schema, model.column_kinds, encoded, codes, batch.units, batch.exponent)


def read_schema(declared: Schema, batch: Batch) -> Schema:
    """What was declared, joined by the values and classes of the rows."""
    columns = []
    for column, cells in zip(declared.columns, batch.columns, strict=True):
        if not column.is_number and (values := as_categories(cells).values):
            columns.append(column.merge(ColumnSchema(column.name, "category", values)))
        else:
            columns.append(column)
    return Schema(tuple(columns), batch.labels().values)


def column_kinds(schema: Schema, categorical_split: CategoricalSplit) -> tuple[int, ...]:
    """How each column is asked. An ordered category is cut, unless it is named in a mapping."""
    named: Mapping[str, str] = categorical_split if isinstance(categorical_split, Mapping) else {}
    _refuse_strangers(named, schema)
    default = "subset" if isinstance(categorical_split, Mapping) else categorical_split
    kinds = []
    for column in schema.columns:
        cut = column.is_number or (column.ordered and column.name not in named)
        kinds.append(trees.CUT if cut else ASKED_AS[named.get(column.name, default)])
    return tuple(kinds)


def _refuse_strangers(named: Mapping[str, str], schema: Schema) -> None:
    kinds = {column.name: column.is_number for column in schema.columns}
    for name in named:
        if name not in kinds:
            raise ParameterError(
                f"categorical_split names {name!r}, which is no column of this table: it has "
                f"{listed(schema.names)}."
            )
        if kinds[name]:
            raise ParameterError(
                f"categorical_split names {name!r}, which holds numbers or dates: name a column of "
                "categories, or make it one by categorical_features."
            )


# --- Priors, class weights and costs, as whole numbers -------------------------------------------

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
        raise ParameterError(
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
    copies_by_logs = CRITERIA_BY_NAME[criterion].uses_logs and exponent == 0
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
        raise ParameterError(
            f"{name} gives {listed(nothing)} the number 0, and rows that count for nothing cannot "
            "be in a tree: give a number above 0, or leave these rows out by sample_weight 0."
        )
    if _alike(factors):
        return None
    factors = factors / factors.max()
    if factors.min() < _FARTHEST:
        raise ParameterError(
            f"{name} spans too many orders of magnitude: a class would vanish beside another. Give "
            f"numbers whose ratio is above {_FARTHEST:g}, or leave its rows out by sample_weight 0."
        )
    return np.asarray(factors * (weight.sum() / (factors @ weight)))


def read_tree_costs(given: CostsLike, classes: Values) -> Float | None:
    """costs[i, j]; None also where whatever is wrong costs the same, as without costs."""
    costs = read_costs(given, classes)
    if costs is None:
        return None
    wrong = ~np.eye(len(classes), dtype=bool)
    if len(classes) > 1 and not costs.any():
        raise ParameterError(
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


# --- How finely rows that go down several branches are parted, and limits in the scale of parts --

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
    spreads = model.policy == "fractional" and any(model.missing_counts)
    return _bits(rows, model.part_bits) if spreads else (0, 0)
