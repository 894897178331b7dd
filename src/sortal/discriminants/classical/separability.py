"""Are the rows of classes linearly separable? Cheap certificates first, then linear programs.

"Yes" is exact: a found function is checked on every row, where rounding could matter by fractions.
"No" is exact where two classes share a row; else it holds as far as the digits of a linear program
go, about 1e-9 of the range of the rows along each direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sortal.decision.geometry import EPS, linear_functions, survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float, Mask, Places
    from sortal.decision.geometry import Geometry


# Numbers that a search may look at in each round: rows × directions × (classes - 1).
MOST_CELLS = 20_000_000

# Unknowns of one linear program: coefficients of all functions but one.
MOST_UNKNOWNS = 200

# Linear programs for all questions about a table.
MOST_PROGRAMS = 1_000

_TOUCHING = 1e-9  # a gap below this share of the rows' range is none

_MOST_EXACT = 5_000  # rows that are looked at in fractions


@dataclass(frozen=True)
class Separation:
    """Whether classes are separable (None: not tried), how that was seen, and by what margin.

    `programs` counts the linear programs that were solved.
    """

    separable: bool | None
    how: str
    margin: float | None = None
    programs: int = 0


_NO_PLANE = "no plane passes between them"


def shared_rows(X: Float, codes: Places, n_classes: int) -> Mask:
    """shared[k, l]: whether a row of class k equals one of class l."""
    plain = np.ascontiguousarray(X + 0.0)  # a zero has one sign
    keys = plain.view(np.dtype((np.void, plain.dtype.itemsize * max(1, plain.shape[1])))).ravel()
    which = np.unique(keys, return_inverse=True)[1].ravel()
    seen = csr_array((np.ones(len(codes)), (which, codes)), shape=(which.max() + 1, n_classes))
    return np.asarray((seen.T @ seen).toarray() > 0)


def centered(rows: Float) -> tuple[Float, Float]:
    """Rows less their mean, and the way to the mean from the first row.

    By way of the first row: a column that is constant has no spread at all, not even rounding.
    """
    z = rows - rows[0]
    way = z.mean(axis=0)
    return z - way, way


def separate(groups: Sequence[Float], most_programs: int = MOST_PROGRAMS) -> Separation:
    """A linear machine with g_k(x) > g_l(x) for every row x of class k and l ≠ k. (S 55)

    Tried in turn: one column (of two classes), the linear discriminant, a linear program.
    `groups` are the rows of each class; no class may share a row with another.
    """
    if len(groups) == 2:
        found = _by_one_column(groups)
        if found is not None or groups[0].shape[1] == 1:
            return found or Separation(separable=False, how="the ranges of the column meet")
    search = _Search.of(_in_like_units(groups))
    for functions, how in search.guesses():
        margin = search.margin(functions)
        if margin is not None:
            return Separation(separable=True, how=how, margin=margin)
    return search.by_program(most_programs)


def _in_like_units(groups: Sequence[Float]) -> list[Float]:
    """The columns that vary, each with a range between ½ and 1: by powers of two, hence exactly."""
    low = np.min([rows.min(axis=0) for rows in groups], axis=0)
    high = np.max([rows.max(axis=0) for rows in groups], axis=0)
    varies = high > low
    exponent = -np.frexp(high[varies] - low[varies])[1]
    return [np.ldexp(rows[:, varies], exponent) for rows in groups]


@dataclass(frozen=True, eq=False)
class SeparatingFunctions:
    """Linear functions of rows less a center: a column of weights and an offset a class."""

    weights: Float
    offsets: Float


def _by_one_column(groups: Sequence[Float]) -> Separation | None:
    """The column whose values alone tell two classes apart, by the widest margin."""
    first, second = groups
    over = first.min(axis=0), second.max(axis=0)
    under = second.min(axis=0), first.max(axis=0)
    apart = (over[0] > over[1]) | (under[0] > under[1])
    gaps = np.maximum(over[0] - over[1], under[0] - under[1])
    if not apart.any():
        return None
    n = len(first) + len(second)
    squares = [(centered(rows)[0] ** 2).sum(axis=0) for rows in groups]
    deviation = np.sqrt(np.sum(squares, axis=0) / max(n - 2, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        margins = np.where(apart, gaps / deviation, -1.0)
    return Separation(separable=True, how="one column", margin=float(margins.max()))


@dataclass(frozen=True, eq=False)
class _Search:
    """Rows, their classes, and coordinates in which classes are spheres.

    All is measured from `center`, one of the rows: class means lie at center + gap, the mean of all
    at center + mean, and no row is farther away than `size`. That loses no digits which rows far
    from zero still have.
    """

    rows: Float
    center: Float
    size: Float
    codes: Places
    n_classes: int
    within: Float
    geometry: Geometry
    gap: Float
    mean: Float
    basis: Float

    @classmethod
    def of(cls, groups: Sequence[Float]) -> _Search:
        """What there is to know before any search."""
        rows = np.concatenate(groups)
        codes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        center = rows[0]  # whatever is far from zero is near to a row
        parts = [centered(group) for group in groups]
        gap = np.array([g[0] - center + way for g, (_, way) in zip(groups, parts, strict=True)])
        within = np.sum([z.T @ z for z, _ in parts], axis=0)
        sizes = np.bincount(codes)
        mean = sizes @ gap / len(rows)
        magnitude = np.sqrt(len(rows)) * np.abs(gap).max(axis=0)
        geometry = survey(within, np.sqrt(sizes)[:, None] * (gap - mean), magnitude)
        divisor = max(len(rows) - len(groups), 1)
        apart = geometry.apart / np.sqrt(geometry.spread / len(rows))
        basis = np.hstack([geometry.sphere * np.sqrt(divisor), apart])
        within, size = within / divisor, np.abs(rows - center).max(axis=0)
        return cls(rows, center, size, codes, len(groups), within, geometry, gap, mean, basis)

    def guesses(self) -> list[tuple[SeparatingFunctions, str]]:
        """Functions that are worth a look before any program."""
        divisor, n = max(len(self.rows) - self.n_classes, 1), len(self.rows)
        root = self.geometry.root(n, divisor)
        offsets, weights = linear_functions(root, self.gap, self.mean)
        found = [(SeparatingFunctions(weights, offsets), "linear discriminant")]
        if self.n_classes == 2 and self.geometry.apart.shape[1]:
            w = self.geometry.apart[:, :1]
            w = w * np.sign((self.gap[0] - self.gap[1]) @ w)
            still = SeparatingFunctions(np.hstack([w, np.zeros_like(w)]), np.zeros(2))
            found.insert(0, (still, "constant within classes"))
        return found

    # --- Checking --------------------------------------------------------------------------------

    def margin(self, functions: SeparatingFunctions) -> float | None:
        """The least distance of two classes along their difference, or None if one row is wrong.

        In units of the standard deviation within classes. Of two classes the offsets do not matter.
        """
        weights = functions.weights
        margins = []
        for k in range(self.n_classes):
            for l in range(k):  # noqa: E741  (two classes are k and l)
                w = weights[:, k] - weights[:, l]
                offset = functions.offsets[k] - functions.offsets[l]
                gap = self._gap(k, l, w, None if self.n_classes == 2 else offset)
                if gap is None:
                    return None
                margins.append(self._in_deviations(gap, w))
        return min(margins)

    def _gap(self, k: int, l: int, w: Float, offset: float | None) -> float | None:  # noqa: E741
        """How far apart the projections of two classes are; None where they are not."""
        a, b = self.rows[self.codes == k], self.rows[self.codes == l]
        along_a, along_b = (a - self.center) @ w, (b - self.center) @ w
        doubt = 4 * (len(w) + 4) * EPS * float(self.size @ np.abs(w) + abs(offset or 0.0))
        least, most = float(along_a.min()), float(along_b.max())
        sides = (least - most,) if offset is None else (least + offset, -(most + offset))
        if min(sides) < -2 * doubt:
            return None
        if min(sides) <= 2 * doubt:
            low = self._exact(a[along_a <= least + 2 * doubt], w, 1)
            high = self._exact(b[along_b >= most - 2 * doubt], w, -1)
            if low is None or high is None:
                return None
            exact = [low - high]
            if offset is not None:
                exact = [low + Fraction(offset), -(high + Fraction(offset))]
            if min(exact) <= 0:
                return None
        return max(least - most, 0.0)

    def _exact(self, rows: Float, w: Float, sign: int) -> Fraction | None:
        """The least (sign 1) or greatest (-1) projection of some rows, in fractions."""
        if len(rows) > _MOST_EXACT:
            return None
        weights = [Fraction(x) for x in w.tolist()]
        center = [Fraction(x) for x in self.center.tolist()]
        values = []
        for row in rows.tolist():
            terms = zip(row, center, weights, strict=True)
            values.append(sum(((Fraction(x) - c) * v for x, c, v in terms), Fraction(0)))
        return sign * min(sign * value for value in values)

    def _in_deviations(self, gap: float, w: Float) -> float:
        square = float(w @ self.within @ w)
        noise = 8 * len(w) * EPS * float(np.abs(w) @ np.sqrt(np.diag(self.within))) ** 2
        rounding = 8 * EPS * float(np.abs(w) @ self.size)
        return float(gap / np.sqrt(square)) if square > max(noise, rounding**2) else np.inf

    # --- The linear program ----------------------------------------------------------------------

    def by_program(self, most: int) -> Separation:
        """The functions with the greatest gap t, from the rows that matter.

        A program over some rows is solved, the rows it tells worst join, and so on. Where some rows
        cannot be separated, neither can all.
        """
        r, K = self.basis.shape[1], self.n_classes
        if len(self.rows) * r * (K - 1) > MOST_CELLS or r * (K - 1) > MOST_UNKNOWNS:
            return Separation(
                None,
                f"too large: {len(self.rows)} rows × {r} directions × {K - 1} functions; the "
                f"limits are {MOST_CELLS} in all, and {MOST_UNKNOWNS} without the rows",
            )
        Y = (self.rows - self.center) @ self.basis
        scale = np.abs(Y).max(axis=0)
        Y /= scale
        program = _Program(Y, self.codes, K)
        start = (self.gap @ self.basis / scale).T
        program.add(start, -0.5 * (start**2).sum(axis=0), np.inf)
        for done in range(1, most + 1):
            t, weights, offsets = program.solve()
            if t <= _TOUCHING:
                return Separation(separable=False, how=_NO_PLANE, programs=done)
            functions = SeparatingFunctions(self.basis @ (weights / scale[:, None]), offsets)
            margin = self.margin(functions)
            if margin is not None:
                how = "linear program"
                return Separation(separable=True, how=how, margin=margin, programs=done)
            if not program.add(weights, offsets, t):
                return Separation(separable=False, how=_NO_PLANE, programs=done)
        words = f"given up: {MOST_PROGRAMS} linear programs are the limit for a table"
        return Separation(None, words, programs=most)


class _Program:
    """Maximize t with g_k(x) - g_l(x) ≥ t over chosen pairs of a row x of class k and a class l.

    Weights are within -1 and 1, t is at most 1; the last class has the function 0, because only
    differences of functions count.
    """

    def __init__(self, Y: Float, codes: Places, n_classes: int) -> None:
        self.Y, self.codes, self.K = Y, codes, n_classes
        self.taken = np.zeros((len(Y), n_classes), dtype=bool)
        self.batch = max(10, 200 // n_classes, 2 * Y.shape[1] // (n_classes - 1))

    def add(self, weights: Float, offsets: Float, t: float) -> bool:
        """Take in the rows of each class with the least advantage below t; False if there is none.

        Each row comes with the class that is worst for it.
        """
        g = self.Y @ weights + offsets
        own = g[np.arange(len(g)), self.codes]
        advantage = own[:, None] - g
        advantage[np.arange(len(g)), self.codes] = np.inf
        advantage[self.taken] = np.inf
        rival = advantage.argmin(axis=1)
        least = advantage[np.arange(len(g)), rival]
        before = int(self.taken.sum())
        for k in range(self.K):
            mine = np.flatnonzero((self.codes == k) & (least < t * (1 - 1e-6)))
            worst = mine[np.argsort(least[mine], kind="stable")[: self.batch]]
            self.taken[worst, rival[worst]] = True
        return int(self.taken.sum()) > before

    def solve(self) -> tuple[float, Float, Float]:
        """t, weights and offsets."""
        r, free = self.Y.shape[1], self.K - 1
        i, rival = np.nonzero(self.taken)
        own = self.codes[i]
        rows = np.hstack([self.Y[i], np.ones((len(i), 1))])
        A = np.zeros((len(i), self.K, r + 1))
        A[np.arange(len(i)), own] -= rows
        A[np.arange(len(i)), rival] += rows
        A = np.hstack([A[:, :free].reshape(len(i), -1), np.ones((len(i), 1))])
        bounds = [*([(-1, 1)] * r + [(None, None)]) * free, (None, 1)]
        cost = np.zeros(A.shape[1])
        cost[-1] = -1.0
        digits = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        done = linprog(
            cost, csr_array(A), np.zeros(len(i)), bounds=bounds, method="highs", options=digits
        )
        if done.x is None:
            return 0.0, np.zeros((r, self.K)), np.zeros(self.K)
        functions = np.zeros((self.K, r + 1))
        functions[:free] = done.x[:-1].reshape(free, r + 1)
        return float(done.x[-1]), functions[:, :r].T, functions[:, r]
