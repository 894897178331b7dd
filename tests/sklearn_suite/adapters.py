"""sortal's classifiers behind scikit-learn's constructors, so that its own tests can run on them.

An adapter takes scikit-learn's parameters, fits one of sortal's models with what they mean there,
and gives its attributes. What a parameter means that sortal does not have is left unsaid here: such
tests fail, and are listed in `differences.py` with the reason.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.neighbors._base import KNeighborsMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from sortal import (
    DiscreteBayes,
    LinearDiscriminant,
    NeighborsClassifier,
    QuadraticDiscriminant,
    TreeClassifier,
)
from sortal.tasks.registry import learners

# The classes of adapters that were fitted since this was last cleared.
USED: set[str] = set()


class Adapter(ClassifierMixin, BaseEstimator):
    """A model of sortal with the parameters of another class."""

    def ours(self, n_rows: int) -> Any:
        """A model of sortal, not fitted, with what the parameters mean for so many rows."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        return self.ours(0).__sklearn_tags__()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit a model of sortal."""
        USED.add(type(self).__name__)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.model_ = self.ours(_num_samples(X)).fit(X, y, **weights)
        return self

    def predict(self, X: Any) -> Any:
        """As sortal predicts."""
        check_is_fitted(self)
        return self.model_.predict(X)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.__dict__["model_"], name)


def _asks(name: str) -> Any:
    """A method that needs a fit, and says so as scikit-learn's do."""

    def ask(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.model_, name)(X)

    ask.__name__ = name
    return ask


class LinearDiscriminantAnalysis(TransformerMixin, Adapter):
    """LinearDiscriminant; the divisor is N, as in scikit-learn from 1.9.1 on."""

    predict_proba = _asks("predict_proba")
    predict_log_proba = _asks("predict_log_proba")
    decision_function = _asks("decision_function")
    transform = _asks("transform")

    def __init__(
        self,
        solver: Any = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: Any = None,
        store_covariance: Any = False,
        tol: Any = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def ours(self, n_rows: int) -> Any:
        """With Ledoit and Wolf's shrinkage for "auto"."""
        shrinkage: Any = "ledoit_wolf" if self.shrinkage == "auto" else self.shrinkage
        return LinearDiscriminant("mle", shrinkage, self.n_components, priors=self.priors)

    def get_feature_names_out(self, names: Any = None) -> Any:
        """The names of the coordinates, by the class whose place is taken."""
        del names
        kept = self.model_._n_features_out
        return np.array([f"{type(self).__name__.lower()}{j}" for j in range(kept)], dtype=object)


class QuadraticDiscriminantAnalysis(Adapter):
    """QuadraticDiscriminant."""

    predict_proba = _asks("predict_proba")
    predict_log_proba = _asks("predict_log_proba")
    decision_function = _asks("decision_function")

    def __init__(
        self,
        *,
        solver: Any = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: Any = 0.0,
        store_covariance: Any = False,
        tol: Any = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def ours(self, n_rows: int) -> Any:
        """Each class with its own covariance, of divisor N."""
        return QuadraticDiscriminant("mle", shrinkage=self.shrinkage, priors=self.priors)


class GaussianNB(Adapter):
    """DiscreteBayes of numbers."""

    predict_proba = _asks("predict_proba")
    predict_log_proba = _asks("predict_log_proba")

    def __init__(self, *, priors: Any = None, var_smoothing: Any = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def ours(self, n_rows: int) -> Any:
        """A normal density per class and column."""
        return DiscreteBayes(priors=self.priors)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Add rows."""
        USED.add(type(self).__name__)
        if "model_" not in self.__dict__:
            self.model_ = self.ours(_num_samples(X))
        self.model_.partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return self

    @property
    def theta_(self) -> Any:
        """Class means, a row per class."""
        return self.model_._model.mean.T

    @property
    def var_(self) -> Any:
        """Variances, a row per class."""
        return self.model_._model.variance.T

    @property
    def class_prior_(self) -> Any:
        """Priors."""
        return self.model_._model.prior


class CategoricalNB(Adapter):
    """DiscreteBayes of categories."""

    predict_proba = _asks("predict_proba")
    predict_log_proba = _asks("predict_log_proba")

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: Any = True,
        fit_prior: Any = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def ours(self, n_rows: int) -> Any:
        """All columns are categories."""
        even = "balanced" if not self.fit_prior and self.class_prior is None else None
        return DiscreteBayes(
            alpha=self.alpha,
            priors=self.class_prior,
            class_weight=even,
            categorical_features="all",
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Add rows."""
        USED.add(type(self).__name__)
        if "model_" not in self.__dict__:
            self.model_ = self.ours(_num_samples(X))
        self.model_.partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return self

    @property
    def class_log_prior_(self) -> Any:
        """Logarithms of the priors."""
        return np.log(self.model_._model.prior)


_METRICS = {
    "chebyshev": ("minkowski", np.inf),
    "cityblock": ("manhattan", 1),
    "l1": ("manhattan", 1),
    "l2": ("euclidean", 2),
    "nan_euclidean": ("euclidean", 2),
}


class KNeighborsClassifier(Adapter, KNeighborsMixin):
    """NeighborsClassifier, its columns not scaled; graphs are made of what it finds."""

    predict_proba = _asks("predict_proba")

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        weights: Any = "uniform",
        algorithm: Any = "auto",
        leaf_size: Any = 30,
        p: Any = 2,
        metric: Any = "minkowski",
        metric_params: Any = None,
        n_jobs: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def ours(self, n_rows: int) -> Any:
        """Distances of the numbers as they are."""
        metric, p = _METRICS.get(self.metric, (self.metric, self.p))
        return NeighborsClassifier(
            self.n_neighbors,
            metric=metric,
            p=p,
            scale=None,
            weights=self.weights or "uniform",
            n_jobs=self.n_jobs,
        )

    @property
    def n_samples_fit_(self) -> int:
        """How many rows are kept."""
        return len(self.model_.ids_)

    def kneighbors(
        self, X: Any = None, n_neighbors: Any = None, return_distance: bool = True
    ) -> Any:
        """Distances and ids of the nearest rows."""
        check_is_fitted(self)
        found = self.model_.kneighbors(X, n_neighbors=n_neighbors)
        return found if return_distance else found[1]


_CRITERIA = {"gini": "gini", "entropy": "gain", "log_loss": "gain"}


class DecisionTreeClassifier(Adapter):
    """TreeClassifier, neither pruned nor smoothed; its nodes as scikit-learn keeps them."""

    predict_proba = _asks("predict_proba")
    predict_log_proba = _asks("predict_log_proba")
    decision_path = _asks("decision_path")
    apply = _asks("apply")

    def __init__(
        self,
        *,
        criterion: Any = "gini",
        splitter: Any = "best",
        max_depth: Any = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: Any = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: Any = None,
        min_impurity_decrease: Any = 0.0,
        class_weight: Any = None,
        ccp_alpha: Any = 0.0,
        monotonic_cst: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst

    def ours(self, n_rows: int) -> Any:
        """A node of fewer rows than `min_samples_split`, a number or a fraction, is a leaf."""
        least = self.min_samples_split
        if isinstance(least, float):
            least = max(2, math.ceil(least * n_rows))
        return TreeClassifier(
            _CRITERIA.get(self.criterion, self.criterion),
            leaf_size=least - 1,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_leaf_nodes=self.max_leaf_nodes,
            class_weight=self.class_weight,
            pruning=None,
            smoothing=None,
        )

    @property
    def tree_(self) -> Any:
        """The nodes, as `to_sklearn` gives them."""
        return self.model_.to_sklearn().tree_

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        return len(self.model_.classes_)


def our_estimators(type_filter: str | None = None) -> Any:
    """Every learner of sortal, in place of every estimator of scikit-learn."""
    for learner in learners():
        model = learner.make()
        if type_filter != "transformer" or hasattr(model, "transform"):
            yield model


# Which attribute of which module is put in place of which.
IN_PLACE: dict[str, dict[str, Any]] = {
    "sklearn.discriminant_analysis": {
        "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis,
        "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis,
    },
    "sklearn.naive_bayes": {"GaussianNB": GaussianNB, "CategoricalNB": CategoricalNB},
    "sklearn.neighbors": {"KNeighborsClassifier": KNeighborsClassifier},
    "sklearn.tree": {"DecisionTreeClassifier": DecisionTreeClassifier},
    "sklearn.utils._test_common.instance_generator": {"_tested_estimators": our_estimators},
}
