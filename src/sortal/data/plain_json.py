"""Values that JSON does not have, as it can say them: a hole is null, an infinity is a word."""

from __future__ import annotations

import json
import math
from typing import Any

from sortal.data.values import is_hole


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
