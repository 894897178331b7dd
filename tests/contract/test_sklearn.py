"""What clients of scikit-learn expect of every learner of the registry."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.contract.learners import (
    DEFAULTS,
    N,
    Setting,
    answers,
    assert_close,
    assert_same,
    every_learner,
    every_setting,
    fitted,
    labels,
    mixed,
    whole,
)

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    KernelDiscriminant,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    displays,
)
from sortal.errors import ParameterError, UnavailableError
from sortal.tasks.registry import find, learner_of

if TYPE_CHECKING:
    import pandas as pd

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


# --- Its own battery: nothing fails, nothing is excused, nothing is skipped ----------------------

_MORE: Final[list[tuple[str, dict[str, Any]]]] = [
    ("tree", {"criterion": "gini", "min_samples_leaf": 2, "max_leaf_nodes": 8}),
    ("tree", {"categorical_features": "all"}),
    (
        "tree",
        {
            "criterion": "gain_ratio",
            "categorical_features": "all",
            "categorical_split": "multiway",
            "pruning": None,
        },
    ),
    ("tree", {"class_weight": "balanced", "smoothing": "shrinkage"}),
    ("bayes", {"categorical_features": "all"}),
    ("bayes", {"structure": "joint", "categorical_features": [0]}),
    ("lda", {"covariance": "mle", "shrinkage": "ledoit_wolf"}),
    ("qda", {"covariance": "mle", "pooling": 0.5}),
    ("qda", {"shrinkage": 0.1, "class_weight": "balanced"}),
    ("fisher", {"within": "covariance"}),
    ("indicator", {"categorical_features": "all"}),
    ("neighbors", {"metric": "manhattan", "scale": "range"}),
    ("neighbors", {"metric": "gower", "weights": "rank"}),
    ("neighbors", {"metric": "minkowski", "p": np.inf}),
    ("neighbors", {"weights": "distance", "scale": None}),
    ("kernel", {"kernel": "linear"}),
    ("kernel", {"kernel": "linear", "ridge": 0}),
    ("kernel", {"kernel": "poly", "coef0": 1.0}),
    ("kernel", {"kernel": "laplacian"}),
    ("kernel", {"penalty": "coefficients"}),
    ("kernel", {"solver": "landmarks"}),
]
BATTERY: Final = [
    *DEFAULTS,
    *(
        pytest.param(Setting(find(name), options), marks=pytest.mark.full)
        for name, options in _MORE
    ),
]
# Kernel matrices: the battery takes the Gram matrix of its rows. Four of its checks make of it
# what is no matrix of inner products, or no square, and refusing that is what is asked for.
NO_KERNEL: Final = {
    "check_positive_only_tag_during_fit": "unexpectedly",  # the mean is taken off
    "check_estimators_dtypes": "not positive",  # rounded to whole numbers
    "check_decision_proba_consistency": "80 rows and 2 columns",
    "check_classifiers_one_label_sample_weights": "should have 'class'",  # not symmetric
}


def troubles(model: Any) -> dict[str, str]:
    """What does not pass; a battery that shrank would look green, so its size is pinned, too."""
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(model, on_fail=None, on_skip=None)
    version = ".".join(sklearn.__version__.split(".")[:2])
    more = 0
    if hasattr(model, "transform"):
        more = 6 if learner_of(type(model).__name__).facts.probabilistic else 5
    if model.__sklearn_tags__().input_tags.pairwise:
        more -= 1
    assert len(results) == {"1.9": 62, "1.7": 61}[version] + more
    return {
        one["check_name"]: str(one["exception"]) for one in results if one["status"] != "passed"
    }


@pytest.mark.parametrize("setting", BATTERY, ids=repr)
def test_check_estimator_passes_whole(setting: Setting) -> None:
    assert troubles(setting.make()) == {}


@pytest.mark.full
def test_kernel_matrices_pass_all_checks_that_give_some() -> None:
    found = troubles(KernelDiscriminant("precomputed"))
    assert set(found) == set(NO_KERNEL)
    assert all(words in found[name] for name, words in NO_KERNEL.items())


@every_learner
def test_missing_values_are_taken_where_they_are_no_error(learner: Setting) -> None:
    """By this tag others decide whether to put an imputer before."""
    assert learner.make().__sklearn_tags__().input_tags.allow_nan
    assert not learner.make(missing="error").__sklearn_tags__().input_tags.allow_nan


def test_a_given_kernel_matrix_has_no_missing_values() -> None:
    tags = KernelDiscriminant("precomputed").__sklearn_tags__().input_tags
    assert tags.pairwise
    assert not tags.allow_nan


# --- Pipelines, folds, ensembles -----------------------------------------------------------------


def lowered(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(city=frame["city"].str.lower())


@every_learner
def test_a_pipeline_passes_a_mixed_frame_and_routes_weights(learner: Setting) -> None:
    weight = 1 + np.arange(N) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        last = learner.make().set_fit_request(sample_weight=True)
        pipe = Pipeline([("lower", FunctionTransformer(lowered)), ("last", last)])
        found = pipe.fit(mixed(), labels(), sample_weight=weight).predict(mixed())
    direct = learner.fit(lowered(mixed()), weight=weight)
    np.testing.assert_array_equal(found, direct.predict(lowered(mixed())))
    assert_same(pipe["last"], direct, lowered(mixed()))


@every_learner
def test_folds_and_grids_of_a_mixed_frame(learner: Setting) -> None:
    scores = cross_val_score(learner.make(), mixed(), labels(), cv=3, error_score="raise")
    assert scores.mean() > 0.5
    grid = {name: list(values[:2]) for name, values in learner.learner.grid.items()}
    search = GridSearchCV(learner.make(), grid, cv=2, error_score="raise")
    two = np.where(labels() == "ash", "yes", "no")
    assert search.fit(whole(), two).best_params_.keys() == grid.keys()
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@cache
def table(name: str) -> tuple[Any, Any]:
    """A part of the rows: what is asked is that nothing fails."""
    load, step = {
        "iris": (load_iris, 2),
        "cancer": (load_breast_cancer, 6),
        "wine": (load_wine, 2),
    }[name]
    X, y = load(return_X_y=True)
    return X[::step], y[::step]


@every_learner
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["iris", *(pytest.param(name, marks=pytest.mark.full) for name in ("cancer", "wine"))]
)
def test_every_ensemble_takes_every_learner(learner: Setting, name: str) -> None:
    X, y = table(name)
    one = learner.make(n_jobs=1)
    both = [("one", one), ("other", GaussianNB())]
    ensembles = {
        "boosted": AdaBoostClassifier(one, n_estimators=4, random_state=0),
        "bagged": BaggingClassifier(one, n_estimators=3, max_samples=0.7, random_state=0),
        "stacked": StackingClassifier(both, cv=2),
        "voted": VotingClassifier(both),
        "calibrated": CalibratedClassifierCV(one, cv=2),
    }
    soft = VotingClassifier(both, voting="soft")
    if learner.learner.facts.probabilistic:
        ensembles["voted softly"] = soft
    else:
        assert not hasattr(one, "predict_proba")
        with pytest.raises(UnavailableError, match=r"has no probabilities: use .*voting='hard'"):
            soft.fit(X, y).predict(X)
    for kind, ensemble in ensembles.items():
        assert ensemble.fit(X, y).score(X, y) > np.bincount(y).max() / len(y), kind


@every_learner
def test_weights_as_small_as_boosting_makes_them_are_nothing(learner: Setting) -> None:
    """scikit-learn's AdaBoost keeps weights from 2**-52 of the total upwards."""
    X, y = table("iris")
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    weight[::5] = 2.0**-52
    model = learner.fit(X, y, weight / weight.sum())
    weight[::5] = 0.0
    without = learner.fit(X, y, weight / weight.sum())
    assert (model.predict(X) == without.predict(X)).all()
    if learner.learner.facts.probabilistic:
        expected = without.predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)


@every_learner
def test_the_unit_of_fractional_weights_is_arbitrary(learner: Setting) -> None:
    """Alike, they are as none: also where a row is counted in units of 1, as if it were copies."""
    X, y = table("wine")
    said = learner.fit(X, y).predict(X)
    for total in (1.0, 1.5 * 2.0**47):
        model = learner.fit(X, y, np.full(len(y), total / len(y)))
        assert (model.predict(X) == said).all()
        assert model.fit_report_.rows == len(y)


def test_fold_numbers_go_with_the_rows_that_have_weight() -> None:
    X, y = table("iris")
    folds, weight = np.arange(len(y)) % 4, np.full(len(y), 0.5)
    weight[::7] = 1e-20
    given: dict[str, Any] = {"pruning": "cost_complexity", "cv": folds}
    model = TreeClassifier(**given).fit(X, y, sample_weight=weight)
    kept = weight == 0.5
    given["cv"] = folds[kept]
    assert model.to_text() == TreeClassifier(**given).fit(X[kept], y[kept], weight[kept]).to_text()


# --- What is offered -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("whole_only", "other", "word"),
    [
        (LinearDiscriminant(shrinkage="loo"), {"shrinkage": 0.5}, "shrinkage='loo'"),
        (QuadraticDiscriminant(pooling="loo"), {"pooling": 0.5}, "pooling='loo'"),
        (QuadraticDiscriminant(shrinkage="loo"), {"shrinkage": None}, "shrinkage='loo'"),
        (FisherDiscriminant(threshold="least_error"), {"threshold": "midpoint"}, "'least_error'"),
        (KernelDiscriminant(ridge="loo"), {"ridge": 0.1}, "ridge='loo'"),
    ],
)
def test_there_is_no_partial_fit_where_it_would_only_raise(
    whole_only: Any, other: dict[str, Any], word: str
) -> None:
    for name in ("partial_fit", "forget"):
        assert not hasattr(whole_only, name)
    with pytest.raises(UnavailableError, match=f"{word} needs all rows at once"):
        whole_only.partial_fit(*table("iris"))
    assert hasattr(clone(whole_only).set_params(**other), "partial_fit")


@every_learner
def test_who_asks_for_probabilities_that_there_are_not_is_told_why(learner: Setting) -> None:
    model = learner.fit(*table("iris"))
    probabilistic = learner.learner.facts.probabilistic
    assert hasattr(model, "predict_proba") == hasattr(type(model), "predict_proba") == probabilistic
    if not probabilistic:
        with pytest.raises(UnavailableError, match=r"has no probabilities.*voting='hard'"):
            model.predict_proba(table("iris")[0])


@every_setting
def test_answers_to_different_questions_agree(setting: Setting) -> None:
    model = fitted(setting)
    said = model.predict(mixed()).tolist()
    if hasattr(model, "decision_function"):
        assert model.classes_[model.decision_function(mixed()).argmax(axis=1)].tolist() == said
    if setting.learner.facts.probabilistic:
        shares, logs = model.predict_proba(mixed()), model.predict_log_proba(mixed())
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-14)
        np.testing.assert_allclose(np.exp(logs), shares, rtol=1e-12)
        assert model.classes_[shares.argmax(axis=1)].tolist() == said


@every_learner
def test_costs_decide_for_the_least_expected_cost(learner: Setting) -> None:
    if "costs" not in learner.learner.options() or not learner.learner.facts.probabilistic:
        return
    costs = np.array([[0.0, 1.0, 9.0], [5.0, 0.0, 1.0], [2.0, 3.0, 0.0]])
    model = learner.fit(mixed(), costs=costs.tolist())
    expected = model.predict_proba(mixed()) @ costs
    np.testing.assert_array_equal(model.predict(mixed()), model.classes_[expected.argmin(axis=1)])
    assert (fitted(learner).predict(mixed()) != model.predict(mixed())).any()
    assert_same(learner.fit(mixed(), costs=(1 - np.eye(3)).tolist()), fitted(learner), mixed())


@every_learner
def test_balanced_classes_count_alike(learner: Setting) -> None:
    if "class_weight" in learner.learner.options():
        plain, balanced = (learner.fit(whole(), class_weight=how) for how in (None, "balanced"))
        by_hand = {"ash": 60 / (3 * 30), "birch": 60 / (3 * 15), "elm": 60 / (3 * 15)}
        # sums of the same products: the tables have conditions of about 1e3
        assert_close(balanced, learner.fit(whole(), class_weight=by_hand), whole(), 1e-9)
        [one], [other] = answers(balanced, whole(), 1), answers(plain, whole(), 1)
        assert not np.array_equal(one, other)


# --- Random states -------------------------------------------------------------------------------


def landmarks(random_state: Any) -> list[int]:
    model = KernelDiscriminant(solver="landmarks", n_landmarks=5, random_state=random_state)
    ids: list[int] = model.fit(*table("iris")).basis_ids_.tolist()
    return ids


def held_out(random_state: Any) -> str:
    model = TreeClassifier(pruning="reduced_error", random_state=random_state)
    return model.fit(*load_breast_cancer(return_X_y=True)).to_text()


@pytest.mark.parametrize("fit", [landmarks, held_out])
def test_random_states_are_those_of_scikit_learn(fit: Any) -> None:
    """None is not the state of NumPy: a fit gives the same model each time."""
    np.random.seed(7)  # noqa: NPY002  (what None must not hang on)
    assert fit(None) == fit(0) == fit(np.int64(0))
    drawn = np.random.RandomState(3)
    one, other = fit(drawn), fit(drawn)
    assert one != other  # each fit draws
    assert one == fit(np.random.RandomState(3))


@every_learner
def test_other_random_states_are_refused(learner: Setting) -> None:
    if "random_state" not in learner.learner.options():
        return
    for given in (-1, 1.5, "x", True, np.random.default_rng(0)):
        with pytest.raises(ParameterError, match=r"random_state=.*numpy\.random\.RandomState"):
            learner.fit(*table("iris"), random_state=given)


def test_pieces_share_the_landmarks_that_were_drawn() -> None:
    X, y = table("iris")
    drawn = KernelDiscriminant(n_landmarks=5, random_state=np.random.RandomState(3))
    first = drawn.partial_fit(X[::2], y[::2]).basis_ids_.tolist()
    assert drawn.partial_fit(X[1::2], y[1::2]).basis_ids_.tolist() == first


# --- Functions of two classes --------------------------------------------------------------------

LINEAR: Final = [
    LinearDiscriminant(),
    LinearDiscriminant(priors=[0.2, 0.8], shrinkage=0.1),
    FisherDiscriminant(),
    FisherDiscriminant(threshold="least_error"),
    IndicatorRegression(ridge=1.0),
]


@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_two_classes_have_one_function_and_it_decides(model: Any) -> None:
    X, y = table("cancer")
    X = X[:, :5]
    model = clone(model).fit(X, y)
    assert (model.coef_.shape, model.intercept_.shape) == ((1, 5), (1,))
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    by_hand = X @ model.coef_[0] + model.intercept_[0]
    # terms of about 1e2 cancel to about 1
    np.testing.assert_allclose(decision, by_hand, rtol=1e-10, atol=1e-12 * np.abs(by_hand).max())
    assert (model.predict(X) == (decision > 0)).all()


@pytest.mark.parametrize("model", LINEAR[::2], ids=str)
def test_three_classes_have_three(model: Any) -> None:
    X, y = table("iris")
    model = clone(model).fit(X, y)
    assert (model.coef_.shape, model.intercept_.shape) == ((3, 4), (3,))
    assert (model.predict(X) == (X @ model.coef_.T + model.intercept_).argmax(axis=1)).all()


def test_the_function_of_binary_attributes_is_the_log_odds() -> None:
    X, y = table("cancer")
    cells = (X.mean(axis=0) < X)[:, :5].astype(int)
    model = DiscreteBayes(categorical_features="all").fit(cells, y)
    assert model.coef_.shape == (1, 5)
    log_odds = np.diff(model.predict_log_proba(cells), axis=1)[:, 0]
    by_hand = cells @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(by_hand, log_odds, rtol=1e-12, atol=1e-12)


def test_regions_of_two_classes_follow_their_one_function() -> None:
    X, y = table("cancer")
    X = X[:, :2]
    model = LinearDiscriminant().fit(X, y)
    display = displays.DecisionsDisplay.from_estimator(model, X, y, resolution=20)
    x, y = np.meshgrid(display.grid.x, display.grid.y)
    points = np.column_stack([x.ravel(), y.ravel()])
    assert (model.classes_[display.grid.labels.ravel()] == model.predict(points)).all()
