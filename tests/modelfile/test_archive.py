"""The zip of a model file: plain, the same bytes every time, whole or not there, not trusted."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import pytest

from sortal.errors import FormatError
from sortal.modelfile.archive import ArchiveMembers, parse_json, read_archive, write_archive
from sortal.modelfile.arrays import ArrayReader, ArrayWriter

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ArchiveMembers({"text": "grün ≤ 3"}, np.arange(3.0).tobytes())


def written(tmp_path: Path) -> Path:
    path = tmp_path / "m.sortal"
    write_archive(path, PARTS)
    return path


def test_what_is_written_is_read_and_other_tools_check_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    read = read_archive(path)
    assert vars(read) == vars(PARTS)
    first = path.read_bytes()
    assert written(tmp_path).read_bytes() == first
    with ZipFile(path) as archive:
        infos = archive.infolist()
        names = ["manifest.json", "arrays", "SHA256SUMS"]
        assert [i.filename for i in infos] == names
        assert {(i.compress_type, i.date_time[0]) for i in infos} == {(ZIP_STORED, 1980)}
        archive.extractall(tmp_path)
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", "SHA256SUMS"],  # noqa: S607
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.count(": OK") == 2


def test_no_such_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "none.sortal")
    with pytest.raises(IsADirectoryError):
        read_archive(tmp_path)
    assert parse_json(b'{"a": [1, 2.5, "\\u00e4"]}') == {"a": [1, 2.5, "ä"]}


def read_back(writer: ArrayWriter) -> ArrayReader:
    return ArrayReader(writer.entries, writer.numbers)


def axes(array: Any) -> list[int]:
    return sorted(range(array.ndim), key=lambda i: -array.strides[i] * (array.shape[i] > 1))


def test_an_array_comes_back_in_its_memory_order() -> None:
    arrays: list[Any] = [
        np.arange(24.0).reshape(2, 3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.asfortranarray(np.arange(20.0).reshape(5, 4))[2:3],
        np.arange(20.0).reshape(5, 4)[:, 1:3],
        np.broadcast_to(np.arange(3.0)[:, None], (3, 4)),
        np.empty((3, 0)),
        np.array([np.inf, -0.0, np.nan]),
        np.array([True, False]),
        *(np.array([-1, 2], dtype=dtype) for dtype in (np.int8, np.int32)),
        np.array(5, dtype=np.int64),
    ]
    for array in arrays:
        writer, other = ArrayWriter(), ArrayWriter()
        writer.put("a", array)
        again = read_back(writer).get("a", array.dtype.str[1:])
        assert (again.dtype, again.tobytes()) == (array.dtype, array.tobytes())
        assert axes(again) == axes(array)
        other.put("a", again)
        assert other.entries == writer.entries


def test_equal_arrays_are_kept_once() -> None:
    writer = ArrayWriter()
    names = [writer.put(name, np.arange(3.0)) for name in ("a", "b")]
    assert names == ["a", "a"]
    assert writer.put("c", np.arange(3)) == "c"
    assert writer.numbers == np.arange(3.0).tobytes() + np.arange(3).tobytes()
    reader = read_back(writer)
    reader.get("a", "f8")
    with pytest.raises(FormatError, match="'c' belongs to nothing"):
        reader.check_all_used()


def test_a_writer_that_is_stopped_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed process leaves is tested where files are replaced."""
    path = written(tmp_path)
    first = path.read_bytes()

    def stop(archive: ZipFile, member: Any, data: bytes) -> None:
        if member.filename == "arrays":
            raise KeyboardInterrupt
        write(archive, member, data)

    write = ZipFile.writestr
    monkeypatch.setattr(ZipFile, "writestr", stop)
    with pytest.raises(KeyboardInterrupt):
        write_archive(path, ArchiveMembers({"more": 1}, PARTS.numbers))
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]
