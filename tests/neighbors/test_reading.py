"""Neighbors are read: from arrays and frames, after a load, in blocks, and on the command line."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from tests.explained import read
from tests.kernels.tables import iris

import sortal
from sortal import NeighborsClassifier, datasets
from sortal.errors import SortalWarning
from sortal.neighbors import votes as neighbors_blocks
from sortal.tasks.fit import fit
from sortal.tasks.predict import explain
from sortal.tasks.show import show

if TYPE_CHECKING:
    import pytest


def fitted(**options: Any) -> Any:
    X, y = iris()
    return NeighborsClassifier(**options).fit(X, y)


def quietly(ask: Any, rows: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return ask(rows)


# --- Where rows come from ------------------------------------------------------------------------


def test_narrow_rows_are_shown_as_they_are() -> None:
    X, y = iris()
    narrow = X.astype("float32")
    model = NeighborsClassifier().fit(narrow, y)
    row = read(model.explain(narrow[70:71])[0])
    for neighbor in row.parts:
        theirs = narrow.iloc[neighbor.id].astype(float).tolist()
        assert [part.neighbor_value for part in neighbor.parts] == theirs
        assert [part.value for part in neighbor.parts] == narrow.iloc[70].astype(float).tolist()
    assert [n.distance for n in row.parts] == model.kneighbors(narrow[70:71])[0][0].tolist()


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    penguins = datasets.penguins()[::6]
    rng = np.random.default_rng(3)
    weight = rng.choice([0.5, 1.0, 4.0], len(penguins))
    for options in ({"weights": "gaussian"}, {"n_neighbors": 3, "metric": "hamming"}):
        model = NeighborsClassifier(**options).fit(penguins, "species", weight)
        rows = penguins.drop(columns="species")
        whole, lines = quietly(model.explain, rows), quietly(model.working, rows[:9])
        with monkeypatch.context() as patch:
            patch.setattr(neighbors_blocks, "BLOCK_CELLS", 400)
            assert quietly(model.explain, rows) == whole
            assert quietly(model.working, rows[:9]).tables == lines.tables
        shares = quietly(model.predict_proba, rows)
        assert [list(row.facts["posterior"]) for row in whole] == shares.tolist()


def test_ids_stay_when_rows_are_forgotten_and_added() -> None:
    X, y = iris()
    model = fitted()
    model.forget(ids=[138, 149])
    model.partial_fit(X[138:139], y[138:139])
    row = read(model.explain(X[70:71])[0])
    assert [neighbor.id for neighbor in row.parts] == [70, 150, 127, 85, 56]
    assert model.working(X[70:71], max_rows=2)["distances"].column("id") == (70, 150)
    assert model.working()["classes"].column("rows") == (50, 50, 49)


# --- Tasks ---------------------------------------------------------------------------------------


def test_a_task_numbers_rows_from_one() -> None:
    X, _ = iris()
    made = explain(fitted(), X, [71])
    assert made[0] == fitted().explain(X[70:71])[0]
    assert set(made.to_frame()["row"]) == {71}
    assert str(made).startswith("Row 71. virginica (P = 0.6): 5 neighbors, 3 of them virginica")
    working = sortal.working(datasets.iris(), "species", "neighbors", rows=[71, 3])
    assert set(working["distances"].column("query")) == {71, 3}
    assert working["votes"].column("query") == (71, 71, 71, 3, 3, 3)
    same = fitted().working(X.iloc[[70, 2]])["distances"]
    assert [row[1:] for row in working["distances"].rows] == [row[1:] for row in same.rows]


def test_a_shown_model_says_what_was_chosen_and_leaves_the_curve_out() -> None:
    model = fitted(n_neighbors=[1, 4, 7])
    shown = show(model)
    facts = {row[0]: row[1] for row in shown.facts.rows}
    told = facts["neighbors"], facts["distance"], facts["votes"]
    assert told == (model.n_neighbors_, "euclidean", model.weights_)
    assert [table.name for table in shown.tables] == ["scale", "classes"]
    assert json.loads(json.dumps(shown.to_dict()))["facts"]["distance"] == "euclidean"


def test_an_attribute_named_like_the_curve_is_shown() -> None:
    table = pd.DataFrame({"loo": list("abab"), "k": list("aabb"), "y": list("pqpq")})
    shown = show(fit(table, "y", "bayes"))
    assert [t.name for t in shown.tables] == ["priors", "loo", "k"]
