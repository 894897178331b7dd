"""The kernel discriminant in many digits, by the definitions alone, and tables hard on it.

Ridge 0 is calculated as what it means, a ridge that vanishes: 1e-40, where numbers have 200 digits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray

from sortal import KernelDiscriminant

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

EPS: Final = float(np.finfo(float).eps)
DIGITS: Final = 200
VANISHING: Final = mpmath.mpf("1e-40")
# Coefficients of rows that say nothing of w: K may be singular.
FREE: Final = mpmath.mpf("1e-80")
INFINITE: Final = mpmath.mpf("1e20")


# --- The definition ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Exact:
    """Rows as terms, labels, weights, a kernel, and a ridge: M a = λ(N + P)a, aᵀKa = 1."""

    X: Float
    y: Labels
    kernel: dict[str, Any]
    ridge: float = 0.0
    penalty: str = "rkhs"
    weight: Float | None = None

    @cached_property
    def rows(self) -> list[list[Any]]:
        return [[mpmath.mpf(x) for x in row] for row in self.X.tolist()]

    @cached_property
    def v(self) -> list[Any]:
        given = np.ones(len(self.y)) if self.weight is None else self.weight
        return [mpmath.mpf(w) for w in given.tolist()]

    def k(self, a: list[Any], b: list[Any]) -> Any:
        name, gamma = self.kernel["kernel"], mpmath.mpf(self.kernel.get("gamma", 1.0))
        pairs = list(zip(a, b, strict=True))
        if name == "rbf":
            return mpmath.exp(-gamma * sum((s - t) ** 2 for s, t in pairs))
        if name == "laplacian":
            return mpmath.exp(-gamma * sum(abs(s - t) for s, t in pairs))
        product = sum(s * t for s, t in pairs)
        if name == "linear":
            return product
        return (gamma * product + mpmath.mpf(self.kernel["coef0"])) ** self.kernel["degree"]

    @cached_property
    def gram(self) -> Any:
        n = len(self.y)
        return mpmath.matrix(
            [[self.k(self.rows[i], self.rows[j]) for j in range(n)] for i in range(n)]
        )

    @cached_property
    def members(self) -> list[list[int]]:
        return [np.flatnonzero(self.y == c).tolist() for c in np.unique(self.y)]

    @cached_property
    def sizes(self) -> list[Any]:
        return [sum(self.v[i] for i in own) for own in self.members]

    @cached_property
    def means(self) -> list[Any]:
        """m_c (ZM 20.17)."""
        found = []
        for own, n in zip(self.members, self.sizes, strict=True):
            found.append(sum((self.v[i] * self.gram[:, i] for i in own), 0 * self.gram[:, 0]) / n)
        return found

    @cached_property
    def within(self) -> Any:
        """Σ_c Σ_i v_i (k_i − m_c)(k_i − m_c)ᵀ (ZM 20.19, 20.20)."""
        found = 0 * self.gram
        for own, m in zip(self.members, self.means, strict=True):
            for i in own:
                d = self.gram[:, i] - m
                found += self.v[i] * d * d.T
        return found

    @cached_property
    def penalized(self) -> Any:
        """N + P, P = μK or ε diag(1/v)."""
        n = len(self.y)
        trace = sum(self.v[i] * self.gram[i, i] for i in range(n))
        ridge = mpmath.mpf(self.ridge) if self.ridge > 0 else VANISHING
        own = mpmath.diag([1 / v for v in self.v])
        P = ridge * trace * self.gram if self.penalty == "rkhs" else ridge * own
        return self.within + P + FREE * own

    @cached_property
    def spread(self) -> list[Any]:
        """√n_c (m_c − m)."""
        pairs = list(zip(self.sizes, self.means, strict=True))
        m = sum((n * mean for n, mean in pairs), 0 * self.means[0]) / sum(self.sizes)
        return [mpmath.sqrt(n) * (mean - m) for n, mean in pairs]

    @cached_property
    def solution(self) -> tuple[list[Any], list[Any]]:
        """λ of all directions, and (a, ℓ²) of each, λ falling."""
        solved = [mpmath.lu_solve(self.penalized, d) for d in self.spread]
        C = len(solved)
        D = mpmath.matrix([[(self.spread[c].T * solved[d])[0] for d in range(C)] for c in range(C)])
        values, vectors = mpmath.eigsy((D + D.T) / 2)
        order = [q for q in range(C - 1, 0, -1) if values[q] > 1e-30]
        found = []
        for q in order:
            a = sum((vectors[c, q] * solved[c] for c in range(C)), 0 * solved[0])
            a = a / mpmath.sqrt((a.T * self.gram * a)[0])
            inside = (a.T * self.penalized * a)[0]
            if values[q] > INFINITE:
                inside = mpmath.mpf("1e-9") * sum((d.T * a)[0] ** 2 for d in self.spread)
            found.append((a, inside))
        return [values[q] for q in order], found

    @property
    def eigenvalues(self) -> Float:
        """λ, of two classes by the book's M."""
        n = self.sizes
        unit = sum(n) / (n[0] * n[1]) if len(n) == 2 else mpmath.mpf(1)
        values = self.solution[0]
        return np.array([np.inf if x > INFINITE else float(unit * x) for x in values])

    def posteriors(self, X: Float) -> Float:
        """Of a Gaussian a class along the directions."""
        N, C, n = sum(self.sizes), len(self.sizes), len(self.y)
        divisor = N * (n - C) / n
        found = []
        for row in X.tolist():
            k = mpmath.matrix([self.k([mpmath.mpf(x) for x in row], own) for own in self.rows])
            shares = []
            for size, mean in zip(self.sizes, self.means, strict=True):
                far = sum((a.T * (k - mean))[0] ** 2 / inside for a, inside in self.solution[1])
                shares.append(size / N * mpmath.exp(-divisor * far / 2))
            found.append([float(share / sum(shares)) for share in shares])
        return np.array(found)

    @cached_property
    def blur(self) -> float:
        """n · EPS · the largest k(x, x), over the least eigenvalue of K less its means."""
        n, total = len(self.y), sum(self.v)
        root = mpmath.matrix([mpmath.sqrt(v) for v in self.v])
        W = mpmath.diag(list(root))
        H = mpmath.eye(n) - root * root.T / total
        values = mpmath.eigsy(H * W * self.gram * W * H, eigvals_only=True)
        least = min(x for x in values if x > 1e-60 * values[n - 1])
        return float(n * EPS * max(self.v[i] * self.gram[i, i] for i in range(n)) / least)


# --- Tables --------------------------------------------------------------------------------------

KERNELS: Final[dict[str, dict[str, Any]]] = {
    "linear": {"kernel": "linear"},
    "poly 2": {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5},
    "poly 2, no constant": {"kernel": "poly", "degree": 2, "coef0": 0.0, "gamma": 0.5},
    "poly 3": {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.25},
    "rbf": {"kernel": "rbf", "gamma": 0.5, "scale": None},
    "laplacian": {"kernel": "laplacian", "gamma": 0.5, "scale": None},
}


def plain(n_classes: int = 3) -> tuple[Float, Labels]:
    """Twelve rows of three columns, by eighths, in classes that overlap."""
    rng = np.random.default_rng(7)
    y = np.arange(12) % n_classes
    return np.round((rng.normal(size=(12, 3)) + 0.7 * y[:, None]) * 8) / 8, y


def tables() -> dict[str, tuple[Float, Labels, Float | None]]:
    """Kinds of tables: what a kernel matrix or its scatter can be singular by."""
    X, y = plain()
    two, halves = plain(2)
    rng = np.random.default_rng(1)
    words = np.eye(3)[rng.integers(0, 3, 12)]
    return {
        "plain": (X, y, None),
        "two classes": (two, halves, None),
        "weights": (X, y, np.arange(1, 13) / 8),
        "rows that repeat": (np.vstack([X, X[:4]]), np.append(y, y[:4]), None),
        "a row in two classes": (np.vstack([X, X[:2]]), np.append(y, [1, 2]), None),
        "a constant column": (np.c_[X[:, :2], np.full(12, 3.0)], y, None),
        "collinear columns": (np.c_[X[:, :2], X[:, 0] - 2 * X[:, 1]], y, None),
        "a category": (np.c_[X[:, :1], words], y, None),
        "a class of one row": (X, np.where(np.arange(12) == 5, 2, y % 2), None),
        "a column that tells the classes": (np.c_[X[:, :2], y == 0].astype(float), y, None),
        "far from 0 (1e3)": (X + 1e3, y, None),
        "far from 0 (1e6)": (X + 1e6, y, None),
    }


def fitted(exact: Exact, **more: Any) -> KernelDiscriminant:
    told: dict[str, Any] = exact.kernel | {"ridge": exact.ridge, "penalty": exact.penalty} | more
    return KernelDiscriminant(**told).fit(exact.X, exact.y, sample_weight=exact.weight)


def difference(exact: Exact, model: KernelDiscriminant) -> float:
    """The largest of λ, as a share of it, and of P(c|x), in rows of the fit and beside them."""
    found, wanted = model.eigenvalues_, exact.eigenvalues
    if found.shape != wanted.shape or (np.isinf(found) != np.isinf(wanted)).any():
        return np.inf
    finite = np.isfinite(wanted)
    of_values = np.abs(found[finite] / wanted[finite] - 1).max(initial=0.0)
    asked = np.vstack([exact.X[:4], exact.X[:3] + 0.125])
    off = np.abs(model.predict_proba(asked) - exact.posteriors(asked)).max()
    return float(max(of_values, off))


RIDGES: Final = (
    (0.0, "rkhs"),
    (0.0, "coefficients"),
    (0.0, "rkhs"),
    (1e-10, "rkhs"),
    (1e-3, "rkhs"),
)


def cases(share: int) -> Iterator[tuple[str, Exact]]:
    """One sixth of all: every kind of table, kernels, ridges and penalties in turn."""
    names = list(KERNELS)
    for i, (kind, (X, y, w)) in enumerate(tables().items()):
        j = (i + share) % len(names)
        ridge, penalty = RIDGES[(i + j) % len(RIDGES)]
        yield f"{kind}, {names[j]}", Exact(X, y, KERNELS[names[j]], ridge, penalty, w)
