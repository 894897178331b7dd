"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; what is there at the end takes the place of the file, at once.

    The path lies in the same folder, so that the last step is a renaming. Whoever looks meanwhile
    sees the old file or the new one, never half of one. If anything fails, Ctrl-C included, the
    new bytes are removed and the old file stays as it was. A symbolic link stays a link: the file
    behind it is replaced. The file keeps the permissions it had. A device or a pipe, such as
    /dev/stdout, is not replaced: the bytes go into it.
    """
    if _is_special(path):
        with _sent_on(path) as draft:
            yield draft
        return
    target = Path(os.path.realpath(os.fspath(path)))
    if target.is_dir():
        raise InputError(f"{os.fspath(path)!r} is a folder: give the name of a file to write.")
    if not target.parent.is_dir():
        raise InputError(
            f"There is no folder {str(target.parent)!r} to write {target.name!r} into: make it "
            "first, or give another path."
        )
    draft = target.with_name(f".sortal-{secrets.token_hex(8)}.part")
    try:
        _begin(draft, path)
        yield draft
        _keep_mode(target, draft)
        _flush(draft)
        draft.replace(target)
        _flush(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  (of what a link leads to, even to a pipe)
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def _sent_on(path: str | os.PathLike[str]) -> Iterator[Path]:
    with TemporaryDirectory(prefix="sortal-") as folder:
        draft = Path(folder) / "draft"
        draft.touch()
        yield draft
        with draft.open("rb") as source, Path(path).open("wb") as target:
            shutil.copyfileobj(source, target)


def _begin(draft: Path, path: str | os.PathLike[str]) -> None:
    """An empty file; if there cannot be one, the error names the file that was asked for."""
    try:
        # x: a file of that name, or a link, is never written through
        with draft.open("xb"):
            pass
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


def _keep_mode(old: Path, new: Path) -> None:
    if old.exists():
        new.chmod(old.stat().st_mode & 0o7777)


def _flush(path: Path) -> None:
    """Wait until a file, or the list of a folder's files, is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
