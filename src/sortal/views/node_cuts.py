"""The cuts of a node as pictures read them: from the tables of an estimator's `working`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.data.table import read_table
from sortal.errors import ColumnError, OptionError, listed
from sortal.learners.tree_working import table_names
from sortal.views.fitted import attribute
from sortal.views.rows import split_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal.models.records import Table, Working

    Float = NDArray[np.float64]


class Cuts(NamedTuple):
    """The cuts X <= v of one attribute: numbers, dates (datetime64) or words in their order.

    `counts` is N_vi, a row a cut and a column a class; `best` is the place of the cut that ranks
    first, None where none is allowed, and `chosen` whether the node asks it.
    """

    name: str
    v: NDArray[Any]
    counts: Float
    scores: Float
    best: int | None
    chosen: bool


class NodeCuts(NamedTuple):
    """The cuts of a node, by attribute."""

    node: int
    criterion: str
    classes: tuple[str, ...]
    totals: tuple[float, ...]
    cuts: list[Cuts]


def read_node(
    estimator: Any,
    X: Any,
    y: Any,
    node: int,
    features: Sequence[Any] | None,
    sample_weight: ArrayLike | None,
) -> NodeCuts:
    """The cuts of the features named, or of all columns that are cut, the best of them first."""
    working = attribute(estimator, "working")(node, X, y, sample_weight)
    names, dates = _columns(estimator, X, y)
    tables = dict(zip(names, table_names(names), strict=True))
    wanted = names if features is None else [_named(feature, names) for feature in features]
    known = {table.name: table for table in working}
    cut = [name for name in wanted if known[tables[name]].columns[0] == "v"]
    if features is not None and len(cut) < len(wanted):
        strange = [name for name in wanted if name not in cut]
        raise ColumnError(
            f"features names {listed(strange)}, which is not cut by this tree: name columns of "
            "numbers, dates or ordered categories."
        )
    made = [_read_cuts(working[tables[name]], name, working, name in dates) for name in cut]
    found = [cuts for cuts in made if len(cuts.v)]
    if not found:
        raise OptionError(
            f"Node {node} has no cut of {listed(wanted)}: there each of them has one value, or is "
            "not cut. Choose another node or other features."
        )
    classes = working["node"]
    return NodeCuts(
        node,
        str(working["test"].column("criterion")[0]),
        tuple(map(str, classes.column("class"))),
        tuple(float(n or 0) for n in classes.column("n_i")),
        found if features is not None else _by_rank(found, working),
    )


def _read_cuts(table: Table, name: str, working: Working, is_date: bool) -> Cuts:
    K = len(working["node"].rows)
    kept = _one_a_threshold(table)
    ranks, chosen = ([table.column(head)[i] for i in kept] for head in ("rank", "chosen"))
    places = {rank: i for i, rank in enumerate(ranks) if rank is not None}
    best = places[min(places)] if places else None
    if True in chosen:
        best = chosen.index(True)
    return Cuts(
        name,
        _positions([table.column("v")[i] for i in kept], is_date),
        _counts_below(table, K)[kept],
        np.array([table.column("score")[i] for i in kept], dtype=np.float64),
        best,
        best is not None and bool(chosen[best]),
    )


def _one_a_threshold(table: Table) -> list[int]:
    """The rows to be drawn: where missing values may be on either side, the better one.

    The one that is asked is drawn in any case; whether a value is known is no cut.
    """
    score, chosen = table.column("score"), table.column("chosen")
    best: dict[Any, int] = {}
    for i, v in enumerate(table.column("v")):
        if v is None:
            continue
        other = best.setdefault(v, i)
        if (chosen[i], score[i]) > (chosen[other], score[other]):
            best[v] = i
    return list(best.values())


def _counts_below(table: Table, K: int) -> Float:
    """N_vi of the rows whose value is known."""
    has_holes = table.columns[1:2] == ("missing",)
    start = 2 + K if has_holes else 1
    cells = [row[start : start + K] for row in table.rows]
    counts = np.array(cells, dtype=np.float64).reshape(-1, K)
    v = table.column("v")
    if has_holes and len(set(v)) < len(v):  # holes are on a side only where each v comes twice
        holes = np.array([row[2:start] for row in table.rows], dtype=np.float64)
        counts -= holes * (np.array(table.column("missing")) == "yes")[:, None]
    return counts


def _positions(v: Sequence[Any], is_date: bool) -> NDArray[Any]:
    if not is_date:
        return np.array(v)
    # close to 1970 a moment can be so fine that it is written as a number of days
    odd = any(text.endswith(" days") for text in v)
    return np.array(v if odd else [np.datetime64(text, "ns") for text in v])


def _by_rank(cuts: list[Cuts], working: Working) -> list[Cuts]:
    """In the order of the node's best tests."""
    order = list(working["tests"].column("attribute"))
    return sorted(cuts, key=lambda own: order.index(own.name))


def _columns(estimator: Any, X: Any, y: Any) -> tuple[list[str], set[str]]:
    """The estimator's columns, and which of them hold dates."""
    table = read_table(split_labels(X, y)[0])
    given = getattr(estimator, "feature_names_in_", None)
    n = attribute(estimator, "n_features_in_")
    names = [f"x{j}" for j in range(n)] if given is None else [str(name) for name in given]
    kinds = [table.column_schema(j).kind for j in range(len(table.names))]
    here = table.names if table.has_names else names
    return names, {name for name, kind in zip(here, kinds, strict=False) if kind == "date"}


def as_features(features: Any, count: int | None = None) -> list[Any]:
    """Columns by name or position; one of them needs no list."""
    alone = isinstance(features, str) or not hasattr(features, "__iter__")
    named = [features] if alone else list(features)
    if not named or (count is not None and len(named) != count):
        wanted = "one column at least" if count is None else f"{count} column"
        raise OptionError(f"features={features!r} names {len(named)}: give {wanted}.")
    return named


def _named(feature: Any, names: list[str]) -> str:
    """A column by name or position."""
    by_position = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if by_position and -len(names) <= feature < len(names):
        return names[int(feature)]
    if by_position or str(feature) not in names:
        raise ColumnError(
            f"features names {feature!r}, which is no column of this tree: it has {listed(names)}."
        )
    return str(feature)
