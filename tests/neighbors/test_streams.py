"""Rows that come and go: ids that stay, and the model of a fit to the rows that are left."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.kernels.tables import iris

from sortal import NeighborsClassifier
from sortal.errors import OneClassWarning

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def test_ids_go_on_counting_and_are_never_given_again() -> None:
    X, y = iris()
    model = NeighborsClassifier(1).fit(X[:60], y[:60], np.arange(60) % 2)
    assert model.ids_.tolist() == list(range(1, 60, 2))
    model.forget(ids=[59, 57])
    model.partial_fit(X[60:62], y[60:62])
    assert model.ids_[-2:].tolist() == [60, 61]
    assert 59 not in model.ids_
    model.forget(ids=61).partial_fit(X[62:63], y[62:63])
    assert model.ids_[-2:].tolist() == [60, 62]
    assert model.kneighbors(X[60:61], 1)[1].tolist() == [[60]]


def test_too_few_rows_so_far_are_kept_until_more_come() -> None:
    X, y = iris()
    model = NeighborsClassifier(5)
    with pytest.warns(OneClassWarning, match="1 class only"):
        model.partial_fit(X[:3], y[:3], classes=["setosa", "virginica"])
    assert set(model.predict(X)) == {"setosa"}
    model.partial_fit(X[100:101], y[100:101])
    assert model.ids_.tolist() == [0, 1, 2, 3]
    model.partial_fit(X[101:110], y[101:110])
    assert model.predict(X[105:106]).tolist() == ["virginica"]


def test_metric_and_scale_are_read_again_from_all_rows() -> None:
    X, y = iris()
    missing = X[50:60].copy()
    missing.iloc[0, 0] = np.nan
    model = NeighborsClassifier().fit(X[40:60], y[40:60])
    before = model.scale_
    model.partial_fit(missing, y[50:60])
    assert model.metric_ == "gower"
    assert model.forget(ids=[20]).metric_ == "euclidean"
    assert model.scale_ != before


def test_a_column_without_values_takes_the_kind_of_those_that_come() -> None:
    empty = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [None] * 3, "c": [None] * 3}, dtype=object)
    later = pd.DataFrame({"a": [4.0, 5.0], "b": [0.5, 1.5], "c": ["u", "v"]})
    model = NeighborsClassifier(1).partial_fit(empty, list("xyx")).partial_fit(later, list("xy"))
    assert [column.kind for column in model._schema.columns] == ["number", "number", "category"]
    both = NeighborsClassifier(1).fit(pd.concat([empty, later]).infer_objects(), list("xyxxy"))
    assert (model.kneighbors(later)[0] == both.kneighbors(later)[0]).all()
    assert (model.predict_proba(later) == both.predict_proba(later)).all()


def test_another_metric_of_numbers_may_be_set() -> None:
    X, y = iris()
    other = NeighborsClassifier().fit(X, y).set_params(metric="manhattan").forget(ids=[0])
    assert other.metric_ == "manhattan"


def test_weights_of_later_blocks_are_of_one_unit_with_the_others() -> None:
    X, y = iris()
    model = NeighborsClassifier(3).fit(X[::2], y[::2])
    model.partial_fit(X[1::2], y[1::2], sample_weight=np.full(75, 0.25))
    order = [*range(0, 150, 2), *range(1, 150, 2)]
    weights = np.r_[np.ones(75), np.full(75, 0.25)]
    whole = NeighborsClassifier(3).fit(X.iloc[order], y[order], weights)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-12)


def test_leave_one_out_after_a_stream_takes_the_rows_that_are_kept() -> None:
    X, y = iris()
    model = NeighborsClassifier().partial_fit(X[:70], y[:70]).partial_fit(X[70:], y[70:])
    model.forget(ids=[0, 149])
    found = model.loo_proba(X[1:149], y[1:149])
    assert (
        found == NeighborsClassifier().fit(X[1:149], y[1:149]).loo_proba(X[1:149], y[1:149])
    ).all()
