"""The textbook's working for a file or a frame."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from sortal.errors import OptionError
from sortal.tasks.explain import chosen_rows, explain_rows
from sortal.tasks.naming import features_among
from sortal.tasks.training import make_estimator, training_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.models.records import Table, Working


_PRUNING = {"pruning", "confidence", "raising", "strength", "cv", "validation", "join_leaves"}


def work(
    data: Any,
    target: str,
    learner: str = "tree",
    options: Mapping[str, Any] | None = None,
    *,
    rows: Sequence[int] = (),
    node: int | None = None,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    **reading: Any,
) -> Working:
    """Fit a learner and show how a textbook would work it out.

    A tree is as it has grown, unless `options` has one of pruning. Play Tennis as on the slides has
    a branch per value: {"categorical_split": "multiway"}.

    Parameters
    ----------
    data, target, learner, options, drop, categories, reading :
        As of `fit`.
    rows : numbers from 1, default=()
        Rows of the data that are classified step by step, too.
    node : int, default=None
        For a tree, the node whose tests are listed; None for the root.

    Returns
    -------
    Working
        Named tables, which print well and have `to_markdown`, `to_html`, `to_dict`, `to_frame`.

    Examples
    --------
    >>> import sortal
    >>> tennis = sortal.datasets.play_tennis()
    >>> sortal.work(tennis, "PlayTennis", "bayes")["priors"].column("n(c)")
    (5, 9)
    """
    estimator = make_estimator(
        learner, _as_in_textbooks(learner, options or {}), features_among(categories, target)
    )
    if not hasattr(estimator, "working"):
        raise OptionError(f"The learner {learner!r} does not show its working.")
    has_nodes = "node" in inspect.signature(estimator.working).parameters
    if node is not None and not has_nodes:
        raise OptionError(f"node={node!r}: the learner {learner!r} has no nodes; a tree has.")
    training = training_rows(data, target, drop, categories, reading)
    every = nw.from_native(training.all_rows, eager_only=True)
    numbers = list(dict.fromkeys(rows))
    chosen = chosen_rows(every, numbers)
    estimator.fit(training.X, training.y)
    if not has_nodes:
        return _of_rows(estimator, chosen, numbers)
    working: Working = estimator.working(node or 0, training.X, training.y)
    return _with_ways(working, estimator, every, numbers)


def _as_in_textbooks(learner: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """A textbook's tree is as it has grown, unless an option of pruning is given."""
    pruned = _PRUNING & set(options)
    return options if learner != "tree" or pruned else {"pruning": None, **options}


def _of_rows(estimator: Any, chosen: nw.DataFrame[Any], numbers: Sequence[int]) -> Working:
    """The working of a fit, and of rows with their numbers in the data."""
    of_fit: Working = estimator.working()
    if not numbers:
        return of_fit
    whole: Working = estimator.working(chosen.to_native())
    # what the rows added begins with their numbers; an attribute may be called "row", too
    tables = [t if t in of_fit.tables else _numbered(t, numbers) for t in whole]
    return replace(whole, tables=tuple(tables))


def _numbered(table: Table, numbers: Sequence[int]) -> Table:
    if table.columns[0] not in ("row", "query"):
        return table
    rows = tuple((numbers[int(row[0] or 0)], *row[1:]) for row in table.rows)
    return replace(table, rows=rows)


def _with_ways(
    working: Working, estimator: Any, every: nw.DataFrame[Any], numbers: Sequence[int]
) -> Working:
    """The working of a node, and the ways of rows through the tree."""
    if not numbers:
        return working
    ways = explain_rows(estimator, every, numbers)
    tables = [way.to_table(working.tables[0].backend) for way in ways]
    told = [
        replace(table, name=f"row {number}", title=f"Row {number}. {table.title}")
        for number, table in zip(numbers, tables, strict=True)
    ]
    return replace(working, tables=(*working.tables, *told))
