"""The nodes of a tree as a table, with their tests in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sortal.models.faces import moment_text
from sortal.models.records import Table, unique
from sortal.native.trees import CUT, LEAF, SUBSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.data.schema import ColumnSchema
    from sortal.data.values import Value
    from sortal.models.tree import TreeModel

# Values that a test in words names before it only counts the rest.
SHOWN = 10


def node_table(model: TreeModel, backend: str) -> Table:
    """One row a node, in preorder."""
    classes = [f"n({label})" for label in model.classes]
    heads = (
        *("node", "parent", "branch", "depth", "test", "n", "size", *classes),
        *("prediction", "purity", "score", "exact", "candidates"),
    )
    # whole-number weights are written as whole numbers
    weights = model.units if model.exponent == 0 else model.weights()
    rows = zip(
        range(model.n_nodes),
        model.parents().tolist(),
        model.parent_branches().tolist(),
        model.depths().tolist(),
        [describe_test(model, t) for t in range(model.n_nodes)],
        weights.sum(axis=1).tolist(),
        model.sizes.tolist(),
        *weights.T.tolist(),
        [model.classes[k] for k in model.labels().tolist()],
        model.purity().tolist(),
        model.score.tolist(),
        model.exact.astype(bool).tolist(),
        model.candidates.tolist(),
        strict=True,
    )
    return Table("nodes", "Nodes of the tree", unique(heads), tuple(rows), "", backend)


def describe_test(model: TreeModel, t: int) -> str:
    """What node t asks; nothing for a leaf. The values of a multiway test follow its branches."""
    if model.kind[t] == LEAF:
        return ""
    column = model.schema.columns[model.attribute[t]]
    if model.kind[t] == CUT:
        return f"{column.name} <= {threshold_text(column, float(model.threshold[t]))}"
    present = slice(model.value_start[t], model.value_start[t + 1])
    codes, branches = model.values[present], model.branches[present]
    if model.kind[t] == SUBSET:
        yes = [column.values[v] for v in codes[branches == 0]]
        return f"{column.name} in {{{_some(yes, ', ')}}}"
    by_branch = codes[np.argsort(branches, kind="stable")]
    return f"{column.name}: {_some([column.values[v] for v in by_branch], ' | ')}"


def threshold_text(column: ColumnSchema, v: float) -> str:
    """The number as short as it can be read back; a date as a date, a rank as its value."""
    if column.kind == "date":
        return moment_text(v)
    if not column.is_number:
        return str(column.values[math.floor(v)])
    return repr(v).removesuffix(".0")


def _some(values: Sequence[Value], between: str) -> str:
    shown = between.join(map(str, values[:SHOWN]))
    return shown if len(values) <= SHOWN else f"{shown}{between}… ({len(values)} values)"
