"""Write docs/model_file.schema.json, the JSON Schema of manifests, which follows from the records.

python tools/model_schema.py            write it
python tools/model_schema.py --check    change nothing; fail if it is out of date
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from functools import singledispatch
from pathlib import Path
from typing import Any

from sortal.base.save import FitCall, kept_of
from sortal.modelfile import fields
from sortal.modelfile.archive import FORMAT, VERSION
from sortal.modelfile.arrays import TYPES
from sortal.modelfile.fields import (
    KINDS,
    LABEL_TYPE,
    Array,
    LabelType,
    OptionsField,
    SchemaField,
    ValuesField,
)
from sortal.modelfile.record import OneOf, RecordField
from sortal.modelfile.values import ODD
from sortal.tasks.registry import estimator_named, learners

SCHEMA = Path(__file__).resolve().parent.parent / "docs" / "model_file.schema.json"
ESTIMATORS = tuple(learner.class_name for learner in learners())
# Bounds beyond it are those of float64 itself.
LARGE = 1e308


def schema() -> dict[str, Any]:
    """The JSON Schema of a manifest."""
    defs = dict(COMMON)
    cases = []
    for name in ESTIMATORS:
        kept = dict(kept_of(estimator_named(name)))
        model = kept.pop("model")
        then = {"state": _object(kept, defs), "model": _schema_of(model, defs)}
        condition = {"properties": {"estimator": {"const": name}}}
        cases.append({"if": condition, "then": {"properties": then}})
    plain = {"$ref": "#/$defs/plain"}
    parts: dict[str, Any] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "library": {"type": "string"},
        "estimator": {"type": "string"},
        "options": {"type": "object", "additionalProperties": plain},
        "schema": {"$ref": "#/$defs/schema"},
        "state": {"type": "object"},
        "data": DATA,
        "model": {"type": "object"},
        "arrays": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"manifest.json of a model file of sortal, version {VERSION}",
        **_closed(parts),
        "allOf": cases,
        "$defs": dict(sorted(defs.items())),
    }


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


VALUE = {"type": ["string", "boolean", "number"]}
# A label, or a tuple of labels.
KEY: dict[str, Any] = {
    "anyOf": [VALUE, {"type": "array", "items": {"type": [*VALUE["type"], "null"]}}]
}
DEF = {name: {"$ref": f"#/$defs/{name}"} for name in ("plain", "values", "schema", "odd", "column")}
COUNT = {"type": "integer", "minimum": 0}
COMMON: dict[str, Any] = {
    "odd": _closed({"number": {"enum": list(ODD)}}),
    "plain": {
        "anyOf": [
            {"type": ["null", "boolean", "number", "string"]},
            DEF["odd"],
            {"type": "array", "items": DEF["plain"]},
            _closed({"pairs": {"type": "array", "items": {"type": "array", "prefixItems": [KEY]}}}),
        ]
    },
    "values": {"type": "array", "items": VALUE},
    "column": _closed(
        {
            "name": {"type": "string"},
            "kind": {"enum": list(KINDS)},
            "values": DEF["values"],
            "order": DEF["values"],
        }
    ),
    "schema": _closed(
        {
            "columns": {"type": "array", "items": DEF["column"], "minItems": 1},
            "classes": DEF["values"],
        }
    ),
    "array": _closed({"array": {"type": "string"}}),
    "entry": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,200}$"},
            "type": {"enum": list(TYPES)},
            "shape": {"type": "array", "items": COUNT, "maxItems": 3},
            "axes": {"type": "array", "items": COUNT, "maxItems": 3},
        },
        "required": ["name", "type", "shape"],
        "additionalProperties": False,
    },
}


@singledispatch
def _schema_of(kind: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a field."""
    raise TypeError(f"{kind}, {len(defs)}: a field without a JSON Schema")


def _plainly(described: dict[str, Any]) -> Any:
    return lambda kind, defs: described  # noqa: ARG005


_schema_of.register(fields.Flag)(_plainly({"type": "boolean"}))
_schema_of.register(fields.CellField)(_plainly(DEF["plain"]))
_schema_of.register(SchemaField)(_plainly(DEF["schema"]))
_schema_of.register(ValuesField)(_plainly(DEF["values"]))
_schema_of.register(LabelType)(_plainly({"type": "string", "pattern": f"^({LABEL_TYPE.pattern})$"}))


@_schema_of.register
def _(kind: fields.Whole, defs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    return {"type": "integer", "minimum": kind.least, "maximum": kind.most}


@_schema_of.register
def _(kind: fields.Number, defs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    bounds = {"minimum": kind.least, "maximum": kind.most}
    finite = {"type": "number"} | {w: b for w, b in bounds.items() if abs(b) < LARGE}
    ends = [word for word, x in ODD.items() if x in (kind.least, kind.most)]
    return finite if not ends else {"anyOf": [finite, _closed({"number": {"enum": ends}})]}


@_schema_of.register
def _(kind: fields.Word, defs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    return {"enum": list(kind.choices)} if kind.choices else {"type": "string"}


@_schema_of.register(fields.OptionalField)
def _(kind: fields.OptionalField[Any], defs: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [{"type": "null"}, _schema_of(kind.kind, defs)]}


@_schema_of.register(fields.Several)
def _(kind: fields.Several[Any], defs: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _schema_of(kind.kind, defs)}


@_schema_of.register(fields.Named)
def _(kind: fields.Named[Any], defs: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": _schema_of(kind.kind, defs)}


@_schema_of.register
def _(kind: Array, defs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    types = kind.code.replace("|", " or ")
    return {"$ref": "#/$defs/array", "description": f"{types} ({', '.join(kind.dims)})"}


@_schema_of.register(RecordField)
def _(kind: RecordField[Any], defs: dict[str, Any]) -> dict[str, Any]:
    name = kind.cls.__name__
    if name not in defs:
        defs[name] = {}
        defs[name] = _object(kind.written, defs)
    return {"$ref": f"#/$defs/{name}"}


@_schema_of.register
def _(kind: OneOf, defs: dict[str, Any]) -> dict[str, Any]:
    options = []
    for word, record in kind.records.items():
        found = _object(record.written, defs)
        options.append(_closed({"is": {"const": word}, **found["properties"]}))
    return {"oneOf": options}


@_schema_of.register(OptionsField)
def _(kind: OptionsField[Any], defs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    names = [option.name for option in dataclasses.fields(kind.cls)]
    return _closed(dict.fromkeys(names, DEF["plain"]))


def _object(written: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    return _closed({name: _schema_of(kind, defs) for name, kind in written.items()})


DATA = _closed(
    {
        "rows": {"type": ["integer", "null"], "minimum": 0},
        "fingerprint": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
        "of": {"type": "string"},
        "fit": {"anyOf": [{"type": "null"}, _object(RecordField(FitCall).written, COMMON)]},
    }
)


def main() -> int:
    """Write the file, or say that it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    check, text = parser.parse_args().check, made()
    if SCHEMA.exists() and SCHEMA.read_text(encoding="utf-8") == text:
        return 0
    print(f"{'out of date' if check else 'wrote'}: {SCHEMA.name}")
    if not check:
        SCHEMA.write_text(text, encoding="utf-8")
    return int(check)


def made() -> str:
    """The file as it should be."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
