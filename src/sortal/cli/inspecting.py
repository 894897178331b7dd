"""`sortal inspect`."""

from __future__ import annotations

from typing import Any

from sortal.cli import options as o
from sortal.cli.code import Script, call
from sortal.cli.outputs import check_output, emit, emit_record
from sortal.cli.reading import reading
from sortal.cli.telling import hush

EXAMPLES = (
    "sortal inspect penguins.csv",
    "sortal inspect penguins.csv --target species",
    "sortal inspect penguins.csv --target species --drop year --json",
)


def inspect(
    data: o.Data,
    target: o.MaybeTarget = None,
    drop: o.Drop = None,
    text: o.Text = None,
    na_values: o.NaValues = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = None,
    decimal: o.Decimal = None,
    form: o.Format = "text",
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    quiet: o.Quiet = False,
) -> None:
    """Look at a table: columns, holes, classes, findings.

    Every finding comes with the option of fit and compare that answers it.
    """
    hush(quiet)
    how = reading(na_values, text, delimiter, encoding, header, decimal)
    if show_code:
        emit(str(_code(data, target, drop, how, form, as_json, output)))
        return
    from sortal.tasks.inspect import inspect as task

    check_output(output, data)
    emit_record(task(data, target, drop=drop or (), **how), form, as_json, output)


def _code(
    data: str,
    target: str | None,
    drop: list[str] | None,
    how: dict[str, Any],
    form: o.TextFormat,
    as_json: bool,
    output: str | None,
) -> Script:
    script = Script()
    given = {"drop": drop} | how if drop else how
    script.add(f"found = {call('sortal.inspect', data, *filter(None, [target]), **given)}")
    script.finish("found", form, as_json, output)
    return script
