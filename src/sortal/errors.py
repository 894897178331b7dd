"""Every exception and warning of sortal.

Each message says what was given, what is allowed and what to do.

  SortalError
  ├── ParameterError (ValueError)           a parameter has a value it cannot have
  │   └── UnavailableError (AttributeError) a method that these parameters do not have
  ├── InputError (ValueError)               the table or the labels cannot be used
  │   ├── ColumnError                       a named column is missing, or is not what was fitted
  │   ├── LabelError                        the labels cannot be used as classes
  │   ├── WeightError                       sample weights cannot be used
  │   ├── MissingValueError                 missing values, where the policy forbids them
  │   ├── UnknownCategoryError              values never seen at fit, where the policy forbids them
  │   └── TrainingRowsError                 rows cannot be taken out of a summary
  ├── InputTypeError (TypeError)            this kind of object is not a table sortal reads
  └── FormatError (ValueError)              bytes that are no summary, a file that is no model file

  SortalWarning (UserWarning)
  ├── MissingValueWarning                   missing values, their count and what becomes of them
  ├── UnknownCategoryWarning                values never seen at fit, with their count
  ├── ReadingWarning                        an option of reading without effect, or unlike the fit's
  ├── ImpossibleRowWarning                  rows to which every class gives probability zero
  ├── CollinearityWarning                   columns of which a combination never varies
  ├── PerfectSeparationWarning              columns that tell classes apart without any error
  ├── OneClassWarning                       rows of one class only, which is then always predicted
  ├── OneLeafWarning                        a tree that was pruned to one leaf
  └── ManyClassesWarning                    numbers as labels that look like a measurement
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class SortalError(Exception):
    """Whatever sortal raises on purpose."""


class ParameterError(SortalError, ValueError):
    """A parameter has a value it cannot have."""


class UnavailableError(ParameterError, AttributeError):
    """A method that an estimator with these parameters does not have: `hasattr` says so, too."""


class InputError(SortalError, ValueError):
    """The table or the labels cannot be used."""


class ColumnError(InputError):
    """A column is missing, or is not what was fitted."""


class LabelError(InputError):
    """The labels cannot be used as classes."""


class WeightError(InputError):
    """Sample weights cannot be used."""


class MissingValueError(InputError):
    """Missing values, where the policy forbids them."""


class UnknownCategoryError(InputError):
    """Values never seen at fit, where the policy forbids them."""


class TrainingRowsError(InputError):
    """Rows cannot be taken out of a summary."""


class InputTypeError(SortalError, TypeError):
    """This kind of object is not a table sortal reads."""


class FormatError(SortalError, ValueError):
    """Bytes that are no summary, or a file that is no model file, of a version known here."""


class SortalWarning(UserWarning):
    """Whatever sortal warns of."""


class MissingValueWarning(SortalWarning):
    """Missing values, with their count and what becomes of them."""


class UnknownCategoryWarning(SortalWarning):
    """Values never seen at fit, with their count."""


class DataWarning(SortalWarning):
    """Rows or columns were left out of a fit, or classes joined."""


class ReadingWarning(SortalWarning):
    """An option of reading has no effect, or differs from how the file of the fit was read."""


class ImpossibleRowWarning(SortalWarning):
    """Rows to which every class gives probability zero."""


class CollinearityWarning(SortalWarning):
    """Columns of which a combination never varies."""


class PerfectSeparationWarning(SortalWarning):
    """Columns that tell classes apart without any error."""


class OneClassWarning(SortalWarning):
    """Rows of one class only, which is then predicted whatever a row holds."""


class OneLeafWarning(SortalWarning):
    """A tree that was pruned to one leaf, and predicts one class for every row."""


class ManyClassesWarning(SortalWarning):
    """Numbers as labels, so many and so rare that they look like a measurement."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line outside sortal, and outside what scikit-learn wraps it in, that led here."""
    level, frame = 2, sys._getframe(1)
    ours = ("sortal", "sklearn")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(ours):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def listed(items: Sequence[object], most: int = 10) -> str:
    """Items for a message; of many, the first and how many there are."""
    shown = ", ".join(map(repr, items[:most]))
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"


def brief(given: object, most: int = 200) -> str:
    """What was given, for a message; of a long text the beginning."""
    try:
        text = repr(given)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = f"a {type(given).__name__} too long to print"
    return text if len(text) <= most else f"{text[:most]}…"


# --- Text of messages: data made safe to print, and nouns and verbs that agree with a number ------


# Signs that are not printed, but join letters of some scripts and parts of pictures.
_JOINERS = str.maketrans("", "", "\u200c\u200d")


def is_printable(text: str) -> bool:
    """Whether nothing in a text moves the cursor, breaks the line or turns the direction."""
    return text.translate(_JOINERS).isprintable()


def printable(text: str, but: str = "") -> str:
    r"""A text whose unprintable signs are written as JSON has them, \n or \u001b; `but` stay."""
    if is_printable(text):
        return text
    return "".join(c if c in but or is_printable(c) else json.dumps(c)[1:-1] for c in text)


def agreed(n: float, one: str, several: str) -> str:
    """A word that agrees with a number: 1 row is, 2 rows are."""
    return one if n == 1 else several


def counted(n: int, one: str, several: str = "") -> str:
    """So many of something: 1 row, 1,234 rows."""
    return f"{n:,} {agreed(n, one, several or f'{one}s')}"
