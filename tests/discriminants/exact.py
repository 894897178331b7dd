"""Linear, quadratic and Fisher's discriminant in 80 digits, straight from their definitions.

Rows are read as the float64 they are; from there on nothing is rounded that a float64 could tell.
Which columns are used is given: those that follow from them are not looked at.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Any  # mpmath has no types

_DIGITS = 80
_NOTHING = mp.mpf(10) ** -50  # variances below this share of the others are 0
_FLOOR = mp.mpf("1e-9")


class Oracle:
    """Gaussian classes, in the columns `used`."""

    def __init__(
        self, X: Float, y: NDArray[Any], used: Sequence[int], weight: Float | None = None
    ) -> None:
        self.used = list(used)
        # units change no posterior, but the inverses of mpmath mind them
        self.scale = [mp.mpf(float(np.abs(X[:, j]).max())) for j in self.used]
        self.classes = sorted(set(y.tolist()))
        plain = np.ones(len(X)) if weight is None else weight
        whole = bool((plain == np.floor(plain)).all())
        with mp.workdps(_DIGITS):
            rows = self._rows(X)
            mine = [[i for i, c in enumerate(y.tolist()) if c == k] for k in self.classes]
            w = [mp.mpf(float(u)) for u in plain]
            self.weight = [mp.fsum(w[i] for i in places) for places in mine]
            self.n = [
                w if whole else mp.mpf(len(m)) for w, m in zip(self.weight, mine, strict=True)
            ]
            self.total = mp.fsum(self.weight)
            self.prior = [one / self.total for one in self.weight]
            self.means = [
                sum((w[i] * rows[i] for i in places), self._zero()) / n
                for places, n in zip(mine, self.weight, strict=True)
            ]
            self.scatters = [
                sum((w[i] * _outer(rows[i] - m) for i in places), mp.zeros(len(self.used)))
                for places, m in zip(mine, self.means, strict=True)
            ]
            self.within = sum(self.scatters, mp.zeros(len(self.used)))

    def _rows(self, X: Float) -> list[Matrix]:
        return [
            mp.matrix(
                [mp.mpf(float(row[j])) / s for j, s in zip(self.used, self.scale, strict=True)]
            )
            for row in X
        ]

    def _zero(self) -> Matrix:
        return mp.zeros(len(self.used), 1)

    def _divisor(self) -> Any:
        n, K = mp.fsum(self.n), len(self.classes)
        return self.total * (n - K) / n

    def pooled_inverse(self) -> Matrix:
        """Σ⁻¹, with a floor along one direction that is constant within the classes. (S 12)"""
        values, vectors, scale = _spectrum(self.within)
        flat = [i for i, v in enumerate(values) if v <= _NOTHING]
        if not flat:
            return self._divisor() * self.within**-1
        assert len(flat) == 1
        d = mp.diag([1 / s for s in scale]) * vectors[:, flat[0]]
        d = d / mp.norm(d)
        mean = sum((n * m for n, m in zip(self.weight, self.means, strict=True)), self._zero())
        gaps = [(d.T * (m - mean / self.total))[0] for m in self.means]
        spread = mp.fsum(n * g * g for n, g in zip(self.weight, gaps, strict=True))
        # the pseudo-inverse across d: what is added along d is taken away again
        filled = (self.within + d * d.T) ** -1 - d * d.T
        return self._divisor() * filled + d * d.T * (self.total / (_FLOOR * spread))

    def linear(self, rows: Float) -> Float:
        """Posteriors of N(μ_k, Σ)."""
        with mp.workdps(_DIGITS):
            inverse = self.pooled_inverse()
            parts = [(inverse, mp.mpf(0)) for _ in self.classes]
            return self._posteriors(rows, parts, self.prior)

    def quadratic(self, rows: Float) -> Float:
        """Posteriors of N(μ_k, Σ_k), where a class stands still with the pooled variance. (S 44)"""
        with mp.workdps(_DIGITS):
            pooled = self.pooled_inverse()
            root = mp.cholesky(pooled)  # pooled = root rootᵀ, and GᵀΣG = I for G = root
            parts = []
            for S, n, w in zip(self.scatters, self.n, self.weight, strict=True):
                C = root.T * S * root / (w * (n - 1) / n if n > 1 else w)
                values, vectors = mp.eigsy((C + C.T) / 2)
                most = max(values) if max(values) > 0 else mp.mpf(1)
                values = [v if v > mp.mpf(10) ** -60 * most else mp.mpf(1) for v in values]
                back = root * vectors
                inverse = back * mp.diag([1 / v for v in values]) * back.T
                parts.append((inverse, mp.fsum(mp.log(v) for v in values)))
            return self._posteriors(rows, parts, self.prior)

    def fisher(self, rows: Float) -> Float:
        """As of unit Gaussians where wᵀSw = 1: the largest is that of the nearest mean."""
        with mp.workdps(_DIGITS):
            inverse = self.pooled_inverse() / self._divisor()
            even = [mp.mpf(1)] * len(self.classes)
            parts = [(inverse, mp.mpf(0)) for _ in self.classes]
            return self._posteriors(rows, parts, even)

    def _posteriors(self, rows: Float, parts: list[Any], prior: list[Any]) -> Float:
        found = []
        for x in self._rows(rows):
            logs = []
            for m, (inverse, log_det), p in zip(self.means, parts, prior, strict=True):
                z = x - m
                logs.append(mp.log(p) - ((z.T * inverse * z)[0] + log_det) / 2)
            top = max(logs)
            odds = [mp.exp(one - top) for one in logs]
            found.append([float(one / mp.fsum(odds)) for one in odds])
        return np.array(found)


def _outer(z: Matrix) -> Matrix:
    return z * z.T


def _spectrum(S: Matrix) -> tuple[Matrix, Matrix, list[Any]]:
    """Eigenvalues and vectors of S with a diagonal of ones, and the roots of its diagonal."""
    scale = [mp.sqrt(S[i, i]) if S[i, i] > 0 else mp.mpf(1) for i in range(S.rows)]
    R = mp.matrix(S.rows)
    for i in range(S.rows):
        for j in range(S.rows):
            R[i, j] = S[i, j] / scale[i] / scale[j]
    values, vectors = mp.eigsy(R)
    return values, vectors, scale
