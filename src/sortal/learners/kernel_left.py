"""One row less: inner products of what is left, for rows of one class at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from sortal.learners.kernel_primal import Features, solve_features, split
from sortal.models.geometry import EPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.leave_out import Left

    Float = NDArray[np.float64]

# Where less than this is left of 1 - c‖h‖², its digits are those of the row that went.
_LEAST_LEFT = 1e-6
_NOTHING_LEFT = 1e-10


@dataclass(frozen=True, eq=False)
class LeftPoints:
    """Rows h of class g and the ways a_c from its mean to all class means, by (S_w + P)⁻¹.

    `own` = ‖h‖², `along` = a_cᵀh, a row a class, `inner` = a_cᵀa_d. Without a row S_w is less by
    c hhᵀ, and `rest` is 1 - c‖h‖²; the mean of class g moves by -κh. `left` has c and κ.
    """

    own: Float
    along: Float
    inner: Float
    rest: Float
    g: int
    left: Left

    def squares(self, most: int | None) -> Float:
        """Squared distances of the rows from the means of all classes without them. (S 93)

        With A' = A - c hhᵀ, inner products p, q become pᵀq + c (pᵀh)(qᵀh) / (1 - c‖h‖²). A row a
        class; with fewer directions than classes allow, along the first `most` of what is left.
        """
        n_classes = int((self.left.weight > 0).any(axis=1).sum())
        if most is not None and most < n_classes - 1:
            return self._along_directions(most)
        inner = self.own - self.along
        squares = inner - self.along + np.diag(self.inner)[:, None]
        squares += inner**2 * (self.left.cut / self.rest)
        squares[self.g] = (1 + self.left.shift) ** 2 * self.own / self.rest
        return np.asarray(squares)

    def _along_directions(self, most: int) -> Float:
        """Canonical directions of the other rows, from inner products alone, row by row."""
        products = self._products()
        weight = np.broadcast_to(self.left.weight, (len(self.inner), len(self.own))).T
        share = weight / weight.sum(axis=1, keepdims=True)
        center = np.einsum("nc,ncq->nq", share, products[:, :-1])
        ways = products[:, :-1] - center[:, None]  # (a_c - mean)ᵀ of every point
        between = ways[:, :, :-1] - np.einsum("ncd,nd->nc", ways[:, :, :-1], share)[:, :, None]
        root = np.sqrt(weight)
        scaled = root[:, :, None] * between * root[:, None, :]
        values, vectors = np.linalg.eigh((scaled + scaled.swapaxes(1, 2)) / 2)
        values, vectors = values[:, ::-1][:, :most], vectors[:, :, ::-1][:, :, :most]
        safe = np.where(values > 0, values, np.inf)
        to_row = ways[:, :, -1:] - ways[:, :, :-1]  # (a_c - mean)ᵀ(h - a_d)
        coordinates = np.einsum("ncj,ncd->njd", vectors * root[:, :, None], to_row)
        return np.asarray((coordinates**2 / safe[:, :, None]).sum(axis=1).T)

    def _products(self) -> Float:
        """Inner products of the class means and, last, of the row, without the row."""
        n, C = len(self.own), len(self.inner)
        shift = np.broadcast_to(self.left.shift, (n,))
        made = np.empty((n, C + 1, C + 1))
        made[:, :C, :C] = self.inner
        made[:, :C, C] = made[:, C, :C] = self.along.T
        made[:, C, C] = self.own
        own = made[:, C].copy()  # the mean of class g is now at -κh
        made[:, self.g] = -shift[:, None] * own
        made[:, :, self.g] = -shift[:, None] * own
        made[:, self.g, self.g] = shift**2 * self.own
        made[:, self.g, C] = made[:, C, self.g] = -shift * self.own
        onto = made[:, C]
        factor = np.broadcast_to(self.left.cut, (n,)) / self.rest
        return np.asarray(made + factor[:, None, None] * onto[:, :, None] * onto[:, None, :])


@dataclass(frozen=True, eq=False)
class PrimalBase:
    """Features of all rows, ready to lose one, where S_w + μ ridge is diagonal."""

    features: Features

    @cached_property
    def _turned(self) -> tuple[Float, Float]:
        """s and X with XᵀS_wX = diag(s) and XᵀRX = I, R being the ridge."""
        values, vectors = eigh(self.features.within, self.features.ridge, check_finite=False)
        return np.maximum(values, 0.0), np.asarray(vectors)

    @cached_property
    def _sphere(self) -> Float | None:
        """Coordinates in which S_w is the identity; None where means differ outside of them."""
        found = split(self.features)
        return None if found.apart.size else np.asarray(self.features.flat.T @ found.sphere)

    def squares(self, u: Float, g: int, left: Left, mu: float, most: int | None) -> Float:
        """Squared distances of rows u of class g, less its mean, without them; a row a class."""
        if mu > 0:
            values, vectors = self._turned
            basis: Float | None = vectors / np.sqrt(values + mu)
        else:
            basis = self._sphere
        cut, shift = (np.broadcast_to(part, (len(u),)) for part in (left.cut, left.shift))
        left = replace(left, cut=cut, shift=shift)
        if basis is None:
            unsafe, squares = np.ones(len(u), dtype=bool), np.zeros((len(left.weight), len(u)))
        else:
            h, ways = u @ basis, (self.features.means - self.features.means[g]) @ basis
            own = np.einsum("ij,ij->i", h, h)
            rest = 1.0 - cut * own
            unsafe = rest < _LEAST_LEFT
            rest[unsafe] = 1.0
            points = LeftPoints(own, ways @ h.T, ways @ ways.T, rest, g, left)
            squares = points.squares(most)
        for i in np.flatnonzero(unsafe):
            squares[:, i] = self._again(u[i], g, left, int(i), mu, most)
        return squares

    def _again(self, u: Float, g: int, left: Left, i: int, mu: float, most: int | None) -> Float:
        """The same for one row, by solving the problem of all others."""
        f = self.features
        weight = np.broadcast_to(left.weight, (len(f.means), len(left.cut)))[:, i]
        means = f.means - f.means[g]
        means[g] = -left.shift[i] * u
        others = replace(
            f,
            weight=weight,
            means=means,
            to_coefs=np.eye(len(u)),
            scatter=(f.within - left.cut[i] * np.outer(u, u))[None] if f.rows is None else None,
            rows=None if f.rows is None else self._rows_without(u, left.cut[i]),
            codes=None,
        )
        solved = solve_features(others, mu, most)
        return np.asarray((((u @ solved.coefs - solved.means) / solved.lengths) ** 2).sum(axis=1))

    @cached_property
    def _factors(self) -> tuple[Float, Float]:
        """Singular values of the rows, 0 where they are rounding, and right vectors."""
        assert self.features.rows is not None  # noqa: S101  (asked for where they are)
        _, sizes, right = np.linalg.svd(self.features.rows, full_matrices=False)
        real = sizes > len(self.features.rows) * EPS * sizes.max(initial=0.0)
        return np.where(real, sizes, 0.0), right

    def _rows_without(self, u: Float, cut: float) -> Float:
        """Rows R with RᵀR less by cut · uuᵀ, u being in their span."""
        sizes, right = self._factors
        h = np.divide(right @ u, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
        length = float(h @ h)
        rest = 1.0 - cut * length
        # a row that alone reaches into a direction leaves nothing there, and no root of rounding
        rest = rest if rest > _NOTHING_LEFT else 0.0
        t = (1.0 - np.sqrt(rest)) / length if length > 0 else 0.0  # (I - t hhᵀ)² = I - cut hhᵀ
        made = sizes[:, None] * right
        return np.asarray(made - t * np.outer(h, h @ made))
