"""The working of a tree's nodes, its pictures and pages, folds, and what cannot be decided."""

from functools import cache
from typing import Any, Final

import numpy as np
import pandas as pd
from tests.contract.refusals.table import Refusal

from sortal import LinearDiscriminant, TreeClassifier, datasets
from sortal.data.columns import NumberColumn
from sortal.data.sources import Batch
from sortal.decision.folds import assign_folds, from_pairs, numbered
from sortal.decision.posterior import leading, log_posterior, posterior, shares_of_votes
from sortal.errors import ColumnError, InputError, InputTypeError, LabelError, ParameterError
from sortal.tasks.report.page import decide_part
from sortal.trees.displays.cuts import FrequenciesDisplay, ScoresDisplay
from sortal.trees.displays.tree import TreeDisplay
from sortal.trees.drawing.html import html_of, tree_part
from sortal.trees.drawing.layout import draw_tree
from sortal.trees.drawing.svg import svg_of
from sortal.trees.rows import ends

CODES: Final = np.array([0, 1, 0, 1], dtype=np.int32)
ODD: Final = np.array([[0.0, 1.0], [np.nan, 1.0], [1.0, np.inf]])
PRIOR: Final = np.array([0.5, 0.5])
CURVE: Final = ("a", [1, 2], [0.1, 0.2])
# A number, a word and a constant; the tree asks the first.
TABLE: Final = pd.DataFrame({"a": [1.0, 2, 3, 4], "word": list("vwvw"), "b": 5.0})
LABELS: Final = [0, 0, 1, 1]


@cache
def iris() -> tuple[Any, Any, TreeClassifier]:
    frame = datasets.iris()
    X = frame[["sepal_length", "sepal_width"]]
    y = np.where(frame["species"] == "setosa", "c1", "c2")
    return X, y, TreeClassifier(purity=0.95, leaf_size=5, pruning=None).fit(X, y)


def working(node: Any = 0, X: Any = None, y: Any = None, weight: Any = None) -> Any:
    """Of the tree of 11 nodes."""
    rows, labels, model = iris()
    return model.working(node, rows if X is None else X, labels if y is None else y, weight)


def infinite_row() -> Any:
    cells = NumberColumn(np.array([0.0, np.inf]))
    return ends(tree())(Batch(0, 2, (cells, cells)))


def swapped() -> Any:
    X = iris()[0].copy()
    X.iloc[[0, 149]] = X.iloc[[149, 0]].to_numpy()
    return X


def with_a_value_never_seen() -> Any:
    tennis = datasets.play_tennis()
    model = TreeClassifier(pruning=None).fit(tennis, "PlayTennis")
    strange = tennis.assign(Wind=["None", *tennis["Wind"][1:]])
    return model.working(0, strange, "PlayTennis")


def with_other_missing(fitted: float, given: float) -> Any:
    """Rows where the last number is missing in the fit, or in what is asked."""
    X, y = pd.DataFrame({"x": [1.0, 2, 3, 9]}), list("abab")
    before, after = (X.replace(9.0, value) for value in (fitted, given))
    return TreeClassifier(pruning=None).fit(before, y).working(0, after, y)


def weighted_cuts() -> Any:
    X, y, _ = iris()
    model = TreeClassifier(max_depth=1, pruning=None).fit(X, y, np.where(y == "c1", 0.5, 2.25))
    return FrequenciesDisplay.from_estimator(model, X, y)


def cuts(display: Any, **options: Any) -> Any:
    model = TreeClassifier(pruning=None).fit(TABLE, LABELS)
    return display.from_estimator(model, TABLE, LABELS, **options)


def frequencies(v: Any, counts: Any = ((1, 0), (1, 1)), **options: Any) -> Any:
    return FrequenciesDisplay(v, counts, **options)


def three_axes() -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3)
    plt.close(figure)
    return ScoresDisplay([CURVE, CURVE]).plot(axes)


def with_path_of_another() -> Any:
    model = iris()[2]
    pruned = model.prune("cost_complexity", cp=0.1)
    return tree_part(pruned._model, complexity=model.cost_complexity_path())


def decide(name: str = "it", **options: Any) -> Any:
    model = LinearDiscriminant().fit(TABLE[["a"]], LABELS)._model
    return decide_part(model, title="Decide", name=name, **options)


def tree() -> Any:
    return iris()[2]._model


NO_NODE: Final = "no node of this tree: give a whole number from 0 to 10"
NO_DECISION: Final = "2 of 3 rows cannot be decided"

TABLE_OF: Final[dict[type[Exception], list[tuple[Any, str]]]] = {
    ParameterError: [
        *((lambda node=node: working(node), NO_NODE) for node in (-1, 11, 1.0, "0", None, True)),
        (
            lambda: TreeClassifier(max_depth=0).fit([[1], [2]], [0, 1]).working(1),
            "0, its only node",
        ),
        (lambda: working(iris()[0]), r"node=a DataFrame is no node.*working\(0, X, y\)"),
        (lambda: assign_folds(CODES, 1, 0), "two folds at least"),
        (lambda: assign_folds(CODES, 5, 0), "more folds than there are rows"),
        (lambda: numbered([0, 1], 4), "2 fold numbers for 4 rows"),
        (lambda: numbered([3, 3, 3, 3], 4), "all rows into fold 3"),
        (lambda: numbered([0.5, 1, 1, 1], 4), "one whole number a row"),
        (lambda: from_pairs([([], [0, 1]), ([], [1, 2, 3])], 4), "a row in two folds, 0 and 1"),
        (lambda: from_pairs([([], [0]), ([], [1, 2])], 4), "never leaves out row 3"),
        (lambda: from_pairs([([], [0, 9]), ([], [1, 2])], 4), "no positions of 4 rows"),
        (lambda: frequencies([1, 2], [[1, 0]]), "a row for each of the 2 cuts"),
        (lambda: frequencies([1, 2], classes=["a"]), "classes has 1 entries"),
        (lambda: frequencies([1, 2], chosen=2), "chosen=2 is no cut"),
        (lambda: frequencies([[1, 2]]), "one a cut"),
        (lambda: ScoresDisplay([]), "curves is empty"),
        (lambda: ScoresDisplay([("a", [1, 2], [0.1])]), "one score a cut"),
        (lambda: ScoresDisplay([(*CURVE, 5)]), "best=5 is no cut"),
        (three_axes, "ax has 3 axes, and there are 2 attributes"),
        (lambda: cuts(ScoresDisplay, features=["b"]), "Node 0 has no cut of 'b'"),
        (lambda: cuts(FrequenciesDisplay, features=["a", "b"]), "names 2: give 1 column"),
        (lambda: ScoresDisplay.from_estimator(object(), TABLE, LABELS), "has no working"),
        (lambda: draw_tree(tree(), max_depth=-1), "max_depth=-1 cannot be used.* at least 0"),
        (lambda: draw_tree(tree(), max_leaves=0), "max_leaves=0 cannot be used"),
        (lambda: draw_tree(tree(), max_leaves=2.5), "max_leaves=2.5"),  # type: ignore[arg-type]
        (
            lambda: draw_tree(tree(), orientation="up"),
            "'up' is not known: it can be 'auto', 'down'",
        ),
        (lambda: svg_of(draw_tree(tree()), theme="blue"), "theme='blue' is not known: .* 'auto'"),
        (lambda: html_of(tree(), values={"petal": 1}), "'petal', which is no column of this tree"),
        (with_path_of_another, r"give cost_complexity_path\(X, y\) of the fitted tree"),
        (lambda: decide("Two words"), "small letters"),
        (lambda: decide(starts=[("one", {"c": 1.0})]), "'c', which is no column of this model"),
    ],
    InputError: [
        (
            lambda: working(X=iris()[0][10:], y=iris()[1][10:]),
            r"in all .*\(40, 100\), .*\(50, 100\)",
        ),
        (lambda: working(1, swapped()), r"in node 1 .* weigh \(44, 8\), .* weighed \(45, 7\)"),
        (lambda: working(weight=np.full(150, 2)), "the same sample_weight"),
        (lambda: working(weight=np.full(150, 1.5)), "the same sample_weight"),
        (lambda: iris()[2].working(0, iris()[0]), "without y"),
        (with_a_value_never_seen, "'Wind'"),
        (lambda: with_other_missing(np.nan, 9.0), "0 cells of 'x' are missing"),
        (lambda: with_other_missing(9.0, np.nan), "1 cell of 'x' is missing"),
        (weighted_cuts, "sample_weight"),
        (lambda: html_of(tree(), values={"sepal_width": []}), "'sepal_width' is read as numbers"),
        (infinite_row, r"'sepal_length' holds infinite values \(infinity.*Replace or drop"),
        *(
            (lambda ask=ask: ask(ODD, PRIOR), NO_DECISION)
            for ask in (posterior, log_posterior, shares_of_votes, lambda rows, _: leading(rows))
        ),
    ],
    LabelError: [(lambda: working(y=np.full(150, "c3")), "same rows as to fit")],
    InputTypeError: [
        (
            lambda: TreeDisplay.from_estimator(object()),
            "object has no to_drawing: give a fitted tree",
        )
    ],
    ColumnError: [
        *(
            (lambda display=display, name=name: cuts(display, features=name), words)
            for display in (FrequenciesDisplay, ScoresDisplay)
            for name, words in (
                (["word"], "'word', which is not cut"),
                ("nothing", "no column of this tree"),
                (9, "no column of this tree"),
            )
        ),
    ],
}

REFUSALS: Final = [
    Refusal(f"{error.__name__} {i}: {words}", call, error, words)
    for error, rows in TABLE_OF.items()
    for i, (call, words) in enumerate(rows)
]
