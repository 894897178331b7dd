"""Bytes that are no model file, parts of one that cannot be, and predictions that are none."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED

import numpy as np
from tests.contract.refusals.table import Refusal
from tests.modelfile.hostile_drafts import packed, sums

from sortal import FisherDiscriminant, LinearDiscriminant
from sortal.errors import FormatError, InputError, LabelError
from sortal.evaluation import Confusion, Reliability, Roc
from sortal.modelfile.archive import read_archive
from sortal.modelfile.arrays import ArrayReader
from sortal.modelfile.fields import check_prior, check_scatter, schema_in
from sortal.modelfile.values import from_plain, values_in

GOOD: Final = b'{"format": "sortal model", "version": 2}'
ONE_HASH: Final = [(i + 1) * (2**61 - 1) for i in range(1001)]


def read(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.sortal"
        path.write_bytes(data)
        return read_archive(path)


def zipped(*members: tuple[str, bytes], method: int = ZIP_STORED, summed: bool = True) -> bytes:
    """A zip of any members, with right checksums."""
    return packed([*members, *[("SHA256SUMS", sums(dict(members)))] * summed], method)


def manifest(data: bytes, **more: Any) -> bytes:
    return zipped(("manifest.json", data), **more)


def longer_than_the_file() -> bytes:
    """One stored member that several names of the directory share would be read many times."""
    data = zipped(("manifest.json", GOOD), ("summary", b"\0" * 4000), summed=False)
    first, last, end = data.index(b"PK\1\2"), data.rindex(b"PK\1\2"), data.rindex(b"PK\5\6")
    copies = [data[last:end].replace(b"summary", b"summar%d" % i) for i in range(5)]
    directory, tail = data[first:end] + b"".join(copies), bytearray(data[end:])
    tail[8:12] = (7).to_bytes(2, "little") * 2
    tail[12:16] = len(directory).to_bytes(4, "little")
    return data[:first] + directory + bytes(tail)


ARCHIVES: Final[dict[str, tuple[Callable[[], bytes], str]]] = {
    "nothing": (lambda: b"", "no model file"),
    "text": (lambda: b"a,b\n1,2\n", "no model file"),
    "a pickle": (lambda: b"\x80\x04\x95", "no model file"),
    "no manifest": (lambda: zipped(("arrays", b"")), "no manifest.json"),
    "no arrays": (lambda: manifest(GOOD), "other members than"),
    "more": (lambda: zipped(("manifest.json", GOOD), ("arrays", b""), ("x", b"")), "other members"),
    "version 1": (lambda: manifest(GOOD.replace(b"2", b"1")), "version 1.*reads 2: fit again"),
    "compressed": (lambda: manifest(GOOD * 999, method=ZIP_DEFLATED), "compressed"),
    "no sums": (lambda: manifest(GOOD, summed=False), "checksum of 'manifest.json'"),
    "another format": (lambda: manifest(b'{"format": "x"}'), "does not say"),
    "newer": (lambda: manifest(GOOD.replace(b"2", b"3")), "install a newer release"),
    "absurd version": (lambda: manifest(GOOD.replace(b"2", b"9" * 999)), "newer"),
    "no version": (lambda: manifest(GOOD.replace(b"2", b"true")), "no version"),
    "NaN": (lambda: manifest(GOOD.replace(b"2", b"NaN")), "NaN is no JSON"),
    "infinity": (lambda: manifest(GOOD.replace(b"2", b"1e999")), "too large"),
    "a name twice": (lambda: manifest(b'{"a": 1, "a": 2}'), "occurs twice"),
    "deep JSON": (lambda: manifest(b"[" * 99_999), "recursion"),
    "much JSON": (lambda: manifest(b"[" + b"[]," * 2**22 + b"[]]"), "no manifest.json"),
    "a long number": (lambda: manifest(b"9" * 9_999), "digits"),
    "no UTF-8": (lambda: manifest(b'{"\xff": 1}'), "utf-8"),
    "a member twice": (lambda: zipped(*[("manifest.json", GOOD)] * 2), "two members"),
    "shared members": (longer_than_the_file, "longer than the file"),
}

ENTRY: Final = {"name": "a", "type": "f8", "shape": [3]}
ENTRIES: Final[list[Any]] = [
    None,
    {"name": "a", "type": "f8"},
    *({**ENTRY, "type": "O8"}, {**ENTRY, "name": "../a"}, {**ENTRY, "name": "b"}),
    *({**ENTRY, "shape": shape} for shape in ([-3], [3.0], [True], [4], [2**62, 2**62])),
    *({**ENTRY, "shape": shape} for shape in ([0, 2**40], [1] * 9)),
    {**ENTRY, "type": "b1", "shape": [24]},
    *({**ENTRY, "axes": [1]}, {**ENTRY, "shape": [3, 1], "axes": [0, 0]}, {**ENTRY, "more": 1}),
]
COLUMN: Final = {"name": "a", "kind": "category", "values": ["u", "v"], "order": []}
COLUMNS: Final[list[Any]] = [
    *(None, {}, {**COLUMN, "name": 3}, {**COLUMN, "name": "b"}, {**COLUMN, "order": ["v"]}),
    *({**COLUMN, "kind": kind} for kind in ("object", ["number"], "number")),
    *({**COLUMN, "values": v} for v in ("uv", ["v", "u"], ["u", "u"], [1, True])),
    *({**COLUMN, "values": v} for v in ([None], [[1]], ["\udfff"])),
]
OPTIONS: Final[dict[str, Callable[[], Any]]] = {
    "lists of nine": lambda: json.loads("[" * 9 + "]" * 9),
    "lists of 900": lambda: json.loads("[" * 900 + "]" * 900),
    "a long list": lambda: [0] * 100_000,
    "a large dictionary": lambda: {"pairs": [[i, 1] for i in range(60_000)]},
}
MOMENTS: Final = [
    ("weight", [1.0, 5e-324]),
    ("weight", [0.0, 0.0]),
    ("gap", [[0.0, 0.0], [1.0, 1e200]]),
    ("scatter", [[[1.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]]),
]
CHECKS: Final[dict[str, Callable[[], None]]] = {
    "a negative sum of squares": lambda: check_scatter(-np.eye(2)),
    "products far beyond their squares": lambda: check_scatter(np.eye(2) + np.eye(2)[::-1] * 1e9),
    "priors that are no probabilities": lambda: check_prior(np.array([0.5, 0.6])),
}


def _archive(what: str) -> Refusal:
    make, words = ARCHIVES[what]
    return Refusal(f"{what} as a model file", lambda: read(make()), FormatError, words)


def _entry(entry: Any) -> Refusal:
    numbers = np.arange(3.0).tobytes()
    call = lambda: ArrayReader([entry], numbers).get("a", entry["type"])
    return Refusal(f"the array {entry}", call, FormatError, r"array.*\?$")


def _column(column: Any) -> Refusal:
    other = {"name": "b", "kind": "number", "values": [], "order": []}
    call = lambda: schema_in({"columns": [column, other], "classes": [1, 2]})
    return Refusal(f"the column {column}", call, FormatError, "column|values|text")


def _option(what: str) -> Refusal:
    call = lambda: from_plain(OPTIONS[what]())
    return Refusal(f"options of {what}", call, FormatError, "deeper, or holds more")


def _moments(name: str, numbers: Any) -> Refusal:
    def call() -> None:
        model: Any = LinearDiscriminant.from_moments(
            [[0.0, 0.0], [1.0, 2.0]], covariances=np.eye(2)
        )
        changed: dict[str, Any] = {name: np.array(numbers)}
        with np.errstate(all="ignore"):
            replace(model._summary, **changed).check()

    return Refusal(f"moments: {name} {numbers}", call, FormatError, "damaged")


def directions() -> None:
    model = FisherDiscriminant().fit([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 7.0]], [0, 0, 1, 1])
    model._model.check()
    replace(model._model, directions=model._model.directions * 1e160).check()


def _codes(truth: Any, said: Any, error: type[Exception], words: str) -> Refusal:
    call = lambda: Confusion.of(truth, said, ["a", "b"])
    return Refusal(f"{truth} said to be {said}", call, error, words)


def _shares(shares: Any, words: str) -> list[Refusal]:
    roc = lambda: Roc.of([0, 1], shares, ["a", "b"])
    reliability = lambda: Reliability.of([0, 1], [0, 1], shares)
    return [
        Refusal(f"a curve of {shares}", roc, InputError, words),
        Refusal(f"the reliability of {shares}", reliability, InputError, words),
    ]


REFUSALS: Final = [
    *map(_archive, ARCHIVES),
    Refusal("a device as a model file", lambda: read_archive("/dev/zero"), FormatError, "device"),
    *map(_entry, ENTRIES),
    *map(_column, COLUMNS),
    *map(_option, OPTIONS),
    *(
        Refusal(f"numbers of one hash, {what}", call, FormatError, "in good time")
        for what, call in {
            "in order": lambda: values_in(ONE_HASH, ordered=True),
            "in no order": lambda: values_in(ONE_HASH, ordered=False),
            "as keys": lambda: from_plain({"pairs": [[x, 1] for x in ONE_HASH]}),
        }.items()
    ),
    *(_moments(name, numbers) for name, numbers in MOMENTS),
    *(Refusal(words, call, FormatError, words) for words, call in CHECKS.items()),
    Refusal("directions of any length", directions, FormatError, "unit length"),
    _codes([0, 2], [0, 1], LabelError, "y_true has codes from 0 to 2, and there are 2 classes"),
    _codes([0, 1], [0, -1], LabelError, "y_pred has codes from -1 to 0"),
    _codes([0, 1], [0], InputError, "y_pred has 1 row and y_true 2"),
    _codes(["a"], ["a"], InputError, "one code of a class a row"),
    _codes([[0]], [[0]], InputError, "one code of a class a row"),
    _codes([], [], InputError, "no row to judge"),
    *_shares([[0.5, 0.5]], r"y_proba has the shape \(1, 2\): give \(2, 2\)"),
    *_shares([[0.5, np.nan], [0.5, 0.5]], "outside 0 to 1"),
    *_shares([[1.5, -0.5], [0.5, 0.5]], "outside 0 to 1"),
]
