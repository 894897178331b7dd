"""What tasks refuse: comparisons, reports, single jobs, and trees from and to scikit-learn."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from tests.contract.refusals.table import Refusal

import sortal
from sortal import datasets, native
from sortal.errors import (
    ColumnError,
    InputError,
    InputTypeError,
    LabelError,
    ParameterError,
    WeightError,
)
from sortal.tasks import registry
from sortal.tasks.baselines import find_baseline
from sortal.tasks.compare.fold_run import plan_folds
from sortal.tasks.fit import fit
from sortal.tasks.inspection import inspect
from sortal.tasks.predict import explain, predict, working
from sortal.tasks.report.gather import join_rare
from sortal.tasks.report.report import report_format
from sortal.tasks.tables import open_table

Cases = list[tuple[str, dict[str, Any], type[Exception], str]]
FRAME: Final = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "a", "b"]})
FACTS: Final = registry.LearnerFacts(probabilistic=False, reads="Not at all.")
CONVERTED: Final = {
    "tree": sortal.TreeClassifier,
    "lda": sortal.LinearDiscriminant,
    "qda": sortal.QuadraticDiscriminant,
    "bayes": sortal.DiscreteBayes,
}


class Toy:
    """An estimator of one option."""

    def __init__(self, color: str = "red") -> None:
        self.color = color


@cache
def penguins() -> Any:
    return datasets.penguins()


@cache
def iris() -> Any:
    return datasets.iris()


@cache
def flowers() -> tuple[Any, Any]:
    return iris().drop(columns="species"), iris()["species"]


@cache
def fitted(learner: str) -> Any:
    return fit(iris(), "species", learner)


def compare(**given: Any) -> Any:
    return sortal.compare(**{"data": penguins(), "target": "species"} | given)


def report(**given: Any) -> Any:
    return sortal.report(**{"data": penguins(), "target": "species"} | given)


def registered(**given: Any) -> Any:
    entry: dict[str, Any] = {"name": "toy", "estimator": Toy, "title": "", "facts": FACTS}
    return registry.register(registry.LearnerEntry(**entry | given))


def taken_in(make: str, y: Any = (0, 1, 0, 1, 1, 0), weight: Any = None, **changed: Any) -> Any:
    """A fitted tree of scikit-learn with something odd about it."""
    from sklearn import tree

    model = getattr(tree, make)().fit(np.arange(12.0).reshape(6, 2), y, sample_weight=weight)
    for name, value in changed.items():
        setattr(model, name, value)
    return sortal.from_sklearn(model)


def not_taken_in(module: str, make: str) -> Any:
    from importlib import import_module

    return sortal.from_sklearn(getattr(import_module(module), make)())


def pipeline_taken_in() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return sortal.from_sklearn(make_pipeline(StandardScaler()))


def given_away(learner: str, rows: str = "plain", **given: Any) -> Any:
    """A model of flowers as an estimator of scikit-learn; `rows` says what is odd about them."""
    X, y = flowers()
    weight = None
    if rows == "words":
        X = X.assign(place=np.where(np.arange(len(X)) % 7 < 3, "north", "south"))
    elif rows == "missing values":
        X = X.where(np.arange(len(X))[:, None] % 5 > [-1, -1, 0, 0])
    elif rows == "a difference":
        X = X.assign(e=X.iloc[:, 0] - X.iloc[:, 1])
    elif rows == "far from 0":
        X = X.to_numpy() + 1e9
    elif rows == "one class":
        X, y = X[:50], y[:50]
    elif rows == "no weight":
        weight = (y != "setosa") * 1.0
    return CONVERTED[learner](**given).fit(X, y, sample_weight=weight).to_sklearn()


def unfitted(learner: str) -> Any:
    return CONVERTED[learner]().to_sklearn()


def explained(row: Any) -> Any:
    return explain(fitted("lda"), iris(), [row])


def shares_of(learner: str) -> Any:
    return predict(fitted(learner), iris(), proba=True)


def weighed(learner: str, weights: Any = None, **given: Any) -> Any:
    X, y = flowers()
    model: Any = registry.find(learner).make(**given)
    return model.fit(X, y, sample_weight=weights)


def sizeless() -> Any:
    X, y = flowers()
    return sortal.LinearDiscriminant().partial_fit(X[::100] * 0.0, y[::100]).n_parameters_


COSTS: Final = [[0, 1, 2], [3, 0, 1], [1, 1, 0]]
MEASURED: Final = FRAME.assign(y=[0.5, 1.5, 2.5, 3.5])
SCORE: Final = sortal.score_split
ONE_CLASS: Final = "to_sklearn needs at least two classes"
BOUNDS: Final = r"each weight must be 0 or from 1e-20 to 1e\+20"

COMPARING: Final[Cases] = [
    ("a target that is no column", {"target": "kind"}, ColumnError, "'kind' is no column"),
    ("to drop what is no column", {"drop": ["colour"]}, ColumnError, "'colour' is no column"),
    ("no such learner", {"learners": ["forest"]}, ParameterError, "no learner 'forest'"),
    ("no such baseline", {"baselines": ["forest"]}, ParameterError, "no baseline 'forest'"),
    ("no model", {"learners": [], "baselines": False}, ParameterError, "no model to compare"),
    ("a model twice", {"learners": ["lda", "lda"]}, ParameterError, "more than once"),
    ("no such metric", {"metric": "f1"}, ParameterError, "metric='f1' is not known"),
    ("no time", {"budget": 0}, ParameterError, "budget=0 cannot"),
    ("a level above 1", {"confidence_level": 1.5}, ParameterError, "confidence_level=1.5 cannot"),
    ("one fold", {"folds": 1}, ParameterError, "folds=1 cannot"),
    ("no seed", {"random_state": None}, ParameterError, "random_state=None"),
    ("no worker", {"n_jobs": 0}, ParameterError, "n_jobs"),
    (
        "classes of one row",
        {"data": FRAME[2:], "target": "y"},
        LabelError,
        "Fewer than two classes have more than one row.*--merge-rare",
    ),
    ("one class", {"data": FRAME[:3], "target": "y"}, LabelError, "1 class only"),
    ("costs of nothing", {"metric": "cost"}, ParameterError, r"needs costs \(--cost\)"),
    (
        "costs beside those of the metric",
        {"metric": "balanced_accuracy", "costs": {("Adelie", "Gentoo"): 10}},
        ParameterError,
        "has costs of its own, 1 / π for each class: leave out costs",
    ),
    ("costs of no class", {"costs": {("Emu", "Gentoo"): 1}}, ParameterError, "costs names 'Emu'"),
    ("classes of 0 rows", {"min_class_rows": 0}, ParameterError, "min_class_rows=0 cannot"),
    (
        "groups and time",
        {"groups": "island", "time": "year"},
        ParameterError,
        "groups and time were both given",
    ),
    ("groups by no column", {"groups": "isle"}, ColumnError, "groups='isle' is no column"),
    ("groups that are missing", {"groups": "sex"}, InputError, "groups='sex' has a missing value"),
    ("time by the target", {"time": "species"}, ParameterError, "time='species' is the target"),
    (
        "one group",
        {"data": FRAME.assign(g=1), "target": "y", "groups": "g", "min_class_rows": 1},
        LabelError,
        "All rows are of one group",
    ),
    ("use of no column", {"use": ["yaer"]}, ColumnError, "use='yaer' .*: it has 'year'"),
    (
        "rare classes in two ways",
        {"merge_rare": "few", "drop_rare": True},
        ParameterError,
        "merge_rare and drop_rare were both given",
    ),
    ("a replay of nothing", {"replay": "nowhere.json"}, ParameterError, "replay cannot be read"),
    (
        "a replay of another target",
        {"replay": {"settings": {"target": "sex", "costs": None}, "models": []}},
        ParameterError,
        "replay predicts 'sex', and the target is 'species'",
    ),
    ("options that cannot be read", {"learners": ["tree:gini"]}, ParameterError, "cannot be read"),
    (
        "no such option of a learner",
        {"learners": ["lda:colour=1"]},
        ParameterError,
        "no option 'co",
    ),
    ("no such option", {"fold": 3}, TypeError, "no option 'fold': there are 'learners', "),
    ("amounts", {"data": MEASURED, "target": "y"}, LabelError, "continuous"),
    (
        "no column to learn from",
        {"data": FRAME, "target": "y", "drop": ["x"]},
        InputError,
        "no column to learn from",
    ),
]
REPORTING: Final[Cases] = [
    ("a target that is no column", {"target": "specie"}, ColumnError, "is no column"),
    ("a frequency of 0", {"min_frequency": 0}, ParameterError, "min_frequency=0 cannot be used"),
    ("to use no column", {"use": ["yaer"]}, ColumnError, "use='yaer' .*: it has 'year'"),
    ("an option that there is not", {"keep": ["year"]}, TypeError, "no option 'keep': there are"),
]
PARTS: Final[list[tuple[str, Any, Any, Any, str]]] = [
    ("fewer labels than parts", [1, 2], ["a"], None, "branches has 2 rows and y has 1"),
    ("a row without a part", [1, None], ["a", "b"], None, "branches has no value in row 1"),
    ("no rows", [], [], None, "y is empty"),
    ("parts that are amounts", [0.5, 1.5], ["a", "b"], None, "branches must hold .* as x <= 5.45"),
    ("no number", [1.0, math.nan], ["a", "b"], None, "branches must hold a truth value"),
    ("labels by a name alone", [True, False], "label", None, "y='label' is no column"),
    ("parts in two columns", [[1, 2], [3, 4]], ["a", "b"], None, "branches must hold"),
    ("weights of zero", [1, 2], ["a", "b"], [0, 0], "zero for every row"),
]
LOOP: Final = [
    ("a negative count", [[1, -1]], 10, "a count is negative"),
    ("nothing counted", [[0, 0]], 10, "no row to score"),
    ("counts beyond bounds", [[2**62, 2**62]], 0, "exceed 2"),
    ("a shift beyond bounds", [[5, 5]], 60, "shift is too large"),
]
NO_TREES: Final = [
    ("sklearn.tree", "DecisionTreeClassifier", InputError, "Classifier is not fitted"),
    ("sklearn.tree", "DecisionTreeRegressor", InputTypeError, "Regressor .* predicts numbers"),
    ("sklearn.ensemble", "RandomForestClassifier", InputTypeError, r".* estimators_\[0\]"),
    ("sklearn.linear_model", "LogisticRegression", InputTypeError, "LogisticRegression was given"),
    ("sortal", "TreeClassifier", InputTypeError, "a TreeClassifier was given"),
    ("builtins", "str", InputTypeError, "a str was given"),
]
ODD_TREES: Final[Cases] = [
    ("two outputs", {"y": [[0, 1]] * 6}, InputError, "predicts 2 outputs at once"),
    ("labels of bytes", {"y": np.array([b"a", b"b"] * 3)}, LabelError, r"of type \|S1"),
    ("a negative weight", {"weight": [1, 1, 1, 1, -3, 1]}, WeightError, "negative"),
    ("a tiny weight", {"weight": [1e-18, 1, 1, 1, 1, 1]}, WeightError, "orders of magnitude"),
    ("an unknown criterion", {"criterion": "own"}, ParameterError, "criterion='own' is not known"),
    (
        "a name twice",
        {"feature_names_in_": np.array(["a", "a"], dtype=object)},
        ColumnError,
        "the same name, 'a'",
    ),
    (
        "categorical_features",
        {"is_categorical_": np.array([False, True])},
        InputError,
        "categorical_features",
    ),
]
ENTRIES: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("a name of two words", {"name": "my toy"}, "small letters"),
    ("a class by its name alone", {"estimator": "no class"}, "'module:Class'"),
    ("pictures from nowhere", {"pictures": "nowhere"}, "module:function"),
    ("a name that is taken", {"name": "tree"}, "'tree' is registered already"),
    (
        "a class that is taken",
        {"estimator": sortal.TreeClassifier},
        "'TreeClassifier' belongs to the learner 'tree'",
    ),
]

REFUSALS: Final = [
    *(Refusal(f"compare: {what}", partial(compare, **given), error, words)
      for what, given, error, words in COMPARING),
    *(Refusal(f"report: {what}", partial(report, **given), error, words)
      for what, given, error, words in REPORTING),
    *(Refusal(f"score_split: {what}", partial(SCORE, parts, y, sample_weight=weight),
              InputError if weight is None else WeightError, words)
      for what, parts, y, weight, words in PARTS),
    *(Refusal(f"the loop over parts: {what}",
              partial(native.score_parts, np.array(counts, np.int64), shift), ValueError, words)
      for what, counts, shift, words in LOOP),
    *(Refusal(f"from_sklearn: a {make}", partial(not_taken_in, module, make), error, words)
      for module, make, error, words in NO_TREES),
    *(Refusal(f"from_sklearn: {what}", partial(taken_in, "DecisionTreeClassifier", **given), error,
              words) for what, given, error, words in ODD_TREES),
    *(Refusal(f"register: {what}", partial(registered, **given), ParameterError, words)
      for what, given, words in ENTRIES),
    *(Refusal(f"to_sklearn: a {name} that is not fitted", partial(unfitted, name),
              NotFittedError, "fit") for name in CONVERTED),
    *(Refusal(f"to_sklearn: a {name} with words", partial(given_away, name, "words"), ColumnError,
              r"1 column is of another kind \('place'\)") for name in CONVERTED),
    *(Refusal(f"to_sklearn: a {name} with costs", partial(given_away, name, costs=COSTS),
              ParameterError, "set costs=None") for name in CONVERTED),
    *(Refusal(f"to_sklearn: a {name}, {rows}", partial(given_away, name, rows), LabelError, words)
      for name in ("lda", "qda", "bayes")
      for rows, words in (("no weight", "The prior of 'setosa' is 0"), ("one class", ONE_CLASS))),
    *(Refusal(f"to_sklearn: a tree with missing={missing!r}",
              partial(given_away, "tree", "missing values", missing=missing, pruning=None),
              ParameterError, f"missing='{missing}'.*missing='direction'")
      for missing in ("fractional", "branch")),
    *(Refusal(f"{one.name}: a class weight of 1.1e20",
              partial(weighed, one.name, class_weight={"setosa": 1.1e20}), ParameterError, BOUNDS)
      for one in registry.learners() if "class_weight" in one.options()),
    *(Refusal(f"{one.name}: weights too small to multiply",
              partial(weighed, one.name, np.full(150, 1e-315)), WeightError,
              "multiply them by a constant") for one in registry.learners()),
    Refusal("class weights far below", partial(weighed, "lda", class_weight={"setosa": 0.9e-20}),
            ParameterError, BOUNDS),
    Refusal("to_sklearn: digits that would be lost",
            lambda: given_away("lda", "far from 0"), InputError,
            "predicts otherwise in .* subtract the mean"),
    Refusal("to_sklearn: quadratic functions of columns that follow from others",
            lambda: given_away("qda", "a difference"), ColumnError, "drop such columns"),
    Refusal("from_sklearn: a pipeline", pipeline_taken_in, InputTypeError,
            "give the fitted tree inside it"),
    Refusal("register: what is no entry", lambda: registry.register("toy"),  # type: ignore[arg-type]
            ParameterError, "is no LearnerEntry"),
    Refusal("a learner in capitals", lambda: registry.find("QDA"), ParameterError,
            "no learner 'QDA': there are 'qda', 'lda', 'tree'"),
    Refusal("a class of no learner", lambda: registry.estimator_named("os.system"), ParameterError,
            "called 'os.system': there are 'TreeClassifier'"),
    Refusal("an option with a slip",
            lambda: registry.LearnerEntry("toy", Toy, "toy", FACTS).make(colour="blue"),
            ParameterError,
            "'toy' has no option 'colour': it has 'color'"),
    Refusal("no such baseline", lambda: find_baseline("forest"), ParameterError,
            "there are 'constant'"),
    Refusal("classes of one row each", lambda: plan_folds([1, 1], 10, None, 0), LabelError,
            "Every class has one row only.*join classes"),
    Refusal("half a fold", lambda: plan_folds([50, 50], 2.5, None, 0),  # type: ignore[arg-type]
            ParameterError, "cannot be used"),
    Refusal("no repeat", lambda: plan_folds([50, 50], 3, 0, 0), ParameterError, "cannot be used"),
    Refusal("inspect: a target in capitals", lambda: inspect(FRAME, "Y"), ColumnError,
            "target='Y' is no column of this table: it has 'y'"),
    Refusal("inspect: to drop the target", lambda: inspect(FRAME, "y", drop=["y"]), ColumnError,
            "among the columns to drop"),
    Refusal("inspect: no rows", lambda: inspect(FRAME[:0], "y"), InputError, "no rows"),
    Refusal("a frequency of 0", lambda: join_rare(FRAME, "y", 0), ParameterError,
            "min_frequency=.*a whole number of at least 1"),
    Refusal("a frequency of True", partial(join_rare, FRAME, "y", min_frequency=True),
            ParameterError,
            "a whole number of at least 1"),
    Refusal("a list for a table", lambda: open_table([[1, 2]]), InputTypeError,
            "list is no table: give the path of a file"),
    Refusal("a report in another form", lambda: report_format("a.txt", None), ParameterError,
            r"does not say what to write.*end it with \.html or \.md"),
    Refusal("a report in no form", lambda: report_format("a.html", "pdf"), ParameterError,
            "format='pdf'"),
    Refusal("fit: a target with a slip", lambda: fit(iris(), "Specie"), ColumnError,
            "target='Specie' .* it has 'species', 'sepal_length'"),
    Refusal("fit: to drop with a slip", lambda: fit(iris(), "species", drop=["petal_with"]),
            ColumnError, "drop='petal_with' .* it has 'petal_width'"),
    Refusal("fit: use of no column", lambda: fit(iris(), "species", use=["petal_with"]),
            ColumnError, "use='petal_with' .* it has 'petal_width'"),
    Refusal("fit: rare classes in two ways",
            lambda: fit(iris(), "species", merge_rare="few", drop_rare=True), ParameterError,
            "merge_rare and drop_rare were both given"),
    Refusal("fit: classes of 0 rows",
            lambda: fit(iris(), "species", min_class_rows=0, drop_rare=True), ParameterError,
            "min_class_rows=0 cannot be used"),
    Refusal("fit: no label at all", lambda: fit(FRAME.assign(y=np.nan), "y"), LabelError,
            "no value in any row"),
    *(Refusal(f"predict: probabilities of {name}", partial(shares_of, name), ParameterError,
              "has no probabilities") for name in ("fisher", "indicator")),
    *(Refusal(f"explain: the row {row}", partial(explained, row), ParameterError,
              "numbered from 1 to 150") for row in (0, 151, 1.5, True)),
    Refusal("working: a node of functions", lambda: working(iris(), "species", "lda", node=1),
            ParameterError, "has no nodes"),
    Refusal("the size of no model", lambda: sortal.TreeClassifier().n_parameters_, NotFittedError,
            "fit"),
    Refusal("the size of a model to come", sizeless, InputError, "No column .* varies"),
]  # fmt: skip
