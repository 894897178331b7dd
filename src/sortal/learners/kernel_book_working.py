"""Algorithm 20.2 as the tables of a working: each line a table, each row of the fit by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.kernel_book import both_sides, matrices, project, project_means
from sortal.learners.matrices import matrix_table
from sortal.models.records import Table, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.learners.kernel_book import Matrices
    from sortal.models.kernel import KernelModel
    from sortal.models.records import Cell

    Float = NDArray[np.float64]


def show_book(model: KernelModel, K: Float) -> list[Table]:
    """Every matrix, where all rows are the basis; titles name the line of Algorithm 20.2."""
    n_classes, weight = len(model.classes), model.weight_of_basis
    made = matrices(K, model.codes, weight, n_classes, model.penalty, model.mu)
    ids, labels = model.ids.tolist(), [model.classes[c] for c in made.present]
    square = ids, ids
    tables = [
        _kernel(model, K, "Algorithm 20.2, line 1: K, the kernel matrix"),
        *_columns(model, made),
        _matrix("means", "Line 3: m of each class", (ids, labels), made.means.T, "ZM 20.17"),
        _matrix("between", "Line 4: M, between classes", square, made.between, "ZM 20.18"),
    ]
    names = unique([f"scatter {label}" for label in labels])
    tables += [
        _matrix(name, f"Line 5: N of class {label}", square, N, "ZM 20.19")
        for name, label, N in zip(names, labels, made.scatters, strict=True)
    ]
    tables.append(_matrix("within", "Line 6: N, within classes", square, made.within, "ZM 20.20"))
    if model.mu > 0:
        what = "μK" if model.penalty == "rkhs" else "ε / weight of the row on the diagonal"
        title = f"N + P, P = {what}"
        tables.append(_matrix("penalized", title, square, made.penalized, "ZM 20.21"))
    return [*tables, _solution(model, made), _projected(model, made), _criterion(model, made)]


def show_landmarks(model: KernelModel, K: Float) -> list[Table]:
    """What is kept where landmarks are the basis: the other rows are not."""
    heads = ("id", "class", "weight", *_each(model, "a"))
    title = "Coefficients a of the landmarks, aᵀKa = 1"
    rows = tuple(zip(*_fronts(model), *model.coefs.T.tolist(), strict=True))
    return [
        _kernel(model, K, "K, the kernel matrix of the landmarks"),
        Table("solution", title, heads, rows, "ZM 20.21"),
    ]


def _kernel(model: KernelModel, K: Float, title: str) -> Table:
    ids = model.ids.tolist()
    return _matrix("kernel", title, (ids, ids), K, "")


def _columns(model: KernelModel, made: Matrices) -> list[Table]:
    labels = [model.classes[c] for c in made.present]
    names = unique([f"kernel {label}" for label in labels])
    tables = []
    for name, label, c, part in zip(names, labels, made.present, made.by_class, strict=True):
        heads = model.ids.tolist(), model.ids[model.codes == c].tolist()
        tables.append(_matrix(name, f"Line 2: the columns of K that are {label}", heads, part, ""))
    return tables


def _solution(model: KernelModel, made: Matrices) -> Table:
    """a, the two sides of the eigenproblem, and the projections of the rows themselves."""
    left, right = both_sides(made, model.coefs, model.eigenvalues)
    p = project(model.coefs, made.K)
    known = [[None if np.isnan(x) else x for x in column] for column in right.T.tolist()]
    by_direction = zip(model.coefs.T.tolist(), left.T.tolist(), known, p.T.tolist(), strict=True)
    columns = [column for four in by_direction for column in four]
    kinds = [_each(model, what) for what in ("a", "Ma", "λ(N + P)a", "p")]
    heads = [head for four in zip(*kinds, strict=True) for head in four]
    rows: tuple[tuple[Cell, ...], ...] = tuple(zip(*_fronts(model), *columns, strict=True))
    title = "Lines 7 and 8: Ma = λ(N + P)a, scaled to aᵀKa = 1; projections p = Ka"
    return Table("solution", title, ("id", "class", "weight", *heads), rows, "ZM 20.21")


def _projected(model: KernelModel, made: Matrices) -> Table:
    labels = [model.classes[c] for c in made.present]
    m = project_means(model.coefs, made.means)
    return _matrix("projected", "aᵀm of each class", (labels, _each(model, "m")), m, "ZM 20.16")


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


def _fronts(model: KernelModel) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """Id, class and weight of each row of the basis."""
    labels: list[Cell] = [str(model.classes[c]) for c in model.codes]
    return model.ids.tolist(), labels, model.weight_of_basis.tolist()


def _each(model: KernelModel, what: str) -> list[str]:
    """The name of a column, once for each direction."""
    n = model.coefs.shape[1]
    return [what] if n == 1 else [f"{what} {q + 1}" for q in range(n)]


def _matrix(
    name: str, title: str, heads: tuple[Sequence[object], Sequence[object]], matrix: Float, tag: str
) -> Table:
    return matrix_table(name, title, heads, matrix, tag, "pandas")
