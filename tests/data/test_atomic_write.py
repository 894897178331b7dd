"""Files are written whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sortal.data.atomic_write import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator


def _fill(path: Path, words: str, error: BaseException | None = None) -> None:
    with replace_file(path) as draft:
        draft.write_text(words)
        if error is not None:
            raise error


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        _fill(path, "half", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []
    _fill(path, "old")
    for error in (KeyboardInterrupt(), OSError("disk full"), SystemExit()):
        with pytest.raises(type(error)):
            _fill(path, "half", error)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]
    with replace_file(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
        assert draft.parent.parent == tmp_path
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out.csv", tmp_path / "link.csv"
    _fill(path, "old")
    path.chmod(0o640)
    link.symlink_to(path)
    _fill(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640  # noqa: PTH116


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
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(PermissionError, match=r"asked\.csv"), replace_file(tmp_path / "asked.csv"):
        pass


WRITE = """
import sys, time
from sortal.data.atomic_write import replace_file
with replace_file(sys.argv[1]) as draft:
    draft.write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


@contextmanager
def writing(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has written half of a file."""
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path, how: int) -> None:
    path = tmp_path / "out.csv"
    _fill(path, "old")
    with writing(path) as process:
        process.send_signal(how)
        process.wait()
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    _fill(tmp_path / "other.csv", "of another file")
    assert len(list(tmp_path.iterdir())) == 3
    _fill(path, "new")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other.csv", "out.csv"]


def test_what_others_write_or_have_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with writing(path):
        (hidden,) = tmp_path.iterdir()
        others = [hidden.with_name(hidden.name.replace("-", "-x", 1))]
        others.append(hidden.with_name(f"{hidden.name}.mine"))
        for other in others:
            other.mkdir()
        digit = "1" if hidden.name[-6] == "0" else "0"
        is_file = hidden.with_name(f"{hidden.name[:-6]}{digit}.part")
        is_file.write_text("a file")
        _fill(path, "meanwhile")
        assert (hidden / "draft").read_text() == "half"
    assert {*tmp_path.iterdir()} == {path, hidden, *others, is_file}


IN_FOLDER = """
import os, tempfile
from pathlib import Path
from sortal.data.atomic_write import replace_file
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "out.csv").write_text("old")
    folder.chmod(0o555)
    if os.getuid() == 0:  # to whom nothing is forbidden
        os.seteuid(65534)
    try:
        with replace_file(folder / "out.csv") as draft:
            draft.write_text("new")
    except PermissionError as error:
        print(Path(error.filename).name)
    if os.getuid() == 0:
        os.seteuid(0)
    print([(one.name, one.read_text()) for one in folder.iterdir()])
    folder.chmod(0o700)
"""


def test_a_folder_that_is_read_only() -> None:
    command = [sys.executable, "-c", IN_FOLDER]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "out.csv\n[('out.csv', 'old')]\n"
