"""A report in Markdown and its pictures as files: all of them, or none."""

from __future__ import annotations

import os
import secrets
import shutil
from typing import TYPE_CHECKING

from sortal.data.writing import replace_file
from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def save_markdown(text: str, pictures: Mapping[str, bytes], path: Path, folder: Path) -> None:
    """Write pictures into a new folder, then the text; the folder takes the place of an old one.

    If anything fails, the old text and its old pictures stay.
    """
    _refuse_foreign(folder)
    mark = secrets.token_hex(8)
    new, old = (folder.with_name(f".sortal-{mark}.{what}") for what in ("part", "old"))
    try:
        with replace_file(path) as draft:
            draft.write_text(text, encoding="utf-8")
            _fill(new, pictures)
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
    except BaseException:
        if old.exists():
            shutil.rmtree(folder, ignore_errors=True)
            old.rename(folder)
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _fill(folder: Path, pictures: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, data in pictures.items():
        with (folder / name).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _refuse_foreign(folder: Path) -> None:
    """A folder of that name which holds anything but pictures is not ours to replace."""
    if not folder.exists():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise InputError(f"{str(folder)!r} is no folder, and pictures go there: rename it.")
    others = [one.name for one in folder.iterdir() if one.suffix != ".png" or not one.is_file()]
    if others:
        raise InputError(
            f"{str(folder)!r} is where pictures go, and it holds {others[0]!r}, which is none: "
            "give the report another name."
        )
