"""The worked examples of the textbooks, number by number, and what their misprints should say.

Iris is the UCI file, as in Zaki & Meira (datasets.iris); where another book or program is quoted
that used Fisher's published values, scikit-learn's copy is taken.
"""

import math
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from sortal import FisherDiscriminant, IndicatorRegression, LinearDiscriminant, datasets
from sortal.errors import PerfectSeparationWarning

Float: TypeAlias = NDArray[np.float64]

PLANE: Final = ["sepal_length", "sepal_width"]


def plane() -> Any:
    """Ex. 20.1: sepal length and width; c1 is setosa, c2 the other two species."""
    iris = datasets.iris()
    return iris[PLANE].assign(y=np.where(iris["species"] == "setosa", "c1", "c2"))


def fitted(**options: Any) -> FisherDiscriminant:
    return FisherDiscriminant(**options).fit(plane(), "y")


def cells(table: Any) -> Float:
    """The numbers of a matrix of the working: its first column names the rows."""
    return np.array([row[1:] for row in table.rows], dtype=np.float64)


def numbers(table: Any) -> list[float]:
    """Every number of a table, in whatever cells it stands."""
    found = (cell for row in table.rows for cell in row)
    return [float(x) for x in found if isinstance(x, int | float) and not isinstance(x, bool)]


def assert_shows(table: Any, expected: Any, decimals: int) -> None:
    """Each of the expected numbers stands somewhere in the table."""
    shown = np.array(numbers(table))
    for x in np.ravel(expected):
        assert np.any(np.abs(shown - x) <= 0.5 * 10.0**-decimals), f"{x} is not in {shown}"


def close(found: Any, expected: Any, decimals: int) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.5000001 * 10.0**-decimals)


def labels(rows: Any) -> list[Any]:
    return [row[0] for row in rows]


# --- Example 20.1: projection --------------------------------------------------------------------


def test_example_20_1_the_classes() -> None:
    model = fitted()
    assert model.classes_.tolist() == ["c1", "c2"]
    assert model.feature_names_in_.tolist() == PLANE
    assert list(model.terms_) == PLANE
    table = model.working()["classes"]
    assert_shows(table, [50, 100], 9)
    assert [str(label) for label in labels(table.rows)] == ["c1", "c2"]


@pytest.mark.parametrize("w", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (3.0, -4.0)])
def test_example_20_1_offsets_along_any_direction(w: tuple[float, float]) -> None:
    """a = wᵀx; m is the mean of a, s² its squared deviation, and s² = n σ² (ZM 20.1)."""
    data = plane()
    unit = np.array(w) / math.hypot(*w)
    a = data[PLANE].to_numpy() @ unit
    one, other = a[data["y"] == "c1"], a[data["y"] == "c2"]
    seen: Any = fitted().evaluate_direction(w)
    np.testing.assert_allclose(seen.direction, unit, rtol=1e-14)
    np.testing.assert_allclose(seen.means, [one.mean(), other.mean()], rtol=1e-12)
    scatters = [((x - x.mean()) ** 2).sum() for x in (one, other)]
    np.testing.assert_allclose(seen.scatters, scatters, rtol=1e-11)
    np.testing.assert_allclose(seen.variances, [one.var(), other.var()], rtol=1e-11)
    criterion = (one.mean() - other.mean()) ** 2 / sum(scatters)
    np.testing.assert_allclose(seen.J, criterion, rtol=1e-11)
    assert seen.J < 0.10977


# --- Example 20.2: the optimal direction ---------------------------------------------------------

MEANS: Final = [[5.006, 3.418], [6.262, 2.872]]
S1: Final = [[6.0882, 4.9146], [4.9146, 7.1138]]
S2: Final = [[43.4956, 12.0936], [12.0936, 10.9616]]
# The book prints 1.587, −0.693 and 0.303: those belong to a difference rounded to (−1.26, 0.55).
BETWEEN: Final = [[1.5775, -0.6858], [-0.6858, 0.2981]]
W: Final = [-0.5511, 0.8344]


def test_example_20_2_means_and_their_difference() -> None:
    model = fitted()
    close(model.means_, [[5.01, 3.42], [6.26, 2.87]], 2)  # as printed
    close(model.means_, MEANS, 9)
    close(model.means_[0] - model.means_[1], [-1.256, 0.546], 9)
    assert_shows(model.working()["means"], MEANS, 9)
    assert_shows(model.working()["difference"], [-1.256, 0.546], 9)


def test_example_20_2_between_class_scatter() -> None:
    """B = (μ1 − μ2)(μ1 − μ2)ᵀ (ZM 20.2)."""
    model = fitted()
    close(model.between_, BETWEEN, 4)
    close(cells(model.working()["between"]), BETWEEN, 4)
    rounded = np.outer([-1.26, 0.55], [-1.26, 0.55])
    close(rounded, [[1.588, -0.693], [-0.693, 0.3025]], 3)
    assert np.abs(model.between_ - rounded).max() > 0.004
    assert np.linalg.matrix_rank(model.between_) == 1


def test_example_20_2_within_class_scatter() -> None:
    """S = S1 + S2 (ZM 20.6)."""
    model = fitted()
    close(model.class_scatters_, [[[6.09, 4.91], [4.91, 7.11]], [[43.5, 12.09], [12.09, 10.96]]], 2)
    close(model.class_scatters_, [S1, S2], 9)
    close(model.within_, [[49.58, 17.01], [17.01, 18.08]], 2)
    working = model.working()
    close(cells(working["scatter c1"]), S1, 9)
    close(cells(working["scatter c2"]), S2, 9)
    close(cells(working["within"]), np.add(S1, S2), 9)


def test_example_20_2_inverse_and_product() -> None:
    working = fitted().working()
    close(cells(working["inverse"]), [[0.0298, -0.0280], [-0.0280, 0.0817]], 4)
    # This product is printed right: it belongs to the right B.
    close(cells(working["product"]), [[0.066, -0.029], [-0.100, 0.044]], 3)
    inverse, product = cells(working["inverse"]), cells(working["product"])
    np.testing.assert_allclose(inverse @ np.add(S1, S2), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(product, inverse @ cells(working["between"]), rtol=1e-9)


def test_a_matrix_of_the_working_names_its_terms() -> None:
    for name in ("between", "scatter c1", "within", "inverse", "product"):
        table = fitted().working()[name]
        assert list(table.columns[1:]) == PLANE
        assert labels(table.rows) == PLANE


def test_example_20_2_solution() -> None:
    """λ1 = J(w) = 0.11 and w = ±(0.551, −0.834): an eigenvector has no sign (ZM 20.9)."""
    model = fitted()
    close(model.eigenvalues_, [0.10977], 5)
    assert model.directions_.shape == (2, 1)
    w = model.directions_[:, 0]
    close(-w, [0.551, -0.834], 3)
    close(w, W, 4)
    np.testing.assert_allclose(model.between_ @ w, model.eigenvalues_ * (model.within_ @ w))
    assert np.linalg.norm(w) == pytest.approx(1.0, abs=1e-15)
    seen: Any = model.evaluate_direction([0.551, -0.834])
    close(seen.J, 0.10977, 5)
    assert_shows(model.working()["directions"], W, 4)
    assert_shows(model.working()["criterion"], [0.10977], 5)


def test_example_20_2_projections() -> None:
    """m_i and s_i² along w, and J(w) = (m1 − m2)² / (s1² + s2²) (ZM 20.1)."""
    model = fitted()
    close(model.projected_means_[:, 0], [0.09326, -1.05453], 5)
    close(model.projected_scatters_[:, 0], [2.28222, 9.71999], 5)
    m, s = model.projected_means_[:, 0], model.projected_scatters_[:, 0]
    assert (m[0] - m[1]) ** 2 / s.sum() == pytest.approx(model.eigenvalues_[0], rel=1e-12)
    table = model.working()["projections"]
    assert table.column("class") == ("c1", "c2")
    close(table.column("m"), [0.09326, -1.05453], 5)
    close(table.column("s²"), [2.28222, 9.71999], 5)
    np.testing.assert_allclose(model.transform(plane()[PLANE])[:, 0], plane()[PLANE] @ W, atol=6e-4)


def test_example_20_2_one_outlying_circle() -> None:
    """Except for (4.5, 2.3), all points of c1 lie beyond all points of c2."""
    data = plane()
    a = fitted().transform(data[PLANE])[:, 0]
    one, other = a[data["y"] == "c1"], a[data["y"] == "c2"]
    assert (one < other.max()).sum() == 1
    outlier = data[(data["y"] == "c1") & (a < other.max())]
    assert outlier[PLANE].to_numpy().tolist() == [[4.5, 2.3]]


def test_example_20_2_the_point_between_the_means() -> None:
    """(0.09326 − 1.05453) / 2 = −0.48064: two of c2 and the outlier of c1 are on the wrong side."""
    model, data = fitted(), plane()
    assert model.threshold_ == pytest.approx(-0.480638, abs=5e-7)
    assert (model.predict(data) != data["y"]).sum() == 3
    assert model.score(data[PLANE], data["y"]) == pytest.approx(147 / 150, abs=1e-15)


def test_example_20_2_the_point_of_least_error() -> None:
    """The highest c2 is at −0.469562, the second lowest c1 at −0.252229; between them one error."""
    model, data = fitted(threshold="least_error"), plane()
    assert model.threshold_ == pytest.approx((-0.46956210 - 0.25222929) / 2, abs=1e-8)
    close(model.directions_[:, 0], W, 4)
    wrong = data[model.predict(data) != data["y"]]
    assert wrong[PLANE].to_numpy().tolist() == [[4.5, 2.3]]


# --- Example 20.3: two classes need no eigenvalues -----------------------------------------------


def test_example_20_3_closed_form() -> None:
    """w = S⁻¹(μ1 − μ2) = (−0.0527, 0.0798), of length 0.0956 (ZM 20.10).

    The book multiplies (−1.246, 0.546) by the numbers of S⁻¹B. The vector should read
    (−1.256, 0.546) and the matrix S⁻¹; its result is right.
    """
    working = fitted().working()
    found = cells(working["inverse"]) @ [-1.256, 0.546]
    close(found, [-0.0527, 0.0798], 4)
    close(found / 0.0956316, [-0.551, 0.834], 3)
    assert_shows(working["solution"], [-0.0527, 0.0798, 0.0956], 4)
    printed = np.array([[0.066, -0.029], [-0.100, 0.044]]) @ [-1.246, 0.546]
    assert np.abs(printed - [-0.0527, 0.0798]).max() > 0.04


def test_example_20_3_the_sign_points_to_the_first_class() -> None:
    """Ex. 20.3's sign, not Ex. 20.2's: w leads from the class that sorts last to the first."""
    close(fitted().directions_[:, 0], [-0.551, 0.834], 3)
    named = plane().assign(y=np.where(plane()["y"] == "c1", "z", "a"))
    close(FisherDiscriminant().fit(named, "y").directions_[:, 0], [0.551, -0.834], 3)


# --- Chapter 20, Q1: a singular within-class scatter ---------------------------------------------


def test_q1_both_classes_project_to_a_point() -> None:
    """μ₊ − μ₋ = (1.5, 1.9), each class ±(0.25, −0.55) about its mean: det S = 0.25 · 1.21 − 0.55².

    So w ∝ adj(S)(μ₊ − μ₋) ∝ (2.2, 1), and J = ∞. The exercise asks for S⁻¹, which does not exist;
    S⁺(μ₊ − μ₋) ∝ (1, −2.2) is orthogonal to the right answer. The class that sorts first is −1.
    """
    data = datasets.table_20_1()
    with pytest.warns(PerfectSeparationWarning, match=r"(?s)'X1'.*'X2'"):
        model = FisherDiscriminant().fit(data, "y")
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_allclose(model.means_, [[2.25, 1.55], [3.75, 3.45]], rtol=1e-15)
    np.testing.assert_allclose(model.between_, [[2.25, 2.85], [2.85, 3.61]], rtol=1e-14)
    each = [[0.125, -0.275], [-0.275, 0.605]]
    np.testing.assert_allclose(model.class_scatters_, [each, each], rtol=1e-13)
    np.testing.assert_allclose(model.within_, [[0.25, -0.55], [-0.55, 1.21]], rtol=1e-13)
    w = model.directions_[:, 0]
    np.testing.assert_allclose(w, [-2.2 / math.sqrt(5.84), -1 / math.sqrt(5.84)], rtol=1e-10)
    assert model.eigenvalues_.tolist() == [math.inf]
    np.testing.assert_allclose(model.projected_scatters_, 0, atol=1e-15)
    # wᵀx is 11.7 / √5.84 for +1 and 6.5 / √5.84 for −1, with the sign of w above
    a = model.transform(data)[:, 0] * math.sqrt(5.84)
    np.testing.assert_allclose(a, np.where(data["y"] == 1, -11.7, -6.5), rtol=1e-10)
    assert model.threshold_ == pytest.approx(-9.1 / math.sqrt(5.84), rel=1e-10)
    assert model.predict(data).tolist() == data["y"].tolist()


# --- Chapter 20, Q3: the constraint wᵀw = 1 ------------------------------------------------------


def test_q3_the_multiplier_is_zero() -> None:
    """∇J(w) = 2αw at the solution. J has the same value along a ray, so wᵀ∇J = 0 and α = 0."""
    model = fitted()
    B, S, w = model.between_, model.within_, model.directions_[:, 0]

    def gradient(w: Float) -> Float:
        scatter, spread = w @ S @ w, w @ B @ w
        return np.asarray(2 * (B @ w * scatter - S @ w * spread) / scatter**2)

    for anywhere in np.random.default_rng(0).normal(size=(5, 2)):
        assert abs(anywhere @ gradient(anywhere)) < 1e-15
        assert np.linalg.norm(gradient(anywhere / np.linalg.norm(anywhere))) > 1e-4
    np.testing.assert_allclose(gradient(w), 0, atol=1e-14)


# --- Schalkoff: two criteria, two directions -----------------------------------------------------


def test_the_criteria_of_schalkoff_differ_where_classes_differ_in_size() -> None:
    """(Sch 4-8) sums scatters, (Sch 4-6b) sums variances: a scaled copy for n1 = n2 only.

    Variances are s² / n, (ZM 20.5). The ½ of (Sch 4-9e) must go, and (Sch 4-10b) is S1 + S2 only;
    neither touches the direction.
    """
    model = fitted(within="covariance")
    sigma = np.array(S1) / 50 + np.array(S2) / 100
    np.testing.assert_allclose(model.within_, sigma, rtol=1e-12)
    close(model.directions_[:, 0], [-0.6014, 0.7989], 4)
    close(model.eigenvalues_, [9.3739], 4)
    close(model.between_, BETWEEN, 4)
    close(fitted(within="scatter").directions_[:, 0], [-0.5511, 0.8344], 4)


def test_exact_means_and_covariances() -> None:
    """(Sch 4-9e): w ∝ (Σ1 + Σ2)⁻¹(μ1 − μ2), here with Σ_i = S_i / n_i: (−0.601, 0.799)."""
    covariances = np.array([np.array(S1) / 50, np.array(S2) / 100])
    model = FisherDiscriminant.from_moments(
        MEANS, covariances=covariances, classes=["c1", "c2"], names=PLANE, within="covariance"
    )
    close(model.directions_[:, 0], [-0.601, 0.799], 3)
    np.testing.assert_allclose(model.within_, covariances.sum(axis=0), rtol=1e-14)
    w = model.directions_[:, 0]
    spread = (w @ np.subtract(MEANS[0], MEANS[1])) ** 2 / (w @ covariances.sum(axis=0) @ w)
    np.testing.assert_allclose(model.eigenvalues_, [spread], rtol=1e-12)
    assert model.predict(plane()[PLANE][:3]).tolist() == ["c1"] * 3


def test_the_criteria_agree_for_classes_of_one_size() -> None:
    data = plane().iloc[:100]  # 50 setosa, 50 versicolor
    one, other = (
        FisherDiscriminant(within=within).fit(data, "y") for within in ("scatter", "covariance")
    )
    np.testing.assert_allclose(one.directions_, other.directions_, rtol=1e-12)
    np.testing.assert_allclose(one.within_, 50 * other.within_, rtol=1e-12)
    np.testing.assert_allclose(50 * one.eigenvalues_, other.eigenvalues_, rtol=1e-12)


# --- Barner: Gaussian classes, indicators, canonical variates ------------------------------------


def test_the_half_in_the_log_odds() -> None:
    """Σ = 1, μ = 0 and 4, equal priors: the boundary is at 2, so β0 = −½ · 4 · 4 = −8.

    Without the ½, as the slides print it, the boundary would be at 4, the mean of a class.
    """
    model = LinearDiscriminant.from_moments([[0.0], [4.0]], covariances=[[1.0]], classes=["k", "l"])
    beta0, beta = model.boundary("l", "k")
    assert float(beta0) == pytest.approx(-8.0, rel=1e-14)
    assert np.ravel(beta).tolist() == pytest.approx([4.0], rel=1e-14)
    np.testing.assert_allclose(model.predict_proba([[2.0]]), [[0.5, 0.5]], rtol=1e-14)
    # P(l | 3) / P(k | 3) = e⁴
    odds = model.predict_proba([[3.0]])[0]
    assert odds[1] / odds[0] == pytest.approx(math.exp(4.0), rel=1e-13)


def test_indicators_by_hand() -> None:
    """x = 0, 1, 2, 3 of a, a, b, b: the line of b is −0.1 + 0.4 x, that of a 1.1 − 0.4 x."""
    model = IndicatorRegression().fit([[0.0], [1.0], [2.0], [3.0]], list("aabb"))
    np.testing.assert_allclose(model.coef_, [[0.8]], rtol=1e-14)
    np.testing.assert_allclose(model.intercept_, [-1.2], rtol=1e-14)
    np.testing.assert_allclose(model.decision_function([[1.0], [2.0]]), [-0.4, 0.4], rtol=1e-13)
    beta0, beta = model.boundary("a", "b")
    np.testing.assert_allclose([float(beta0), *np.ravel(beta)], [1.2, -0.8], rtol=1e-13)


def test_masking_is_what_indicators_do() -> None:
    """Three classes in a row: the middle one is never the largest, unlike in LDA."""
    x = np.arange(12.0)[:, None]
    y = np.repeat(list("abc"), 4)
    assert "b" not in IndicatorRegression().fit(x, y).predict(x).tolist()
    assert LinearDiscriminant().fit(x, y).predict(x).tolist() == y.tolist()


def test_eigenvalues_of_iris_as_canonical_analysis_prints_them() -> None:
    """32.192 and 0.285; Wilks' Λ = Π 1 / (1 + λ) = 0.0234; canonical correlations 0.985, 0.471."""
    X, y = load_iris(return_X_y=True)
    model = FisherDiscriminant().fit(X, y)
    close(model.eigenvalues_, [32.1919, 0.2854], 4)
    assert np.prod(1 / (1 + model.eigenvalues_)) == pytest.approx(0.023439, abs=5e-7)
    close(np.sqrt(model.eigenvalues_ / (1 + model.eigenvalues_)), [0.9848, 0.4712], 4)
    assert model.threshold_ is None
    assert (model.projected_means_[0] > model.projected_means_[-1]).all()
    assert (model.predict(X) != y).sum() == 3
