"""Freeze what users see, so that a change of the inside can prove that nothing else changed.

    python tools/pins.py            all pins
    python tools/pins.py 'trees/*'  those whose names match: the ones that a change means

writes tests/pins/frozen: records of every learner on six tables, signatures of all public names,
what the commands say, the facts of reports, drawings of trees and model files. The tests make all
of it again and name the first difference. Pins go by public names, so that they survive a move.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from decimal import Decimal
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.docs import NEW_YEAR

from tools import pinned, pinned_commands

if TYPE_CHECKING:
    from collections.abc import Callable

FROZEN = Path(__file__).resolve().parent.parent / "tests" / "pins" / "frozen"
PINS: dict[str, Callable[[], Any]] = pinned.PINS | pinned_commands.PINS

# Processors add up in their own order, and 9 digits are written; what is nearly 0 has no digits.
RELATIVE, ABSOLUTE = 1e-6, 1e-9
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+(?:e[-+]\d+)?|e[-+]\d+)(?!\w)")  # no part of a hash


def frozen(name: str) -> Any:
    """What a pin was: a text, or what JSON holds."""
    text = (FROZEN / name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else text


def made(name: str) -> Any:
    """What a pin is now, in the same form; numbers by nine digits."""
    with patch.dict(os.environ, {"SOURCE_DATE_EPOCH": NEW_YEAR}):
        now = PINS[name]()
    if not name.endswith(".json"):
        return now
    return json.loads(json.dumps(now), parse_float=lambda digits: float(f"{float(digits):.9g}"))


def first_difference(before: Any, now: Any, place: str = "") -> str | None:
    """Where two things differ first, in words; None where they are the same."""
    if isinstance(before, str) and isinstance(now, str) and "\n" in before + now:
        return first_difference(before.split("\n"), now.split("\n"), f"{place} line")
    if isinstance(before, list) and isinstance(now, list):
        before, now = dict(enumerate(before, 1)), dict(enumerate(now, 1))
    if isinstance(before, dict) and isinstance(now, dict):
        both = [key for key in before if key in now]
        found = (first_difference(before[key], now[key], f"{place}/{key}") for key in both)
        told = next(filter(None, found), None)
        if told or list(before) == list(now):
            return told
        before, now = ([key for key in keys if key not in both] for keys in (before, now))
        return f"{place}: {before!r:.200} became {now!r:.200}, or another order"
    return None if _same(before, now) else f"{place}: {before!r:.200} became {now!r:.200}"


def _same(before: Any, now: Any) -> bool:
    if type(before) is not type(now):
        return False
    if isinstance(before, float) and math.isfinite(before):
        return math.isclose(before, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return _same_text(before, now) if isinstance(before, str) else bool(before == now)


def _same_text(before: str, now: str) -> bool:
    """Whether two texts agree up to one in the last digit of their fractions."""
    pairs = zip(_NUMBER.findall(before), _NUMBER.findall(now), strict=False)
    alike = _NUMBER.sub("#", before) == _NUMBER.sub("#", now)
    return alike and all(_close(old, new) for old, new in pairs)


def _close(before: str, now: str) -> bool:
    last_digit = 1.01 * 10.0 ** int(Decimal(before).as_tuple().exponent)
    return math.isclose(float(before), float(now), rel_tol=RELATIVE, abs_tol=last_digit)


def main(*wanted: str) -> None:
    """Write the pins whose names match, or all; take out what is none any more."""
    names = [name for name in PINS if any(fnmatch(name, pattern) for pattern in wanted or ["*"])]
    for name in names:
        path, now = FROZEN / name, made(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = now if isinstance(now, str) else json.dumps(now, ensure_ascii=False, indent=0) + "\n"
        path.write_text(text, encoding="utf-8")
    for path in FROZEN.rglob("*.*"):
        if path.relative_to(FROZEN).as_posix() not in PINS:
            path.unlink()
    print(f"wrote {len(names)} of {len(PINS)} pins; look at the difference")


if __name__ == "__main__":
    main(*sys.argv[1:])
