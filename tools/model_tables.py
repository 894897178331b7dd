"""Write the tables of docs/model_file.md, which follow from the records.

python tools/model_tables.py            write them
python tools/model_tables.py --check    change nothing; fail if they are out of date
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import math
import re
import textwrap
from functools import singledispatch
from pathlib import Path
from typing import Any

from sortal.base.save import STATE, kept_of
from sortal.modelfile import fields
from sortal.modelfile.fields import Array, LabelType, OptionsField, SchemaField, ValuesField
from sortal.modelfile.record import OneOf, RecordField
from sortal.tasks.registry import estimator_named

PAGE = Path(__file__).resolve().parent.parent / "docs" / "model_file.md"
MARKS = re.compile(r"(<!-- tables of (\w+) -->\n).*?(<!-- end -->\n)", re.S)
# Bounds beyond it are those of float64 itself.
LARGE = 1e308


class Tables:
    """The tables of a page; a record is described where it is met first."""

    def __init__(self) -> None:
        self.described: set[str] = set()
        self.open: dict[str, RecordField[Any]] = {}

    def of(self, name: str) -> str:
        """What an estimator keeps beyond all others; what all keep, for their base class."""
        of_all = name == "TableClassifier"
        kept = STATE if of_all else kept_of(estimator_named(name))
        own = {field: kept[field] for field in kept if of_all or field not in STATE}
        parts = [self._table(own)]
        while self.open:
            record = self.open.pop(next(iter(self.open)))
            self.described.add(record.cls.__name__)
            parts.append(self._describe(record))
        return "\n".join(parts)

    def _describe(self, record: RecordField[Any]) -> str:
        name = record.cls.__name__
        words = _flowing(f"**{name}**. " + inspect.cleandoc(record.cls.__doc__ or ""))
        return f"{words}\n\n{self._table(record.written)}"

    def _table(self, layout: dict[str, Any]) -> str:
        lines = ["| field | is |", "|---|---|"]
        for name, kind in layout.items():
            self._note(kind)
            lines.append(f"| `{name}` | {_words(kind)} |")
        return "\n".join(lines) + "\n"

    def _note(self, kind: Any) -> None:
        """Remember records to be described."""
        if isinstance(kind, fields.OptionalField | fields.Several | fields.Named):
            self._note(kind.kind)
        for record in kind.records.values() if isinstance(kind, OneOf) else [kind]:
            if isinstance(record, RecordField) and record.cls.__name__ not in self.described:
                self.open.setdefault(record.cls.__name__, record)


def _flowing(words: str) -> str:
    """The paragraphs of a docstring."""
    paragraphs = [" ".join(p.split()) for p in words.split("\n\n")]
    return "\n\n".join(textwrap.fill(p, 100, break_long_words=False) for p in paragraphs)


@singledispatch
def _words(kind: Any) -> str:
    """What a field is, in words."""
    raise TypeError(f"{kind}: a field without words")


_words.register(fields.Flag)(lambda kind: "true or false")  # noqa: ARG005
_words.register(fields.CellField)(lambda kind: "a cell, as plain data")  # noqa: ARG005
_words.register(SchemaField)(lambda kind: "a schema")  # noqa: ARG005
_words.register(LabelType)(lambda kind: "a type of labels")  # noqa: ARG005
_words.register(fields.OptionalField)(lambda kind: f"null, or {_words(kind.kind)}")
_words.register(fields.Named)(lambda kind: f"by name: {_words(kind.kind)}")


@_words.register
def _(kind: fields.Whole) -> str:
    return "a whole number" + _bounds(kind.least, kind.most, 2**62)


@_words.register
def _(kind: fields.Number) -> str:
    return "a number" + _bounds(kind.least, kind.most, LARGE)


@_words.register
def _(kind: fields.Word) -> str:
    return "text" if not kind.choices else "one of " + ", ".join(f'"{c}"' for c in kind.choices)


@_words.register
def _(kind: ValuesField) -> str:
    return "a list of values" + _length(kind.dim)


@_words.register(fields.Several)
def _(kind: fields.Several[Any]) -> str:
    length = f" of {kind.dim}" if kind.dim.isdigit() else _length(kind.dim)
    return f"a list{length}: {_words(kind.kind)}"


def _length(dim: str) -> str:
    return "" if dim == "*" else f", one for each of the {dim}"


@_words.register
def _(kind: Array) -> str:
    odd, floating = ["NaN"] if kind.nan else [], kind.code.endswith("f8")
    if floating:
        odd += [word for word, end in (("-∞", kind.least), ("∞", kind.most)) if math.isinf(end)]
    most = LARGE if floating else float("inf")
    allowed = f" ({' and '.join(odd)} allowed)" if odd else ""
    types = kind.code.replace("|", " or ")
    return f"{types} ({', '.join(kind.dims)}){_bounds(kind.least, kind.most, most)}{allowed}"


@_words.register(OptionsField)
def _(kind: OptionsField[Any]) -> str:
    return "options: " + ", ".join(option.name for option in dataclasses.fields(kind.cls))


@_words.register(RecordField)
def _(kind: RecordField[Any]) -> str:
    passed = ", ".join(f"{mine} = {theirs}" for mine, theirs in kind.passed.items())
    return f"`{kind.cls.__name__}`" + (f" with {passed}" if passed else "")


@_words.register
def _(kind: OneOf) -> str:
    return " or ".join(f'`{r.cls.__name__}` with "is": "{w}"' for w, r in kind.records.items())


def _bounds(least: float, most: float, none: float) -> str:
    low = f" from {least:g}" if abs(least) < none else ""
    high = f" to {most:g}" if abs(most) < none else ""
    return f" of at least {least:g}" if low and not high else low + high


def made() -> str:
    """The page as it should be."""
    tables = Tables()
    page = PAGE.read_text(encoding="utf-8")
    return MARKS.sub(lambda m: f"{m[1]}\n{tables.of(m[2])}\n{m[3]}", page)


def main() -> int:
    """Write the page, or say that it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    check, text = parser.parse_args().check, made()
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{'out of date' if check else 'wrote'}: {PAGE.name}")
    if not check:
        PAGE.write_text(text, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    raise SystemExit(main())
