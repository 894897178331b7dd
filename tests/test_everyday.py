"""Everyday tables that stop other libraries: every estimator takes each of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    NeighborsClassifier,
    QuadraticDiscriminant,
    TreeClassifier,
)
from sortal.errors import SortalWarning, UnknownCategoryWarning

if TYPE_CHECKING:
    from collections.abc import Callable

ESTIMATORS = (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    NeighborsClassifier,
    QuadraticDiscriminant,
    TreeClassifier,
)
every_estimator = pytest.mark.parametrize("Estimator", ESTIMATORS)
N = 48


def people() -> pd.DataFrame:
    """Words and numbers; whoever lives in Paris or is older than 50 says yes."""
    rng = np.random.default_rng(0)
    cities = np.array(["Lima", "Oslo", "Paris"])[np.arange(N) % 3]
    age = rng.integers(18, 80, N).astype(float)
    return pd.DataFrame({"city": cities, "age": age, "income": rng.normal(30.0, 5.0, N)})


def answers() -> np.ndarray[Any, Any]:
    table = people()
    return np.where((table["city"] == "Paris") | (table["age"] > 50), "yes", "no")


def quietly(call: Callable[[], Any]) -> Any:
    """What a call gives, where sortal may say something about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return call()


def better_than_chance(model: Any, table: Any, labels: Any) -> bool:
    share = float(pd.Series(labels).value_counts(normalize=True).max())
    return bool((quietly(lambda: model.predict(table)) == labels).mean() > share)


@every_estimator
@pytest.mark.parametrize("dtype", ["object", "category", "string"])
def test_a_column_of_words(Estimator: Any, dtype: str) -> None:
    table = people().astype({"city": dtype})
    model = quietly(lambda: Estimator().fit(table, answers()))
    assert better_than_chance(model, table, answers())


@every_estimator
def test_words_alone(Estimator: Any) -> None:
    table = people()[["city"]]
    model = quietly(lambda: Estimator().fit(table, answers()))
    assert model.predict(pd.DataFrame({"city": ["Paris"]})).tolist() == ["yes"]


@every_estimator
def test_a_word_never_seen_is_counted_and_said(Estimator: Any) -> None:
    model = quietly(lambda: Estimator().fit(people(), answers()))
    new = people().head(4).assign(city="Tokyo")
    with pytest.warns(UnknownCategoryWarning, match="4 cells"):
        said = model.predict(new)
    assert set(said) <= {"yes", "no"}


@every_estimator
def test_holes_at_fit_and_at_predict(Estimator: Any) -> None:
    table = people()
    table.loc[::7, "age"] = np.nan
    table.loc[::11, "city"] = None
    model = quietly(lambda: Estimator().fit(table, answers()))
    assert model.fit_report_.missing == {"city": 5, "age": 7}
    assert better_than_chance(model, table, answers())


@every_estimator
def test_a_column_twice(Estimator: Any) -> None:
    table = people().assign(again=lambda t: t["age"], doubled=lambda t: 2 * t["age"] + 1)
    model = quietly(lambda: Estimator().fit(table, answers()))
    assert better_than_chance(model, table, answers())


@every_estimator
def test_fewer_rows_in_a_class_than_columns(Estimator: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(23, 12))
    y = np.r_[np.zeros(20), np.ones(3)].astype(int)
    X[20:] += 4
    model = quietly(lambda: Estimator().fit(X, y))
    assert (model.predict(X) == y).mean() > 0.8


@every_estimator
def test_three_rows_of_one_column(Estimator: Any) -> None:
    X, y = [[0.0], [1.0], [1.0]], ["a", "b", "b"]
    # a tree would be pruned of so few, and five neighbors are not to be had
    few: dict[Any, Any] = {TreeClassifier: {"pruning": None}}
    few[NeighborsClassifier] = {"n_neighbors": 1}
    model = quietly(lambda: Estimator(**few.get(Estimator, {})).fit(X, y))
    assert model.predict(X).tolist() == y


@every_estimator
def test_weights_are_copies_of_rows(Estimator: Any) -> None:
    weights = np.arange(N) // 3 % 3
    table, labels = people(), answers()
    copies = np.repeat(np.arange(N), weights)
    weighed = quietly(lambda: Estimator().fit(table, labels, sample_weight=weights))
    repeated = quietly(lambda: Estimator().fit(table.iloc[copies], labels[copies]))
    assert (weighed.predict(table) == repeated.predict(table)).all()


@every_estimator
def test_columns_in_another_order_and_one_too_many(Estimator: Any) -> None:
    model = quietly(lambda: Estimator().fit(people(), answers()))
    turned = people()[["income", "age", "city"]].assign(note="x")
    assert (model.predict(turned) == model.predict(people())).all()


@every_estimator
@pytest.mark.parametrize(
    "to", [pl.from_pandas, lambda frame: pa.Table.from_pandas(frame, preserve_index=False)]
)
def test_polars_and_pyarrow(Estimator: Any, to: Callable[[Any], Any]) -> None:
    expected = quietly(lambda: Estimator().fit(people(), answers())).predict(people())
    model = quietly(lambda: Estimator().fit(to(people()), answers()))
    assert (model.predict(to(people())) == expected).all()
