"""The zip of a model file: plain, the same bytes every time, whole or not there, not trusted."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import pytest

from sortal.errors import FormatError
from sortal.models.archive import Parts, parse_json, read_archive, write_archive
from sortal.models.members import ArrayReader, ArrayWriter

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = {"format": "sortal model", "version": 1, "text": "grün ≤ 3"}
PARTS = Parts(MANIFEST, {"arrays/a": np.arange(3.0).tobytes(), "summary": b"SRTL"})


def written(tmp_path: Path, parts: Parts = PARTS) -> Path:
    path = tmp_path / "m.sortal"
    write_archive(path, parts)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    read = read_archive(written(tmp_path))
    assert read.manifest == MANIFEST
    assert dict(read.members) == dict(PARTS.members)


def test_members_are_stored_with_a_fixed_date_and_other_tools_check_them(tmp_path: Path) -> None:
    path = written(tmp_path)
    first = path.read_bytes()
    assert written(tmp_path).read_bytes() == first
    with ZipFile(path) as archive:
        infos = archive.infolist()
        assert [i.filename for i in infos] == [
            *("manifest.json", "arrays/a", "summary", "SHA256SUMS")
        ]
        assert {(i.compress_type, i.date_time[0]) for i in infos} == {(ZIP_STORED, 1980)}
        archive.extractall(tmp_path)
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", "SHA256SUMS"],  # noqa: S607
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.count(": OK") == 3


def zipped(
    members: list[tuple[str, bytes]], method: int = ZIP_STORED, *, sums: bool = True
) -> bytes:
    """A zip of any members, with right checksums."""
    lines = [f"{sha256(data).hexdigest()}  {name}\n" for name, data in members]
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", method) as archive:
        for name, data in [*members, *([("SHA256SUMS", "".join(lines).encode())] if sums else [])]:
            info = ZipInfo(name)
            info.compress_type = method
            archive.writestr(info, data)
    return buffer.getvalue()


GOOD = b'{"format": "sortal model", "version": 1}'
HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "no model file"),
    "text": (b"a,b\n1,2\n", "no model file"),
    "pickle": (b"\x80\x04\x95", "no model file"),
    "no manifest": (zipped([("arrays/a", b"")]), "no manifest.json"),
    "compressed": (zipped([("manifest.json", GOOD * 999)], ZIP_DEFLATED), "compressed"),
    "no sums": (zipped([("manifest.json", GOOD)], sums=False), "checksum of 'manifest.json'"),
    "another format": (zipped([("manifest.json", b'{"format": "x"}')]), "does not say"),
    "newer": (zipped([("manifest.json", GOOD.replace(b"1", b"2"))]), "install a newer release"),
    "absurd version": (zipped([("manifest.json", GOOD.replace(b"1", b"9" * 999))]), "newer"),
    "no version": (zipped([("manifest.json", GOOD.replace(b"1", b"true"))]), "no version"),
    "NaN": (zipped([("manifest.json", GOOD.replace(b"1", b"NaN"))]), "NaN is no JSON"),
    "infinity": (zipped([("manifest.json", GOOD.replace(b"1", b"1e999"))]), "too large"),
    "twice": (zipped([("manifest.json", b'{"a": 1, "a": 2}')]), "occurs twice"),
    "deep": (zipped([("manifest.json", b"[" * 99_999)]), "recursion"),
    "much": (zipped([("manifest.json", b"[" + b"[]," * 2**22 + b"[]]")]), "no manifest.json"),
    "long int": (zipped([("manifest.json", b"9" * 9_999)]), "digits"),
    "no UTF-8": (zipped([("manifest.json", b'{"\xff": 1}')]), "utf-8"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_model_file_is_refused_in_words(name: str, tmp_path: Path) -> None:
    data, words = HOSTILE[name]
    path = tmp_path / "m.sortal"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=words):
        read_archive(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.sortal"
    with pytest.warns(UserWarning, match="Duplicate name"):
        path.write_bytes(zipped([("manifest.json", GOOD), ("manifest.json", GOOD)]))
    with pytest.raises(FormatError, match="two members"):
        read_archive(path)


def test_any_flipped_byte_of_a_member_is_noticed(tmp_path: Path) -> None:
    good = bytearray(written(tmp_path).read_bytes())
    with ZipFile(io.BytesIO(good)) as archive:
        places = [i.header_offset + 30 + len(i.filename) for i in archive.infolist()]
    for place in places:
        bad = good.copy()
        bad[place] ^= 1
        (tmp_path / "bad.sortal").write_bytes(bad)
        with pytest.raises(FormatError):
            read_archive(tmp_path / "bad.sortal")


def test_members_longer_than_the_file_are_refused(tmp_path: Path) -> None:
    """One stored member that several names of the directory share would be read many times."""
    data = bytearray(zipped([("manifest.json", GOOD), ("summary", b"\0" * 4000)], sums=False))
    start = data.rindex(b"PK\x01\x02")
    entry, end = bytes(data[start : data.rindex(b"PK\x05\x06")]), data.rindex(b"PK\x05\x06")
    copies = [entry.replace(b"summary", b"summar%d" % i) for i in range(5)]
    tail = bytearray(data[end:])
    tail[8:12] = (7).to_bytes(2, "little") * 2
    directory = data[data.index(b"PK\x01\x02") : end] + b"".join(copies)
    tail[12:16] = len(directory).to_bytes(4, "little")
    (tmp_path / "m.sortal").write_bytes(
        bytes(data[: data.index(b"PK\x01\x02")] + directory) + bytes(tail)
    )
    with pytest.raises(FormatError, match="longer than the file"):
        read_archive(tmp_path / "m.sortal")


def test_no_such_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "none.sortal")
    with pytest.raises(IsADirectoryError):
        read_archive(tmp_path)
    with pytest.raises(FormatError, match="device"):
        read_archive("/dev/zero")


def test_json_is_read_as_the_standard_has_it() -> None:
    assert parse_json(b'{"a": [1, 2.5, "\\u00e4"]}') == {"a": [1, 2.5, "ä"]}


# --- Arrays --------------------------------------------------------------------------------------


def read_back(writer: ArrayWriter) -> ArrayReader:
    return ArrayReader(writer.entries, writer.members)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.asfortranarray(np.arange(20.0).reshape(5, 4))[2:3],
        np.arange(20.0).reshape(5, 4)[:, 1:3],
        np.broadcast_to(np.arange(3.0)[:, None], (3, 4)),
        np.empty((3, 0)),
        np.array([np.inf, -0.0, np.nan]),
        np.array([True, False]),
        np.array([-1, 2], dtype=np.int8),
        np.array([-1, 2], dtype=np.int32),
        np.array(5, dtype=np.int64),
    ],
)
def test_an_array_comes_back_in_its_memory_order(array: Any) -> None:
    writer = ArrayWriter()
    code = array.dtype.str[1:]
    writer.put("a", array)
    again = read_back(writer).get("a", code)
    assert again.dtype == array.dtype
    assert again.tobytes() == array.tobytes()
    order = sorted(range(array.ndim), key=lambda i: -array.strides[i] * (array.shape[i] > 1))
    assert order == sorted(
        range(array.ndim), key=lambda i: -again.strides[i] * (again.shape[i] > 1)
    )
    other = ArrayWriter()
    other.put("a", again)
    assert other.entries == writer.entries


def test_equal_arrays_are_kept_once() -> None:
    writer = ArrayWriter()
    names = [writer.put(name, np.arange(3.0)) for name in ("a", "b")]
    assert names == ["a", "a"]
    assert writer.put("c", np.arange(3)) == "c"
    assert list(writer.members) == ["arrays/a", "arrays/c"]
    reader = read_back(writer)
    reader.get("a", "f8")
    with pytest.raises(FormatError, match="'arrays/c' belongs to nothing"):
        reader.check_all_used()


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {"name": "a", "type": "f8"},
        {"name": "a", "type": "O8", "shape": [3]},
        {"name": "../a", "type": "f8", "shape": [3]},
        {"name": "a", "type": "f8", "shape": [-3]},
        {"name": "a", "type": "f8", "shape": [3.0]},
        {"name": "a", "type": "f8", "shape": [True]},
        {"name": "a", "type": "f8", "shape": [4]},
        {"name": "a", "type": "f8", "shape": [2**62, 2**62]},
        {"name": "a", "type": "f8", "shape": [0, 2**40]},
        {"name": "a", "type": "f8", "shape": [1] * 9},
        {"name": "a", "type": "f8", "shape": [3], "axes": [1]},
        {"name": "a", "type": "f8", "shape": [3, 1], "axes": [0, 0]},
        {"name": "a", "type": "f8", "shape": [3], "more": 1},
        {"name": "a", "type": "b1", "shape": [24]},
        {"name": "b", "type": "f8", "shape": [3]},
    ],
)
def test_what_cannot_be_an_array_is_refused(entry: Any) -> None:
    members = {"arrays/a": np.arange(3.0).tobytes()}
    with pytest.raises(FormatError):
        ArrayReader([entry], members).get("a", "b1" if entry["type"] == "b1" else "f8")


# --- Whole or not at all -------------------------------------------------------------------------


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path)
    old = path.read_bytes()
    count = iter(range(9))

    def fail(*args: Any) -> None:
        if next(count) == 2:
            raise KeyboardInterrupt
        writestr(*args)

    writestr = ZipFile.writestr
    monkeypatch.setattr(ZipFile, "writestr", fail)
    with pytest.raises(KeyboardInterrupt):
        write_archive(path, PARTS)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_rights_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "m.sortal", tmp_path / "link.sortal"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_archive(link, PARTS)
    assert link.is_symlink()
    assert read_archive(path).manifest == MANIFEST
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


# A writer that never rests: version after version of a file, each of many small writes.
WRITER = """
import sys
from itertools import count
from pathlib import Path
from sortal.models.archive import Parts, write_archive
path = Path(sys.argv[1])
print("ready", flush=True)
for i in count(1):
    manifest = {"format": "sortal model", "version": 1, "i": i}
    members = {f"arrays/{j}": bytes([i % 256]) * 4000 for j in range(20)}
    write_archive(path, Parts(manifest, members))
    if len(sys.argv) > 2:
        path.unlink()
"""


@pytest.mark.parametrize("deletes", [False, True])
def test_a_killed_writer_leaves_a_whole_file_or_none(deletes: bool, tmp_path: Path) -> None:
    rng, outcomes = np.random.default_rng(5), {"whole": 0, "none": 0, "rest": 0}
    path = tmp_path / "m.sortal"
    for _ in range(10):
        path.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), *(["x"] if deletes else [])],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.03)))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if path.exists():
            read = read_archive(path)  # with checksums
            assert {bytes(d)[0] for d in read.members.values()} == {read.manifest["i"] % 256}
        outcomes["whole" if path.exists() else "none"] += 1
        outcomes["rest"] += any(p != path for p in tmp_path.iterdir())
    # some were killed in the middle of writing, whose rest lies beside, under another name
    assert outcomes["rest"] > 0
    assert outcomes["none"] > 0 if deletes else outcomes["whole"] > 0
    write_archive(path, PARTS)
    assert list(tmp_path.iterdir()) == [path]
