"""A fitted tree as arrays: facts of its nodes, and a chain too deep for any recursion."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from tests.trees.chains import chain

from sortal import TreeClassifier
from sortal.data.columns import CategoryColumn, ColumnSchema, NumberColumn, Schema
from sortal.data.sources import Batch
from sortal.decision.scores import Question
from sortal.native.trees import CUT, LEAF, MULTIWAY, NOTHING_MISSING, SUBSET
from sortal.trees.branches import describe_test, node_table
from sortal.trees.model import TreeModel
from sortal.trees.rows import answer, ends
from sortal.trees.rules import tree_text

DEPTH = 30_000


def mixed() -> TreeModel:
    """Node 0 asks x <= 2.5; node 1 (yes) color in {blue}, with the leaves 2 and 3; node 4 (no) has
    a branch per size, L and M, with the leaves 5 and 6. Seven rows, weights in halves.
    """
    units = np.array([[6, 8], [4, 2], [3, 0], [1, 2], [2, 6], [2, 0], [0, 6]], dtype=np.int64)
    return TreeModel(
        schema=Schema(
            (
                ColumnSchema("x", "number"),
                ColumnSchema("color", "category", ("blue", "green", "red")),
                ColumnSchema("size", "category", ("L", "M", "S")),
            ),
            ("no", "yes"),
        ),
        column_kinds=(CUT, SUBSET, MULTIWAY),
        unseen=((), (), (2,)),
        exponent=1,
        kind=np.array([CUT, SUBSET, LEAF, LEAF, MULTIWAY, LEAF, LEAF], dtype=np.int8),
        attribute=np.array([0, 1, -1, -1, 2, -1, -1], dtype=np.int32),
        threshold=np.array([2.5, *[np.nan] * 6]),
        child_start=np.array([0, 2, 4, 4, 4, 6, 6, 6], dtype=np.int64),
        children=np.array([1, 4, 2, 3, 5, 6], dtype=np.int32),
        value_start=np.array([0, 0, 2, 2, 2, 4, 4, 4], dtype=np.int64),
        values=np.array([0, 2, 0, 1], dtype=np.int32),
        branches=np.array([0, 1, 0, 1], dtype=np.int32),
        heavier=np.array([1, 0, -1, -1, -1, -1, -1], dtype=np.int32),
        units=units,
        sizes=np.array([7, 3, 1, 2, 4, 1, 3], dtype=np.int64),
        score=np.array([0.1, 0.5, 0, 0, 0.8, 0, 0]),
        gain=np.array([0.2, 0.5, 0, 0, 0.75, 0, 0]),
        exact=np.array([True, False, True, True, True, True, True]),
        candidates=np.array([0.0, 1.0, 0, 0, 0, 0, 0]),
        missing=np.full(7, NOTHING_MISSING, dtype=np.int32),
    )


def numbers(*x: float) -> Batch:
    return Batch(0, len(x), (NumberColumn(np.array(x, dtype=np.float64)),))


def cells(rows: list[tuple[float, str | None, str | None]]) -> Batch:
    x, colors, sizes = zip(*rows, strict=True)
    return Batch(0, len(rows), (NumberColumn(np.array(x)), words(colors), words(sizes)))


def words(given: tuple[str | None, ...]) -> CategoryColumn:
    values = tuple(sorted({word for word in given if word is not None}))
    codes = [-1 if word is None else values.index(word) for word in given]
    return CategoryColumn(values, np.array(codes, dtype=np.int32))


@pytest.fixture(scope="module")
def deep() -> TreeModel:
    return chain(DEPTH)


def estimator(model: TreeModel) -> TreeClassifier:
    """An estimator with a model that was made by hand."""
    made = TreeClassifier(n_jobs=1, pruning=None).fit([[0.0], [1.0]], [0, 1])
    made._fitted = replace(made._fitted, found=model, schema=model.schema)  # type: ignore[arg-type]
    return made


def test_rows_find_their_way_down_a_chain(deep: TreeModel) -> None:
    x = np.array([0.0, 7.0, 7.5, DEPTH - 1.0, 1e9, -3.0])
    expected = [1, 15, 17, 2 * DEPTH - 1, 2 * DEPTH, 1]
    assert ends(deep)(numbers(*x)).answer.tolist() == expected
    model = estimator(deep)
    assert model.apply(x[:, None]).tolist() == expected
    assert model.predict(x[:, None]).tolist() == [0, 1, 0, 1, 0, 0]


def test_a_path_down_a_chain_names_every_node(deep: TreeModel) -> None:
    path = estimator(deep).decision_path([[DEPTH * 2.0], [0.0], [2.0]])
    assert path.shape == (3, 2 * DEPTH + 1)
    assert path.indptr.tolist() == [0, DEPTH + 1, DEPTH + 3, DEPTH + 7]
    assert np.array_equal(path.indices[: DEPTH + 1], np.arange(0, 2 * DEPTH + 1, 2))
    assert path.indices[DEPTH + 1 :].tolist() == [0, 1, 0, 2, 4, 5]
    assert set(path.data.tolist()) == {1}


def test_facts_of_a_chain(deep: TreeModel) -> None:
    model = estimator(deep)
    assert (model.get_depth(), model.get_n_leaves()) == (DEPTH, DEPTH + 1)
    assert model.feature_importances_.tolist() == [1.0]
    frame = estimator(chain(3000)).to_frame()
    assert len(frame) == 6001
    assert frame["test"].iloc[3000] == "x <= 1500"


def test_every_node_knows_its_place() -> None:
    model = mixed()
    assert model.parents().tolist() == [-1, 0, 1, 1, 0, 4, 4]
    assert model.parent_branches().tolist() == [-1, 0, 0, 1, 1, 0, 1]
    assert model.depths().tolist() == [0, 1, 2, 2, 1, 2, 2]
    assert (model.n_nodes, model.n_leaves, model.depth()) == (7, 4, 2)
    assert model.n_values == (0, 3, 3)


def test_shares_labels_and_purity_come_from_whole_numbers() -> None:
    model = mixed()
    assert model.shares()[[0, 3]].tolist() == [[6 / 14, 8 / 14], [1 / 3, 2 / 3]]
    assert model.labels().tolist() == [1, 0, 0, 1, 1, 0, 1]
    assert chain(1).labels().tolist() == [0, 0, 1]  # of equals the first
    assert model.purity().tolist() == [8 / 14, 4 / 6, 1.0, 2 / 3, 0.75, 1.0, 1.0]
    assert model.weights()[0].tolist() == [3.0, 4.0]


def test_importances_weigh_gains() -> None:
    parts = np.array([14 * 0.2, 6 * 0.5, 8 * 0.75])
    assert mixed().importances() == pytest.approx(parts / parts.sum(), rel=1e-15)
    leaf = TreeClassifier(max_depth=0, pruning=None).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert leaf.feature_importances_.tolist() == [0.0, 0.0]


ROUTES = [
    ((2.5, "blue", "L"), 2),
    ((2.5, "red", "L"), 3),
    ((2.6, "red", "L"), 5),
    ((2.6, "red", "M"), 6),
    ((1.0, "green", "L"), 2),  # fitted, but absent from the node: the heavier branch
    ((1.0, "pink", "L"), 2),  # never fitted: the same
    ((1.0, None, "L"), 2),
    ((9.0, "red", "XL"), 4),  # a node with a branch per value keeps what it does not know
    ((9.0, "red", None), 4),
    ((9.0, "red", "S"), 4),  # declared, and no row had it
    ((np.nan, "red", "M"), 6),
]


def test_where_rows_end_and_what_a_block_counts_by_column() -> None:
    answered = ends(mixed())(cells([row for row, _ in ROUTES]))
    assert answered.answer.tolist() == [node for _, node in ROUTES]
    assert answered.missing.tolist() == [1, 1, 1]
    # not the color that is fitted and merely absent from a node; the size that no row had
    assert answered.unknown.tolist() == [0, 1, 2]


def test_an_answer_is_taken_by_node() -> None:
    rows = cells([ROUTES[0][0], ROUTES[2][0]])
    assert answer(mixed(), Question("label"))(rows).answer.tolist() == [0, 0]
    shares = answer(mixed(), Question("proba"))(rows).answer
    assert shares.tolist() == mixed().shares()[[2, 5]].tolist()


def test_paths_stop_where_rows_do() -> None:
    starts, met = mixed().paths(np.array([4, 3, 0]))
    assert starts.tolist() == [0, 2, 5, 6]
    assert met.tolist() == [0, 4, 0, 1, 3, 0]
    starts, met = mixed().paths(np.empty(0, dtype=np.int32))
    assert (starts.tolist(), met.tolist()) == ([0], [])


def test_tests_in_words() -> None:
    asked = [describe_test(mixed(), t) for t in range(7)]
    assert asked == ["x <= 2.5", "color in {blue}", "", "", "size: L | M", "", ""]


def asking(column: ColumnSchema, **arrays: Any) -> str:
    """The root's test in words, of a model with another first column."""
    model = chain(1)
    schema = Schema((column,), (0, 1))
    values = {field.name: getattr(model, field.name) for field in fields(TreeModel)}
    return describe_test(TreeModel(**{**values, "schema": schema, **arrays}), 0, max_values=3)


LEVELS = ("low", "mid", "high")
NUMBER, DAY = ColumnSchema("x", "number"), ColumnSchema("day", "date")
LEVEL = ColumnSchema("level", "category", LEVELS, LEVELS)


@pytest.mark.parametrize(
    ("column", "v", "text"),
    [
        *((NUMBER, v, text) for v, text in [(3.0, "3"), (3.45, "3.45"), (1e22, "1e+22")]),
        *((NUMBER, -0.1, "-0.1"), (NUMBER, 1 / 3, repr(1 / 3))),
        *((DAY, 18262.0, "2020-01-01"), (DAY, 18262.5, "2020-01-01T12:00:00")),
        *((DAY, v, text) for v, text in [(-0.5, "1969-12-31T12:00:00"), (1106867.0, "5000-07-02")]),
        (DAY, 18262 + 1.5 / 86_400, "2020-01-01T00:00:01.500"),
        *((LEVEL, rank, value) for rank, value in [(0.5, "low"), (1.0, "mid"), (1.5, "mid")]),
    ],
)
def test_a_threshold_in_words(column: ColumnSchema, v: float, text: str) -> None:
    """Numbers read back as themselves; a cut between ranks prints the last value below."""
    threshold = np.array([v, np.nan, np.nan])
    assert asking(column, threshold=threshold) == f"{column.name} <= {text}"
    assert column != NUMBER or float(text) == v


def test_of_many_values_some_are_named() -> None:
    values = tuple(range(30))
    said = asking(
        ColumnSchema("code", "category", values),
        kind=np.array([SUBSET, LEAF, LEAF], dtype=np.int8),
        value_start=np.array([0, 30, 30, 30]),
        values=np.arange(30, dtype=np.int32),
        branches=(np.arange(30) >= 14).astype(np.int32),
    )
    assert said == "code in {0, 1, 2, … (14 values)}"


def test_the_table_of_nodes() -> None:
    table = node_table(mixed(), None)
    assert table.columns == (
        *("node", "parent", "branch", "depth", "test", "n", "size", "n(no)", "n(yes)"),
        *("prediction", "purity", "error", "score", "exact", "candidates"),
    )
    assert table.rows[1] == (
        *(1, 0, 0, 1, "color in {blue}", 3.0, 3, 2.0, 1.0),
        *("no", 4 / 6, 2 / 6, 0.5, False, 1.0),
    )


def test_nodes_below_follow_in_preorder() -> None:
    assert mixed().ends().tolist() == [7, 4, 3, 4, 7, 6, 7]
    assert mixed().leaves_below().tolist() == [4, 2, 1, 1, 2, 1, 1]
    assert chain(3).leaves_below().tolist() == [4, 1, 3, 1, 2, 1, 1]


def test_a_chain_reads_as_text_without_recursion() -> None:
    lines = tree_text(chain(2000), None, None).split("\n")
    assert len(lines) == 4001
    assert lines[-1].startswith("|  " * 40 + "(2000) x > 1999: n 1, ")
    assert max(map(len, lines)) < 250


def test_rows_are_counted_where_weights_are_no_copies() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    weighed = TreeClassifier(pruning=None).fit(X, y, sample_weight=[0.5, 2.0, 1.0, 1.5]).to_frame()
    assert weighed["n(a)"].tolist() == [2.5, 2.5, 0.0]
    assert weighed["rows(a)"].tolist() == [2, 2, 0]
    assert weighed["rows(b)"].tolist() == [2, 0, 2]
    copied = TreeClassifier(pruning=None).fit(X, y, sample_weight=[1, 2, 1, 1]).to_frame()
    assert "rows(a)" not in copied
