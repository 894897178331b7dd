"""What nearest neighbors, their files, readings and pictures refuse."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from tests.contract.refusals.table import Refusal
from tests.kernels.tables import iris

from sortal import LinearDiscriminant, NeighborsClassifier, datasets, displays
from sortal.errors import (
    ColumnError,
    FormatError,
    InputError,
    LabelError,
    MissingValueError,
    ParameterError,
    TrainingRowsError,
    UnknownCategoryError,
)

Y: Final = list("ababab")
NUMBERS: Final = [[0.0, 1.0], [1.0, 5.0], [2.0, 1.0], [4.0, 2.0], [8.0, 2.0], [9.0, 7.0]]
WORDS: Final[list[list[Any]]] = [[0.0, "u"], [1.0, "v"]] * 3


@cache
def fitted(**options: Any) -> Any:
    return NeighborsClassifier(**options).fit(*iris())


def of_options(options: dict[str, Any], words: str) -> Refusal:
    def call() -> object:
        return NeighborsClassifier(**options).fit(NUMBERS, Y)

    return Refusal(f"fit with {options}", call, ParameterError, words)


OPTIONS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"n_neighbors": 0}, "n_neighbors=0 .*whole number of at least 1"),
    ({"n_neighbors": 2.0}, "n_neighbors=2.0"),
    ({"n_neighbors": True}, "n_neighbors=True"),
    ({"n_neighbors": None}, "n_neighbors=None"),
    ({"n_neighbors": np.array(3)}, "n_neighbors="),
    ({"n_neighbors": []}, r"n_neighbors=\[\]"),
    ({"n_neighbors": [3, 0]}, "n_neighbors=0"),
    ({"n_neighbors": [2, "x"]}, "n_neighbors='x'"),
    ({"n_neighbors": "cv"}, "n_neighbors='cv' cannot be used: give a whole number .* or 'loo'"),
    ({"n_neighbors": 7}, "n_neighbors=7 but the rows have weight 6 in all"),
    ({"n_neighbors": 10**30}, "n_neighbors=1000.* but the rows have weight 6 in all"),
    ({"n_neighbors": [1, 9]}, "n_neighbors=9 but the rows have weight 6"),
    ({"metric": "cosine"}, "metric='cosine' is not known: it can be 'auto', 'euclidean'"),
    ({"metric": np.hypot}, "metric=.* is not known"),
    ({"p": 0.5}, "p=0.5 cannot be used: give a number of at least 1"),
    ({"p": float("nan")}, "p=nan"),
    ({"p": 31}, "p=31 cannot be used: .* at most 30, or infinity"),
    ({"p": 10**400}, "at most 30, or infinity"),
    ({"p": "2"}, "p='2'"),
    ({"p": None}, "p=None"),
    ({"scale": "minmax"}, "scale='minmax' is not known: it can be 'auto', 'range', 'std'"),
    ({"metric": "hamming", "scale": "std"}, "scale='std' does not fit metric='hamming'"),
    ({"metric": "mahalanobis", "scale": "range"}, "scale='range' does not fit"),
    ({"weights": "inverse"}, "weights='inverse' is not known: it can be 'auto', 'uniform'"),
    ({"missing": "drop"}, "missing='drop' is not known: it can be 'skip', 'error'"),
    ({"unknown": "majority"}, "unknown='majority' is not known: it can be 'differs'"),
    ({"n_jobs": 0}, "n_jobs=0"),
    ({"class_weight": {"oak": 2.0}}, "class_weight names"),
    ({"priors": [0.5, 0.25, 0.25]}, "there are 2 classes"),
    ({"priors": [0.5, 0.6]}, "priors"),
    ({"costs": [[0.0, 1.0]]}, "give 2 × 2 numbers"),
    ({"categorical_features": ["height"]}, "no column of this table"),
]


# --- Rows ----------------------------------------------------------------------------------------


def fit(cells: Any, weight: Any = None, **options: Any) -> Callable[[], object]:
    return lambda: NeighborsClassifier(**options).fit(cells, Y, weight)


def infinite(metric: str) -> Callable[[], object]:
    return lambda: fitted(metric=metric).kneighbors(iris()[0].assign(petal_width=-np.inf))


def strange(method: str, **options: Any) -> Callable[[], object]:
    """A word that no row has, asked of a model that takes none."""

    def call() -> object:
        model = NeighborsClassifier(1, unknown="error", **options).fit(WORDS, Y)
        return getattr(model, method)([[0.0, "z"]])

    return call


def incomplete(method: str) -> Callable[[], object]:
    return lambda: getattr(fitted(missing="error"), method)(iris()[0].assign(sepal_width=np.nan))


def near(k: Any) -> object:
    return fitted().kneighbors(iris()[0], k)


def narrow(method: str) -> object:
    return getattr(fitted(metric="hamming"), method)(iris()[0].drop(columns="sepal_width"))


def unfitted(method: str) -> object:
    given: dict[str, Any] = {"ids": [0]} if method == "forget" else {"X": [0]}
    return getattr(NeighborsClassifier(), method)(**given)


def listed(most: Any) -> object:
    return fitted().working(iris()[0][:1], max_rows=most)


# --- Rows that come and go -----------------------------------------------------------------------


def forget(ids: Any) -> Callable[[], object]:
    def call() -> object:
        model = NeighborsClassifier().fit(*iris())
        try:
            return model.forget(ids=ids)
        finally:
            assert model.ids_.tolist() == list(range(150))

    return call


def twice_forgotten() -> object:
    return NeighborsClassifier().fit(*iris()).forget(ids=[0]).forget(ids=[0])


def too_few() -> object:
    X, y = iris()
    model = NeighborsClassifier(5).partial_fit(X[49:51], y[49:51])
    return model.predict(X)


def other_metric(go_on: Callable[[Any], object]) -> Callable[[], object]:
    def call() -> object:
        model = NeighborsClassifier(metric="hamming").fit(*iris())
        return go_on(model.set_params(metric="auto"))

    return call


def left_out(what: str, change: Callable[[Any, Any], tuple[Any, ...]]) -> Refusal:
    def call() -> object:
        return fitted().loo_proba(*change(*iris()))

    told = f"leaving out rows of another fit: {what}"
    return Refusal(told, call, TrainingRowsError, "loo_proba takes the rows of the fit again")


# --- Models that no fit could have made ----------------------------------------------------------

CHANGES: Final[dict[str, dict[str, Any]]] = {
    "numbers that do not fit": {"numbers": np.zeros((150, 3))},
    "codes that do not fit": {"codes": np.zeros((150, 1), dtype=np.int32)},
    "labels of classes": {"labels": np.full(150, 3, dtype=np.int32)},
    "ids out of order": {"ids": np.arange(150)[::-1]},
    "ids out": {"next_id": 149},
    "no column that counts": {"widths": np.zeros(4)},
    "a power": {"power": 3.0},
    "fewer rows": {"k": 151},
    "beyond what can be counted": {"units": np.full(150, 1 << 60)},
    "a unit without weights": {"exponent": 3},
    "no probabilities": {"prior": np.array([0.5, 0.5, 0.5])},
    "another metric's parts": {"metric": "mahalanobis"},
    "widths without a scale": {"scale": "none"},
}


def no_model(
    words: str, model: Callable[[], Any], change: Callable[[Any], Any] | None = None
) -> Refusal:
    def call() -> object:
        made = model()._model
        made.check()
        return replace(made, **(CHANGES[words] if change is None else change(made))).check()

    return Refusal(f"a model that no fit makes: {words}", call, FormatError, words)


@cache
def tennis() -> Any:
    return NeighborsClassifier().fit(datasets.play_tennis(), "PlayTennis")


def ellipse() -> Any:
    return fitted(metric="mahalanobis")


def bent(model: Any, **change: Any) -> dict[str, Any]:
    return {"ellipse": replace(model.ellipse, **change)}


# --- Pictures ------------------------------------------------------------------------------------


def plane(model: Any, **options: Any) -> Callable[[], object]:
    def call() -> object:
        X, y = pd.DataFrame(NUMBERS, columns=["x", "y"]), np.array(Y)
        return displays.NeighborsDisplay.from_estimator(model.fit(X, y), X, y, **options)

    return call


def curve(*settings: Any, **options: Any) -> Callable[[], object]:
    return lambda: displays.LooCurveDisplay(*settings, **options)


def few_axes() -> object:
    import matplotlib.pyplot as plt

    ax = plt.subplots(1, 2)[1]
    return plane(NeighborsClassifier(1), k=(1, 2, 3), ax=ax, resolution=8)()


REFUSALS: Final = [
    *(of_options(options, words) for options, words in OPTIONS),
    Refusal("more neighbors than weight", fit(NUMBERS, [1, 2, 0, 1, 1, 1], n_neighbors=7),
            ParameterError, "n_neighbors=7 but the rows have weight 6 in all"),
    *(Refusal(f"{k!r} neighbors of rows", partial(near, k),
              ParameterError, "n_neighbors=.* whole number of at least 1")
      for k in (0, 1.5, "5", True)),
    Refusal("more neighbors than can be counted",
            lambda: fitted().kneighbors(iris()[0], n_neighbors=2**31), ParameterError,
            "n_neighbors=2147483648.*keeps 150 rows"),
    *(Refusal(f"words, {metric}", fit(WORDS, metric=metric), ColumnError,
              "'x1' holds words.*metric='gower'.*'hamming'")
      for metric in ("euclidean", "manhattan", "minkowski", "mahalanobis")),
    *(Refusal(f"nothing varies, {metric}", fit(np.ones((6, 2)), metric=metric), InputError,
              "No column is left")
      for metric in ("auto", "euclidean", "manhattan", "minkowski", "gower")),
    Refusal("no value at all", fit(np.full((6, 1), np.nan), scale=None), InputError,
            "No column is left"),
    Refusal("missing values, mahalanobis",
            fit([[0.0, np.nan], *NUMBERS[1:]], metric="mahalanobis"), MissingValueError,
            "in 'x1' are missing.*gower"),
    *(Refusal(f"infinite numbers, {metric}", infinite(metric), InputError,
              "'petal_width' holds infinite")
      for metric in ("auto", "gower", "hamming", "mahalanobis")),
    *(Refusal(f"missing values, {method}", incomplete(method), MissingValueError,
              r"150 cells \('sepal_width' 150\)")
      for method in ("predict_proba", "kneighbors", "explain")),
    *(Refusal(f"a new word, {method}", strange(method), UnknownCategoryError,
              r"1 cell \('x1' 1\).*unknown='differs'")
      for method in ("predict", "kneighbors", "explain")),
    *(Refusal(f"a column too few, {method}", partial(narrow, method), ColumnError,
              "'sepal_width', which this table lacks")
      for method in ("predict", "explain", "working")),
    Refusal("words where numbers were",
            lambda: fitted(metric="hamming").predict(iris()[0].assign(sepal_width="wide")),
            ColumnError, "'sepal_width' was fitted with numbers"),
    *(Refusal(f"{method} before a fit", partial(unfitted, method), NotFittedError, "fit")
      for method in ("forget", "explain", "working")),
    Refusal("an id that no row has", forget([3, 150]), TrainingRowsError, "No row has the ids 150"),
    Refusal("an id below 0", forget([-1]), TrainingRowsError, "-1"),
    Refusal("an id twice", forget([3, 3]), TrainingRowsError, "ids 3 are given more"),
    Refusal("an id again", twice_forgotten, TrainingRowsError, "No row has the ids 0"),
    *(Refusal(f"ids {ids!r}", forget(ids), InputError, "give the ids of rows")
      for ids in (0.5, ["a"], [[1, 2]], [True], None)),
    Refusal("all rows forgotten", forget(range(150)), LabelError, "no row left"),
    Refusal("fewer rows left than neighbors", forget([*range(2, 60), *range(62, 150)]),
            ParameterError, "n_neighbors=5 but the rows have weight 4"),
    Refusal("fewer rows so far than neighbors", too_few, ParameterError,
            "n_neighbors=5 but the rows have weight 2"),
    Refusal("a piece of words, euclidean",
            lambda: NeighborsClassifier(metric="euclidean").partial_fit(WORDS, Y), ColumnError,
            "holds words"),
    Refusal("a piece with a missing value, mahalanobis",
            lambda: NeighborsClassifier(metric="mahalanobis").partial_fit(
                [[np.nan], [1.0]], ["x", "y"]),
            MissingValueError, "mahalanobis"),
    Refusal("another metric between pieces", other_metric(lambda m: m.partial_fit(*iris())),
            ParameterError, "metric='auto' was set after a fit with metric='hamming'"),
    Refusal("another metric before forgetting", other_metric(lambda m: m.forget(ids=[0])),
            ParameterError, "was set after"),
    left_out("fewer", lambda X, y: (X[:-1], y[:-1])),
    left_out("turned", lambda X, y: (X[::-1], y[::-1])),
    left_out("moved", lambda X, y: (X + 1e-9, y)),
    left_out("other labels", lambda X, y: (X, np.roll(y, 1))),
    left_out("other weights", lambda X, y: (X, y, np.full(150, 2))),
    Refusal("the curve of a given k", lambda: fitted().loo_curve_, AttributeError,
            "loo_curve_ exists where"),
    *(no_model(words, fitted) for words in CHANGES),
    no_model("values that there are not", tennis, lambda m: {"codes": m.codes + 1}),
    no_model("words where there can be none", tennis, lambda _: {"metric": "manhattan"}),
    no_model("missing values where", ellipse, lambda m: {"numbers": m.numbers * np.nan}),
    no_model("more directions", ellipse, lambda m: bent(m, root=np.zeros((4, 5)))),
    no_model("negative", ellipse, lambda m: bent(m, covariance=-m.ellipse.covariance)),
    *(Refusal(f"{most!r} rows in a working", partial(listed, most), ParameterError, "max_rows=")
      for most in (0, 1.5, "all", None, True)),
    Refusal("a curve without a choice",
            lambda: displays.LooCurveDisplay.from_estimator(fitted()), ParameterError,
            "no loo_curve_"),
    Refusal("a curve of uneven lists", curve([1, 2], ["uniform"], [0.1, 0.2]), ParameterError,
            "one of each for every setting"),
    Refusal("a curve of nothing", curve([], [], []), ParameterError, "no setting to draw"),
    Refusal("another k chosen", curve([1], ["uniform"], [0.1], chosen=(2, "uniform")),
            ParameterError,
            "no setting that was tried"),
    Refusal("another weighting chosen", curve([1], ["uniform"], [0.1], chosen=(1, "rank")),
            ParameterError, "no setting that was tried"),
    Refusal("axes too few", few_axes, ParameterError, "ax has 2 axes, and there are 3 numbers"),
    *(Refusal(f"regions for k = {k!r}", plane(NeighborsClassifier(1), k=k), ParameterError,
              "list of whole numbers") for k in (5, "loo", (), (0,), (1.5,))),
    Refusal("regions for more neighbors than rows", plane(NeighborsClassifier(1), k=(1, 7)),
            ParameterError, "n_neighbors=7"),
    Refusal("regions of categories", plane(NeighborsClassifier(1, metric="hamming")),
            ParameterError,
            "no regions of a plane"),
    Refusal("regions of another learner", plane(LinearDiscriminant()), ParameterError,
            "no metric_"),
    Refusal("regions without functions",
            lambda: displays.NeighborsDisplay(
                NUMBERS, Y, {}, displays.LooCurveDisplay([1], ["uniform"], [0.1])),
            ParameterError, "functions is empty"),
]  # fmt: skip
