"""The working of KernelDiscriminant: Example 20.4, its tables by brute force, and their faces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from tests.kernels.tables import iris

from sortal import KernelDiscriminant
from sortal.errors import PerfectSeparationWarning

if TYPE_CHECKING:
    from sortal.records.tables import Table, Working

FEW: Final = np.r_[0:3, 50:54, 100:102]  # nine rows of three classes
WEIGHT: Final = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 3.0, 1.0, 2.0])


def few(**options: Any) -> KernelDiscriminant:
    X, y = iris()
    model = KernelDiscriminant(**{"ridge": 0.01, **options})
    return model.fit(X.iloc[FEW], y[FEW], WEIGHT)


def numbers(table: Table, name: str) -> list[float]:
    """A column of numbers."""
    return [float(cell) for cell in table.column(name) if cell is not None]


def matrix(table: Table) -> Any:
    return np.array([row[1:] for row in table.rows], dtype=float)


def sizes(work: Working) -> dict[Any, Any]:
    table = work["sizes"]
    return dict(zip(table.column("what"), table.column("value"), strict=True))


def names(work: Working) -> list[str]:
    return [table.name for table in work]


# --- Example 20.4 --------------------------------------------------------------------------------


def components() -> pd.DataFrame:
    """The first two principal components of iris."""
    X, _ = iris()
    Z = (X - X.mean()).to_numpy()
    _, _, V = np.linalg.svd(Z, full_matrices=False)
    return pd.DataFrame(Z @ V[:2].T, columns=["u1", "u2"])


def example() -> KernelDiscriminant:
    y = np.where(iris()[1] == "versicolor", "versicolor", "other")
    return KernelDiscriminant("poly", ridge=0).fit(components(), y)


def test_example_20_4_to_the_printed_digits() -> None:
    work = example().working()
    directions, projections = work["directions"], work["projections"]
    assert numbers(directions, "λ") == pytest.approx([0.05114], abs=5e-6)
    assert numbers(directions, "J, no penalty") == pytest.approx([0.05114], abs=5e-6)
    assert numbers(directions, "aᵀKa") == pytest.approx([1.0], rel=1e-9)
    assert projections.column("class") == ("other", "versicolor")
    assert np.abs(numbers(projections, "m")) == pytest.approx([4.4759, 0.3380], abs=5e-5)
    assert numbers(projections, "s²") == pytest.approx([320.934, 13.8617], abs=5e-4)


def test_example_20_4_has_a_feature_space_of_three_dimensions() -> None:
    work, P = example().working(), components().to_numpy()
    assert names(work) == ["sizes", "inputs", "classes", "directions", "projections", "spectrum"]
    want = np.linalg.svd((P @ P.T) ** 2, compute_uv=False)
    spectrum = work["spectrum"]
    assert numbers(spectrum, "eigenvalue") == pytest.approx(want[:3].tolist(), rel=1e-9)
    assert numbers(spectrum, "together")[-1] == pytest.approx(1.0)
    assert spectrum.title == f"The largest of 150 eigenvalues of K, whose sum is {want.sum():.6g}"


# --- Algorithm 20.2 ------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "laplacian"])
def test_every_line_of_the_algorithm_by_brute_force(kernel: str, penalty: str) -> None:
    model = few(kernel=kernel, penalty=penalty)
    work = model.working()
    K, codes = matrix(work["kernel"]), np.array([0] * 3 + [1] * 4 + [2] * 2)
    np.testing.assert_allclose(K, model.kernel_.matrix(*[model._model.basis] * 2), rtol=1e-9)
    N, M, total = np.zeros((9, 9)), np.zeros((9, 9)), WEIGHT @ K / WEIGHT.sum()
    for c, label in enumerate(model.classes_):
        rows, part = codes == c, matrix(work[f"kernel {label}"])
        np.testing.assert_array_equal(part, K[:, rows])
        m = np.average(part, axis=1, weights=WEIGHT[rows])
        assert numbers(work["means"], label) == pytest.approx(m.tolist())
        own = matrix(work[f"scatter {label}"])
        away = part - m[:, None]
        np.testing.assert_allclose(own, (away * WEIGHT[rows]) @ away.T, atol=1e-9 * abs(own).max())
        N += own
        M += WEIGHT[rows].sum() * np.outer(m - total, m - total)
    np.testing.assert_allclose(matrix(work["within"]), N, atol=1e-9 * abs(N).max())
    np.testing.assert_allclose(matrix(work["between"]), M, atol=1e-9 * abs(M).max())
    P = model.mu_ * K if penalty == "rkhs" else np.diag(model.mu_ / WEIGHT)
    np.testing.assert_allclose(matrix(work["penalized"]), N + P, atol=1e-9 * abs(N).max())


@pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
def test_the_solution_solves_the_problem(penalty: str) -> None:
    X, y = iris()
    model = few(penalty=penalty)
    work = model.working()
    solution, criterion = work["solution"], work["criterion"]
    assert solution.column("id") == tuple(range(9))
    assert solution.column("weight") == tuple(WEIGHT.tolist())
    assert solution.column("class") == tuple(y[FEW])
    for q in (1, 2):
        assert numbers(solution, f"a {q}") == model.dual_coef_[:, q - 1].tolist()
        sides = [numbers(solution, f"{side} {q}") for side in ("Ma", "λ(N + P)a")]
        assert sides[0] == pytest.approx(sides[1], rel=1e-6, abs=1e-9)
        p = model.transform(X.iloc[FEW])[:, q - 1]
        assert numbers(solution, f"p {q}") == pytest.approx(p.tolist(), abs=1e-9)
        m = numbers(work["projected"], f"m {q}")
        assert m == pytest.approx(model.projected_means_[:, q - 1].tolist(), abs=1e-9)
    assert numbers(criterion, "aᵀMa / aᵀ(N + P)a") == pytest.approx(model.eigenvalues_.tolist())
    without = numbers(work["directions"], "J, no penalty")
    assert numbers(criterion, "J = aᵀMa / aᵀNa") == pytest.approx(without, rel=1e-6)
    lengths = [x**2 for x in numbers(work["directions"], "ℓ")]
    assert numbers(criterion, "aᵀ(N + P)a") == pytest.approx(lengths, rel=1e-9)


def test_titles_go_through_the_lines() -> None:
    titles = [table.title for table in few().working()]
    assert "Algorithm 20.2, line 1: K, the kernel matrix" in titles
    for line in (2, 3, 4, 5, 6):
        assert any(title.startswith(f"Line {line}: ") for title in titles)
    assert any(title.startswith("Lines 7 and 8: ") for title in titles)


def test_without_scatter_in_a_class_lambda_is_infinite() -> None:
    with pytest.warns(PerfectSeparationWarning):
        model = few(ridge=0)
    work = model.working()
    assert numbers(work["directions"], "λ") == [np.inf, np.inf]
    assert numbers(work["directions"], "J, no penalty") == [np.inf, np.inf]
    assert "a least one is assumed" in work["directions"].title
    assert work["solution"].column("λ(N + P)a 1") == (None,) * 9
    assert "penalized" not in names(work)
    assert numbers(work["criterion"], "J = aᵀMa / aᵀNa") == [np.inf, np.inf]
    assert json.dumps(work.to_dict(), allow_nan=False)


# --- What a fit has ------------------------------------------------------------------------------


def test_sizes_say_what_was_fitted() -> None:
    model = few(kernel="poly", coef0=1.0, degree=3)
    told = sizes(model.working())
    assert told["weight of all rows"] == 12.5
    assert told["rows of the basis"] == 9
    assert told["kernel"] == "poly: (γ uᵀu' + coef0)^degree"
    assert (told["gamma"], told["coef0"], told["degree"]) == (1.0, 1.0, 3)
    assert (told["ridge"], told["μ"], told["condition"]) == (0.01, model.mu_, model.condition_)
    mika = sizes(few(penalty="coefficients").working())
    assert (mika["ε"], mika["penalty"]) == (0.01, "coefficients")
    assert not {"coef0", "degree", "μ"} & set(mika)


def test_inputs_are_moved_and_scaled() -> None:
    X, y = iris()
    model = KernelDiscriminant().fit(X, y)
    inputs = model.working()["inputs"]
    assert inputs.column("term") == tuple(X.columns)
    assert numbers(inputs, "shift") == pytest.approx(X.mean().tolist())
    assert numbers(inputs, "factor") == pytest.approx((1 / X.std(ddof=0)).tolist())
    assert numbers(inputs, "fill") == pytest.approx(X.mean().tolist())


def test_how_many_rows_have_matrices() -> None:
    model = few()
    assert "within" in names(model.working(max_rows=9))
    short = model.working(max_rows=8)
    assert names(short)[-1] == "spectrum"
    assert len(short["spectrum"].rows) == 9
    assert numbers(short["spectrum"], "together")[-1] == pytest.approx(1.0)


def test_landmarks_show_their_own_kernel() -> None:
    X, y = iris()
    model = KernelDiscriminant(solver="landmarks", n_landmarks=6).fit(X, y)
    work = model.working()
    assert names(work)[-2:] == ["kernel", "solution"]
    ids = model.basis_ids_.tolist()
    assert work["kernel"].columns == ("", *map(str, ids))
    assert work["solution"].column("id") == tuple(ids)
    assert work["solution"].column("class") == tuple(y[ids])
    assert sizes(work)["landmarks"] == 6
    assert numbers(work["directions"], "aᵀKa") == pytest.approx([1.0, 1.0])
    assert work.title == "Kernel discriminant: rbf kernel of 6 landmarks"


def test_a_given_kernel_is_not_kept() -> None:
    X, y = iris()
    K = X.to_numpy() @ X.to_numpy().T
    work = KernelDiscriminant("precomputed").fit(K, y).working(K[:2])
    assert "a model does not keep it" in str(work["spectrum"])
    assert work["directions"].column("aᵀKa") == (None, None)
    assert "inputs" not in names(work)
    assert len(work["posteriors"].rows) == 2


def test_a_large_basis_has_no_spectrum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris()
    monkeypatch.setattr("sortal.kernels.working._MOST_IN_SPECTRUM", 100)
    work = KernelDiscriminant().fit(X, y).working()
    assert work["spectrum"].columns == ("not shown",)
    assert "for up to 100 rows, since they take long; here are 150." in str(work["spectrum"])


def test_the_curve_of_a_ridge_that_was_chosen() -> None:
    X, y = iris()
    model = KernelDiscriminant(ridge="loo").fit(X, y)
    assert model.loo_curve_.name in names(model.working())


# --- Rows ----------------------------------------------------------------------------------------


def test_rows_have_projections_and_posteriors() -> None:
    X, y = iris()
    model = KernelDiscriminant().fit(X, y)
    asked = X[70:75]
    work = model.working(asked)
    rows, posteriors = work["rows"], work["posteriors"]
    p = np.array([row[1:3] for row in rows.rows], dtype=float)
    np.testing.assert_allclose(p, model.transform(asked), rtol=1e-9, atol=1e-12)
    assert rows.column("said") == tuple(model.predict(asked))
    np.testing.assert_allclose(matrix(posteriors), model.predict_proba(asked), atol=1e-12)


def test_what_is_said_heeds_costs() -> None:
    X, y = iris()
    costs = [[0.0, 1.0, 1.0], [1e9, 0.0, 1.0], [1e9, 1.0, 0.0]]
    model = KernelDiscriminant(costs=costs, ridge=1.0).fit(X, y)
    assert model.working(X)["rows"].column("said") == tuple(model.predict(X))


# --- Faces ---------------------------------------------------------------------------------------


def test_labels_that_are_numbers_are_words_in_tables() -> None:
    X = pd.DataFrame({"x": [0.0, 1.0, 5.0, 6.0]})
    work = KernelDiscriminant(ridge=0.1).fit(X, [1, 1, 2, 2]).working(X)
    assert work["classes"].column("class") == ("1", "2")
    assert work["solution"].column("class") == ("1", "1", "2", "2")
    assert work["rows"].column("said") == ("1", "1", "2", "2")
    assert "kernel 1" in names(work)
