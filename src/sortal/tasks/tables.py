"""Tables from whatever is given. (Files follow.)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Opened:
    """A frame, and the file that it came from."""

    frame: Any
    file: Any = None


def open_table(data: Any, **_: Any) -> Opened:
    """A data frame as it is."""
    return Opened(data)
