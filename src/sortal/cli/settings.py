"""Options of a learner, given as `--set name=value`."""

from __future__ import annotations

import json
import math
from typing import Any

from sortal.errors import OptionError

_WORDS = {"None": None, "True": True, "False": False, "inf": math.inf}  # as Python has them


def read_settings(given: list[str] | None) -> dict[str, Any]:
    """Values by name; a value is JSON, or else a word."""
    settings: dict[str, Any] = {}
    for setting in given or ():
        name, sign, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise OptionError(
                f"--set {setting!r} cannot be read: give a name and a value, such as max_depth=3."
            )
        if name in settings:
            raise OptionError(f"--set names {name!r} twice: give each option once.")
        settings[name] = _read_value(value)
    return settings


def _read_value(value: str) -> Any:
    if value in _WORDS:
        return _WORDS[value]
    try:
        return json.loads(value)
    except (json.JSONDecodeError, RecursionError):
        return value
