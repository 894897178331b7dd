"""`sortal show`."""

from __future__ import annotations

from sortal.cli import options as o
from sortal.cli.code import Name, Script, call
from sortal.cli.outputs import check_output, emit, emit_record
from sortal.cli.telling import hush

EXAMPLES = (
    "sortal show model.sortal",
    "sortal show model.sortal --all --format html -o model.html",
)


def show(
    model: o.Model,
    form: o.Format = "text",
    output: o.Output = None,
    everything: o.All = False,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    quiet: o.Quiet = False,
) -> None:
    """Show a model and how it decides.

    What it is, what it was learned from, its options, and its rules or functions or tables; of
    many rules and long tables the beginning, unless --all is given.
    """
    hush(quiet)
    named = {"everything": True} if everything or as_json else {}
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
