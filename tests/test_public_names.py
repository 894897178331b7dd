"""The public names, pinned: what is added or taken away is taken away or added here on purpose."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest

import sortal
from sortal import displays

PARAMETERS = {
    "DiscreteBayes": [
        "structure", "alpha", "numeric", "priors", "class_weight", "costs",
        "categorical_features", "missing", "unknown", "n_jobs",
    ],
    "FisherDiscriminant": [
        "within", "n_components", "threshold",
        "categorical_features", "missing", "unknown", "n_jobs",
    ],
    "IndicatorRegression": [
        "ridge", "class_weight", "categorical_features", "missing", "unknown", "n_jobs",
    ],
    "KernelDiscriminant": [
        "kernel", "gamma", "degree", "coef0", "scale", "ridge", "penalty", "rule", "n_components",
        "solver", "n_landmarks", "random_state", "priors", "class_weight", "costs",
        "categorical_features", "missing", "unknown", "progress", "n_jobs",
    ],
    "LinearDiscriminant": [
        "covariance", "shrinkage", "n_components", "priors", "class_weight", "costs",
        "categorical_features", "missing", "unknown", "n_jobs",
    ],
    "NeighborsClassifier": [
        "n_neighbors", "metric", "p", "scale", "weights", "priors", "class_weight", "costs",
        "categorical_features", "missing", "unknown", "n_jobs",
    ],
    "QuadraticDiscriminant": [
        "covariance", "pooling", "shrinkage", "priors", "class_weight", "costs",
        "categorical_features", "missing", "unknown", "n_jobs",
    ],
    "TreeClassifier": [
        "criterion", "purity", "leaf_size", "max_depth", "min_samples_leaf",
        "min_weight_fraction_leaf", "min_gain", "max_leaf_nodes", "categorical_split",
        "max_subset", "pruning", "strength", "cv", "validation", "confidence", "raising",
        "join_leaves", "progress", "random_state", "priors", "class_weight", "costs", "smoothing",
        "smoothing_strength", "categorical_features", "missing", "unknown", "n_jobs",
    ],
}  # fmt: skip
COMMON = {
    "fit", "partial_fit", "forget", "predict", "decision_function", "explain", "working", "score",
    "from_moments", "terms_", "means_", "condition_",
}  # fmt: skip
METHODS = {
    "DiscreteBayes": {
        "fit", "partial_fit", "forget", "predict", "predict_proba", "predict_log_proba",
        "loo_proba", "explain", "working", "score", "coef_", "intercept_", "to_sklearn",
    },
    "FisherDiscriminant": {
        *COMMON, "transform", "fit_transform", "get_feature_names_out", "judge", "directions_",
        "eigenvalues_", "between_", "within_", "class_scatters_", "projected_means_",
        "projected_scatters_", "threshold_", "coef_", "intercept_",
    },
    "IndicatorRegression": {*COMMON, "boundary", "coef_", "intercept_"},
    "KernelDiscriminant": {
        "fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function",
        "transform", "fit_transform", "get_feature_names_out", "loo_proba", "explain", "working",
        "score", "save", "terms_", "kernel_", "gamma_", "ridge_", "mu_", "solver_", "n_landmarks_",
        "basis_ids_", "dual_coef_", "eigenvalues_", "projected_means_", "projected_scatters_",
        "condition_", "priors_", "loo_curve_", "size_",
    },
    "LinearDiscriminant": {
        *COMMON, "predict_proba", "predict_log_proba", "transform", "fit_transform",
        "get_feature_names_out", "boundary", "coef_", "intercept_", "priors_", "covariance_",
        "shrinkage_", "scalings_", "explained_variance_ratio_", "xbar_", "check_assumptions",
        "to_sklearn",
    },
    "NeighborsClassifier": {
        "fit", "partial_fit", "forget", "predict", "predict_proba", "predict_log_proba",
        "loo_proba", "kneighbors", "score", "metric_", "n_neighbors_", "weights_", "scale_",
        "ids_", "loo_curve_", "search_",
    },
    "QuadraticDiscriminant": {
        *COMMON, "predict_proba", "predict_log_proba", "boundary", "priors_", "covariances_",
        "ranks_", "pooling_", "shrinkage_", "to_sklearn",
    },
    "TreeClassifier": {
        "fit", "predict", "predict_proba", "predict_log_proba", "apply", "decision_path",
        "feature_importances_", "get_depth", "get_n_leaves", "to_frame", "score", "explain",
        "rules", "to_drawing", "to_html", "to_sklearn", "to_svg", "to_text", "working", "prune",
        "complexity",
    },
}  # fmt: skip


def test_the_names_of_the_package() -> None:
    assert sorted(sortal.__all__) == [
        *("DiscreteBayes", "FisherDiscriminant", "IndicatorRegression", "KernelDiscriminant"),
        *("LinearDiscriminant", "NeighborsClassifier", "QuadraticDiscriminant", "TreeClassifier"),
        *("__version__", "compare", "datasets", "displays", "errors", "from_sklearn", "inspect"),
        *("load", "read", "report", "score_partition", "work"),
    ]
    assert dir(sortal) == sorted(sortal.__all__)
    assert all(hasattr(sortal, name) for name in sortal.__all__)
    modules = {name for name in sortal.__all__ if inspect.ismodule(getattr(sortal, name))}
    assert modules == {"datasets", "displays", "errors"}


def test_the_names_of_the_displays() -> None:
    assert sorted(displays.__all__) == [
        *("CanonicalDisplay", "ComparisonDisplay", "ComplexityDisplay", "ConfusionDisplay"),
        *("DecisionsDisplay", "DensitiesDisplay", "DirectionsDisplay", "EvidenceDisplay"),
        *("FeatureSpaceDisplay", "FrequenciesDisplay", "ImportancesDisplay"),
        *("KernelContoursDisplay", "KernelProjectionDisplay", "LooCurveDisplay"),
        *("NeighborsDisplay", "PartitionDisplay", "ProjectionDisplay"),
        *("RegionsDisplay", "ReliabilityDisplay", "RocDisplay", "ScoresDisplay", "TreeDisplay"),
    ]
    assert all(hasattr(displays, name) for name in displays.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tree'"):
        _ = sortal.Tree


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_parameters_of_an_estimator(name: str) -> None:
    assert list(inspect.signature(getattr(sortal, name)).parameters) == PARAMETERS[name]


@pytest.mark.parametrize("name", METHODS)
def test_the_methods_of_an_estimator(name: str) -> None:
    estimator = getattr(sortal, name)
    assert {n for n in METHODS[name] if n not in dir(estimator)} == set()
    own = {n for n in vars(estimator) if not n.startswith("_") and not n.startswith("set_")}
    assert own <= METHODS[name]


def test_the_version_is_that_of_the_metadata() -> None:
    assert sortal.__version__ == version("sortal")


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("numpy", "sklearn", "pandas", "matplotlib")
    script = f"import sys, sortal; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
