"""A report in Markdown and its pictures as files: all of them, or none.

The name of a picture ends with a hash of its bytes. So the pictures of a new text lie beside those
of the old one until the text is replaced, and a file of somebody else is never taken for one.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

from sortal.data.writing import draft_folder, flush, replace_file
from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
