"""Does every learner serve within scikit-learn's ensembles, and as well as its counterpart there?

Accuracy by repeated cross-validation on the same folds, of AdaBoost, bagging, stacking, voting and
calibration around each learner and around its counterpart in scikit-learn, where there is one that
takes part: some of them do not take weights, which AdaBoost gives. The bar: nothing fails, and not
more than three points below the counterpart.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from harness import Result, render
from sortal.tasks.registry import LearnerEntry, learners

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy"]
FOLDS, REPEATS = 5, 2
DEPTH = 3
TABLES: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
}
OPTIONS: dict[str, dict[str, Any]] = {"tree": {"max_depth": DEPTH}}
COUNTERPARTS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=DEPTH, random_state=SEED),
    "bayes": GaussianNB,
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
    "neighbors": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
}


def logistic() -> Any:
    """Who votes beside."""
    return make_pipeline(StandardScaler(), LogisticRegression())


def beside(one: Any) -> list[tuple[str, Any]]:
    """Three voters."""
    return [("one", one), ("logistic", logistic()), ("naive", GaussianNB())]


ENSEMBLES: dict[str, Callable[[Any], Any]] = {
    "AdaBoost, 20": lambda one: AdaBoostClassifier(one, n_estimators=20, random_state=SEED),
    "bagging, 10": lambda one: BaggingClassifier(one, n_estimators=10, random_state=SEED),
    "stacking": lambda one: StackingClassifier(beside(one), final_estimator=logistic(), cv=3),
    "voting": lambda one: VotingClassifier(beside(one)),
    "soft voting": lambda one: VotingClassifier(beside(one), voting="soft"),
    "calibration": lambda one: CalibratedClassifierCV(one, cv=3),
}


def accuracy(model: Any, X: Any, y: Any) -> float | str:
    """The mean over all folds; or what was raised."""
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=SEED)
    try:
        return float(cross_val_score(model, X, y, cv=folds, error_score="raise").mean())
    except Exception as error:  # noqa: BLE001  (whatever it is, it stands in the table)
        return f"{type(error).__name__}: {str(error)[:40]}"


def cell(learner: LearnerEntry, ensemble: Callable[[Any], Any], table: str) -> str:
    """Our accuracy and, in points, how far it is from the counterpart's."""
    X, y = TABLES[table](return_X_y=True)
    ours = accuracy(ensemble(learner.make(n_jobs=1, **OPTIONS.get(learner.name, {}))), X, y)
    if isinstance(ours, str):
        return ours
    peer = COUNTERPARTS.get(learner.name)
    theirs = "" if peer is None else accuracy(ensemble(peer()), X, y)
    if isinstance(theirs, str):  # there is none, or it does not take part
        return f"{ours:.3f}"
    points = f"{100 * (ours - theirs):+.1f}"
    return f"{ours:.3f} ({f'**{points}**' if ours < theirs - 0.03 else points})"


def results() -> list[Result]:
    """One row a learner and ensemble, one column a table."""
    lines = [f"| learner | ensemble | {' | '.join(TABLES)} |", "|---|---|" + "--:|" * len(TABLES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for learner in learners():
            for name, ensemble in ENSEMBLES.items():
                cells = [cell(learner, ensemble, table) for table in TABLES]
                lines.append(f"| {learner.title} | {name} | {' | '.join(cells)} |")
                print(lines[-1], file=sys.stderr, flush=True)
    question = f"Ensembles around every learner, {REPEATS} × {FOLDS} folds, seed {SEED}"
    bar = (
        "Bar: nothing fails but soft voting without probabilities, and not more than 3 points "
        "below scikit-learn's counterpart. Accuracy, and in brackets points above the counterpart's"
    )
    return [Result(question, {}, bar, os.getloadavg()[0], ["\n".join(lines)])]


if __name__ == "__main__":
    print(render(results(), PACKAGES))
