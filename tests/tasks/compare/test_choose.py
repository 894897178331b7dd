"""Intervals, the corrected test and the choice: by hand, by an oracle, by laws, by simulation."""

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
from scipy import integrate, stats

from sortal.tasks.compare.choose import (
    ModelChoice,
    ScoredCandidate,
    ScoreInterval,
    balanced_rows,
    choose,
    corrected_variance,
    interval,
    probability_of_lead,
    shortfall,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEN_FOLDS = 1 / 9


def model(
    name: str, scores: Sequence[float], size: float = 1, **more: bool | str
) -> ScoredCandidate:
    return ScoredCandidate(name, tuple(scores), size, **more)  # type: ignore[arg-type]


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


def test_p_by_hand() -> None:
    # Mean 0.1, s² = 0.02, V = 0.03: t = 0.57735 with one degree of freedom, p = 1/2 − atan(t)/π.
    p = probability_of_lead([0.0, 0.2], 1.0)
    assert p == pytest.approx(0.5 - math.atan(0.1 / math.sqrt(0.03)) / math.pi, rel=1e-12)
    assert p == pytest.approx(1 / 3, rel=1e-12)


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


def oracle_p(
    best: Sequence[float], other: Sequence[float], share: Fraction, rows: float, rarest: int
) -> float:
    """The tail of Student's density, by quadrature."""
    leads = [float(Fraction(a) - Fraction(b)) for a, b in zip(best, other, strict=True)]
    variances = [float(oracle_variance(one, share)) for one in (best, other)]
    means = [statistics.fmean(one) for one in (best, other)]
    short = min(
        m * (1 - m) / rows / v if v else math.inf for m, v in zip(means, variances, strict=True)
    )
    factor = max(1.0, short) if math.isfinite(short) else 1.0
    t = statistics.fmean(leads) / math.sqrt(factor * float(oracle_variance(leads, share)))
    nu = min(len(leads), rarest) - 1
    scale = math.exp(math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2)) / math.sqrt(nu * math.pi)
    density = lambda x: scale * (1 + x * x / nu) ** (-(nu + 1) / 2)
    body, _ = integrate.quad(density, 0, t, epsabs=1e-13)
    return 0.5 - float(body)


@pytest.mark.parametrize("seed", range(8))
def test_p_values_and_intervals_are_the_oracles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_models, n_scores = int(rng.integers(2, 6)), int(rng.integers(2, 40))
    base = rng.uniform(0.5, 0.9, n_scores)
    scores = [np.clip(base + rng.normal(0, 0.05, n_scores), 0, 1) for _ in range(n_models)]
    field = [model(f"m{i}", own.tolist(), i) for i, own in enumerate(scores)]
    rows, rarest = float(rng.integers(5, 60)), int(rng.integers(2, 50))
    choice = choose(field, 1 / 4, rows=rows, rarest=rarest)
    best = max(field, key=lambda one: statistics.fmean(one.scores))
    assert choice.best == best.name
    for one in field:
        if one is not best:
            p = oracle_p(best.scores, one.scores, Fraction(1, 4), rows, rarest)
            assert choice.p_values[one.name] == pytest.approx(min(1, n_models * p), rel=1e-6)
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


@st.composite
def fields(draw: Callable[..., list[float]]) -> list[ScoredCandidate]:
    n_models: int = draw(st.integers(1, 6))  # type: ignore[assignment]
    n_scores: int = draw(st.integers(2, 12))  # type: ignore[assignment]
    score = st.integers(0, 16).map(lambda x: x / 16)  # sums and mirrored scores are exact
    return [
        ScoredCandidate(
            f"m{i}",
            tuple(draw(st.lists(score, min_size=n_scores, max_size=n_scores))),
            draw(st.integers(1, 4)),  # type: ignore[arg-type]
            draw(st.booleans()),  # type: ignore[arg-type]
            draw(st.booleans()),  # type: ignore[arg-type]
        )
        for i in range(n_models)
    ]


@given(fields(), SHARES, st.randoms(use_true_random=False))
def test_laws_of_a_choice(field: list[ScoredCandidate], share: float, random: object) -> None:
    choice = choose(field, share)
    eligible = {one.name: one for one in field if one.eligible}
    assert set(choice.equals) <= set(eligible)
    assert set(choice.p_values) == set(eligible) - {choice.best}
    if not eligible:
        assert (choice.best, choice.chosen, choice.learner) == ("", "", None)
        return
    assert choice.chosen == choice.equals[0]
    assert choice.best in choice.equals
    assert eligible[choice.best].mean == max(one.mean for one in eligible.values())
    assert all(eligible[name].size >= eligible[choice.chosen].size for name in choice.equals)
    assert {n for n, p in choice.p_values.items() if p > 0.05} == {*choice.equals} - {choice.best}
    own = [name for name in choice.equals if not eligible[name].baseline]
    assert choice.learner == (own[0] if own else None)
    # The order in which models are given says nothing, nor the sign of the metric.
    shuffled = list(field)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose(shuffled, share) == choice
    losses = [dataclasses.replace(one, scores=tuple(1 - s for s in one.scores)) for one in field]
    turned = choose(losses, share, higher_is_better=False)
    if len({one.mean for one in eligible.values()}) == len(eligible):
        assert (turned.best, turned.equals) == (choice.best, choice.equals)


@given(fields(), SHARES)
def test_a_stricter_level_calls_no_more_models_equal(
    field: list[ScoredCandidate], share: float
) -> None:
    assert {*choose(field, share, level=0.2).equals} <= {*choose(field, share, level=0.01).equals}


# Edges


def test_scores_that_are_all_the_same() -> None:
    assert interval([0.75] * 10, TEN_FOLDS) == ScoreInterval(0.75, 0.75, 0.75)
    assert interval([0.8], TEN_FOLDS) == ScoreInterval(
        0.8, 0.0, 1.0
    )  # one says nothing of its spread
    # A mean is rounded, so that 0.1 differs from the mean of a hundred of its kind.
    assert np.var([0.1] * 100) > 0
    assert corrected_variance([0.1] * 100, TEN_FOLDS) == 0.0
    assert probability_of_lead([0.1] * 10, TEN_FOLDS) == 0.0
    assert probability_of_lead([0.0] * 10, TEN_FOLDS) == 1.0
    assert probability_of_lead([-0.1] * 10, TEN_FOLDS) == 1.0
    assert math.isinf(shortfall([0.5] * 10, TEN_FOLDS, 100))


def test_metrics_with_an_open_end() -> None:
    assert interval([0.0] * 10, TEN_FOLDS, highest=math.inf) == ScoreInterval(0.0, 0.0, 0.0)
    found = interval([1e-9, 3.0], 1.0, highest=math.inf)
    assert 0 < found.low < found.high < math.inf
    found = interval([-1.0, 1.0], 1.0, lowest=-math.inf, highest=math.inf)
    assert found.high == pytest.approx(12.7062 * math.sqrt(3), rel=1e-4)
    assert found.low == -found.high


def test_few_rows_of_a_class_widen_the_interval() -> None:
    scores = np.random.default_rng(0).uniform(0.6, 1, 100).tolist()
    known, few = interval(scores, TEN_FOLDS), interval(scores, TEN_FOLDS, rarest=4)
    assert few.low < known.low < known.high < few.high
    assert interval(scores, TEN_FOLDS, rarest=500) == known
    assert interval(scores, TEN_FOLDS, rarest=1) == interval(scores, TEN_FOLDS, rarest=2)


def test_leads_in_the_last_digits_are_none() -> None:
    losses = np.linspace(0.2, 0.5, 10)
    near = model("near", (losses * (1 + 1e-15)).tolist(), 5)
    choice = choose([near, model("far", losses.tolist(), 9)], 1.0, higher_is_better=False)
    assert choice.p_values == {"near": 1.0}
    assert choice.chosen == "near"


ZIGZAG = (0.8, 0.9) * 5
LOWER = tuple(score - 0.01 * (1 + i % 3) for i, score in enumerate(ZIGZAG))
FLAT = (0.5,) * 10


def test_the_only_contestant() -> None:
    said = "There is one model to choose from: tree (balanced accuracy 0.850)."
    found = choose([model("tree", ZIGZAG, 7)], TEN_FOLDS)
    assert found == ModelChoice("tree", "tree", {}, ("tree",), said, "tree")


def test_models_that_may_not_be_chosen_need_no_scores() -> None:
    said = "No model can be chosen: none of them has a balanced accuracy on all rows."
    for field in ([], [model("tree", ZIGZAG, eligible=False)]):
        assert choose(field, TEN_FOLDS) == ModelChoice("", "", {}, (), said, None)
    broken = model("svm", (), eligible=False)
    short = model("lda", (0.99,), 1, eligible=False)
    choice = choose([broken, model("tree", ZIGZAG, 7), short], TEN_FOLDS)
    assert choice.equals == ("tree",)


def test_all_equal() -> None:
    field = [model(name, ZIGZAG, size) for name, size in (("b", 3), ("a", 3), ("c", 2))]
    choice = choose(field, TEN_FOLDS)
    assert (choice.best, choice.chosen, choice.equals) == ("c", "c", ("c", "a", "b"))
    assert choice.p_values == {"a": 1.0, "b": 1.0}
    assert choice.sentence == (
        "By balanced accuracy, c (0.850, 2 numbers) is the best model, and none is simpler."
    )


def test_ties_in_size() -> None:
    slightly = [score + 0.001 * (-1) ** (i // 2) + 0.0005 for i, score in enumerate(ZIGZAG)]
    field = [
        model("a", ZIGZAG, 3),
        model("b", slightly, 3),
        model("z", ZIGZAG, 3, baseline=True),
        model("y", slightly, 3, baseline=True),
    ]
    # sortal's first, then the better score, then the name.
    assert choose(field, TEN_FOLDS).equals == ("b", "a", "y", "z")


def test_a_simpler_model_is_chosen() -> None:
    close = [score - 0.01 * (-1) ** (i // 2) - 0.001 for i, score in enumerate(ZIGZAG)]
    field = [
        model("tree", close, 19, title="decision tree"),
        model("svm", ZIGZAG, 6034, baseline=True, title="RBF SVM"),
        model("majority", FLAT, 2, baseline=True),
    ]
    choice = choose(field, TEN_FOLDS)
    assert (choice.best, choice.chosen, choice.learner) == ("svm", "tree", "tree")
    assert choice.sentence == (
        "By balanced accuracy, decision tree (0.847, 19 numbers) is the simplest model that is not "
        "distinguishably worse than the best, RBF SVM (0.850, 6,034 numbers; p = 0.81)."
    )


def test_every_simpler_model_is_worse() -> None:
    field = [model("lda", LOWER, 5), model("qda", ZIGZAG, 9), model("majority", FLAT, 1)]
    choice = choose(field, TEN_FOLDS)
    assert (choice.chosen, choice.equals) == ("qda", ("qda",))
    assert choice.sentence.startswith(
        "By balanced accuracy, qda (0.850, 9 numbers) is the best model, and every simpler one is "
        "distinguishably worse; the nearest of them is lda (0.831, p = "
    )


def test_a_baseline_is_chosen_and_a_learner_named() -> None:
    field = [
        model("logistic", ZIGZAG, 5, baseline=True, title="logistic regression"),
        model("lda", ZIGZAG, 8),
        model("majority", FLAT, 1, baseline=True),
    ]
    choice = choose(field, TEN_FOLDS)
    assert (choice.chosen, choice.learner) == ("logistic", "lda")
    assert choice.sentence.endswith(
        "The chosen model is a baseline; the simplest of sortal's learners that is not "
        "distinguishably worse is lda (0.850, 8 numbers)."
    )


def test_a_baseline_is_chosen_and_no_learner_is_as_good() -> None:
    svm = model("svm", ZIGZAG, math.inf, baseline=True)
    choice = choose([svm, model("lda", LOWER, 8)], TEN_FOLDS)
    assert (choice.chosen, choice.learner) == ("svm", None)
    assert "svm (0.850, size unknown) is the best model" in choice.sentence
    assert (
        "The chosen model is a baseline, and each of sortal's learners is distinguishably worse; "
        "the nearest is lda (0.831, p = "
    ) in choice.sentence
    alone = choose([svm], TEN_FOLDS)
    assert alone.sentence.endswith("none of sortal's learners was finished on all rows.")


def test_nothing_was_learned() -> None:
    guesses = [0.45, 0.62] * 5
    field = [model("tree", guesses, 9), model("majority", FLAT, 2, baseline=True)]
    choice = choose(field, TEN_FOLDS)
    assert (choice.best, choice.chosen, choice.learner) == ("tree", "majority", "tree")
    assert choice.sentence.startswith(
        "Nothing was learned, or too little to tell: by balanced accuracy no model is "
        "distinguishably better than always saying the commonest class (0.500); the best, tree, "
        "has 0.535 (p = "
    )
    worse = [dataclasses.replace(field[0], scores=(0.4, 0.5) * 5), field[1]]
    assert choose(worse, TEN_FOLDS).sentence == (
        "Nothing was learned, or too little to tell: by balanced accuracy no model is "
        "distinguishably better than always saying the commonest class (0.500)."
    )


def test_what_the_majority_beats_is_not_chosen_for_its_size() -> None:
    """One fold with a huge loss hides from the test that a model is bad."""
    losses = [0.3, 0.31] * 5
    field = [
        model("bayes", losses, 50),
        model("tree", [0.2] * 9 + [7.0], 9),
        model("majority", [0.69, 0.7] * 5, 2, baseline=True),
    ]
    choice = choose(field, TEN_FOLDS, higher_is_better=False, metric="log loss")
    assert choice.p_values["tree"] > 0.05 > choice.p_values["majority"]
    assert (choice.chosen, choice.equals) == ("bayes", ("bayes",))
    assert choice.sentence.endswith("Not chosen, since no better than the commonest class: tree.")


def test_a_perfect_model_is_better_than_the_majority() -> None:
    field = [model("tree", (1.0,) * 10, 9), model("majority", FLAT, 2, baseline=True)]
    choice = choose(field, TEN_FOLDS, rows=100, rarest=50)
    assert (choice.chosen, choice.p_values) == ("tree", {"majority": 0.0})


def test_p_counts_the_models() -> None:
    rivals = [model("best", ZIGZAG, 9), model("other", LOWER, 1)]
    one = choose(rivals, TEN_FOLDS).p_values["other"]
    two = choose([*rivals, model("third", FLAT, 5)], TEN_FOLDS).p_values["other"]
    assert two == pytest.approx(1.5 * one)


def test_scores_that_hardly_vary_make_no_small_p() -> None:
    # A model that finds one row of the rare class, always the same: 36 rows' worth of scores.
    best, other = [0.5, 0.5, 0.51, 0.5] * 5, [0.5, 0.5, 0.5, 0.501] * 5
    rivals = [model("best", best, 9), model("other", other, 1)]
    assert choose(rivals, TEN_FOLDS).p_values["other"] < 0.25
    assert choose(rivals, TEN_FOLDS, rows=36).p_values["other"] > 0.9


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
    """Seeded tables: 90 to 99 % covered, the equally good simplest passed over in 5 % at most."""
    rng = np.random.default_rng(2)
    runs = [cross_validated(rng, n_rare) for _ in range(400)]
    truth = float(np.mean([fresh for _, fresh in runs]))
    rows = balanced_rows([n_rare, N - n_rare])
    covered, passed, by_p_as_it_is = [], [], []
    for scores, _ in runs:
        found = interval(scores[:, 0].tolist(), TEN_FOLDS, rows=rows, rarest=n_rare)
        covered.append(found.low <= truth <= found.high)
        field = [model(str(i), scores[:, i].tolist(), i) for i in range(MODELS)]
        choice = choose(field, TEN_FOLDS, rows=rows, rarest=n_rare)
        passed.append(choice.chosen != "0")
        leads = scores[:, int(choice.best)] - scores[:, 0]
        by_p_as_it_is.append(probability_of_lead(leads.tolist(), TEN_FOLDS) <= 0.05)
    assert 0.90 <= np.mean(covered) <= 0.99
    assert np.mean(passed) <= 0.05
    assert np.mean(by_p_as_it_is) > 0.07  # why p is multiplied by the number of models
