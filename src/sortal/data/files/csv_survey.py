"""What the bytes of a text file are, all of them: counts, ends of lines, valid UTF-8."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from sortal.data.files.plain_files import BLOCK, BOM
from sortal.errors import InputError

_COUNTED: Final = '"\r\n \0'


@dataclass(frozen=True)
class Survey:
    """How many bytes there are, a mark at the beginning left out, and some of them counted."""

    n_bytes: int
    counts: dict[str, int]
    n_pairs: int
    """Carriage returns that a line feed follows."""
    n_loose: int
    """Quotes beside blanks."""
    has_bom: bool

    def n(self, character: str) -> int:
        """How often one of the characters that rows are made of occurs."""
        return self.counts[character]

    @property
    def newline(self) -> str:
        """The one end of lines, or nothing if there are several kinds."""
        if self.n("\r") == 0:
            return "\n"
        return "\r\n" if self.n("\r") == self.n("\n") == self.n_pairs else ""


def survey(path: str, name: str) -> Survey:
    """Look at every byte once."""
    counts, n_pairs, n_loose, before = dict.fromkeys(_COUNTED, 0), 0, 0, b""
    decoder, n_read, has_bom = codecs.getincrementaldecoder("utf-8")(), 0, False
    with Path(path).open("rb") as stream:
        while block := stream.read(BLOCK):
            _check_utf8(decoder, block, path, name, n_read)
            has_bom = has_bom or (n_read == 0 and block.startswith(BOM))
            codes = np.frombuffer(block, np.uint8)
            for character in _COUNTED:
                counts[character] += int(np.count_nonzero(codes == ord(character)))
            n_pairs += block.count(b"\r\n") + (before + block[:1] == b"\r\n")
            n_loose += block.count(b'" ') + block.count(b' "')
            n_loose += before + block[:1] in {b'" ', b' "'}
            before, n_read = block[-1:], n_read + len(block)
        _check_utf8(decoder, b"", path, name, n_read)
    found = Survey(n_read - len(BOM) * has_bom, counts, n_pairs, n_loose, has_bom)
    if found.n("\0"):
        line = line_of(path, _find(path, b"\0"))
        raise InputError(
            f"{name}, line {line}: a zero byte. Text has none: the file is binary or damaged, or "
            'encoded in 16 bits (then give encoding="utf-16-le" or "utf-16-be").'
        )
    return found


def _check_utf8(
    decoder: codecs.IncrementalDecoder, block: bytes, path: str, name: str, n_read: int
) -> None:
    waiting = len(decoder.getstate()[0])
    try:
        decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        at = n_read - waiting + error.start
        byte, other = error.object[error.start], _other_encoding(Path(path))
        raise InputError(
            f"{name}, line {line_of(path, at)}: the byte 0x{byte:02x} is no UTF-8. The file may be "
            f'encoded as {other}: give encoding="{other}" (--encoding {other}), and look whether '
            "the letters come out right."
        ) from None


def _other_encoding(path: Path) -> str:
    """An old encoding of one byte a letter that these bytes can be."""
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            # 0x80 to 0x9f are control characters of Latin-1, and quotes and dashes of Windows'
            if any(0x80 <= byte <= 0x9F for byte in set(block)):
                return "cp1252" if _decodes(path, "cp1252") else "latin-1"
    return "latin-1"


def _decodes(path: Path, encoding: str) -> bool:
    try:
        with path.open(encoding=encoding) as stream:
            while stream.read(BLOCK):
                pass
    except UnicodeDecodeError:
        return False
    return True


def _find(path: str, wanted: bytes) -> int:
    at = 0
    with Path(path).open("rb") as stream:
        while block := stream.read(BLOCK):
            found = block.find(wanted)
            if found >= 0:
                return at + found
            at += len(block)
    return at


def line_of(path: str, at: int) -> int:
    """The line, from 1, in which a byte is."""
    with Path(path).open("rb") as stream:
        before = stream.read(at)
    ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
    return ends + 1
