"""What summaries refuse: rows that were not there, others of other columns, and damaged bytes."""

import json
import math
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import numpy as np
from tests.contract.refusals.discriminants import refuse
from tests.contract.refusals.table import Refusal
from tests.summaries.blocks import Table, build_batch, measure, of_numbers

from sortal.errors import ColumnError, FormatError, InputError, TrainingRowsError, WeightError
from sortal.summaries.bytes import pack, unpack
from sortal.summaries.class_moments import ClassMoments
from sortal.summaries.counts import (
    CellCounts,
    ClassCounts,
    RowCounts,
    count_cells,
    count_classes,
    count_rows,
    count_values,
)
from sortal.summaries.moments import ColumnMoments, measure_columns
from sortal.summaries.rows import KeptRows, SummarizeRows
from sortal.summaries.value_tables import BayesSummary, SummarizeBayes

START: Final = struct.Struct("<4sHI")

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


# --- Damaged bytes -------------------------------------------------------------------------------


@cache
def tiny() -> ClassCounts:
    return ClassCounts(("no", "yes"), np.array([1, 258]), 3)


def read_tiny(head: bytes = b"", start: int = 0, stop: int | None = None, tail: bytes = b"") -> Any:
    """With other bytes before and after some of the right ones."""
    return ClassCounts.from_bytes(head + tiny().to_bytes()[start:stop] + tail)


def read_header(text: bytes) -> Any:
    return ClassCounts.from_bytes(START.pack(b"SRTL", 1, len(text)) + text)


def read_changed(path: tuple[Any, ...], value: Any, of: Callable[[], Any] = tiny) -> Any:
    """Bytes of which one item of the header was replaced."""
    data = of().to_bytes()
    _, version, length = START.unpack_from(data)
    header = json.loads(data[START.size : START.size + length])
    item = header
    for step in path[:-1]:
        item = item[step]
    item[path[-1]] = value
    text = json.dumps(header).encode()
    packed = START.pack(b"SRTL", version, len(text)) + text + data[START.size + length :]
    return type(of()).from_bytes(packed)


HEADERS: Final[list[tuple[tuple[Any, ...], list[Any]]]] = [
    (("meta",), [[], {}]),
    (("arrays",), [{}, [1], ["units"]]),
    (("arrays", 0), [{"type": "i8", "shape": [2]}]),
    (("arrays", 0, "name"), ["other"]),
    (("arrays", 0, "type"), ["O", ["i8"], "f8"]),
    (("arrays", 0, "shape"), [2, ["2"], [2.0], [math.inf], [-2], [1, 2], [1] * 100 + [2]]),
    (("arrays", 0, "shape"), [[10**30], [0, 10**30], [0, 2**40, 2**40]]),
    (("meta", "exponent"), [None, "3", True, 10**9]),
    (("meta", "classes"), ["no", ["no"], ["yes", "no"], ["no", "no"], ["no", None]]),
    (("meta", "classes"), [["no", ["yes"]], [0, math.nan]]),
]
NO_HEADERS: Final = [b"", b"{", b"[]", b'"kind"', b"\xff\xfe", b"[" * 100_000, b'{"kind": 1}']


@cache
def some() -> ClassMoments:
    """Moments of classes, with weights in a unit of 1/4."""
    colors = ["u", "v", "v", "u"]
    return measure(Table(list("abab"), [[0.5, 3.0, -1.0, 2.0]], [colors], [2, 4, 8, 1], 2))


def read_moments(name: str, number: float) -> Any:
    """Whose first cell was replaced."""
    array = getattr(some(), name).copy()
    array.flat[0] = number
    changed: ClassMoments = replace(some(), **{name: array})
    return ClassMoments.from_bytes(changed.to_bytes())


NO_MOMENTS: Final[dict[str, list[float]]] = {
    "origin": [math.nan, 1e150],
    "mean": [-1e150],
    "scatter": [math.inf, -1.0],
    "third": [math.inf, math.nan],
    "fourth": [math.nan, -1.0],
    "slack": [-1.0, math.inf],
    "units": [-100],
}


def read_columns(mean: float, m2: float) -> Any:
    one = np.array([[1]])
    made = ColumnMoments(("x",), ("a",), one, one * mean, one * 0.0, one * m2, one * 0.0)
    return ColumnMoments.from_bytes(made.to_bytes())


def read_cells_without_value() -> Any:
    codes = np.array([[1]], dtype=np.int32)
    broken = CellCounts(("a",), (("u",),), codes, np.array([[1]]))
    return CellCounts.from_bytes(broken.to_bytes())


def read_without(part: str) -> Any:
    made = SummarizeBayes((0,), (1,), ("x",), (0,))(build_batch(["a"], [["u"]], [[0.5]]))
    blobs = dict(unpack("bayes", made.to_bytes()).arrays)
    del blobs[part]
    return BayesSummary.from_bytes(pack("bayes", {}, blobs))


def read_array(cells: Any) -> Any:
    return unpack("any", pack("any", {}, {"x": np.array(cells)}))


def read_scatters(cells: Any) -> Any:
    return read_array([cells]).scatters("x", 1, 2, most=9.0)


def read_listed(method: str, asked: Any) -> Any:
    meta = {"names": ["y"], "codes": [1], "values": [["u"], [1, 2]]}
    return getattr(unpack("any", pack("any", meta, {})), method)(asked)


NO_SCATTERS: Final = [
    [[1.0, 0.0], [0.0, -1e-300]],
    [[1.0, 9.5], [0.0, 1.0]],
    [[1.0, 0.0], [-9.5, 1.0]],
    [[math.nan, 0.0], [0.0, 1.0]],
    [[1.0, 0.0]],
]
FORMAT: Final[dict[str, Any]] = {"error": FormatError}
VERSION: Final = "format version 2; this release of sortal reads 1"
BYTES: Final = [
    refuse("do not begin with SRTL", read_tiny, b"PK\x03\x04 and so on", 12, **FORMAT),
    refuse(VERSION, read_tiny, b"SRTL\x02\x00", 6, **FORMAT),
    refuse("last array is followed by 3 bytes", read_tiny, tail=b"\0\0\0", **FORMAT),
    Refusal("another kind", lambda: RowCounts.from_bytes(tiny().to_bytes()), FormatError,
            "hold a 'classes', and a 'rows' was wanted"),
    Refusal("negative counts",
            lambda: ClassCounts.from_bytes(ClassCounts(("a",), np.array([-1])).to_bytes()),
            FormatError, "'units'"),
    *(Refusal(f"header {text[:9]!r}", partial(read_header, text), FormatError,
              "header of these bytes cannot be read") for text in NO_HEADERS),
    *(refuse("", read_changed, path, value, **FORMAT)
      for path, values in HEADERS for value in values),
    *(refuse("", read_changed, ("meta", name), value, some, **FORMAT)
      for name in ("numbers", "categories", "values", "classes", "exponent")
      for value in (None, ["a", "b", "c"], "a", 1.5)),
    *(refuse(name, read_moments, name, number, **FORMAT)
      for name, numbers in NO_MOMENTS.items() for number in numbers),
    *(refuse("'mean'", read_columns, mean, 0.0, **FORMAT) for mean in (math.nan, math.inf, -1e200)),
    refuse("'m2'", read_columns, 0.0, -1.0, **FORMAT),
    refuse("'codes'", read_cells_without_value, **FORMAT),
    *(refuse(part, read_without, part, **FORMAT)
      for part in ("rows", "classes", "values", "moments")),
    refuse("which is none", read_array, [[[[0.0]]]], **FORMAT),
    *(refuse("'x'", read_scatters, cells, **FORMAT) for cells in NO_SCATTERS),
    *(refuse(name, read_listed, "names", name, **FORMAT) for name in ("codes", "others")),
    *(refuse("values", read_listed, "values", n, **FORMAT) for n in (0, 1, 3)),
]  # fmt: skip


# --- Kept rows, and the nearest of them ----------------------------------------------------------


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


def read_kept(name: str, array: Any, kind: str = "i8") -> Any:
    got = unpack("kept rows", kept().to_bytes())
    arrays = {**got.arrays, name: np.array(array, dtype=kind)}
    return KeptRows.from_bytes(pack("kept rows", got.meta, arrays))


NO_ROWS: Final[list[tuple[str, Any, str]]] = [
    ("ids", [0, 2, 1, 3], "i8"),
    ("ids", [0, 1, 2, 4], "i8"),
    ("ids", [0, 1, 2], "i8"),
    ("codes", [[2, 2]] * 4, "i4"),
    ("codes", [[-2, -2]] * 4, "i4"),
    ("y", [[-1]] * 4, "i4"),
    ("numbers", [[math.inf] * 2] * 4, "f8"),
    ("numbers", [[math.inf] * 2] * 4, "f4"),
    ("numbers", [[0.0, 0.0]] * 3, "f8"),
    ("units", [1, 0, 1, 1], "i8"),
]
ROWS: Final = [
    refuse("No row has the ids 4, 9", take_ids, [0, 4, 9], **SUBTRACT),
    refuse("ids 2 are given more than once", take_ids, [2, 0, 2], **SUBTRACT),
    refuse("No row has the ids 2", take_ids, [2], [2], **SUBTRACT),
    Refusal("rows of one id", lambda: kept().merge(kept()), InputError, "Two rows have the id 0"),
    refuse("2 columns and one of 1", merge_fewer_columns, error=ColumnError),
    *(refuse("damaged", read_kept, *given, **FORMAT) for given in NO_ROWS),
]

REFUSALS: Final = [*SPREADS, *COMBINE, *BYTES, *ROWS]
