"""The model file: a zip of plain members with checksums, written whole or not at all.

    manifest.json     what the model is, as JSON
    arrays            the raw numbers of all arrays, which the manifest lists
    SHA256SUMS        the checksums of the other members, as `sha256sum -c` reads them

Members are stored as they are, never compressed, with a fixed date: the same model gives the same
bytes. A file may come from anywhere: nothing in it is executed or imported, memory is taken in
proportion to its length, and whatever is not as it should be is a FormatError.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from sortal.data.atomic_write import replace_file
from sortal.errors import FormatError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

FORMAT, VERSION = "sortal model", 2

MANIFEST, ARRAYS, SUMS = "manifest.json", "arrays", "SHA256SUMS"

MOST_JSON = 1 << 26

_MOST_NESTED = 1 << 22  # lists and objects, each of which takes more memory than its two letters

_DATE = (1980, 1, 1, 0, 0, 0)

_MODE = 0o100644 << 16

_LINUX = 3

_ENCRYPTED = 1

# What zipfile raises on bytes that are no zip, or not quite one.
_NO_ZIP = (BadZipFile, ValueError, RuntimeError, EOFError, OSError, struct.error, LookupError)


@dataclass(frozen=True, eq=False)
class ArchiveMembers:
    """What a file holds: the manifest, and the numbers of its arrays, one after another."""

    manifest: dict[str, Any]
    numbers: bytes


# --- Writing -------------------------------------------------------------------------------------


def write_archive(path: str | os.PathLike[str], parts: ArchiveMembers) -> None:
    """Write a model file, in the place of an older one if there is one."""
    with replace_file(path) as draft:
        zip_members(draft, parts)


def zip_members(file: Path | BinaryIO, parts: ArchiveMembers) -> None:
    """Write a zip, the same bytes every time."""
    manifest = {"format": FORMAT, "version": VERSION, **parts.manifest}
    members = {MANIFEST: _manifest_text(manifest), ARRAYS: parts.numbers}
    members[SUMS] = _sums(members)
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, data in members.items():
            info = ZipInfo(name, _DATE)
            info.external_attr, info.create_system = _MODE, _LINUX
            archive.writestr(info, data)


def _manifest_text(manifest: Mapping[str, Any]) -> bytes:
    """One line for each part of the manifest."""

    def text(item: object) -> str:
        return json.dumps(item, ensure_ascii=False, allow_nan=False)

    lines = [f"{text(name)}: {text(item)}" for name, item in manifest.items()]
    written = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if _is_too_much(written):
        raise FormatError(
            f"The names and values of this model take {len(written):,} bytes, and a model file has "
            f"room for {MOST_JSON:,}: leave out columns of identifiers, or join rare values."
        )
    return written


def _is_too_much(data: bytes) -> bool:
    """Whether JSON is beyond what a manifest may be."""
    return len(data) > MOST_JSON or data.count(b"[") + data.count(b"{") > _MOST_NESTED


def _sums(members: Mapping[str, Any]) -> bytes:
    lines = [f"{sha256(data).hexdigest()}  {name}\n" for name, data in members.items()]
    return "".join(lines).encode()


# --- Reading -------------------------------------------------------------------------------------


def read_archive(path: str | os.PathLike[str]) -> ArchiveMembers:
    """The parts of a model file, checksums checked; OSError where there is no such file."""
    file = Path(path)
    if file.exists() and not file.is_file() and not file.is_dir():
        raise FormatError(f"{str(path)!r} is no file but a device or a pipe.")
    return parse_archive(file.read_bytes(), repr(str(path)))


def parse_archive(data: bytes, what: str) -> ArchiveMembers:
    """The parts of what `zip_members` wrote, checksums checked; `what` names it in messages."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
            _check_members(infos, len(data))
            members = {info.filename: archive.read(info) for info in infos}
    except FormatError:
        raise
    except _NO_ZIP as error:
        raise FormatError(
            f"{what} is no model file of sortal, or a damaged one: it cannot be read as a "
            f"zip ({_brief(error)})."
        ) from None
    manifest = _manifest(members.get(MANIFEST, b""))
    _check_sums(members)
    if set(members) != {MANIFEST, ARRAYS, SUMS}:
        raise FormatError(f"The file holds other members than {MANIFEST}, {ARRAYS} and {SUMS}.")
    rest = {name: item for name, item in manifest.items() if name not in ("format", "version")}
    return ArchiveMembers(rest, members[ARRAYS])


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:100] or type(error).__name__


def _check_members(infos: list[ZipInfo], size: int) -> None:
    names = [info.filename for info in infos]
    if len(set(names)) != len(names):
        raise FormatError("The file holds two members of one name: damaged?")
    for info in infos:
        plain = info.compress_type == ZIP_STORED and info.compress_size == info.file_size
        if not plain or info.flag_bits & _ENCRYPTED:
            raise FormatError(
                f"The member {info.filename[:60]!r} is compressed or encrypted, and a model file "
                "stores members as they are: unpack it, and pack all with `zip -0 -D -r`."
            )
    if sum(info.file_size for info in infos) > size:
        raise FormatError("The members of this file are longer than the file: damaged?")


def _check_sums(members: Mapping[str, bytes]) -> None:
    """Each member as its checksum says, no more and no fewer."""
    wanted = _sums({name: data for name, data in members.items() if name != SUMS})
    given = members.get(SUMS, b"")
    if sorted(given.split(b"\n")) == sorted(wanted.split(b"\n")):
        return
    listed = set(given.split(b"\n"))
    bad = [line[66:].decode(errors="replace") for line in wanted.split(b"\n") if line not in listed]
    raise FormatError(
        f"The checksum of {bad[0]!r} is not that of {SUMS}: the file was damaged on its way."
        if bad
        else f"{SUMS} lists members that the file does not have: cut?"
    )


def _manifest(data: bytes) -> dict[str, Any]:
    """The manifest of a format and version that this release reads."""
    if not data or _is_too_much(data):
        raise FormatError(f"The file has no {MANIFEST} that could be read: it is no model file.")
    manifest = parse_json(data)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FormatError(f"{MANIFEST} does not say {FORMAT!r}: this is no model file of sortal.")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise FormatError(f"{MANIFEST} names no version of the format: damaged?")
    if version != VERSION:
        remedy = "install a newer release" if version > VERSION else "fit again, and save"
        raise FormatError(
            f"This model file has version {str(version)[:20]} of the format, and this release of "
            f"sortal reads {VERSION}: {remedy}."
        )
    return manifest


def parse_json(data: bytes) -> object:
    """JSON as the standard has it: no NaN, no infinity, no name twice in an object."""
    try:
        return json.loads(
            data.decode(),
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{MANIFEST} cannot be read ({_brief(error)}): damaged?") from None


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in pairs:
        if name in found:
            raise ValueError("a name occurs twice in an object")
        found[name] = item
    return found


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _finite(digits: str) -> float:
    x = float(digits)
    if not math.isfinite(x):
        raise ValueError("a number is too large")
    return x
