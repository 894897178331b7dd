"""Every learner of the registry, as it is and in a few other settings, and tables for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal.tasks.registry import find, learners

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal.tasks.registry import LearnerEntry

N: Final = 60
ASKS: Final = (
    *("predict_proba", "transform", "apply", "kneighbors"),
    *("decision_function", "predict", "predict_log_proba"),
)


@dataclass(frozen=True, repr=False)
class Setting:
    """A learner with options of its own."""

    learner: LearnerEntry
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "-".join([self.learner.name, *map(str, self.options.values())])

    def make(self, **more: Any) -> Any:
        return self.learner.make(**{**self.options, **more})

    def fit(self, X: Any, y: Any = None, weight: Any = None, **more: Any) -> Any:
        return self.make(**more).fit(X, labels() if y is None else y, weight)

    def offers(self, *methods: str) -> bool:
        return all(hasattr(self.make(), method) for method in methods)


_OTHERS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("tree", {"criterion": "gini", "pruning": None, "missing": "fractional"}),
    ("tree", {"criterion": "gain_ratio", "categorical_split": "multiway", "smoothing": "laplace"}),
    ("bayes", {"structure": "joint"}),
    ("lda", {"shrinkage": "ledoit_wolf", "missing": "mean"}),
    ("qda", {"pooling": 0.5}),
    ("fisher", {"within": "covariance"}),
    ("indicator", {"ridge": 1.0}),
    ("neighbors", {"metric": "hamming", "weights": "rank"}),
    ("kernel", {"kernel": "linear", "penalty": "coefficients"}),
    ("kernel", {"solver": "landmarks", "n_landmarks": 12}),
]
DEFAULTS: Final = [Setting(learner) for learner in learners()]
SETTINGS: Final = [*DEFAULTS, *(Setting(find(name), options) for name, options in _OTHERS)]

every_learner = pytest.mark.parametrize("learner", DEFAULTS, ids=repr)
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=repr)

LIBRARIES: Final[dict[str, Callable[[Any], Any]]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def labels() -> NDArray[Any]:
    """Three classes, of 30, 15 and 15 rows."""
    return np.array(["ash", "birch", "elm", "ash"])[np.arange(N) % 4]


@cache
def _whole() -> pd.DataFrame:
    rng, codes = np.random.default_rng(0), np.unique(labels(), return_inverse=True)[1]
    return pd.DataFrame(
        {
            "city": np.array(["Rome", "Oslo", "Lima"], dtype=object)[
                (codes + (rng.random(N) < 0.3)) % 3
            ],
            "member": (codes > 0) ^ (rng.random(N) < 0.3),
            "visits": codes + rng.integers(0, 3, N),
            "spend": 10 * codes + rng.normal(scale=8.0, size=N),
        }
    )


def whole() -> pd.DataFrame:
    """Words, truth values, whole numbers and fractions."""
    return _whole().copy()


def mixed() -> pd.DataFrame:
    """The same with 15 missing values."""
    frame = whole()
    frame.loc[::12, "city"] = None
    frame.loc[3::6, "spend"] = np.nan
    return frame


def numbers() -> NDArray[np.float64]:
    """Numbers only, each of float32, no two alike."""
    rng, codes = np.random.default_rng(1), np.unique(labels(), return_inverse=True)[1]
    cells = rng.normal(size=(N, 3)) + codes[:, None] * [1.5, -1.0, 0.0]
    return cells.astype(np.float32).astype(np.float64)


@cache
def _fitted(name: str) -> Any:
    setting = next(setting for setting in SETTINGS if repr(setting) == name)
    return setting.fit(mixed())


def fitted(setting: Setting) -> Any:
    """A model of the mixed table that others ask, too."""
    return _fitted(repr(setting))


def answers(model: Any, X: Any, most: int = 2) -> list[NDArray[Any]]:
    """What a model says of rows when asked in different ways: the labels follow from the first."""
    asks = [ask for ask in ASKS if hasattr(model, ask)][:most]
    said = [getattr(model, ask)(X) for ask in asks]
    return [np.asarray(part) for one in said for part in (one if type(one) is tuple else (one,))]


def assert_same(found: Any, wanted: Any, *tables: Any, most: int = 2) -> None:
    """Two models say the same, to the bit, of the same rows or of two tables that hold them."""
    pairs = zip(answers(found, tables[0], most), answers(wanted, tables[-1], most), strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(one, other, strict=True)


def assert_close(found: Any, wanted: Any, X: Any, rtol: float) -> None:
    """Two models say the same of rows up to rounding; what they keep may differ."""
    np.testing.assert_array_equal(found.predict(X), wanted.predict(X))
    ask = "predict_proba" if hasattr(wanted, "predict_proba") else "decision_function"
    one, other = (getattr(model, ask)(X) for model in (found, wanted))
    np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(other).max())
