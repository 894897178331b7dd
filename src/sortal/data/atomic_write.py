"""Writing files whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.platform != "win32":
    import fcntl


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; what is there at the end takes the place of the file, at once.

    The path lies in a hidden folder beside the file, so that the last step is a renaming. Whoever
    looks meanwhile sees the old file or the new one, never half of one. If anything fails, Ctrl-C
    included, the new bytes are removed and the old file stays as it was. A symbolic link stays a
    link: the file behind it is replaced. The file keeps the permissions it had. A device or a pipe,
    such as /dev/stdout, is not replaced: the bytes go into it.
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
    with draft_folder(target, path) as folder:
        draft = folder / "draft"
        draft.touch()
        yield draft
        _keep_mode(target, draft)
        flush(draft)
        draft.replace(target)
        flush(target.parent)


@contextmanager
def draft_folder(target: Path, asked: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden folder beside `target`, there until the end; errors name what was asked for.

    A process that is killed leaves its folder. Whoever writes the same target next removes it: the
    name tells the target, and a folder that somebody still writes into is locked.
    """
    prefix = f".sortal-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"
    folder = target.with_name(f"{prefix}{secrets.token_hex(8)}.part")
    lock = None
    try:
        _clear(target.parent, prefix)
        while not folder.exists():  # before it is locked, another writer may take it for left over
            folder.mkdir(mode=0o700)
            lock = _lock(folder, wait=True)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(asked)) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _clear(parent: Path, prefix: str) -> None:
    """Remove what killed processes have left of a target."""
    name = re.compile(re.escape(prefix) + r"[0-9a-f]{16}\.part")
    for folder in [one for one in parent.iterdir() if name.fullmatch(one.name)]:
        lock = _lock(folder, wait=False)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """A lock that the system lifts when this process ends.

    None where another process has it, where the folder is not ours or gone, or without locks.
    """
    if sys.platform == "win32":
        return None  # folders cannot be opened there
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise
        return handle
    return None


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


def _keep_mode(old: Path, new: Path) -> None:
    if old.exists():
        new.chmod(old.stat().st_mode & 0o7777)


def flush(path: Path) -> None:
    """Wait until a file, or the list of a folder's files, is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
