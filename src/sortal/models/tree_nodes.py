"""The nodes of a tree as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.models.records import Table, unique
from sortal.models.tree_branches import describe_test
from sortal.models.tree_holes import met_holes

if TYPE_CHECKING:
    from sortal.models.records import Cell
    from sortal.models.tree import TreeModel

    Column = tuple[str, list[Cell]]


def node_table(model: TreeModel, backend: str, max_values: int | None) -> Table:
    """One row a node, in preorder; of long sets the first `max_values` and their number."""
    holes: list[Column] = [("missing", model.missing.tolist())] if met_holes(model) else []
    columns: list[Column] = [
        ("node", list(range(model.n_nodes))),
        ("parent", model.parents().tolist()),
        ("branch", model.parent_branches().tolist()),
        ("depth", model.depths().tolist()),
        ("test", [describe_test(model, t, max_values) for t in range(model.n_nodes)]),
        *holes,
        *_counts(model),
        ("prediction", [model.classes[k] for k in model.labels().tolist()]),
        ("purity", model.purity().tolist()),
        ("error", model.error().tolist()),
        ("score", model.score.tolist()),
        ("exact", model.exact.astype(bool).tolist()),
        ("candidates", model.candidates.tolist()),
    ]
    heads = unique([head for head, _ in columns])
    rows = tuple(zip(*(cells for _, cells in columns), strict=True))
    return Table("nodes", "Nodes of the tree", heads, rows, "", backend)


def _counts(model: TreeModel) -> list[Column]:
    """Weights and rows; rows by class where weights tell something else."""
    weights = model.counts()
    total: Column = ("n", weights.sum(axis=1).tolist())
    columns = [total, ("size", model.sizes.tolist())]
    columns += [(f"n({c})", w) for c, w in zip(model.classes, weights.T.tolist(), strict=True)]
    if model.rows is not None:
        by_class = model.rows.T.tolist()
        columns += [(f"rows({c})", r) for c, r in zip(model.classes, by_class, strict=True)]
    return columns
