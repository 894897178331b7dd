"""The schema: a mergeable summary in which the order of blocks cannot matter."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import (
    MISSING,
    ColumnSchema,
    Kind,
    Schema,
    Value,
    as_categories,
    order_of,
    sort_values,
)
from sortal.data.table import ArrayTable

WORDS = st.text("abcdef", max_size=2)
VALUES = st.one_of(WORDS, st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, -1.5]))
Triple = tuple[Schema, Schema, Schema]


@st.composite
def blocks_of_a_column(draw: st.DrawFn, name: str) -> list[ColumnSchema]:
    """The column in three blocks: empty, with values, or with the order that its type declares."""
    kind: Kind = draw(st.sampled_from(["number", "date", "category"]))
    if kind != "category":
        kinds = draw(st.lists(st.sampled_from([kind, "empty"]), min_size=3, max_size=3))
        return [ColumnSchema(name, each) for each in kinds]
    order = tuple(draw(st.lists(VALUES, unique=True, max_size=3)))
    blocks = []
    for _ in range(3):
        form = draw(st.sampled_from(["empty", "seen", "declared"]))
        seen = draw(st.lists(VALUES, max_size=3))
        if form == "empty":
            blocks.append(ColumnSchema(name, "empty"))
        elif form == "seen":
            blocks.append(ColumnSchema(name, "category", sort_values(seen)))
        else:
            rest = sort_values(value for value in seen if value not in order)
            blocks.append(ColumnSchema(name, "category", order + rest, order))
    return blocks


@st.composite
def three_blocks(draw: st.DrawFn) -> Triple:
    columns = [draw(blocks_of_a_column(name)) for name in "ab"]
    classes = draw(st.tuples(*[st.lists(VALUES, max_size=3).map(sort_values)] * 3))
    a, b, c = (Schema(tuple(col[i] for col in columns), classes[i]) for i in range(3))
    return a, b, c


@given(three_blocks())
def test_merging_is_associative_commutative_idempotent_and_leaves_its_arguments_alone(
    blocks: Triple,
) -> None:
    a, b, c = blocks
    before = repr(blocks)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(b) == b.merge(a)
    assert a.merge(a) == a
    assert repr(blocks) == before


@given(
    st.lists(st.one_of(st.none(), VALUES), min_size=1, max_size=12),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_codes_are_ranks_in_the_sorted_union_for_any_blocks(
    cells: list[Value | None], size: int, random: Any
) -> None:
    array = np.fromiter(cells, dtype=object, count=len(cells))[:, None]
    table = ArrayTable(array)
    cuts = range(0, len(cells), size)
    blocks = [as_categories(table.categories(0, i, min(i + size, len(cells)))) for i in cuts]
    schemas = [Schema((ColumnSchema("x0", "category", block.values),)) for block in blocks]
    random.shuffle(schemas)
    merged = schemas[0]
    for schema in schemas[1:]:
        merged = merged.merge(schema)
    place = {value: v for v, value in enumerate(merged.columns[0].values)}
    codes = np.concatenate([block.recode(place) for block in blocks]).tolist()
    ranks = sorted({cell for cell in cells if cell is not None}, key=order_of)
    assert codes == [MISSING if cell is None else ranks.index(cell) for cell in cells]


def test_kinds_names_and_the_order_of_values() -> None:
    sizes = ColumnSchema("size", "category", ("S", "M", "L"), ("S", "M", "L"))
    for late in (("XL", "XS"), ("XL",)):
        sizes = sizes.merge(ColumnSchema("size", "category", late))
    assert (sizes.values, sizes.ordered) == (("S", "M", "L", "XL", "XS"), True)
    assert Schema((), (2, "b")).merge(Schema((), (1, "a"))).classes == (1, 2, "a", "b")
    kinds: list[Kind] = ["number", "date", "category", "empty"]
    assert [ColumnSchema("a", kind).is_number for kind in kinds] == [True, True, False, False]
    for kind in kinds:  # an empty column agrees with every kind
        column = ColumnSchema("a", kind)
        assert ColumnSchema("a", "empty").merge(column) == column
    assert Schema((ColumnSchema("b", "number"), ColumnSchema("a", "empty"))).names == ("b", "a")
