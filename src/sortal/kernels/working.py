"""The working of the kernel discriminant: the book's matrices of few rows, the spectrum of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvalsh

from sortal.decision.geometry import EPS
from sortal.decision.posterior import decide, posterior
from sortal.discriminants.working import posterior_table
from sortal.records.tables import Table, Working, matrix_table, sheet, unique, whole_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Counts, Float
    from sortal.kernels.explain import KernelRows
    from sortal.kernels.model import KernelModel
    from sortal.records.tables import Cell, Columns


# Kernel discriminant analysis by the book, line by line: for few rows, and to check others by.


@dataclass(frozen=True, eq=False)
class Matrices:
    """K, and of each class its columns of K, their mean and scatter; M, N, and the penalty P.

    `present` are the classes that have rows, in whose order the parts are; `penalized` is N + P.
    """

    K: Float
    present: tuple[int, ...]
    by_class: tuple[Float, ...]
    means: Float
    between: Float
    scatters: tuple[Float, ...]
    within: Float
    penalized: Float


def matrices(
    K: Float, codes: Counts, weight: Float, n_classes: int, penalty: str, mu: float
) -> Matrices:
    """Lines 1 to 6 of the algorithm, and the penalty: μK, or ε / weight. (ZM Alg. 20.2)"""
    present = np.unique(codes)
    members = [np.flatnonzero(codes == c) for c in present]
    parts = tuple(K[:, rows] for rows in members)
    weights = [weight[rows] for rows in members]
    means = np.array([class_mean(*pair) for pair in zip(parts, weights, strict=True)])
    scatters = tuple(class_scatter(*pair) for pair in zip(parts, weights, strict=True))
    sizes, N = np.array([own.sum() for own in weights]), within(scatters)
    P = mu * K if penalty == "rkhs" else np.diag(mu / weight)
    M = between(means, sizes, n_classes)
    return Matrices(K, tuple(present.tolist()), parts, means, M, scatters, N, N + P)


def class_mean(part: Float, weight: Float) -> Float:
    """m_c: for each row its mean kernel value with the rows of a class. (ZM 20.17)"""
    return np.asarray(part @ weight / weight.sum())


def between(means: Float, sizes: Float, n_classes: int) -> Float:
    """M = (m_1 - m_2)(m_1 - m_2)ᵀ. (ZM 20.18)

    Of more classes Σ_c n_c (m_c - m)(m_c - m)ᵀ, with m the mean over all rows, also where only
    two of them have rows.
    """
    if n_classes == 2:
        d = means[0] - means[1]
        return np.outer(d, d)
    away = means - sizes @ means / sizes.sum()
    return np.asarray(away.T @ (sizes[:, None] * away))


def class_scatter(part: Float, weight: Float) -> Float:
    """N_c = K^c (V - vvᵀ / n_c) (K^c)ᵀ, v the weights of the rows and V = diag(v). (ZM 20.19)"""
    V = np.diag(weight)
    return np.asarray(part @ (V - np.outer(weight, weight) / weight.sum()) @ part.T)


def within(scatters: tuple[Float, ...]) -> Float:
    """N = Σ_c N_c. (ZM 20.20)"""
    return np.asarray(np.sum(scatters, axis=0))


def project_means(a: Float, means: Float) -> Float:
    """aᵀm_c, a row a class and a column a direction. (ZM 20.16)"""
    return np.asarray(means @ a)


def both_sides(made: Matrices, a: Float, eigenvalues: Float) -> tuple[Float, Float]:
    """Ma and λ(N + P)a, which are equal; NaN where λ is infinite. (ZM 20.21)"""
    finite = np.isfinite(eigenvalues)
    right = np.where(finite, eigenvalues, 0.0) * (made.penalized @ a)
    return np.asarray(made.between @ a), np.where(finite, right, np.nan)


def project(a: Float, K: Float) -> Float:
    """Σ_j a_j k(x_j, x) of each row x, a column of K each. (ZM 20.22)"""
    return np.asarray(K.T @ a)


def direction_criteria(means: Float, scatters: Float, sizes: Float) -> Float:
    """J = (m_1 - m_2)² / (s_1² + s_2²) of each direction, from projections alone. (ZM 20.11)

    Of more classes Σ_c n_c (m_c - m)² above. No ridge enters; without scatter J is infinite.
    """
    if len(means) == 2:
        apart = (means[0] - means[1]) ** 2
    else:
        apart = sizes @ (means - sizes @ means / sizes.sum()) ** 2
    inside = scatters.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(inside > 0, apart / inside, np.inf))


# Algorithm 20.2 as the tables of a working: each line a table, each row of the fit by its id.


def show_book(model: KernelModel, K: Float) -> list[Table]:
    """Every matrix, where all rows are the basis; titles name the line of Algorithm 20.2."""
    n_classes, weight = len(model.classes), model.weight_of_basis
    made = matrices(K, model.codes, weight, n_classes, model.penalty, model.mu)
    ids, labels = model.ids.tolist(), [model.classes[c] for c in made.present]
    square = ids, ids
    own = [model.ids[model.codes == c].tolist() for c in made.present]
    m = project_means(model.coefs, made.means)

    def by_class(
        what: str, title: str, columns: list[list[int]], parts: tuple[Float, ...], tag: str
    ) -> list[Table]:
        names = unique([f"{what} {label}" for label in labels])
        return [
            _matrix(name, f"{title} {label}", (ids, heads), part, tag)
            for name, label, heads, part in zip(names, labels, columns, parts, strict=True)
        ]

    tables = [
        _matrix("kernel", "Algorithm 20.2, line 1: K, the kernel matrix", square, K, ""),
        *by_class("kernel", "Line 2: the columns of K that are", own, made.by_class, ""),
        _matrix("means", "Line 3: m of each class", (ids, labels), made.means.T, "ZM 20.17"),
        _matrix("between", "Line 4: M, between classes", square, made.between, "ZM 20.18"),
        *by_class("scatter", "Line 5: N of class", [ids] * len(own), made.scatters, "ZM 20.19"),
        _matrix("within", "Line 6: N, within classes", square, made.within, "ZM 20.20"),
    ]
    if model.mu > 0:
        what = "μK" if model.penalty == "rkhs" else "ε / weight of the row on the diagonal"
        title = f"N + P, P = {what}"
        tables.append(_matrix("penalized", title, square, made.penalized, "ZM 20.21"))
    heads = labels, _each(model, "m")
    projected = _matrix("projected", "aᵀm of each class", heads, m, "ZM 20.16")
    return [*tables, _solution(model, made), projected, _criterion(model, made)]


def show_landmarks(model: KernelModel, K: Float) -> list[Table]:
    """What is kept where landmarks are the basis: the other rows are not."""
    ids, title = model.ids.tolist(), "Coefficients a of the landmarks, aᵀKa = 1"
    columns = _fronts(model) | {tuple(_each(model, "a")): model.coefs}
    return [
        _matrix("kernel", "K, the kernel matrix of the landmarks", (ids, ids), K, ""),
        sheet("solution", title, columns, "ZM 20.21"),
    ]


def _solution(model: KernelModel, made: Matrices) -> Table:
    """a, the two sides of the eigenproblem, and the projections of the rows themselves."""
    left, right = both_sides(made, model.coefs, model.eigenvalues)
    p = project(model.coefs, made.K)
    kinds = [_each(model, what) for what in ("a", "Ma", "λ(N + P)a", "p")]
    heads = tuple(head for four in zip(*kinds, strict=True) for head in four)
    four = np.stack([model.coefs, left, right, p], axis=2).reshape(len(p), len(heads))
    title = "Lines 7 and 8: Ma = λ(N + P)a, scaled to aᵀKa = 1; projections p = Ka"
    return sheet("solution", title, _fronts(model) | {heads: four}, "ZM 20.21")


def _criterion(model: KernelModel, made: Matrices) -> Table:
    """The criterion again, from the finished a: with the penalty it is λ, without it J."""
    rows: list[tuple[Cell, ...]] = []
    for q, a in enumerate(model.coefs.T):
        apart, inside = float(a @ made.between @ a), float(a @ made.within @ a)
        penalized = float(a @ made.penalized @ a)
        scattered = np.isfinite(model.eigenvalues[q])
        ratios = [apart / x if scattered and x > 0 else np.inf for x in (penalized, inside)]
        rows.append((q + 1, apart, inside, penalized, *ratios))
    heads = ("direction", "aᵀMa", "aᵀNa", "aᵀ(N + P)a", "aᵀMa / aᵀ(N + P)a", "J = aᵀMa / aᵀNa")
    return Table("criterion", "The criterion", heads, tuple(rows), "ZM 20.20")


def _fronts(model: KernelModel) -> Columns:
    """Id, class and weight of each row of the basis."""
    labels = [str(model.classes[c]) for c in model.codes]
    return {"id": model.ids, "class": labels, "weight": model.weight_of_basis}


def _each(model: KernelModel, what: str) -> list[str]:
    """The name of a column, once for each direction."""
    n = model.coefs.shape[1]
    return [what] if n == 1 else [f"{what} {q + 1}" for q in range(n)]


def _matrix(
    name: str, title: str, heads: tuple[Sequence[object], Sequence[object]], matrix: Float, tag: str
) -> Table:
    return matrix_table(name, title, heads, matrix, tag)


# Eigenvalues take time by the cube of the rows: some seconds for these.
_MOST_IN_SPECTRUM = 3000

_EIGENVALUES = 10

_FORMULAS = {
    "rbf": "exp(-γ‖u - u'‖²)",
    "laplacian": "exp(-γ‖u - u'‖₁)",
    "poly": "(γ uᵀu' + coef0)^degree",
    "linear": "uᵀu'",
    "callable": "a function that was given",
    "precomputed": "values that were given",
}

_READS = {"rbf": ("gamma",), "laplacian": ("gamma",), "poly": ("gamma", "coef0", "degree")}


def show_kernel(
    model: KernelModel, rows: KernelRows | None, costs: Float | None, max_rows: int
) -> Working:
    """The tables of a fit; with rows, also their projections and posteriors.

    Where at most `max_rows` rows are the basis, every matrix of Algorithm 20.2 is shown.
    """
    K = _basis_kernel(model)
    tables = [_sizes(model), *_inputs(model), _classes(model)]
    tables += [_directions(model, K), _projections(model)]
    if K is None:
        tables.append(_no_matrix(model))
    elif len(K) > max_rows:
        tables.append(_spectrum(K))
    else:
        tables += show_landmarks(model, K) if model.solver == "landmarks" else show_book(model, K)
    if model.curve is not None:
        tables.append(model.curve)
    if rows is not None:
        tables += _rows(model, rows, costs)
    return Working(f"Kernel discriminant: {_describe(model)}", tuple(tables))


def _describe(model: KernelModel) -> str:
    basis = "landmarks" if model.solver == "landmarks" else "rows"
    return f"{model.kernel.name} kernel of {len(model.ids):,} {basis}"


def _basis_kernel(model: KernelModel) -> Float | None:
    """K of the basis, where it can be had and is not too large."""
    if model.kernel.name == "precomputed" or len(model.basis) > _MOST_IN_SPECTRUM:
        return None
    K = model.kernel.matrix(model.basis, model.basis)
    return np.asarray((K + K.T) / 2)


def _no_matrix(model: KernelModel) -> Table:
    """Why there is no matrix to show."""
    n, most = len(model.basis), _MOST_IN_SPECTRUM
    why = (
        f"its eigenvalues are shown for up to {most:,} rows, since they take long; here are {n:,}."
    )
    if model.kernel.name == "precomputed":
        why = "it was given with the rows, and a model does not keep it."
    return Table("spectrum", "K, the kernel matrix", ("not shown",), ((why,),))


# --- The fit -------------------------------------------------------------------------------------


def _sizes(model: KernelModel) -> Table:
    kernel = model.kernel
    numbers: list[tuple[str, Cell]] = [
        ("weight of all rows", whole_cells([model.weight.sum()])[0]),
        ("classes", len(model.classes)),
        ("solver", model.solver),
        ("landmarks" if model.solver == "landmarks" else "rows of the basis", len(model.ids)),
        ("directions", len(model.eigenvalues)),
        ("kernel", f"{kernel.name}: {_FORMULAS[kernel.name]}"),
        *((name, getattr(kernel, name)) for name in _READS.get(kernel.name, ())),
        ("penalty", model.penalty),
        ("ridge", model.ridge),
        ("μ" if model.penalty == "rkhs" else "ε", model.mu),
        ("pooled divisor D", model.divisor),
        ("condition", model.condition),
    ]
    return Table("sizes", "What was fitted", ("what", "value"), tuple(numbers))


def _inputs(model: KernelModel) -> list[Table]:
    """What is done to the terms of a row before the kernel is asked."""
    inputs = model.inputs
    if model.kernel.name == "precomputed":
        return []
    columns: Columns = {"term": inputs.design.terms, "shift": inputs.shift}
    columns |= {"factor": inputs.factor, "fill": inputs.fill}
    title = "Inputs u = (x - shift) · factor; a missing value takes fill"
    return [sheet("inputs", title, columns, "S 84")]


def _classes(model: KernelModel) -> Table:
    weight = whole_cells(model.weight)
    columns = {"class": map(str, model.classes), "n": weight, "π": model.prior}
    return sheet("classes", "Classes", columns)


def _directions(model: KernelModel, K: Float | None) -> Table:
    """λ with the penalty, J without it, and lengths of the direction."""
    a, values = model.coefs, direction_criteria(model.means, model.scatters, model.weight)
    values = np.where(np.isinf(model.eigenvalues), np.inf, values)
    columns = {
        "direction": range(1, a.shape[1] + 1),
        "λ": model.eigenvalues,
        "J, no penalty": values,
        "aᵀKa": [None] * a.shape[1] if K is None else (a * (K @ a)).sum(axis=0),
        "ℓ": model.lengths,
    }
    title = "Directions w = Σ_j a_j φ(x_j), ℓ = √aᵀ(N + P)a"
    if np.isinf(model.eigenvalues).any():
        title += "; where no class has scatter, a least one is assumed in ℓ"
    return sheet("directions", title, columns, "ZM 20.11")


def _projections(model: KernelModel) -> Table:
    there, n = np.flatnonzero(model.weight > 0), model.coefs.shape[1]
    columns = {
        "direction": np.repeat(np.arange(1, n + 1), len(there)),
        "class": [str(model.classes[c]) for c in there] * n,
        "m": model.means[there].T.ravel(),
        "s²": model.scatters[there].T.ravel(),
    }
    return sheet("projections", "Projected classes", columns, "ZM 20.16")


def _spectrum(K: Float) -> Table:
    """The largest eigenvalues of K, and what they hold of the trace."""
    n, trace = len(K), float(np.trace(K))
    found = eigvalsh(K, subset_by_index=(max(0, n - _EIGENVALUES), n - 1))[::-1]
    found = found[found > n * EPS * found[0]]  # others are rounding only
    shares = found / trace
    columns: Columns = {"number": range(1, len(found) + 1), "eigenvalue": found}
    columns |= {"share of the sum": shares, "together": np.cumsum(shares)}
    title = f"The largest of {n:,} eigenvalues of K, whose sum is {trace:.6g}"
    return sheet("spectrum", title, columns)


# --- Rows ----------------------------------------------------------------------------------------


def _rows(model: KernelModel, rows: KernelRows, costs: Float | None) -> list[Table]:
    """Projections of rows, what is said of them, and Bayes' rule."""
    p = rows.projections
    shares = posterior(model.log_densities(p) + model.log_prior, model.prior)
    said = [str(model.classes[k]) for k in decide(shares, costs)]
    heads = tuple(f"p{q + 1}" for q in range(p.shape[1]))
    title = "Projections p = Σ_j a_j k(x_j, x) of the rows"
    columns = {"row": range(len(p)), heads: p, "said": said}
    table = sheet("rows", title, columns, "ZM 20.22")
    return [table, posterior_table(model.classes, shares, "S 92")]
