"""What the kernel discriminant, its files, readings and pictures refuse."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from tests.contract.refusals.table import Refusal
from tests.kernels.tables import gram, iris, make_table

from sortal import FisherDiscriminant, KernelDiscriminant, displays
from sortal.errors import (
    ColumnError,
    FormatError,
    InputError,
    MissingValueError,
    ParameterError,
    TrainingRowsError,
    UnavailableError,
    UnknownCategoryError,
)
from sortal.kernels.first_pass import count_landmarks
from sortal.kernels.landmarks import LandmarkSpace, choose_landmarks
from sortal.kernels.learn import KernelOptions, SolverChoice
from sortal.kernels.model import KernelFunction, no_progress, positive

Float = Any


@cache
def rows() -> tuple[Any, Any]:
    return make_table(0, 3)


@cache
def fitted(**options: Any) -> Any:
    """A model of the rows; of kernel values, where a kernel is precomputed."""
    X, y = rows()
    table = gram(X, X) if options.get("kernel") == "precomputed" else X
    return KernelDiscriminant(**options).fit(table, y)


def changed(X: Float, value: float, *places: tuple[int, int]) -> Float:
    """The table with one value at some places."""
    found = X.copy()
    for place in places:
        found[place] = value
    return found


# --- Options -------------------------------------------------------------------------------------

OPTIONS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"kernel": "sigmoid"}, "kernel='sigmoid' is not known.*'rbf'.*'precomputed'"),
    ({"kernel": 3}, "kernel=3"),
    ({"gamma": 0}, "gamma=0 cannot be used: give a number above 0, or None"),
    ({"gamma": np.nan}, "gamma=nan"),
    ({"gamma": np.inf}, "gamma=inf"),
    ({"gamma": "scale"}, "gamma='scale'"),
    ({"kernel": "poly", "degree": 0}, "degree=0 .*whole number from 1 to 1000"),
    ({"kernel": "poly", "degree": 2.5}, "degree=2.5 .*whole number from 1 to 1000"),
    ({"kernel": "poly", "degree": True}, "degree=True"),
    ({"kernel": "poly", "coef0": -1.0}, "coef0=-1.0 .*(positive|inner product)"),
    ({"kernel": "poly", "coef0": np.inf}, "coef0=inf"),
    ({"scale": "range"}, "scale='range' .*'std'"),
    ({"ridge": -1e-9}, "ridge=-1e-09 .*at least 0"),
    ({"ridge": np.nan}, "ridge=nan"),
    ({"ridge": np.inf}, "ridge=inf"),
    ({"ridge": "cv"}, "ridge='cv' .*'loo'"),
    ({"ridge": [0.1]}, "ridge="),
    ({"penalty": "l2"}, "penalty='l2' .*'rkhs', 'coefficients'"),
    ({"rule": "nearest"}, "rule='nearest' .*'gaussian', 'nearest_mean'"),
    ({"solver": "svd"}, "solver='svd' .*'dense', 'landmarks'"),
    ({"n_components": 3}, "n_components=3 .*at most 2"),
    ({"n_components": 0}, "n_components=0"),
    ({"n_components": 1.0}, "n_components=1.0"),
    ({"solver": "landmarks", "n_landmarks": 0}, "n_landmarks=0 .*at least 1"),
    ({"solver": "landmarks", "n_landmarks": 2.5}, "n_landmarks=2.5"),
    ({"n_landmarks": 99}, "n_landmarks=99 but 30 rows take part"),
    ({"random_state": -1}, "random_state=-1"),
    ({"random_state": "x"}, "random_state='x'"),
    ({"priors": [0.5, 0.5]}, "priors.*3 classes"),
    ({"priors": [0.5, 0.6, 0.1]}, "priors.*sum"),
    ({"rule": "nearest_mean", "priors": [0.2, 0.3, 0.5]}, "priors.*nearest_mean"),
    ({"class_weight": "heavy"}, "class_weight='heavy'"),
    ({"class_weight": {"oak": 1.0}}, "class_weight.*'oak'"),
    ({"costs": [[0, 1], [1, 0]]}, "costs"),
    ({"missing": "zero"}, "missing='zero'"),
    ({"unknown": "zero"}, "unknown='zero'"),
    ({"progress": 1}, "progress=1 cannot be used"),
]


def of_options(options: dict[str, Any], words: str) -> Refusal:
    def call() -> object:
        return KernelDiscriminant(**options).fit(*rows())

    return Refusal(f"fit with {options}", call, ParameterError, words)


def unweighed_landmarks() -> object:
    X, y = rows()
    model = KernelDiscriminant("laplacian", solver="landmarks", n_landmarks=26)
    return model.fit(X, y, sample_weight=np.arange(30) >= 5)


# --- Pieces --------------------------------------------------------------------------------------


def pieces(**change: Any) -> Callable[[], object]:
    """Rows that come after a change of options."""

    def call() -> object:
        model = KernelDiscriminant(n_landmarks=10).partial_fit(*rows())
        return model.set_params(**change).partial_fit(*rows())

    return call


def without_rows() -> object:
    X = pd.DataFrame({"x": np.arange(10.0) ** 2})
    model = KernelDiscriminant("linear", priors=[0.0, 0.0, 1.0])
    return model.partial_fit(X, list("ab") * 5, list("abc")).explain(X[:1])


def strange_word(*, ask: bool = False) -> object:
    X = pd.DataFrame({"x": np.arange(6.0), "word": list("aabbab")})
    model = KernelDiscriminant(n_landmarks=3, unknown="error").partial_fit(X, list("pqpqpq"))
    X = X.assign(word="c")
    return model.predict(X) if ask else model.partial_fit(X, list("pqpqpq"))


# --- Kernels that are none -----------------------------------------------------------------------


def of_matrix(change: Callable[[Float], Float], **options: Any) -> Callable[[], object]:
    """A fit to the kernel matrix after a change."""

    def call() -> object:
        X, y = rows()
        return KernelDiscriminant("precomputed", **options).fit(change(gram(X, X)), y)

    return call


def below_zero(K: Float) -> Float:
    values, vectors = np.linalg.eigh(K)
    values[0] = -1e-3 * values[-1]
    bad = (vectors * values) @ vectors.T
    return (bad + bad.T) / 2


FUNCTIONS: Final[list[tuple[str, Any, str]]] = [
    ("negative products", lambda A, B: -(A @ B.T), "not positive"),
    (
        "negative distances",
        lambda A, B: -((A[:, None] - B) ** 2).sum(axis=2),
        "not positive|are about 0e",
    ),
    ("no symmetry", lambda A, B: A @ B.T + A[:, :1] ** 2, "symmetric"),
    ("a vector", lambda A, B: (A @ B.T)[0], "shape"),
    ("few columns", lambda A, B: (A @ B.T)[:, :2], "shape"),
    ("no numbers", lambda A, B: np.full((len(A), len(B)), np.nan), "finite"),
    ("words", lambda A, B: [["word"] * len(B)] * len(A), "finite"),
]


def no_kernel(what: str, function: Any, words: str, solver: SolverChoice) -> Refusal:
    def call() -> object:
        return KernelDiscriminant(function, solver=solver).fit(*rows())

    error = ParameterError if words == "finite" else InputError
    return Refusal(f"a function of {what}, {solver}", call, error, words)


def broken(A: Float, B: Float) -> Float:
    raise KeyError("the user's own")


def far_from_one(kernel: Any, unit: float, solver: Any) -> Refusal:
    def call() -> object:
        return KernelDiscriminant(kernel, solver=solver).fit(rows()[0] * unit, rows()[1])

    return Refusal(f"{kernel} of values of {unit}, {solver}", call, InputError, "too far from 1")


def landmarks_below_nothing() -> object:
    """1 - d² looks well beside k(x, x) = 1 until landmarks leave less than nothing of a row."""
    kernel = KernelFunction(
        "callable", function=lambda A, B: 1.0 - np.square(A[:, None] - B).sum(axis=2)
    )
    X = np.random.default_rng(0).normal(size=(50, 3))
    return choose_landmarks(kernel, X, 40, 0, no_progress)


# --- Rows of the fit, files, models --------------------------------------------------------------


def left_out(what: str, change: Callable[[Any, Any], tuple[Any, ...]], **options: Any) -> Refusal:
    def call() -> object:
        return fitted(**options).loo_proba(*change(*rows()))

    told = f"leaving out rows of another fit: {what} {options}"
    return Refusal(told, call, TrainingRowsError, "loo_proba")


def save_function() -> object:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return fitted(kernel=gram).save(Path(folder) / "model.sortal")
        finally:
            assert list(Path(folder).iterdir()) == []


@cache
def landmarks() -> Any:
    return KernelDiscriminant(n_landmarks=9, solver="landmarks").fit(*iris())._model


CHANGES: Final[list[tuple[str, Callable[[Any], dict[str, Any]]]]] = [
    ("without a width", lambda _: {"kernel": KernelFunction(gamma=0.0)}),
    ("other columns", lambda m: {"basis": m.basis[:, 1:]}),
    ("other columns", lambda _: {"kernel": KernelFunction("precomputed")}),
    ("no class", lambda _: {"codes": np.full(9, 3)}),
    ("twice", lambda _: {"ids": np.zeros(9, dtype=np.int64)}),
    ("covariance of nothing", lambda _: {"lengths": np.zeros(2)}),
    ("covariance of nothing", lambda _: {"divisor": 0.0}),
    ("no class with weight", lambda _: {"weight": np.zeros(3)}),
    ("priors that are no probabilities", lambda _: {"prior": np.zeros(3)}),
    (
        "too large",
        lambda _: {"kernel": KernelFunction("linear"), "basis": np.full((9, 4), 1e200)},
    ),
]


def no_model(place: int, words: str, change: Callable[[Any], dict[str, Any]]) -> Refusal:
    def call() -> object:
        landmarks().check()
        return replace(landmarks(), **change(landmarks())).check()

    return Refusal(f"a model that no fit makes: {words} ({place})", call, FormatError, words)


def dependent_landmarks() -> object:
    model = landmarks()
    space = LandmarkSpace(model.kernel, model.inputs, np.zeros_like(model.basis))
    return space.features(np.zeros_like(model.basis))


def explained(most: Any) -> object:
    return fitted().explain(rows()[0][:1], max_rows=most)


def worked(most: Any) -> object:
    return fitted().working(max_rows=most)


# --- Pictures ------------------------------------------------------------------------------------


def plane(**options: Any) -> tuple[Any, Any, Any]:
    """A model of two columns, and their rows."""
    X, y = iris()
    X = X[["petal_length", "petal_width"]]
    return KernelDiscriminant(**{"kernel": "poly", **options}).fit(X, y), X, y


def contours(function: Any = None, **options: Any) -> Callable[[], object]:
    def call() -> object:
        X, y = plane()[1:]
        return displays.KernelContoursDisplay(X, y, function or (lambda p: p[:, 0]), **options)

    return call


def drawn(display: str, model: Callable[[], tuple[Any, Any, Any]], **options: Any) -> Any:
    return lambda: getattr(displays, display).from_estimator(*model(), **options)


def mixed() -> tuple[Any, Any, Any]:
    X, y = pd.DataFrame({"w": list("abab"), "x": [1.0, 2.0, 3.0, 5.0]}), list("ppqq")
    return KernelDiscriminant("poly").fit(X, y), X, y


def matrix() -> tuple[Any, Any, Any]:
    X, y = rows()
    return fitted(kernel="precomputed"), gram(X, X), y


CONTOURS: Final = "KernelContoursDisplay"
SPACE: Final = "FeatureSpaceDisplay"

REFUSALS: Final = [
    *(of_options(options, words) for options, words in OPTIONS),
    Refusal("a landmark a row, some without weight", unweighed_landmarks, ParameterError,
            "n_landmarks=26 but 25 rows"),
    Refusal("more landmarks than rows take part",
            lambda: count_landmarks(KernelOptions(n_landmarks=31), 30), ParameterError,
            "n_landmarks=31 but 30 rows take part"),
    Refusal("priors of the nearest mean at predict",
            lambda: fitted(rule="nearest_mean").predict(rows()[0], priors=[0.2, 0.3, 0.5]),
            ParameterError, "priors.*nearest_mean"),
    Refusal("pieces of a kernel matrix", lambda: KernelDiscriminant("precomputed").partial_fit,
            UnavailableError, "kernel='precomputed' needs all rows"),
    Refusal("pieces of a dense fit", lambda: KernelDiscriminant(solver="dense").partial_fit,
            UnavailableError, "set solver='landmarks'"),
    Refusal("pieces of a ridge that is chosen", lambda: KernelDiscriminant(ridge="loo").partial_fit,
            UnavailableError, "give a number"),
    Refusal("forgetting", lambda: fitted(solver="landmarks").forget, UnavailableError,
            "cannot forget rows"),
    Refusal("another width between pieces", pieces(gamma=2.0), ParameterError, "set them back"),
    Refusal("another kernel between pieces", pieces(kernel="linear"), ParameterError,
            "set them back"),
    Refusal("other landmarks between pieces", pieces(n_landmarks=3), ParameterError,
            "set them back"),
    Refusal("another rule for missing values between pieces", pieces(missing="mean"),
            ParameterError,
            "missing='mean' was set"),
    Refusal("a word of later rows", strange_word, UnknownCategoryError, "never seen"),
    Refusal("a word that no row has", lambda: strange_word(ask=True), UnknownCategoryError,
            "never seen"),
    Refusal("all prior to classes without rows", without_rows, ParameterError,
            "give all to classes without any row.*'a', 'b'"),
    Refusal("a first piece without values",
            lambda: KernelDiscriminant().partial_fit(rows()[0] * np.nan, rows()[1]),
            MissingValueError, "No row is left"),
    Refusal("a first piece of one row",
            lambda: KernelDiscriminant().partial_fit(rows()[0][:1], rows()[1][:1], rows()[1]),
            InputError, "varies"),
    Refusal("a table without values",
            lambda: KernelDiscriminant().fit(rows()[0] * np.nan, rows()[1]), MissingValueError,
            "No row is left"),
    *(Refusal(f"a table that never varies, {kernel}",
              partial(KernelDiscriminant(kernel).fit, np.ones((9, 2)), list("abc") * 3),
              InputError, "No column of this table varies")
      for kernel in ("rbf", "laplacian", "poly", "linear")),
    Refusal("a narrow matrix", of_matrix(lambda K: K[:, :-1]), InputError,
            "30 rows and 29 columns"),
    Refusal("a wide matrix", of_matrix(lambda K: np.c_[K, K[:, :1]]), InputError,
            "30 rows and 31 columns"),
    Refusal("a crooked matrix", of_matrix(lambda K: changed(K, K[2, 5] + 1e-3, (2, 5))), InputError,
            "symmetric"),
    *(Refusal(f"a matrix below zero, {penalty}, {ridge}",
              of_matrix(below_zero, penalty=penalty, ridge=ridge), InputError, "not positive")
      for penalty in ("rkhs", "coefficients") for ridge in (0.0, 1e-3, "loo")),
    Refusal("a negative matrix", of_matrix(np.negative), InputError, "not positive"),
    Refusal("a matrix with a missing value",
            of_matrix(lambda K: changed(K, np.nan, (1, 2), (2, 1))), MissingValueError, ""),
    Refusal("a matrix with infinity", of_matrix(lambda K: changed(K, np.inf, (1, 2), (2, 1))),
            InputError, "infinite"),
    Refusal("infinite kernel values at predict",
            lambda: fitted(kernel="precomputed").predict(np.full((2, 30), np.inf)), InputError,
            "infinite"),
    Refusal("a narrow matrix at predict",
            lambda: fitted(kernel="precomputed").predict(np.zeros((2, 29))), InputError, "29"),
    Refusal("words as kernel values",
            lambda: KernelDiscriminant("precomputed").fit(mixed()[1], list("ppqq")), ColumnError,
            "takes a matrix of numbers.*in 'w'"),
    *(no_kernel(*function, solver) for function in FUNCTIONS for solver in ("dense", "landmarks")),
    Refusal("what a function raises itself", lambda: KernelDiscriminant(broken).fit(*rows()),
            KeyError, "the user's own"),
    Refusal("landmarks beyond k(x, x)", landmarks_below_nothing, InputError,
            r"what is left of k\(x, x\) beside the landmarks"),
    Refusal("a crooked K", lambda: positive(changed(np.eye(6), 1.0, (1, 4)), "K"), InputError,
            r"K is not symmetric: k\(x_1, x_4\) ="),
    Refusal("a negative K", lambda: positive(-np.eye(6), "K"), InputError,
            "K is not positive: its least eigenvalue is -"),
    *(far_from_one(kernel, unit, solver) for kernel, unit, solver in (
        ("linear", 1e-45, "dense"), ("linear", 1e45, "landmarks"), ("poly", 1e-30, "landmarks"),
        ("poly", 1e30, "dense"), ("poly", 1e90, "landmarks"))),
    Refusal("rows beyond what a kernel can say",
            lambda: fitted(kernel="poly", degree=3).predict(rows()[0] * 1e120), InputError,
            "kernel values of row 0"),
    *(left_out(what, change, solver=solver) for solver in ("dense", "landmarks")
      for what, change in (
          ("fewer", lambda X, y: (X[1:], y[1:])),
          ("more", lambda X, y: (np.vstack([X, X[:1]]), np.append(y, y[0]))),
          ("moved", lambda X, y: (changed(X, 9.0, (3, 1)), y)),
          ("other labels", lambda X, y: (X, np.roll(y, 1))),
          ("other weights", lambda X, y: (X, y, np.arange(1, len(y) + 1))))),
    Refusal("the curve of a given ridge", lambda: fitted(ridge=1e-3).loo_curve_, AttributeError,
            "ridge='loo'"),
    Refusal("a function in a file", save_function, ParameterError,
            "is a function, and a model file holds data only"),
    *(no_model(place, *change) for place, change in enumerate(CHANGES)),
    Refusal("landmarks that are not independent", dependent_landmarks, FormatError,
            "not independent"),
    *(Refusal(f"{most!r} pulls", partial(explained, most),
              ParameterError, "max_rows=") for most in (0, 2.5, None, True)),
    *(Refusal(f"matrices of {most!r} rows", partial(worked, most),
              ParameterError, "max_rows=") for most in (0, 2.5, None)),
    *(Refusal(f"{levels!r} levels", contours(levels=levels), ParameterError, "levels=")
      for levels in (0, 41, "many", [], [np.nan], [[1.0], [2.0]], True)),
    Refusal("contours of a matrix", contours(lambda p: p), ParameterError,
            "a finite number a point"),
    Refusal("infinite contours", contours(lambda p: np.full(len(p), np.inf)), ParameterError,
            "a finite number a point"),
    Refusal("a grid of one point", contours(resolution=1), ParameterError, "resolution="),
    Refusal("a direction beyond the last", drawn(CONTOURS, plane, component=2), ParameterError,
            "component=2 is none of the fitted directions: there are 2, counted from 0"),
    Refusal("a direction before the first", drawn(CONTOURS, plane, component=-1), ParameterError,
            "there are 2, counted from 0"),
    Refusal("contours of another learner",
            drawn(CONTOURS, lambda: (FisherDiscriminant().fit(*plane()[1:]), *plane()[1:])),
            ParameterError, "no dual_coef_"),
    Refusal("contours before a fit",
            drawn(CONTOURS, lambda: (KernelDiscriminant(), *plane()[1:])), ParameterError,
            "no dual_coef_"),
    Refusal("contours over no column",
            drawn(CONTOURS, plane, features=["petal_width", "nowhere"]), ColumnError, "nowhere"),
    Refusal("contours of a kernel matrix", drawn(CONTOURS, matrix), ParameterError,
            "no columns to draw over"),
    Refusal("projections of two coordinates",
            lambda: displays.KernelProjectionDisplay([[1.0], [2.0]], ["a", "b"]), ParameterError,
            "one coordinate a row"),
    Refusal("a mean for two classes",
            lambda: displays.KernelProjectionDisplay([1.0, 2.0], ["a", "b"], means=[1.0]),
            ParameterError, "means has the shape"),
    *(Refusal(f"the feature space of {options}",
              drawn(SPACE, partial(plane, **options)), ParameterError, words)
      for options, words in (
          ({"kernel": "rbf"}, "the kernel 'rbf' is not drawn"),
          ({"degree": 3}, "with degree 3 and coef0 0 is not drawn"),
          ({"coef0": 1.0}, "with degree 2 and coef0 1 is not drawn"),
          ({"scale": "std"}, "scale='std'"))),
    Refusal("the feature space of four columns",
            drawn(SPACE, lambda: (KernelDiscriminant("poly").fit(*iris()), *iris())),
            ParameterError,
            "has 4 terms .*two columns of numbers"),
    Refusal("the feature space of words", drawn(SPACE, mixed), ParameterError,
            "terms .*two columns of numbers"),
    Refusal("a direction of two numbers",
            lambda: displays.FeatureSpaceDisplay(*plane()[1:], [1.0, 0.0]), ParameterError, "w="),
]  # fmt: skip
