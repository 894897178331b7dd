"""`sortal compare` and `sortal inspect`."""

from __future__ import annotations

from typing import Annotated

import typer

from sortal.cli import options as o
from sortal.cli.options import Script, costs_as_typed, open_data
from sortal.cli.output import (
    check_output,
    emit,
    emit_record,
    json_text,
    show_progress,
    text_width,
)
from sortal.tasks.options import TABLE, call

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
    asked: o.Comparing,
    reading: o.Reading,
    times: Times = True,
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Compare learners, and recommend one.

    Learners and, as baselines, models of scikit-learn go through the same repeated
    cross-validation. The recommendation is the most readable model whose score is within a small
    margin of the best.
    """
    if show_code:
        script = Script()
        script.read(data, reading.named)
        script.add(f"comparison = {call('sortal.compare', TABLE, target, **asked)}")
        if times or as_json:
            script.finish("comparison", "text", as_json, output)
        else:
            script.write("comparison.to_text(times=False)", output)
        emit(str(script))
        return
    from sortal.tasks.compare.compare import compare as task

    check_output(output, data)
    with show_progress() as progress, costs_as_typed(asked.get("costs")):
        progress(0, 0, f"reading {data}", None)
        comparison = task(open_data(data, reading.named), target, progress=progress, **asked)
    if as_json:
        emit(json_text(comparison.to_dict()), output)
    else:
        emit(comparison.to_text(text_width(output), times=times), output)
    best = comparison.choice.recommended
    if best and not as_json and output is None:
        emit(f"\nGo on with: {comparison.fit_command(best, data, reading.words)}")


# --- `sortal inspect` ----------------------------------------------------------------------------

INSPECT_EXAMPLES = (
    "sortal inspect penguins.csv",
    "sortal inspect penguins.csv --target species",
    "sortal inspect penguins.csv --target species --drop year --json",
)


def inspect(
    data: o.Data,
    target: o.MaybeTarget = None,
    *,
    asked: o.Dropping,
    reading: o.Reading,
    form: o.Format = "text",
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Look at a table: columns, missing values, classes, findings.

    Every finding comes with the option of fit and compare that answers it.
    """
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
