"""Hostile CSV files: small tables in several dialects, and ways to damage them."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable
from typing import Any

Damage = Callable[[random.Random, bytes], bytes]

_WORDS = ("Oslo", "São Paulo", "x y", "O'Hara", "01234", "NA", "", "-3.5", "7", "日本", "true")


def table(rng: random.Random) -> tuple[bytes, str]:
    """A sound file and its delimiter."""
    delimiter = rng.choice(",,,;\t|")
    n_columns, n_rows = rng.randint(1, 6), rng.randint(1, 12)
    out = io.StringIO(newline="")
    quoting: Any = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    end = rng.choice(["\n", "\n", "\r\n"])
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow([f"c{j}" for j in range(n_columns)])
    for _ in range(n_rows):
        writer.writerow([_cell(rng, delimiter) for _ in range(n_columns)])
    mark = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return mark + out.getvalue().encode(), delimiter


def _cell(rng: random.Random, delimiter: str) -> str:
    if rng.random() < 0.1:
        return rng.choice([f"a{delimiter}b", 'say "no"', "two\nlines", "two\r\nlines", '"'])
    return rng.choice(_WORDS)


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _insert(*choices: bytes) -> Damage:
    def damage(rng: random.Random, data: bytes) -> bytes:
        at = _place(rng, data)
        return data[:at] + rng.choice(choices) + data[at:]

    return damage


def _flip(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _remove(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + data[at + rng.randint(1, 4) :]


def _swap_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def _double_line(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines)) if lines else 0
    return b"".join([*lines[: at + 1], *lines[at:]])


def _other_ends(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines()
    return b"".join(
        line + rng.choice([b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n"]) for line in lines
    )


def _tangled(rng: random.Random, data: bytes) -> bytes:
    """Quotes, blanks and letters in one place, as parsers understand them differently."""
    at = _place(rng, data)
    knot = "".join(rng.choices(['"', '""', " ", "a", '"a"', "\n"], k=rng.randint(2, 6)))
    return data[:at] + knot.encode() + data[at:]


def _ragged(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines()
    at = rng.randrange(len(lines)) if lines else 0
    lines[at : at + 1] = [rng.choice([b"", b"1", b",,,,,,,,", lines[at] + b",", b" "])]
    return b"\n".join(lines) + b"\n"


def _other_delimiter(rng: random.Random, data: bytes) -> bytes:
    pair = rng.sample([b",", b";", b"\t", b"|"], 2)
    return data.replace(pair[0], pair[1], rng.randint(1, 5))


def damaged(rng: random.Random, data: bytes, kinds: Iterable[str]) -> bytes:
    """A file after several accidents; nothing more happens to one that is empty."""
    for kind in kinds:
        data = DAMAGES[kind](rng, data) if data else data
    return data


_ODD = ("\u2028", "\x85", "\x0b", "\x1b[31m", "\ufeff", "\u202e", "#", "\\")
DAMAGES: dict[str, Damage] = {
    "nothing": lambda _, data: data,
    "flip": _flip,
    "cut": lambda rng, data: data[: _place(rng, data)],
    "emptied": lambda rng, _: rng.choice([b"", b"\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"]),
    "remove": _remove,
    "quote": _insert(b'"'),
    "two quotes": lambda rng, data: _insert(b'"')(rng, _insert(b'"')(rng, data)),
    "tangled": _tangled,
    "blank and quote": _insert(b' "'),
    "delimiter": _insert(b",", b";", b"\t", b"|"),
    "end": _insert(b"\n", b"\r", b"\r\n", b"\n\n"),
    "nul": _insert(b"\0"),
    "latin-1": _insert(b"\xe9"),
    "odd letters": _insert(*(letter.encode() for letter in _ODD)),
    "lines swapped": _swap_lines,
    "line doubled": _double_line,
    "other ends": _other_ends,
    "ragged": _ragged,
    "huge cell": _insert(b"z" * 5_000, b"z" * 140_000),
    "other delimiter": _other_delimiter,
}
