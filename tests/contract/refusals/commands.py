"""What commands refuse before they do anything; `tests/cli/test_problems.py` has their endings."""

from __future__ import annotations

from typing import Final

from tests.contract.refusals.table import Refusal

from sortal.cli.options import read_settings
from sortal.errors import ParameterError

REFUSALS: Final = [
    Refusal(
        "a setting without a value", lambda: read_settings(["a"]), ParameterError, "max_depth=3"
    ),
    Refusal(
        "a setting without a name", lambda: read_settings(["=1"]), ParameterError, "max_depth=3"
    ),
    Refusal("a setting twice", lambda: read_settings(["a=1", "a=2"]), ParameterError, "twice"),
]
