"""Small tables, options and comparisons for the tests of the kernel discriminant."""

import warnings
from collections.abc import Iterable
from functools import cache
from itertools import combinations, product
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.kernels.oracle import Oracle

from sortal import KernelDiscriminant, datasets
from sortal.errors import PerfectSeparationWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

NAMES: Final = np.array(["ash", "birch", "cedar", "elm", "fir"])
EIGHT_DIGITS: Final = 1e-8
PENALTIES: Final = ("rkhs", "coefficients")
SOLVERS: Final = ("dense", "landmarks")


def make_table(seed: int, n_classes: int = 3, n_terms: int = 3) -> tuple[Float, Labels]:
    """Classes of unequal size and shape that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(n_classes), rng.integers(6, 13, n_classes)))
    turns = rng.normal(size=(n_classes, n_terms, n_terms)) * 0.4 + np.eye(n_terms)
    X = np.einsum("ij,ijm->im", rng.normal(size=(len(y), n_terms)), turns[y])
    return X + rng.normal(size=(n_classes, n_terms))[y] + 0.5, NAMES[y]


@cache
def iris() -> tuple[Any, Labels]:
    """Four columns as a frame, and the species."""
    frame = datasets.iris()
    return frame.drop(columns="species"), frame["species"].to_numpy()


def make_weights(kind: str, n: int) -> Any:
    rng = np.random.default_rng(n)
    if kind == "whole":
        return rng.integers(1, 4, n)
    if kind == "fractions":
        return rng.uniform(0.1, 2.0, n).round(2) + 0.001
    if kind == "zeros":
        return rng.integers(0, 3, n)
    return None


def two_parts(A: Float, B: Float) -> Float:
    """A kernel that is no other's: a plane and rough hills."""
    far = np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2)
    return np.asarray(0.3 * A @ B.T + np.exp(-0.4 * far))


KERNELS: Final[dict[str, dict[str, Any]]] = {
    "rbf": {},
    "rbf, as it is": {"gamma": 0.2, "scale": None},
    "laplacian": {"kernel": "laplacian"},
    "poly": {"kernel": "poly"},
    "cubic": {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.4, "scale": "std"},
    "linear": {"kernel": "linear"},
    "function": {"kernel": two_parts},
    "precomputed": {"kernel": "precomputed"},
}


def all_pairs(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Of all combinations some, so that every two values of two factors meet at least once."""
    values = [list(factor) for factor in factors]
    met: set[Any] = set()
    chosen = []
    most = len(values) * (len(values) - 1) // 2
    for new in range(most, 0, -1):
        for places in product(*(range(len(factor)) for factor in values)):
            pairs = set(combinations(enumerate(places), 2))
            if len(pairs - met) >= new:
                met |= pairs
                chosen.append(tuple(f[i] for f, i in zip(values, places, strict=True)))
    return chosen


def pairs(**factors: Iterable[Any]) -> pytest.MarkDecorator:
    """A test with every two values of two factors."""
    return pytest.mark.parametrize(tuple(factors), all_pairs(*factors.values()))


def gram(A: Float, B: Float) -> Float:
    """What is given where a kernel is precomputed."""
    return two_parts(A, B) + 0.2 * (A @ B.T) ** 2


def as_given(options: dict[str, Any], X: Float, rows: Float) -> Float:
    """Rows as the learner wants them: kernel values with the rows X of the fit, or themselves."""
    return gram(rows, X) if options.get("kernel") == "precomputed" else rows


def fitted(oracle: Oracle, **more: Any) -> KernelDiscriminant:
    """The learner, fitted to the rows of an oracle with its options."""
    names = ("kernel", "gamma", "degree", "coef0", "scale", "ridge", "penalty", "rule",
             "n_components", "priors", "class_weight")  # fmt: skip
    options = {name: getattr(oracle, name) for name in names} | more
    return KernelDiscriminant(**options).fit(oracle.X, oracle.y, sample_weight=oracle.weight)


def quietly(oracle: Oracle, **more: Any) -> KernelDiscriminant:
    """The same where classes lie apart, which is warned of elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        return fitted(oracle, **more)


def close(found: Any, expected: Any, digits: float = EIGHT_DIGITS) -> None:
    """Equal to so many digits of the largest number in each column."""
    expected = np.asarray(expected, dtype=np.float64)
    assert np.shape(found) == expected.shape
    size = np.abs(expected).max(axis=0, initial=0.0)
    found, size = np.asarray(found, dtype=np.float64), np.where(size > 0, size, 1.0)
    assert_allclose(found / size, expected / size, rtol=0, atol=digits)


def same_posteriors(found: Any, expected: Any, digits: float = EIGHT_DIGITS) -> None:
    """Logarithms to so many digits, each of its own size."""
    assert np.shape(found) == np.shape(expected)
    assert_allclose(found, expected, rtol=digits, atol=digits)
