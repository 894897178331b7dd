"""Leave-one-out and folds against models that were really learned without the rows."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone

from sortal import LinearDiscriminant, QuadraticDiscriminant, datasets
from sortal.discriminants.estimator import gaussian_learner
from sortal.discriminants.estimators.gaussian import QUADRATIC_HELD_OUT
from sortal.discriminants.learn import QuadraticModel, QuadraticOptions, build_quadratic
from sortal.discriminants.leave_one_out import GRID
from sortal.errors import CollinearityWarning, MissingValueWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Learner: TypeAlias = LinearDiscriminant | QuadraticDiscriminant
Make: TypeAlias = Callable[..., Learner]

EIGHT_DIGITS: Final = 1e-8

LINEAR: Final[dict[str, Make]] = {
    "plain": LinearDiscriminant,
    "mle": lambda **more: LinearDiscriminant("mle", **more),
    "shrunk": lambda **more: LinearDiscriminant(shrinkage=0.3, **more),
    "identity": lambda **more: LinearDiscriminant("mle", 1.0, **more),
    "ledoit_wolf": lambda **more: LinearDiscriminant(shrinkage="ledoit_wolf", **more),
    "oas": lambda **more: LinearDiscriminant(shrinkage="oas", **more),
}
QUADRATIC: Final[dict[str, Make]] = {
    "quadratic": QuadraticDiscriminant,
    "quadratic mle": lambda **more: QuadraticDiscriminant("mle", **more),
    "pooled": lambda **more: QuadraticDiscriminant(pooling=0.3, **more),
    "pooled mle": lambda **more: QuadraticDiscriminant("mle", 1.0, **more),
    "own, shrunk": lambda **more: QuadraticDiscriminant(shrinkage=0.3, **more),
    "pooled, shrunk": lambda **more: QuadraticDiscriminant("mle", 0.3, 0.3, **more),
    "hardly shrunk": lambda **more: QuadraticDiscriminant(shrinkage=1e-5, **more),
    "own, identity": lambda **more: QuadraticDiscriminant(shrinkage=1.0, **more),
}
EVERY: Final[dict[str, Make]] = LINEAR | QUADRATIC
every_learner = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
# By seed: each meets each kind of weights within a dozen.
CLASS_WEIGHTS: Final[list[Any]] = [None, "balanced", {"a": 2.0, "b": 0.5}, {"c": 3, "b": 2}]
PRIORS: Final[list[Any]] = [None, None, None, None, {"a": 0.2, "b": 0.5, "c": 0.3}]
WEIGHINGS: Final = ["none", "whole", "fractions"]


def make_rows(seed: int, n_terms: int = 3, least: int = 4) -> tuple[Float, Labels]:
    """Three classes of different shapes and sizes, far from the origin; some rows twice."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least, least + 8, 3)
    y = rng.permutation(np.repeat(["a", "b", "c"], sizes))
    means = dict(zip("abc", rng.normal(size=(3, n_terms)) * 1.5, strict=True))
    turns = {label: rng.normal(size=(n_terms, n_terms)) + 2 * np.eye(n_terms) for label in "abc"}
    X = np.array([means[label] + rng.normal(size=n_terms) @ turns[label] for label in y])
    X = X * rng.uniform(0.5, 3.0, n_terms) + rng.normal(size=n_terms) * 20
    twice = rng.integers(0, len(y), 3)
    return np.vstack([X, X[twice]]), np.append(y, y[twice])


def make_weights(kind: str, n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if kind == "none":
        return None
    return rng.integers(1, 4, n) if kind == "whole" else rng.uniform(0.2, 2.0, n).round(2)


@contextmanager
def ignored() -> Iterator[None]:
    """Without warnings of classes that do not vary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def by_refit(model: Learner, X: Any, y: Labels, w: Any, gone: NDArray[np.bool_]) -> Float:
    """ln P(k|x) of rows, by the same learner told of the others and of all classes."""
    others = None if w is None else w[~gone]
    again = clone(model)
    again.partial_fit(X[~gone], y[~gone], classes=np.unique(y), sample_weight=others)
    found: Float = again.predict_log_proba(X[gone])
    return found


def alone(y: Labels) -> NDArray[np.bool_]:
    """Each row by itself."""
    return np.eye(len(y), dtype=bool)


@dataclass(frozen=True)
class Case:
    """Rows, options of the learner, weights, and the rows that are to be left out."""

    X: Any
    y: Labels
    options: dict[str, Any]
    w: Any
    some: list[int]
    indicators: Any = None  # the same rows, where each word is a column


def plain(seed: int) -> Case:
    X, y = make_rows(seed)
    w = make_weights(WEIGHINGS[seed % 3], len(y), seed)
    # of each class one row, and one that is there twice
    some = [*(int(np.argmax(y == label)) for label in "abc"), len(y) - 1]
    options = {"class_weight": CLASS_WEIGHTS[seed % 4], "priors": PRIORS[seed % 5]}
    return Case(X, y, options, w, some)


def small_classes(seed: int) -> Case:
    """Classes of one and two rows, in tables with hardly more rows than columns."""
    X, y = make_rows(seed, n_terms=4, least=3)
    X, y = np.vstack([X, X[:3] + 1.5 * X[3:6]]), np.append(y, ["d", "e", "e"])
    some = [0, 1, len(y) - 3, len(y) - 1]
    return Case(X, y, {"class_weight": CLASS_WEIGHTS[seed % 4]}, None, some)


def words_and_ties(seed: int) -> Case:
    """Words, one of which a single row has, and a column that follows from two others."""
    X, y = make_rows(seed, least=5)
    words = np.append(np.random.default_rng(seed).choice(["oak", "fir", "elm"], len(y) - 1), "yew")
    table = pd.DataFrame({"word": words, "u": X[:, 0], "v": X[:, 1], "both": X[:, 0] - X[:, 1]})
    spelled = pd.get_dummies(table, dtype=float)
    options = {"class_weight": CLASS_WEIGHTS[seed % 4]}
    return Case(table, y, options, None, [0, 1, 2, len(y) - 1], spelled)


def separating_column(seed: int) -> Case:
    """Constant within classes: every row is learned again."""
    X, y = make_rows(seed)
    return Case(np.column_stack([X, (y == "a") * 1.0]), y, {}, None, [0, 1, 2])


def outlier(seed: int) -> Case:
    """Not known to the model without it."""
    X, y = make_rows(seed)
    X[0] += np.array([1e4, -2e4, 3e3])
    return Case(X, y, {}, None, [0, 1, 2])


CASES: Final[list[Callable[[int], Case]]] = [
    plain,
    small_classes,
    words_and_ties,
    separating_column,
    outlier,
]


def check_rows_left_out(make: Make, case: Case, said: str) -> None:
    model, rows = make(**case.options), case.X if case.indicators is None else case.indicators
    with ignored():
        model.fit(case.X, case.y, sample_weight=case.w)
        found = model.loo_proba(case.X, case.y, sample_weight=case.w)
        for i in case.some:
            expected = np.exp(by_refit(model, rows, case.y, case.w, alone(case.y)[i])[0])
            assert_allclose(found[i], expected, atol=EIGHT_DIGITS, err_msg=f"{said}, row {i}")
    gone = [i for i in case.some if (case.y == case.y[i]).sum() == 1]
    assert (found[gone, -2] == 0).all()  # of class d, which is not known without its row


@every_learner
@pytest.mark.parametrize("of", CASES)
def test_every_row_is_judged_by_a_model_without_it(make: Make, of: Callable[[int], Case]) -> None:
    first = list(EVERY.values()).index(make)
    for seed in (first, first + 7) if of is plain else (first,):
        check_rows_left_out(make, of(seed), f"seed {seed}")


@pytest.mark.full
@every_learner
@pytest.mark.parametrize("of", CASES)
def test_every_row_of_more_tables(make: Make, of: Callable[[int], Case]) -> None:
    for seed in (20, 21):
        case = of(seed)
        check_rows_left_out(make, replace(case, some=list(range(len(case.y)))), f"seed {seed}")


@every_learner
def test_units_and_offsets_do_not_matter(make: Make) -> None:
    X, y = make_rows(3)
    far = X * 1e-3 + 1e6
    near = far - 1e6
    expected = make().fit(near, y).loo_proba(near, y)
    assert_allclose(make().fit(far, y).loo_proba(far, y), expected, atol=1e-7)


@every_learner
def test_rows_that_were_not_in_the_fit_are_predicted(make: Make) -> None:
    X, y = make_rows(4)
    X[2, 1] = np.nan
    w = np.ones(len(y))
    w[5] = 0
    model = make()
    with pytest.warns(MissingValueWarning):
        model.fit(X, y, sample_weight=w)
    inside = np.ones(len(y), dtype=bool)
    inside[[2, 5]] = False
    with pytest.warns(MissingValueWarning, match="integrated out"):
        found = model.loo_proba(X, y, sample_weight=w)
    with pytest.warns(MissingValueWarning):
        assert_allclose(found[~inside], model.predict_proba(X)[~inside], rtol=1e-12)
    alone = make().fit(X[inside], y[inside]).loo_proba(X[inside], y[inside])
    assert_allclose(found[inside], alone, atol=EIGHT_DIGITS)


@every_learner
def test_blocks_and_threads_change_nothing(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_rows(6)
    w = make_weights("fractions", len(y), 6)
    model = make(class_weight="balanced").fit(X, y, sample_weight=w)
    whole = model.loo_proba(X, y, sample_weight=w)
    monkeypatch.setattr("sortal.discriminants.held_out.BLOCK_ROWS", 5)
    model.set_params(n_jobs=2)
    assert_allclose(model.loo_proba(X, y, sample_weight=w), whole, atol=1e-10)


def test_class_weights_are_those_of_the_fit() -> None:
    X, y = make_rows(8)
    model = LinearDiscriminant(class_weight="balanced").fit(X, y)
    expected = model.loo_proba(X, y)
    assert_array_equal(model.set_params(class_weight=None).loo_proba(X, y), expected)


def test_streams_know_their_rows() -> None:
    X, y = make_rows(9)
    model = LinearDiscriminant().partial_fit(X[:9], y[:9], classes=["a", "b", "c"])
    model.partial_fit(X[9:], y[9:])
    expected = LinearDiscriminant().fit(X, y).loo_proba(X, y)
    assert_allclose(model.loo_proba(X, y), expected, atol=1e-12)


def test_nothing_is_left_that_varies() -> None:
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array(["a", "a", "b", "b"])
    with ignored():
        model = LinearDiscriminant().fit(X, y)
    with pytest.warns(CollinearityWarning, match="1 of the rows leave no column that varies"):
        found = model.loo_proba(X, y)
    assert_allclose(found[3], [2 / 3, 1 / 3])


@every_learner
def test_folds_are_judged_by_models_without_them(make: Make) -> None:
    first = list(EVERY.values()).index(make)
    for seed in range(first, first + 3):
        n_folds, options = 2 + seed % 4, plain(seed).options
        X, y = make_rows(seed, least=n_folds + 2)
        w = make_weights(WEIGHINGS[seed % 3], len(y), seed)
        folds = np.random.default_rng(seed).integers(0, n_folds, len(y)).astype(str)
        folds[:2] = ["0", "1"]
        with ignored():
            model = make(**options).fit(X, y, sample_weight=w)
            found = model.cv_proba(X, y, folds, sample_weight=w)
            for fold in np.unique(folds):
                own = folds == fold
                expected = np.exp(by_refit(model, X, y, w, own))
                assert_allclose(found[own], expected, atol=EIGHT_DIGITS, err_msg=f"seed {seed}")


def test_a_class_of_one_fold_is_never_said_of_it() -> None:
    X, y = make_rows(13)
    found = LinearDiscriminant().fit(X, y).cv_proba(X, y, y == "c")
    assert (found[y == "c", 2] == 0).all()
    assert (found[y != "c", 2] > 0).any()


def test_dealt_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dealt by class, always alike; rows without weight and blocks change nothing."""
    X, y = make_rows(15)
    found = LinearDiscriminant().fit(X, y).cv_proba(X, y, 4)
    more, labels = np.vstack([X[:1], X]), np.append(["a"], y)
    w = np.append([0], np.ones(len(y), dtype=int))
    monkeypatch.setattr("sortal.discriminants.held_out.BLOCK_ROWS", 4)
    model = LinearDiscriminant().fit(more, labels, sample_weight=w)
    again = model.cv_proba(more, labels, 4, sample_weight=w)
    assert_allclose(again[1:], found, atol=1e-12)
    assert_allclose(again[0], model.predict_proba(more[:1])[0], atol=1e-12)


def test_missing_values_in_folds_are_integrated_out() -> None:
    X, y = make_rows(16)
    X[1, 0] = np.nan
    folds = np.arange(len(y)) % 3
    with pytest.warns(MissingValueWarning):
        model = LinearDiscriminant().fit(X, y)
    with pytest.warns(MissingValueWarning, match="1 cell .* integrated out"):
        found = model.cv_proba(X, y, folds)
    keep = folds != 1
    one = LinearDiscriminant().partial_fit(X[keep], y[keep], classes=["a", "b", "c"])
    with pytest.warns(MissingValueWarning):
        assert_allclose(found[1], one.predict_proba(X[[1]])[0], atol=EIGHT_DIGITS)


def brute_choice(make: Make, X: Any, y: Any, w: Any, grid: list[dict[str, float]]) -> Float:
    """Σ v ln P(y|x) for every setting, by refits; rows that lose their class left out."""
    kept = [i for i in range(len(y)) if (y == y[i]).sum() > 1]
    own, v = np.searchsorted(np.unique(y), y), np.ones(len(y)) if w is None else w
    with ignored():
        logs = [
            [by_refit(make(**one), X, y, w, alone(y)[i])[0, own[i]] for i in kept] for one in grid
        ]
    return np.array(logs) @ v[kept]


FEW: Final = (0.0, 0.05, 0.5, 1.0)


@contextmanager
def grid_of(shares: tuple[float, ...]) -> Iterator[None]:
    """What is tried for each share, instead of all of GRID."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sortal.discriminants.held_out.GRID", shares)
        yield


@pytest.mark.parametrize("seed", range(3))
def test_the_shrinkage_that_is_best_without_each_row(seed: int) -> None:
    class_weight = [None, "balanced"][seed % 2]
    X, y = make_rows(seed, n_terms=2, least=2)
    X, y = np.vstack([X, X[:1] + 1]), np.append(y, "d")  # without it there is no such class
    w = make_weights(WEIGHINGS[seed], len(y), seed)

    def make(shrinkage: Any) -> LinearDiscriminant:
        return LinearDiscriminant(shrinkage=shrinkage, class_weight=class_weight)

    with grid_of(FEW):
        model = make("loo").fit(X, y, w)
    sums = brute_choice(make, X, y, w, [{"shrinkage": share} for share in FEW])
    assert model.shrinkage_ == FEW[int(np.argmax(sums))]
    weight = len(y) - 1 if w is None else w[:-1].sum()
    found = np.array(model.loo_curve_.column("mean ln P"), dtype=float)
    assert_allclose(found, sums / weight, rtol=1e-8)
    again = make(model.shrinkage_).fit(X, y, w).loo_proba(X, y, w)
    assert_allclose(model.loo_proba(X, y, w), again, atol=1e-12)


SHARES: Final[list[tuple[dict[str, Any], Any, str]]] = [
    ({"pooling": "loo"}, None, "fractions"),
    ({"pooling": 0.2, "shrinkage": "loo"}, "balanced", "whole"),
    ({"shrinkage": "loo"}, "balanced", "none"),
    ({"pooling": "loo", "shrinkage": "loo"}, None, "none"),
]


@pytest.mark.parametrize(("asked", "class_weight", "weighing"), SHARES, ids=str)
def test_the_shares_that_are_best_without_each_row(
    asked: dict[str, Any], class_weight: Any, weighing: str
) -> None:
    X, y = make_rows(1, n_terms=2, least=2)
    w, shares = make_weights(weighing, len(y), 1), FEW if len(asked) == 1 else (0.0, 0.1, 1.0)
    with grid_of(shares):
        check_choice(X, y, w, asked, class_weight, shares)


@pytest.mark.full
@pytest.mark.parametrize("asked", [{"pooling": "loo"}, {"shrinkage": "loo"}], ids=str)
def test_all_shares_that_are_tried(asked: dict[str, Any]) -> None:
    X, y = make_rows(3, n_terms=2, least=3)
    check_choice(X, y, None, asked, None, GRID)


def check_choice(
    X: Float, y: Labels, w: Any, asked: dict[str, Any], class_weight: Any, grid: tuple[float, ...]
) -> None:
    """The chosen pair is the best by refits, and all that was tried is written down."""
    with ignored():
        model = QuadraticDiscriminant(class_weight=class_weight, **asked).fit(X, y, w)

    def make(**setting: float) -> QuadraticDiscriminant:
        given: Any = asked | setting
        return QuadraticDiscriminant(class_weight=class_weight, **given)

    names = [name for name, value in asked.items() if value == "loo"]
    tried = [dict(zip(names, values, strict=True)) for values in product(grid, repeat=len(names))]
    sums = brute_choice(make, X, y, w, tried)
    best = tried[int(np.argmax(sums))]
    assert {name: getattr(model, f"{name}_") for name in names} == best
    found = np.array(model.loo_curve_.column("mean ln P"), dtype=float)
    assert_allclose(found, sums / (len(y) if w is None else w.sum()), rtol=1e-8)


def test_the_choice_is_shown() -> None:
    X, y = make_rows(18)
    model = LinearDiscriminant(shrinkage="loo").fit(X, y)
    table = model.working()["loo"]
    assert table == model.loo_curve_
    assert table.column("shrinkage") == GRID
    chosen = table.column("choice").index("chosen")
    assert GRID[chosen] == model.shrinkage_
    with ignored():
        both = QuadraticDiscriminant("mle", "loo", "loo").fit(X, y)
    pairs = list(zip(*map(both.loo_curve_.column, ("pooling", "shrinkage")), strict=True))
    assert pairs == list(product(GRID, GRID))
    assert both.working()["loo"] == both.loo_curve_
    plain = LinearDiscriminant().fit(X, y)
    with pytest.raises(AttributeError, match="shrinkage='loo'"):
        _ = plain.loo_curve_
    assert "loo" not in [made.name for made in plain.working()]


def test_a_point_class_of_fractional_weights() -> None:
    """What rounding leaves of its scatter must not be shrunk towards."""
    x = np.array([0.3, 0.3, 0.3, 0.3, 0.37, -1.19, -0.4, 0.32, 0.78, -0.81])
    y = np.repeat([0, 1], [4, 6])
    rng = np.random.default_rng(0)
    for _ in range(4):
        X, w = (x + rng.normal()).reshape(-1, 1), np.round(rng.uniform(0.1, 3.0, 10), 1)
        X[:4] = X[0]
        for shrinkage in (0.2, 1.0):
            with ignored():
                model = QuadraticDiscriminant(shrinkage=shrinkage).fit(X, y, w)
                keep = np.arange(10) != 9
                refit = QuadraticDiscriminant(shrinkage=shrinkage).fit(X[keep], y[keep], w[keep])
                found, expected = model.loo_proba(X, y, w)[9], refit.predict_proba(X[9:])[0]
            assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_a_singular_class_costs_only_what_needs_it() -> None:
    """Of 14 poolings only 0 is refitted by rows, and the choice is that of the curve."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 8)), np.repeat([0, 1], [55, 5])
    X[y == 1] += 0.5
    calls = []

    def counted(stats: Any, options: Any) -> Any:
        calls.append(float(options.pooling))
        return build_quadratic(stats, options)

    held_out = replace(QUADRATIC_HELD_OUT, learn=counted)
    with pytest.MonkeyPatch.context() as patch, ignored():
        learner = gaussian_learner(
            "QuadraticDiscriminant",
            QuadraticOptions,
            QuadraticModel,
            held_out,
            notes=QuadraticDiscriminant._learner.notes,
        )
        patch.setattr(QuadraticDiscriminant, "_learner", learner)
        model = QuadraticDiscriminant(pooling="loo").fit(X, y)
    assert calls.count(0.0) >= 60
    assert sum(pooling > 0 for pooling in calls) < 15
    curve = model.loo_curve_
    means = np.array(curve.column("mean ln P"), dtype=float)
    assert model.pooling_ == curve.column("pooling")[int(np.argmax(means))]
    with ignored():
        by_rows = QuadraticDiscriminant(pooling=0.0).fit(X, y).loo_proba(X, y)
    assert_allclose(means[0], np.log(by_rows[np.arange(60), y]).mean(), rtol=1e-9)


def test_statistics_stay_those_of_the_fit() -> None:
    iris = datasets.iris()
    for kind in (LinearDiscriminant, QuadraticDiscriminant):
        model = kind().fit(iris, "species")
        before = model.working()["box_m"].rows
        model.set_params(class_weight={"setosa": 3, "no such class": 1})
        assert model.working()["box_m"].rows == before
