"""Clients in scikit-learn itself: what it builds around an estimator."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import sklearn
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  (it must be imported)
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import export_graphviz, export_text, plot_tree

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    LinearDiscriminant,
    NeighborsClassifier,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
)

X, Y = load_iris(return_X_y=True, as_frame=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[Y]
XB, YB = load_breast_cancer(return_X_y=True, as_frame=True)
GOOD = 0.9  # all of these tables are easy


def pipeline() -> None:
    """Pipeline"""
    model = make_pipeline(StandardScaler(), LinearDiscriminant()).fit(X, WORDS)
    plain = LinearDiscriminant().fit(X, WORDS)
    assert (model.predict(X) == plain.predict(X)).all()


def column_transformer() -> None:
    """ColumnTransformer"""
    table = datasets.penguins()
    table = table[table["species"].notna()]
    numbers = [name for name in table if pd.api.types.is_float_dtype(table[name])]
    scaled = ColumnTransformer([("scaled", StandardScaler(), numbers)], remainder="passthrough")
    model = make_pipeline(scaled.set_output(transform="pandas"), TreeClassifier())
    rest = table.drop(columns="species")
    assert model.fit(rest, table["species"]).score(rest, table["species"]) > GOOD


def grid_search() -> None:
    """GridSearchCV"""
    found = GridSearchCV(TreeClassifier(), {"max_depth": [1, 3]}, cv=3).fit(X, WORDS)
    assert found.best_params_ == {"max_depth": 3}


def randomized_search() -> None:
    """RandomizedSearchCV, two processes"""
    tried = {"n_neighbors": [1, 5, 9]}
    search = RandomizedSearchCV(NeighborsClassifier(), tried, n_iter=2, cv=3, n_jobs=2)
    assert search.set_params(random_state=0).fit(X, WORDS).best_score_ > GOOD


def halving_search() -> None:
    """HalvingGridSearchCV"""
    tried = {"shrinkage": [None, 0.1, 0.5]}
    search = HalvingGridSearchCV(LinearDiscriminant(), tried, cv=3, random_state=0)
    assert search.fit(X, WORDS).best_score_ > GOOD


def cross_validation() -> None:
    """cross_validate, cross_val_predict"""
    scores = cross_validate(DiscreteBayes(), X, WORDS, scoring=["accuracy", "neg_log_loss"])
    assert scores["test_accuracy"].mean() > GOOD
    assert cross_val_predict(DiscreteBayes(), X, WORDS, method="predict_proba").shape == (150, 3)


def curves() -> None:
    """learning_curve, validation_curve"""
    _, _, test = learning_curve(
        LinearDiscriminant(), X, WORDS, train_sizes=[0.5, 1.0], shuffle=True
    )
    assert test[-1].mean() > GOOD
    _, test = validation_curve(
        TreeClassifier(), X, WORDS, param_name="max_depth", param_range=[1, 3]
    )
    assert test[1].mean() > test[0].mean()


def permutation_test() -> None:
    """permutation_test_score"""
    model, y = LinearDiscriminant(), WORDS
    _, _, p = permutation_test_score(model, X, y, n_permutations=19, random_state=0)
    assert p == 0.05


def calibration() -> None:
    """CalibratedClassifierCV, CalibrationDisplay"""
    model = CalibratedClassifierCV(DiscreteBayes(), cv=3).fit(XB, YB)
    assert model.score(XB, YB) > GOOD
    CalibrationDisplay.from_estimator(model, XB, YB)


def tuned_threshold() -> None:
    """TunedThresholdClassifierCV, FixedThresholdClassifier"""
    model = TunedThresholdClassifierCV(LinearDiscriminant(), scoring="f1", cv=3).fit(XB, YB)
    assert 0 < model.best_threshold_ < 1
    fixed = [FixedThresholdClassifier(LinearDiscriminant(), threshold=t) for t in (0.1, 0.9)]
    more, fewer = (model.fit(XB, YB).predict(XB).sum() for model in fixed)
    assert fewer < more


def voting() -> None:
    """VotingClassifier"""
    voters = [("tree", TreeClassifier()), ("bayes", DiscreteBayes())]
    assert VotingClassifier(voters, voting="soft").fit(X, WORDS).score(X, WORDS) > GOOD


def stacking() -> None:
    """StackingClassifier"""
    below = [("tree", TreeClassifier()), ("near", NeighborsClassifier())]
    model = StackingClassifier(below, final_estimator=LinearDiscriminant(), cv=3)
    assert model.fit(X, WORDS).score(X, WORDS) > GOOD


def bagging() -> None:
    """BaggingClassifier"""
    model = BaggingClassifier(TreeClassifier(), 5, random_state=0).fit(X, WORDS)
    assert model.score(X, WORDS) > GOOD


def boosting() -> None:
    """AdaBoostClassifier"""
    model = AdaBoostClassifier(TreeClassifier(max_depth=1, pruning=None), n_estimators=10)
    assert model.set_params(random_state=0).fit(X, WORDS).score(X, WORDS) > GOOD


def one_against_others() -> None:
    """OneVsRestClassifier, OneVsOneClassifier"""
    assert OneVsRestClassifier(QuadraticDiscriminant()).fit(X, WORDS).score(X, WORDS) > GOOD
    assert OneVsOneClassifier(FisherDiscriminant()).fit(X, WORDS).score(X, WORDS) > GOOD


def several_outputs() -> None:
    """MultiOutputClassifier, ClassifierChain"""
    both = np.column_stack([Y == 0, Y == 2]).astype(int)
    assert MultiOutputClassifier(TreeClassifier()).fit(X, both).score(X, both) > GOOD
    assert ClassifierChain(DiscreteBayes()).fit(X, both).predict(X).shape == both.shape


def self_training() -> None:
    """SelfTrainingClassifier"""
    known = np.where(np.arange(150) % 3 == 0, Y, -1)
    assert SelfTrainingClassifier(LinearDiscriminant()).fit(X, known).score(X, Y) > GOOD


def selection() -> None:
    """RFE, SequentialFeatureSelector"""
    assert RFE(LinearDiscriminant(), n_features_to_select=2).fit(X, WORDS).support_.sum() == 2
    chosen = SequentialFeatureSelector(DiscreteBayes(), n_features_to_select=1, cv=3)
    assert "petal" in chosen.fit(X, WORDS).get_feature_names_out()[0]


def set_output() -> None:
    """set_output and a global configuration, pandas and polars"""
    model = LinearDiscriminant().fit(X, WORDS)
    assert isinstance(model.set_output(transform="pandas").transform(X), pd.DataFrame)
    with sklearn.config_context(transform_output="polars"):
        frame: Any = LinearDiscriminant().fit(X, WORDS).transform(X)
    assert frame.columns == ["lineardiscriminant0", "lineardiscriminant1"]


def metadata_routing() -> None:
    """metadata routing of sample_weight and priors"""
    weights = np.where(Y == 0, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = DiscreteBayes().set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"alpha": [0.5]}, cv=3)
        routed = search.fit(X, WORDS, sample_weight=weights).best_estimator_
        asked = LinearDiscriminant().set_predict_request(priors=True)
        assert asked.get_metadata_routing().predict.requests == {"costs": None, "priors": True}
    assert (routed.predict_proba(X)[:, 0] == 0).all()


def importances() -> None:
    """permutation_importance"""
    model = QuadraticDiscriminant().fit(X, WORDS)
    found = permutation_importance(model, X, WORDS, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() >= 2  # a petal's


def dependence() -> None:
    """partial_dependence, PartialDependenceDisplay"""
    model = LinearDiscriminant().fit(XB, YB)
    found = partial_dependence(model, XB, ["mean radius"], grid_resolution=5)
    assert found["average"].shape == (1, 5)
    PartialDependenceDisplay.from_estimator(model, XB, [0], grid_resolution=5)


def boundary() -> None:
    """DecisionBoundaryDisplay"""
    model = QuadraticDiscriminant().fit(X.iloc[:, :2], Y)
    shown = DecisionBoundaryDisplay.from_estimator(model, X.iloc[:, :2], grid_resolution=20)
    assert shown.response.shape[:2] == (20, 20)


def displays() -> None:
    """ConfusionMatrixDisplay, RocCurveDisplay"""
    model = TreeClassifier().fit(XB, YB)
    assert ConfusionMatrixDisplay.from_estimator(model, XB, YB).confusion_matrix.sum() == len(YB)
    assert RocCurveDisplay.from_estimator(model, XB, YB).roc_auc > GOOD


def kept_by_pickle() -> None:
    """pickle, joblib, cloudpickle"""
    model = NeighborsClassifier().fit(X, WORDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.joblib"
        joblib.dump(model, path)
        kept: list[Any] = [joblib.load(path)]
    kept += [pickle.loads(pickle.dumps(model)), cloudpickle.loads(cloudpickle.dumps(model))]  # noqa: S301
    assert all((again.predict(X) == model.predict(X)).all() for again in kept)


def notebook() -> None:
    """the HTML of an estimator in a notebook"""
    assert "DiscreteBayes" in make_pipeline(StandardScaler(), DiscreteBayes())._repr_html_()


def tree_tools() -> None:
    """to_sklearn: plot_tree, export_text, export_graphviz"""
    model = TreeClassifier().fit(X, WORDS)
    tree = model.to_sklearn()
    assert export_text(tree).count("class:") == model.get_n_leaves()
    assert "petal" in export_graphviz(tree, feature_names=list(X))
    assert plot_tree(tree)
    plt.close("all")


CLIENTS = [
    pipeline, column_transformer, grid_search, randomized_search, halving_search, cross_validation,
    curves, permutation_test, calibration, tuned_threshold, voting, stacking, bagging, boosting,
    one_against_others, several_outputs, self_training, selection, set_output, metadata_routing,
    importances, dependence, boundary, displays, kept_by_pickle, notebook, tree_tools,
]  # fmt: skip
