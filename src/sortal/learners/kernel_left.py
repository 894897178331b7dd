"""One row less: inner products of what is left, for rows of one class at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.kernel_primal import Features, canonical_directions, solve_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.leave_out import Left

    Float = NDArray[np.float64]
    Rows = NDArray[np.intp]

# Where less than this is left of 1 - c‖h‖², its digits are those of the row that went.
_LEAST_LEFT = 1e-6


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
    """Features of all rows, ready to lose one."""

    features: Features

    def _sphere(self, mu: float) -> Float | None:
        """Coordinates in which S_w + μ ridge is the identity; None where means differ outside."""
        axes, weight = self.features.axes, self.features.weight
        found = canonical_directions(axes, int((weight > 0).sum()), mu)
        if found.apart.any():
            return None
        root = np.sqrt(axes.sizes**2 + mu)
        # along canonical directions, S_w is less than S_T by what lies between the classes
        longer = (found.v * (1.0 / np.sqrt(found.inside) - 1.0)) @ (root[:, None] * found.v).T
        return np.asarray(axes.turn @ (np.diag(1.0 / root) + longer))

    def squares(
        self, u: Float, g: int, left: Left, mu: float, most: int | None, rows: Rows | None = None
    ) -> Float:
        """Squared distances of rows u of class g, less its mean, without them; a row a class.

        `rows` are the places of u among the rows of the features, where these are at hand.
        """
        basis = self._sphere(mu)
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
        for i in np.flatnonzero(unsafe).tolist():
            others = self._without(u[i], g, left, i, None if rows is None else int(rows[i]))
            solved = solve_features(others, mu, most)
            apart = (u[i] @ solved.coefs - solved.means) / solved.lengths
            squares[:, i] = (apart**2).sum(axis=1)
        return squares

    def _without(self, u: Float, g: int, left: Left, i: int, row: int | None) -> Features:
        """The features of all other rows, from the mean of class g; coefficients are directions."""
        f = self.features
        weight = np.broadcast_to(left.weight, (len(f.means), len(left.cut)))[:, i]
        means = f.means - f.means[g]
        means[g] = -left.shift[i] * u
        others = replace(
            f, weight=weight, means=means, to_coefs=np.eye(len(u)), sizes=None, origin=0.0
        )
        if row is not None and f.rows is not None and f.labeled is not None:
            return replace(others, rows=f.labeled.without(f.rows, row))
        scatter = f.within - left.cut[i] * np.outer(u, u)
        blur = np.full(len(u), f.axes.blur.max(initial=0.0))
        return replace(others, scatter=scatter[None], blur=blur)
