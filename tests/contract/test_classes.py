"""Classes without weight, and rows of one class only: every learner of the registry.

A class of y whose rows have no weight keeps its place in `classes_`, with probability 0; all else
is as in a fit without these rows, to the bit.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.model_selection import cross_val_score

import sortal
from sortal.errors import LabelError, OneClassWarning, ParameterError
from sortal.tasks.registry import learners
from sortal.tasks.show import show

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sortal.tasks.registry import LearnerEntry

N = 36
CLASSES = np.array(["ash", "birch", "elm"])
Y = CLASSES[np.arange(N) % 3]
X = np.random.default_rng(0).normal(size=(N, 3)) + 1.5 * (np.arange(N) % 3)[:, None]

every_learner = pytest.mark.parametrize("learner", learners(), ids=lambda learner: learner.name)
probabilistic = [learner for learner in learners() if learner.facts.probabilistic]
every_probabilistic = pytest.mark.parametrize(
    "learner", probabilistic, ids=lambda learner: learner.name
)
first_or_two = pytest.mark.parametrize("gone", [["ash"], ["ash", "elm"]], ids=str)
between_or_two = pytest.mark.parametrize("gone", [["birch"], ["birch", "elm"]], ids=str)


def without(gone: list[str]) -> NDArray[np.int64]:
    """Weights: 0 for the rows of some classes."""
    return np.where(np.isin(Y, gone), 0, 1)


def quietly(act: Any, *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sortal.errors.SortalWarning)
        return act(*args, **options)


def both(learner: LearnerEntry, gone: list[str], **options: Any) -> tuple[Any, Any, list[int]]:
    """Fitted with rows of no weight, and without these rows; the places of the other's classes."""
    weighted = quietly(learner.make(**options).fit, X, Y, sample_weight=without(gone))
    kept = ~np.isin(Y, gone)
    plain = quietly(learner.make(**options).fit, X[kept], Y[kept])
    return weighted, plain, [int(k) for k in np.flatnonzero(~np.isin(CLASSES, gone))]


def same(found: NDArray[Any], plain: NDArray[Any], at: list[int], fill: float) -> None:
    """The columns of classes with weight are those of the other model; others hold `fill`."""
    assert found.shape == (len(plain), 3)
    np.testing.assert_array_equal(found[:, at], plain)
    assert (np.delete(found, at, axis=1) == fill).all()


# --- A class without weight ----------------------------------------------------------------------


@every_learner
@between_or_two
def test_a_class_without_weight_changes_nothing_but_classes(
    learner: LearnerEntry, gone: list[str]
) -> None:
    model, plain, at = both(learner, gone)
    np.testing.assert_array_equal(model.classes_, CLASSES)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.n_parameters_ == plain.n_parameters_
    kept = without(gone) > 0
    for method in ("loo_proba", "cv_proba"):
        if hasattr(model, method):
            found = getattr(model, method)(X, Y, sample_weight=without(gone))[kept]
            same(found, getattr(plain, method)(X[kept], Y[kept]), at, 0.0)
    if learner.facts.probabilistic:
        same(model.predict_proba(X), plain.predict_proba(X), at, 0.0)
        same(model.predict_log_proba(X), plain.predict_log_proba(X), at, -np.inf)


@every_learner
@first_or_two
def test_arrays_by_class_have_a_place_for_every_class(
    learner: LearnerEntry, gone: list[str]
) -> None:
    model, plain, at = both(learner, gone)
    fills = {"coef_": 0.0, "intercept_": -np.inf, "priors_": 0.0, "means_": np.nan}
    for name, fill in fills.items():
        if hasattr(plain, name):
            found = getattr(model, name)
            assert len(found) == 3
            wanted = getattr(plain, name)
            mine = np.diff(found[at], axis=0) if len(wanted) == 1 < sum(at) else found[at]
            np.testing.assert_array_equal(mine, wanted)
            np.testing.assert_array_equal(np.delete(found, at, axis=0), fill)


@every_learner
def test_scores_of_a_class_without_weight_are_minus_infinity(learner: LearnerEntry) -> None:
    if not hasattr(learner.load(), "decision_function"):
        return
    model, plain, _ = both(learner, ["birch"])
    scores = model.decision_function(X)
    assert scores.shape == (N, 3)
    assert np.isneginf(scores[:, 1]).all()
    margin = scores[:, 2] - scores[:, 0]
    np.testing.assert_array_equal(margin, plain.decision_function(X))
    two = np.where(Y == "ash", "no", "yes")
    for alone, sign in (("no", -1), ("yes", 1)):
        weight = (two == alone).astype(int)
        model = quietly(learner.make().fit, X, two, sample_weight=weight)
        np.testing.assert_array_equal(model.decision_function(X), np.full(N, sign * np.inf))


@every_learner
def test_priors_weights_and_costs_are_given_for_all_classes(learner: LearnerEntry) -> None:
    cheap = [[0.0, 1.0, 9.0], [0.0, 0.0, 1.0], [0.0, 3.0, 0.0]]  # "ash" costs nothing to say
    given = {
        "priors": ([0.5, 0.1, 0.4], [0.2, 0.8]),
        "class_weight": ({"ash": 7.0, "elm": 2.0}, {"elm": 2.0}),
        "costs": (cheap, [[0.0, 1.0], [3.0, 0.0]]),
        "n_components": (2, 1),
    }
    kept = Y != "ash"
    make: Any = learner.make
    for name, (for_all, for_two) in given.items():
        if name in learner.options():
            model = make(**{name: for_all}).fit(X, Y, sample_weight=without(["ash"]))
            plain = make(**{name: for_two}).fit(X[kept], Y[kept])
            np.testing.assert_array_equal(model.predict(X), plain.predict(X))
            wrong = {"costs": [[1.0]], "n_components": 3}.get(name, {"oak": 1.0})
            with pytest.raises(ParameterError):
                make(**{name: wrong}).fit(X, Y, sample_weight=without(["ash"]))
    if "priors" in learner.options():
        with pytest.raises(ParameterError, match="above 0"):
            make(priors=[1, 0, 0]).fit(X, Y, sample_weight=without(["ash"]))


@every_learner
@first_or_two
def test_such_a_model_is_saved_shown_and_read(
    learner: LearnerEntry, gone: list[str], tmp_path: Path
) -> None:
    model, plain, _ = both(learner, gone)
    model.save(tmp_path / "m.sortal")
    again = sortal.load(tmp_path / "m.sortal")
    np.testing.assert_array_equal(again.classes_, CLASSES)
    np.testing.assert_array_equal(again.predict(X), plain.predict(X))
    assert str(gone[0]) in str(again.fit_report_)
    assert len(show(again).to_dict()) > 0
    if not learner.facts.keeps_rows:  # these name rows by their place in the table
        assert model.working().to_dict() == plain.working().to_dict()
    if len(gone) == 1:
        ours, theirs = model.explain(X[:4]), plain.explain(X[:4])
        assert [why.label for why in ours] == [why.label for why in theirs]


@every_probabilistic
def test_soft_voting_adds_up_models_that_lack_a_class(learner: LearnerEntry) -> None:
    voters = [("first", learner.make()), ("second", learner.make())]
    vote = VotingClassifier(voters, voting="soft").fit(X, Y, sample_weight=without(["birch"]))
    assert (vote.predict_proba(X)[:, 1] == 0).all()
    assert set(vote.predict(X)) == {"ash", "elm"}


@every_learner
def test_a_fold_may_lack_a_class(learner: LearnerEntry) -> None:
    y = np.where(np.arange(N) == 0, "oak", Y)
    with pytest.warns(UserWarning, match="least populated class"):
        scores = quietly(cross_val_score, learner.make(), X, y, cv=3)
    assert np.isfinite(scores).all()


# --- One class only ------------------------------------------------------------------------------


@every_learner
@pytest.mark.parametrize("n_rows", [1, N])
def test_one_class_is_a_constant_with_a_warning(
    learner: LearnerEntry, n_rows: int, tmp_path: Path
) -> None:
    with pytest.warns(OneClassWarning, match=r"1 class only \('ash'\)"):
        model = learner.make().fit(X[:n_rows], np.full(n_rows, "ash"))
    assert model.classes_.tolist() == ["ash"]
    assert set(model.predict(X)) == {"ash"}
    if learner.facts.probabilistic:
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((N, 1)))
    if hasattr(model, "decision_function"):
        assert np.isfinite(model.decision_function(X)).all()
    assert len(model.working()) > 0
    model.save(tmp_path / "m.sortal")
    assert set(sortal.load(tmp_path / "m.sortal").predict(X)) == {"ash"}
    if learner.name not in ("tree", "neighbors"):  # these say what one class looks like, too
        with pytest.raises(LabelError, match="explain needs at least two classes"):
            model.explain(X)
    else:
        assert model.explain(X[:1])[0].label == "ash"


@every_learner
def test_bootstraps_of_one_class_and_one_row_take_part(learner: LearnerEntry) -> None:
    options = {"n_neighbors": 1} if learner.name == "neighbors" else {}
    bag = BaggingClassifier(learner.make(**options), 12, max_samples=1, random_state=0)
    shares = quietly(bag.fit, X, Y).predict_proba(X)
    assert shares.shape == (N, 3)
    assert {tuple(one.predict(X).tolist()) for one in bag.estimators_} == {
        (label,) * N for label in range(3)
    }


# --- Rows in pieces ------------------------------------------------------------------------------


@every_learner
def test_a_class_that_is_declared_waits_for_its_rows(learner: LearnerEntry) -> None:
    if not hasattr(learner.load(), "partial_fit"):
        return
    options = {"solver": "landmarks"} if learner.name == "kernel" else {}
    kept = Y != "elm"
    told = learner.make(**options).partial_fit(X[kept], Y[kept], classes=CLASSES)
    weighted = learner.make(**options).partial_fit(X, Y, sample_weight=without(["elm"]))
    plain = learner.make(**options).partial_fit(X[kept], Y[kept])
    for model in (told, weighted):
        np.testing.assert_array_equal(model.classes_, CLASSES)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))
        model.partial_fit(X[~kept], Y[~kept])
        assert set(model.predict(X)) == set(CLASSES)
    plain.partial_fit(X[~kept], Y[~kept])
    np.testing.assert_array_equal(weighted.predict(X), plain.predict(X))


@every_learner
def test_a_class_without_weight_may_come_in_a_later_piece(learner: LearnerEntry) -> None:
    if not hasattr(learner.load(), "partial_fit"):
        return
    options = {"solver": "landmarks"} if learner.name == "kernel" else {}
    kept = Y != "elm"
    first, later = (
        np.flatnonzero(kept)[:18],
        np.r_[np.flatnonzero(kept)[18:], np.flatnonzero(~kept)],
    )
    model = learner.make(**options).partial_fit(X[first], Y[first])
    model.partial_fit(X[later], Y[later], sample_weight=without(["elm"])[later])
    plain = learner.make(**options).partial_fit(X[first], Y[first])
    plain.partial_fit(X[later[:6]], Y[later[:6]])
    np.testing.assert_array_equal(model.classes_, CLASSES)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    if learner.facts.probabilistic:
        same(model.predict_proba(X), plain.predict_proba(X), [0, 1], 0.0)


@pytest.mark.parametrize("name", ["lda", "fisher", "kernel"])
def test_a_class_all_of_whose_rows_are_dropped_is_one_without_weight(name: str) -> None:
    learner = next(learner for learner in learners() if learner.name == name)
    incomplete = X.copy()
    incomplete[Y == "birch", 1] = np.nan
    model = quietly(learner.make().fit, incomplete, Y)
    _, plain, _ = both(learner, ["birch"])
    np.testing.assert_array_equal(model.classes_, CLASSES)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
