"""`sortal fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sortal.cli import options as o
from sortal.cli.options import (
    Script,
    costs_as_typed,
    open_data,
    read_settings,
)
from sortal.cli.output import (
    STDOUT,
    check_output,
    emit,
    json_text,
    note,
    show_steps,
    wrote,
)
from sortal.errors import ParameterError, counted
from sortal.tasks.options import Name, call
from sortal.tasks.registry import FittedClassifier, find

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = (
    "sortal fit penguins.csv --target species -o model.sortal",
    "sortal fit penguins.csv -t sex --learner lda --cost 'female->male=10' -o lda.sortal",
    "sortal fit penguins.csv -t species --set criterion=gini --set max_depth=3 -o small.sortal",
)

ModelOutput = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="The model file to write.")
]


def fit(
    data: o.Data,
    target: o.Target,
    output: ModelOutput,
    learner: o.LearnerName = "tree",
    setting: o.Settings = None,
    *,
    asked: o.Fitting,
    reading: o.Reading,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Learn to predict a column and write a model file."""
    settings: dict[str, Any] = dict(read_settings(setting))
    costs = asked.pop("costs", None)
    if costs is not None:
        _refuse_costs(learner, settings)
        settings["costs"] = costs
    if show_code:
        script = Script()
        script.need("from sortal.tasks.fit import fit")
        options = {"options": settings} if settings else {}
        made = call("fit", data, target, learner, **options, **asked, **reading.named)
        script.add(f"model = {made}", f"model.save({output!r})")
        _report_code(script, learner, output, as_json)
        emit(str(script))
        return
    from sortal.tasks.fit import fit as task

    if output == STDOUT:
        raise ParameterError(
            "A model goes into a file: give --output a name, such as model.sortal."
        )
    check_output(output, data)
    find(learner).make(**settings)  # what is wrong is said before the data is read
    with show_steps(data, 3) as step:
        step(f"reading {data}")
        table = open_data(data, reading.named)
        step(f"fitting {learner}")
        with costs_as_typed(costs):
            model = task(table, target, learner, settings, **asked)
        step(f"writing {output}")
        model.save(output)
    _report(model, learner, output, as_json)
    wrote(output)
    if find(learner).facts.keeps_rows:
        note("this file holds rows that were learned from: who has it can read them.")


def _refuse_costs(learner: str, settings: Mapping[str, object]) -> None:
    """A learner has costs, and has them given once."""
    if "costs" in settings:
        raise ParameterError(
            "--set costs and --cost or --threshold both say what errors cost: give one of them."
        )
    if "costs" not in find(learner).options():
        raise ParameterError(
            f"The learner {learner!r} has no costs: leave --cost and --threshold out, or choose "
            "another --learner."
        )


def _report_code(script: Script, learner: str, output: str, as_json: bool) -> None:
    if not as_json:
        script.add("print(model.fit_report_)")
        return
    script.need("from sortal.cli.fit import report_facts")
    script.need("from sortal.cli.output import json_text")
    script.write(f"json_text({call('report_facts', Name('model'), learner, output)})", None)


def _report(model: FittedClassifier, learner: str, output: str, as_json: bool) -> None:
    if as_json:
        emit(json_text(report_facts(model, learner, output)))
        return
    size = getattr(model, "n_parameters_", None)
    numbers = "" if size is None else f", {counted(size, 'number')}"
    emit(f"{find(learner).title}{numbers}\n{model.fit_report_}")


def report_facts(model: FittedClassifier, learner: str, output: str) -> dict[str, object]:
    """What is said of a fit to a machine."""
    report = model.fit_report_
    return {
        "learner": learner,
        "estimator": type(model).__name__,
        "rows": report.rows,
        "missing": dict(report.missing),
        "notes": list(report.notes),
        "size": getattr(model, "n_parameters_", None),
        "file": output,
    }
