"""What pictures refuse to draw."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from tests.contract.refusals.table import Refusal

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
    displays,
)
from sortal.errors import ColumnError, InputError, LabelError, ParameterError
from sortal.pictures.svg import svg_of

PLANE: Final = ["bill_length_mm", "bill_depth_mm"]
COSTS: Final = [[0, 1, 1], [10, 0, 10], [1, 1, 0]]
POINTS: Final = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]


@cache
def penguins() -> Any:
    return datasets.penguins().drop(columns="year").dropna().reset_index(drop=True)


@cache
def iris() -> Any:
    return datasets.iris()


@cache
def flowers(*columns: str) -> tuple[Any, Any]:
    """Columns of iris, and setosa against the rest."""
    names = list(columns or ("sepal_length", "sepal_width"))
    return iris()[names], np.where(iris()["species"] == "setosa", "setosa", "rest")


def projection(w: Any = (0.551, -0.834), y: Any = None, **given: Any) -> Any:
    X, labels = flowers()
    return displays.ProjectionDisplay(X, labels if y is None else y, w, **given)


def densities(**given: Any) -> Any:
    usual: dict[str, Any] = {"along": [1.0, 2.0], "labels": ["a", "b"]}
    return displays.DensitiesDisplay(**usual | given)


def decisions(**given: Any) -> Any:
    usual: dict[str, Any] = {"points": [[0, 0], [1, 1]], "labels": [0, 1], "functions": lambda p: p}
    return displays.DecisionsDisplay(**usual | given)


def canonical(**given: Any) -> Any:
    usual: dict[str, Any] = {"points": POINTS, "labels": list("aab")}
    return displays.CanonicalDisplay(**usual | given)


def partition(regions: Any = (), lines: Any = (), **given: Any) -> Any:
    return displays.PartitionDisplay(POINTS[:2], ["a", "b"], regions, lines, **given)


@cache
def fitted(kind: Any, columns: str = "all", **options: Any) -> Any:
    names = [*PLANE, "species"] if columns == "plane" else list(penguins())
    return kind(**options).fit(penguins()[names], "species")


@cache
def tree() -> tuple[Any, Any]:
    names = ["bill_length_mm", "island", "bill_depth_mm", "body_mass_g", "species"]
    table = penguins()[names]
    return TreeClassifier(max_depth=5, pruning=None).fit(table, "species"), table


def of_penguins(display: Any, model: Any, **given: Any) -> Any:
    return display.from_estimator(model(), penguins(), "species", **given)


def of_tree(**given: Any) -> Any:
    return displays.PartitionDisplay.from_estimator(*tree(), "species", **given)


def of_flowers(display: Any, kind: Any, X: Any = None, y: Any = None, **given: Any) -> Any:
    rows, labels = flowers()
    model = kind.fit(rows, labels)
    return display.from_estimator(
        model, rows if X is None else X, labels if y is None else y, **given
    )


def of_three(display: Any, kind: Any, **given: Any) -> Any:
    return display.from_estimator(kind().fit(iris(), "species"), iris(), "species", **given)


def foreign(make: str, **given: Any) -> Any:
    """The decisions of an estimator of scikit-learn."""
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.neighbors import NearestCentroid

    class Silent(NearestCentroid):
        decision_function = predict_proba = predict_log_proba = property()

    kinds = (LogisticRegression, RidgeClassifier, Silent)
    kind: Any = {one.__name__: one for one in kinds}[make]
    model = kind().fit(penguins()[PLANE], penguins()["species"])
    return displays.DecisionsDisplay.from_estimator(model, penguins(), "species", **given)


def dated(at: Any) -> Any:
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(40), unit="D")
    X = pd.DataFrame({"day": days, "a": np.arange(40.0) % 7, "b": np.arange(40.0) % 5})
    y = np.where((X["day"] > "2024-01-20") & (X["a"] > 3) | (X["b"] > 3), "p", "q")
    model = TreeClassifier(pruning=None).fit(X, y)
    return displays.PartitionDisplay.from_estimator(model, X, y, features=["a", "b"], at=at)


def coded(kind: Any) -> Any:
    X = pd.DataFrame({"a": [1, 2, 3, 1, 2, 3], "b": [1.0, 2, 3, 4, 5, 6], "c": [0.0, 1] * 3})
    display = displays.PartitionDisplay if kind is TreeClassifier else displays.DecisionsDisplay
    y = ["p", "q", "p", "p", "q", "p"]
    model = kind(categorical_features=["a"]).fit(X, y)
    return display.from_estimator(model, X, y, features=["a", "b"])


def one_direction() -> Any:
    two = iris().query("species != 'setosa'")
    model = LinearDiscriminant().fit(two, "species")
    return displays.CanonicalDisplay.from_estimator(model, two, "species", components=1)


def all_but_features() -> Any:
    two = iris().query("species != 'setosa'")
    model = FisherDiscriminant().fit(two, "species")
    return displays.DirectionsDisplay.from_estimator(model, two, "species", features=(0, 1))


def wide_axes() -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    try:
        return displays.DirectionsDisplay(*flowers()).plot(axes)
    finally:
        plt.close(figure)


def pixels() -> Any:
    figure = Figure()
    figure.add_subplot().imshow([[1, 2]])
    return svg_of(figure, "a", "")


def shapeless(display: Any) -> Any:
    return display.from_predictions(list("abc"), np.ones((3, 2)) / 2)


lda = partial(fitted, LinearDiscriminant, shrinkage=0.1)
qda = partial(fitted, QuadraticDiscriminant, "plane")
DECISIONS: Final = displays.DecisionsDisplay
CANONICAL: Final = displays.CanonicalDisplay
Cases = list[tuple[str, Any, dict[str, Any], type[Exception], str]]
COMPONENTS: Final = [
    ((0, 2), "names a direction that was not fitted: there are 2, counted from 0"),
    ((0, 0), "names 2 directions: give one, or two that differ"),
    ((), "names 0 directions"),
    (-1, "was not fitted"),
    ("first", "components='first' cannot be read"),
    (True, "cannot be read"),
]
OF_LDA: Final[Cases] = [
    ("a column that is none", DECISIONS, {"features": (PLANE[0], "bill")}, ColumnError,
     "names 'bill', which is no column"),
    ("a place beyond", DECISIONS, {"features": (1, 99)}, ColumnError,
     "column 99, and the table has 6 columns"),
    ("words", DECISIONS, {"features": (1, "island")}, ColumnError, "'island', which holds words"),
    ("a column twice", DECISIONS, {"features": (1, 1)}, ParameterError, "give 2 different columns"),
    ("a name for names", DECISIONS, {"features": PLANE[0]}, ParameterError, "is not a list"),
    ("to fix what is shown", DECISIONS, {"at": {PLANE[0]: 40}}, ParameterError,
     "which the picture shows"),
    ("to fix no column", DECISIONS, {"at": {"weight": 3}}, ColumnError,
     "at names 'weight', which is no column"),
    ("to fix what no row has", DECISIONS, {"at": {"island": "Atlantis"}}, ColumnError,
     "'Atlantis' for 'island', which no row has"),
    ("a word for an amount", DECISIONS, {"at": {"body_mass_g": "heavy"}}, ParameterError,
     "'heavy' for 'body_mass_g': give a number"),
]  # fmt: skip
OF_QDA: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("priors beyond 1", {"priors": [1, 1, 1]}, "are no probabilities"),
    ("costs of a row", {"costs": [[0, 1]]}, "costs has the shape"),
    ("to fix what is decided", {"at": {PLANE[0]: 3}}, "which the picture shows"),
    ("one column", {"features": PLANE[:1]}, "give 2 different columns"),
]
OF_TREE: Final[list[tuple[str, dict[str, Any], type[Exception], str]]] = [
    ("a column that is asked too", {"at": {"body_mass_g": 4000}}, ParameterError,
     r"This tree also asks 'island'.*fix it by at=\{'island'"),
    ("what no row has", {"at": {"body_mass_g": 4000, "island": "Mars"}}, ParameterError,
     "'Mars' for 'island', which no row .* 'Biscoe', 'Dream'"),
    ("a word for a number",
     {"features": [0, 3], "at": {"bill_depth_mm": "deep", "island": "Dream"}}, ParameterError,
     "give a number"),
    ("to fix no column", {"at": {"moon": 1}}, ColumnError, "at names 'moon'"),
    ("to fix what is shown", {"at": {PLANE[0]: 1}}, ParameterError,
     "at fixes 'bill_length_mm', which the picture shows"),
    ("words", {"features": ["island", "body_mass_g"]}, ColumnError, "words or truth values"),
]  # fmt: skip
PLAIN: Final[Cases] = [
    ("a direction in three columns", projection, {"w": (1, 2, 3)}, ParameterError,
     r"w=\(1, 2, 3\) is no direction in 2 attributes: give 2 finite numbers"),
    ("no direction", projection, {"w": (0, 0)}, ParameterError, "not all zero"),
    ("an infinite direction", projection, {"w": (1, np.inf)}, ParameterError, "no direction"),
    ("fewer labels than rows", projection, {"y": ["a"] * 149}, LabelError,
     "150 rows and y has 149 labels"),
    ("labels of no class", projection, {"classes": ["setosa"]}, LabelError,
     "labels 'rest' are none of the classes 'setosa'"),
    ("a missing label", projection, {"y": [None, *["a"] * 149]}, LabelError,
     "contains NaN or None, first in row 0"),
    ("labels in a column", projection, {"y": np.ones((150, 2))}, LabelError, r"shape \(150, 2\)"),
    ("no such point", densities, {"threshold": "middle"}, ParameterError,
     "threshold='middle' cannot be read"),
    ("too few means", densities, {"means": [1.0]}, ParameterError,
     r"means has the shape \(1,\), and there are 2 classes"),
    ("densities of two columns", densities, {"along": [[1.0], [2.0]]}, ParameterError,
     "one coordinate a row"),
    ("a covariance of three", decisions, {"covariance": np.eye(3)}, ParameterError,
     "covariance has the shape"),
    ("a coverage in percent", decisions, {"coverage": 95}, ParameterError,
     "coverage=95 is no share: give a number between 0 and 1"),
    ("too few names", decisions, {"names": ["a"]}, ParameterError,
     "has 1 names, and there are 2 attributes"),
    ("values of one class", decisions, {"functions": lambda p: p[:, :1]}, ParameterError,
     r"gave values of the shape \(40000, 1\)"),
    ("values that are none", decisions, {"functions": lambda p: p * np.nan}, ParameterError,
     "maybe with NaN"),
    ("a grid of a line", decisions, {"resolution": 1}, ParameterError,
     "resolution=1 cannot be drawn"),
    ("three coordinates", canonical, {"points": np.eye(3)}, ParameterError,
     "Points with 3 coordinates were given"),
    ("a share of 1", canonical, {"coverage": 1.0}, ParameterError, "coverage=1.0 is no share"),
    ("too few centroids", canonical, {"centroids": [[0, 0]]}, ParameterError,
     r"centroids has the shape \(1, 2\)"),
    ("an arrow without a name", canonical, {"arrows": [[1, 1]]}, ParameterError,
     "a name for each arrow"),
    ("an arrow to nowhere", canonical, {"arrows": [[1, np.nan]], "arrow_names": ["a"]},
     ParameterError,
     "two finite numbers"),
    ("a region of no class", partition, {"regions": [(0, 1, 0, 1, "c", "R")]}, ParameterError,
     "regions has the classes 'c'"),
    ("a line across", partition, {"lines": [(0, 0, 1, 1, 0, 0)]}, ParameterError, "along no axis"),
    ("a point of three", partition, {"z": (1, 2, 3)}, ParameterError, "no point of the picture"),
]  # fmt: skip

REFUSALS: Final = [
    *(Refusal(f"arrays: {what}", partial(draw, **given), error, words)
      for what, draw, given, error, words in PLAIN),
    *(Refusal(f"linear: {what}", partial(of_penguins, display, lda, **given), error, words)
      for what, display, given, error, words in OF_LDA),
    *(Refusal(f"curved: {what}", partial(of_penguins, DECISIONS, qda, **given), ParameterError,
              words)
      for what, given, words in OF_QDA),
    *(Refusal(f"the plane of a tree: {what}", partial(of_tree, **given), error, words)
      for what, given, error, words in OF_TREE),
    *(Refusal(f"components={components!r}",
              partial(of_three, CANONICAL, LinearDiscriminant, components=components),
              ParameterError, words) for components, words in COMPONENTS),
    *(Refusal(f"probabilities of another shape in {display.__name__}", partial(shapeless, display),
              InputError, "y_proba has the shape")
      for display in (displays.RocDisplay, displays.ReliabilityDisplay)),
    *(Refusal(f"{display.__name__} without probabilities",
              partial(of_three, display, FisherDiscriminant), ParameterError,
              "FisherDiscriminant has no predict_proba")
      for display in (displays.RocDisplay, displays.ReliabilityDisplay)),
    *(Refusal(f"{display.__name__} of what is not fitted",
              partial(of_penguins, display, LinearDiscriminant), ParameterError, "fit it first")
      for display in (DECISIONS, CANONICAL)),
    Refusal("a second component of two classes", one_direction, ParameterError,
            "there is 1, counted from 0"),
    Refusal("a third component", partial(of_three, displays.DensitiesDisplay, FisherDiscriminant,
                                         component=2), ParameterError,
            "component=2 .* there are 2, counted from 0"),
    Refusal("four terms in a plane", partial(of_three, displays.ProjectionDisplay,
                                             FisherDiscriminant), ParameterError,
            "fitted with 4 terms .* and the picture shows 2"),
    Refusal("some columns of directions", all_but_features, ParameterError, "Show all of them"),
    Refusal("three classes along directions",
            partial(of_three, displays.DirectionsDisplay, FisherDiscriminant), ParameterError,
            "shows two classes, and there are 3"),
    Refusal("a class without rows along directions",
            lambda: displays.DirectionsDisplay(POINTS, ["a"] * 3, classes=["a", "b"]), InputError,
            "No row of class 'b'"),
    Refusal("directions of one mean",
            lambda: displays.DirectionsDisplay([[0, 1], [0, 1]], ["a", "b"]), InputError,
            "same mean"),
    Refusal("directions on two axes", wide_axes, ParameterError,
            "ax has 2 axes.*give three axes, or six"),
    Refusal("violins", lambda: densities().plot(kind="violin"), ParameterError,
            "'histogram' or 'rug'"),
    Refusal("one column of numbers",
            lambda: displays.ProjectionDisplay(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
                                               [0, 1], (1, 1)),
            InputError, "needs 2 columns of numbers, and the table has 1"),
    Refusal("rows that all have missing values",
            lambda: displays.ProjectionDisplay([[np.nan, 1.0]], ["a"], (1, 1)), InputError,
            "nothing to draw"),
    Refusal("a number that was not fitted",
            partial(of_flowers, DECISIONS, LinearDiscriminant(), iris(), features=(0, 3)),
            ColumnError, "'petal_width' is no number that this"),
    Refusal("no such column of labels",
            partial(of_flowers, DECISIONS, LinearDiscriminant(), y="sort"), ColumnError,
            "y='sort' is no column of this table: it has 'sepal"),
    Refusal("labels by name in an array",
            lambda: of_flowers(DECISIONS, LinearDiscriminant(), flowers()[0].to_numpy(), "kind"),
            ColumnError, "without column names"),
    Refusal("labels of other classes",
            partial(of_flowers, DECISIONS, LinearDiscriminant(), y=["oak"] * 150), LabelError,
            "labels 'oak' are none of the classes"),
    Refusal("directions of regressions",
            partial(of_flowers, displays.ProjectionDisplay, IndicatorRegression()), ParameterError,
            "This IndicatorRegression has no scalings_"),
    Refusal("canonical coordinates of QDA", partial(of_penguins, CANONICAL, qda), ParameterError,
            "This QuadraticDiscriminant has no explained_variance"),
    Refusal("arrows where all is shrunk",
            partial(of_three, CANONICAL, partial(LinearDiscriminant, shrinkage=1), arrows=True),
            ParameterError, "shrinkage 1"),
    Refusal("other priors of logistic regression",
            partial(foreign, "LogisticRegression", priors=[0.2, 0.3, 0.5]), ParameterError,
            "has no parameter priors"),
    Refusal("other costs of ridge regression", partial(foreign, "RidgeClassifier", costs=COSTS),
            ParameterError, "RidgeClassifier has no probabilities"),
    Refusal("decisions without functions", partial(foreign, "Silent"), ParameterError,
            "neither predict_proba nor decision_function"),
    Refusal("other priors of Fisher's discriminant",
            partial(of_three, DECISIONS, FisherDiscriminant, priors=[0.2, 0.3, 0.5]),
            ParameterError,
            "has no probabilities"),
    Refusal("a tree that is none",
            partial(of_penguins, displays.PartitionDisplay, object), ParameterError,
            "has no rules"),
    Refusal("a date that is none", partial(dated, {"day": "soon"}), ParameterError, "give a date"),
    Refusal("categories of a tree as numbers", partial(coded, TreeClassifier), ColumnError,
            "'a' is no number that this tree was fitted with"),
    Refusal("categories as numbers", partial(coded, LinearDiscriminant), ColumnError,
            "'a' is no number that this LinearDiscriminant"),
    Refusal("more errors than trees", lambda: displays.ComplexityDisplay([1, 2], [1.0, 0.5, 0.2]),
            ParameterError, r"error has the shape \(3,\) and n_leaves \(2,\)"),
    Refusal("a tree that is not there",
            lambda: displays.ComplexityDisplay([1, 2], [1.0, 0.5], chosen=2), ParameterError,
            "chosen=2 is no tree"),
    Refusal("complexity that was not asked for",
            lambda: displays.ComplexityDisplay.from_estimator(TreeClassifier()), ParameterError,
            "no cp_table_"),
    Refusal("importances without names", lambda: displays.ImportancesDisplay([1.0, 2.0], ["a"]),
            ParameterError, "one finite number a column"),
    Refusal("evidence without priors",
            lambda: displays.EvidenceDisplay(np.eye(2), [1.0], values=["a", "b"], classes=[0, 1]),
            ParameterError, "a row a value"),
    Refusal("evidence of no column",
            lambda: displays.EvidenceDisplay.from_estimator(fitted(DiscreteBayes), feature="Sky"),
            ParameterError, "no category column"),
    Refusal("confusion of an unknown class",
            lambda: displays.ConfusionDisplay.from_predictions(["a"], ["c"], classes=["a", "b"]),
            LabelError, "'c' are none of the classes"),
    Refusal("confusion of unpaired labels",
            lambda: displays.ConfusionDisplay.from_predictions(["a", "b"], ["a"]), LabelError,
            "X has 2 rows and y has 1 label"),
    Refusal("a curve of one class",
            lambda: displays.RocDisplay.from_predictions(["a"], [[1.0, 0.0]], classes=["a", "b"]),
            ParameterError, "no class has rows of its own beside"),
    Refusal("pixels in a page", pixels, ParameterError, "pcolormesh"),
    Refusal("a picture of two words", lambda: svg_of(Figure(), "No Name", ""), ParameterError,
            "small letters"),
    Refusal("a comparison of nothing", lambda: displays.ComparisonDisplay([], "accuracy ↑"),
            ParameterError, "no model with a score"),
]  # fmt: skip
