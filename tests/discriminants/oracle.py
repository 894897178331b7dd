"""A slow oracle of Gaussian classes in 100 digits, written from the definitions alone.

It walks over the rows, adds up outer products, and asks one row and one class at a time. Nothing is
shared with the library. With a pooling of 1 it is the linear discriminant, and Fisher's rule is the
same with equal priors.

Letters: class k has weight w_k, n_k rows, mean μ_k and scatter S_k; D_k, its `divisor`, is what S_k
is divided by; λ is the pooling, γ the shrinkage, p the number of columns.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

import mpmath
import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Exact: TypeAlias = Any  # arrays of mpmath, which has no types

mp: Final = mpmath.mp.clone()
mp.dps = 100

NAMES: Final = np.array(["ash", "birch", "cedar", "elm", "fir"])
# Rows of the tests are either on a plane or clearly off it.
ON_A_PLANE = 1e-9
VARIANCE_FLOOR = mp.mpf("1e-9")
EPS = float(np.finfo(float).eps)


def make_table(seed: int, n_classes: int = 3, n_terms: int = 3) -> tuple[Float, Labels]:
    """Classes of unequal size and shape that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(n_classes), rng.integers(7, 20, n_classes)))
    turns = rng.normal(size=(n_classes, n_terms, n_terms)) * 0.4 + np.eye(n_terms)
    X = np.einsum("ij,ijm->im", rng.normal(size=(len(y), n_terms)), turns[y])
    return X + rng.normal(size=(n_classes, n_terms))[y] * 0.8 + 4, NAMES[y]


def close(found: Any, expected: Any, digits: float = 1e-9) -> None:
    assert_allclose(found, expected, rtol=digits, atol=digits)


exact = np.frompyfunc(mp.mpf, 1, 1)  # arrays of numbers of 100 digits
exp = np.frompyfunc(mp.exp, 1, 1)
root_of = np.frompyfunc(mp.sqrt, 1, 1)


def floats(numbers: Exact) -> Float:
    return np.asarray(numbers, dtype=object).astype(float)


def array(matrix: Any) -> Exact:
    return np.array(matrix.tolist(), dtype=object).reshape(matrix.rows, matrix.cols)


def inverse(A: Exact) -> tuple[Exact, Any]:
    """And the logarithm of the determinant; in units in which the diagonal is 1."""
    if not A.size:
        return A, mp.mpf(0)
    D = root_of(np.diag(A))
    M = mp.matrix((A / np.outer(D, D)).tolist())
    return array(M**-1) / np.outer(D, D), mp.log(mp.det(M)) + 2 * mp.fsum(map(mp.log, D))


def eigen(A: Exact) -> tuple[Exact, Exact]:
    """Eigenvalues, falling, and vectors."""
    values, vectors = mp.eigsy(mp.matrix(A.tolist())) if A.size else (mp.matrix(0, 1), mp.eye(0))
    order = sorted(range(len(A)), key=lambda i: -values[i])
    return array(values)[order, 0], array(vectors)[:, order]


def spectrum(S: Exact, nothing: Exact) -> tuple[Exact, Exact, Exact]:
    """Eigenvalues and vectors of D⁻¹SD⁻¹, which has a diagonal of ones, and D.

    Where the diagonal of S is `nothing` at most, it has zeros.
    """
    something = np.diag(S) > nothing
    D = root_of(np.where(something, np.diag(S), exact(1)))
    R = np.where(np.outer(something, something), S / np.outer(D, D), exact(0))
    return *eigen(R), D


@dataclass(frozen=True, eq=False)
class Oracle:
    """Gaussian classes with a covariance each.

    Directions below the share `plane` of others are none, nor are the last digits of a column's
    largest number, a share `digits` of it.
    """

    X: Float
    y: Labels
    covariance: str = "unbiased"
    pooling: float = 0.0
    shrinkage: float = 0.0
    weight: Float | None = None
    priors: Mapping[Any, float] | None = None
    class_weight: Mapping[Any, float] | str | None = None
    plane: float = ON_A_PLANE
    digits: float = 4 * EPS
    _kept: dict[Any, Any] = field(default_factory=dict)

    # --- Rows, weights, moments ------------------------------------------------------------------

    @cached_property
    def plain(self) -> Float:
        """The weights of rows before those of classes."""
        return np.ones(len(self.X)) if self.weight is None else np.asarray(self.weight, float)

    @cached_property
    def classes(self) -> list[Any]:
        return sorted(set(self.y[self.plain > 0].tolist()))

    @cached_property
    def factor(self) -> dict[Any, float]:
        """What a class's rows weigh more than others."""
        if self.class_weight is None:
            return dict.fromkeys(self.classes, 1.0)
        if isinstance(self.class_weight, str):
            assert self.class_weight == "balanced"
            share = self.plain.sum() / len(self.classes)
            return {c: float(share / self.plain[self.y == c].sum()) for c in self.classes}
        return {c: float(self.class_weight.get(c, 1.0)) for c in self.classes}

    @cached_property
    def row_weight(self) -> Float:
        return np.array(
            [w * self.factor.get(c, 1.0) for w, c in zip(self.plain, self.y, strict=True)]
        )

    @cached_property
    def whole(self) -> bool:
        """Whole weights are copies; others are importances, and rows are counted."""
        factors = np.array(list(self.factor.values()))
        return bool(
            (self.plain == np.floor(self.plain)).all() and (factors == np.floor(factors)).all()
        )

    @cached_property
    def _rows(self) -> dict[Any, tuple[Exact, Exact]]:
        """Rows that have weight, and their weights."""
        mine = {k: (self.y == k) & (self.row_weight > 0) for k in self.classes}
        return {k: (exact(self.X[i]), exact(self.row_weight[i])) for k, i in mine.items()}

    @cached_property
    def w(self) -> dict[Any, Any]:
        return {k: mp.fsum(w) for k, (_, w) in self._rows.items()}

    def n(self, k: Any) -> float:
        if self.whole:
            return float(self.w[k])
        own = self.plain[self.y == k]
        if (self.plain == np.floor(self.plain)).all():  # copies, of which class weights are shares
            return float(own.sum())
        return float((own > 0).sum())

    @cached_property
    def present(self) -> list[Any]:
        return [k for k in self.classes if self.w[k] > 0]

    @cached_property
    def total(self) -> Any:
        return mp.fsum(self.w[k] for k in self.present)

    @cached_property
    def exact_means(self) -> dict[Any, Exact]:
        return {k: self._rows[k][1] @ self._rows[k][0] / self.w[k] for k in self.present}

    @property
    def means(self) -> dict[Any, Float]:
        return {k: floats(mean) for k, mean in self.exact_means.items()}

    @cached_property
    def exact_scatters(self) -> dict[Any, Exact]:
        z = {k: self._rows[k][0] - self.exact_means[k] for k in self.present}
        return {k: (z[k].T * self._rows[k][1]) @ z[k] for k in self.present}

    @property
    def scatters(self) -> dict[Any, Float]:
        return {k: floats(S) for k, S in self.exact_scatters.items()}

    # --- Divisors, pooling, shrinkage ------------------------------------------------------------

    def divisor(self, k: Any) -> Any:
        n = mp.mpf(self.n(k))
        return self.w[k] if self.covariance == "mle" or n <= 1 else self.w[k] * (n - 1) / n

    @cached_property
    def pooled_divisor(self) -> Any:
        n, K = mp.mpf(sum(map(self.n, self.present))), len(self.present)
        return self.total if self.covariance == "mle" or n <= K else self.total * (n - K) / n

    @cached_property
    def within(self) -> Exact:
        return sum(self.exact_scatters.values())

    def shrunk(self, sigma: Exact) -> Exact:
        """(1 − γ) Σ + γ (tr Σ / p) I."""
        share, p = mp.mpf(self.shrinkage), len(sigma)
        return (1 - share) * sigma + share * np.trace(sigma) / p * exact(np.eye(p))

    @property
    def pooled(self) -> Float:
        """LDA's covariance."""
        return floats(self.shrunk(self.within / self.pooled_divisor))

    def _own(self, k: Any) -> Exact:
        share = mp.mpf(self.pooling)
        A = (1 - share) * self.exact_scatters[k] + share * self.within
        return self.shrunk(A / ((1 - share) * self.divisor(k) + share * self.pooled_divisor))

    def own(self, k: Any) -> Float:
        """Σ_k(λ, γ), before a singular one is completed: scatters and divisors are mixed."""
        return floats(self._own(k))

    # --- Singular classes ------------------------------------------------------------------------

    @cached_property
    def nothing(self) -> Exact:
        """What squared deviations of a row may be rounding."""
        return exact(self.digits * np.abs(self.X).max(axis=0)) ** 2

    def _rank_of(self, classes: list[Any]) -> int:
        key = "rank", *classes
        if key not in self._kept:
            S = sum(self.exact_scatters[k] for k in classes)
            values, *_ = spectrum(S, self.nothing * mp.fsum(self.w[k] for k in classes))
            self._kept[key] = int((values > mp.mpf(self.plane) ** 2).sum())
        return int(self._kept[key])

    def rank(self, k: Any) -> int:
        """The rank of a class's own matrix."""
        rank = self._rank_of(self.present if self.pooling > 0 else [k])
        return self.X.shape[1] if self.shrinkage > 0 and rank > 0 else rank

    @cached_property
    def root(self) -> Exact:
        """G with GᵀΣG = I over what varies, Σ pooled and floored where it stands still.

        Columns in the unit of their deviation over all rows; directions apart are orthonormal in
        the units of the columns, and at right angles to all others.
        """
        p, rank = self.X.shape[1], self._rank_of(self.present)
        rank = p if self.shrinkage > 0 and rank > 0 else rank
        pooled = self.shrunk(self.within / self.pooled_divisor)
        values, vectors, D = spectrum(pooled, self.nothing * (rank < p))
        turned = vectors / D[:, None]
        sphere = turned[:, :rank] / root_of(values[:rank])
        if rank == p:
            return sphere
        flat = array(mp.qr(mp.matrix(turned[:, rank:].tolist()))[0])[:, : p - rank]
        sphere = sphere - flat @ (flat.T @ sphere)
        return np.hstack([sphere, self._apart(flat)])

    def _apart(self, flat: Exact) -> Exact:
        """Directions without scatter within along which means differ, of floored variance."""
        share = np.array([self.w[k] / self.total for k in self.present])
        means = np.array([self.exact_means[k] for k in self.present])
        gaps = (means - share @ means) @ flat
        spread, turn = eigen((gaps.T * share) @ gaps)
        size = np.linalg.norm(self.X - self.X.mean(axis=0))
        real = spread > mp.mpf(float(self.plane * size)) ** 2
        return flat @ turn[:, real] / root_of(VARIANCE_FLOOR * spread[real])

    @cached_property
    def back(self) -> Exact:
        """The pseudo-inverse of the root."""
        return inverse(self.root.T @ self.root)[0] @ self.root.T

    def is_singular(self, k: Any) -> bool:
        return bool(self.rank(k) < self.root.shape[1])

    @cached_property
    def exact_used(self) -> dict[Any, Exact]:
        return {k: self._completed(k) for k in self.present}

    def used(self, k: Any) -> Float:
        """Σ_k as used."""
        return floats(self.exact_used[k])

    def _completed(self, k: Any) -> Exact:
        """Where Σ_k stands still, and the pooled one does not, the pooled variance."""
        if not self.is_singular(k):
            return self._own(k)
        values, vectors = eigen(self.root.T @ self._own(k) @ self.root)
        values[self.rank(k) :] = mp.mpf(1)
        return self.back.T @ (vectors * values) @ vectors.T @ self.back

    # --- Functions -------------------------------------------------------------------------------

    def prior(self, k: Any) -> float:
        return float(self.w[k] / self.total) if self.priors is None else self.priors[k]

    def _span(self, o: Any) -> Exact:
        """A basis of what varies among known columns: the same for all classes."""
        if self.root.shape[0] == self.root.shape[1] or not len(o):
            return exact(np.eye(len(o)))
        values, vectors, D = spectrum(self.back[:, o].T @ self.back[:, o], exact(np.zeros(len(o))))
        return (vectors * D[:, None])[:, values > mp.mpf(100 * self.plane) ** 2]

    def _spanned(self, k: Any, o: Any) -> tuple[Exact, Any]:
        """What stands for the inverse of Σ_k over the known columns, and ln det Σ_k there."""
        if (k, *o) not in self._kept:
            B = self._span(o)
            P, log_det = inverse(B.T @ self.exact_used[k][np.ix_(o, o)] @ B)
            self._kept[k, *o] = B @ P @ B.T, log_det
        found: tuple[Exact, Any] = self._kept[k, *o]
        return found

    def inverse(self, k: Any) -> Float:
        """What stands for the inverse of Σ_k."""
        return floats(self._spanned(k, np.arange(self.X.shape[1]))[0])

    def _function(self, x: Float, k: Any) -> Any:
        """ln π_k + ln N(x; μ_k, Σ_k) over the known columns, less a term common to all classes."""
        if k not in self.present or self.prior(k) <= 0:
            return -mp.inf
        o = np.flatnonzero(~np.isnan(x))
        P, log_det = self._spanned(k, o)
        z = exact(x[o]) - self.exact_means[k][o]
        return mp.log(self.prior(k)) - (log_det + z @ P @ z) / 2

    def functions(self, x: Float) -> Exact:
        """g_k(x), classes in sorted order."""
        return np.array([self._function(x, k) for k in self.classes], dtype=object)

    def log_posterior(self, x: Float) -> Float:
        g = self.functions(x)
        behind = g - max(g)
        return floats(behind - mp.log(mp.fsum(exp(behind))))

    def posterior(self, x: Float) -> list[float]:
        return [math.exp(v) for v in self.log_posterior(x)]

    def log_odds(self, x: Float, k: Any, l: Any) -> float:  # noqa: E741  (the books' letters)
        """ln π_k/π_l + ½ ln det Σ_l/det Σ_k − ½ z_kᵀΣ_k⁻¹z_k + ½ z_lᵀΣ_l⁻¹z_l."""
        return float(self._function(x, k) - self._function(x, l))

    def boundary(self, k: Any, l: Any) -> tuple[float, Float, Float]:  # noqa: E741
        """(β_0, β, Γ) with log-odds β_0 + xᵀβ + xᵀΓx, multiplied out."""
        P, Q, m, r = self.inverse(k), self.inverse(l), self.means[k], self.means[l]
        at_zero = self.log_odds(np.zeros(self.X.shape[1]), k, l)
        return at_zero, P @ m - Q @ r, (Q - P) / 2

    def parts(self, x: Float, k: Any, l: Any) -> tuple[float, Float]:  # noqa: E741
        """The offset and each column's part: −½ z_i (Σ_k⁻¹z)_i, and ½ the same for class l."""
        o, amounts = np.flatnonzero(~np.isnan(x)), np.zeros(len(x))
        offset = math.log(self.prior(k) / self.prior(l))
        for label, sign in ((k, 1), (l, -1)):
            P, log_det = self._spanned(label, o)
            z = exact(x[o]) - self.exact_means[label][o]
            amounts[o] -= floats(sign * z * (P @ z) / 2)
            offset -= float(sign * log_det / 2)
        return offset, amounts

    # --- All rows --------------------------------------------------------------------------------

    def posteriors(self, rows: Float) -> Float:
        return np.exp(self.log_posteriors(rows))

    def log_posteriors(self, rows: Float) -> Float:
        return np.array([self.log_posterior(x) for x in rows])

    def all_functions(self, rows: Float) -> Float:
        return floats([self.functions(x) for x in rows])
