"""Predictions, explanations and workings of rows of a file or a frame."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from sortal.decision.options import is_whole
from sortal.errors import ParameterError
from sortal.records.tables import Explanations, unique
from sortal.tasks.fit import make_estimator, training_rows
from sortal.tasks.load import as_model, open_for
from sortal.tasks.registry import check_columns, features_among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from narwhals.typing import IntoDataFrame

    from sortal._typing import CostsLike
    from sortal.records.tables import Table, Working
    from sortal.tasks.load import ModelLike
    from sortal.tasks.registry import SomeClassifier
    from sortal.tasks.tables import DataLike, ReadOptions


def predict(
    model: ModelLike,
    data: DataLike,
    *,
    proba: bool = False,
    keep: Sequence[str] = (),
    costs: CostsLike = None,
    **reading: Unpack[ReadOptions],
) -> Any:
    """A table with the number and the predicted class of each row.

    Parameters
    ----------
    model : path or fitted estimator
    data : path, "-" or data frame
        Columns are found by name; those that the model does not know are not read, and those that
        it does not use, such as columns in no split of a tree, may be absent.
    proba : bool, default=False
        One column more for each class: the probability `P(class)`.
    keep : names, default=()
        Columns of the data that are copied to the end of the table.
    costs : default=None
        As `predict` of the estimator takes them, instead of those of the fit.
    reading :
        For a file, options of `sortal.read`.

    Returns
    -------
    data frame
        Columns `row` (from 1), `prediction`, those asked for; of the library that the data came
        in, pandas for a file.
    """
    estimator = as_model(model, data)
    if proba and not hasattr(estimator, "predict_proba"):
        raise ParameterError(
            f"proba: a {type(estimator).__name__} has no probabilities. Leave it out, or fit a "
            "learner that has them, such as lda, bayes or tree."
        )
    frame = nw.from_native(open_for(estimator, data, reading).frame, eager_only=True)
    check_columns(keep, frame.columns, "keep")
    if costs is not None and not hasattr(estimator, "costs"):
        raise ParameterError(
            f"costs: a {type(estimator).__name__} predicts without costs. Leave them out, or fit a "
            "learner that has them, such as lda, bayes or tree."
        )
    given = {} if costs is None else {"costs": costs}
    said = estimator.predict(frame.to_native(), **given)
    columns: list[tuple[str, object]] = [
        ("row", list(range(1, len(said) + 1))),
        ("prediction", said.tolist()),
    ]
    if proba:
        shares = estimator.predict_proba(frame.to_native())
        columns += [(f"P({c})", shares[:, k]) for k, c in enumerate(estimator.classes_)]
    columns += [(name, frame.get_column(name)) for name in dict.fromkeys(keep)]
    names = unique([name for name, _ in columns])
    return _frame(dict(zip(names, (part for _, part in columns), strict=True)), frame)


def _frame(columns: Mapping[str, object], like: nw.DataFrame[Any]) -> IntoDataFrame:
    """A frame of the library of another."""
    made = {
        name: part.alias(name)
        if isinstance(part, nw.Series)
        else nw.new_series(name, part, backend=like.implementation)
        for name, part in columns.items()
    }
    frame: IntoDataFrame = nw.from_dict(made).to_native()
    return frame


# --- Explain what a model says of rows of a file or a frame --------------------------------------


def explain(
    model: ModelLike,
    data: DataLike,
    rows: Sequence[int] | None = None,
    **reading: Unpack[ReadOptions],
) -> Explanations:
    """Why the model says what it says: one record a row, whose parts add up.

    Parameters
    ----------
    model : path or fitted estimator
    data : path, "-" or data frame
    rows : numbers from 1, default=None
        The rows to explain, as `predict` numbers them; None for all.
    reading :
        For a file, options of `sortal.read`.
    """
    estimator = as_model(model, data)
    if not hasattr(estimator, "explain"):
        raise ParameterError(f"A {type(estimator).__name__} has no explanations.")
    frame = nw.from_native(open_for(estimator, data, reading).frame, eager_only=True)
    numbers = range(1, len(frame) + 1) if rows is None else list(dict.fromkeys(rows))
    return explain_rows(estimator, frame, numbers)


def explain_rows(
    estimator: SomeClassifier, frame: nw.DataFrame[Any], numbers: Sequence[int]
) -> Explanations:
    """Explanations that are numbered as the rows of the data."""
    made = estimator.explain(chosen_rows(frame, numbers).to_native())
    place = {number: i for i, number in enumerate(numbers)}
    return Explanations(lambda number: made[place[number]], numbers, str(frame.implementation))


def chosen_rows(frame: nw.DataFrame[Any], numbers: Sequence[int]) -> nw.DataFrame[Any]:
    """Rows by their numbers from 1."""
    n = len(frame)
    for number in numbers:
        if not is_whole(number) or not 1 <= number <= n:
            raise ParameterError(
                f"row={number!r} is no row of this table: its rows are numbered from 1 to {n}."
            )
    return frame[[number - 1 for number in numbers]]


# --- The textbook's working for a file or a frame ------------------------------------------------


_PRUNING = {
    "pruning",
    "confidence",
    "cp",
    "cv",
    "validation_fraction",
    "join_leaves",
}


def working(
    data: DataLike,
    target: str,
    learner: str = "tree",
    options: Mapping[str, Any] | None = None,
    *,
    rows: Sequence[int] = (),
    node: int | None = None,
    drop: Sequence[str] = (),
    use: Sequence[str] = (),
    categorical_features: Sequence[str] = (),
    **reading: Unpack[ReadOptions],
) -> Working:
    """Fit a learner and show how a textbook would work it out.

    A tree is as it has grown, unless `options` has one of pruning. Play Tennis as on the slides has
    a branch per value: {"categorical_split": "multiway"}.

    Parameters
    ----------
    data, target, learner, options, drop, use, categorical_features, reading :
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
    >>> sortal.working(tennis, "PlayTennis", "bayes")["priors"].column("n(c)")
    (5, 9)
    """
    estimator = make_estimator(
        learner,
        _as_in_textbooks(learner, options or {}),
        features_among(categorical_features, target),
    )
    if not hasattr(estimator, "working"):
        raise ParameterError(f"The learner {learner!r} does not show its working.")
    has_nodes = "node" in inspect.signature(estimator.working).parameters
    if node is not None and not has_nodes:
        raise ParameterError(f"node={node!r}: the learner {learner!r} has no nodes; a tree has.")
    training = training_rows(
        data, target, reading, drop=drop, use=use, categorical_features=categorical_features
    )
    training.warn()
    every = nw.from_native(training.all_rows, eager_only=True)
    numbers = list(dict.fromkeys(rows))
    chosen = chosen_rows(every, numbers)
    estimator.fit(training.X, training.y)
    if not has_nodes:
        return _of_rows(estimator, chosen, numbers)
    of_node: Working = estimator.working(node or 0, training.X, training.y)
    return _with_ways(of_node, estimator, every, numbers)


def _as_in_textbooks(learner: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """A textbook's tree is as it has grown, unless an option of pruning is given."""
    pruned = _PRUNING & set(options)
    return options if learner != "tree" or pruned else {"pruning": None, **options}


def _of_rows(
    estimator: SomeClassifier, chosen: nw.DataFrame[Any], numbers: Sequence[int]
) -> Working:
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
    working: Working, estimator: SomeClassifier, every: nw.DataFrame[Any], numbers: Sequence[int]
) -> Working:
    """The working of a node, and the ways of rows through the tree."""
    if not numbers:
        return working
    ways = explain_rows(estimator, every, numbers)
    told = [
        replace(table, name=f"row {number}", title=f"Row {number}. {table.title}")
        for number, table in zip(numbers, (way.to_table() for way in ways), strict=True)
    ]
    return replace(working, tables=(*working.tables, *told))
