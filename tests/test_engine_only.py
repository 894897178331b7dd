"""A fit reaches rows only through an engine, and how an engine cuts them does not matter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    NeighborsClassifier,
    TreeClassifier,
    datasets,
)
from sortal.data.sources import TableSource
from sortal.data.table import FrameTable
from sortal.engines import merge_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from sortal.bayes.learn import Structure
    from sortal.data.sources import Batch, Source
    from sortal.summaries.protocol import Summary

    S = TypeVar("S", bound=Summary)
T = TypeVar("T")


@dataclass
class Recutting:
    """An engine that cuts every source anew and records which rows each pass read."""

    block_rows: int
    passes: list[list[int]] = field(default_factory=list)
    is_reading: bool = False

    def reduce(self, source: Source, summarize: Callable[[Batch], S]) -> S:
        return merge_all(self.map(source, summarize))

    def map(self, source: Source, function: Callable[[Batch], T]) -> Iterator[T]:
        assert isinstance(source, TableSource)
        cut = replace(source, block_rows=self.block_rows)
        self.passes.append([])
        for b in range(cut.n_blocks):
            self.is_reading = True
            batch = cut.block(b)
            self.is_reading = False
            self.passes[-1].extend(range(batch.start, batch.start + batch.n_rows))
            yield function(batch)


# Blocks of one row are many, and those of all rows are what an engine does unasked.
block_sizes = pytest.mark.parametrize("block_rows", [7, pytest.param(1, marks=pytest.mark.full)])


def swap_engine(monkeypatch: pytest.MonkeyPatch, block_rows: int) -> Recutting:
    engine = Recutting(block_rows)
    monkeypatch.setattr("sortal.base.classifier.LocalEngine", lambda _: engine)
    return engine


@pytest.fixture(scope="module")
def words() -> pd.DataFrame:
    """60 penguins of all species by island, sex (with missing values) and year."""
    table = datasets.penguins()[["species", "island", "sex", "year"]]
    return table.sample(n=60, random_state=3).reset_index(drop=True)


def results(table: pd.DataFrame, structure: Structure) -> list[NDArray[Any]]:
    """Everything that passes over rows: fit, predict, leave-one-out, more rows, fewer rows."""
    X, y = table.drop(columns="species"), table["species"]
    learner = DiscreteBayes(structure, categorical_features="all").fit(X, y)
    found = [learner.predict_proba(X), learner.loo_proba(X, y)]
    learner.partial_fit(X[:20], y[:20])
    found.append(learner.predict_proba(X))
    learner.forget(X[10:30], y[10:30])
    return [*found, learner.predict_proba(X)]


@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
@pytest.mark.parametrize("structure", ["naive", "joint"])
@block_sizes
def test_blocks_of_any_size_give_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, words: pd.DataFrame, structure: Structure, block_rows: int
) -> None:
    assert words["sex"].isna().any()
    wanted = results(words, structure)
    swap_engine(monkeypatch, block_rows)
    found = results(words, structure)
    assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]


@block_sizes
def test_blocks_of_any_size_give_the_same_densities(
    monkeypatch: pytest.MonkeyPatch, block_rows: int
) -> None:
    table = datasets.iris()
    wanted = DiscreteBayes().fit(table, "species").predict_proba(table)
    swap_engine(monkeypatch, block_rows)
    found = DiscreteBayes().fit(table, "species").predict_proba(table)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-300)


DISCRIMINANTS: dict[str, Callable[[], Any]] = {
    "fisher": FisherDiscriminant,
    "linear": lambda: LinearDiscriminant(shrinkage="ledoit_wolf"),
    "indicator": IndicatorRegression,
}


def functions(make: Callable[[], Any], table: pd.DataFrame) -> list[NDArray[Any]]:
    """The functions of a discriminant after a fit, more and fewer rows; also incomplete ones."""
    X, y = table.drop(columns="species"), table["species"]
    learner = make().fit(X, y)
    found = [learner.decision_function(X)]
    learner.partial_fit(X[:20], y[:20])
    found.append(learner.decision_function(X))
    learner.forget(X[10:30], y[10:30])
    return [*found, learner.decision_function(X)]


@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
@pytest.mark.parametrize("name", DISCRIMINANTS)
@block_sizes
def test_blocks_of_any_size_give_the_same_functions(
    monkeypatch: pytest.MonkeyPatch, name: str, block_rows: int
) -> None:
    table = datasets.penguins().drop(columns="year").sample(n=60, random_state=3)
    table = table.reset_index(drop=True)
    wanted = functions(DISCRIMINANTS[name], table)
    swap_engine(monkeypatch, block_rows)
    found = functions(DISCRIMINANTS[name], table)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


def trees(table: pd.DataFrame) -> list[NDArray[Any]]:
    """Trees of mixed columns, without and with weights, and where rows end in them."""
    X, y = table.drop(columns="species"), table["species"]
    found: list[NDArray[Any]] = []
    for weight in (None, np.arange(len(table)) % 3, np.arange(len(table)) / 4):
        learner = TreeClassifier(pruning=None).fit(X, y, sample_weight=weight)
        found += [*learner._model.arrays, learner._model.units, learner.apply(X)]
    return found


@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
@block_sizes
def test_blocks_of_any_size_give_the_same_tree(
    monkeypatch: pytest.MonkeyPatch, block_rows: int
) -> None:
    table = datasets.penguins().dropna().sample(n=60, random_state=3).reset_index(drop=True)
    wanted = trees(table)
    swap_engine(monkeypatch, block_rows)
    found = trees(table)
    assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]


def near(table: pd.DataFrame) -> list[NDArray[Any]]:
    """All that passes over rows, by two metrics and with weights: what is found and said."""
    X, y = table.drop(columns="species"), table["species"]
    found: list[NDArray[Any]] = []
    for metric in ("gower", "hamming"):
        learner = NeighborsClassifier("loo", metric).fit(X, y, np.arange(len(table)) % 3 / 2)
        found += [*learner.kneighbors(X), learner.predict_proba(X)]
        learner.partial_fit(X[:20], y[:20]).forget(ids=learner.ids_[10:30])
        found += [*learner.kneighbors(X), *learner.kneighbors(), learner.predict_proba(X)]
        found.append(np.array(learner.loo_curve_.column("error")))
    return found


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@block_sizes
def test_blocks_of_any_size_give_the_same_neighbors(
    monkeypatch: pytest.MonkeyPatch, block_rows: int
) -> None:
    table = datasets.penguins().sample(n=60, random_state=3).reset_index(drop=True)
    wanted = near(table)
    swap_engine(monkeypatch, block_rows)
    found = near(table)
    assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]


@block_sizes
def test_a_fit_reads_every_row_once(monkeypatch: pytest.MonkeyPatch, block_rows: int) -> None:
    engine = swap_engine(monkeypatch, block_rows)
    DiscreteBayes().fit(datasets.play_tennis(), "PlayTennis")
    assert engine.passes == [list(range(14))]
    engine.passes.clear()
    IndicatorRegression().fit(datasets.play_tennis(), "PlayTennis")
    assert engine.passes == [list(range(14))]
    engine.passes.clear()
    TreeClassifier(pruning=None).fit(datasets.play_tennis(), "PlayTennis")
    assert engine.passes == [list(range(14))]
    engine.passes.clear()
    NeighborsClassifier().fit(datasets.play_tennis(), "PlayTennis")
    assert engine.passes == [list(range(14))]


def test_rows_are_read_by_the_engine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = swap_engine(monkeypatch, 7)
    for method in ("numbers", "categories"):
        read = getattr(FrameTable, method)

        def watched(*args: Any, read: Callable[..., Any] = read) -> Any:
            assert engine.is_reading, "rows were read outside a pass"
            return read(*args)

        monkeypatch.setattr(FrameTable, method, watched)
    table = datasets.discretized_iris()
    learner = DiscreteBayes().fit(table, "species")
    X, y = table.drop(columns="species"), table["species"]
    learner.predict(X)
    learner.loo_proba(X, y)
    learner.partial_fit(X, y).forget(X, y)
    fisher = FisherDiscriminant().fit(X, y)
    fisher.transform(X)
    fisher.explain(X)
    fisher.partial_fit(X, y).forget(X, y)
    LinearDiscriminant(missing="mean").fit(X, y).predict_proba(X)
    tree = TreeClassifier(pruning=None).fit(X, y)
    tree.predict(X)
    tree.decision_path(X)
    near = NeighborsClassifier().fit(X, y)
    near.predict(X)
    near.kneighbors(X)
    near.loo_proba(X, y)
    near.partial_fit(X, y).forget(ids=[0, 200])
    assert all(rows == list(range(150)) for rows in engine.passes)
