"""The page and the JSON Schema of the model file follow from the records."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sortal import TreeClassifier, datasets
from sortal.base.save import parts_of
from sortal.modelfile.archive import FORMAT, VERSION

ROOT = Path(__file__).resolve().parent.parent


def tool(name: str) -> Any:
    spec = spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_json_schema_is_that_of_the_records() -> None:
    made = tool("model_schema").made()
    assert (ROOT / "docs" / "model_file.schema.json").read_text(encoding="utf-8") == made
    jsonschema.Draft202012Validator.check_schema(json.loads(made))


def test_the_tables_of_the_page_are_those_of_the_records() -> None:
    page = (ROOT / "docs" / "model_file.md").read_text(encoding="utf-8")
    assert tool("model_tables").made() == page
    assert page.count("<!-- tables of") == 9


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"more": 1},
        {"model": {}},
        {"state": {}},
        {"data": {}},
        {"arrays": [{"name": "a", "type": "f2", "shape": [1]}]},
        {"schema": {"columns": [], "classes": []}},
    ],
)
def test_the_json_schema_refuses_what_a_reader_would(change: dict[str, Any]) -> None:
    parts = parts_of(TreeClassifier().fit(datasets.iris(), "species")).manifest
    manifest = {"format": FORMAT, "version": VERSION, **parts}
    validator = jsonschema.Draft202012Validator(tool("model_schema").schema())
    validator.validate(manifest)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**manifest, **change})
