"""Clients in packages of other people, each imported where it is used."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sortal import (
    DiscreteBayes,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
)

if TYPE_CHECKING:
    import pandas as pd

X, Y = load_iris(return_X_y=True, as_frame=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[Y]
XB, YB = load_breast_cancer(return_X_y=True, as_frame=True)
X32 = X.astype(np.float32).astype(np.float64)  # trees of scikit-learn see float32
GOOD = 0.9
TREE = "sklearn.tree._tree.Tree"  # which skops does not trust, whoever made it


def penguins() -> tuple[pd.DataFrame, pd.Series[str]]:
    """A mixed table with missing values."""
    table = datasets.penguins()
    table = table[table["species"].notna()]
    return table.drop(columns="species"), table["species"]


def skops_trusted() -> None:
    """skops.io, its types trusted by name"""
    from skops.io import dumps, get_untrusted_types, loads

    model = TreeClassifier().fit(X, WORDS)
    kept = dumps(model)
    types = get_untrusted_types(data=kept)
    assert all(name.startswith(("sortal.", "numpy.")) for name in types)
    assert (loads(kept, trusted=types).predict(X) == model.predict(X)).all()


def skops_untrusted() -> None:
    """to_sklearn: skops.io, no type to trust but scikit-learn's own Tree"""
    from skops.io import dumps, get_untrusted_types, loads

    for model in (TreeClassifier(), LinearDiscriminant(), QuadraticDiscriminant(), DiscreteBayes()):
        kept = dumps(model.fit(X32, WORDS).to_sklearn())
        types = get_untrusted_types(data=kept)
        assert set(types) <= {TREE}
        assert (loads(kept, trusted=types).predict(X32) == model.predict(X32)).all()


def mlflow_pickled() -> None:
    """mlflow: log_model of sortal's own estimator, as cloudpickle"""
    _logged(DiscreteBayes().fit(X, WORDS), serialization_format="cloudpickle")


def mlflow_default() -> None:
    """to_sklearn: mlflow's log_model by default"""
    _logged(LinearDiscriminant().fit(X, WORDS).to_sklearn())


def mlflow_tree() -> None:
    """to_sklearn: mlflow's log_model of a tree, scikit-learn's own Tree trusted by name"""
    _logged(TreeClassifier().fit(X32, WORDS).to_sklearn(), skops_trusted_types=[TREE])


def _logged(model: Any, **options: Any) -> None:
    import mlflow

    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
        mlflow.set_experiment("iris")
        with mlflow.start_run():
            info = mlflow.sklearn.log_model(
                model, name="model", pip_requirements=["scikit-learn"], **options
            )
        again = mlflow.sklearn.load_model(info.model_uri)
        assert (again.predict(X) == model.predict(X)).all()


def shap_of_probabilities() -> None:
    """shap.Explainer of predict_proba"""
    import shap

    model = QuadraticDiscriminant().fit(X.to_numpy(), WORDS)
    found = shap.Explainer(model.predict_proba, X.to_numpy())(X.to_numpy()[:5])
    whole = found.values.sum(axis=1) + found.base_values
    assert np.allclose(whole, model.predict_proba(X.to_numpy()[:5]), atol=1e-6)


def shap_tree() -> None:
    """to_sklearn: shap.TreeExplainer, shap.Explainer(tree)"""
    import shap

    model = TreeClassifier().fit(X32.to_numpy(), WORDS)
    tree = model.to_sklearn()
    found = shap.TreeExplainer(tree)(X32.to_numpy()[:5])
    whole = found.values.sum(axis=1) + found.base_values
    assert np.allclose(whole, model.predict_proba(X32.to_numpy()[:5]), atol=1e-6)
    assert shap.Explainer(tree)(X32.to_numpy()[:5]).values.shape == (5, 4, 3)


def shap_linear() -> None:
    """shap.LinearExplainer of LDA; to_sklearn: shap.Explainer of LDA"""
    import shap

    model, rows = LinearDiscriminant().fit(XB.to_numpy(), YB), XB.to_numpy()
    for explainer in (shap.LinearExplainer(model, rows), shap.Explainer(model.to_sklearn(), rows)):
        found = explainer(rows[:5])
        whole = found.values.sum(axis=1) + found.base_values
        assert np.allclose(whole, model.decision_function(rows[:5]), atol=1e-6)


def dtreeviz_tree() -> None:
    """to_sklearn: dtreeviz"""
    from dtreeviz import model as as_shadow

    tree = TreeClassifier().fit(X32, Y).to_sklearn()
    seen = as_shadow(
        tree, X_train=X32, y_train=Y, feature_names=list(X), class_names=["a", "b", "c"]
    )
    assert "petal" in seen.explain_prediction_path(X32.to_numpy()[60])


def lime_rows() -> None:
    """lime"""
    from lime.lime_tabular import LimeTabularExplainer

    model = LinearDiscriminant().fit(X.to_numpy(), Y)
    explainer = LimeTabularExplainer(X.to_numpy(), feature_names=list(X), random_state=0)
    assert len(explainer.explain_instance(X.to_numpy()[60], model.predict_proba).as_list()) == 4


def skrub_table() -> None:
    """skrub: TableVectorizer, tabular_pipeline"""
    from skrub import TableVectorizer, tabular_pipeline

    table, species = penguins()
    model = make_pipeline(TableVectorizer(), LinearDiscriminant())
    assert cross_val_score(model, table, species, cv=3).mean() > GOOD
    assert tabular_pipeline(TreeClassifier()).fit(table, species).score(table, species) > GOOD


def skore_reports() -> None:
    """skore: EstimatorReport, CrossValidationReport"""
    from skore import CrossValidationReport, EstimatorReport

    report = EstimatorReport(
        DiscreteBayes(), X_train=X[::2], y_train=WORDS[::2], X_test=X[1::2], y_test=WORDS[1::2]
    )
    assert report.metrics.accuracy() > GOOD
    whole = CrossValidationReport(LinearDiscriminant(), X, WORDS, splitter=3)
    assert whole.metrics.accuracy().to_numpy()[0, 0] > GOOD


def imbalanced() -> None:
    """imbalanced-learn: a pipeline with a sampler"""
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline as with_sampler

    rare = np.flatnonzero((Y == 0) | (np.arange(150) % 5 == 0))
    model = with_sampler(SMOTE(random_state=0), LinearDiscriminant())
    assert model.fit(X.iloc[rare], WORDS[rare]).score(X, WORDS) > GOOD
    bag = BalancedBaggingClassifier(TreeClassifier(), n_estimators=3, random_state=0)
    assert bag.fit(X, WORDS).score(X, WORDS) > GOOD


def mapie_sets() -> None:
    """MAPIE: conformal prediction sets"""
    from mapie.classification import SplitConformalClassifier

    model = LinearDiscriminant().fit(X.to_numpy()[::2], Y[::2])
    sets = SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
    _, covered = sets.conformalize(X.to_numpy()[1::2], Y[1::2]).predict_set(X.to_numpy())
    assert covered[np.arange(150), Y, 0].mean() > 0.85


def fairlearn_groups() -> None:
    """fairlearn: MetricFrame, ThresholdOptimizer"""
    from fairlearn.metrics import MetricFrame
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.metrics import accuracy_score

    group = np.where(XB["mean texture"] > 18, "rough", "smooth")
    model = LinearDiscriminant().fit(XB, YB)
    seen = MetricFrame(
        metrics=accuracy_score, y_true=YB, y_pred=model.predict(XB), sensitive_features=group
    )
    assert (seen.by_group > GOOD).all()
    fair = ThresholdOptimizer(estimator=model, prefit=True, predict_method="predict_proba")
    fair.fit(XB, YB, sensitive_features=group)
    assert fair.predict(XB, sensitive_features=group, random_state=0).shape == YB.shape


def mlxtend_tools() -> None:
    """mlxtend: plot_decision_regions, ExhaustiveFeatureSelector"""
    from mlxtend.feature_selection import ExhaustiveFeatureSelector
    from mlxtend.plotting import plot_decision_regions

    model = QuadraticDiscriminant().fit(X.to_numpy()[:, 2:], Y)
    assert plot_decision_regions(X.to_numpy()[:, 2:], Y.to_numpy(), model) is not None
    plt.close("all")
    found = ExhaustiveFeatureSelector(DiscreteBayes(), max_features=1, print_progress=False, cv=3)
    assert found.fit(X.to_numpy(), WORDS).best_idx_[0] >= 2


def encoders() -> None:
    """category_encoders, feature_engine in a pipeline"""
    from category_encoders import OrdinalEncoder
    from feature_engine.imputation import MeanMedianImputer

    table, species = penguins()
    model = make_pipeline(OrdinalEncoder(), MeanMedianImputer(), LinearDiscriminant())
    numbers = table.select_dtypes("number")
    assert model.fit(numbers, species).score(numbers, species) > GOOD


def optuna_search() -> None:
    """optuna"""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(
        lambda trial: cross_val_score(
            TreeClassifier(max_depth=trial.suggest_int("max_depth", 1, 4)), X, WORDS, cv=3
        ).mean(),
        n_trials=4,
    )
    assert study.best_value > GOOD


CLIENTS = [
    skops_trusted, skops_untrusted, mlflow_pickled, mlflow_default, mlflow_tree,
    shap_of_probabilities, shap_tree, shap_linear, dtreeviz_tree, lime_rows, skrub_table,
    skore_reports, imbalanced, mapie_sets, fairlearn_groups, mlxtend_tools, encoders, optuna_search,
]  # fmt: skip
