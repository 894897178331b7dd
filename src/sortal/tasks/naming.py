"""Words of messages: the names nearest to one that users give."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sortal.errors import ColumnError, listed

if TYPE_CHECKING:
    from collections.abc import Sequence


def nearest_first(given: str, known: Sequence[str]) -> list[str]:
    """All known names, those most like a given one first, however it is capitalized."""
    lower = {name.lower(): name for name in known}
    near = [lower[name] for name in get_close_matches(given.lower(), lower, n=3, cutoff=0.5)]
    return near + [name for name in known if name not in near]


def check_columns(names: Sequence[str], columns: Sequence[str], what: str) -> None:
    """Every name is a column; `what` says where the names stand."""
    for name in names:
        if name not in columns:
            there = listed(nearest_first(str(name), columns))
            raise ColumnError(f"{what}={name!r} is no column of this table: it has {there}.")


def features_among(categories: Sequence[str], target: str) -> list[str]:
    """The names of columns that are declared to be categories, without the target."""
    return [name for name in categories if name != target]
