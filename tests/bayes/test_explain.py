"""Explanations of DiscreteBayes: their numbers by brute force, their marks, and their faces."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bayes.oracle import Cell, Cells, Oracle, Row, Rules, learn_schema
from tests.explained import read

from sortal import DiscreteBayes, datasets
from sortal.errors import (
    ImpossibleRowWarning,
    MissingValueWarning,
    SortalWarning,
    UnknownCategoryWarning,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.bayes.learn import Structure

INF: Final = math.inf

# --- Brute force ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Rows with labels, rows to explain, and what the learner is told."""

    kinds: tuple[str, ...]
    rows: tuple[Cells, ...]
    labels: tuple[str, ...]
    asked: tuple[Cells, ...]
    structure: Structure = "naive"
    alpha: float = 1.0
    priors: tuple[float, ...] | None = None
    costs: tuple[tuple[float, ...], ...] | None = None

    @cached_property
    def oracle(self) -> Oracle:
        rows = tuple(map(Row, self.rows, self.labels))
        schema = learn_schema(rows, self.kinds, [()] * len(self.kinds))
        given = self.priors and dict(zip(schema.classes, map(Fraction, self.priors), strict=True))
        return Oracle(rows, schema, Rules(self.structure, Fraction(self.alpha), given or None))

    @property
    def classes(self) -> tuple[str, ...]:
        return self.oracle.schema.classes

    @cached_property
    def words(self) -> list[int]:
        return [j for j, kind in enumerate(self.kinds) if kind == "word"]

    def is_unseen(self, cells: Cells) -> bool:
        """No complete row has these values."""
        known, complete = self.oracle.known(cells), filter(self.oracle.is_complete, self.rows)
        return not any(all(row[j] == cells[j] for j in known) for row in complete)

    def part(self, j: int, cells: Cells, label: str) -> float:
        """log2 P(x_j|c); 0 where nothing is known, or where a number never varies."""
        if j in self.oracle.known(cells):
            return log2(self.oracle.share(j, cells[j], label))
        bell = self.oracle.bells(cells, label).get(j)
        if bell is None:
            return 0.0
        far = float((Fraction(cells[j] or 0) - bell.mean) ** 2 / (2 * bell.variance))
        return -far / math.log(2) - math.log2(2 * math.pi * bell.variance) / 2

    def mark(self, j: int, cells: Cells) -> str:
        if cells[j] is None:
            return "missing"
        if self.kinds[j] == "number":
            return "" if j in self.oracle.bells(cells, self.classes[0]) else "constant"
        return "" if j in self.oracle.known(cells) else "unknown"

    def parts(self, cells: Cells) -> list[tuple[str, Cell, list[float], str]]:
        """Name, value, log2 likelihoods and mark of each factor, in the order of the columns."""
        words = self.words if self.structure == "joint" else []
        parts: list[tuple[str, Cell, list[float], str]] = []
        for j in range(len(self.kinds)):
            if j in words[1:]:
                continue
            if j in words:
                name = ", ".join(f"x{i}" for i in words)
                shown = ", ".join("?" if cells[i] is None else str(cells[i]) for i in words)
                log2s = [log2(self.oracle.table(cells, label)) for label in self.classes]
                marks = [mark for i in words if (mark := self.mark(i, cells))]
                mark = "unseen cell" if self.is_unseen(cells) else next(iter(marks), "")
                parts.append((name, shown, log2s, mark))
            else:
                log2s = [self.part(j, cells, label) for label in self.classes]
                parts.append((f"x{j}", cells[j], log2s, self.mark(j, cells)))
        return parts

    def frame(self, rows: Sequence[Cells]) -> pd.DataFrame:
        types = {"word": "str", "number": "float64"}
        columns = {
            f"x{j}": pd.Series([row[j] for row in rows], dtype=types[kind])
            for j, kind in enumerate(self.kinds)
        }
        return pd.DataFrame(columns)

    def fit(self) -> DiscreteBayes:
        model = DiscreteBayes(self.structure, self.alpha, priors=self.priors, costs=self.costs)
        return model.fit(self.frame(self.rows), np.array(self.labels))


def log2(p: Fraction) -> float:
    return math.log2(p) if p else -INF


def deal_rows(
    rng: np.random.Generator, kinds: Sequence[str], n: int, strangers: tuple[Cell, ...] = ()
) -> list[Cells]:
    """Words of few values and quarters, both with missing values; columns may lack most values."""
    columns: list[list[Cell]] = []
    for kind in kinds:
        quarters = [k / 4 for k in range(-8, 9)]
        pool: list[Cell] = [*strangers, "a", "b", "c", None] if kind == "word" else [*quarters]
        kept = rng.permutation(len(pool))[: rng.integers(1, len(pool), endpoint=True)]
        drawn = [pool[i] for i in rng.choice(kept, n)]
        missing = rng.random(n) < (rng.choice([0.0, 0.5, 1.0], p=[0.3, 0.6, 0.1]))
        is_number = kind == "number"
        columns.append(
            [None if is_number and h else c for c, h in zip(drawn, missing, strict=True)]
        )
    return list(zip(*columns, strict=True))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    classes = ("p", "q", "r")[: draw(st.integers(2, 3))]
    kinds = tuple(
        draw(st.lists(st.sampled_from(["word", "word", "number"]), min_size=1, max_size=4))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    more = draw(st.integers(0, 7))
    labels = (*classes, *(classes[k] for k in rng.integers(0, len(classes), more)))
    rows = deal_rows(rng, kinds, len(labels))
    asked = deal_rows(rng, kinds, draw(st.integers(1, 4)), strangers=("z",) * 4)
    words = [j for j, kind in enumerate(kinds) if kind == "word"]
    has_cells = all(any(row[j] for row in rows) for j in words)
    weights = draw(st.tuples(*(st.integers(0, 3) for _ in classes)))
    priors = tuple(w / sum(weights) for w in weights) if sum(weights) else None
    line = st.tuples(*(st.integers(0, 5).map(float) for _ in classes))
    costs = draw(st.none() | st.tuples(*(line for _ in classes)))
    return Case(
        kinds,
        tuple(rows),
        labels,
        tuple(rows + asked),
        draw(st.sampled_from(["naive", "joint"] if has_cells else ["naive"])),
        draw(st.sampled_from([0.0, 0.5, 1.0])),
        draw(st.sampled_from([None, priors])),
        costs,
    )


def quietly(ask: Any, X: Any) -> Any:
    """Missing values, unknown words and impossible rows are meant here; no other warning is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return ask(X)


def close(want: float | Sequence[float], size: float = 0.0) -> Any:
    """Nine digits; `size` is that of the largest term of a sum."""
    return pytest.approx(want, rel=1e-9, abs=1e-9 + 1e-14 * size)


# --- Numbers -------------------------------------------------------------------------------------


@given(cases())
def test_explanations_of_random_rows_are_those_counted_by_hand(case: Case) -> None:
    model, X = case.fit(), case.frame(case.asked)
    made = quietly(model.explain, X)
    shares, logs = quietly(model.predict_proba, X), quietly(model.predict_log_proba, X)
    parts = zip(
        made, case.asked, shares, logs / math.log(2), quietly(model.predict, X), strict=True
    )
    for why, cells, share, log2s, label in parts:
        row = read(why)
        check_parts(row, case, cells)
        check_prior(row, case)
        check_sums(row, case, log2s)
        check_label(row, case, share, label)


def check_parts(row: Any, case: Case, cells: Cells) -> None:
    """In the order of the columns, with the value given and their mark; impossible or not."""
    want = case.parts(cells)
    assert [(part.part, part.value, part.mark) for part in row.parts] == [
        (name, value, mark) for name, value, _, mark in want
    ]
    sums = [log2(Fraction(p)) for p in row.prior]
    for part, (_, _, log2s, _) in zip(row.parts, want, strict=True):
        assert part.log2_likelihood == close(log2s)
        sums = [a + b for a, b in zip(sums, log2s, strict=True)]
    assert row.possible == (max(sums) > -INF)
    if not row.possible:
        assert row.posterior == row.prior
        if row.costs is None:
            assert row.total == row.start
        else:  # a class without a prior may cost least, or as little as any
            assert row.total >= 0


def check_prior(row: Any, case: Case) -> None:
    want = [float(case.oracle.prior(label)) for label in case.classes]
    assert list(row.prior) == pytest.approx(want, rel=1e-15)
    p, q = (want[case.classes.index(label)] for label in (row.label, row.against))
    if p and q:
        assert row.start == close(math.log2(p / q))
    elif p or q:
        assert row.start == (INF if p else -INF)


def check_sums(row: Any, case: Case, log2s: NDArray[np.float64]) -> None:
    """Prior and evidence add up to the posterior odds."""
    a, b = row.classes.index(row.label), row.classes.index(row.against)
    parts = [x for part in row.parts for x in part.log2_likelihood if math.isfinite(x)]
    size = max(map(abs, parts), default=0.0)
    odds = row.start + (sum(part.bits for part in row.parts) if row.possible else 0.0)
    if row.costs is None:
        assert case.costs is None
        assert row.total == odds
    elif math.isfinite(odds):
        assert row.total == close(odds + row.costs, size)
    if case.costs is None or math.isfinite(odds):
        assert odds == close(log2s[a] - log2s[b], size)
    p, q = row.posterior[a], row.posterior[b]
    if min(p, q) > 1e-300:
        assert odds == close(math.log2(p / q), size)
    for part in row.parts:
        one, other = part.log2_likelihood[a], part.log2_likelihood[b]
        assert part.bits == (0.0 if one == other else one - other)


def check_label(row: Any, case: Case, share: NDArray[np.float64], label: str) -> None:
    """An explanation is of what was predicted, against the next most probable class."""
    losses = share @ (1 - np.eye(len(share)) if case.costs is None else np.array(case.costs))
    least, second = np.sort(losses)[:2]
    if case.costs is None or second - least > 1e-9:  # equal costs may differ in rounding
        assert row.label == label
    assert losses[row.classes.index(row.label)] <= least + 1e-9
    size = max(abs(x) for e in row.parts for x in (*e.log2_likelihood, 1) if x > -INF)
    assert row.classes == case.classes
    assert list(row.posterior) == pytest.approx(
        share.tolist(), rel=1e-12 + 1e-14 * size, abs=1e-300
    )
    others = {c: p for c, p in zip(row.classes, row.posterior, strict=True) if c != row.label}
    if max(others.values()) > 0:  # below the smallest float, shares cannot tell
        assert row.against == max(others, key=lambda c: others[c])  # the first of equals
    assert row.against in others


def test_play_tennis_in_bits() -> None:
    """Sunny, hot, humid, windy: 3/5 against 2/9, 2/5 against 2/9, 4/5 and 3/5 against 3/9."""
    model = DiscreteBayes(alpha=0).fit(datasets.play_tennis(), "PlayTennis")
    made = read(model.explain(datasets.play_tennis()[1:2])[0])
    assert (made.label, made.against) == ("No", "Yes")
    assert made.start == pytest.approx(math.log2(5 / 9))
    odds = [27 / 10, 9 / 5, 12 / 5, 9 / 5]
    assert [part.bits for part in made.parts] == pytest.approx([math.log2(x) for x in odds])
    assert made.total == pytest.approx(math.log2((36 / 875) / (2 / 567)))


# --- Marks and values ----------------------------------------------------------------------------

MIXED: Final = pd.DataFrame(
    {
        "word": ["u", "v", "u", "v"],
        "same": [7.0, 7.0, 7.0, 7.0],
        "size": [1.0, 2.0, 4.0, 5.0],
        "other": ["s", "s", "t", "t"],
    }
)
LABELS: Final = np.array(["p", "p", "q", "q"])


def marks(made: Any) -> dict[str, tuple[Any, str]]:
    return {part.part: (part.value, part.mark) for part in made.parts}


def test_marks_tell_what_was_left_out() -> None:
    rows = pd.DataFrame(
        {"word": [None, "zebra"], "same": [8.0, None], "size": [None, 3.0], "other": ["s", None]}
    )
    model = DiscreteBayes().fit(MIXED, LABELS)
    with pytest.warns(MissingValueWarning), pytest.warns(UnknownCategoryWarning):
        first, second = map(read, model.explain(rows))
    assert marks(first) == {
        "word": (None, "missing"),
        "same": (8.0, "constant"),
        "size": (None, "missing"),
        "other": ("s", ""),
    }
    assert marks(second) == {
        "word": ("zebra", "unknown"),  # the word itself, as it was given
        "same": (None, "missing"),
        "size": (3.0, ""),
        "other": (None, "missing"),
    }
    for made in (first, second):
        silent = [part for part in made.parts if part.mark]
        assert {(part.bits, part.log2_likelihood) for part in silent} == {(0.0, (0.0, 0.0))}


def test_in_the_joint_structure_all_categories_are_one_part() -> None:
    rows = pd.DataFrame(
        {
            "word": ["u", "v", None, "zebra"],
            "same": [7.0] * 4,
            "size": [3.0] * 4,
            "other": ["s", "t", "s", "t"],
        }
    )
    model = DiscreteBayes("joint").fit(MIXED[:3], LABELS[:3])
    with pytest.warns(MissingValueWarning), pytest.warns(UnknownCategoryWarning):
        made = [*map(read, model.explain(rows))]
    assert [tuple(part.part for part in row.parts) for row in made] == [
        ("word, other", "same", "size")
    ] * 4
    assert [(row.parts[0].value, row.parts[0].mark) for row in made] == [
        ("u, s", ""),
        ("v, t", "unseen cell"),
        ("?, s", "missing"),
        ("zebra, t", "unknown"),
    ]


def test_numbers_are_floats_and_days_are_dates() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-02-01", "2024-03-01"])
    X = pd.DataFrame({"day": days, "size": [1, 2, 3, 5]})
    rows = pd.DataFrame(
        {"day": np.array(["2024-02-29T00", "1969-12-31T06"], dtype="M8[s]"), "size": [2, 3]}
    )
    made = [*map(read, DiscreteBayes().fit(X, LABELS).explain(rows))]
    assert [row.parts[0].value for row in made] == ["2024-02-29", "1969-12-31T06:00:00"]
    assert [row.parts[1].value for row in made] == [2.0, 3.0]
    assert all(type(row.parts[1].value) is float for row in made)


def test_an_impossible_row_is_warned_of_and_keeps_its_prior() -> None:
    """No q is u, no p is t: with alpha 0 nothing can be both."""
    X = pd.DataFrame({"a": ["u", "u", "v"], "b": ["s", "s", "t"]})
    model = DiscreteBayes(alpha=0).fit(X, np.array(["p", "p", "q"]))
    with pytest.warns(ImpossibleRowWarning, match="1 row has"):
        made = model.explain(pd.DataFrame({"a": ["u", "u"], "b": ["t", "s"]}))
    told = [*map(read, made)]
    assert [row.possible for row in told] == [False, True]
    assert told[0].posterior == told[0].prior == (2 / 3, 1 / 3)
    assert [part.bits for part in told[0].parts] == [INF, -INF]
    assert told[0].total == told[0].start == pytest.approx(1.0)
    assert made[0].to_table().rows[-1] == ("total", None, 1.0, "impossible row")
    assert made[1].to_table().rows[-1] == ("total", None, INF, "")
    plain = made[0].to_dict()
    assert [part["bits"] for part in plain["parts"][1:]] == ["inf", "-inf"]
    assert plain["log2_likelihood"][0] == [0.0, "-inf"]


# --- Faces ---------------------------------------------------------------------------------------


def test_one_explanation_prints_its_sum() -> None:
    """P(u|p) = 3/5 and P(u|q) = 1/3: odds of 3 times 9/5, so P = 27/32."""
    X = pd.DataFrame({"a": ["u", "u", "v", "v"]})
    made = DiscreteBayes().fit(X, np.array(["p", "p", "p", "q"])).explain(X[:1])[0]
    assert str(made).splitlines() == [
        "p (P = 0.8438) against q, in bits  (S 5)",
        "part   value      bits  mark",
        "-----  -----  --------  ----",
        "prior          1.58496",
        "a      u      0.847997",
        "total          2.43296",
    ]
    assert made.to_table().equation == "S 5"
