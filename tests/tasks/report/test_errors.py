"""Errors met: what is said of them is what was planted, and cells stay where they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import fisher_exact

from sortal.tasks.compare.run import OutOfFold
from sortal.tasks.report.errors import (
    ComparedColumns,
    ConfidentRows,
    ConfusionDetail,
    ErrorAnalysis,
    about_percent,
    median_distance,
    rank_chance,
    share_chance,
    share_distance,
)

N = 200


def kept(truth: Any, predicted: Any, probabilities: Any = None, rows: Any = None) -> OutOfFold:
    n = len(truth)
    return OutOfFold(
        np.arange(n) if rows is None else np.asarray(rows),
        np.asarray(truth, dtype=np.int32),
        np.asarray(predicted, dtype=np.int32),
        None if probabilities is None else np.asarray(probabilities, dtype=np.float64),
        n,
        1,
        1,
    )


def planted() -> tuple[pd.DataFrame, OutOfFold]:
    """Of class a, the last 20 of 100 rows are predicted as b; they differ in four columns."""
    rng = np.random.default_rng(0)
    wrong = np.arange(N) // 20 == 4
    size = rng.normal(10, 1, N) + 5 * wrong
    color = np.where(wrong, "red", rng.choice(["red", "green", "blue"], N))
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 9, N) - 30 * wrong, "D")
    known = rng.normal(size=N)
    known[wrong] = np.nan
    same = rng.normal(size=N)
    frame = pd.DataFrame({"same": same, "size": size, "color": color, "when": when, "known": known})
    truth = np.repeat([0, 1], 100)
    said = np.where(wrong, 1, truth)
    sure = np.where(wrong, np.linspace(0.6, 0.995, N), 0.95)
    shares = np.column_stack([1 - sure, sure])
    shares[said == 0] = shares[said == 0][:, ::-1]
    return frame, kept(truth, said, shares)


def met(**kw: Any) -> ErrorAnalysis:
    frame, predicted = planted()
    return ErrorAnalysis.of(predicted, frame, ["a", "b"], **kw)


def test_what_tells_a_confusion_is_found_and_said() -> None:
    found = met()
    (one,) = found.confusing
    assert (one.true, one.predicted, one.n, one.share, one.n_right) == ("a", "b", 20, 0.2, 80)
    assert [d.column for d in one.differences] == ["when", "size", "known"]
    when, size, known = one.differences
    assert when.kind == "date"
    assert "when' is earlier (median 2019-12 " in when.words
    assert size.here - size.there == pytest.approx(5, abs=1)
    assert size.words.startswith("'size' is greater (median 14.7 against ")
    assert known.words == "'known' is more often missing (100 % against 0 %)"
    assert one.sentence.startswith("20 rows of 'a' (20 % of them) were predicted as 'b'. Compared")
    assert "same" not in found.to_text()


def test_a_category_is_named_with_its_value() -> None:
    frame, predicted = planted()
    found = ErrorAnalysis.of(predicted, frame[["color", "same"]], ["a", "b"])
    (one,) = found.confusing
    (difference,) = one.differences
    assert difference.value == "'red'"
    assert difference.here == 1.0
    assert difference.words.startswith("'color' is more often 'red' (100 % against ")


def test_sure_and_wrong() -> None:
    found = met()
    _, predicted = planted()
    assert predicted.probabilities is not None
    p = predicted.probabilities.max(axis=1)
    wrong = predicted.predicted != predicted.truth
    for one in found.sure:
        assert one.n == (p >= one.at_least).sum()
        assert one.wrong == (wrong & (p >= one.at_least)).sum()
        assert one.expected == pytest.approx((1 - p[p >= one.at_least]).sum())
    assert [one.at_least for one in found.sure] == [0.9, 0.99]
    assert found.sure[1].sentence == ("No row was predicted with a probability of 0.99 or more.")
    assert found.worst is not None
    assert found.worst.columns == ("row", "true", "predicted", "P(predicted)", "P(true)")
    assert found.worst.title.endswith("(10 of 20)")
    chosen = np.flatnonzero(wrong)[np.argsort(-p[wrong])][:10]
    assert found.worst.column("row") == tuple((chosen + 1).tolist())
    assert found.places == tuple(chosen.tolist())
    sums = np.add(found.worst.column("P(predicted)"), found.worst.column("P(true)"))  # type: ignore[arg-type]
    np.testing.assert_allclose(sums, 1)


def test_cells_are_shown_only_where_rows_are_allowed() -> None:
    frame, _ = planted()
    without, shown = met(), met(rows=True)
    assert without.cells is None
    assert shown.cells is not None
    assert shown.cells.columns == ("row", *frame.columns)
    first = frame.iloc[shown.places[0]]
    assert shown.cells.rows[0] == (
        shown.places[0] + 1, first["same"], first["size"], "red", str(first["when"]), None,
    )  # fmt: skip
    text = "".join([without.to_text(), without.to_markdown(), without._repr_html_()])
    assert str(first["size"])[:8] not in text
    assert f"{first['size']:.6g}" in shown.to_text()


def test_rows_are_counted_in_the_table_as_given() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    predicted = kept([0, 1], [1, 1], rows=[1, 3])
    found = ErrorAnalysis.of(predicted, frame, ["a", "b"], places=np.array([0, 5, 6, 9]))
    assert found.worst is not None
    assert found.worst.rows == ((6, "a", "b"),)
    assert found.places == (1,)
    assert (found.n, found.n_wrong) == (2, 1)


def test_without_probabilities_the_most_frequent_confusions_are_listed() -> None:
    predicted = kept([0, 1, 1, 0, 2], [1, 2, 2, 2, 2])
    found = ErrorAnalysis.of(predicted, pd.DataFrame({"x": range(5)}), ["a", "b", "c"])
    assert found.sure == ()
    assert found.worst is not None
    assert found.worst.rows == ((2, "b", "c"), (3, "b", "c"), (1, "a", "b"), (4, "a", "c"))
    assert "No row of 'b' was predicted correctly, to compare them with." in found.to_text()


def test_no_error_at_all() -> None:
    found = ErrorAnalysis.of(kept([0, 1], [0, 1]), pd.DataFrame({"x": [1, 2]}), ["a", "b"])
    assert found.sentences == ("None of the 2 rows was predicted wrongly.",)
    assert found.tables == ()
    assert found.to_text() == "None of the 2 rows was predicted wrongly."


@pytest.mark.parametrize("n", [5, pytest.param(20, marks=pytest.mark.full)])
def test_differences_that_chance_would_give_are_seldom_told(n: int) -> None:
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        columns = {f"x{j}": rng.exponential(size=60) for j in range(4)}
        words = {f"w{j}": rng.choice(list("abcdef"), 60) for j in range(4)}
        read = ComparedColumns(pd.DataFrame({**columns, **words}), (), np.arange(60))
        told += bool(read.differences(np.arange(n), np.arange(n, 60)))
    assert told <= 3  # 5 % of 60


def test_a_difference_too_small_to_matter_is_not_told_however_sure_it_is() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    x[:10_000] += 0.15
    halves = np.arange(10_000), np.arange(10_000, 20_000)
    assert not ComparedColumns(pd.DataFrame({"x": x}), (), np.arange(20_000)).differences(*halves)
    x[:10_000] += 0.15
    (one,) = ComparedColumns(pd.DataFrame({"x": x}), (), np.arange(20_000)).differences(*halves)
    assert one.here == np.median(x[:10_000])


def test_chance_is_that_of_scipy() -> None:
    for k, n, other, m in ((3, 5, 10, 60), (0, 4, 30, 60), (5, 5, 5, 50)):
        less, more = (
            fisher_exact([[k, n - k], [other, m - other]], alternative=side).pvalue
            for side in ("less", "greater")
        )
        assert share_chance(k, n, other, m) == pytest.approx(min(1, 2 * min(less, more)))
    a, b = np.array([7.0, 8.0, 9.0, 9.5]), np.arange(6.0)
    assert rank_chance(a, b, up=True) == rank_chance(b, a, up=False) < 0.02
    assert rank_chance(a, b, up=False) == 1.0
    assert rank_chance(np.array([1e9]), np.arange(50.0), up=True) > 0.05


def test_many_kinds_of_confusion_are_cut_and_said() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 400)
    predicted = kept(truth, (truth + rng.integers(0, 3, 400)) % 6)
    found = ErrorAnalysis.of(predicted, pd.DataFrame({"x": rng.normal(size=400)}), list("abcdef"))
    assert len(found.confusing) == 5
    assert found.pairs is not None
    assert found.pairs.title == "The most frequent confusions (the first 10 of 12)"
    assert "There are 12 kinds of confusion; the 5 most frequent are described." in found.notes[0]


def test_any_library_will_do_and_numbers_may_be_names() -> None:
    frame, predicted = planted()
    other = pl.DataFrame({name: frame[name].to_list() for name in ("size", "color")})
    first = ErrorAnalysis.of(predicted, frame[["size", "color"]], ["a", "b"], rows=True)
    second = ErrorAnalysis.of(predicted, other, ["a", "b"], rows=True)
    assert second.confusing == first.confusing
    assert second.cells is not None
    assert isinstance(second.cells.to_frame(), pl.DataFrame)
    coded = pd.DataFrame({"code": np.where(frame["color"] == "red", 3, 4)})
    named = ErrorAnalysis.of(predicted, coded, ["a", "b"], categorical_features=["code"])
    assert "'code' is more often 3 (100 % against" in named.to_text()


def test_faces_with_hostile_names() -> None:
    frame, predicted = planted()
    evil = "<script>alert(1)</script>|*_\n\u202e"
    frame = frame.rename(columns={"size": evil, "color": "row"})
    frame["row"] = "<b>"
    found = ErrorAnalysis.of(predicted, frame, ["<i>", evil], rows=True)
    page = found.to_html()
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert found.cells is not None
    assert found.cells.columns[3] == "row (2)"
    text = found.to_text(80)
    assert "\u202e" not in text
    assert len(max(text.split("\n"), key=len)) <= 80
    assert "\u202e" not in found.to_markdown()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["wrong"] == 20
    assert len(plain["tables"]) == 3


# The distance


def test_medians_in_units_of_the_spread_within() -> None:
    a, b = np.array([4.0, 6.0, 8.0]), np.array([1.0, 2.0, 3.0, 2.0])
    spread = np.sqrt((8 + 2) / 5)
    assert median_distance(a, b, 1.0) == pytest.approx(4 / spread)
    assert median_distance(b, a, 1.0) == pytest.approx(-4 / spread)
    assert median_distance(10 * a + 3, 10 * b + 3, 1.0) == pytest.approx(4 / spread)
    assert median_distance(a, a, 1.0) == 0.0
    assert median_distance(np.array([3.0]), np.array([1.0]), 0.5) == 4.0
    assert median_distance(np.array([3.0, 3.0]), np.array([1.0, 1.0]), 0.0) == float("inf")


def test_shares_are_farther_apart_near_the_ends() -> None:
    assert share_distance(1.0, 0.0) == pytest.approx(np.pi)
    assert share_distance(0.3, 0.3) == 0.0
    assert share_distance(0.05, 0.0) > share_distance(0.55, 0.5) > 0
    assert share_distance(0.2, 0.7) == -share_distance(0.7, 0.2)


def test_percent_never_calls_some_none() -> None:
    shares = (0.0, 1.0, 0.5, 0.004, 0.9996, 1e-9, 1 - 1e-9)
    words = ["0 %", "100 %", "50 %", "0.4 %", "99.96 %", "almost none", "almost all"]
    assert [about_percent(share) for share in shares] == words


def test_one_row_is_it_and_how_many_wrong_ones_are_expected() -> None:
    alone = ConfusionDetail("a", "b", 1, 0.01, 99, ())
    assert alone.sentence == (
        "1 row of 'a' (1 % of them) was predicted as 'b'. No column tells it from those predicted "
        "correctly by more than chance would."
    )
    for expected, text in ((0.0312, "0.031"), (3.56, "3.6"), (9.97, "10"), (1234.4, "1,234")):
        assert ConfidentRows(0.9, 2_000, 1, expected).sentence == (
            "Of 2,000 rows predicted with a probability of 0.9 or more, 1 is wrong; by the "
            f"probabilities themselves one would expect {text}."
        )
