"""Python code that does what a command does, for `--show-code`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sortal.cli.options import TextFormat

# Longer calls have one argument a line.
_WIDTH = 88


class Name(str):
    """A variable, which stands in code as it is."""

    __slots__ = ()


TABLE = Name("table")


@dataclass
class Script:
    """Lines of code and what they import."""

    imports: list[str] = field(default_factory=lambda: ["import sortal"])
    lines: list[str] = field(default_factory=list)

    def need(self, line: str) -> None:
        """Import something, once."""
        if line not in self.imports:
            self.imports.append(line)

    def add(self, *lines: str) -> None:
        """More lines."""
        self.lines += lines

    def read(self, data: str, reading: dict[str, Any], drop: list[str] | None = None) -> None:
        """The data as `table`."""
        self.add(f"table = {call('sortal.read', data, **reading)}")
        if drop:
            self.add(f"table = {call('table.drop', columns=drop)}")

    def load(self, model: str) -> None:
        """The model as `model`."""
        self.add(f"model = {call('sortal.load', model)}")

    def finish(self, name: str, form: TextFormat, as_json: bool, output: str | None) -> None:
        """Print a record, or write it into a file."""
        told = {"text": f"str({name})", "md": f"{name}.to_markdown()", "html": f"{name}.to_html()"}
        text = told[form]
        if as_json:
            self.need("import json")
            text = f"json.dumps({name}.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)"
        if text.startswith("str("):
            self.write(name if output in (None, "-") else text, output)
        else:
            self.write(text, output)

    def write(self, text: str, output: str | None) -> None:
        """Print a text, or write it into a file, with an end of line."""
        if output in (None, "-"):
            self.add(f"print({text})")
            return
        self.need("from pathlib import Path")
        if text != "text":
            self.add(f"text = {text}")
        self.add(f'Path({output!r}).write_text(text + "\\n", encoding="utf-8")')

    def __str__(self) -> str:
        ordered = sorted(self.imports, key=lambda line: (line.startswith("from"), line))
        plain = [line for line in ordered if "sortal" not in line]
        ours = [line for line in ordered if "sortal" in line]
        heads = "\n\n".join("\n".join(part) for part in (plain, ours) if part)
        return "\n".join([heads, "", *self.lines])


def call(function: str, *given: Any, **named: Any) -> str:
    """A call with these values as its arguments."""
    parts = [_code_of(value) for value in given]
    parts += [f"{name}={_code_of(value)}" for name, value in named.items()]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _WIDTH:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{function}(\n{inner})"


def _code_of(value: Any) -> str:
    """A value as it stands in code; infinities and NaN have no name of their own there."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {_code_of(item)}' for name, item in value.items())}}}"
    return repr(value)
