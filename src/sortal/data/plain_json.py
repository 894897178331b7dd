"""Values that JSON does not have, as it can say them: a hole is null, an infinity is a word."""

from __future__ import annotations

import json
import math
from numbers import Number
from typing import Any


def is_hole(cell: Any) -> bool:
    """Whether there is no value, by what the cell is; never by its text, which may be any word."""
    kind = type(cell)
    if cell is None:
        return True
    if kind.__name__ in {"NAType", "NaTType"}:
        return kind.__module__.startswith("pandas.")
    is_moment = kind.__module__ == "numpy" and kind.__name__ in {"datetime64", "timedelta64"}
    return (is_moment or isinstance(cell, Number)) and bool(cell != cell)  # noqa: PLR0124


def dump_json(value: Any, indent: int | None = None) -> str:
    """A JSON text that every reader takes: it has neither NaN nor Infinity."""
    return json.dumps(
        _plain(value), indent=indent, ensure_ascii=False, default=str, allow_nan=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if is_hole(value):
        return None
    return _key(value)


def _key(value: Any) -> Any:
    return str(float(value)) if isinstance(value, float) and not math.isfinite(value) else value
