"""A slow oracle of the quadratic discriminant, written from the definitions alone.

It walks over the rows, adds up outer products, and asks one row and one class at a time. Nothing is
shared with the library: ranks come from singular values of the rows themselves, the pooled root
from an eigen-decomposition, densities from determinants and inverses.

Letters: class k has weight w_k, n_k rows, mean μ_k and scatter S_k; D_k, its `divisor`, is what S_k
is divided by; λ is the pooling, γ the shrinkage, p the number of columns.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

NAMES: Final = np.array(["ash", "birch", "cedar", "elm", "fir"])
# Rows of the tests are either on a plane or clearly off it.
ON_A_PLANE = 1e-9
VARIANCE_FLOOR = 1e-9


def make_table(seed: int, n_classes: int = 3, n_terms: int = 3) -> tuple[Float, Labels]:
    """Classes of unequal size and shape that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(n_classes), rng.integers(7, 20, n_classes)))
    turns = rng.normal(size=(n_classes, n_terms, n_terms)) * 0.4 + np.eye(n_terms)
    X = np.einsum("ij,ijm->im", rng.normal(size=(len(y), n_terms)), turns[y])
    return X + rng.normal(size=(n_classes, n_terms))[y] * 0.8 + 4, NAMES[y]


def close(found: Any, expected: Any, digits: float = 1e-9) -> None:
    assert_allclose(found, expected, rtol=digits, atol=digits)


def rank_of_rows(rows: Float, magnitude: Float) -> int:
    """Of deviations, each column in the unit of its own size: 1e-9 of it is nothing.

    Nor is the last place of a column's largest number, its `magnitude`.
    """
    if not rows.size:
        return 0
    size = np.linalg.norm(rows, axis=0)
    varies = size > 4 * np.finfo(float).eps * magnitude * math.sqrt(len(rows))
    scaled = rows[:, varies] / size[varies]
    if not scaled.size:
        return 0
    return int((np.linalg.svd(scaled, compute_uv=False) > ON_A_PLANE).sum())


@dataclass(frozen=True, eq=False)
class Oracle:
    """Gaussian classes with a covariance each."""

    X: Float
    y: Labels
    covariance: str = "unbiased"
    pooling: float = 0.0
    shrinkage: float = 0.0
    weight: Float | None = None
    priors: Mapping[Any, float] | None = None
    class_weight: Mapping[Any, float] | str | None = None

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

    def rows(self, k: Any) -> list[tuple[Float, float]]:
        weight = self.row_weight
        return [(self.X[i], float(weight[i])) for i in np.flatnonzero(self.y == k) if weight[i] > 0]

    @cached_property
    def _w(self) -> dict[Any, float]:
        return {k: sum(w for _, w in self.rows(k)) for k in self.classes}

    def w(self, k: Any) -> float:
        return self._w[k]

    def n(self, k: Any) -> float:
        if self.whole:
            return self.w(k)
        own = self.plain[self.y == k]
        if (
            self.plain == np.floor(self.plain)
        ).all():  # copies, that class weights then make importances
            return float(own.sum())
        return float((own > 0).sum())

    @cached_property
    def present(self) -> list[Any]:
        return [k for k in self.classes if self.w(k) > 0]

    @cached_property
    def gaps(self) -> dict[Any, Float]:
        """Class means less the first row, so that far offsets cost no digits."""
        return {
            k: np.asarray(sum(w * (x - self.X[0]) for x, w in self.rows(k)) / self.w(k))
            for k in self.present
        }

    @property
    def means(self) -> dict[Any, Float]:
        return {k: self.X[0] + gap for k, gap in self.gaps.items()}

    def z(self, x: Float, k: Any) -> Float:
        """x − μ_k."""
        return np.asarray((x - self.X[0]) - self.gaps[k])

    @cached_property
    def scatters(self) -> dict[Any, Float]:
        p = self.X.shape[1]
        found = {}
        for k in self.present:
            found[k] = np.zeros((p, p))
            for x, w in self.rows(k):
                found[k] += w * np.outer(self.z(x, k), self.z(x, k))
        return found

    # --- Divisors, pooling, shrinkage ------------------------------------------------------------

    def divisor(self, k: Any) -> float:
        if self.covariance == "mle" or self.n(k) <= 1:
            return self.w(k)
        return self.w(k) * (self.n(k) - 1) / self.n(k)

    @cached_property
    def pooled_divisor(self) -> float:
        w, n, K = sum(map(self.w, self.present)), sum(map(self.n, self.present)), len(self.present)
        return w if self.covariance == "mle" or n <= K else w * (n - K) / n

    @cached_property
    def within(self) -> Float:
        return np.asarray(sum(self.scatters.values()))

    def shrunk(self, sigma: Float) -> Float:
        """(1 − γ) Σ + γ (tr Σ / p) I."""
        p = len(sigma)
        target = np.trace(sigma) / p * np.eye(p)
        return np.asarray((1 - self.shrinkage) * sigma + self.shrinkage * target)

    @cached_property
    def pooled(self) -> Float:
        """LDA's covariance."""
        return self.shrunk(self.within / self.pooled_divisor)

    def own(self, k: Any) -> Float:
        """Σ_k(λ, γ), before a singular one is completed: scatters and divisors are mixed."""
        A = (1 - self.pooling) * self.scatters[k] + self.pooling * self.within
        d = (1 - self.pooling) * self.divisor(k) + self.pooling * self.pooled_divisor
        return self.shrunk(A / d)

    # --- Singular classes ------------------------------------------------------------------------

    def _deviations(self, of: list[Any]) -> Float:
        """Rows less their class means."""
        rows = [self.z(x, k) for k in of for x, _ in self.rows(k)]
        return np.array(rows).reshape(-1, self.X.shape[1])

    def _rank_of(self, classes: list[Any]) -> int:
        return rank_of_rows(self._deviations(classes), np.abs(self.X).max(axis=0))

    def rank(self, k: Any) -> int:
        """The rank of a class's own matrix."""
        rank = self._rank_of(self.present if self.pooling > 0 else [k])
        return self.X.shape[1] if self.shrinkage > 0 and rank > 0 else rank

    @cached_property
    def root(self) -> Float:
        """G with GᵀΣG = I over what varies, Σ pooled and floored where it stands still.

        Columns in the unit of their deviation over all rows; directions apart are orthonormal in
        the units of the columns, and at right angles to all others.
        """
        p = self.X.shape[1]
        rank = self._rank_of(self.present)
        rank = p if self.shrinkage > 0 and rank > 0 else rank
        unit = np.sqrt(np.where(np.diag(self.pooled) > 0, np.diag(self.pooled), 1.0))
        values, vectors = np.linalg.eigh(self.pooled / np.outer(unit, unit))
        kept = np.argsort(values)[::-1][:rank]
        sphere = vectors[:, kept] / np.sqrt(values[kept]) / unit[:, None]
        if rank == p:
            return np.asarray(sphere)
        null = np.delete(vectors, kept, axis=1) / unit[:, None]
        flat = np.linalg.qr(null / np.linalg.norm(null, axis=0))[0]
        sphere -= flat @ (flat.T @ sphere)
        return np.hstack([sphere, self._apart(flat)])

    def _apart(self, flat: Float) -> Float:
        """Directions without scatter within along which means differ, of floored variance."""
        w = np.array([self.w(k) for k in self.present])
        mu = np.array([self.gaps[k] for k in self.present])
        gaps = np.sqrt(w / w.sum())[:, None] * (mu - w @ mu / w.sum())
        _, sizes, turn = np.linalg.svd(gaps @ flat, full_matrices=False)
        real = sizes > ON_A_PLANE * np.linalg.norm(self.X - self.X.mean(axis=0))
        return np.asarray((flat @ turn.T)[:, real] / np.sqrt(VARIANCE_FLOOR) / sizes[real])

    def is_singular(self, k: Any) -> bool:
        return self.rank(k) < int(self.root.shape[1])

    @cached_property
    def _used(self) -> dict[Any, Float]:
        return {k: self._completed(k) for k in self.present}

    def used(self, k: Any) -> Float:
        """Σ_k as used."""
        return self._used[k]

    def _completed(self, k: Any) -> Float:
        """Where Σ_k stands still, and the pooled one does not, the pooled variance."""
        if not self.is_singular(k):
            return self.own(k)
        G, back = self.root, np.linalg.pinv(self.root)
        values, vectors = np.linalg.eigh(G.T @ self.own(k) @ G)
        values[: G.shape[1] - self.rank(k)] = 1.0  # eigenvalues rise
        return np.asarray(back.T @ (vectors * values) @ vectors.T @ back)

    # --- Functions -------------------------------------------------------------------------------

    def prior(self, k: Any) -> float:
        if self.priors is not None:
            return self.priors[k]
        return self.w(k) / sum(map(self.w, self.present))

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        """What depends on the known columns alone, and functions of rows: asked for many times."""
        return {}

    def _span(self, o: Any) -> Float:
        """An orthonormal basis of what varies among known columns: the same for all classes."""
        if ("span", *o) not in self._kept:
            self._kept["span", *o] = self._make_span(o)
        found: Float = self._kept["span", *o]
        return found

    def _make_span(self, o: Any) -> Float:
        back = np.linalg.pinv(self.root)[:, o]
        unit = np.linalg.norm(back, axis=0)
        unit[unit == 0] = 1.0
        u, s, _ = np.linalg.svd((back / unit).T, full_matrices=False)
        basis = u[:, s > 1e-7 * s.max(initial=0.0)]
        if basis.shape[1] == len(unit):  # any basis will do: one in which units may differ by far
            return np.diag(1 / unit)
        return np.linalg.qr(basis * unit[:, None])[0]

    def inverse(self, k: Any, known: Any = None) -> Float:
        """What stands for the inverse of Σ_k over the known columns."""
        o = np.arange(self.X.shape[1]) if known is None else known
        B = self._span(o)
        return np.asarray(B @ np.linalg.inv(B.T @ self.used(k)[np.ix_(o, o)] @ B) @ B.T)

    def _spanned(self, k: Any, o: Any) -> tuple[Float, float]:
        """Σ_k of the known columns in their basis, and the logarithm of its determinant."""
        if ("sigma", k, *o) not in self._kept:
            B = self._span(o)
            sigma = B.T @ self.used(k)[np.ix_(o, o)] @ B
            sign, log_det = np.linalg.slogdet(sigma)
            assert sign > 0
            self._kept["sigma", k, *o] = sigma, float(log_det)
        found: tuple[Float, float] = self._kept["sigma", k, *o]
        return found

    def log_density(self, x: Float, k: Any) -> float:
        """ln N(x; μ_k, Σ_k) over the known columns, less a term common to all classes."""
        o = np.flatnonzero(~np.isnan(x))
        B = self._span(o)
        if not B.size:
            return 0.0
        sigma, log_det = self._spanned(k, o)
        z = self.z(x, k)[o] @ B
        return float(-0.5 * log_det - 0.5 * z @ np.linalg.solve(sigma, z))

    def functions(self, x: Float) -> list[float]:
        """g_k(x) = ln π_k + ln f_k(x), classes in sorted order."""
        row = tuple(np.asarray(x, dtype=np.float64).view(np.int64).tolist())
        if ("functions", *row) not in self._kept:
            self._kept["functions", *row] = self._make_functions(x)
        return list(self._kept["functions", *row])

    def _make_functions(self, x: Float) -> list[float]:
        found = []
        for k in self.classes:
            possible = k in self.present and self.prior(k) > 0
            f = math.log(self.prior(k)) + self.log_density(x, k) if possible else -math.inf
            found.append(f)
        return found

    def log_posterior(self, x: Float) -> list[float]:
        g = self.functions(x)
        top = max(g)
        total = top + math.log(sum(math.exp(v - top) for v in g))
        return [v - total for v in g]

    def posterior(self, x: Float) -> list[float]:
        return [math.exp(v) for v in self.log_posterior(x)]

    def log_odds(self, x: Float, k: Any, l: Any) -> float:  # noqa: E741  (the books' letters)
        """ln π_k/π_l + ½ ln det Σ_l/det Σ_k − ½ z_kᵀΣ_k⁻¹z_k + ½ z_lᵀΣ_l⁻¹z_l."""
        g = dict(zip(self.classes, self.functions(x), strict=True))
        return float(g[k] - g[l])

    def boundary(self, k: Any, l: Any) -> tuple[float, Float, Float]:  # noqa: E741
        """(β_0, β, Γ) with log-odds β_0 + xᵀβ + xᵀΓx, multiplied out."""
        P, Q, m, r = self.inverse(k), self.inverse(l), self.means[k], self.means[l]
        at_zero = self.log_odds(np.zeros(self.X.shape[1]), k, l)
        return at_zero, P @ m - Q @ r, (Q - P) / 2

    def parts(self, x: Float, k: Any, l: Any) -> tuple[float, Float]:  # noqa: E741
        """The offset and each column's part: −½ z_i (Σ_k⁻¹z)_i, and ½ the same for class l."""
        o = np.flatnonzero(~np.isnan(x))
        B = self._span(o)
        amounts = np.zeros(len(x))
        offset = math.log(self.prior(k) / self.prior(l))
        for label, sign in ((k, 1.0), (l, -1.0)):
            z = self.z(x, label)[o]
            amounts[o] -= sign * 0.5 * z * (self.inverse(label, o) @ z)
            if B.size:
                det = np.linalg.slogdet(B.T @ self.used(label)[np.ix_(o, o)] @ B)[1]
                offset -= sign * 0.5 * float(det)
        return offset, amounts

    # --- All rows --------------------------------------------------------------------------------

    def posteriors(self, rows: Float) -> Float:
        return np.array([self.posterior(x) for x in rows])

    def log_posteriors(self, rows: Float) -> Float:
        return np.array([self.log_posterior(x) for x in rows])

    def all_functions(self, rows: Float) -> Float:
        return np.array([self.functions(x) for x in rows])
