"""What is refused: a call, the error that it raises and words that help."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """`words` is a regular expression that is searched in the message."""

    what: str
    call: Callable[[], object]
    error: type[Exception]
    words: str
