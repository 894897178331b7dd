"""The working of one node of a tree: every test it could ask, and the numbers of the choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.options import is_whole
from sortal.errors import InputError, ParameterError, agreed, counted, listed
from sortal.native.trees import CUT, LEAF
from sortal.records.render import number_text
from sortal.records.tables import Table, Working, sheet, unique
from sortal.trees.branches import describe_test
from sortal.trees.rows import multiples_of, rows_as_grown, units_as_grown, unscale
from sortal.trees.split_scores import score_counts
from sortal.trees.working.candidates import list_tests
from sortal.trees.working.node_rows import hold_rows, read_attributes
from sortal.trees.working.tables import CandidateTables, whole_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Counts
    from sortal.records.tables import Cell, Columns
    from sortal.trees.learn import TreeOptions
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows
    from sortal.trees.working.candidates import NodeTests


# --- Whether the rows given are those that a tree was fitted to ----------------------------------


def refuse_unknown_rows(model: TreeModel, rows: TreeRows) -> None:
    """Refuse other columns, values unknown to the tree, and missing values that it has not met."""
    strange = rows.encoded.unknown + (rows.encoded.missing if model.policy == "error" else 0)
    other = rows.schema != model.schema or rows.column_kinds != model.column_kinds
    if other or strange.any():
        names = [name for name, n in zip(rows.schema.names, strange, strict=True) if n]
        what = f"hold strange values in {listed(names)}" if names else "have other columns"
        raise InputError(f"The rows given {what}: give the same rows as to fit.")
    # of a tree that was taken in, missing values are not counted, and ranges not known
    differ = rows.encoded.missing != np.array(model.missing_counts)
    if model.ranges is not None and differ.any():
        j = int(np.flatnonzero(differ)[0])
        n = int(rows.encoded.missing[j])
        raise InputError(
            f"The rows given are not those of the fit: {counted(n, 'cell')} of "
            f"{rows.schema.names[j]!r} {agreed(n, 'is', 'are')} missing, and at fit there were "
            f"{model.missing_counts[j]}. Give the same rows as to fit."
        )


def refuse_other_rows(model: TreeModel, rows: TreeRows, found: Counts, n_rows: int, t: int) -> None:
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


# Tables that a working has whatever the columns are called; a column of such a name gives way.
_FIXED = ("node", "impurity", "test", "hyperplane", "tests")


def show_node(model: TreeModel, rows: TreeRows | None, options: TreeOptions, t: int) -> Working:
    """The tables of node t; without the rows of the fit, only those that need none."""
    tables = [_classes(model, t), _impurity(model, options, t)]
    looked = None
    if rows is not None:
        looked = look(model, rows, options, t)
        tables += _tables(looked, model)
    tables.append(_test(model, options, t, looked))
    column = model.schema.columns[model.attribute[t]]
    # whether a value is known is no question of a hyperplane
    if model.kind[t] == CUT and column.is_number and np.isfinite(model.threshold[t]):
        tables.append(_hyperplane(model, t))
    return Working(f"Node {t} of the tree", tuple(tables))


def table_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The name of each column's table; a column that is called like another table gets a number."""
    return unique((*_FIXED, *columns))[len(_FIXED) :]


def read_node(model: TreeModel, node: int) -> int:
    """The number of a node."""
    if not is_whole(node) or not 0 <= node < model.n_nodes:
        last = model.n_nodes - 1
        allowed = f"a whole number from 0 to {last}" if last else "0, its only node"
        # whoever gives rows at once finds them in the place of the node
        told = repr(node) if isinstance(node, str | int | float) else f"a {type(node).__name__}"
        raise ParameterError(
            f"node={told} is no node of this tree: give {allowed}, as in working(0, X, y)."
        )
    return int(node)


# --- What the tree knows -------------------------------------------------------------------------


def _classes(model: TreeModel, t: int) -> Table:
    """n_i and P(c_i|D) in the node, as the priors of (ZM 19.11); what n_i counts for in tests."""
    columns: Columns = {"class": map(str, model.classes), "n_i": model.counts()[t]}
    columns["P(c_i|D)"] = model.plain_shares()[t]
    if model.factors is not None or model.costs is not None:
        columns["weight in tests"] = model.weights()[t] * model.pull_of_class()
    return sheet("node", "Classes in the node", columns, "ZM 19.11")


def _impurity(model: TreeModel, options: TreeOptions, t: int) -> Table:
    """Entropy and Gini index are of the classes as they count in tests."""
    units = units_as_grown(model, options.criterion)[t : t + 1]
    score = score_counts(units, ("all",), model.classes, model.exponent)
    n, size = model.counts()[t].sum().item(), int(model.sizes[t])
    purity, error = float(model.purity()[t]), float(model.error()[t])
    columns = ("n", "size", "purity", "error", "entropy", "Gini")
    row = (n, size, purity, error, score.entropy, score.gini)
    return Table("impurity", "Size and impurity", columns, (row,), "ZM 19.2, 19.3, 19.6")


def _test(model: TreeModel, options: TreeOptions, t: int, looked: NodeTests | None) -> Table:
    """What the node asks, and how sure that is; or why it asks nothing."""
    is_leaf = model.kind[t] == LEAF
    cuts = None if looked is None or is_leaf else looked.n_cuts
    row: tuple[Cell, ...] = (
        describe_test(model, t),
        options.criterion,
        None if is_leaf else float(model.score[t]),
        "" if is_leaf else "exact" if model.exact[t] else "heuristic",
        cuts,
        None if is_leaf else whole_cell(float(model.candidates[t])),
        "; ".join(_why_leaf(model, options, t, looked)) if is_leaf else "",
    )
    columns = ("test", "criterion", "score", "search", "cuts", "sets V", "leaf because")
    return Table("test", "The test", columns, (row,))


def _why_leaf(
    model: TreeModel, options: TreeOptions, t: int, looked: NodeTests | None
) -> list[str]:
    """Which stops hold for a leaf (ZM Alg. 19.1); where none does, what its rows tell."""
    units = units_as_grown(model, options.criterion)[t]
    size, purity = int(model.sizes[t]), float(units.max() / units.sum())
    why = []
    if size <= options.leaf_size:
        why.append(f"its size {size} is at most leaf_size={options.leaf_size}")
    if purity >= options.purity:
        why.append(f"its purity {number_text(purity)} is at least purity={options.purity}")
    if options.max_depth is not None and model.depths()[t] >= options.max_depth:
        why.append(f"it lies at max_depth={options.max_depth}")
    if why:
        return why
    bounded = [f"max_leaf_nodes={options.max_leaf_nodes}"] if options.max_leaf_nodes else []
    if looked is None:
        none = f"no test is allowed, or none scores at least min_gain={options.min_gain}"
        others = [f"others were asked first by {b}" for b in bounded]
        return [" or ".join([none, *others, *(["its tests were pruned"] if model.pruned else [])])]
    if looked.best is None:
        return ["no test is allowed"]
    if looked.best < options.min_gain:
        best = number_text(looked.best)
        return [f"its best test scores {best}, less than min_gain={options.min_gain}"]
    told = [f"other nodes were asked first by {b}" for b in bounded]
    if model.pruned:
        told.append("its tests were pruned")
    return [" or ".join(told)] if told else ["of something that the options do not tell"]


def _hyperplane(model: TreeModel, t: int) -> Table:
    """w and b = -v of h(x) = wᵀx + b, for the test h(x) <= 0. (ZM 19.1)"""
    numbers = [(j, c.name) for j, c in enumerate(model.schema.columns) if c.is_number]
    rows = [(name, 1.0 if j == model.attribute[t] else 0.0) for j, name in numbers]
    rows.append(("b", 0.0 - float(model.threshold[t])))
    title = "h(x) = wᵀx + b, which is at most 0 where the answer is yes"
    return Table("hyperplane", title, ("term", "w"), tuple(rows), "ZM 19.1")


# --- What its rows tell --------------------------------------------------------------------------


def look(model: TreeModel, rows: TreeRows, options: TreeOptions, t: int) -> NodeTests:
    """The rows of node t once more, as they counted when the tree grew, and their tests."""
    refuse_unknown_rows(model, rows)
    counted = rows_as_grown(model, rows, options.criterion)
    multiples = multiples_of(model, options.criterion)
    for node in sorted({0, t}):
        held = hold_rows(model, counted, node)
        found = unscale(held.by_class(counted), multiples)
        refuse_other_rows(model, rows, found, len(held.places), node)
    return list_tests(model, counted, options, t, read_attributes(model, counted, held))


def _tables(tests: NodeTests, model: TreeModel) -> list[Table]:
    """One or two tables an attribute, then the best test of each."""
    made = CandidateTables(tests, model.classes)
    columns = model.schema.names
    names = table_names(columns)
    values = unique((*_FIXED, *names, *(f"{name} values" for name in columns)))
    tables = []
    for j in range(len(columns)):
        tables += made.of_attribute(j, names[j], values[j - len(columns)])
    return [*tables, made.offers()]
