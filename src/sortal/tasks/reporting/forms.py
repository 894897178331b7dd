"""The forms that a report is written in."""

from __future__ import annotations

import os
from pathlib import Path

from sortal.data.checks import choose
from sortal.errors import OptionError

FORMATS = ("html", "md")
_SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}


def report_format(path: str | os.PathLike[str], given: str | None) -> str:
    """The format asked for, or the one that the name of the file says."""
    if given is not None:
        return choose("format", given, FORMATS)
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix not in _SUFFIXES:
        raise OptionError(
            f"The name {os.fspath(path)!r} does not say what to write: end it with .html or .md, "
            "or give format='html' or format='md'."
        )
    return _SUFFIXES[suffix]


def pictures_folder(path: str | os.PathLike[str]) -> Path:
    """Where the pictures of a text of Markdown are; of a.md and a.markdown, two folders."""
    file = Path(path)
    return file.with_name(f"{file.name.removesuffix('.md')}_pictures")
