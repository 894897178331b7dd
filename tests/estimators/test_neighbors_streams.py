"""Rows that come and go: ids that stay, and the model of a fit to the rows that are left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from sortal import NeighborsClassifier, datasets
from sortal.errors import (
    ColumnError,
    InputError,
    LabelError,
    MissingValueError,
    OneClassWarning,
    OptionError,
    SubtractError,
)
from sortal.estimators.keeping import parts_of

IRIS = datasets.iris()
X, Y = IRIS.drop(columns="species"), IRIS["species"]
PENGUINS = datasets.penguins().sample(n=60, random_state=1).reset_index(drop=True)
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def same(one: NeighborsClassifier, other: NeighborsClassifier) -> bool:
    """Whether two models are the same to the last bit, but for the numbering of rows."""
    a, b = parts_of(one), parts_of(other)
    numbers = {"arrays/model.ids"}
    members = [{n: bytes(d) for n, d in p.members.items() if n not in numbers} for p in (a, b)]
    for parts in (a, b):
        del parts.manifest["model"]["next_id"], parts.manifest["data"]
    return members[0] == members[1] and a.manifest["model"] == b.manifest["model"]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_blocks_and_forgetting_give_the_model_of_the_rows_left(data: st.DataObject) -> None:
    options: dict[str, Any] = {
        "n_neighbors": data.draw(st.sampled_from([3, [1, 4]])),
        "metric": data.draw(st.sampled_from(["auto", "hamming"])),
        "class_weight": data.draw(st.sampled_from([None, "balanced"])),
    }
    table, labels = PENGUINS.drop(columns="species"), PENGUINS["species"]
    cuts = sorted(data.draw(st.sets(st.integers(1, 59), max_size=3)))
    gone = data.draw(st.sets(st.integers(0, 59), max_size=40))
    model = NeighborsClassifier(**options)
    for start, stop in zip([0, *cuts], [*cuts, 60], strict=True):
        model.partial_fit(table[start:stop], labels[start:stop])
    left = [i for i in range(60) if i not in gone]
    model.forget(sorted(gone))
    assert model.ids_.tolist() == left
    assert same(model, NeighborsClassifier(**options).fit(table.iloc[left], labels.iloc[left]))


def test_ids_go_on_counting_and_are_never_given_again() -> None:
    model = NeighborsClassifier(1).fit(X[:60], Y[:60], np.arange(60) % 2)
    assert model.ids_.tolist() == list(range(1, 60, 2))
    model.forget([59, 57])
    model.partial_fit(X[60:62], Y[60:62])
    assert model.ids_[-2:].tolist() == [60, 61]
    assert 59 not in model.ids_
    model.forget(61).partial_fit(X[62:63], Y[62:63])
    assert model.ids_[-2:].tolist() == [60, 62]
    assert model.kneighbors(X[60:61], 1)[1].tolist() == [[60]]


def test_ids_that_are_not_there_are_named_and_leave_the_model_as_it_was() -> None:
    model = NeighborsClassifier().fit(X, Y)
    for ids, words in (([3, 150], "No row has the ids 150"), ([3, 3], "ids 3 are given more")):
        with pytest.raises(SubtractError, match=words):
            model.forget(ids)
    odd: list[Any] = [0.5, ["a"], [[1, 2]], [True], None]
    for strange in odd:
        with pytest.raises(InputError, match="give the ids of rows"):
            model.forget(strange)
    with pytest.raises(LabelError, match="no row left"):
        model.forget(range(150))
    with pytest.raises(OptionError, match="n_neighbors=5 but the rows have weight 4"):
        model.forget([i for i in range(150) if i not in (0, 1, 60, 61)])
    assert model.ids_.tolist() == list(range(150))
    assert model.forget([]).ids_.tolist() == list(range(150))


def test_only_a_fitted_model_forgets() -> None:
    with pytest.raises(NotFittedError):
        NeighborsClassifier().forget([0])


def test_too_few_rows_so_far_are_kept_until_more_come() -> None:
    model = NeighborsClassifier(5)
    with pytest.warns(OneClassWarning, match="1 class only"):
        model.partial_fit(X[:3], Y[:3], classes=["setosa", "virginica"])
    assert set(model.predict(X)) == {"setosa"}
    model.partial_fit(X[100:101], Y[100:101])
    with pytest.raises(OptionError, match="n_neighbors=5 but the rows have weight 4"):
        model.predict(X)
    assert model.ids_.tolist() == [0, 1, 2, 3]
    model.partial_fit(X[101:110], Y[101:110])
    assert model.predict(X[105:106]).tolist() == ["virginica"]


def test_metric_and_scale_are_read_again_from_all_rows() -> None:
    holes = X[50:60].copy()
    holes.iloc[0, 0] = np.nan
    model = NeighborsClassifier().fit(X[40:60], Y[40:60])
    before = model.scale_
    model.partial_fit(holes, Y[50:60])
    assert model.metric_ == "gower"
    assert model.forget([20]).metric_ == "euclidean"
    assert model.scale_ != before


def test_a_column_without_values_takes_the_kind_of_those_that_come() -> None:
    empty = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [None] * 3, "c": [None] * 3}, dtype=object)
    later = pd.DataFrame({"a": [4.0, 5.0], "b": [0.5, 1.5], "c": ["u", "v"]})
    model = NeighborsClassifier(1).partial_fit(empty, list("xyx")).partial_fit(later, list("xy"))
    assert [column.kind for column in model._schema.columns] == ["number", "number", "category"]
    both = NeighborsClassifier(1).fit(pd.concat([empty, later]).infer_objects(), list("xyxxy"))
    assert (model.kneighbors(later)[0] == both.kneighbors(later)[0]).all()
    assert (model.predict_proba(later) == both.predict_proba(later)).all()


def test_what_a_metric_cannot_read_is_refused_at_once() -> None:
    words = pd.DataFrame({"a": ["u", "v"]})
    with pytest.raises(ColumnError, match="holds words"):
        NeighborsClassifier(metric="euclidean").partial_fit(words, ["x", "y"])
    with pytest.raises(MissingValueError, match="mahalanobis"):
        NeighborsClassifier(metric="mahalanobis").partial_fit([[np.nan], [1.0]], ["x", "y"])


def test_numbers_kept_as_values_stay_values() -> None:
    model = NeighborsClassifier(metric="hamming").fit(X, Y)
    with pytest.raises(
        OptionError, match="metric='auto' was set after a fit with metric='hamming'"
    ):
        model.set_params(metric="auto").partial_fit(X, Y)
    with pytest.raises(OptionError, match="was set after"):
        model.forget([0])
    other = NeighborsClassifier().fit(X, Y).set_params(metric="manhattan").forget([0])
    assert other.metric_ == "manhattan"


def test_weights_of_later_blocks_are_of_one_unit_with_the_others() -> None:
    model = NeighborsClassifier(3).fit(X[::2], Y[::2])
    model.partial_fit(X[1::2], Y[1::2], sample_weight=np.full(75, 0.25))
    order = [*range(0, 150, 2), *range(1, 150, 2)]
    weights = np.r_[np.ones(75), np.full(75, 0.25)]
    whole = NeighborsClassifier(3).fit(X.iloc[order], Y.iloc[order], weights)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-12)


def test_leave_one_out_after_a_stream_takes_the_rows_that_are_kept() -> None:
    model = NeighborsClassifier().partial_fit(X[:70], Y[:70]).partial_fit(X[70:], Y[70:])
    model.forget([0, 149])
    found = model.loo_proba(X[1:149], Y[1:149])
    assert (
        found == NeighborsClassifier().fit(X[1:149], Y[1:149]).loo_proba(X[1:149], Y[1:149])
    ).all()
    with pytest.raises(SubtractError, match="rows of the fit again"):
        model.loo_proba(X, Y)
