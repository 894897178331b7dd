"""What summaries refuse: rows that were not there, others of other columns, and damaged bytes."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import numpy as np
from tests.contract.refusals.discriminants import refuse
from tests.contract.refusals.table import Refusal
from tests.summaries.blocks import Table, build_batch, measure, of_numbers

from sortal.errors import ColumnError, FormatError, InputError, TrainingRowsError, WeightError
from sortal.modelfile.record import from_bytes, to_bytes
from sortal.summaries.class_moments import ClassMoments
from sortal.summaries.counts import (
    CellCounts,
    ClassCounts,
    ValueCounts,
    count_cells,
    count_classes,
    count_rows,
    count_values,
)
from sortal.summaries.moments import ColumnMoments, measure_columns
from sortal.summaries.rows import KeptRows, SummarizeRows

# --- What was not there, and what does not fit together ------------------------------------------

KINDS: Final[dict[str, Callable[[Any, int], Any]]] = {  # of a batch, over the first n columns
    "the number of rows": lambda batch, n: count_rows(replace(batch, columns=batch.columns[:n])),
    "the weight of a class": lambda batch, _: count_classes(batch),
    "the weight of a value": lambda batch, n: count_values(batch, range(n)),
    "the weight of a cell": lambda batch, n: count_cells(batch, range(n)),
    "the weight of a number column": lambda batch, n: measure_columns(
        batch, [2, 3][:n], ["n0", "n1"][:n]
    ),
}


def summary(kind: str, labels: str = "a", words: Any = "u", n: int = 1) -> Any:
    """One row for each label, all of one word; two columns of each kind."""
    m = len(labels)
    batch = build_batch(list(labels), [[words] * m, ["v"] * m], [[1.0] * m, [2.0] * m])
    return KINDS[kind](batch, n)


def take_out(kind: str, labels: str, words: Any) -> Any:
    return summary(kind).subtract(summary(kind, labels, words))


def combine_other_columns(kind: str, how: str) -> Any:
    return getattr(summary(kind), how)(summary(kind, n=2))


def columns(*numbers: list[float]) -> ColumnMoments:
    """One class; columns n0, n1, …"""
    batch = build_batch(["a"] * len(numbers[0]), [], numbers)
    return measure_columns(batch, range(len(numbers)), [f"n{j}" for j in range(len(numbers))])


def words(*cells: str) -> ClassMoments:
    return measure(Table(["a"] * len(cells), [], [list(cells)]))


def undo(rest: Any, part: Any) -> Any:
    """Merge and take out again."""
    return rest().merge(part()).subtract(part())


def most() -> Any:
    return np.array([2**62])


OVERFLOWS: Final[dict[str, Callable[[], Any]]] = {
    "classes": lambda: ClassCounts(("a",), most()),
    "cells": lambda: CellCounts(
        ("a",), (("u",),), np.zeros((1, 1), dtype=np.int32), most()[:, None]
    ),
    "columns": lambda: ColumnMoments(("n0",), ("a",), most()[:, None], *np.ones((4, 1, 1))),
    "moments of classes": lambda: replace(of_numbers([1.0]), units=most()),
}


def double(kind: str) -> Any:
    return OVERFLOWS[kind]().merge(OVERFLOWS[kind]())


def merge_units_of_any_size() -> Any:
    return ClassCounts(("a",), np.array([1]), 60).merge(ClassCounts(("a",), np.array([8])))


def take_out_a_small_share() -> Any:
    """A spread to lose, though it is less than the last digit of the numbers."""
    table = Table(["a"] * 3, [[1e15, 1e15 + 3, 1e15 + 6]], [], [9 * 10**9, 20000, 10**6])
    return measure(table).subtract(measure(table, [0, 2]))


def take_out_in_steps(steps: int) -> Any:
    """What cannot be taken out at once cannot be so in two steps: the bound remembers."""
    rest = of_numbers([0.1 * i for i in range(50)])
    narrow, wide = (of_numbers([s * 40.0, -s * 40.0]) for s in (1, 20))
    whole = rest.merge(narrow).merge(wide)
    return (
        whole.subtract(wide.merge(narrow)) if steps == 1 else whole.subtract(narrow).subtract(wide)
    )


def combine_class_moments(one: int, other: int, how: str) -> Any:
    made = [of_numbers([1.0]), of_numbers([1.0], [2.0]), measure(Table(["a"], [[1.0]], [["u"]]))]
    return getattr(made[one], how)(made[other])


def lost(words: str, rest: Callable[[], Any], part: Callable[[], Any], what: str) -> Refusal:
    """Nearly all the spread of some columns goes with a part."""
    return Refusal(what, partial(undo, rest, part), TrainingRowsError, words)


FAR: Final = [1e6, -1e6]
UP: Final = [1.0, 2.0, 3.0]
SPREADS: Final = [
    lost("the spread of 'n0', 'n2', so", lambda: columns(UP, UP, [0.0, 1.0, 2.0]),
         lambda: columns(FAR, [2.0, 2.5], FAR), "the spread of two columns"),
    lost("'n0'", lambda: columns([1.0]), lambda: columns([4.0]), "the last row but one"),
    lost("nearly all the spread of 'length'.*'height', so",
         lambda: of_numbers(UP, UP, [0.0, 1.0, 2.0]),
         lambda: of_numbers(FAR, [2.0, 2.5], FAR), "the spread of two columns of class moments"),
    # powers of four are still known where the squares of one column alone are lost
    lost("the spread of 'length', so",
         lambda: of_numbers(*([s * math.cos(i) for i in range(2000)] for s in (1e-3, 1e3))),
         lambda: of_numbers([1.0, -1.0], [0.0, 1.0]), "a column beside one that keeps enough"),
    lost("the spread of 'length', so", lambda: of_numbers([0.1 * i for i in range(99)]),
         lambda: of_numbers([150.0]), "powers of four, which are lost before squares are"),
    lost("the spread of 'color', so", lambda: words("u", "v", "w", "w"),
         lambda: words(*["u", "v"] * 4000), "a category, which is named once"),
]  # fmt: skip
SUBTRACT: Final[dict[str, Any]] = {"error": TrainingRowsError}
COMBINE: Final = [
    *(refuse(f"because {kind} would fall below zero", take_out, kind, "aa", "u", **SUBTRACT)
      for kind in KINDS),
    *(refuse(kind, take_out, kind, "b", "u", **SUBTRACT) for kind in list(KINDS)[1:]),
    *(refuse("only rows that were fitted", take_out, kind, "a", "w", **SUBTRACT)
      for kind in ("the weight of a value", "the weight of a cell")),
    refuse("the number of missing values", take_out, "the number of rows", "a", None, **SUBTRACT),
    *(refuse("1 column and one of 2 columns do not combine", combine_other_columns, kind, how,
             error=ColumnError)
      for kind in KINDS if kind != "the weight of a class" for how in ("merge", "subtract")),
    *(refuse("do not combine", combine_class_moments, *pair, how, error=ColumnError)
      for pair in ((0, 1), (0, 2), (2, 0)) for how in ("merge", "subtract")),
    *(refuse("too large to be counted exactly|the weight of a class", double, kind,
             error=WeightError) for kind in OVERFLOWS),
    refuse("differ too much in size", merge_units_of_any_size, error=WeightError),
    refuse("Column 'n0' holds.*beyond 1e", columns, [1.0, 1e200], error=InputError),
    refuse("Column 'n0' holds.*infinite", columns, [1.0, math.inf], error=InputError),
    refuse("'length'", take_out_a_small_share, **SUBTRACT),
    refuse("spread", take_out_in_steps, 1, **SUBTRACT),
    refuse("spread", take_out_in_steps, 2, **SUBTRACT),
    Refusal("more rows of a class", lambda: of_numbers([1.0]).subtract(of_numbers([1.0, 1.0])),
            TrainingRowsError, "the weight of a class would fall below zero"),
    Refusal("another class", lambda: of_numbers([1.0]).subtract(of_numbers([1.0], labels=["b"])),
            TrainingRowsError, "the weight of a class"),
    Refusal("another value", lambda: words("u", "w").subtract(words("v", "w")),
            TrainingRowsError, "the weight of a value would fall below zero"),
]  # fmt: skip


# --- Bytes of what no rows have; the format itself is that of all records ------------------------


def read_again(of: Callable[[], Any], **changes: Any) -> Any:
    """Of which some fields say otherwise."""
    changed = replace(of(), **changes)
    return from_bytes(type(changed), to_bytes(changed))


@cache
def tiny() -> ClassCounts:
    return ClassCounts(("no", "yes"), np.array([1, 258]), 3)


@cache
def some() -> ClassMoments:
    """Moments of classes, with weights in a unit of 1/4."""
    colors = ["u", "v", "v", "u"]
    return measure(Table(list("abab"), [[0.5, 3.0, -1.0, 2.0]], [colors], [2, 4, 8, 1], 2))


def read_moments(of: Callable[[], Any], name: str, number: float) -> Any:
    """Whose first cell was replaced."""
    array = getattr(of(), name).copy()
    array.flat[0] = number
    return read_again(of, **{name: array})


def cells_without_value() -> CellCounts:
    return CellCounts(("a",), (("u",),), np.ones((1, 1), dtype=np.int32), np.array([[1]]))


def tables_of_other_values() -> ValueCounts:
    return ValueCounts(("a",), (("u",),), (np.ones((2, 1), dtype=np.int64),))


NO_CLASSES: Final = [("no",), ("yes", "no"), ("no", "no"), (0, math.nan), ("no", None), ("yes", 2)]
NO_MOMENTS: Final[dict[str, list[float]]] = {
    "origin": [math.nan, 1e150],
    "mean": [-1e150],
    "scatter": [math.inf, -1.0],
    "third": [math.inf, math.nan],
    "fourth": [math.nan, -1.0],
    "slack": [-1.0, math.inf],
    "units": [-100],
}
FORMAT: Final[dict[str, Any]] = {"error": FormatError}
BYTES: Final = [
    refuse("", read_again, tiny, units=np.array([-1, 1]), **FORMAT),
    refuse("exponent", read_again, tiny, exponent=10**9, **FORMAT),
    *(refuse("", read_again, tiny, classes=classes, **FORMAT) for classes in NO_CLASSES),
    refuse("", read_again, some, categories=(), **FORMAT),
    refuse("", read_again, some, values=(("u",),), **FORMAT),
    refuse("terms of other columns", read_again, some, numbers=(), **FORMAT),
    *(refuse("", read_moments, some, name, number, **FORMAT)
      for name, numbers in NO_MOMENTS.items() for number in numbers),
    *(refuse("'ColumnMoments.mean'", read_moments, partial(columns, UP), "mean", mean, **FORMAT)
      for mean in (math.nan, math.inf, -1e200)),
    refuse("m2", read_moments, partial(columns, UP), "m2", -1.0, **FORMAT),
    refuse("codes without a value", read_again, cells_without_value, **FORMAT),
    refuse("a table of other values", read_again, tables_of_other_values, **FORMAT),
]  # fmt: skip


# --- Kept rows -----------------------------------------------------------------------------------


def kept() -> KeptRows:
    x, z = [1.0, 2.0, None, 4.0], [0.0, 0.5, 1.0, 1.5]
    batch = build_batch(["a", "b", "a", "c"], [["u", None, "v", "u"], [True] * 4], [x, z])
    return SummarizeRows(0, (2, 3), (0, 1), ("x", "z"))(batch)


def take_ids(*steps: list[int]) -> Any:
    rows = kept()
    for ids in steps:
        rows = rows.without(np.array(ids))
    return rows


def merge_fewer_columns() -> Any:
    rows = kept()
    return rows.merge(replace(rows, numbers=rows.numbers[:, :1], ids=rows.ids + 10))


NO_ROWS: Final[list[dict[str, Any]]] = [
    {"ids": np.array([0, 2, 1, 3])},
    {"ids": np.array([0, 1, 2, 4])},
    {"ids": np.array([0, 1, 2])},
    {"codes": np.full((4, 2), 2, dtype=np.int32)},
    {"codes": np.full((4, 2), -2, dtype=np.int32)},
    {"y": np.full(4, -1, dtype=np.int32)},
    {"y": np.full(4, 3, dtype=np.int32)},
    {"numbers": np.full((4, 2), math.inf)},
    {"numbers": np.full((4, 2), -math.inf, dtype=np.float32)},
    {"numbers": np.zeros((3, 2))},
    {"units": np.array([1, 0, 1, 1])},
    {"exponent": 1},
]
ROWS: Final = [
    refuse("No row has the ids 4, 9", take_ids, [0, 4, 9], **SUBTRACT),
    refuse("ids 2 are given more than once", take_ids, [2, 0, 2], **SUBTRACT),
    refuse("No row has the ids 2", take_ids, [2], [2], **SUBTRACT),
    Refusal("rows of one id", lambda: kept().merge(kept()), InputError, "Two rows have the id 0"),
    refuse("2 columns and one of 1", merge_fewer_columns, error=ColumnError),
    *(refuse("damaged", read_again, kept, **given, **FORMAT) for given in NO_ROWS),
]

REFUSALS: Final = [*SPREADS, *COMBINE, *BYTES, *ROWS]
