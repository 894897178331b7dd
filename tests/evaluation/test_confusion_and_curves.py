"""Predictions judged: laws, slow obvious oracles, and scikit-learn where it means the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import calibration, metrics

from sortal.evaluation import MOST_POINTS, Confused, Confusion, Reliability, Roc, area, roc_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Codes = NDArray[np.intp]


def predictions(
    n: int, k: int, seed: int = 0, grain: int | None = None
) -> tuple[Codes, Codes, Float]:
    """True codes, those said, probabilities; with a grain, scores that are often the same."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), truth] += 1.0
    if grain:
        scores = np.round(scores * grain) / grain
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    return truth, shares.argmax(axis=1), shares


def names(k: int) -> list[str]:
    return [f"class {i:02}" for i in range(k)]


def assert_faces(record: Any, words: str) -> None:
    """A record can be printed, shown in a page and written as JSON."""
    json.dumps(record.to_dict(), allow_nan=False)
    assert words in str(record)
    assert "<table>" in record._repr_html_()


@pytest.mark.parametrize("k", [2, 5, 30])
def test_counts_and_shares_are_those_of_scikit_learn(k: int) -> None:
    truth, said, _ = predictions(400, k)
    found = Confusion.of(truth, said, names(k))
    np.testing.assert_array_equal(found.matrix, metrics.confusion_matrix(truth, said))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, said))
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, said))
    np.testing.assert_allclose(found.recall, metrics.recall_score(truth, said, average=None))  # type: ignore[arg-type]
    precision = metrics.precision_score(truth, said, average=None)
    np.testing.assert_allclose(found.precision, precision)  # type: ignore[arg-type]
    assert found.n == 400
    assert found.n_wrong == sum(pair.n for pair in found.pairs()) == (truth != said).sum()


def test_confusions_and_a_class_without_rows_or_never_said() -> None:
    few = Confusion.of([0, 0, 1], [0, 1, 1], ["a", "b", "c"])
    assert (few.recall, few.precision) == ((0.5, 1.0, None), (1.0, 0.5, None))
    assert few.balanced_accuracy == 0.75
    found = Confusion(("a", "b", "c"), ((5, 1, 3), (1, 7, 0), (0, 3, 1)))
    assert found.pairs() == (
        Confused("a", "c", 3, 3 / 9),
        Confused("c", "b", 3, 3 / 4),
        Confused("a", "b", 1, 1 / 9),
        Confused("b", "a", 1, 1 / 8),
    )
    assert found.pairs(1) == found.pairs()[:1]
    assert found.pairs_table(2).title == "The most frequent confusions (the first 2 of 4)"
    assert found.pairs_table().title == "The most frequent confusions"


def test_its_tables() -> None:
    found = Confusion((1, 2), ((3, 1), (0, 2)))
    assert found.table().columns == ("true ↓ said →", "1", "2", "rows")
    assert found.table().rows == ((1, 3, 1, 4), (2, 0, 2, 2))
    assert found.by_class().rows == ((1, 4, 3, 3, 0.75, 1.0), (2, 2, 3, 2, 1.0, 2 / 3))
    assert_faces(found, "true ↓ said →")
    # classes named like the heads of the table, and labels of NumPy
    assert Confusion(("rows", "b"), ((1, 0), (0, 1))).table().columns[-1] == "rows (2)"
    plain = Confusion.of([0], [1], list(np.array([3, 7])))
    assert (plain.pairs()[0].true, type(plain.classes[0])) == (3, int)


def test_bins_and_error_are_those_of_scikit_learn_and_of_a_loop() -> None:
    truth, said, shares = predictions(500, 3)
    found = Reliability.of(truth, said, shares)
    sure, right = shares.max(axis=1), said == truth
    share, mean = calibration.calibration_curve(right, sure, n_bins=10)
    np.testing.assert_allclose([one.share for one in found.bins], share)
    np.testing.assert_allclose([one.mean for one in found.bins], mean)
    error = 0.0
    for one in found.bins:
        inside = (sure > one.low) & (sure <= one.high)
        assert one.n == inside.sum()
        error += inside.sum() / 500 * abs(right[inside].mean() - sure[inside].mean())
        wilson = binomtest(int(right[inside].sum()), one.n).proportion_ci(method="wilson")
        assert (one.share_low, one.share_high) == pytest.approx((wilson.low, wilson.high))
    assert found.expected_error == pytest.approx(error)
    assert found.lead == pytest.approx(sure.mean() - right.mean())
    assert found.n == 500


@pytest.mark.parametrize("k", [2, 4])
def test_the_brier_score_is_that_of_scikit_learn(k: int) -> None:
    truth, said, shares = predictions(200, k)
    found = Reliability.of(truth, said, shares).brier
    loop = ((shares - np.eye(k)[truth]) ** 2).sum(axis=1).mean()
    assert found == pytest.approx(float(loop), rel=1e-12)
    if k == 2:
        assert found == pytest.approx(2 * metrics.brier_score_loss(truth, shares[:, 1]))
    else:
        assert found == pytest.approx(metrics.brier_score_loss(truth, shares, labels=range(k)))


def test_bins_of_few_rows() -> None:
    """The probability is that of the class said; edges belong to the bin below."""
    (one,) = Reliability.of([0, 1], [0, 0], [[0.3, 0.7], [0.3, 0.7]]).bins
    assert (one.low, one.n, one.mean, one.share) == (0.2, 2, 0.3, 0.5)
    found = Reliability.of([0, 0, 0], [0, 0, 0], [[p, 1 - p] for p in (0.0, 0.5, 1.0)])
    assert [(one.low, one.high) for one in found.bins] == [(0.0, 0.1), (0.4, 0.5), (0.9, 1.0)]


def test_certain_and_right_or_wrong() -> None:
    right = Reliability.of([0, 1], [0, 1], np.eye(2))
    assert (right.expected_error, right.brier) == (0.0, 0.0)
    wrong = Reliability.of([1, 0], [0, 1], np.eye(2))
    assert (wrong.expected_error, wrong.brier) == (1.0, 2.0)
    assert_faces(wrong, "Brier score 2")
    assert len(wrong.table().columns) == len(wrong.table().rows[0])


@pytest.mark.parametrize("grain", [None, 1, 3])
def test_curves_and_areas_are_those_of_scikit_learn(grain: int | None) -> None:
    truth, _, shares = predictions(150, 4, grain=grain)
    found = Roc.of(truth, shares, names(4))
    for k, curve in enumerate(found.curves):
        own, scores = truth == k, shares[:, k]
        x, y, _ = metrics.roc_curve(own, scores, drop_intermediate=False)
        false, true = roc_steps(own, scores)
        np.testing.assert_allclose([false / sum(~own), true / sum(own)], [x, y], atol=1e-15)
        assert curve.auc == pytest.approx(metrics.roc_auc_score(own, scores), abs=1e-14)
        # fewer points, all among these, and the same curve
        points = set(zip(x.tolist(), y.tolist(), strict=True))
        assert set(zip(curve.false_positive, curve.true_positive, strict=True)) < points
        assert np.trapezoid(curve.true_positive, curve.false_positive) == pytest.approx(curve.auc)
    assert found.macro == pytest.approx(metrics.roc_auc_score(truth, shares, multi_class="ovr"))
    assert found.positive is None


def test_two_classes_have_the_curve_of_the_second() -> None:
    truth, _, shares = predictions(80, 2)
    found = Roc.of(truth, shares, [False, True])
    assert found.positive is True
    assert len(found.curves) == 1
    assert found.macro == pytest.approx(metrics.roc_auc_score(truth, shares[:, 1]))
    assert "positive is True" in found.table().title


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=12).filter(
        lambda rows: len({positive for positive, _ in rows}) == 2
    )
)
def test_the_area_counts_pairs_in_the_right_order(rows: list[tuple[bool, int]]) -> None:
    positive, scores = np.array([p for p, _ in rows]), np.array([float(s) for _, s in rows])
    false, true = roc_steps(positive, scores)
    wins = [(a > b) + (a == b) / 2 for a in scores[positive] for b in scores[~positive]]
    assert area(false, true) == pytest.approx(float(np.mean(wins)), abs=1e-15)
    mirrored = roc_steps(positive, -scores)
    assert area(*mirrored) == pytest.approx(1 - area(false, true), abs=1e-15)
    # only the order of scores counts, and not the order of rows
    again = roc_steps(positive[::-1], np.exp(scores)[::-1])
    np.testing.assert_array_equal([false, true], again)
    assert (np.diff(false) >= 0).all()
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, sum(~positive), sum(positive))


def test_a_long_curve_is_thinned_and_its_area_is_not() -> None:
    truth, _, shares = predictions(30_000, 2)
    (curve,) = Roc.of(truth, shares, names(2)).curves
    assert curve.auc == pytest.approx(metrics.roc_auc_score(truth, shares[:, 1]), abs=1e-13)
    x, y = np.array(curve.false_positive), np.array(curve.true_positive)
    assert 100 < len(x) <= MOST_POINTS
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    exact_x, exact_y, _ = metrics.roc_curve(truth, shares[:, 1])
    assert max(np.hypot(exact_x[:, None] - x, exact_y[:, None] - y).min(axis=1)) < 0.02
    assert curve.auc == pytest.approx(np.trapezoid(y, x), abs=1e-3)


def test_of_many_classes_the_worst_are_drawn() -> None:
    truth, _, shares = predictions(600, 30)
    found = Roc.of(truth, shares, names(30))
    areas = [curve.auc or 0.0 for curve in found.curves]
    assert [curve.auc for curve in found.drawn] == sorted(areas)[:6]
    assert len(found.table().rows) == 30
    assert found.macro == pytest.approx(np.mean(areas))
    few = Roc.of(*predictions(100, 12)[::2], names(12))
    assert few.drawn == few.curves
    assert_faces(found, "AUC")


def test_a_class_without_rows_has_no_curve() -> None:
    found = Roc.of([0, 1], [[0.6, 0.4, 0.0], [0.4, 0.6, 0.0]], names(3))
    assert [curve.auc for curve in found.curves] == [1.0, 1.0, None]
    assert found.macro == 1.0
    assert len(found.drawn) == 2
    assert Roc.of([0], [[1.0, 0.0]], names(2)).macro is None
