"""Searches by the columns that queries have."""

from __future__ import annotations

import numpy as np
import pytest

from sortal import NeighborsClassifier
from sortal.errors import MissingValueWarning
from sortal.neighbors import model as neighbors_search


def test_few_queries_with_the_same_missing_values_find_what_many_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(1500, 6)), rng.integers(0, 2, 1500)
    queries = X[:90].copy()
    queries[:, 2] = np.nan  # 90 with these missing values, and 3 with others
    queries[:3, 4] = np.nan
    model = NeighborsClassifier(metric="mahalanobis").fit(X, y)
    with pytest.warns(MissingValueWarning, match="93 cells"):
        few = model.kneighbors(queries)
    monkeypatch.setattr(neighbors_search, "_FEW_QUERIES", 0)
    with pytest.warns(MissingValueWarning, match="93 cells"):
        many = model.kneighbors(queries)
    assert few[0].tobytes() == many[0].tobytes()
    assert few[1].tobytes() == many[1].tobytes()
