"""The model of neighbors: searched once, from several threads, no deeper than needed."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.kernels.tables import iris

from sortal import NeighborsClassifier
from sortal.native.neighbors import Searcher
from sortal.neighbors import model as neighbors_search
from sortal.neighbors.model import LazyOnce, NeighborsModel, inverse_root, search, whiten
from sortal.neighbors.votes import near_filled, rows_at_a_time


def fitted(**options: Any) -> NeighborsModel:
    model: NeighborsModel = NeighborsClassifier(**options).fit(*iris())._model
    return model


def test_something_is_made_once_whoever_asks_first() -> None:
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "it"

    once = LazyOnce[str]()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: once.get(make), range(50))) == ["it"] * 50
    assert len(made) == 1


def test_the_search_is_neither_pickled_nor_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def count(*given: Any) -> Any:
        made.append(1)
        return Searcher(*given)

    monkeypatch.setattr(neighbors_search, "Searcher", count)
    X, y = iris()
    model = NeighborsClassifier().fit(X, y)
    assert not made  # a fit does not search
    wanted = model.predict_proba(X)
    model.predict(X)
    assert len(made) == 1
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        assert (again.predict_proba(X) == wanted).all()
    assert len(made) == 3


@pytest.mark.parametrize("n", [1, 2, 3, 500, 2000])
def test_equal_rows_are_whitened_to_equal_bits(n: int) -> None:
    rng = np.random.default_rng(n)
    x = np.repeat(rng.normal(size=(1, 60)), n, axis=0)
    root = rng.normal(size=(60, 55))
    made = whiten(x, rng.normal(size=60), root)
    assert (made == made[0]).all()


def test_a_missing_value_takes_the_inverse_of_what_is_known() -> None:
    x = iris()[0].to_numpy()
    S, d = np.cov(x[:, [0, 2, 3]].T), x[7, [0, 2, 3]] - x[:, [0, 2, 3]]
    wanted = np.sqrt((d @ np.linalg.inv(S) * d).sum(axis=1) * 4 / 3)
    model = fitted(metric="mahalanobis")
    asked = x[[7, 7]]
    asked[0, 1], asked[1] = np.nan, np.nan
    queries = neighbors_search.Queries(asked, np.empty((2, 0), dtype=np.int32))
    near = search(model, queries, 150)
    np.testing.assert_allclose(near.distances[0], np.sort(wanted), rtol=1e-10, atol=1e-10)
    assert (near.positions[1] == -1).all()
    assert np.isinf(near.distances[1]).all()


def test_a_singular_covariance_has_a_pseudo_inverse_whatever_the_units() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 3)) * [1.0, 1e6, 1e-6]
    S = np.cov(x.T)
    root = inverse_root(S, np.abs(x).max(axis=0), 30).sphere
    assert root.shape == (3, 2)
    np.testing.assert_allclose(root.T @ S @ root, np.eye(2), atol=1e-9)


def test_rows_of_small_weight_are_searched_deeper_and_only_where_needed() -> None:
    X = np.r_[np.zeros(64), np.full(2, 10.0)][:, None]
    weights = np.r_[np.full(64, 1 / 64), 1.0, 1.0]
    y = np.r_[np.arange(64) % 2, 0, 1]
    model: NeighborsModel = (
        NeighborsClassifier(22, scale=None).fit(X, y, sample_weight=weights)._model
    )
    queries = neighbors_search.Queries(
        np.array([[10.0], [0.0], [10.0]]), np.empty((3, 0), dtype=np.int32)
    )
    depths: dict[int, int] = {}
    for rows, near in near_filled(model, queries, 22, beyond=False):
        depths.update(dict.fromkeys(rows.tolist(), near.positions.shape[1]))
    assert depths[0] == depths[2] == 23  # each heavy row fills 22 of the 66 places
    assert depths[1] >= 64


def test_what_stands_in_memory_is_bounded() -> None:
    assert rows_at_a_time(1000, 6) * 1000 <= 1 << 22
    assert rows_at_a_time(3, 1_000_000) * 1_000_000 <= 1 << 22
    assert rows_at_a_time(3, 10**9) == 1
