"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sortal.data.writing import replace_file
from sortal.errors import InputError


def _fill(path: Path, words: str, error: BaseException | None = None) -> None:
    with replace_file(path) as draft:
        draft.write_text(words)
        if error is not None:
            raise error


def test_a_new_file_and_a_file_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    _fill(path, "one")
    _fill(path, "two")
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("disk full"), SystemExit()])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: BaseException
) -> None:
    path = tmp_path / "out.csv"
    _fill(path, "old")
    with pytest.raises(type(error)):
        _fill(path, "half", error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_without_an_old_file_leaves_none(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _fill(tmp_path / "out.csv", "half", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_the_old_file_is_seen_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    _fill(path, "old")
    with replace_file(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
        assert draft.parent == tmp_path
    assert path.read_text() == "new"


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out.csv", tmp_path / "link.csv"
    _fill(path, "old")
    path.chmod(0o640)
    link.symlink_to(path)
    _fill(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640  # noqa: PTH116


def test_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        _fill(tmp_path, "x")
    with pytest.raises(InputError, match=r"no folder .*nowhere"):
        _fill(tmp_path / "nowhere" / "out.csv", "x")


def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with replace_file(pipe) as draft:
            draft.write_bytes(b"all of it")
        assert os.read(reading, 100) == b"all of it"
    finally:
        os.close(reading)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_an_error_names_the_file_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match=r"asked\.csv"), replace_file(tmp_path / "asked.csv"):
        pass
