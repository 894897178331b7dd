"""What a reader of files is asked for, and what all readers check alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sortal.data.files.missing_words import NA_WORDS
from sortal.errors import ColumnError, InputError, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.data.schema import Kind


@dataclass(frozen=True)
class Written:
    """How an earlier file was written, for what a file of the same kind leaves open."""

    delimiter: str | None = None
    decimal: str | None = None
    na_values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The wishes about a file."""

    delimiter: str | None
    header: bool | None
    decimal: str | None
    na_values: tuple[str, ...]
    """Words that mean a missing value, beside NA_WORDS."""
    named: tuple[str, ...]
    """Columns that are to stay text, and must be there."""
    known: Mapping[str, Kind] = field(default_factory=dict)
    """What columns are to a model, where the file has them; categories stay text."""
    like: Written = Written()

    @property
    def text(self) -> tuple[str, ...]:
        """All columns that stay text."""
        known = (name for name, kind in self.known.items() if kind == "category")
        return (*self.named, *known)

    @property
    def holes(self) -> list[str]:
        """All words that mean a missing value."""
        return sorted({*NA_WORDS, *self.na_values})


@dataclass(frozen=True)
class Answer:
    """What a reader gives."""

    frame: Any
    dialect: dict[str, Any]
    notes: Sequence[str]
    met: Sequence[str]
    """Words that were read as missing values."""


def check_names(names: Sequence[str], file: str, where: str, hint: str = "") -> None:
    """Each name occurs once."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ColumnError(
            f"{file}, {where}: more than one column is called {listed(twice)}. Rename them, so "
            f"that each name occurs once. {hint}".rstrip()
        )


def check_text(text: Sequence[str], names: Sequence[str], file: str) -> None:
    """Columns that are to stay text exist."""
    absent = [name for name in text if name not in set(names)]
    if absent:
        raise ColumnError(
            f"text={listed(absent)}: {file} has no such column. Its columns are {listed(names)}."
        )


def check_rows(n_rows: int, file: str, what: str) -> None:
    """There is a row at least."""
    if n_rows == 0:
        raise InputError(f"{file} has {what} and no rows: there is nothing to read.")
