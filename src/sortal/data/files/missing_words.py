"""Words that mean a missing value: by their spelling, and numbers by their value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sortal.data.files.duck import quoted
from sortal.data.files.text_types import GROUPED, LARGEST, POWER

if TYPE_CHECKING:
    from collections.abc import Iterable

# In every file.
NA_WORDS: Final = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?")
# Leading zeros make codes, which are equal only if they are spelled alike.
_NUMBER: Final = f"[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+){POWER}"


def numbers_among(words: Iterable[str]) -> list[str]:
    """The words that are numbers, as far as float64 tells whole numbers apart."""
    return [word for word in words if re.fullmatch(_NUMBER, word) and abs(float(word)) < LARGEST]


def means_missing(cell: str, words: Iterable[str], marks: str = ".") -> str:
    """SQL: whether a cell of text is one of the words, or of the value of one that is a number.

    -999 is -999.0, too, and -999,0 where a comma may be the decimal mark. As long as a point may be
    it as well, -999,000 could be thousands, and is not taken for -999.
    """
    spelled = f"{cell} IN ({', '.join(map(quoted, words))})"
    values = ", ".join(f"CAST({quoted(word)} AS DOUBLE)" for word in numbers_among(words))
    if not values:
        return spelled
    number = f"replace({cell}, ',', '.')" if "," in marks else cell
    grouped = f" AND NOT regexp_full_match({cell}, {quoted(GROUPED)})" if len(marks) > 1 else ""
    like = f"regexp_full_match({number}, {quoted(_NUMBER)}){grouped}"
    return f"({spelled} OR ({like} AND TRY_CAST({number} AS DOUBLE) IN ({values})))"
