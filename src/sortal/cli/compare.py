"""`sortal compare` and `sortal inspect`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sortal.cli import options as o
from sortal.cli.options import Script, open_data
from sortal.cli.output import (
    check_output,
    emit,
    emit_record,
    json_text,
    show_progress,
    text_width,
)
from sortal.tasks.compare.settings import TABLE, as_typed, call
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from sortal.tasks.compare.comparison import Comparison

COMPARE_EXAMPLES = (
    "sortal compare penguins.csv --target species",
    "sortal compare penguins.csv -t species --learner tree --learner lda --repeats 1",
    "sortal compare penguins.csv -t species --no-baselines --metric log_loss --budget 60",
)

Times = Annotated[
    bool, typer.Option("--times/--no-times", help="Also seconds, which differ from run to run.")
]


def compare(
    data: o.Data,
    target: o.Target,
    *,
    comparing: o.Comparing,
    reading: o.ReadingOptions,
    times: Times = True,
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Compare learners, and choose one.

    All learners and, as baselines, models of scikit-learn are judged by the same repeated
    cross-validation. Chosen is the simplest that is not distinguishably worse than the best.
    """
    named = comparing.named()
    if show_code:
        script = Script()
        script.read(data, reading.named)
        script.add(f"comparison = {call('sortal.compare', TABLE, target, **named)}")
        if times or as_json:
            script.finish("comparison", "text", as_json, output)
        else:
            script.write("comparison.to_text(times=False)", output)
        emit(str(script))
        return
    from sortal.tasks.compare.compare import compare as task

    check_output(output, data)
    table = open_data(data, reading.named)
    with show_progress() as progress:
        comparison = task(table, target, progress=progress, **named)
    if as_json:
        emit(json_text(comparison.to_dict()), output)
    else:
        emit(comparison.to_text(text_width(output), times=times), output)
    if not as_json and output is None:
        columns: dict[str, Any] = {
            name: named[name] for name in ("drop", "categorical_features") if name in named
        }
        _go_on(comparison, data, target, [*as_typed(columns), *reading.words])


def _go_on(comparison: Comparison, data: str, target: str, told: list[str]) -> None:
    """The command that fits what was chosen; beside a baseline, the learner named with it."""
    learner = comparison.choice.learner
    if learner in {known.name for known in learners()}:
        words = ["sortal", "fit", data, "--target", target, "--learner", str(learner), *told]
        emit(f"\nGo on with: {shlex.join([*words, '-o', 'model.sortal'])}")


# --- `sortal inspect` ----------------------------------------------------------------------------

INSPECT_EXAMPLES = (
    "sortal inspect penguins.csv",
    "sortal inspect penguins.csv --target species",
    "sortal inspect penguins.csv --target species --drop year --json",
)


def inspect(
    data: o.Data,
    target: o.MaybeTarget = None,
    drop: o.Drop = None,
    *,
    reading: o.ReadingOptions,
    form: o.Format = "text",
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Look at a table: columns, missing values, classes, findings.

    Every finding comes with the option of fit and compare that answers it.
    """
    asked: dict[str, Any] = {"drop": drop} if drop else {}
    if show_code:
        script = Script()
        named = asked | reading.named
        script.add(f"found = {call('sortal.inspect', data, *filter(None, [target]), **named)}")
        script.finish("found", form, as_json, output)
        emit(str(script))
        return
    from sortal.tasks.inspection import inspect as task

    check_output(output, data)
    emit_record(task(data, target, **asked, **reading.named), form, as_json, output)
