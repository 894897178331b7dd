"""What the compiled loops rely on: wrong content raises ValueError, another form TypeError.

The stub of the module lists the form of every array; one row a kind of form is enough here.
"""

from functools import partial
from typing import Any, Final

import numpy as np
from tests.contract.refusals.table import Refusal

from sortal import native
from sortal.native import _core, trees
from sortal.native.trees import (
    added_errors,
    collapse_strengths,
    node_tests,
)

ROWS: Final = np.zeros(3, dtype=np.int32)
CODES: Final = np.array([0, 1, 1], dtype=np.int32)
INCOMPLETE: Final = np.array([0, 1, -1], dtype=np.int32)
NUMBERS: Final = np.array([4, 5, 6])
UNITS: Final = np.array([1, 2, 3])
X: Final = np.array([1.0, 2.0, 3.0])
EYE: Final = np.eye(2, dtype=np.int64)
NO_CODES: Final = np.empty((3, 0), dtype=np.int32)
FROZEN: Final = np.zeros((2, 5))
FROZEN.flags.writeable = False


def int32(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def changed(call: Any, good: dict[str, Any], change: dict[str, Any]) -> Any:
    return call(**{**good, **change})


def center(**change: Any) -> int:
    """Two of three rows of a number and a category of two values: five entries a row."""
    rows = {"rows": np.array([0, 2]), "out": np.zeros((2, 5))}
    means = {"origin": np.zeros(3), "fill": np.zeros(3), "scale": np.ones(2)}
    return int(changed(native.center_rows, {**terms(), **rows, **means}, change))


def terms() -> dict[str, Any]:
    return {"columns": [X], "codes": [INCOMPLETE], "sizes": [2], "out": np.zeros((3, 2))}


def functions(**change: Any) -> int:
    more = {"center": np.zeros(3), "weights": np.zeros((2, 3)), "offsets": np.zeros(2)}
    return int(changed(native.map_rows, {**terms(), **more}, change))


def squares(**change: Any) -> int:
    means = {"centers": np.zeros((2, 3)), "rests": np.zeros((2, 3))}
    good = {**terms(), **means, "triangles": np.zeros((2, 3, 3)), "wide": True}
    return int(changed(native.square_rows, good, change))


def best(**change: Any) -> Any:
    good = {"kinds": [2], "values": [np.array([0.0, 1.0])], "counts": [EYE], "sizes": [None]}
    limits = {"total": 2, "criterion": 0, "min_size": 1, "min_units": 1, "max_subset": 1 << 40}
    return changed(native.best_test, {**good, **limits}, change)


LIMITS: Final = trees.Growth(0, 1, 1.0, -1, 1, 1, 0.0, -1, trees.NO_BOUND)
COLUMN: Final = trees.NodeColumn(
    trees.SUBSET, np.array([0.0, 1.0]), EYE, np.array([1, 1]), np.array([0, 0]), 0
)


def listed(**change: Any) -> Any:
    return node_tests([COLUMN._replace(**change)], 2, LIMITS)


def grow(
    x: Any, y: Any, units: Any = None, *, kind: int = 1, n_values: int = 0, **change: int
) -> Any:
    asked = trees.TreeColumns([x], [kind], [n_values], [False])
    growth = trees.Growth(0, 1, 1.0, 3, 1, 1, 0.0, -1, trees.NO_BOUND)._replace(**change)
    return trees.grow_tree(asked, y, 2, trees.TreeRowWeights(units), growth, 1)


# x <= 1; yes: c in {0}, where 0 and 1 are known; no: a branch for each of 0 and 2
TREE: Final[dict[str, list[int]]] = {
    "kind": [1, 2, 0, 0, 3, 0, 0],
    "attribute": [0, 1, -1, -1, 1, -1, -1],
    "child_start": [0, 2, 4, 4, 4, 6, 6, 6],
    "children": [1, 4, 2, 3, 5, 6],
    "value_start": [0, 0, 2, 2, 2, 4, 4, 4],
    "values": [0, 1, 0, 2],
    "branches": [0, 1, 0, 1],
    "heavier": [0, 1, -1, -1, -1, -1, -1],
    "missing": [trees.NOTHING_MISSING] * 7,
}


def arrays(**change: list[int]) -> trees.TreeArrays:
    kinds: dict[str, Any] = {"kind": np.int8, "child_start": np.int64, "value_start": np.int64}
    made = {
        name: np.array(entries, dtype=kinds.get(name, np.int32))
        for name, entries in {**TREE, **change}.items()
    }
    return trees.TreeArrays(threshold=np.array([1.0, *[np.nan] * 6]), **made)


def route(c: int = 0, **change: list[int]) -> None:
    columns = [np.array([0.0]), int32(c)]
    trees.route_rows(arrays(**change), columns, [0, 3], np.empty(1, dtype=np.int32))


START: Final = np.array([0, 2, 2, 2])
RISK: Final = np.array([2.0, 0.0, 0.0])


def strengths(start: Any = START, children: Any = (1, 2), risk: Any = RISK) -> Any:
    return collapse_strengths(start, int32(*children), risk)


def errors(n: float, wrong: float, confidence: float) -> Any:
    return added_errors(np.array([float(n)]), np.array([float(wrong)]), confidence)


def find(numbers: Any, k: int = 1, exclude: Any = None) -> Any:
    searcher = _core.scan_rows(np.zeros((3, 2)), NO_CODES, np.ones(2), 2.0, 2)
    return searcher.find(numbers, NO_CODES[:1], k, exclude, 1)


def two_tables(counts: Any) -> Any:
    values = [np.array([0.0, 1.0])] * 2
    return best(kinds=[2, 2], values=values, sizes=[None, None], counts=[EYE, counts])


CONTENT: Final[list[tuple[Any, str]]] = [
    (lambda: native.count_codes(CODES, 1, ROWS, 1, None), "a code is too large"),
    (lambda: native.count_codes(CODES, -1, ROWS, 1, None), "n_values is negative"),
    (lambda: native.count_codes(CODES, 2, ROWS - 1, 1, None), "class code"),
    (lambda: native.count_codes(CODES, 2, ROWS + 1, 1, None), "class code"),
    (lambda: native.count_codes(CODES[:2], 2, ROWS, 1, None), "differ in length"),
    (lambda: native.count_codes(CODES, 2, ROWS, 1, UNITS[:2]), "differ in length"),
    (lambda: native.count_integers([NUMBERS], ROWS - 1, 1, None), "class code"),
    (lambda: native.count_integers([NUMBERS], ROWS + 1, 1, None), "class code"),
    (lambda: native.count_integers([], ROWS[:0], -1, None), "n_classes is negative"),
    (lambda: native.count_integers([UNITS, UNITS[:2]], ROWS, 1, None), "differ in length"),
    (lambda: native.count_integers([UNITS], ROWS, 1, UNITS[:2]), "differ in length"),
    (lambda: native.class_moments(X, ROWS - 1, 1, None), "class code"),
    (lambda: native.class_moments(X, ROWS + 1, 1, None), "class code"),
    (lambda: native.class_moments(X[:0], ROWS[:0], -1, None), "n_classes is negative"),
    (lambda: native.class_moments(X[:2], ROWS, 1, None), "differ in length"),
    (lambda: native.class_moments(X, ROWS, 1, UNITS[:2]), "differ in length"),
    (lambda: native.add_terms(np.zeros((3, 2)), np.zeros((1, 2)), CODES), "too large"),
    (lambda: native.add_terms(np.zeros((2, 2)), np.zeros((2, 2)), CODES), "differ in length"),
    (lambda: native.add_terms(np.zeros((3, 3)), np.zeros((2, 2)), CODES), "differ in classes"),
    (lambda: native.place_integers([NUMBERS], [(0, CODES)], 4, -2), "length n"),
    (lambda: native.place_integers([], [(0, CODES)], 0, -2), "differ in number"),
    (lambda: center(columns=[X, X[:2]]), "columns differ in length"),
    (lambda: center(codes=[INCOMPLETE[:2]]), "columns and codes differ in length"),
    (
        lambda: center(columns=[], codes=[INCOMPLETE, INCOMPLETE[:2]], sizes=[2, 1]),
        "differ in length",
    ),
    (lambda: center(sizes=[2, 2]), "codes and sizes differ in number"),
    (lambda: center(sizes=[-1]), "a size is negative"),
    (lambda: center(sizes=[2**31]), "a size is negative or beyond"),
    (lambda: center(sizes=[2**62]), "a size is negative or beyond"),
    (lambda: center(rows=np.array([0])), "rows and out differ in length"),
    (lambda: center(rows=np.array([0, 3])), "a row lies outside"),
    (lambda: center(rows=np.array([-1, 0])), "a row lies outside"),
    (lambda: center(rows=None, scale=None, out=np.zeros((4, 5))), "more rows than the columns"),
    (lambda: center(origin=np.zeros(2)), "origin is not of one number a term"),
    (lambda: center(out=np.zeros((2, 6))), "out has not"),
    (lambda: center(fill=np.zeros(2)), "fill is not of one number a term"),
    (lambda: center(scale=np.ones(3)), "scale and out differ in length"),
    (lambda: center(codes=[INCOMPLETE + 2]), "a code is too large"),
    (lambda: center(codes=[INCOMPLETE + 1], rows=None, scale=None), "a code is too large"),
    (lambda: functions(center=np.zeros(2)), "center is not of one number a term"),
    (lambda: functions(weights=np.zeros((2, 2))), "weights are not of one number a term"),
    (lambda: functions(weights=np.zeros((3, 3))), "weights and out differ in functions"),
    (lambda: functions(out=np.zeros((4, 2))), "out has more rows than the columns"),
    (lambda: functions(codes=[int32(2, 2, 2)]), "a code is too large"),
    (lambda: functions(codes=[INCOMPLETE[:2]]), "columns and codes differ in length"),
    (lambda: squares(sizes=[1]), "centers are not of one number a term"),
    (lambda: squares(rests=np.zeros((3, 3))), "rests are not as centers are"),
    (lambda: squares(out=np.zeros((3, 3))), "centers and out differ in number"),
    (lambda: squares(triangles=np.zeros((2, 2, 2))), "triangles are not of one row a term"),
    (lambda: squares(triangles=np.zeros((2, 3, 4))), "more columns than there are terms"),
    (lambda: squares(out=np.zeros((4, 2))), "out has more rows than the columns"),
    (lambda: squares(codes=[int32(2, 2, 2)]), "a code is too large"),
    (lambda: best(kinds=[2, 1]), "differ in number"),
    (lambda: best(kinds=[0]), "a kind is not"),
    (lambda: best(criterion=4), "criterion is not"),
    (lambda: best(kinds=[3], criterion=3), "no multiway"),
    (lambda: best(min_size=-1), "a limit is negative"),
    (lambda: best(max_subset=0), "max_subset 0"),
    (lambda: best(total=1), "between 1 and the total"),
    (lambda: best(total=1 << 62), "exceeds 2\\^62"),
    (lambda: best(values=[np.array([0.0])]), "values and counts differ"),
    (lambda: best(sizes=[np.array([1])]), "values and sizes differ"),
    (lambda: best(sizes=[np.array([1, 0])]), "a size is not positive"),
    (lambda: best(values=[np.array([1.0, 0.0])]), "values do not ascend"),
    (lambda: best(values=[np.array([0.0, np.inf])]), "not finite"),
    (lambda: best(values=[np.array([0.0, 0.5])]), "a code is not"),
    (lambda: best(values=[np.array([-1.0, 0.0])]), "a code is not"),
    (lambda: best(counts=[np.array([[1, -1], [0, 2]])]), "a count is negative"),
    (lambda: best(counts=[np.array([[1, 1], [0, 0]])]), "a value has no units"),
    (lambda: best(counts=[np.array([[1 << 62, 1], [1 << 62, 1]])]), "counts exceed"),
    (lambda: two_tables(np.array([[1, 0], [1, 0]])), "differ in class totals"),
    (lambda: two_tables(np.array([[1], [1]])), "differ in classes"),
    (lambda: listed(values=np.array([2.0, 1.0])), "ascend"),
    (lambda: listed(sizes=np.array([1])), "differ in length"),
    (lambda: listed(missing=np.array([0])), "differ in classes"),
    (lambda: listed(missing=np.array([-1, 0])), "negative"),
    (lambda: listed(asked=(2,)), "holds no value"),
    (lambda: listed(kind=4), "kind"),
    (lambda: node_tests([COLUMN._replace(kind=3)], 2, LIMITS._replace(criterion=3)), "multiway"),
    (lambda: node_tests([COLUMN, COLUMN._replace(counts=EYE * 2)], 2, LIMITS), "class totals"),
    (lambda: node_tests([COLUMN], 1, LIMITS), "between 1 and the total"),
    (lambda: node_tests([COLUMN], 2, LIMITS._replace(min_size=-1)), "a limit is negative"),
    (lambda: _core.node_tests([], 2, _core.GrowOptions()), "no column"),
    (lambda: grow(np.array([0, 1, np.inf]), CODES), "not finite"),
    (lambda: grow(X[:2], CODES), "differ in length"),
    (lambda: grow(X, CODES + 1), "class code"),
    (lambda: grow(CODES, CODES, kind=2, n_values=1), "code lies outside"),
    (lambda: grow(CODES, CODES, n_values=2), "cut needs numbers"),
    (lambda: grow(X, CODES, kind=4), "kind is not"),
    (lambda: grow(X, CODES, np.array([1, 0, 1])), "no weight"),
    (lambda: grow(X, CODES, criterion=4), "criterion is not"),
    (lambda: grow(X, CODES, criterion=3, policy=1), "no branch for missing values"),
    (lambda: grow(CODES, CODES, kind=3, n_values=2, criterion=3), "no multiway"),
    (lambda: grow(X, CODES, policy=4), "policy is not"),
    (lambda: grow(X, CODES, max_subset=0), "max_subset 0"),
    (lambda: grow(X, CODES, part_bits=3), "only rows that spread"),
    (lambda: grow(X[:0], CODES[:0]), "no row"),
    (lambda: route(value_start=[0, 10, 0, 0, 0, 4, 4, 4]), "lists of the tree do not fit"),
    (lambda: route(child_start=[0, 9, 4, 4, 4, 6, 6, 6]), "lists of the tree do not fit"),
    (lambda: route(child_start=[0, 2, 4, 4, 4, 6, 6]), "differ in length"),
    (lambda: route(children=[1, 9, 2, 3, 5, 6]), "leads nowhere"),
    (lambda: route(children=[1, 0, 2, 3, 5, 6]), "leads nowhere"),
    (lambda: route(children=[2, 4, 2, 3, 5, 6]), "not in preorder"),
    (lambda: route(attribute=[7, 1, -1, -1, 1, -1, -1]), "makes no sense"),
    (lambda: route(attribute=[1, 1, -1, -1, 1, -1, -1]), "cut needs numbers"),
    (lambda: route(kind=[1, 5, 0, 0, 3, 0, 0]), "makes no sense"),
    (lambda: route(branches=[0, 2, 0, 1]), "has no branch"),
    (lambda: route(missing=[2, -1, -1, -1, -1, -1, -1]), "makes no sense"),
    (lambda: route(missing=[-3, -1, -1, -1, -1, -1, -1]), "makes no sense"),
    (lambda: route(heavier=[2, 1, -1, -1, -1, -1, -1]), "makes no sense"),
    (lambda: route(values=[0, 3, 0, 2]), "no value of its column"),
    (lambda: route(c=3), "code is too large"),
    (lambda: route(heavier=[2, 1, -1, -1, -1, -1, -1]), "makes no sense"),
    (lambda: strengths(START[:-1]), "tree"),
    (lambda: strengths(np.array([0, 2, 1, 2])), "tree"),
    (lambda: strengths(np.array([0]), (), RISK[:0]), "tree"),
    (lambda: strengths(children=(1, 0)), "tree"),
    (lambda: strengths(children=(1, 1)), "tree"),
    (lambda: strengths(children=(1, 3)), "tree"),
    (lambda: strengths(risk=np.array([np.nan, 0, 0])), "risk"),
    (lambda: strengths(risk=np.array([1.0, -1, 0])), "risk"),
    (lambda: errors(1, 2, 0.25), "errors"),
    (lambda: errors(0, 0, 0.25), "errors"),
    (lambda: errors(2, 1, 0), "confidence"),
    (lambda: find(np.zeros((1, 3))), "differ in columns"),
    (lambda: find(np.zeros((1, 2)), k=0), "k is below 1"),
    (lambda: find(np.zeros((1, 2)), exclude=np.zeros(2, np.int64)), "exclude differ in length"),
    (lambda: _core.tree_rows(np.zeros((3, 2)), np.ones(3), 2.0, 1), "numbers and factors"),
    (lambda: _core.tree_rows(np.zeros((0, 2)), np.ones(2), 2.0, 1), "no row"),
    (lambda: _core.byte_rows(np.zeros((3, 2)), np.ones(2), 3.0, 1, 0), "powers 1 and 2"),
    (lambda: _core.scan_rows(np.zeros((3, 0)), NO_CODES, np.ones(0), 0.5, 0), "power is below 1"),
    (lambda: _core.bit_rows(int32(3)[None], [3], 0), "outside 0"),
]

FORM: Final[list[Any]] = [
    lambda: native.count_codes(CODES.astype(">i4"), 2, ROWS, 1, None),
    lambda: native.count_codes(CODES[:, None], 2, ROWS, 1, None),
    lambda: native.count_codes(CODES.tolist(), 2, ROWS, 1, None),
    lambda: native.count_integers([NUMBERS], np.zeros(6, dtype=np.int32)[::2], 1, None),
    lambda: native.rank_integers(NUMBERS.astype(np.uint64)),
    # rows that lie 9 bytes apart
    lambda: native.rank_integers(np.zeros(2, dtype=[("flag", "i1"), ("x", "i8")])["x"]),
    lambda: native.class_moments(X.astype(np.float32), ROWS, 1, None),
    lambda: center(out=np.zeros((5, 2)).T),
    lambda: center(out=FROZEN),
]


REFUSALS: Final = [
    *(Refusal(f"{i}: {words}", call, ValueError, words) for i, (call, words) in enumerate(CONTENT)),
    *(Refusal(f"form {i}", call, TypeError, "incompatible") for i, call in enumerate(FORM)),
]

# What the rows change is accepted as it is; without this they could be refused for another reason.
SOUND: Final[list[Any]] = [
    *(center, functions, squares, best, route, strengths),
    *(partial(grow, X, CODES), partial(find, np.zeros((1, 2))), partial(errors, 2, 1, 0.25)),
]
