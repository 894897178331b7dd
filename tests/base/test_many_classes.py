"""Numbers that look like a measurement are no classes in silence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.contract.learners import DEFAULTS, Setting, every_learner

from sortal import DiscreteBayes, compare, datasets
from sortal.errors import LabelError, ManyClassesWarning
from sortal.tasks.fit import fit

N = 84
X = pd.DataFrame({"a": np.arange(N) % 5, "b": np.arange(N) % 7})
MANY = np.arange(N) % 21


@every_learner
def test_a_fit_warns_of_many_numbers(learner: Setting) -> None:
    kinds = [MANY, MANY.astype(float), pl.Series(MANY), MANY.astype(object)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.make().fit(X, kinds[DEFAULTS.index(learner) % 4])
    told = [str(one.message) for one in caught if one.category is ManyClassesWarning]
    assert len(told) == 1
    assert told[0].startswith("y has 21 distinct numbers in 84 rows")


@pytest.mark.parametrize(
    "y",
    [
        MANY.astype(str),
        pd.Series(MANY).astype("category"),
        np.arange(N) % 20,
        np.repeat(np.arange(21), 10),
    ],
)
def test_words_few_numbers_and_many_rows_are_classes(y: Any) -> None:
    rows = pd.DataFrame({"a": np.arange(len(y)) % 5})
    with warnings.catch_warnings():
        warnings.simplefilter("error", ManyClassesWarning)
        DiscreteBayes().fit(rows, y)


def test_pieces_are_not_judged_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ManyClassesWarning)
        DiscreteBayes().partial_fit(X, MANY)


def test_a_task_takes_them_for_classes_when_told() -> None:
    table = X.assign(y=MANY)
    for rows in (table, pl.from_pandas(table), table.assign(y=MANY.astype(float))):
        with pytest.raises(LabelError, match=r"'y' has 21 distinct .* \(--categorical y\)"):
            fit(rows, "y", "bayes")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ManyClassesWarning)
        model = fit(table, "y", "bayes", categorical_features=["a", "y"])
    assert model.classes_.tolist() == list(range(21))
    assert model.classes_.dtype.kind == "i"
    assert [column.kind for column in model._schema.columns] == ["category", "number"]


@pytest.mark.full  # it starts workers
def test_a_comparison_takes_them_for_classes_when_told() -> None:
    table = X.assign(y=MANY)
    told: dict[str, Any] = {
        "learners": ["bayes"],
        "baselines": ["constant"],
        "folds": 2,
        "repeats": 1,
        "n_jobs": 1,
    }
    found = compare(table, "y", categorical_features=["a", "y"], **told)
    assert found.settings.asked.categorical_features == ["a", "y"]
    assert found.settings.declared_features == ["a"]
    assert len(found.scores["bayes"]) == 2
    fine = datasets.penguins()[::8]
    assert compare(fine, "species", categorical_features=["year"], **told).settings.rows == len(
        fine
    )
