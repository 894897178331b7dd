"""`sortal predict`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from sortal.cli import options as o
from sortal.cli.code import Name, Script, call
from sortal.cli.outputs import STDOUT, check_output, emit, emit_table, json_text, plain_records
from sortal.cli.progress import show_steps
from sortal.cli.reading import open_data, reading
from sortal.cli.telling import hush, is_quiet

EXAMPLES = (
    "sortal predict model.sortal penguins.csv",
    "sortal predict model.sortal penguins.csv --proba --keep species -o said.csv",
    "cat penguins.csv | sortal predict model.sortal - --format jsonl",
)

TableFormat = Literal["csv", "jsonl", "parquet"]
Proba = Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="Copy a column.", show_default=False),
]
Form = Annotated[
    TableFormat | None,
    typer.Option("--format", "-f", help="If not given, by the name of the output; else CSV."),
]


def predict(
    model: o.Model,
    data: o.Data,
    proba: Proba = False,
    keep: Keep = None,
    form: Form = None,
    output: o.Output = None,
    text: o.Text = None,
    na_values: o.NaValues = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = None,
    decimal: o.Decimal = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    quiet: o.Quiet = False,
) -> None:
    """Predict the classes of rows.

    The result is a table: the number of each row, counted from 1, and what is said of it.
    """
    hush(quiet)
    how = reading(na_values, text, delimiter, encoding, header, decimal)
    if show_code:
        emit(str(_code(model, data, how, proba, keep or [], "json" if as_json else form, output)))
        return
    from sortal.data.files.saving import format_of
    from sortal.tasks.models import as_model
    from sortal.tasks.predict import predict as task

    check_output(output, model, data)
    if not as_json and output is not None:
        format_of(output, form)
    loaded = as_model(model, data)
    with show_steps(is_quiet(), data, 2) as step:
        step(f"reading {data}")
        opened = open_data(data, how, loaded)
        step("predicting")
        table = task(loaded, opened, proba=proba, keep=keep or ())
    if as_json:
        emit(json_text(plain_records(table)), output)
    else:
        emit_table(table, form, output)


def _code(
    model: str,
    data: str,
    how: dict[str, Any],
    proba: bool,
    keep: list[str],
    form: str | None,
    output: str | None,
) -> Script:
    script = Script()
    script.load(model)
    script.need("from sortal.tasks.predict import predict")
    named = {"proba": proba, "keep": keep}
    asked = {name: value for name, value in named.items() if value}
    script.add(f"said = {call('predict', Name('model'), data, **asked, **how)}")
    if form == "json":
        script.need("from sortal.cli.outputs import json_text, plain_records")
        script.write("json_text(plain_records(said))", output)
        return script
    script.need("from sortal.tasks.tables import write_table")
    given = () if form is None else (form,)
    script.add(call("write_table", Name("said"), output or STDOUT, *given))
    return script
