"""Leave one out for the kernel discriminant: distances from the class means without a row.

Kernel, penalty and basis stay; the row goes out of the means, the scatter, the priors and the
divisor. The scatter loses a matrix of rank one, so that what was calculated for all rows is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sortal.learners.kernel_bordered import Bordered
from sortal.learners.kernel_centered import Centered
from sortal.learners.kernel_dense import weigh
from sortal.learners.kernel_left import LeftPoints, PrimalBase
from sortal.learners.kernel_primal import Features
from sortal.learners.kernel_solution import Labeled
from sortal.learners.loo_choice import Tried, log_share
from sortal.models.decision import posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Tell
    from sortal.learners.leave_out import Fitted, Left

    Float = NDArray[np.float64]
    Codes = NDArray[np.integer]
    Rows = NDArray[np.intp]


class Losing(Protocol):
    """A solved problem that can lose a row."""

    def squares(self, rows: Rows, g: int, left: Left, most: int | None) -> Float:
        """Squared distances of rows of class g from all class means without them."""


@dataclass(frozen=True, eq=False)
class LosingDense:
    """The bordered problem with a ridge. (S 93)

    A row of class g less its mean is e_i - z_g√(v/n_g) of the orthonormal rows, over √v. By
    (S_w + μI)⁻¹ its squared length is (1 - v/n_g - μP_ii) / v with P = M⁻¹ - RQ⁻¹Rᵀ, M = K + μI,
    and 1 - c‖h‖² is μP_ii n_g / (n_g - v).
    """

    bordered: Bordered
    labeled: Labeled
    mu: float

    def squares(self, rows: Rows, g: int, left: Left, most: int | None) -> Float:
        """Squared distances of rows of class g from all class means without them."""
        size, v = self.labeled.sizes, self.labeled.weight[rows]
        here = np.flatnonzero(size > 0)
        R = self.bordered.R[np.ix_(rows, here)]
        inverse = np.linalg.inv(self.bordered.Q[np.ix_(here, here)])
        turned = R @ inverse
        assert self.bordered.diagonal is not None  # noqa: S101  (asked for)
        missed = self.mu * (self.bordered.diagonal[rows] - np.einsum("ij,ij->i", turned, R))
        own = (1.0 - v / size[g] - missed) / v
        alone = v >= size[g]
        rest = np.where(alone, 1.0, missed * size[g] / np.where(alone, 1.0, size[g] - v))
        place = int(np.searchsorted(here, g))
        turned[:, place] -= np.sqrt(v / size[g])
        ways = np.diag(1.0 / np.sqrt(size[here]))  # from the mean of g to the others
        ways[:, place] -= 1.0 / np.sqrt(size[g])
        ways[place] = 0.0
        along = np.zeros((len(size), len(rows)))
        along[here] = -ways @ turned.T / np.sqrt(v)
        inner = np.zeros((len(size), len(size)))
        T = inverse / self.mu - np.eye(len(here))
        inner[np.ix_(here, here)] = ways @ T @ ways.T
        cut, shift = (np.broadcast_to(part, (len(rows),)) for part in (left.cut, left.shift))
        points = LeftPoints(own, along, inner, rest, g, replace(left, cut=cut, shift=shift))
        return points.squares(most)


@dataclass(frozen=True, eq=False)
class LosingFeatures:
    """The same in coordinates: without a ridge, or where rows weigh other than coefficients."""

    base: PrimalBase
    z: Float
    mu: float

    def squares(self, rows: Rows, g: int, left: Left, most: int | None) -> Float:
        """Squared distances of rows of class g from all class means without them."""
        u = self.z[rows] - self.base.features.means[g]
        return self.base.squares(u, g, left, self.mu, most, rows)


@dataclass(frozen=True, eq=False)
class LeftRows:
    """Rows of one class without themselves: ln π_c f_c for each setting, a row a row."""

    rows: Rows
    g: int
    left: Left
    log_joint: tuple[Float, ...]


@dataclass(frozen=True, eq=False)
class DenseLeaveOut:
    """Leaves out every row of a dense fit; `matrix` makes its kernel matrix anew.

    `weight` are the weights of the rows before class weights, which `fitted` knows, and `most` the
    number of directions that are used, None for all.
    """

    matrix: Callable[[], Float]
    codes: Codes
    weight: Float
    fitted: Fitted
    penalty: str
    most: int | None
    tell: Tell

    def __call__(self, penalties: Sequence[float]) -> Iterator[LeftRows]:
        """For each μ, or ε, the rows class by class; by weight, too, where factors depend on it."""
        if not self.fitted.by_weight:
            factor = self.fitted.factors(self.fitted.stats.weight)
            solved = list(self._solve(factor, penalties))
            for g in np.unique(self.codes):
                yield self._left(np.flatnonzero(self.codes == g), int(g), solved)
            return
        for g in np.unique(self.codes):
            for v in np.unique(self.weight[self.codes == g]):
                rows = np.flatnonzero((self.codes == g) & (self.weight == v))
                weight = self.fitted.stats.weight.copy()
                weight[g] = max(weight[g] - v, 0.0)
                factor = self.fitted.factors(weight).copy()
                # a class that goes with its row has no scatter, whatever it weighs
                factor[g] = factor[g] or 1.0
                yield self._left(rows, int(g), list(self._solve(factor, penalties)))

    def _solve(self, factor: Float, penalties: Sequence[float]) -> Iterator[Losing]:
        rows = Labeled(self.codes, self.weight * factor[self.codes], len(factor))
        if self.penalty == "coefficients" and self.fitted.by_weight:
            yield from self._reweighed(rows, penalties)
            return
        K = weigh(self.matrix(), rows.root)
        if self.penalty == "rkhs" and len(penalties) == 1 and penalties[0] > 0:
            bordered = Bordered.of(K, rows, penalties[0], self.tell, diagonal=True)
            if bordered is not None:
                yield LosingDense(bordered, rows, penalties[0])
                return
            K = weigh(self.matrix(), rows.root)
        centered = Centered.of(K, rows, self.penalty)
        for mu in penalties:
            if mu > centered.least_ridge:
                yield LosingDense(centered.bordered(rows, mu), rows, mu)
            else:
                features, z = centered.features(rows)
                yield LosingFeatures(PrimalBase(features), z, mu)

    @cached_property
    def _fixed(self) -> tuple[Features, Float]:
        """Coordinates in which the penalty of the coefficients is that of the fit."""
        factor = self.fitted.factors(self.fitted.stats.weight)
        rows = Labeled(self.codes, self.weight * factor[self.codes], len(factor))
        K = weigh(self.matrix(), rows.root)
        return Centered.of(K, rows, self.penalty).features(rows)

    def _reweighed(self, rows: Labeled, penalties: Sequence[float]) -> Iterator[Losing]:
        """Rows weigh otherwise without a row of their class; the penalty stays."""
        features, z = self._fixed
        fixed = features.ridge, features.to_coefs, features.norm
        base = PrimalBase(Features.of_rows(z, rows, *fixed, blur=features.blur))
        for mu in penalties:
            yield LosingFeatures(base, z, mu)

    def _left(self, rows: Rows, g: int, solved: Sequence[Losing]) -> LeftRows:
        left = self.fitted.without(g, self.weight[rows])
        divisor = left.pooled_divisor("unbiased")
        squares = (one.squares(rows, g, left, self.most) for one in solved)
        made = tuple((left.log_prior - 0.5 * divisor * d).T for d in squares)
        return LeftRows(rows, g, left, made)

    def proba(self, mu: float) -> Float:
        """P(c|x) of each row without it."""
        made = np.zeros((len(self.codes), len(self.fitted.stats.weight)))
        for part in self([mu]):
            made[part.rows] = posterior(part.log_joint[0], part.left.prior.T)
        return made

    def tried(self, penalties: Sequence[float]) -> Tried:
        """The sum of ln P(y|x) without each row, for each penalty."""
        sums, total = np.zeros(len(penalties)), 0.0
        for part in self(penalties):
            # a class that goes with its only row, or is never expected, says nothing
            v = np.where(np.isneginf(part.left.log_prior[part.g]), 0.0, self.weight[part.rows])
            for place, log_joint in enumerate(part.log_joint):
                sums[place] += np.where(v > 0, log_share(log_joint.T, part.g), 0.0) @ v
            total += float(v.sum())
        nothing = np.empty(0, dtype=np.intp), np.empty((0, len(penalties)), dtype=bool)
        return Tried(sums, total, *nothing)
