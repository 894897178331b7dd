"""Growing a tree: rows in the form that the core grows from, and the model grown."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal import native
from sortal.data.columns import as_categories, brief_moments, column_ranges
from sortal.data.schema import ColumnSchema, Schema
from sortal.data.sources import with_weight
from sortal.errors import LabelError, WeightError, listed
from sortal.native import trees
from sortal.trees.criteria import CRITERIA_BY_NAME
from sortal.trees.model import TreeModel, code_counts
from sortal.trees.route import encode, end_nodes
from sortal.trees.rows import (
    TreeOptions,
    TreeRows,
    _is_share,
    column_kinds,
    part_bits,
    read_smoothing,
    read_weights,
    scale_rows,
    unscale,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Codes, Float
    from sortal.data.sources import Batch
    from sortal.trees.route import EncodedTreeRows


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
    encoded = encode(batch, model.schema, model.column_kinds, model.unseen)
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


def _check_total(rows: TreeRows, criterion: str) -> None:
    """Logarithms are whole numbers of units that the total fixes: a node must not vanish in one."""
    if CRITERIA_BY_NAME[criterion].uses_logs and rows.copies and rows.total_units >= 2**46:
        raise WeightError(
            f"sample_weight sums to {rows.total_units:.3g}, and {criterion} counts exactly up to "
            "2**46 copies of rows: divide the weights by a constant, or use criterion='gini'."
        )


def grow(rows: TreeRows, options: TreeOptions, threads: int) -> TreeModel:
    """Grow a tree. (ZM Alg. 19.1)"""
    _check_total(rows, options.criterion)
    weights = read_weights(options, rows)
    schema, encoded = rows.schema, rows.encoded
    scaled = scale_rows(rows, weights.multiples)
    spreads = options.missing == "fractional"
    bits = part_bits(scaled) if spreads and encoded.missing.any() else (0, 0)
    grown = _grow(scaled, growth(scaled, options, bits), threads)
    grown = grown._replace(units=unscale(grown.units, weights.multiples))
    if spreads:
        missing = np.where(grown.kind == trees.LEAF, trees.NOTHING_MISSING, trees.SPREAD)
        grown = grown._replace(missing=missing.astype(np.int32))
    model = TreeModel(
        schema,
        rows.column_kinds,
        unseen_codes(rows),
        rows.exponent + bits[1],
        *grown,
        ranges=_ranges(schema, encoded.columns),
        policy=options.missing,
        missing_counts=tuple(encoded.missing.tolist()),
        part_bits=bits[1],
        factors=weights.factors,
        costs=weights.costs,
        smoothing=read_smoothing(options, len(schema.classes)),
    )
    model = replace(model, threshold=_brief_thresholds(model, encoded.columns))
    return with_rows(model, rows)


def _grow(rows: TreeRows, growth: trees.Growth, threads: int) -> trees.Grown:
    """What the core makes of the rows, as they count in growing."""
    encoded = rows.encoded
    n_values = code_counts(rows.schema, rows.column_kinds)
    has_missing = (encoded.missing > 0).tolist()
    return trees.grow_tree(
        trees.TreeColumns(
            _with_missing(encoded, n_values), rows.column_kinds, n_values, has_missing
        ),
        rows.classes,
        len(rows.schema.classes),
        trees.TreeRowWeights(rows.units, rows.copies, rows.sizes),
        growth,
        threads,
    )


def _with_missing(encoded: EncodedTreeRows, n_values: Sequence[int]) -> list[Any]:
    """The columns as the core grows from them: missing has the code after all others."""
    cells = zip(encoded.columns, n_values, encoded.missing.tolist(), strict=True)
    return [
        np.where(x < 0, n, x).astype(np.int32) if missing and x.dtype == np.int32 else x
        for x, n, missing in cells
    ]


def _ranges(schema: Schema, columns: Sequence[Any]) -> tuple[tuple[float, float] | None, ...]:
    """The range of each column of numbers, None of others."""
    numbers = [j for j, column in enumerate(schema.columns) if column.is_number]
    found = dict(zip(numbers, column_ranges([columns[j] for j in numbers]), strict=True))
    return tuple(found.get(j) for j in range(len(columns)))


def _brief_thresholds(model: TreeModel, columns: Sequence[Any]) -> Float:
    """Cuts of dates at whole seconds where that parts the rows alike; others as they are. (S 30)"""
    threshold = model.threshold.copy()
    for j, column in enumerate(model.schema.columns):
        asks = np.flatnonzero((model.kind == trees.CUT) & (model.attribute == j))
        if column.kind == "date" and len(asks):
            known = np.unique(columns[j][~np.isnan(columns[j])])
            asks = asks[np.isfinite(threshold[asks])]
            threshold[asks] = brief_moments(threshold[asks], known)
    return threshold


def with_rows(model: TreeModel, rows: TreeRows) -> TreeModel:
    """The tree with the rows in its nodes counted, where weights are no copies of rows. (S 96)"""
    if rows.units is None or rows.copies:
        return model
    ends = end_nodes(model, rows.encoded)
    in_leaf = native.count_codes(ends, model.n_nodes, rows.classes, model.units.shape[1], None)
    before = np.concatenate([np.zeros_like(in_leaf[:1]), np.cumsum(in_leaf, axis=0)])
    counts = before[model.ends()] - before[:-1]  # the nodes below follow in preorder
    most = float(rows.units.max())  # by which rows of one weight count exactly
    squares = _squares(model, rows, ends, rows.units / most)
    weights = np.ldexp(model.units, -model.part_bits) / most
    there = model.units > 0
    effective = np.divide(weights**2, squares, out=np.zeros_like(weights), where=there)
    return replace(model, rows=counts, effective=effective)


def _squares(model: TreeModel, rows: TreeRows, ends: Codes, weights: Float) -> Float:
    """Σ weight² of each class in each node; of a row in parts, each has its part of the square."""
    K, encoded = model.units.shape[1], rows.encoded
    if model.policy == "fractional" and encoded.missing.any():
        given = encoded.columns, model.n_values, model.pull(), rows.classes
        return trees.spread_counts(model.arrays, *given, weights**2, K)
    cell = ends * np.int64(K) + rows.classes
    order = np.lexsort((weights, cell))  # so that the order of rows does not matter
    sums = np.bincount(cell[order], weights[order] ** 2, minlength=model.n_nodes * K)
    squares = sums.astype(np.float64).reshape(-1, K)
    for t, above in reversed(list(enumerate(model.parents().tolist()))[1:]):
        squares[above] += squares[t]
    return squares


def growth(rows: TreeRows, options: TreeOptions, bits: tuple[int, int] = (0, 0)) -> trees.Growth:
    """The options as numbers of rows and units."""
    least = options.min_samples_leaf
    if _is_share(least):  # a share of the rows, as in scikit-learn
        least = math.ceil(least * rows.size)
    return trees.Growth(
        criterion=trees.CRITERIA.index(options.criterion),
        leaf_size=_bounded(options.leaf_size),
        purity=float(options.purity),
        max_depth=-1 if options.max_depth is None else _bounded(options.max_depth),
        min_size=_bounded(least),
        min_units=math.ceil(options.min_weight_fraction_leaf * (rows.total_units << bits[1])),
        min_gain=float(options.min_gain),
        max_leaves=-1 if options.max_leaf_nodes is None else _bounded(options.max_leaf_nodes),
        max_subset=_bounded(options.max_subset),
        # without missing values all policies grow the same tree, and whole rows are the fastest
        policy=trees.POLICIES.index(options.missing if rows.encoded.missing.any() else "direction"),
        part_bits=bits[0],
        unit_bits=bits[1],
    )


def _bounded(count: float | None) -> int:
    """A count within 64 bits."""
    return trees.NO_BOUND if count is None else min(int(count), trees.NO_BOUND)


def unseen_codes(rows: TreeRows) -> tuple[tuple[int, ...], ...]:
    """By column, the codes that no row has; none of a column that is cut."""
    n_values = code_counts(rows.schema, rows.column_kinds)
    one = np.zeros_like(rows.classes)
    unseen: list[tuple[int, ...]] = []
    columns: Sequence[Any] = rows.encoded.columns
    for codes, n in zip(columns, n_values, strict=True):
        counts = native.count_codes(codes, n, one, 1, None) if n else np.ones(0)
        unseen.append(tuple(np.flatnonzero(counts == 0).tolist()))
    return tuple(unseen)
