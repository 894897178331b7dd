"""A report in Markdown, with pictures as files beside it."""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from sortal.data.atomic_write import draft_folder, flush, replace_file
from sortal.errors import InputError
from sortal.records import render as faces
from sortal.tasks.report.parts import has_form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from jinja2 import Template

    from sortal.pictures import Picture
    from sortal.tasks.report.gather import ReportFacts


# --- A report in Markdown and its pictures as files: all of them, or none ------------------------
# The name of a picture ends with a hash of its bytes. So the pictures of a new text lie beside
# those of the old one until the text is replaced, and a file of somebody else is never taken for
# one.

_NAME = re.compile(r"(.+)-[0-9a-f]{16}\.png")


def picture_file(name: str, data: bytes) -> str:
    """What the file of a picture is called."""
    return f"{name}-{hashlib.sha256(b'sortal' + data).hexdigest()[:16]}.png"


def save_markdown(text: str, pictures: Mapping[str, bytes], path: Path, folder: Path) -> None:
    """Write a text and its pictures, by file name; then remove the pictures of an older text.

    If anything fails, the old text and its old pictures stay, and nothing new does. Files in the
    folder that are not pictures of a report are left alone.
    """
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
        raise InputError(f"{str(folder)!r} is no folder, and pictures go there: rename it.")
    is_new = not folder.exists()
    # only what is there already: another report of that name may be on its way
    old = [] if is_new else [one for one in folder.iterdir() if _is_ours(one)]
    added: list[Path] = []
    try:
        with replace_file(path) as draft, draft_folder(folder, path) as drafts:
            draft.write_text(text, encoding="utf-8")
            missing = {name: data for name, data in pictures.items() if _lacks(folder, name, data)}
            for name, data in missing.items():
                (drafts / name).write_bytes(data)
                flush(drafts / name)
            folder.mkdir(exist_ok=True)
            for name in missing:
                (drafts / name).rename(folder / name)
                added.append(folder / name)
            flush(folder)
    except BaseException:
        for one in added:
            one.unlink()
        if is_new and folder.exists():
            folder.rmdir()
        raise
    for one in old:
        if one.name not in pictures:
            one.unlink(missing_ok=True)


def _lacks(folder: Path, name: str, data: bytes) -> bool:
    """Whether a picture has to be written."""
    file = folder / name
    if not os.path.lexists(file):
        return True
    if not file.is_file() or file.read_bytes() != data:
        raise InputError(
            f"{str(file)!r} is where a picture goes, and something else is there: move it, or give "
            "the report another name."
        )
    return False


def _is_ours(file: Path) -> bool:
    """Whether a file is a picture of a report: its name has the hash of what is in it."""
    name = _NAME.fullmatch(file.name)
    is_file = file.is_file() and not file.is_symlink()
    return name is not None and is_file and picture_file(name[1], file.read_bytes()) == file.name


# --- The text ------------------------------------------------------------------------------------


def markdown(facts: ReportFacts, folder: str) -> tuple[str, dict[str, bytes]]:
    """The text, and the pictures by file name; the text expects them in the folder."""
    pictures: dict[str, bytes] = {}

    def saved(picture: Picture) -> str:
        data = picture.png()
        name = picture_file(picture.name, data)
        pictures[name] = data
        return name

    return _template().render(facts=facts, folder=quote(folder), saved=saved), pictures


@cache
def _template() -> Template:
    made = Environment(
        loader=PackageLoader("sortal.tasks.report"),
        autoescape=False,  # noqa: S701  (Markdown: `marked` keeps names and values as they are)
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        marked=faces.marked, paragraphs=_paragraphs, listed=_listed, code=_code, has_form=has_form
    )
    return made.get_template("report.md.jinja")


def _paragraphs(words: str) -> str:
    return "\n\n".join(faces.marked(part) for part in words.split("\n\n"))


def _listed(lines: Sequence[object]) -> str:
    return "\n".join(f"- {faces.marked(str(line))}" for line in lines)


def _code(code: str, language: str) -> str:
    """A block of code, with a fence longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"
