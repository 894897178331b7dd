"""
Loops over one block of rows; see cpp/core/types.hpp for the words and the contract.
"""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def count_codes(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)], n_values: int, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> NDArray[numpy.int64]:
    """Weights by value and class; negative codes are missing values."""

def count_integers(columns: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), device='cpu', writable=False)]], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_span: int) -> list[tuple[int, NDArray[numpy.int64]] | None]:
    """
    Per column the lowest value and weights by value and class, or None if too wide.
    """

def rank_integers(column: Annotated[NDArray[numpy.int64], dict(shape=(None,), device='cpu', writable=False)]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]:
    """The sorted distinct values and each row's rank among them."""

def place_integers(columns: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), device='cpu', writable=False)]], lists: Sequence[tuple[int, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]]], n: int, unknown: int) -> NDArray[numpy.int32]:
    """
    Codes by (lowest value, codes of the values from there on), a row a column.
    """

def add_terms(total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]) -> None:
    """Add each row's row of the table; negative codes add nothing."""

def count_missing(columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)]]) -> list[int]:
    """How many NaN each column holds; -1 where it holds an infinity."""

def class_moments(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Per class units, mean, its tail and squared deviations of the values that are not NaN.
    """

def center_rows(columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)]], codes: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], sizes: Sequence[int], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, origin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Rows minus origin, 1 and squared length; returns how many lengths are not finite.
    """

def map_rows(columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)]], codes: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], sizes: Sequence[int], center: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Linear functions of centered rows; returns how many rows are not finite.
    """

def square_rows(columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)]], codes: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], sizes: Sequence[int], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rests: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], wide: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Squared distances from centers by triangles; returns how many rows are not finite.
    """

def criterion_names() -> list[str]:
    """The criteria, by their numbers."""

def score_parts(counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shift: int) -> tuple[bool, int, int, int, float, float, float | None]:
    """
    Scores of a partition from its counts, a row a part; logarithms in units of 2**-shift.
    """

def best_test(kinds: Sequence[int], values: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], counts: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], sizes: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], total: int, criterion: int, min_size: int, min_units: int, max_subset: int) -> tuple[int, int, float, NDArray[numpy.int32], float, float, bool, float] | None:
    """The test of a node from its attributes' tables, or None."""

def node_tests(columns: Sequence[tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], int, Sequence[int]]], total: int, options: GrowOptions) -> list[tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], list[list[int]], NDArray[numpy.int8], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.bool_], NDArray[numpy.bool_], NDArray[numpy.int64], bool, float, int, bool, int, NDArray[numpy.float64]]]:
    """All tests of a node by attribute, judged and ranked."""

class Search:
    """Rows among which the nearest are found."""

    def find(self, numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, exclude: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]:
        """
        Keys and positions of the k nearest rows of each query, by (key, position).
        """

@overload
def scan_rows(numbers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, n_columns: int) -> Search: ...

@overload
def scan_rows(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, n_columns: int) -> Search:
    """A search that looks at every row."""

@overload
def tree_rows(numbers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, threads: int) -> Search: ...

@overload
def tree_rows(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, threads: int) -> Search:
    """A search by a kd-tree; no missing values."""

@overload
def tree_visits(numbers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], step: int, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, k: int, n_queries: int) -> float: ...

@overload
def tree_visits(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], step: int, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, k: int, n_queries: int) -> float:
    """
    The share of its rows that a kd-tree of every step-th row looks at, for queries like them.
    """

@overload
def byte_rows(numbers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, threads: int, wide: int) -> Search: ...

@overload
def byte_rows(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float, threads: int, wide: int) -> Search:
    """A search by rows rounded to bytes; powers 1 and 2, no missing values."""

def bit_rows(codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Sequence[int], wide: int) -> Search:
    """A search over codes alone by counts of bits; no missing values."""

def collapse_strengths(child_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """The least alpha at which each node has no test in the minimal tree."""

def added_errors(n: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], errors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], confidence: float) -> NDArray[numpy.float64]:
    """What C4.5 adds to the errors of n rows."""

class GrowOptions:
    """How a tree grows; see cpp/trees/tree.hpp."""

    def __init__(self) -> None: ...

    @property
    def criterion(self) -> int: ...

    @criterion.setter
    def criterion(self, arg: int, /) -> None: ...

    @property
    def leaf_size(self) -> int: ...

    @leaf_size.setter
    def leaf_size(self, arg: int, /) -> None: ...

    @property
    def purity(self) -> float: ...

    @purity.setter
    def purity(self, arg: float, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def min_size(self) -> int: ...

    @min_size.setter
    def min_size(self, arg: int, /) -> None: ...

    @property
    def min_units(self) -> int: ...

    @min_units.setter
    def min_units(self, arg: int, /) -> None: ...

    @property
    def min_gain(self) -> float: ...

    @min_gain.setter
    def min_gain(self, arg: float, /) -> None: ...

    @property
    def max_leaves(self) -> int: ...

    @max_leaves.setter
    def max_leaves(self, arg: int, /) -> None: ...

    @property
    def max_subset(self) -> int: ...

    @max_subset.setter
    def max_subset(self, arg: int, /) -> None: ...

    @property
    def policy(self) -> int: ...

    @policy.setter
    def policy(self, arg: int, /) -> None: ...

    @property
    def part_bits(self) -> int: ...

    @part_bits.setter
    def part_bits(self, arg: int, /) -> None: ...

    @property
    def unit_bits(self) -> int: ...

    @unit_bits.setter
    def unit_bits(self, arg: int, /) -> None: ...

def grow_tree(columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)] | Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], kinds: Sequence[int], n_values: Sequence[int], has_missing: Sequence[bool], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weights: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bool, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], options: GrowOptions, threads: int) -> tuple[NDArray[numpy.int8], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.bool_], NDArray[numpy.float64], NDArray[numpy.int32]]:
    """A tree's nodes in preorder, as arrays; see cpp/trees/tree.hpp."""

def route_rows(tree: tuple[Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)] | Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], n_values: Sequence[int], out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], fallback: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None) -> None:
    """The node where each row ends."""

def spread_answers(tree: tuple[Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)] | Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], n_values: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], answers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """What nodes answer, by the parts of each row that end there."""

def spread_counts(tree: tuple[Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)] | Annotated[NDArray[numpy.int32], dict(shape=(None,), device='cpu', writable=False)]], n_values: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> NDArray[numpy.float64]:
    """The weight of each class that comes to each node."""
