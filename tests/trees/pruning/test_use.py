"""Pruning as users meet it: at fit, afterwards, by cross-validation, and with bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, StratifiedKFold

from sortal import TreeClassifier, datasets
from sortal.errors import InputError, UnknownCategoryError
from sortal.trees.cost_complexity import CostComplexityPath
from sortal.trees.prune import estimated_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")


def penguins() -> tuple[pd.DataFrame, pd.Series]:
    table = datasets.penguins().dropna()
    return table.drop(columns=["species", "year"]), table["species"]


def noisy(n: int = 300, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1).astype(np.int64)
    return X, y


def test_the_smallest_tree_within_one_deviation_and_the_least() -> None:
    path = CostComplexityPath(
        cp=(0.5, 0.2, 0.1, 0.0),
        n_leaves=(1, 2, 4, 7),
        error=(1, 0.5, 0.3, 0.2),
        cv_error=(1.0, 0.62, 0.58, 0.58),
        cv_deviation=(0.1, 0.05, 0.04, 0.03),
    )
    assert path.limit() == 0.62
    assert (path.choose("one_se"), path.choose("min")) == (1, 2)
    assert [path.place_of(s) for s in (1.0, 0.5, 0.3, 0.2, 0.15, 0.1, 0.0)] == [0, 0, 1, 1, 2, 2, 3]
    # of errors that are equal but for rounding the smaller tree
    errors = (0.9, 0.6 + 2e-16, 0.5 + 2e-16, 0.5)
    equal = replace(path, cv_error=errors, cv_deviation=(0.1,) * 4)
    assert (equal.choose("one_se"), equal.choose("min")) == (1, 2)


def test_folds_in_every_form_are_the_same() -> None:
    X, y = noisy(100)
    splitter = StratifiedKFold(5, shuffle=True, random_state=3)
    pairs = list(splitter.split(X, y))
    numbers = np.empty(100, dtype=int)
    for fold, (_, out) in enumerate(pairs):
        numbers[out] = fold
    records = [
        TreeClassifier(pruning="cost_complexity", cv=cv).fit(X, y).cp_table_
        for cv in (splitter, pairs, iter(pairs), numbers, numbers.tolist(), pd.Series(numbers + 7))
    ]
    assert all(record == records[0] for record in records)


@pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")
def test_rows_without_weight_are_in_no_fold() -> None:
    X, y = noisy(100)
    weights = np.arange(100) % 3
    kept, folds = weights > 0, np.arange(100) // 5 % 4
    options: dict[str, Any] = {"pruning": "cost_complexity"}
    a = TreeClassifier(**options, cv=folds).fit(X, y, weights)
    b = TreeClassifier(**options, cv=folds[kept]).fit(X[kept], y[kept], weights[kept])
    assert a.cp_table_ == b.cp_table_
    c = TreeClassifier(**options, cv=KFold(4)).fit(X, y, weights)
    d = TreeClassifier(**options, cv=KFold(4)).fit(X[kept], y[kept], weights[kept])
    assert c.cp_table_ == d.cp_table_


@pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")
def test_progress_is_told_and_may_end_it() -> None:
    X, y = noisy(80)
    told: list[tuple[int, int]] = []
    TreeClassifier(
        pruning="cost_complexity", cv=4, progress=lambda done, of: told.append((done, of))
    ).fit(X, y)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def stop(done: int, of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    model = TreeClassifier(pruning="cost_complexity", cv=4, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
    grown = TreeClassifier(pruning=None, progress=stop).fit(X, y)  # growing alone is not told
    before = {name: str(value) for name, value in vars(grown).items()}
    for work in (grown.cost_complexity_path, lambda *rows: grown.prune("cost_complexity", *rows)):
        with pytest.raises(KeyboardInterrupt):
            work(X, y)
    with pytest.raises(KeyboardInterrupt):
        grown.set_params(pruning="cost_complexity").fit(X[:, :2], 1 - y)
    assert {
        name: str(value) for name, value in vars(grown.set_params(pruning=None)).items()
    } == before


def test_reduced_error_holds_rows_out() -> None:
    X, y = noisy()
    fitted = TreeClassifier(pruning="reduced_error", validation_fraction=0.3).fit(X, y)
    assert "leaves by their errors on 90 rows" in str(fitted.fit_report_)
    assert fitted._model.units[0].sum() == 210
    again = TreeClassifier(pruning="reduced_error", validation_fraction=0.3).fit(X, y)
    assert again.to_text() == fitted.to_text()
    other = TreeClassifier(pruning="reduced_error", validation_fraction=0.3, random_state=1).fit(
        X, y
    )
    assert other.to_text() != fitted.to_text()
    grown = TreeClassifier(pruning=None).fit(X[:200], y[:200])
    pruned = grown.prune("reduced_error", X[200:], y[200:])
    assert pruned.score(X[200:], y[200:]) >= grown.score(X[200:], y[200:])
    assert pruned.prune("reduced_error", X[200:], y[200:]).to_text() == pruned.to_text()


def test_costs_that_are_equal_but_for_rounding_are_equal() -> None:
    grown = TreeClassifier(costs=[[0, 0.3], [0.1, 0]], pruning=None).fit([[0], [1]], [0, 1], [9, 9])
    # as a leaf the root pays a tenth three times, which is a bit more than three tenths
    pruned = grown.prune("reduced_error", [[1], [1], [1], [1]], [1, 1, 1, 0])
    assert (grown.get_n_leaves(), pruned.get_n_leaves()) == (2, 1)


@pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")
def test_what_only_rows_held_out_have_is_not_unknown() -> None:
    X = np.array([f"w{i}" for i in range(40)], dtype=object)[:, None]
    y = np.arange(40) % 2
    model = TreeClassifier(pruning="reduced_error", unknown="error").fit(X, y)
    assert model.predict(X).shape == (40,)
    with pytest.raises(UnknownCategoryError, match="1 cell"):
        model.predict(np.array([["other"]], dtype=object))


def test_a_pruned_tree_is_chosen_from_again_by_what_the_fit_knows() -> None:
    X, y = noisy()
    least = TreeClassifier(pruning="cost_complexity", cp="min").fit(X, y)
    one_se = least.prune("cost_complexity", cp="one_se")
    assert one_se.to_text() == TreeClassifier(pruning="cost_complexity").fit(X, y).to_text()
    assert one_se.cp_table_.chosen_by == "one_se"
    if one_se.get_n_leaves() < least.get_n_leaves():
        with pytest.raises(InputError, match="already pruned to"):
            one_se.prune("cost_complexity", cp="min")


def test_the_path_and_its_trees() -> None:
    X, y = penguins()
    grown = TreeClassifier(pruning=None).fit(X, y)
    path = grown.cost_complexity_path()
    assert path.cv_error is None
    assert path.chosen is None
    for cp, n_leaves in zip(path.cp, path.n_leaves, strict=True):
        pruned = grown.prune("cost_complexity", cp=cp)
        assert pruned.get_n_leaves() == n_leaves
        assert pruned.cp_table_.chosen == path.n_leaves.index(n_leaves)
    validated = grown.cost_complexity_path(X, y, cv=5)
    assert validated.n_folds == 5
    assert validated.chosen == validated.choose("one_se")
    assert grown.cost_complexity_path(cp=0.03).chosen is not None


def test_joined_leaves() -> None:
    X, y = noisy()
    options: dict[str, Any] = {"min_samples_leaf": 10, "pruning": None}
    joined = TreeClassifier(**options, join_leaves=True).fit(X, y)
    grown = TreeClassifier(**options).fit(X, y)
    assert grown.prune(None, join_leaves=True).to_text() == joined.to_text()
    assert joined.get_n_leaves() < grown.get_n_leaves()
    assert_array_equal(joined.predict(X), grown.predict(X))


def test_a_pruned_tree_is_read_like_any_other() -> None:
    X, y = penguins()
    pruned = TreeClassifier().fit(X, y)
    assert len(pruned.rules()) == pruned.get_n_leaves()
    assert pruned.explain(X.iloc[:2])[0].to_dict()
    for node in range(len(pruned.to_frame())):
        assert pruned.working(node, X, y)["node"]
    assert "<svg" in pruned.to_svg()
    assert pruned.feature_importances_.sum() == pytest.approx(1)


def test_a_table_without_risk() -> None:
    model = TreeClassifier(pruning="cost_complexity", cv=2).fit(np.zeros((4, 1)), [1, 1, 1, 1])
    assert model.cp_table_.cp == (0.0,)
    assert model.cp_table_.error == (0.0,)
    assert model.cp_table_.cv_error == (0.0,)
    assert model.get_n_leaves() == 1


def test_the_record_shows_itself() -> None:
    X, y = noisy(100)
    record = TreeClassifier(pruning="cost_complexity", cv=5).fit(X, y).cp_table_
    frame = record.to_frame()
    heads = ["cp", "n_leaves", "error", "cv_error", "cv_deviation", "chosen"]
    assert list(frame) == heads
    assert (frame["chosen"] == "one_se").sum() == 1
    assert "cross-validated by 5 folds" in str(record)
    assert "<table" in record._repr_html_()
    assert record.to_dict()["n_leaves"] == list(record.n_leaves)


def test_validation_rows_are_matched_by_name() -> None:
    X, y = penguins()
    tree = TreeClassifier(pruning=None).fit(X[::2], y[::2])
    shuffled = X[1::2][X.columns[::-1]]
    a, b = (tree.prune("reduced_error", rows, y[1::2]) for rows in (X[1::2], shuffled))
    assert a.to_text() == b.to_text()


def leaves_by_estimates(grown: TreeClassifier, allowance: float) -> int:
    """Leaves that are left where a test becomes one that has hardly more estimated errors."""
    estimated = estimated_errors(grown._model, 0.25)
    parents = grown._model.parents().tolist()
    best, leaves = np.zeros(len(parents)), np.zeros(len(parents), dtype=int)
    for t in reversed(range(len(parents))):
        if leaves[t] == 0 or estimated[t] <= best[t] + allowance:
            best[t], leaves[t] = estimated[t], 1
        if t:
            best[parents[t]] += best[t]
            leaves[parents[t]] += leaves[t]
    return int(leaves[0])


@pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")
def test_estimates_that_are_equal_within_a_tenth_of_a_row_are_equal() -> None:
    matters = 0
    for seed in range(12):
        X, y = noisy(60, seed)
        grown = TreeClassifier(pruning=None).fit(X, y)
        pruned = grown.prune("pessimistic", confidence=0.25)
        assert pruned.get_n_leaves() == leaves_by_estimates(grown, 0.1), seed
        matters += leaves_by_estimates(grown, 0.1) != leaves_by_estimates(grown, 0.0)
    assert matters > 0
