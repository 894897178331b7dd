"""`sortal predict` and `sortal explain`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from sortal.cli import options as o
from sortal.cli.options import Script, costs_as_typed, open_data, read_cost_options
from sortal.cli.output import (
    STDOUT,
    check_output,
    emit,
    emit_record,
    emit_table,
    json_text,
    plain_records,
    show_steps,
)
from sortal.errors import ParameterError
from sortal.tasks.options import Name, call

PREDICT_EXAMPLES = (
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

ExcelSafe = Annotated[
    bool,
    typer.Option(
        "--excel-safe",
        help="Put an apostrophe before texts of a CSV file that begin with =, +, - or @.",
    ),
]


def predict(
    model: o.Model,
    data: o.Data,
    proba: Proba = False,
    keep: Keep = None,
    cost: o.Cost = None,
    threshold: o.Threshold = None,
    form: Form = None,
    output: o.Output = None,
    excel_safe: ExcelSafe = False,
    *,
    reading: o.Reading,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Predict the classes of rows.

    The result is a table: the number of each row, counted from 1, and what is said of it.
    """
    if excel_safe and as_json:
        raise ParameterError("--excel-safe is for CSV files: leave it or --json out.")
    written = {"excel_safe": True} if excel_safe else {}
    costs = read_cost_options(cost, threshold)
    asked: dict[str, Any] = {"proba": proba, "keep": keep, "costs": costs}
    asked = {name: value for name, value in asked.items() if value}
    if show_code:
        script = Script()
        script.load(model)
        script.need("from sortal.tasks.predict import predict")
        script.add(f"said = {call('predict', Name('model'), data, **asked, **reading.named)}")
        if as_json:
            script.need("from sortal.cli.output import json_text, plain_records")
            script.write("json_text(plain_records(said))", output)
        else:
            script.need("from sortal.tasks.tables import write_table")
            forms = () if form is None else (form,)
            script.add(call("write_table", Name("said"), output or STDOUT, *forms, **written))
        emit(str(script))
        return
    from sortal.data.files.write import format_of
    from sortal.tasks.load import as_model
    from sortal.tasks.predict import predict as task

    check_output(output, model, data)
    if not as_json and output is not None:
        format_of(output, form)
    loaded = as_model(model, data)
    with show_steps(data, 2) as step:
        step(f"reading {data}")
        opened = open_data(data, reading.named, loaded)
        step("predicting")
        with costs_as_typed(costs):
            table = task(loaded, opened, **asked)
    if as_json:
        emit(json_text(plain_records(table)), output)
    else:
        emit_table(table, form, output, **written)


# --- `sortal explain` ----------------------------------------------------------------------------

EXPLAIN_EXAMPLES = (
    "sortal explain model.sortal penguins.csv --row 7",
    "sortal explain model.sortal penguins.csv --row 1 --row 271 --format md",
)


def explain(
    model: o.Model,
    data: o.Data,
    row: o.Rows = None,
    form: o.Format = "text",
    output: o.Output = None,
    *,
    reading: o.Reading,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Say why, for single rows, in parts that add up.

    Rows are numbered as predict numbers them, from 1. Without --row, the first 20 rows are shown;
    --json has them all.
    """
    if show_code:
        script = Script()
        script.load(model)
        script.need("from sortal.tasks.predict import explain")
        rows = () if row is None else (list(dict.fromkeys(row)),)
        script.add(f"why = {call('explain', Name('model'), data, *rows, **reading.named)}")
        script.finish("why", form, as_json, output)
        emit(str(script))
        return
    from sortal.tasks.load import as_model
    from sortal.tasks.predict import explain as task

    check_output(output, model, data)
    loaded = as_model(model, data)
    with show_steps(data, 2) as step:
        step(f"reading {data}")
        opened = open_data(data, reading.named, loaded)
        step("explaining")
        why = task(loaded, opened, row)
    emit_record(why, form, as_json, output)
