"""`sortal predict`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from sortal.cli import options as o
from sortal.cli.code import Script, call
from sortal.cli.outputs import STDOUT, check_output, emit, emit_table, json_text, plain_records
from sortal.cli.reading import open_data, reading
from sortal.cli.telling import hush

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
    holes: o.Holes = None,
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
    how = reading(holes, text, delimiter, encoding, header, decimal)
    if show_code:
        emit(str(_code(model, data, how, proba, keep or [], "json" if as_json else form, output)))
        return
    from sortal.tasks.load import load
    from sortal.tasks.predict import predict as task

    check_output(output, model, data)
    loaded = load(model)
    table = task(loaded, open_data(data, how, loaded), proba=proba, keep=keep or ())
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
    from sortal.data.files.saving import format_of

    form = form or format_of(output or "", None)
    script = Script()
    script.need("import pandas as pd")
    script.load(model)
    script.read_for(model, data, how)
    script.add(
        "said = pd.DataFrame({'row': range(1, len(table) + 1), 'prediction': model.predict(table)})"
    )
    if proba:
        script.add("said[[f'P({c})' for c in model.classes_]] = model.predict_proba(table)")
    script.add(*(f"said[{name!r}] = table[{name!r}]" for name in dict.fromkeys(keep)))
    where = None if output in (None, STDOUT) else output
    if form == "parquet":
        script.need("import duckdb")
        script.add(call("duckdb.sql('SELECT * FROM said').write_parquet", where or "/dev/stdout"))
        return script
    if form == "csv":
        options: dict[str, Any] = {"index": False}
        given = [] if where is None else [where]
        line = call("said.to_csv", *given, **options)
        script.add(line if given else f"print({line}, end='')")
        return script
    script.need("import json")
    if keep:
        script.add("said = said.astype(object).where(said.notna(), None)")
    script.add("rows = said.to_dict('records')")
    if keep:
        script.add(
            "odd = [float('inf'), float('-inf')]",
            "rows = [{k: str(v) if v in odd else v for k, v in row.items()} for row in rows]",
        )
    strict = "ensure_ascii=False, allow_nan=False"
    script.add(
        f"text = json.dumps(rows, indent=2, {strict})"
        if form == "json"
        else f"text = '\\n'.join(json.dumps(row, {strict}) for row in rows)"
    )
    script.write("text", where)
    return script
