"""`sortal show`."""

from __future__ import annotations

from sortal.cli import options as o
from sortal.cli.code import Script
from sortal.cli.outputs import check_output, emit, emit_record
from sortal.cli.telling import hush

EXAMPLES = (
    "sortal show model.sortal",
    "sortal show model.sortal --format html -o model.html",
)


def show(
    model: o.Model,
    form: o.Format = "text",
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    quiet: o.Quiet = False,
) -> None:
    """Show a model and how it decides.

    What it is, what it was learned from, its options, and its rules or functions or tables.
    """
    hush(quiet)
    if show_code:
        script = Script()
        script.load(model)
        script.need("from sortal.tasks.show import show")
        script.add("shown = show(model)")
        script.finish("shown", form, as_json, output)
        emit(str(script))
        return
    from sortal.tasks.show import show as task

    check_output(output, model)
    emit_record(task(model), form, as_json, output)
