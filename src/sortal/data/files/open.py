"""Opening a file: what it is, its fingerprint, and its text as plain UTF-8 on the disk."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

from sortal.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

Format = Literal["csv", "parquet", "jsonl"]

STANDARD_INPUT: Final = "-"

BLOCK: Final = 1 << 20

BOM: Final = codecs.BOM_UTF8

# First bytes of files that are no text, and what to call them.
_SIGNATURES: Final = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls): save the sheet as CSV"),
    (b"SQLite format 3", "an SQLite database: export the table as CSV"),
    (b"ARROW1", "an Arrow or Feather file: save it as Parquet"),
    (b"FEA1", "a Feather file: save it as Parquet"),
    (b"\x89HDF", "an HDF5 file: save the table as Parquet or CSV"),
    (b"\x93NUMPY", "a NumPy array: save it with its column names as CSV"),
    (b"%PDF", "a PDF document: sortal reads tables only"),
    (b"BZh", "compressed with bzip2: decompress it first"),
    (b"\xfd7zXZ", "compressed with xz: decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: decompress it first"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"RDX", "an R data file: write the table with write.csv"),
)

_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_GLOB: Final = frozenset("*?[")


@dataclass(frozen=True)
class PlainFile:
    """A file to read: where its plain bytes are, and what the file itself was."""

    path: str
    name: str
    sha256: str
    n_bytes: int
    format: Format
    encoding: str
    compression: str


@contextmanager
def plain_file(
    path: str | os.PathLike[str], given: str | None, encoding: str | None
) -> Iterator[PlainFile]:
    """Open a file, or standard input for "-"; what is made on the way is deleted at the end.

    A file is read more than once. One that changes meanwhile, or goes, is an error at the end: rows
    of its old bytes and of its new ones would be taken for one table.
    """
    _check_options(given, encoding)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sortal-"))
        source, name = _source(path, Path(folder))
        digest, n_bytes = stack.enter_context(_unchanged(source, name))
        if n_bytes == 0:
            raise InputError(f"{name} is empty: there are no bytes in it.")
        plain, compression = source, ""
        if _head(source).startswith(b"\x1f\x8b"):
            plain, compression = _unpacked(source, name, Path(folder)), "gzip"
        found = _format(plain, name, given)
        if found != "parquet":
            encoding = encoding or _marked_encoding(plain)
            plain = _as_utf8(plain, name, encoding, Path(folder))
        yield PlainFile(
            path=_without_glob(plain, Path(folder)),
            name=name,
            sha256=digest,
            n_bytes=n_bytes,
            format=found,
            encoding="" if found == "parquet" else encoding or "utf-8",
            compression=compression,
        )


def _check_options(given: str | None, encoding: str | None) -> None:
    if given not in (None, "csv", "parquet", "jsonl"):
        raise ParameterError(
            f"format={given!r} is not known: it can be 'csv', 'parquet', 'jsonl' or None, to "
            "look at the file."
        )
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError:
        raise ParameterError(
            f"encoding={encoding!r} is not known: give a name such as 'utf-8', 'latin-1', "
            "'cp1252' or 'utf-16'."
        ) from None


def _source(path: str | os.PathLike[str], folder: Path) -> tuple[Path, str]:
    """A regular file and its name; what can be read once only is copied into the folder."""
    if os.fspath(path) == STANDARD_INPUT:
        return _spooled(sys.stdin.buffer, folder), "standard input"
    source = Path(os.fspath(path))
    try:
        check_path(source)
        if source.is_file():
            return source.absolute(), source.name
        with source.open("rb") as stream:
            return _spooled(stream, folder), source.name
    except OSError as error:
        raise InputError(f"{str(source)!r} cannot be read: {error.strerror}.") from None


def check_path(path: Path) -> None:
    """There is something, and it is no folder."""
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: give the path of one file in it.")
    if not path.exists():
        raise InputError(
            f"There is no file {path.name!r} in {str(folder)!r}: check the name."
            if folder.is_dir()
            else f"There is no file {str(path)!r}: there is not even a folder {str(folder)!r}."
        )


def _spooled(stream: IO[bytes], folder: Path) -> Path:
    copy = folder / "input"
    with copy.open("wb") as out:
        shutil.copyfileobj(stream, out, BLOCK)
    return copy


@contextmanager
def _unchanged(path: Path, name: str) -> Iterator[tuple[str, int]]:
    """The SHA-256 of a file's bytes and how many they are, which hold as long as this is open.

    The time of the last change is compared, too: bytes could have changed there and back.
    """
    before = _fingerprint(path)
    try:
        yield before[:2]
    except Exception:  # whatever it is, it may come of the change
        _refuse_change(path, name, before)
        raise
    _refuse_change(path, name, before)


def _refuse_change(path: Path, name: str, before: tuple[str, int, int]) -> None:
    if not path.exists():
        raise InputError(f"{name} was removed or renamed while it was read: read it again.")
    if _fingerprint(path) != before:
        raise InputError(
            f"{name} changed while it was read: wait until it is written, or copy it, and read it "
            "again."
        )


def _fingerprint(path: Path) -> tuple[str, int, int]:
    """SHA-256 of a file's bytes, how many they are, and when they were last changed."""
    digest, n_bytes = hashlib.sha256(), 0
    try:
        with path.open("rb") as stream:
            changed = os.fstat(stream.fileno()).st_mtime_ns
            while block := stream.read(BLOCK):
                digest.update(block)
                n_bytes += len(block)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    return digest.hexdigest(), n_bytes, changed


def _head(path: Path, n: int = 4096) -> bytes:
    with path.open("rb") as stream:
        return stream.read(n)


def _unpacked(path: Path, name: str, folder: Path) -> Path:
    plain = folder / "unpacked"
    try:
        with gzip.open(path, "rb") as stream, plain.open("wb") as out:
            shutil.copyfileobj(stream, out, BLOCK)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{name} is compressed with gzip, and damaged ({error}): compress or download it anew."
        ) from None
    return plain


def _format(path: Path, name: str, given: str | None) -> Format:
    """The format asked for, or the one that the bytes show."""
    head = _head(path)
    seen = _seen_format(head, Path(name).suffixes)
    if seen != "parquet":
        _refuse_foreign(head, path, name)
    if "parquet" in (seen, given) and not head.startswith(b"PAR1"):
        raise InputError(
            f"{name} is no Parquet file, though it was to be read as one: its first bytes are "
            f"{head[:4]!r}, and not b'PAR1'."
        )
    if given is None:
        return seen
    if seen == "parquet" and given != "parquet":
        raise InputError(f"{name} is a Parquet file: read it with format='parquet' or None.")
    return "csv" if given == "csv" else "jsonl" if given == "jsonl" else "parquet"


def _seen_format(head: bytes, suffixes: list[str]) -> Format:
    kinds = {suffix.lower() for suffix in suffixes}
    if head.startswith(b"PAR1") or kinds & {".parquet", ".pq"}:
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
    if kinds & {".jsonl", ".ndjson", ".json"} or text.startswith(b'{"'):
        return "jsonl"
    return "csv"


def _refuse_foreign(head: bytes, path: Path, name: str) -> None:
    """Say what a file is that is no table in plain text."""
    what = next((words for bytes_, words in _SIGNATURES if head.startswith(bytes_)), "")
    start = head.removeprefix(BOM).lstrip().lower()
    if head.startswith(b"PK\x03\x04"):
        what = _archive(path)
    elif head[:1] == b"\x80" and head[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"}:
        what = "a pickle, which can run code when it is read: save the table as Parquet or CSV"
    elif start.startswith((b"<!doctype html", b"<html")):
        what = "a web page, not a table: download the file itself"
    elif start.startswith(b"@relation"):
        what = "an ARFF file: save it as CSV"
    if what:
        raise InputError(f"{name} is {what}. sortal reads CSV, Parquet and JSON lines.")


def _archive(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        members = []
    if any(member.startswith("xl/") for member in members):
        return "an Excel workbook: save the sheet as CSV"
    if "manifest.json" in members and "SHA256SUMS" in members:
        return "a model file of sortal: give a table here"
    return "a zip archive: unpack it first"


def _marked_encoding(path: Path) -> str | None:
    """The encoding that the first two bytes say, if they do."""
    return "utf-16" if _head(path, 2) in _UTF_16 else None


def _as_utf8(path: Path, name: str, encoding: str | None, folder: Path) -> Path:
    """The file itself if it is to be read as UTF-8, else a copy that is UTF-8."""
    if encoding is None or codecs.lookup(encoding).name in {"utf-8", "utf-8-sig", "ascii"}:
        return path
    copy, line = folder / "utf-8", 1
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        with path.open("rb") as stream, copy.open("wb") as out:
            while block := stream.read(BLOCK):
                text = decoder.decode(block)
                line += text.count("\n")
                out.write(text.encode("utf-8"))
            out.write(decoder.decode(b"", final=True).encode("utf-8"))
    except (UnicodeError, LookupError, TypeError) as error:
        raise InputError(
            f"{name} is not encoded as {encoding} (in or after line {line}: "
            f"{getattr(error, 'reason', error)}): give another encoding."
        ) from None
    return copy


def _without_glob(path: Path, folder: Path) -> str:
    """A path in which no character stands for others."""
    if not _GLOB & set(str(path)):
        return str(path)
    link = folder / "linked"
    try:
        link.symlink_to(path)
    except OSError:
        shutil.copyfile(path, link)
    return str(link)
