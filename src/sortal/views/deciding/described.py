"""What every kind of model tells a page of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.data.schema import Schema

    Ends = tuple[float, float] | None


@dataclass(frozen=True)
class Described:
    """A model of some `kind`, as the page's script knows it, over the columns that it asks.

    `columns` are places in the schema, in the order of the form; `ranges` say of each where its
    numbers lie, exactly or (`about`) roughly. `numbers` are what the script calculates with, and
    `holes` those of them that only rows with holes need. `words` name what it shows.
    """

    kind: str
    schema: Schema
    columns: tuple[int, ...]
    ranges: tuple[Ends, ...]
    numbers: Mapping[str, Any]
    words: Mapping[str, str] = field(default_factory=dict)
    holes: Mapping[str, Any] | None = None
    about: str = "about "
    largest: float | None = None
