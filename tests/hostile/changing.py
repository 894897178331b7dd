"""Files that change while they are read: what is read is what the fingerprint says, or refused."""

from __future__ import annotations

import hashlib
import random
import threading
from typing import TYPE_CHECKING

from sortal.errors import InputError
from sortal.tasks.tables import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Tables whose every row says which version it is of.
VERSIONS = [
    b"version,row\n" + b"".join(b"v%d,%d\n" % (k, i) for i in range(400)) for k in range(10)
]


def _replaced(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.replace(path)


def _overwritten(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)


def _emptied(path: Path, data: bytes) -> None:
    path.write_bytes(b"")
    path.write_bytes(data)


def _shortened(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate(data.index(b"\n", len(data) // 2) + 1)
        file.seek(0)
        file.write(data)


def _gone(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


WAYS = (_replaced, _overwritten, _emptied, _shortened, _gone)


def findings(count: int, seed: int, folder: Path) -> Iterator[str]:
    """What went wrong in so many readings, while somebody else writes all the time."""
    path, rng, done = folder / "changing.csv", random.Random(seed), threading.Event()  # noqa: S311
    path.write_bytes(VERSIONS[0])

    def write() -> None:
        while not done.is_set():
            rng.choice(WAYS)(path, rng.choice(VERSIONS))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(count):
            found = _read(path)
            if found:
                yield f"reading {number}: {found}"
    finally:
        done.set()
        writer.join()


def _read(path: Path) -> str:
    """What is wrong with what was read, if anything is."""
    try:
        table = read_file(path)
    except InputError:
        return ""
    except Exception as error:  # noqa: BLE001  (whatever it is, it is a finding)
        return f"{type(error).__name__}: {error}"
    again = table.frame.to_csv(index=False).encode()
    if hashlib.sha256(again).hexdigest() == table.sha256:
        return ""
    seen = sorted(set(table.frame["version"])) if "version" in table.frame else "another table"
    return f"{len(table.frame)} rows of {seen} are not what the fingerprint says"
