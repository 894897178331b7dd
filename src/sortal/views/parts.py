"""A part of a page that a script brings to life: its HTML, and the data that the script reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Part:
    """One element, `<div data-part-of="id">`, whose texts are escaped, and plain data for JSON.

    `kind` says which function of the page's script starts it. Without the script it can be read.
    """

    id: str
    kind: Literal["tree", "decide"]
    html: str
    data: Mapping[str, Any]
