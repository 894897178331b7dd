"""`sortal explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.cli import options as o
from sortal.cli.code import Name, Script, call
from sortal.cli.outputs import check_output, emit, emit_record
from sortal.cli.progress import show_steps
from sortal.cli.reading import open_data, reading
from sortal.cli.telling import hush, is_quiet

if TYPE_CHECKING:
    from sortal.cli.options import TextFormat

EXAMPLES = (
    "sortal explain model.sortal penguins.csv --row 7",
    "sortal explain model.sortal penguins.csv --row 1 --row 271 --format md",
)


def explain(
    model: o.Model,
    data: o.Data,
    row: o.Rows = None,
    form: o.Format = "text",
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
    """Say why, for single rows, in parts that add up.

    Rows are numbered as predict numbers them, from 1. Without --row, the first 20 rows are shown;
    --json has them all.
    """
    hush(quiet)
    how = reading(na_values, text, delimiter, encoding, header, decimal)
    if show_code:
        emit(str(_code(model, data, how, row, form, as_json, output)))
        return
    from sortal.tasks.explain import explain as task
    from sortal.tasks.models import as_model

    check_output(output, model, data)
    loaded = as_model(model, data)
    with show_steps(is_quiet(), data, 2) as step:
        step(f"reading {data}")
        opened = open_data(data, how, loaded)
        step("explaining")
        why = task(loaded, opened, row)
    emit_record(why, form, as_json, output)


def _code(
    model: str,
    data: str,
    how: dict[str, Any],
    rows: list[int] | None,
    form: TextFormat,
    as_json: bool,
    output: str | None,
) -> Script:
    script = Script()
    script.load(model)
    script.need("from sortal.tasks.explain import explain")
    given = () if rows is None else (list(dict.fromkeys(rows)),)
    script.add(f"why = {call('explain', Name('model'), data, *given, **how)}")
    script.finish("why", form, as_json, output)
    return script
