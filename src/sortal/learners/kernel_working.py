"""The working of the kernel discriminant: the book's matrices of few rows, the spectrum of many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvalsh

from sortal.learners.kernel_book import judge
from sortal.learners.kernel_book_working import show_book, show_landmarks
from sortal.learners.matrices import posterior_table
from sortal.models.decision import decide, posterior
from sortal.models.geometry import EPS
from sortal.models.records import Table, Working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.kernel import KernelModel
    from sortal.models.kernel_rows import KernelRows
    from sortal.models.records import Cell

    Float = NDArray[np.float64]

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
    model: KernelModel, rows: KernelRows | None, costs: Float | None, most: int, backend: str
) -> Working:
    """The tables of a fit; with rows, also their projections and posteriors.

    Where at most `most` rows are the basis, every matrix of Algorithm 20.2 is shown.
    """
    K = _basis_kernel(model)
    tables = [_sizes(model), *_inputs(model), _classes(model)]
    tables += [_directions(model, K), _projections(model)]
    if K is None:
        tables.append(_no_matrix(model))
    elif len(K) > most:
        tables.append(_spectrum(K))
    else:
        tables += show_landmarks(model, K) if model.solver == "landmarks" else show_book(model, K)
    if model.curve is not None:
        tables.append(model.curve)
    if rows is not None:
        tables += _rows(model, rows, costs)
    named = tuple(replace(table, backend=backend) for table in tables)
    return Working(f"Kernel discriminant: {_describe(model)}", named)


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
        ("weight of all rows", _whole(float(model.weight.sum()))),
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
    numbers = zip(
        inputs.design.terms,
        inputs.shift.tolist(),
        inputs.factor.tolist(),
        inputs.fill.tolist(),
        strict=True,
    )
    heads = ("term", "shift", "factor", "fill")
    title = "Inputs u = (x - shift) · factor; a hole takes fill"
    return [Table("inputs", title, heads, tuple(numbers), "S 84")]


def _classes(model: KernelModel) -> Table:
    n, prior = model.weight.tolist(), model.prior.tolist()
    rows = tuple((str(c), _whole(a), b) for c, a, b in zip(model.classes, n, prior, strict=True))
    return Table("classes", "Classes", ("class", "n", "π"), rows)


def _directions(model: KernelModel, K: Float | None) -> Table:
    """λ with the penalty, J without it, and lengths of the direction."""
    a, values = model.coefs, judge(model.means, model.scatters, model.weight)
    values = np.where(np.isinf(model.eigenvalues), np.inf, values)
    length = [None] * a.shape[1] if K is None else (a * (K @ a)).sum(axis=0).tolist()
    rows = tuple(
        (q + 1, float(model.eigenvalues[q]), float(values[q]), length[q], float(model.lengths[q]))
        for q in range(a.shape[1])
    )
    title = "Directions w = Σ_j a_j φ(x_j), ℓ = √aᵀ(N + P)a"
    if np.isinf(model.eigenvalues).any():
        title += "; where no class has scatter, a least one is assumed in ℓ"
    heads = ("direction", "λ", "J, no penalty", "aᵀKa", "ℓ")
    return Table("directions", title, heads, rows, "ZM 20.11")


def _projections(model: KernelModel) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (q + 1, str(label), float(model.means[c, q]), float(model.scatters[c, q]))
        for q in range(model.coefs.shape[1])
        for c, label in enumerate(model.classes)
        if model.weight[c] > 0
    ]
    heads = ("direction", "class", "m", "s²")
    return Table("projections", "Projected classes", heads, tuple(rows), "ZM 20.16")


def _spectrum(K: Float) -> Table:
    """The largest eigenvalues of K, and what they hold of the trace."""
    n, trace = len(K), float(np.trace(K))
    found = eigvalsh(K, subset_by_index=(max(0, n - _EIGENVALUES), n - 1))[::-1]
    found = found[found > n * EPS * found[0]]  # others are rounding only
    shares = found / trace
    together = np.cumsum(shares).tolist()
    cells = zip(found.tolist(), shares.tolist(), together, strict=True)
    title = f"The largest of {n:,} eigenvalues of K, whose sum is {trace:.6g}"
    heads = ("number", "eigenvalue", "share of the sum", "together")
    return Table("spectrum", title, heads, tuple((i + 1, *row) for i, row in enumerate(cells)))


# --- Rows ----------------------------------------------------------------------------------------


def _rows(model: KernelModel, rows: KernelRows, costs: Float | None) -> list[Table]:
    """Projections of rows, what is said of them, and Bayes' rule."""
    p, shares = rows.projections, posterior(rows.functions + model.log_prior, model.prior)
    said = [str(model.classes[k]) for k in decide(shares, costs)]
    cells = tuple((i, *row, said[i]) for i, row in enumerate(p.tolist()))
    heads = ("row", *(f"p{q + 1}" for q in range(p.shape[1])), "said")
    title = "Projections p = Σ_j a_j k(x_j, x) of the rows"
    table = Table("rows", title, heads, cells, "ZM 20.22")
    return [table, replace(posterior_table(model.classes, shares, ""), equation="S 92")]


def _whole(x: float) -> Cell:
    """Whole weights as whole numbers."""
    return int(x) if x.is_integer() else x
