"""The one package that imports the compiled core (import-linter cannot see compiled modules).

Each function takes one block of rows: `classes` are int32 codes in 0 .. n_classes - 1, `units`
int64 weights or None where every row weighs one. A row's terms are its numbers, then for each code
column j 0/1 indicators of sizes[j] values.

What needs no more than the core's own function is that function, described by its docstring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sortal.native import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Codes, Counts, Float

    Int32 = Codes
    Int64 = Counts

add_terms = _core.add_terms
center_rows = _core.center_rows
class_moments = _core.class_moments
count_codes = _core.count_codes
count_missing = _core.count_missing
map_rows = _core.map_rows
place_integers = _core.place_integers
rank_integers = _core.rank_integers
square_rows = _core.square_rows

# Beyond this span of values a table over the span wastes more than ranking costs.
MAX_SPAN = 1 << 16


def count_integers(
    columns: Sequence[Int64],
    classes: Int32,
    n_classes: int,
    units: Int64 | None,
    max_span: int = MAX_SPAN,
) -> list[tuple[int, Int64] | None]:
    """Per column (lowest value, weights by value and class); None where values span too far."""
    return _core.count_integers(list(columns), classes, n_classes, units, max_span)


class Scores(NamedTuple):
    """Scores of a partition of n units.

    `entropy`, `split_entropy` and `split_information` are n times the textbook's bits, in whole
    units of 2**-shift; `squares` is n (1 - G(D)), `gini_decrease` n times the decrease; `cart`, for
    two parts only, n² / 2 times the measure; `nothing` says whether every score is zero.
    """

    nothing: bool
    entropy: int
    split_entropy: int
    split_information: int
    squares: float
    gini_decrease: float
    cart: float | None


def score_parts(counts: Int64, shift: int) -> Scores:
    """Scores of a partition from its counts, a row a part and a column a class."""
    return Scores(*_core.score_parts(counts, shift))


class BestTest(NamedTuple):
    """The test of a node. `kind` is 1 for X <= threshold, 2 for X in `yes`, 3 for a branch a value.

    `score` is in the criterion's own scale, `gain` the same but for gain ratio, where it is in
    bits. `exact` says that no allowed test is better, `candidates` how many subsets the test stood
    against.
    """

    attribute: int
    kind: int
    threshold: float
    yes: Int32
    score: float
    gain: float
    exact: bool
    candidates: float


def best_test(
    kinds: Sequence[int],
    values: Sequence[Float],
    counts: Sequence[Int64],
    sizes: Sequence[Int64 | None],
    total: int,
    criterion: int,
    min_size: int,
    min_units: int,
    max_subset: int,
) -> BestTest | None:
    """The test of a node, or None where no allowed test scores above zero.

    Attribute j takes values[j] (of categories the codes) with counts[j], a row a value and a
    column a class, and sizes[j] rows each, or None where sizes are sums of counts. `total` are the
    units of the whole fit, which fix the unit of logarithms. `criterion`: 0 gain, 1 gain ratio,
    2 Gini, 3 CART. Each side must have min_size and min_units, and the smaller set of values at
    most max_subset of them.
    """
    found = _core.best_test(
        list(kinds),
        list(values),
        list(counts),
        list(sizes),
        total,
        criterion,
        min_size,
        min_units,
        max_subset,
    )
    return None if found is None else BestTest(*found)
