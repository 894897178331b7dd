"""What the linear, quadratic, Fisher's and the indicators' discriminant refuse."""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from tests.contract.refusals.table import Refusal

from sortal import FisherDiscriminant as Fisher
from sortal import IndicatorRegression as Indicator
from sortal import LinearDiscriminant as Linear
from sortal import QuadraticDiscriminant as Quadratic
from sortal import datasets
from sortal.discriminants.held_out import read_folds
from sortal.errors import (
    ColumnError,
    InputError,
    LabelError,
    MissingValueError,
    ParameterError,
    TrainingRowsError,
    UnavailableError,
)

Table: TypeAlias = tuple[NDArray[np.float64], NDArray[np.str_]]
Make: TypeAlias = Callable[..., Any]


def _named(given: object) -> object:
    """A function by its name, also with arguments: ids of tests hold no addresses."""
    if isinstance(given, partial):
        return f"{given.func.__name__}{given.args}"
    return getattr(given, "__name__", given)


def refuse(
    words: str, call: Make, *args: Any, error: type[Exception] = ParameterError, **more: Any
) -> Refusal:
    """Named after the call."""
    given = [_named(arg) for arg in (*args, *(f"{k}={v}" for k, v in more.items()))]
    what = " ".join(f"{call.__name__} {given}".split())
    return Refusal(what, partial(call, *args, **more), error, words)


@cache
def rows(k: int = 3) -> Table:
    """Three columns, classes a, b and so on of 20 rows."""
    y = np.repeat(list("abc"[:k]), 20)
    X = np.random.default_rng(0).normal(size=(20 * k, 3)) + np.searchsorted(["a", "b"], y)[:, None]
    X.flags.writeable = False
    return X, y


@cache
def model(make: Make, k: int = 3) -> Any:
    return make().fit(*rows(k))


@cache
def iris() -> Any:
    return datasets.iris()


# --- What is called ------------------------------------------------------------------------------


def fit(make: Make, k: int = 3, unit: float = 1.0, **options: Any) -> Any:
    X, y = rows(k)
    return make(**options).fit(X * unit, y)


def ask(make: Make, method: str, *args: Any, k: int = 3, **more: Any) -> Any:
    given = {"boundary": (), "evaluate_direction": (), "cv_proba": rows(k)}.get(method, rows(k)[:1])
    return getattr(model(make, k), method)(*given, *args, **more)


def moments(make: Any, means: Any = ((0.0, 0.0), (1.0, 1.0)), **more: Any) -> Any:
    return make.from_moments(means, **more)


def of_moments(make: Any, method: str) -> Any:
    """A model of given moments knows no rows."""
    X, y = rows(2)
    return getattr(moments(make, covariances=UNIT, classes=["a", "b"]), method)(X[:, :2], y)


def leave_out_others(method: str, what: str) -> Any:
    """Not the rows of the fit."""
    X, y = (part.copy() for part in rows())
    if what == "a row less":
        X, y = X[1:], y[1:]
    elif what == "another number":
        X[3, 1] += 1e-5
    else:
        y[[0, 20]] = y[[20, 0]]
    return getattr(model(Linear), method)(X, y)


def leave_out_by_weight(method: str, then: float | None, now: float | None) -> Any:
    X, y = rows()
    w = np.arange(1, 61) % 3 + 1
    fitted = Linear().fit(X, y, sample_weight=None if then is None else w * then)
    return getattr(fitted, method)(X, y, sample_weight=None if now is None else w * now)


def leave_out_filled(method: str, **options: Any) -> Any:
    X, y = (part.copy() for part in rows())
    X[0, 0] = np.nan
    return getattr(Linear(missing="mean", **options).fit(X, y), method)(X, y)


def stream(make: Make, method: str, **options: Any) -> Any:
    """Options that came after a fit."""
    X, y = rows(2)
    return getattr(make().fit(X, y).set_params(**options), method)(X[:3], y[:3])


def fit_what_never_varies(make: Make) -> Any:
    return make().fit(np.full((60, 2), 3.5), rows()[1])


def fit_without_a_complete_row(make: Make) -> Any:
    columns = {"full": [1.0, 2.0, 3.0], "left": [1.0, *[np.nan] * 2], "right": [np.nan, 2.0, 3.0]}
    return make().fit(pd.DataFrame(columns), ["p", "q", "q"])


def boundary_with_no_rows() -> Any:
    return Quadratic().partial_fit(*rows(2), classes=["a", "b", "z"]).boundary("a", "z")


def predict_far_away() -> Any:
    return model(Quadratic).predict(rows()[0] * 1e200)


def check_unfitted() -> Any:
    return Linear().check_assumptions(iris(), "species")


def check_without_a_column() -> Any:
    return (
        Linear()
        .fit(iris(), "species")
        .check_assumptions(iris().drop(columns="petal_width"), "species")
    )


def check(n: int = 150, y: Any = "species", missing: Any = "drop_rows", **other: Any) -> Any:
    """check_assumptions of the first irises, with other columns."""
    known = Linear(missing=missing).fit(iris(), "species")
    return known.check_assumptions(iris()[:n].assign(**other), y)


# --- Rows ----------------------------------------------------------------------------------------

UNIT: Final = np.eye(2)
CLASSES: Final = np.array([0, 1, -1, 0, 1, 0], dtype=np.int32)
LOO: Final = "='loo' needs all rows at once"
NO_LINE: Final[list[Any]] = [
    [[1.0, 1.0], [1.0, 0.0]],  # to be wrong about the first costs nothing more
    [[2.0, 1.0], [1.0, 0.0]],
    [[0.0, 1.0], [0.0, 1.0]],
    [[0.0, 1.0]],
    [[0.0, -1.0], [1.0, 0.0]],
    [[0.0, math.nan], [1.0, 0.0]],
    "high",
]
POINTS: Final[dict[str, dict[str, Any]]] = {
    "priors": {"threshold": "least_error", "priors": [0.5, 0.5]},
    "costs": {"threshold": "least_error", "costs": "balanced"},
}
NO_SHARES: Final = [-0.1, 1.5, math.nan, "auto", "0.5", "Loo", True, [0.5], 1j, None]
NO_FOLDS: Final[list[Any]] = [1, 1000, 2.5, "ab", [1, 2], None, True, [0] * 60, [[1]] * 60]

OPTIONS: Final = [
    refuse(r"priors.*sum.*1\.2", fit, Linear, priors=[0.5, 0.6, 0.1]),
    refuse("priors.*at least 0", fit, Linear, priors=[-0.5, 0.5, 1.0]),
    refuse("priors.*3 classes", fit, Linear, priors=[0.5, 0.5]),
    refuse("priors.*'z'", fit, Linear, priors={"a": 0.5, "z": 0.5}),
    refuse("n_components=3.*2", fit, Linear, n_components=3),
    refuse("n_components=0", fit, Linear, n_components=0),
    refuse(r"shrinkage=1\.5", fit, Linear, shrinkage=1.5),
    refuse(r"shrinkage=-0\.1", fit, Linear, shrinkage=-0.1),
    refuse("shrinkage='auto'.*ledoit_wolf", fit, Linear, shrinkage="auto"),
    refuse("needs fourth powers", fit, Linear, unit=1e-90, shrinkage="ledoit_wolf"),
    refuse("needs fourth powers", fit, Linear, unit=1e90, shrinkage="ledoit_wolf"),
    refuse("covariance='ml'.*unbiased", fit, Linear, covariance="ml"),
    refuse("costs.*3", fit, Linear, costs=[[0, 1], [1, 0]]),
    refuse("class_weight='even'", fit, Linear, class_weight="even"),
    refuse("unknown='ignore'.*skip", fit, Linear, unknown="ignore"),
    refuse("n_components=3.*2", fit, Fisher, n_components=3),
    refuse("n_components=-1", fit, Fisher, n_components=-1),
    refuse("within='total'.*scatter", fit, Fisher, within="total"),
    refuse("threshold='best'.*midpoint", fit, Fisher, threshold="best"),
    refuse("least_error.*(two|3) classes", fit, Fisher, threshold="least_error"),
    refuse("n_jobs=0", fit, Fisher, n_jobs=0),
    *(
        refuse(f"'least_error'.*{name} would.*'midpoint'", fit, Fisher, 2, **given)
        for name, given in POINTS.items()
    ),
    refuse("priors='equal'.*'empirical'", fit, Fisher, priors="equal"),
    refuse("no boundary with 'b'", fit, Fisher, 2, priors=[1.0, 0.0]),
    *(refuse("cost", fit, Fisher, 2, costs=costs) for costs in NO_LINE),
    *(refuse("cost", fit, Indicator, 2, costs=costs) for costs in NO_LINE),
    refuse("costs cannot.*3 classes.*LinearDisc", fit, Indicator, costs="balanced"),
    refuse("priors cannot.*3 classes.*LinearDisc", fit, Indicator, priors="empirical"),
    refuse("ridge=-1", fit, Indicator, ridge=-1.0),
    refuse("ridge=nan", fit, Indicator, ridge=math.nan),
    refuse("missing='skip'.*drop_rows", fit, Indicator, missing="skip"),
    *(refuse("pooling=", fit, Quadratic, pooling=value) for value in NO_SHARES),
    *(refuse("shrinkage=", fit, Quadratic, shrinkage=v) for v in (1.5, "ledoit_wolf", np.bool_(0))),
    refuse("covariance=None", fit, Quadratic, covariance=None),
    refuse("priors", fit, Quadratic, priors=[0.5, math.nan, 0.5]),
    refuse("priors", fit, Quadratic, priors="equal"),
    refuse("costs", fit, Quadratic, costs=-np.eye(3)),
    refuse("costs", fit, Quadratic, costs=np.full((3, 3), math.nan)),
    refuse("class_weight.*'z'", fit, Quadratic, class_weight={"z": 1.0}),
    refuse("class_weight", fit, Quadratic, class_weight={"a": -1.0}),
    refuse("class_weight", fit, Quadratic, class_weight=[1, 2, 3]),
    refuse("nobody", fit, Quadratic, categorical_features=["nobody"]),
    refuse(r"beyond 1e\+140", fit, Quadratic, unit=1e150, error=InputError),
    refuse("'x0' holds infinite values", fit, Indicator, unit=math.inf, error=InputError),
    refuse(r"beyond 1e\+140", predict_far_away, error=InputError),
]


def of_every(make: Any) -> list[Refusal]:
    """What all four refuse."""
    return [
        refuse("No column of this table varies", fit_what_never_varies, make, error=InputError),
        refuse("'left'.*'right'", fit_without_a_complete_row, make, error=MissingValueError),
    ]


def of_gaussian(make: Any) -> list[Refusal]:
    """What both with posteriors refuse."""
    return [
        refuse("fewer than two classes", fit, make, 2, class_weight={"a": 0}),
        refuse("priors.*sum", ask, make, "predict_proba", priors=[0.5, 0.4, 0.3]),
        refuse("priors", ask, make, "predict_log_proba", priors=[0.5, 0.5]),
        refuse("priors", ask, make, "predict", priors=[-1.0, 1.0, 1.0]),
        refuse("costs", ask, make, "predict", costs=[[0.0, 1.0]]),
        refuse("7", ask, make, "boundary", "a", 7),
        refuse("different", ask, make, "boundary", "a", "a"),
        refuse("priors.*sum", ask, make, "boundary", "a", "b", priors=[0.5, 0.4, 0.3]),
        refuse("no boundary with 'b'", ask, make, "boundary", "a", "b", priors=[0.5, 0.0, 0.5]),
        *(refuse("cost", ask, make, "boundary", "a", "b", k=2, costs=costs) for costs in NO_LINE),
        refuse("covariances.*scatters", moments, make),
        refuse("covariances", moments, make, covariances=np.eye(3)),
        refuse("covariances", moments, make, covariances=-UNIT),
        refuse("symmetric", moments, make, covariances=[[1.0, 0.5], [0.0, 1.0]]),
        refuse("counts", moments, make, covariances=UNIT, counts=[1.0, 2.0, 3.0]),
        refuse("counts", moments, make, covariances=UNIT, counts=[-1.0, 2.0]),
        refuse("counts", moments, make, scatters=[UNIT, UNIT]),
        refuse("classes", moments, make, covariances=UNIT, classes=["a"]),
        refuse("names", moments, make, covariances=UNIT, names=["a", "b", "c"]),
        refuse("finite", moments, make, [[0.0, math.nan], [1.0, 1.0]], covariances=UNIT),
        refuse("class", moments, make, [[0.0, 0.0]], covariances=UNIT),
    ]


COUNTED: Final[dict[str, Any]] = {"covariances": UNIT, "counts": [9, 9]}
QUESTIONS: Final = [
    refuse("no boundary with 'c'", lambda: fit(Linear, priors=[0.5, 0.5, 0]).boundary("b", "c")),
    refuse("two different classes of 'a', 'b'", boundary_with_no_rows),
    refuse("scaling", ask, Linear, "transform", scaling="none"),
    refuse("scaling", ask, Fisher, "transform", scaling="none"),
    refuse("3", ask, Fisher, "evaluate_direction", [1.0, 2.0]),
    refuse("zero|0", ask, Fisher, "evaluate_direction", [0.0, 0.0, 0.0]),
    refuse("finite", ask, Fisher, "evaluate_direction", [1.0, math.nan, 0.0]),
    refuse("needs fourth powers", moments, Linear, shrinkage="ledoit_wolf", **COUNTED),
    refuse("depends on the number of rows", moments, Linear, covariances=UNIT, shrinkage="oas"),
    refuse(f"shrinkage{LOO}", moments, Linear, shrinkage="loo", **COUNTED),
    refuse("costs", moments, Linear, costs=[[1]], **COUNTED),
    refuse("pooling", moments, Quadratic, pooling=2.0, **COUNTED),
    refuse(f"pooling{LOO}", moments, Quadratic, pooling="loo", **COUNTED),
    refuse("class_weight names", moments, Indicator, class_weight={5: 2}, **COUNTED),
    refuse("least_error", moments, Fisher, threshold="least_error", **COUNTED),
    refuse("given moments", of_moments, Quadratic, "partial_fit"),
    refuse("Fisher.* no probabilities, which", ask, Fisher, "predict", priors=[0.5, 0.25, 0.25]),
    refuse("Indicator.*leave them out", ask, Indicator, "predict", costs=1.0 - np.eye(3)),
]


def of_leaving_out(method: str) -> list[Refusal]:
    again = f"{method} takes the rows of the fit again"
    weights = "the same X, y and sample_weight"
    return [
        *(
            refuse(again, leave_out_others, method, what, error=TrainingRowsError)
            for what in ("a row less", "another number", "two labels")
        ),
        *(
            refuse(weights, leave_out_by_weight, method, *times, error=TrainingRowsError)
            for times in ((None, 1), (1, None), (1, 0.5), (0.5, 1))
        ),
        refuse(f"given moments, and {method} leaves out rows", of_moments, Linear, method),
        refuse("hold means of all rows", leave_out_filled, method),
    ]


def of_streams(method: str) -> list[Refusal]:
    """What needs all rows at once."""
    given = {"error": UnavailableError}
    return [
        refuse(f"shrinkage{LOO}", stream, Linear, method, shrinkage="loo", **given),
        refuse(f"shrinkage{LOO}", stream, Quadratic, method, shrinkage="loo", **given),
        refuse(f"pooling{LOO}", stream, Quadratic, method, pooling="loo", **given),
        refuse("least_error", stream, Fisher, method, threshold="least_error", **given),
    ]


FOLDS: Final = [
    refuse("shrinkage='loo' leaves out rows", leave_out_filled, "predict", shrinkage="loo"),
    *(refuse("cv", ask, Linear, "cv_proba", folds) for folds in NO_FOLDS),
    *(
        refuse("rows without a label", read_folds, make([1, *[missing] * 2, 2, 3, 4]), CLASSES)
        for missing in (None, math.nan)
        for make in (list, np.array)
    ),
    refuse("one label for each of 6 rows", read_folds, np.zeros((6, 2)), CLASSES),
    refuse(r"from 2 to the number of rows \(5\)", read_folds, 6, CLASSES),
]
ASSUMPTIONS: Final = [
    refuse("", check_unfitted, error=NotFittedError),
    refuse("'thistle', .* no class of the fit", check, species="thistle", error=LabelError),
    refuse("at least two classes", check, 50, error=LabelError),
    refuse("No row is left to check", check, sepal_width=math.nan, error=MissingValueError),
    refuse("requires y", check, y=None, error=LabelError),
    refuse("petal_width", check_without_a_column, error=ColumnError),
    refuse("sepal_width", check, sepal_width=math.inf, error=InputError),
    refuse("sepal_width", check, sepal_width=1e200, error=InputError),
    refuse("sepal_width", check, missing="error", sepal_width=math.nan, error=MissingValueError),
]

REFUSALS: Final = [
    *OPTIONS,
    *(row for make in (Fisher, Linear, Indicator, Quadratic) for row in of_every(make)),
    *(row for make in (Linear, Quadratic) for row in of_gaussian(make)),
    refuse("fewer than two classes", fit, Indicator, 2, class_weight={"a": 0}),
    *QUESTIONS,
    *(row for method in ("loo_proba", "cv_proba") for row in of_leaving_out(method)),
    *(row for method in ("partial_fit", "forget") for row in of_streams(method)),
    *FOLDS,
    *ASSUMPTIONS,
]
