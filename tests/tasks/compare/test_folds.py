"""One model on one fold, the folds themselves, and predictions that are kept."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from sortal import DiscreteBayes, LinearDiscriminant, datasets
from sortal.errors import LabelError
from sortal.tasks.compare.candidates import Candidate, candidates
from sortal.tasks.compare.compare import run_comparison
from sortal.tasks.compare.fold_run import (
    FoldProblem,
    FoldResult,
    Folds,
    by_costs,
    one_line,
    part_of,
    plan_folds,
    run_fold,
)
from sortal.tasks.compare.measures import Answers, average_precision, measure, offsets
from sortal.tasks.compare.run import OutOfFold, Run, join_out_of_fold
from sortal.tasks.compare.settings import CompareOptions
from sortal.tasks.fit import training_rows
from sortal.tasks.registry import LearnerEntry, LearnerFacts, find

if TYPE_CHECKING:
    from sortal.tasks.compare.comparison import Comparison

Y = np.repeat([0, 1, 2], 50)


def flowers() -> pd.DataFrame:
    return datasets.iris().drop(columns="species")


def problem(frame: Any = None, **changes: Any) -> FoldProblem:
    settings = {
        "frame": flowers() if frame is None else frame,
        "y": Y,
        "labels": np.array(["setosa", "versicolor", "virginica"], dtype=object),
        "folds": Folds(3, 1, 0),
        "judged": np.ones(3, dtype=bool),
    }
    return FoldProblem(**{**settings, **changes})


def entrant(name: str) -> Candidate:
    return candidates([name], baselines=False)[1]  # the first is the constant prediction


def toy(cls: type) -> Candidate:
    return Candidate("toy", "toy", False, LearnerEntry("toy", cls, "toy", LearnerFacts(False, "")))  # noqa: FBT003


class Toy(ClassifierMixin, BaseEstimator):
    """Says the first class."""

    def fit(self, X: Any, y: Any) -> Toy:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[:1], len(X))


def test_a_fold_is_scored_as_scikit_learn_would() -> None:
    here = problem()
    result = run_fold(here, entrant("lda"), 1, None)
    train, test = here.split[1]
    labels = here.labels[Y]
    frame: Any = here.frame
    model = LinearDiscriminant().fit(frame.iloc[train], labels[train])
    said, shares = model.predict(frame.iloc[test]), model.predict_proba(frame.iloc[test])
    assert result.scores["accuracy"] == accuracy_score(labels[test], said)
    assert result.scores["log_loss"] == pytest.approx(log_loss(labels[test], shares))
    area = roc_auc_score(labels[test], shares, multi_class="ovr")
    assert result.scores["roc_auc"] == pytest.approx(area)
    assert (result.size, result.rows, result.error) == (15, 100, "")
    assert 0 < result.fit_seconds < 10
    assert 0 < result.predict_seconds < 10


def test_a_class_that_a_fit_never_met_has_no_probability() -> None:
    here = problem()
    here.__dict__["split"] = [(np.arange(100), np.arange(150))]
    result = run_fold(here, entrant("bayes"), 0, None)
    assert result.error == ""
    assert 0.6 < result.scores["balanced_accuracy"] < 0.67
    assert result.scores["log_loss"] > 10
    assert run_fold(here, Candidate("logistic", "", True), 0, None).scores["log_loss"] > 10  # noqa: FBT003


def test_a_class_that_a_test_part_lacks_is_no_error() -> None:
    here = problem()
    here.__dict__["split"] = [(np.arange(150), np.arange(75))]
    result = run_fold(here, entrant("lda"), 0, None)
    assert result.error == ""
    assert result.scores["balanced_accuracy"] > 0.9
    assert np.isfinite(result.scores["log_loss"])


class Raises(Toy):
    """Fails with words that a terminal would obey."""

    def fit(self, X: Any, y: Any) -> Toy:
        raise ValueError("it is\n\x1b[31mred\x1b[0m")


class Quits(Toy):
    """Leaves."""

    def fit(self, X: Any, y: Any) -> Toy:
        raise SystemExit(2)


class Invents(Toy):
    """Says something else."""

    def predict(self, X: Any) -> Any:
        return np.repeat("rose", len(X))


class Skips(Toy):
    """Says too little."""

    def predict(self, X: Any) -> Any:
        return self.classes_[:1]


class Doubts(Toy):
    """Has no numbers."""

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), np.nan)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (Raises, "ValueError: it is [31mred [0m"),
        (Quits, "SystemExit: 2"),
        (Invents, "LabelError: predict gave 'rose', which is not a class of the target."),
        (
            Skips,
            "InputError: predict gave an array of the shape (1,): one label per row is needed.",
        ),
        (Doubts, "InputError: predict_proba gave something else than one finite number per class."),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(cls: type, words: str) -> None:
    result = run_fold(problem(), toy(cls), 0, None)
    assert (result.error, result.scores) == (words, {})


def test_a_toy_without_a_size_has_none() -> None:
    result = run_fold(problem(), toy(Toy), 0, None)
    assert result.size is None
    assert result.scores == {"balanced_accuracy": 17 / 50, "accuracy": 17 / 50}


def test_warnings_are_counted_by_kind() -> None:
    frame: Any = problem().frame
    frame.loc[frame.index % 10 == 3, "petal_width"] = np.nan
    result = run_fold(problem(frame), entrant("lda"), 0, None)
    assert [kind for kind, _ in result.warned] == ["MissingValueWarning"]
    assert "left out" in result.warned[0][1]


def test_options_are_chosen_within_the_training_part() -> None:
    result = run_fold(problem(tune=True), entrant("lda"), 0, None)
    assert set(result.chosen) == set(find("lda").grid)
    named = Candidate("lda:shrinkage=0.3", "", True, find("lda"), {"shrinkage": 0.3})  # noqa: FBT003
    assert run_fold(problem(tune=True), named, 0, None).chosen == {}  # what was given stays


def test_numbers_that_are_categories_are_told_to_all() -> None:
    frame = flowers().round()
    for one in (entrant("tree"), entrant("bayes"), Candidate("logistic", "", True)):  # noqa: FBT003
        plain = run_fold(problem(frame), one, 0, None)
        named = run_fold(problem(frame, categorical_features=("petal_length",)), one, 0, None)
        assert named.error == ""
        assert named.size != plain.size


def test_a_part_is_stratified_seeded_and_nested() -> None:
    y = np.repeat([0, 1, 2], [900, 90, 3])
    rows = np.arange(0, len(y))
    part = part_of(rows, y, 100, 7, 2)
    assert np.bincount(y[part]).tolist() == [91, 9, 2]
    assert (np.diff(part) > 0).all()
    assert part.tolist() == part_of(rows, y, 100, 7, 2).tolist()
    assert part.tolist() != part_of(rows, y, 100, 7, 3).tolist()
    assert set(part) <= set(part_of(rows, y, 300, 7, 2))
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    assert part.tolist() == part_of(rows, labels, 100, 7, 2).tolist()


@pytest.mark.parametrize(
    ("n", "repeats"), [(999, 10), (1_000, 3), (9_999, 3), (10_000, 1), (90_000, 1)]
)
def test_repeats_follow_the_rows(n: int, repeats: int) -> None:
    plan = plan_folds([n - 100, 100], 10, None, 0)
    assert (plan.folds, plan.repeats, plan.n) == (10, repeats, 10 * repeats)


@pytest.mark.parametrize(("n", "folds"), [(20_000, 10), (20_001, 5), (100_000, 5), (100_001, 3)])
def test_folds_follow_the_rows(n: int, folds: int) -> None:
    assert plan_folds([n - 100, 100], None, 1, 0).folds == folds


def test_a_class_of_two_rows_does_not_cost_folds() -> None:
    plan = plan_folds([50, 2], 10, 2, 0)
    assert (plan.folds, plan.n, plan.test_share) == (10, 20, 1 / 9)
    y = np.repeat([0, 1], [50, 2])
    split = plan.split(y)
    assert all(1 in y[train] for train, _ in split)
    tested = np.concatenate([test for _, test in split[:10]])
    assert sorted(tested.tolist()) == list(range(52))
    assert plan_folds([3, 1], 10, 1, 0).folds == 3
    with pytest.raises(LabelError, match="Every class has one row only"):
        plan_folds([1, 1], None, None, 0)


def test_groups_stay_together_and_time_runs_forward() -> None:
    y = np.tile([0, 1], 30)
    groups = np.repeat(np.arange(12), 5)
    plan = plan_folds([30, 30], 4, 2, 0, "groups", 12)
    for train, test in plan.split(y, groups):
        assert not set(groups[train]) & set(groups[test])
    assert str(plan) == "4 folds by group, twice"
    assert plan_folds([30, 30], 10, 1, 0, "groups", 3).folds == 3
    with pytest.raises(LabelError, match="of one group"):
        plan_folds([30, 30], 4, 1, 0, "groups", 1)
    moments = np.random.default_rng(0).permutation(60)
    plan = plan_folds([30, 30], 5, 3, 0, "time")
    split = plan.split(y, moments)
    assert len(split) == plan.n == 5
    assert all(moments[train].max() < moments[test].min() for train, test in split)
    assert plan.test_share == pytest.approx(np.mean([len(b) / len(a) for a, b in split]))


# By which rule models decide


def rare(**changes: Any) -> FoldProblem:
    """One row in ten is of the first class; the two overlap."""
    rng = np.random.default_rng(3)
    y = (np.arange(400) % 10 > 0).astype(np.int64)
    frame = pd.DataFrame({"a": rng.normal(size=400) + y, "b": rng.normal(size=400)})
    labels = np.array(["no", "yes"], dtype=object)
    given = {"y": y, "labels": labels, "judged": np.ones(2, dtype=bool), "curves": (0,)}
    return problem(frame, **(given | changes))


@pytest.mark.parametrize("name", ["bayes", "lda", "qda", "kernel", "neighbors", "tree", "logistic"])
@pytest.mark.parametrize("costs", ["balanced", None, [[0.0, 5.0], [1.0, 0.0]]])
def test_models_decide_by_costs_from_their_untouched_probabilities(name: str, costs: Any) -> None:
    costs = np.array(costs) if isinstance(costs, list) else costs
    here = rare(costs=costs, keep=True)
    one = candidates([name] if name != "logistic" else ["lda"], ["logistic"])
    found = run_fold(here, next(c for c in one if c.name == name), 0, None)
    plain = run_fold(rare(keep=True), next(c for c in one if c.name == name), 0, None)
    assert found.error == plain.error == ""
    assert found.probabilities is not None
    assert plain.probabilities is not None
    if name != "tree":  # which grows by costs, too
        np.testing.assert_array_equal(found.probabilities, plain.probabilities)
    train, _ = here.split[0]
    share = np.bincount(here.y[train]) / len(train)
    matrix = (1 - np.eye(2)) / share[:, None] if isinstance(costs, str) else costs
    matrix = 1 - np.eye(2) if matrix is None else matrix
    if name != "tree":
        expected = (found.probabilities @ matrix).argmin(axis=1)
        np.testing.assert_array_equal(found.predicted, expected)


def test_scores_without_probabilities_get_constants_from_inner_folds() -> None:
    here = rare(costs="balanced", folds=Folds(2, 1, 0))
    recalls = {}
    for name in ("linear_svm", "perceptron"):
        one = candidates(["lda"], [name])[-1]
        found = run_fold(here, one, 0, None).scores["balanced_accuracy"]
        plain = run_fold(rare(folds=Folds(2, 1, 0)), one, 0, None).scores["balanced_accuracy"]
        recalls[name] = (plain, found)
    assert recalls["linear_svm"][0] == pytest.approx(0.5)  # it never predicts the rare class
    assert all(found > 0.55 for _, found in recalls.values())


def test_scores_are_no_probabilities_where_no_constants_can_be_found() -> None:
    own = Answers(np.array([0]), np.array([[-0.5, 0.5]]), probabilistic=False)
    assert by_costs(own, np.array([[0.0, 10.0], [1.0, 0.0]]), None).predicted.tolist() == [0]


def test_a_fold_without_rows_to_be_judged_has_no_score() -> None:
    here = rare(judged=np.array([True, False]))
    train, test = here.split[0]
    here.split[0] = (train, test[here.y[test] == 1])
    result = run_fold(here, entrant("lda"), 0, None)
    assert (result.error, result.scores) == ("", {})


def test_offsets_are_the_best_of_all() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60).astype(np.int32)
    scores = np.stack([np.zeros(60), rng.normal(size=60) + y], axis=1)
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    found = scores + offsets(scores, y, costs)
    cost = costs[y, found.argmax(axis=1)].sum()
    cuts = np.concatenate([[-9.0], np.sort(scores[:, 1]) + 1e-9])
    every = [costs[y, (scores[:, 1] > cut).astype(int)].sum() for cut in cuts]
    assert cost == min(every)


def test_areas_do_not_see_what_rounding_makes_of_ties() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    scores = rng.integers(0, 9, 200) / 7.0
    shaken = scores * (1 + rng.choice([-1e-15, 0, 1e-15], 200))
    told = [
        measure(y, Answers(y, np.stack([-s, s], axis=1), probabilistic=False), np.ones(2), None)
        for s in (scores, shaken)
    ]
    assert told[0]["roc_auc"] == told[1]["roc_auc"] == pytest.approx(roc_auc_score(y, scores))
    exact = average_precision_score(y == 1, scores)
    for s in (scores, shaken):
        found = average_precision(y, np.stack([1 - s, s], axis=1), [1])
        assert found == pytest.approx(exact)


def test_a_class_set_aside_counts_in_no_measure() -> None:
    y = np.repeat([0, 1, 2], [70, 76, 4]).astype(np.int64)
    here = problem(y=y, judged=np.array([True, True, False]), keep=True)
    result = run_fold(here, entrant("lda"), 0, None)
    _, test = here.split[0]
    counted = y[test] != 2
    right = (result.predicted == y[test])[counted]  # type: ignore[index]
    assert result.scores["accuracy"] == right.mean()
    assert np.isfinite(list(result.scores.values())).all()
    assert here.weight[2] == 0


def test_balanced_accuracy_of_a_repeat_is_the_mean_of_recalls() -> None:
    y = np.repeat([0, 1, 2], [90, 53, 7]).astype(np.int64)
    here = problem(y=y, folds=Folds(4, 1, 0), keep=True)
    results = [run_fold(here, entrant("bayes"), f, None) for f in range(4)]
    truth = np.concatenate([y[test] for _, test in here.split])
    predicted = np.concatenate([r.predicted for r in results])
    rows = np.array([len(test) for _, test in here.split])
    mean = np.average([r.scores["balanced_accuracy"] for r in results], weights=rows)
    assert mean == pytest.approx(balanced_accuracy_score(truth, predicted))


def test_words_fit_a_line() -> None:
    assert one_line("a\tb\r\n c\x00\u2028d") == "a b c d"
    assert len(one_line("x" * 1_000)) == 400
    assert FoldResult().error == ""


OPTIONS: dict[str, Any] = {"learners": ["bayes", "fisher"], "baselines": ["constant"]}
OPTIONS |= {
    "metric": "accuracy",
    "folds": 3,
    "repeats": 2,
    "budget": 60.0,
    "confidence_level": 0.95,
}
OPTIONS |= {"tune": False, "drop": (), "categorical_features": (), "random_state": 5, "n_jobs": 1}


def unlabeled() -> pd.DataFrame:
    """Some rows have no label."""
    frame = datasets.iris()
    frame.loc[[0, 70, 149], "species"] = None
    return frame


@pytest.fixture(scope="module")
def found(one_process: None) -> Comparison:
    return run_comparison(unlabeled(), CompareOptions("species", **OPTIONS), keep=True)


def test_learners_are_kept_and_baselines_are_not(found: Comparison) -> None:
    assert set(found.kept) == {"bayes", "fisher"}
    for kept in found.kept.values():
        np.testing.assert_array_equal(kept.rows, np.arange(147))
        assert kept.whole
        assert kept.words.startswith("Predictions for all 147 rows, each by a model that had not")
        assert kept.truth.dtype == kept.predicted.dtype == np.dtype(np.int32)
    truth = np.asarray(found.settings.classes, dtype=object)[found.kept["bayes"].truth]
    assert truth.tolist() == unlabeled()["species"].dropna().tolist()


def test_they_are_those_of_the_first_repeat(found: Comparison) -> None:
    rows = unlabeled().dropna()
    X, y = rows.drop(columns="species"), rows["species"]
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    shares = cross_val_predict(DiscreteBayes(), X, y, cv=folds, method="predict_proba")
    said = cross_val_predict(DiscreteBayes(), X, y, cv=folds)
    kept = found.kept["bayes"]
    np.testing.assert_array_equal(kept.probabilities, shares)
    assert found.kept["fisher"].probabilities is None
    assert np.asarray(found.settings.classes)[kept.predicted].tolist() == said.tolist()
    # and what was scored
    scores = [accuracy_score(y.iloc[test], said[test]) for _, test in folds.split(X, y)]
    assert tuple(scores) == found["bayes"].scores[:3]


def test_nothing_else_knows_of_it(found: Comparison) -> None:
    rows = training_rows(unlabeled(), "species")
    plain = run_comparison(rows, CompareOptions("species", **OPTIONS), path="somewhere.csv")
    assert plain.kept == {}
    assert plain.settings.path == "somewhere.csv"
    assert plain.settings.left_out == 3
    assert plain.scores == found.scores
    assert "kept" not in found.to_dict()
    assert plain.to_text(times=False) == found.to_text(times=False)
    assert pickle.loads(pickle.dumps(found)).kept["bayes"].of == 147  # noqa: S301
    assert rows.places.tolist() == [i for i in range(150) if i not in (0, 70, 149)]


# One fold at a time, without workers


def keeping(**changes: Any) -> FoldProblem:
    return problem(**{"folds": Folds(3, 2, 0), "keep": True, **changes})


def run_of(here: FoldProblem, folds: list[int], n_rows: int | None = None) -> Run:
    run = Run("bayes", (100,) if n_rows is None else (n_rows, 100), here.folds.n)
    run.turn_to(0)
    run.results.update({f: run_fold(here, entrant("bayes"), f, n_rows) for f in folds})
    return run


def test_later_repeats_and_what_is_not_asked_for_stay_with_the_worker() -> None:
    later = run_fold(keeping(), entrant("bayes"), 3, None)
    unasked = run_fold(keeping(keep=False), entrant("bayes"), 0, None)
    baseline = run_fold(keeping(), Candidate("constant", "", probabilistic=True), 0, None)
    for result in (later, unasked, baseline):
        assert result.scores["accuracy"] > 0
        assert result.predicted is None
        assert result.probabilities is None


def test_folds_that_came_in_any_order_and_not_all_of_them() -> None:
    here = keeping()
    run = run_of(here, [2, 0, 4])
    kept = join_out_of_fold(run, here)
    assert isinstance(kept, OutOfFold)
    expected = np.sort(np.concatenate([here.split[0][1], here.split[2][1]]))
    np.testing.assert_array_equal(kept.rows, expected)
    np.testing.assert_array_equal(kept.truth, here.y[expected])
    assert not kept.whole
    assert "100 of 150 rows (2 of 3 folds were done)" in kept.words
    each = run_fold(here, entrant("bayes"), 2, None)
    places = np.searchsorted(kept.rows, here.split[2][1])
    np.testing.assert_array_equal(kept.predicted[places], each.predicted)
    assert kept.probabilities is not None
    np.testing.assert_array_equal(kept.probabilities[places], each.probabilities)


def test_a_part_of_the_training_rows_is_said() -> None:
    here = keeping(folds=Folds(3, 1, 0))
    kept = join_out_of_fold(run_of(here, [0, 1, 2], 60), here)
    assert kept is not None
    assert "trained on about 60 rows" in kept.words


def test_tuned_models_are_kept_too() -> None:
    result = run_fold(keeping(tune=True), entrant("bayes"), 0, None)
    assert result.chosen
    assert result.predicted is not None
    assert result.probabilities is not None


def test_probabilities_have_a_column_for_every_class() -> None:
    y = np.repeat([0, 1, 2], 50).astype(np.int64)
    y[:2] = 3  # in one of two folds, nothing to learn it from
    labels = np.array(["setosa", "versicolor", "virginica", "rare"], dtype=object)
    here = keeping(y=y, labels=labels, judged=np.ones(4, dtype=bool), folds=Folds(2, 1, 0))
    train, test = here.split[0]
    here.split[0] = (train[y[train] != 3], test)
    result = run_fold(here, entrant("bayes"), 0, None)
    assert result.probabilities is not None
    assert result.probabilities.shape == (len(test), 4)
    assert not result.probabilities[:, 3].any()
