"""`sortal show` and `sortal working`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sortal.cli import options as o
from sortal.cli.options import Script, open_data, read_settings
from sortal.cli.output import check_output, emit, emit_record
from sortal.tasks.options import TABLE, Name, call
from sortal.tasks.registry import find, learners

SHOW_EXAMPLES = (
    "sortal show model.sortal",
    "sortal show model.sortal --all --format html -o model.html",
    "sortal show bayes",
)

Shown = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file, from fit; or the name of a learner, whose options are listed.",
        show_default=False,
    ),
]


def show(
    model: Shown,
    form: o.Format = "text",
    output: o.Output = None,
    everything: o.All = False,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Show a model and how it decides.

    What it is, what it was learned from, its options, and its rules or functions or tables; of
    many rules and long tables the beginning, unless --all is given.
    """
    named = {"everything": True} if everything or as_json else {}
    is_name = model in [learner.name for learner in learners()] and not Path(model).exists()
    if show_code and is_name:
        script = Script()
        script.need("from sortal.tasks.show import options_of")
        script.add(f"shown = {call('options_of', model)}")
        script.finish("shown", form, as_json, output)
        emit(str(script))
        return
    if is_name:
        from sortal.tasks.show import options_of

        emit_record(options_of(model), form, as_json, output)
        return
    if show_code:
        script = Script()
        script.load(model)
        script.need("from sortal.tasks.show import show")
        script.add(f"shown = {call('show', Name('model'), **named)}")
        script.finish("shown", form, as_json, output)
        emit(str(script))
        return
    from sortal.tasks.show import show as task

    check_output(output, model)
    emit_record(task(model, **named), form, as_json, output)


# --- `sortal working` -----------------------------------------------------------------------------

WORK_EXAMPLES = (
    "sortal working penguins.csv --target species --learner bayes --row 7",
    "sortal working penguins.csv -t species --learner tree --node 1",
    "sortal working penguins.csv -t species --learner lda --format html -o working.html",
)

Node = Annotated[
    int | None,
    typer.Option(
        "--node",
        metavar="N",
        help="Of a tree, the node to work out; the root is 0.",
        parser=o.whole,
    ),
]


def working(
    data: o.Data,
    target: o.Target,
    learner: o.LearnerName = "tree",
    setting: o.Settings = None,
    row: o.Rows = None,
    node: Node = None,
    form: o.Format = "text",
    output: o.Output = None,
    *,
    columns: o.Columns,
    reading: o.Reading,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    everything: o.All = False,
) -> None:
    """Show the textbook's working for a table.

    A learner is fitted, and every number of the fit is shown with the tag of its formula. A tree
    is not pruned unless an option of pruning is set; --set categorical_split=multiway gives it a
    branch per value, as ID3 does and as textbooks work Play Tennis. Of many tables and long ones
    the beginning is shown, unless --all is given.
    """
    named: dict[str, Any] = {"learner": learner} if learner != "tree" else {}
    settings = read_settings(setting)
    given = {"options": settings, "rows": row, "node": node}
    named |= {name: value for name, value in given.items() if value not in (None, [], {})}
    named |= columns
    whole = everything or as_json
    if show_code:
        script = Script()
        script.read(data, reading.named)
        script.add(f"working = {call('sortal.working', TABLE, target, **named)}")
        if everything and form == "text":  # print(working) would print the beginning
            script.add("working = working.to_text()")
        elif not whole and form != "text":
            script.add("working = working.short()")
        script.finish("working", form, as_json, output)
        emit(str(script))
        return
    from sortal.tasks.predict import working as task

    check_output(output, data)
    find(learner).make(**settings)  # what is wrong is said before the data is read
    shown = task(open_data(data, reading.named), target, **named)
    emit_record(shown if whole else shown.short(), form, as_json, output)
