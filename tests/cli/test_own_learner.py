"""A learner of one's own: one entry in the registry, and it is in every task and command."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import sortal
from sortal import datasets
from sortal.base.ladder import FitReport, TableClassifier
from sortal.data.columns import as_categories, as_numbers
from sortal.data.schema import Schema
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import FromSchema, Layout
from sortal.tasks import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import Done


@dataclass(frozen=True, eq=False)
class StumpModel:
    """The mean of one number in each class: the nearest mean is said."""

    classes: tuple[Any, ...]
    means: Any

    LAYOUT: ClassVar[Layout] = Layout(classes=FromSchema("classes"), means=Array("f8", "classes"))

    @property
    def size(self) -> int:
        """One number a class."""
        return len(self.means)


class NearestMean(TableClassifier):
    """Says the class whose mean of one column is nearest."""

    _kept: ClassVar[Layout] = Layout(_model=RecordField(StumpModel))

    def __init__(self, column: str = "", *, n_jobs: int | None = None) -> None:
        self.column = column
        self.n_jobs = n_jobs

    categorical_features: Any = "from_dtype"
    missing = unknown = "skip"

    def fit(self, X: Any, y: Any) -> NearestMean:
        training = self._open_training(X, y, None)
        source = replace(training.source, block_rows=training.source.table.n_rows)
        batch = next(iter(self._engine().map(source, _as_it_is)))
        labels = as_categories(batch.labels())
        self._schema = Schema(training.declared.columns, labels.values)
        x, classes = as_numbers(batch.columns[self._place()]), range(len(labels.values))
        means = np.array([np.nanmean(x[labels.codes == k]) for k in classes])
        self._model = StumpModel(labels.values, means)
        self.classes_ = np.array(labels.values)
        self.fit_report_ = FitReport(batch.n_rows, {})
        self._set_input_names(training)
        return self

    def predict(self, X: Any) -> Any:
        batches = self._engine().map(self._open(X), _as_it_is)
        x = np.concatenate([as_numbers(batch.columns[self._place()]) for batch in batches])
        away = np.abs(np.nan_to_num(x)[:, None] - self._model.means)
        return self.classes_[away.argmin(axis=1)]

    def _place(self) -> int:
        return self._schema.names.index(self.column)


def _as_it_is(batch: Any) -> Any:
    return batch


@pytest.fixture
def nearest() -> Iterator[registry.LearnerEntry]:
    """The toy as a registered learner."""
    facts = registry.LearnerFacts(probabilistic=False, reads="The nearest mean wins.")
    grid = {"column": ("flipper_length_mm",)}
    entry = registry.LearnerEntry("nearest", NearestMean, "nearest mean", facts, grid)
    yield registry.register(entry)
    registry.unregister("nearest")


@pytest.mark.usefixtures("nearest")
def test_it_goes_through_the_commands_and_the_file(run: Callable[..., Done], here: Path) -> None:
    fit = ["fit", "penguins.csv", "-t", "species", "-l", "nearest"]
    done = run(*fit, "--set", "column=flipper_length_mm", "-o", "own.sortal")
    assert (done.code, "nearest mean, 3 numbers" in done.out) == (0, True)
    told = json.loads(run("predict", "own.sortal", "penguins.csv", "--json").out)
    model = sortal.load(here / "own.sortal")
    assert isinstance(model, NearestMean)
    said = model.predict(datasets.penguins()).tolist()
    assert [row["prediction"] for row in told] == said
    shown = run("show", "own.sortal")
    assert (shown.code, "The nearest mean wins." in shown.out) == (0, True)
    assert run("explain", "own.sortal", "penguins.csv", "--row", "1").code == 1  # it has none
