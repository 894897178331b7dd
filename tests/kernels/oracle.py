"""A slow oracle of the kernel discriminant, written from the definitions alone.

It weighs rows, scales terms, asks the kernel for all pairs, and judges one row and one class at a
time; what it says of a row without that row comes from another fit. Nothing is shared with the
library.

Letters: v_i is the weight of a row with the factor of its class, n_c the weight of class c, k_i
the column of kernel values of row i with all rows of the basis.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tests.kernels.eigenproblem import Problem, kernel_values

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

GRID = tuple(10.0**e for e in range(-8, 1))


@dataclass(frozen=True, eq=False)
class Oracle:
    """Rows as terms (or, precomputed, as kernel values), labels, and the options of the learner.

    `basis` are positions of landmarks, by default all rows of weight; `is_number` the terms that
    are scaled. `mu` is held where given.
    """

    X: Float
    y: Labels
    kernel: str | Callable[[Float, Float], Any] = "rbf"
    gamma: float | None = None
    degree: int = 2
    coef0: float = 0.0
    scale: str | None = "auto"
    ridge: float | None = None
    penalty: str = "rkhs"
    rule: str = "gaussian"
    n_components: int | None = None
    weight: Any = None
    priors: Mapping[Any, float] | None = None
    class_weight: Mapping[Any, float] | str | None = None
    basis: Any = None
    is_number: Any = None
    left_out: int | None = None

    # --- Rows and weights ------------------------------------------------------------------------

    @cached_property
    def fitted_weight(self) -> Float:
        n = len(self.X)
        return np.ones(n) if self.weight is None else np.asarray(self.weight, dtype=np.float64)

    @cached_property
    def plain(self) -> Float:
        """Weights of the rows, none of the row that is left out."""
        found = self.fitted_weight.copy()
        if self.left_out is not None:
            found[self.left_out] = 0.0
        return found

    @cached_property
    def classes(self) -> list[Any]:
        return sorted(set(self.y[self.fitted_weight > 0].tolist()))

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        place = {c: k for k, c in enumerate(self.classes)}
        return np.array([place.get(c, 0) for c in self.y.tolist()], dtype=np.intp)

    def factors(self, plain: Float) -> Float:
        """What the rows of each class weigh more."""
        if self.class_weight is None:
            return np.ones(len(self.classes))
        if isinstance(self.class_weight, str):
            own = [plain[self.y == c].sum() for c in self.classes]
            C = sum(w > 0 for w in own)
            return np.array([plain.sum() / (C * w) if w > 0 else 0.0 for w in own])
        return np.array([float(self.class_weight.get(c, 1.0)) for c in self.classes])

    def weighed(self, plain: Float) -> Float:
        return np.asarray(plain * self.factors(plain)[self.codes])

    @cached_property
    def v(self) -> Float:
        return self.weighed(self.plain)

    @cached_property
    def divisor(self) -> float:
        """N − C in the unit of the weights: rows are counted, whole weights are copies."""
        weights, f = self.fitted_weight, self.factors(self.plain)
        whole = bool((weights == np.floor(weights)).all())
        counts = [
            self.plain[self.y == c].sum() if whole else (self.plain[self.y == c] > 0).sum()
            for c in self.classes
        ]
        n = np.array(counts, dtype=np.float64) * (f > 0)
        if whole and (f == np.floor(f)).all():
            n = n * f
        total, C = self.v.sum(), int((n > 0).sum())
        return float(total if n.sum() <= C else total * (n.sum() - C) / n.sum())

    # --- Inputs and kernel, by all rows of the fit -----------------------------------------------

    def _moments(self, values: Float) -> tuple[Float, Float]:
        w = self.fitted_weight
        mean = w @ values / w.sum()
        return mean, w @ (values - mean) ** 2 / w.sum()

    @cached_property
    def factor(self) -> Float:
        """By what a term is multiplied."""
        p = self.X.shape[1]
        auto = "std" if self.kernel in ("rbf", "laplacian") else None
        if (auto if self.scale == "auto" else self.scale) is None:
            return np.ones(p)
        std = np.sqrt(self._moments(self.X)[1])
        numbers = np.ones(p, dtype=bool) if self.is_number is None else np.asarray(self.is_number)
        inverse = np.where(std > 0, 1 / np.where(std > 0, std, 1.0), 0.0)
        return np.where(numbers, inverse, 1.0)

    def inputs(self, X: Any) -> Float:
        """Terms moved to their means, where only differences matter, and scaled."""
        moved = self.kernel in ("rbf", "laplacian")
        center = self._moments(self.X)[0] if moved else 0.0
        return np.asarray((np.asarray(X, dtype=np.float64) - center) * self.factor)

    @cached_property
    def width(self) -> float:
        if self.gamma is not None or self.kernel not in ("rbf", "laplacian"):
            return 1.0 if self.gamma is None else self.gamma
        variance = self._moments(self.inputs(self.X))[1]
        return float(1 / (variance if self.kernel == "rbf" else np.sqrt(variance)).sum())

    @cached_property
    def ids(self) -> NDArray[np.intp]:
        every = np.flatnonzero(self.weighed(self.fitted_weight) > 0)
        return every if self.basis is None else np.asarray(self.basis, dtype=np.intp)

    def k(self, X: Any) -> Float:
        """Kernel values of rows with the basis, a column a row."""
        if self.kernel == "precomputed":
            return np.asarray(X, dtype=np.float64)[:, self.ids].T
        basis = self.inputs(self.X)[self.ids]
        rest = self.width, self.degree, self.coef0
        return kernel_values(self.kernel, basis, self.inputs(X), *rest)

    @cached_property
    def diagonal(self) -> Float:
        """k(x, x) of the rows of the fit."""
        if self.kernel == "precomputed":
            return np.diag(self.X)
        rest = self.width, self.degree, self.coef0
        own = self.inputs(self.X)[:, None, :]
        return np.array([kernel_values(self.kernel, u, u, *rest)[0, 0] for u in own])

    @property
    def n_rows(self) -> float:
        """The rows that take part; of whole-number weights, their copies."""
        w = self.fitted_weight
        return float(w.sum()) if (w == np.floor(w)).all() else float((w > 0).sum())

    @cached_property
    def mu(self) -> float:
        """μ or ε, by all rows of the fit; where no ridge is given, by the number of rows."""
        total = float(self.weighed(self.fitted_weight) @ self.diagonal)
        share = 2.0 / self.n_rows if self.ridge is None else self.ridge
        if self.penalty == "rkhs":
            return share * total
        return (share * total) ** 2 if self.ridge is None else share

    @cached_property
    def problem(self) -> Problem:
        k = self.k(self.X)
        K_basis = k[:, self.ids]
        R = K_basis
        if self.penalty == "coefficients":
            R = np.diag(1 / self.weighed(self.fitted_weight)[self.ids])
        return Problem(k, K_basis, R, self.mu, self.v, self.codes, len(self.classes))

    # --- What is asked of a model ----------------------------------------------------------------

    @cached_property
    def directions(self) -> tuple[Float, Float]:
        a, eigenvalues = self.problem.solution
        return a[:, : self.n_components], eigenvalues[: self.n_components]

    @property
    def coefs(self) -> Float:
        return self.directions[0]

    @property
    def eigenvalues(self) -> Float:
        return self.directions[1]

    @property
    def means(self) -> Float:
        """The projected class means."""
        return np.asarray(self.problem.means @ self.coefs)

    @property
    def scatters(self) -> Float:
        """s_c² = Σ v_i (p_i − m_c)²."""
        p = self.project(self.X)
        own = [self.codes == c for c in range(len(self.classes))]
        pairs = list(zip(own, self.means, strict=True))
        return np.array([self.v[rows] @ (p[rows] - mean) ** 2 for rows, mean in pairs])

    def project(self, X: Any) -> Float:
        """p(x) = Σ a_j k(x_j, x) (ZM 20.22)."""
        return np.asarray(self.k(X).T @ self.coefs)

    @cached_property
    def prior(self) -> Float:
        if self.rule == "nearest_mean":
            return np.full(len(self.classes), 1 / len(self.classes))
        if self.priors is not None:
            return np.array([self.priors[c] for c in self.classes])
        return np.asarray(self.problem.n / self.problem.n.sum())

    def log_densities(self, X: Any) -> Float:
        """ln f_c(x) up to what is common to all classes; −∞ for a class without rows."""
        lengths = self.problem.lengths(self.coefs, self.eigenvalues)
        found = np.full((len(X), len(self.classes)), -np.inf)
        for i, p in enumerate(self.project(X)):
            for c in self.problem.present:
                z = (p - self.means[c]) / lengths
                found[i, c] = -0.5 * self.divisor * (z @ z)
        return found

    def log_posteriors(self, X: Any) -> Float:
        found = []
        for densities in self.log_densities(X):
            pairs = zip(densities, self.prior, strict=True)
            joint = [f + math.log(p) if p > 0 else -math.inf for f, p in pairs]
            top = max(joint)
            total = top + math.log(sum(math.exp(j - top) for j in joint))
            found.append([j - total for j in joint])
        return np.array(found)

    def posteriors(self, X: Any) -> Float:
        return np.asarray(np.exp(self.log_posteriors(X)))

    # --- Without each row ------------------------------------------------------------------------

    def without(self, i: int) -> "Oracle":
        """The model of the other rows; inputs, width, μ, basis and its weights are held."""
        return replace(self, left_out=i)

    def loo_log(self) -> Float:
        """ln P(c|x_i) by the model without row i; of rows that are not in the fit, by the model."""
        found = self.log_posteriors(self.X)
        for i in np.flatnonzero(self.weighed(self.fitted_weight) > 0).tolist():
            found[i] = self.without(i).log_posteriors(self.X[[i]])[0]
        return found

    def loo_score(self) -> float:
        """The mean of ln P(y|x) without each row; a row that was all its class does not count."""
        logs = self.loo_log()[np.arange(len(self.y)), self.codes]
        counts = (self.weighed(self.fitted_weight) > 0) & np.isfinite(logs)
        w = self.fitted_weight[counts]
        return float(w @ logs[counts] / w.sum())

    def grid(self) -> list[float]:
        """Ridges that are tried."""
        if self.penalty == "rkhs":
            return list(GRID)
        total = self.weighed(self.fitted_weight) @ self.diagonal
        return [float((g * total) ** 2) for g in GRID]
