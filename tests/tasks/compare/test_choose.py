"""Intervals, bounds and the recommendation: by hand, by an oracle, by laws, by simulation."""

from __future__ import annotations

import dataclasses
import math
import statistics
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from sortal.tasks.compare.choose import (
    ModelChoice,
    ScoredCandidate,
    ScoreInterval,
    Yardstick,
    balanced_rows,
    choose,
    corrected_variance,
    interval,
    shortfall,
    upper_bound,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEN_FOLDS = 1 / 9


def model(
    name: str, scores: Sequence[float], kind: str = "linear", terms: float = 5, **more: object
) -> ScoredCandidate:
    return ScoredCandidate(name, tuple(scores), kind=kind, terms=terms, **more)  # type: ignore[arg-type]


def by(metric: str = "accuracy", share: float = TEN_FOLDS, **more: float | None) -> Yardstick:
    return Yardstick(metric, share, **more)  # type: ignore[arg-type]


# By hand


def test_corrected_variance_and_interval_of_two_scores_by_hand() -> None:
    # s² = 0.02, J = 2 folds, one test row for each training row: (1/2 + 1) 0.02.
    assert corrected_variance([0.6, 0.8], 1.0) == pytest.approx(0.03, rel=1e-12)
    # t with one degree of freedom is tan(0.475 π) = 12.7062; x = 0.7, V = 0.03:
    # u = t² 0.03 / 0.21 = 23.0639, and (12.2320 ± √(4.8434 + 132.9864)) / 24.0639.
    found = interval([0.6, 0.8], 1.0)
    u = math.tan(0.475 * math.pi) ** 2 * 0.03 / 0.21
    assert u == pytest.approx(23.0639, abs=1e-4)
    assert found.mean == pytest.approx(0.7)
    arm = math.sqrt(0.21 * u + u * u / 4)
    assert found.low == pytest.approx((0.7 + u / 2 - arm) / (1 + u), rel=1e-9)
    assert found.high == pytest.approx((0.7 + u / 2 + arm) / (1 + u), rel=1e-9)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0204, 0.9962)


def test_interval_that_is_open_above_by_hand() -> None:
    # Mean 0.5, s² = 0.02, V = 0.03, half = 12.7062 √0.03 = 2.2008: 0.5 exp(± 4.4016).
    found = interval([0.4, 0.6], 1.0, highest=math.inf)
    assert found.low == pytest.approx(0.5 * math.exp(-4.40156), rel=1e-4)
    assert found.high == pytest.approx(0.5 * math.exp(4.40156), rel=1e-4)


def test_a_share_of_rows_has_wilsons_interval() -> None:
    # 15 of 20, z² = 3.8415: what statsmodels and R's prop.test(correct = FALSE) print.
    found = interval([0.75] * 10, TEN_FOLDS, rows=20)
    assert (round(found.low, 4), round(found.high, 4)) == (0.5313, 0.8881)
    # no error: 1 / (1 + z²/n) = 344 / 347.84.
    found = interval([1.0] * 100, TEN_FOLDS, rows=344)
    assert (found.mean, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(344 / (344 + 1.959964**2), rel=1e-6)


def test_a_bound_by_hand() -> None:
    # Mean 0.1, s² = 0.02, V = 0.03; t of one degree of freedom at 95 % is tan(0.45 π) = 6.3138.
    behind, bound = upper_bound(model("a", [0.5, 0.7]), model("b", [0.5, 0.5]), by(share=1.0))
    assert behind == pytest.approx(0.1, rel=1e-12)
    assert bound == pytest.approx(0.1 + math.tan(0.45 * math.pi) * math.sqrt(0.03), rel=1e-9)
    # of models that no fold told apart the next row may tell
    same = upper_bound(model("a", [0.5, 0.7]), model("b", [0.5, 0.7]), by(row=0.01))
    assert same == (0.0, 0.01)
    assert upper_bound(model("a", [0.5]), model("b", [0.4]), by())[1] is None


def test_balanced_rows() -> None:
    assert balanced_rows([50, 50]) == pytest.approx(100)
    assert balanced_rows([10, 90]) == pytest.approx(36)
    assert balanced_rows([7, 7, 7]) == pytest.approx(21)


# By an oracle


def oracle_variance(scores: Sequence[float], test_share: Fraction) -> Fraction:
    exact = [Fraction(score) for score in scores]
    mean = sum(exact, Fraction(0)) / len(exact)
    spread = sum(((score - mean) ** 2 for score in exact), Fraction(0)) / (len(exact) - 1)
    return (Fraction(1, len(exact)) + test_share) * spread


def oracle_bound(
    best: Sequence[float], other: Sequence[float], share: Fraction, rows: float, rarest: int
) -> float:
    """The mean lead and a quantile of Student's distribution, found by quadrature."""
    leads = [float(Fraction(a) - Fraction(b)) for a, b in zip(best, other, strict=True)]
    variances = [float(oracle_variance(one, share)) for one in (best, other)]
    means = [statistics.fmean(one) for one in (best, other)]
    short = min(
        m * (1 - m) / rows / v if v else math.inf for m, v in zip(means, variances, strict=True)
    )
    factor = max(1.0, short) if math.isfinite(short) else 1.0
    nu = min(len(leads), rarest) - 1
    scale = math.exp(math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2)) / math.sqrt(nu * math.pi)
    density = lambda x: scale * (1 + x * x / nu) ** (-(nu + 1) / 2)
    below = lambda t: 0.5 + integrate.quad(density, 0, t, epsabs=1e-13)[0] - 0.95
    quantile = optimize.brentq(below, 0, 100)
    return statistics.fmean(leads) + float(
        quantile * math.sqrt(factor * float(oracle_variance(leads, share)))
    )


@pytest.mark.parametrize("seed", range(8))
def test_bounds_and_intervals_are_the_oracles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_models, n_scores = int(rng.integers(2, 6)), int(rng.integers(2, 40))
    base = rng.uniform(0.5, 0.9, n_scores)
    scores = [np.clip(base + rng.normal(0, 0.05, n_scores), 0, 1) for _ in range(n_models)]
    field = [model(f"m{i}", own.tolist(), "kernel", i) for i, own in enumerate(scores)]
    rows, rarest = float(rng.integers(5, 60)), int(rng.integers(2, 50))
    stick = by(share=1 / 4, rows=rows, rarest=rarest)
    best = max(field, key=lambda one: statistics.fmean(one.scores))
    assert choose(field, stick).best == best.name
    for one in field:
        if one is not best:
            bound = oracle_bound(best.scores, one.scores, Fraction(1, 4), rows, rarest)
            assert upper_bound(best, one, stick)[1] == pytest.approx(bound, rel=1e-6)
    # the bounds b solve (x − b)² = u b (1 − b); the score's own V decides u, or its rows do
    own = rng.uniform(0.3, 0.9, int(rng.integers(3, 30))).tolist()
    found = interval(own, 1 / 4, level=0.1, rows=rows, rarest=12)
    x, variance = statistics.fmean(own), float(oracle_variance(own, Fraction(1, 4)))
    t = stats.t.ppf(0.95, min(len(own), 12) - 1)
    u = max(t**2 * variance / (x * (1 - x)), stats.norm.ppf(0.95) ** 2 / rows)
    roots = np.sort(np.roots([1 + u, -2 * x - u, x * x]).real)
    assert found.low == pytest.approx(roots[0])
    assert found.high == pytest.approx(roots[1])


# Laws

SCORES = st.lists(st.floats(0, 1).map(lambda x: round(x, 6)), min_size=2, max_size=30)
SHARES = st.sampled_from([1.0, 0.5, 1 / 4, 1 / 9])


@given(SCORES, SHARES, st.one_of(st.none(), st.floats(1, 1e6)), st.sampled_from([0.01, 0.05, 0.3]))
def test_an_interval_holds_its_mean_and_stays_in_range(
    scores: list[float], share: float, rows: float | None, level: float
) -> None:
    found = interval(scores, share, level=level, rows=rows)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    narrow = interval(scores, share, level=0.5, rows=rows)
    assert found.low <= narrow.low + 1e-12
    assert narrow.high <= found.high + 1e-12


@given(SCORES, SHARES)
def test_an_interval_does_not_know_what_is_called_right(scores: list[float], share: float) -> None:
    found, mirrored = interval(scores, share), interval([1 - s for s in scores], share)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)
    assert mirrored.high == pytest.approx(1 - found.low, abs=1e-9)


@given(SCORES, SHARES, st.floats(0.001, 1000))
def test_units_and_order_do_not_matter(scores: list[float], share: float, unit: float) -> None:
    found = interval(scores, share, highest=2.0)
    scaled = interval([unit * s for s in reversed(scores)], share, highest=2.0 * unit)
    assert scaled.low == pytest.approx(unit * found.low, rel=1e-6, abs=1e-9 * unit)
    assert scaled.high == pytest.approx(unit * found.high, rel=1e-6, abs=1e-9 * unit)


KINDS = ("tree", "linear", "quadratic", "neighbors", "kernel", "other")


@st.composite
def fields(draw: Callable[..., object]) -> list[ScoredCandidate]:
    n_models: int = draw(st.integers(1, 6))  # type: ignore[assignment]
    n_scores: int = draw(st.integers(2, 12))  # type: ignore[assignment]
    score = st.integers(0, 64).map(lambda x: x / 64)  # sums and mirrored scores are exact
    return [
        ScoredCandidate(
            f"m{i}",
            tuple(draw(st.lists(score, min_size=n_scores, max_size=n_scores))),  # type: ignore[arg-type]
            kind=draw(st.sampled_from(KINDS)),  # type: ignore[arg-type]
            terms=draw(st.sampled_from([3, 20, 40, 99])),  # type: ignore[arg-type]
            size=draw(st.integers(1, 4)),  # type: ignore[arg-type]
            eligible=draw(st.booleans()),  # type: ignore[arg-type]
        )
        for i in range(n_models)
    ]


@given(fields(), SHARES, st.randoms(use_true_random=False))
def test_laws_of_a_choice(field: list[ScoredCandidate], share: float, random: object) -> None:
    stick = by(share=share, row=0.02)
    choice = choose(field, stick)
    eligible = {one.name: one for one in field if one.eligible}
    assert choice.margin == 0.02
    if not eligible:
        assert (choice.recommended, choice.best, choice.close) == ("", "", ())
        return
    best, chosen = eligible[choice.best], eligible[choice.recommended]
    assert best.mean == max(one.mean for one in eligible.values())
    near = {one.name for one in eligible.values() if best.mean - one.mean <= 0.02 + 1e-12}
    assert set(choice.close) == near
    assert choice.close[0] == chosen.name
    assert chosen.rank == min(eligible[name].rank for name in near)
    assert choice.behind == pytest.approx(best.mean - chosen.mean)
    assert choice.bound is None or choice.bound >= (choice.behind or 0)
    assert choice.runner_up in {*eligible, ""} - {chosen.name}
    assert bool(choice.runner_up) == (len(eligible) > 1)
    others = [one.mean for one in field if not one.eligible]
    assert bool(choice.leader) == any(mean - best.mean > 0.02 for mean in others)
    # The order in which models are given says nothing, nor the sign of the metric.
    shuffled = list(field)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose(shuffled, stick) == choice
    losses = [dataclasses.replace(one, scores=tuple(1 - s for s in one.scores)) for one in field]
    turned = choose(losses, by("brier", share, constant=1.0, row=0.02))
    assert (turned.best, turned.recommended, turned.close) == (
        choice.best,
        choice.recommended,
        choice.close,
    )


@given(fields(), SHARES)
def test_a_wider_margin_recommends_nothing_less_readable(
    field: list[ScoredCandidate], share: float
) -> None:
    ranks = {one.name: one.rank for one in field} | {"": 0}
    narrow, wide = (choose(field, by(share=share, row=row)).recommended for row in (0.0, 0.03))
    assert ranks[wide] <= ranks[narrow]


# Edges


def test_scores_that_are_all_the_same() -> None:
    assert interval([0.75] * 10, TEN_FOLDS) == ScoreInterval(0.75, 0.75, 0.75)
    assert interval([0.8], TEN_FOLDS) == ScoreInterval(
        0.8, 0.0, 1.0
    )  # one says nothing of its spread
    # A mean is rounded, so that 0.1 differs from the mean of a hundred of its kind.
    assert np.var([0.1] * 100) > 0
    assert corrected_variance([0.1] * 100, TEN_FOLDS) == 0.0
    assert math.isinf(shortfall([0.5] * 10, TEN_FOLDS, 100))


def test_metrics_with_an_open_end() -> None:
    assert interval([0.0] * 10, TEN_FOLDS, highest=math.inf) == ScoreInterval(0.0, 0.0, 0.0)
    found = interval([1e-9, 3.0], 1.0, highest=math.inf)
    assert 0 < found.low < found.high < math.inf


def test_few_rows_of_a_class_widen_the_interval() -> None:
    scores = np.random.default_rng(0).uniform(0.6, 1, 100).tolist()
    known, few = interval(scores, TEN_FOLDS), interval(scores, TEN_FOLDS, rarest=4)
    assert few.low < known.low < known.high < few.high
    assert interval(scores, TEN_FOLDS, rarest=500) == known
    assert interval(scores, TEN_FOLDS, rarest=1) == interval(scores, TEN_FOLDS, rarest=2)


def test_leads_in_the_last_digits_are_none() -> None:
    losses = np.linspace(0.2, 0.5, 10)
    near = model("near", (losses * (1 + 1e-15)).tolist(), "tree")
    choice = choose([near, model("far", losses.tolist())], by("log_loss", 1.0, constant=0.6))
    assert (choice.recommended, choice.behind, choice.bound) == ("near", 0.0, 0.0)


def test_scores_that_hardly_vary_do_not_make_a_bound_narrow() -> None:
    # A model that finds one row of the rare class, always the same: 36 rows' worth of scores.
    best, other = model("a", [0.5, 0.5, 0.51, 0.5] * 5), model("b", [0.5, 0.5, 0.5, 0.501] * 5)
    narrow, wide = (upper_bound(best, other, by(rows=rows))[1] for rows in (None, 36))
    assert narrow is not None
    assert wide is not None
    assert wide > 3 * narrow


# Which model is recommended

ZIGZAG = (0.8, 0.9) * 5
FLAT = (0.5,) * 10


def lower(points: float) -> tuple[float, ...]:
    return tuple(score - points / 100 + 0.001 * (-1) ** (i // 2) for i, score in enumerate(ZIGZAG))


@pytest.mark.parametrize(
    ("kind", "terms", "rank"),
    [
        ("tree", 16, 0), ("tree", 17, 2), ("tree", 50, 2), ("tree", 51, 3), ("linear", 30, 1),
        ("linear", 31, 3), ("quadratic", 2, 4), ("neighbors", 2, 5), ("kernel", 2, 6),
        ("other", 2, 3),
    ],
)  # fmt: skip
def test_how_readable_a_model_is(kind: str, terms: float, rank: int) -> None:
    assert model("m", ZIGZAG, kind, terms).rank == rank


def test_the_most_readable_within_the_margin() -> None:
    field = [
        model("kernel", ZIGZAG, "kernel", title="kernel discriminant"),
        model("lda", lower(0.6), title="linear discriminant"),
        model("tree", lower(1.4), "tree"),
        model("constant", FLAT, "", eligible=False),
    ]
    choice = choose(field, by())
    assert (choice.best, choice.recommended, choice.close) == ("kernel", "lda", ("lda", "kernel"))
    assert choice.runner_up == "tree"  # 0.4 points from being recommended, the kernel 0.4 and more
    assert choice.behind == pytest.approx(0.006 - 0.0002, abs=1e-9)
    assert choice.sentence.startswith(
        "Take linear discriminant (accuracy 0.844, 5 terms): the most readable model within "
        "1.0 points of the best, kernel discriminant (0.850). It is 0.6 points behind, at most 0."
    )
    assert choice.warnings == ()
    # a row of a rare class is worth 1.5 points: then the tree is near enough
    assert choose(field, by(row=0.015)).recommended == "tree"
    assert by(row=0.2).margin == pytest.approx(0.03)


def test_nothing_does_better() -> None:
    choice = choose([model("tree", ZIGZAG, "tree", 7)], by())
    said = "Take tree (accuracy 0.850, 7 leaves): no model that can be recommended does better."
    assert choice == ModelChoice("tree", "tree", 0.01, 0.0, 0.0, "", ("tree",), "", said)


def test_what_cannot_be_recommended_may_lead() -> None:
    field = [
        model("boosting", tuple(score + 0.03 for score in ZIGZAG), "", eligible=False),
        model("lda", ZIGZAG),
    ]
    choice = choose(field, by())
    assert (choice.leader, choice.recommended) == ("boosting", "lda")
    assert choice.sentence.startswith(
        "Ahead of every model that can be recommended is boosting (0.880), by 3.0 points. Take lda"
    )
    assert choose([model("boosting", lower(-0.5), "", eligible=False), field[1]], by()).leader == ""


def test_a_point_of_a_loss_is_a_hundredth_of_the_constants() -> None:
    losses = [0.3, 0.31] * 5
    field = [model("qda", losses, "quadratic"), model("lda", [loss + 0.006 for loss in losses])]
    assert choose(field, by("log_loss", constant=0.5)).recommended == "qda"
    choice = choose(field, by("log_loss", constant=0.7))
    assert choice.recommended == "lda"
    assert "It is 0.9 points behind" in choice.sentence


def test_no_better_than_a_constant_is_warned_of() -> None:
    field = [model("tree", [0.45, 0.62] * 5, "tree", 3), model("constant", FLAT, eligible=False)]
    (words,) = choose(field, by()).warnings
    assert words.startswith("Nothing says that tree is better than a constant prediction (0.500)")
    assert choose([model("tree", ZIGZAG, "tree"), field[1]], by()).warnings == ()


def test_too_few_rows_to_tell() -> None:
    shaken = [score - 0.005 + 0.2 * (-1) ** i for i, score in enumerate(ZIGZAG)]
    choice = choose([model("qda", ZIGZAG, "quadratic"), model("lda", shaken)], by())
    assert choice.recommended == "lda"
    assert any(words.startswith("The rows are too few to tell") for words in choice.warnings)


def test_models_that_cannot_be_recommended_need_not_be_whole() -> None:
    said = "No model can be recommended: no learner with probabilities has a score on all folds."
    for field in ([], [model("tree", ZIGZAG, eligible=False)]):
        choice = choose(field, by())
        assert choice == ModelChoice("", "", 0.01, sentence=choice.sentence)
        assert choice.sentence.startswith(said)
    part = model("boosting", (0.99,) * 3, eligible=False)
    choice = choose([part, model("tree", ZIGZAG, "tree")], by())
    assert (choice.recommended, choice.leader) == ("tree", "boosting")  # on the folds of both


# Where the truth is known

N, FOLDS, REPEATS, MODELS = 100, 10, 10, 4


def cross_validated(rng: np.random.Generator, n_rare: int) -> tuple[np.ndarray, np.ndarray]:
    """Balanced accuracy of equally good models, each with a column of its own: folds, fresh rows.

    Each cuts halfway between the class means; the same rule, of all folds at once.
    """
    y = (np.arange(N) < n_rare).astype(int)
    X = rng.normal(size=(N, MODELS)) + 2.0 * y[:, None]
    new = rng.normal(size=(2, 500, MODELS)) + np.array([0.0, 2.0])[:, None, None]
    scores = np.empty((REPEATS, FOLDS, MODELS))
    for repeat in range(REPEATS):
        dealt = np.concatenate([np.arange(n_rare), np.arange(N - n_rare)]) % FOLDS
        dealt[:n_rare] = rng.permutation(dealt[:n_rare])
        dealt[n_rare:] = rng.permutation(dealt[n_rare:])
        test = dealt == np.arange(FOLDS)[:, None]
        means = [(~test & (y == c)) @ X / (~test & (y == c)).sum(1)[:, None] for c in (0, 1)]
        cuts = (means[0] + means[1]) / 2
        right = ((cuts[dealt] < X) == (y == 1)[:, None]).astype(float)
        parts = [(test & (y == c)).astype(float) for c in (0, 1)]
        recalls = [part @ right / part.sum(1)[:, None] for part in parts]
        scores[repeat] = (recalls[0] + recalls[1]) / 2
    truth = ((new[0] <= cuts[0]).mean(0) + (new[1] > cuts[0]).mean(0)) / 2
    return scores.reshape(-1, MODELS), truth


@pytest.mark.full
@pytest.mark.parametrize("n_rare", [50, 10])
def test_intervals_and_choices_where_the_truth_is_known(n_rare: int) -> None:
    """Seeded tables: 90 to 99 % of scores in their interval, 92 % of losses within their bound."""
    rng = np.random.default_rng(2)
    runs = [cross_validated(rng, n_rare) for _ in range(400)]
    truth = float(np.mean([fresh for _, fresh in runs]))
    rows = balanced_rows([n_rare, N - n_rare])
    covered, within = [], []
    stick = by("balanced_accuracy", rows=rows, rarest=n_rare, row=0.5 / n_rare)
    for scores, fresh in runs:
        found = interval(scores[:, 0].tolist(), TEN_FOLDS, rows=rows, rarest=n_rare)
        covered.append(found.low <= truth <= found.high)
        field = [model(str(i), scores[:, i].tolist(), "kernel", i, size=i) for i in range(MODELS)]
        choice = choose(field, stick)
        assert choice.bound is not None
        within.append(fresh[int(choice.best)] - fresh[int(choice.recommended)] <= choice.bound)
    assert 0.90 <= np.mean(covered) <= 0.99
    assert np.mean(within) >= 0.92
