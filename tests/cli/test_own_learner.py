"""A learner of one's own: one entry in the registry, and it is in every task and command."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sortal
from sortal import datasets
from sortal._typing import Float
from sortal.base.classifier import TableClassifier
from sortal.base.learner import Learner
from sortal.data.columns import Values, as_numbers
from sortal.decision.options import n_jobs, option
from sortal.decision.scores import ScoredTerms
from sortal.errors import ColumnError, MissingValueWarning
from sortal.modelfile.record import limits, of_schema, record
from sortal.summaries.counts import BayesSummary, SummarizeBayes
from sortal.tasks import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import Done

    from sortal.base.learner import Fitted
    from sortal.data.columns import Schema
    from sortal.data.sources import Batch
    from sortal.decision.scores import Question


# --- A learner: its options, its model, and a value of functions over what exists already --------


@dataclass(eq=False, repr=False)
class StumpOptions:
    """The parameters: the signature, the docstring and what a file keeps follow from them."""

    column: str = option("", "str", "The column that is measured.")
    _: KW_ONLY
    n_jobs: int | None = n_jobs()


@record()
class StumpModel:
    """The mean of one number in each class: the nearest mean is said."""

    classes: Values = of_schema()
    means: Float = limits("classes")

    @property
    def size(self) -> int:
        """One number a class."""
        return len(self.means)


def plan(schema: Schema, options: StumpOptions) -> SummarizeBayes:
    """One column is measured: moments by class, which merge and subtract."""
    if options.column not in schema.names:
        raise ColumnError(f"column={options.column!r} is no column of this table: name one.")
    return SummarizeBayes((), (schema.names.index(options.column),), (options.column,))


def say_nearest(
    fitted: Fitted[StumpOptions, BayesSummary, StumpModel],
    question: Question,
) -> Callable[[Batch], ScoredTerms]:
    """A pass: the class with the nearest mean."""
    model, (j,) = fitted.model, fitted.plan.numbers

    def say(batch: Batch) -> ScoredTerms:
        x, none = as_numbers(batch.columns[j]), np.zeros(len(batch.columns), dtype=np.int64)
        missing = np.where(np.arange(len(none)) == j, np.isnan(x).sum(), none)
        away = np.abs(np.nan_to_num(x)[:, None] - model.means)
        return ScoredTerms(away.argmin(axis=1), missing, none)

    return say


NEAREST: Learner[StumpOptions, BayesSummary, StumpModel] = Learner(
    options=StumpOptions,
    kept={"model": StumpModel, "summary": BayesSummary},
    plan=lambda training, options: plan(training.source.schema, options),
    later_plan=lambda schema, options, fitted: plan(schema, options),  # noqa: ARG005
    model=lambda summary, schema, options, training: StumpModel(  # noqa: ARG005
        schema.classes, summary.moments.over(schema.classes).mean[0]
    ),
    answer=say_nearest,
    absent=dict.fromkeys(
        ("predict_proba", "predict_log_proba", "decision_function"), "The nearest mean is said."
    ),
)


class NearestMean(StumpOptions, TableClassifier[StumpOptions, BayesSummary, StumpModel]):
    """Says the class whose mean of one column is nearest."""

    _learner = NEAREST


# --- What it can do now --------------------------------------------------------------------------


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
    with pytest.warns(MissingValueWarning, match=r"2 cells \('flipper_length_mm' 2\)"):
        said = model.predict(datasets.penguins()).tolist()
    assert [row["prediction"] for row in told] == said
    shown = run("show", "own.sortal")
    assert (shown.code, "The nearest mean wins." in shown.out) == (0, True)
    assert run("explain", "own.sortal", "penguins.csv", "--row", "1").code == 1  # it has none


def test_it_learns_on_forgets_and_describes_itself() -> None:
    table, column = datasets.penguins(), "flipper_length_mm"
    whole, parts = NearestMean(column).fit(table, "species"), NearestMean(column)
    parts.partial_fit(table[::2], "species").partial_fit(table[1::2], "species")
    np.testing.assert_allclose(parts._model.means, whole._model.means, rtol=1e-12)
    parts.forget(table[:50], "species")
    rest = NearestMean(column).fit(table[50:], "species")
    np.testing.assert_allclose(parts._model.means, rest._model.means, rtol=1e-12)
    assert not hasattr(whole, "predict_proba")
    assert repr(whole) == f"NearestMean(column='{column}')"
    doc = str(NearestMean.__doc__)
    head = "Says the class whose mean of one column is nearest.\n\nParameters\n----------\ncolumn"
    assert doc.startswith(head)


@pytest.mark.usefixtures("nearest")
def test_its_options_are_listed_as_they_are_declared(run: Callable[..., Done]) -> None:
    rows = json.loads(run("show", "nearest", "--json").out)["rows"]
    told = ["column", "", "str", "The column that is measured."]
    assert rows[0] == told
    assert [row[0] for row in rows] == ["column", "n_jobs"]
    shown = run("show", "bayes")
    assert (shown.code, shown.out.count("\n") > 10) == (0, True)
    assert '{"naive", "joint"}' in shown.out
    code = run("show", "bayes", "--show-code").out
    assert "options_of('bayes')" in code
