"""What a tree cannot be grown by, pruned by, asked or read with."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ShuffleSplit
from tests.contract.refusals.table import Refusal

from sortal import TreeClassifier
from sortal.errors import (
    ColumnError,
    InputError,
    LabelError,
    MissingValueError,
    ParameterError,
    UnknownCategoryError,
    WeightError,
)
from sortal.trees.learn import Policy, Pruning
from sortal.trees.rows import multiples

N: Final = 60


@cache
def customers() -> tuple[pd.DataFrame, NDArray[Any]]:
    """Words and numbers without missing values, three classes."""
    rng = np.random.default_rng(0)
    k = np.arange(N) % 3
    X = pd.DataFrame(
        {
            "city": np.array(["Rome", "Oslo", "Lima"])[rng.integers(0, 3, N)],
            "visits": rng.integers(0, 9, N) + k,
            "spend": rng.normal(size=N) + k,
        }
    )
    return X, np.array(["ash", "birch", "elm"])[k]


@cache
def grown(missing: Policy = "direction") -> TreeClassifier:
    """Nobody changes it."""
    return TreeClassifier(missing=missing, pruning=None).fit(*customers())


@cache
def spoiled() -> pd.DataFrame:
    """12 cities and 10 amounts are missing."""
    X = customers()[0].copy()
    X.loc[::5, "city"] = None
    X.loc[::6, "spend"] = np.nan
    return X


def fit(weights: Any = None, **options: Any) -> Callable[[], object]:
    return lambda: TreeClassifier(**options).fit(*customers(), weights)


def prune(pruning: Any, **given: Any) -> Callable[[], object]:
    return lambda: grown().prune(pruning, **given)


def prune_by_rows(pruning: Pruning, **given: Any) -> Callable[[], object]:
    """By the rows of the fit."""
    return lambda: grown().prune(pruning, *customers(), **given)


def reads(read: Callable[[Any], object]) -> object:
    return read(grown())


def prune_by_others() -> object:
    """By the rows of the fit but the first."""
    X, y = customers()
    return grown().prune("cost_complexity", X[1:], y[1:])


def judge(change: Callable[[pd.DataFrame], Any], y: Any = None) -> Callable[[], object]:
    """By validation rows that are not as those of the fit."""

    def call() -> object:
        rows, labels = customers()
        return grown().prune("reduced_error", change(rows), labels if y is None else y)

    return call


OPTIONS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"criterion": "entropy"}, r"criterion='entropy'.*'gain', 'gain_ratio', 'gini', 'cart'"),
    ({"criterion": None}, "criterion=None"),
    ({"purity": 1.1}, "purity=1.1 .*from 0 to 1"),
    ({"purity": -0.1}, "purity=-0.1 .*from 0 to 1"),
    ({"purity": "1"}, "purity='1'"),
    ({"leaf_size": -1}, "leaf_size=-1 .*whole number of at least 0"),
    ({"leaf_size": 1.5}, "leaf_size=1.5"),
    ({"leaf_size": None}, r"leaf_size=None .*at least 0\.$"),
    ({"max_depth": -1}, "max_depth=-1 .*at least 0, or None for no bound"),
    ({"max_depth": True}, "max_depth=True"),
    ({"min_samples_leaf": 0}, "min_samples_leaf=0 .*at least 1, or a share"),
    ({"min_samples_leaf": 1.0}, "min_samples_leaf=1.0 .*between 0 and 1"),
    ({"min_samples_leaf": 0.0}, "min_samples_leaf=0.0"),
    ({"min_samples_leaf": float("nan")}, "min_samples_leaf=nan"),
    ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf=0.6 .*from 0 to 0.5"),
    ({"min_weight_fraction_leaf": -0.1}, "min_weight_fraction_leaf=-0.1"),
    ({"min_gain": -1e-9}, "min_gain=-1e-09 .*at least 0"),
    ({"min_gain": float("inf")}, "min_gain=inf"),
    ({"max_leaf_nodes": 0}, "max_leaf_nodes=0 .*at least 1, or None"),
    ({"max_subset": 0}, "max_subset=0 .*at least 1, or None"),
    ({"categorical_split": "binary"}, "categorical_split='binary'.*'subset', 'multiway'"),
    ({"categorical_split": None}, "categorical_split=None"),
    ({"categorical_split": {"city": "binary"}}, "categorical_split=.*'subset', 'multiway'"),
    ({"categorical_split": {"town": "subset"}}, "names 'town', which is no column.*'city'"),
    ({"categorical_split": {"visits": "subset"}}, "names 'visits', which holds numbers"),
    ({"criterion": "cart", "categorical_split": "multiway"}, "compares two sides"),
    ({"criterion": "cart", "categorical_split": {"city": "multiway"}}, "compares two sides"),
    ({"categorical_features": ["age"]}, "categorical_features names 'age'.*it has 'city'"),
    ({"missing": "skip"}, "missing='skip'.*'direction', 'branch', .*'fractional', 'error'"),
    ({"missing": True}, "missing=True"),
    ({"missing": "branch", "criterion": "cart"}, "compares two sides.*missing='direction'"),
    ({"unknown": "skip"}, "unknown='skip'.*'majority', 'error'"),
    ({"n_jobs": 0}, "n_jobs=0: give a whole number"),
    ({"costs": [[0, 1], [1, 0]]}, r"shape \(2, 2\).*give 3 × 3 numbers"),
    ({"costs": [0, 1, 2]}, r"shape \(3,\).*costs\[i, j\] being the cost"),
    ({"costs": -5 * (1 - np.eye(3))}, "least entry of -5.*at least 0"),
    ({"costs": np.full((3, 3), np.nan)}, "must hold finite numbers only"),
    ({"costs": np.zeros((3, 3))}, "nothing but zeros.*or None"),
    ({"costs": [[0, 0, 0], [1, 0, 1], [1, 1, 0]]}, "zeros for 'ash'.*sample_weight"),
    ({"costs": "high"}, "costs"),
    ({"priors": [0.5, 0.5]}, r"shape \(2,\), and there are 3 classes.*'elm'"),
    ({"priors": [0.5, 0.5, 0.5]}, "are no probabilities.*sum 1 .it is 1.5.. Divide"),
    ({"priors": [1.5, -0.25, -0.25]}, "each must be at least 0"),
    ({"priors": [10**400, 1, 1]}, "must hold finite numbers only"),
    ({"priors": {"oak": 1.0}}, "'oak'.*'ash', 'birch', 'elm'"),
    ({"priors": {"ash": 0.5, "elm": 0.5}}, "gives 'birch' the number 0.*weight 0"),
    ({"priors": [0.2, 0.3, 0.5], "class_weight": "balanced"}, "give one of them"),
    ({"class_weight": {"oak": 2}}, r"class_weight names \['oak'\]"),
    ({"class_weight": {"ash": 0.0}}, "class_weight gives 'ash' the number 0"),
    ({"class_weight": {"ash": 1e-300}}, "each weight must be 0 or from 1e-20"),
    ({"class_weight": "heavy"}, "it can be 'balanced'"),
    ({"class_weight": [1, 2]}, "'balanced' or a dict"),
    ({"smoothing": "more"}, "it can be 'laplace', 'm_estimate', 'shrinkage'"),
    ({"smoothing": None, "smoothing_strength": 1.0}, "nothing to act on where smoothing=None"),
    ({"smoothing": "laplace", "smoothing_strength": 2}, "smoothing_strength=2.*'laplace'"),
    ({"smoothing": "shrinkage", "smoothing_strength": -1.0}, "at least 0"),
    ({"smoothing": "m_estimate", "smoothing_strength": "2"}, "finite number"),
    ({"pruning": "prune"}, "pruning='prune' is not known.*'cost_complexity'"),
    ({"cp": "best"}, "cp='best'.*'one_se', 'min'"),
    ({"cp": -0.1}, "cp=-0.1.*at least 0"),
    ({"cp": np.nan}, "cp=nan"),
    ({"confidence": "none"}, "confidence='none'.*'auto'"),
    ({"confidence": 0}, "confidence=0"),
    ({"confidence": 1.5}, "confidence=1.5"),
    ({"join_leaves": "yes"}, "join_leaves='yes'"),
    ({"validation_fraction": 0.0}, "validation_fraction=0.0.*between"),
    ({"validation_fraction": 1.0}, "validation_fraction=1.0"),
    ({"random_state": 1.5}, "random_state=1.5"),
]  # fmt: skip
FOLDS: Final[list[tuple[str, Any, str]]] = [
    ("one", 1, "cv=1.*two folds"),
    ("more than rows", N + 1, "cv=61.*more folds than there are rows.*60"),
    ("none", None, "cv=None cannot be used"),
    ("half", 2.5, "cv=2.5 cannot be used"),
    ("a word", "many", "cv='many' cannot be used"),
    ("too few numbers", [0, 1], "2 fold numbers for 60 rows"),
    ("one number", np.zeros(N, int), "all rows into fold 0"),
    ("rows drawn twice", ShuffleSplit(3), "a row in two folds|never leaves out"),
]
READING: Final[list[tuple[str, Callable[[Any], object], str]]] = [
    ("by", lambda model: model.rules(by="leaves"), r"by='leaves'.*'leaf'.*'class'"),
    ("form", lambda model: model.rules(form="short"), r"form='short'.*'path'|'merged'"),
    ("form of classes", lambda model: model.rules(by="class", form=3), r"form=3"),
    ("depth", lambda model: model.to_text(max_depth=-1), r"max_depth=-1"),
    ("half a depth", lambda model: model.to_text(max_depth=1.5), r"max_depth=1\.5"),
    ("values", lambda model: model.to_text(max_values=-1), r"max_values=-1"),
    ("of rules", lambda model: model.rules().to_text(max_values=-2), r"max_values=-2"),
    ("of markdown", lambda model: model.rules().to_markdown(max_values=-2), r"max_values=-2"),
    ("of a frame", lambda model: model.rules().to_frame(max_values=-2), r"max_values=-2"),
    ("of classes", lambda model: model.rules(by="class").to_text(max_values=-2), r"max_values=-2"),
    ("of nodes", lambda model: model.to_frame(max_values=-2), r"max_values=-2"),
]
VERBS: Final = ("rules", "to_text", "to_frame", "get_depth", "get_n_leaves", "cost_complexity_path")
ASKED: Final = ("predict_log_proba", "apply", "decision_path", "explain")
WIDE: Final = (np.array([1.0, np.pi]), np.array([2**47, 2**46]), 2.0**45)


REFUSALS: Final = [
    *(Refusal(f"fit({given})", fit(**given), ParameterError, words) for given, words in OPTIONS),
    *(
        Refusal(f"folds: {what}", fit(pruning="cost_complexity", cv=cv), ParameterError, words)
        for what, cv, words in FOLDS
    ),
    *(
        Refusal(f"read: {what}", partial(reads, read), ParameterError, words)
        for what, read, words in READING
    ),
    *(
        Refusal(f"{verb} before fit", getattr(TreeClassifier(), verb), NotFittedError, "fit")
        for verb in VERBS
    ),
    *(
        Refusal(
            f"{verb} before fit",
            partial(getattr(TreeClassifier(), verb), [[1.0]]),
            NotFittedError,
            "fit",
        )
        for verb in ASKED
    ),
    Refusal(
        "missing values at fit",
        lambda: TreeClassifier(missing="error").fit(spoiled(), customers()[1]),
        MissingValueError,
        r"22 cells \('city' 12, 'spend' 10\) have no value.*Fill them, drop.*'direction'",
    ),
    Refusal(
        "missing values at predict",
        lambda: grown("error").predict(spoiled()),
        MissingValueError,
        r"22 cells \('city' 12, 'spend' 10\) have no value.*'direction'",
    ),
    Refusal(
        "missing values at explain",
        lambda: grown("error").explain(spoiled()),
        MissingValueError,
        r"\('city' 12, 'spend' 10\)",
    ),
    Refusal(
        "values never seen",
        lambda: (
            TreeClassifier(unknown="error", pruning=None)
            .fit(*customers())
            .predict(customers()[0].assign(city="Bonn"))
        ),
        UnknownCategoryError,
        rf"{N} cells .*unknown='majority'",
    ),
    Refusal(
        "numbers where dates were",
        lambda: (
            TreeClassifier(pruning=None)
            .fit(pd.DataFrame({"day": pd.date_range("2020-01-01", periods=4)}), [0, 0, 1, 1])
            .predict(pd.DataFrame({"day": [1.5]}))
        ),
        ColumnError,
        "'day' was fitted with dates, and now holds numbers",
    ),
    Refusal(
        "labels that are identifiers",
        lambda: TreeClassifier().fit(np.arange(65536)[:, None], np.arange(65536)),
        LabelError,
        "65536 classes, and a tree tells at most 65535 apart",
    ),
    *(
        Refusal(
            f"more copies than {criterion} counts exactly",
            fit([2**46] * N, criterion=criterion),
            WeightError,
            r"exactly up to 2\*\*46 copies.*divide the weights",
        )
        for criterion in ("gain", "gain_ratio")
    ),
    Refusal(
        "more copies than can be parted",
        lambda: TreeClassifier("gini", missing="fractional").fit(
            spoiled(), customers()[1], [2**50] * N
        ),
        WeightError,
        "copies of rows.*divide the weights",
    ),
    Refusal(
        "classes that leave no room for the sum", lambda: multiples(*WIDE), WeightError,
        "too many copies",
    ),
    Refusal(
        "costs of zeros at predict",
        lambda: grown().predict(customers()[0], costs=np.zeros((3, 3))),
        ParameterError,
        "nothing but zeros",
    ),
    Refusal(
        "priors beyond one at predict",
        lambda: grown().predict_proba(customers()[0], priors=[0.5, 0.5, 0.6]),
        ParameterError,
        "are no probabilities",
    ),
    Refusal("no pruning", prune(None), ParameterError, "pruning=None prunes nothing"),
    Refusal("an unknown pruning", prune("no"), ParameterError, "pruning='no' is not known"),
    *(
        Refusal(f"{pruning} by {name}", prune(pruning, **{name: value}), ParameterError, words)
        for pruning, name, value, words in (
            ("pessimistic", "cp", 0.1, "belongs to.*cost_complexity"),
            ("reduced_error", "cv", 5, "belongs to.*cost_complexity"),
            ("cost_complexity", "confidence", 0.1, "belongs.*pessimistic"),
            ("cost_complexity", "cp", -1.0, "cp=-1.0.*at least 0"),
            ("pessimistic", "confidence", 0.0, "confidence=0"),
        )
    ),
    Refusal("folds without rows", prune("cost_complexity"), InputError,
            "give X and y, the rows of the fit"),
    Refusal("errors without rows", prune("reduced_error"), InputError,
            "needs rows that the tree was not grown from"),
    Refusal("a path by folds without rows", lambda: grown().cost_complexity_path(cv=5),
            ParameterError,
            "cv=5 was given without rows"),
    Refusal("rows without labels",
            lambda: grown().prune("cost_complexity", customers()[0]), InputError,
            "without y"),
    Refusal("rows for a number", prune_by_rows("cost_complexity", cp=0.1), ParameterError,
            "reads no rows"),
    Refusal("a path that is chosen from without folds",
            lambda: grown().cost_complexity_path().choose("min"), TypeError, "not cross-validated"),
    Refusal("folds of other rows", prune_by_others, InputError, "not the rows"),
    *(
        Refusal(
            f"prune with weights: {what}",
            prune_by_rows("cost_complexity", sample_weight=np.asarray(weights)),
            error,
            words,
        )
        for what, weights, error, words in (
            ("one too few", np.ones(N - 1), WeightError, "sample_weight.*59.*60"),
            ("negative", -np.ones(N), WeightError, "sample_weight"),
            ("missing", np.full(N, np.nan), WeightError, "sample_weight"),
            ("not those of the fit", np.full(N, 2), InputError, "weights of the fit"),
        )
    ),
    Refusal("validation rows without weight",
            prune_by_rows("reduced_error", sample_weight=np.zeros(N)), WeightError,
            "sample_weight"),
    Refusal("validation rows that lack a column", judge(lambda rows: rows.drop(columns="city")),
            ColumnError, "with the columns 'city', which this table lacks"),
    Refusal("validation rows of another kind",
            judge(lambda rows: rows.assign(spend="much")),
            ColumnError,
            "'spend' was fitted with numbers"),
    Refusal("validation rows as a narrower array",
            lambda: TreeClassifier(pruning=None).fit(np.eye(3), [0, 1, 1]).prune(
                "reduced_error", np.eye(2), [0, 1]),
            InputError, "2 features.*expecting 3"),
    Refusal("validation labels never seen", judge(lambda rows: rows, np.full(N, "oak")),
            LabelError,
            "'oak'.*'ash', 'birch', 'elm'"),
    Refusal("fewer labels than validation rows", judge(lambda rows: rows, np.full(10, "ash")),
            LabelError, "60.*10|10.*60"),
    Refusal("missing values in validation rows",
            lambda: grown("error").prune("reduced_error", spoiled(), customers()[1]),
            MissingValueError, "missing='direction'"),
]  # fmt: skip
