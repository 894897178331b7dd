"""A report in Markdown: text and pictures together or not at all, and nothing of others touched."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sortal.errors import InputError
from sortal.tasks.report.markdown import picture_file, save_markdown


def write(folder: Path, text: str, *pictures: bytes) -> None:
    """Save r.md, whose pictures are called p."""
    named = {picture_file("p", data): data for data in pictures}
    save_markdown(text, named, folder / "r.md", folder / "r_pictures")


def found(folder: Path) -> dict[str, Any]:
    """Every file below a folder, by its path; a folder has None."""
    return {
        str(one.relative_to(folder)): one.read_bytes() if one.is_file() else None
        for one in folder.rglob("*")
    }


def report(text: str, *pictures: bytes) -> dict[str, Any]:
    """What is found where a report lies and nothing else."""
    named = {f"r_pictures/{picture_file('p', data)}": data for data in pictures}
    return {"r.md": text.encode(), "r_pictures": None} | named


def test_a_new_report_takes_the_place_of_the_old(tmp_path: Path) -> None:
    write(tmp_path, "one", b"1", b"2")
    write(tmp_path, "two", b"2", b"3")
    assert found(tmp_path) == report("two", b"2", b"3")


def test_what_fails_leaves_the_old_report(tmp_path: Path) -> None:
    write(tmp_path, "one", b"1")
    with pytest.raises(TypeError):
        save_markdown(
            "two",
            {picture_file("p", b"2"): b"2", "q.png": "no bytes"},  # type: ignore[dict-item]
            tmp_path / "r.md",
            tmp_path / "r_pictures",
        )
    assert found(tmp_path) == report("one", b"1")


@pytest.mark.parametrize("old", [True, False])
def test_the_last_step_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool) -> None:
    if old:
        write(tmp_path, "one", b"1")

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, "two", b"2")
    assert found(tmp_path) == (report("one", b"1") if old else {})


KILLED = """
import os, signal, sys
from pathlib import Path
from sortal.tasks.report.markdown import picture_file, save_markdown
step, folder = int(sys.argv[1]), Path(sys.argv[3])

def count(event, _):
    global step
    if event in ("open", "os.mkdir", "os.rename", "os.remove"):
        step -= 1
        if step == 0:
            os.kill(os.getpid(), int(sys.argv[2]))

named = {picture_file("p", data): data for data in (b"2", b"3")}
sys.addaudithook(count)
save_markdown("two", named, folder / "r.md", folder / "r_pictures")
"""


def test_a_kill_at_any_step_leaves_a_whole_report(tmp_path: Path) -> None:
    ended = []
    for step in range(1, 40, 6):
        folder = tmp_path / str(step)
        folder.mkdir()
        write(folder, "one", b"1", b"2")
        how = signal.SIGKILL if step % 4 == 1 else signal.SIGTERM
        command = [sys.executable, "-c", KILLED, str(step), str(int(how)), str(folder)]
        ended.append(subprocess.run(command, check=False).returncode)
        left = found(folder)
        whole = report("one", b"1", b"2") if left["r.md"] == b"one" else report("two", b"2", b"3")
        assert whole.items() <= left.items()
        write(folder, "three", b"4")
        assert found(folder) == report("three", b"4")
    assert {-signal.SIGKILL, -signal.SIGTERM, 0} == {*ended}


def test_files_of_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "r_pictures"
    folder.mkdir()
    mine = {
        "IMG_0001.png": b"a photograph",
        "p-0123456789abcdef.png": b"it has the form of a name of ours",
        "thesis.docx": b"years of work",
    }
    for name, data in mine.items():
        (folder / name).write_bytes(data)
    theirs = {f"r_pictures/{name}": data for name, data in mine.items()}
    write(tmp_path, "one", b"1")
    write(tmp_path, "two", b"2")
    assert found(tmp_path) == report("two", b"2") | theirs
    (folder / picture_file("p", b"3")).write_bytes(b"something else")
    with pytest.raises(InputError, match="something else is there: move it"):
        write(tmp_path, "three", b"3", b"4")
    assert {*found(tmp_path)} == {*report("two", b"2", b"3"), *theirs}


def test_what_is_in_the_way_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    write(tmp_path, "one", b"1")
    (tmp_path / "r.md").unlink()
    (tmp_path / "r.md").mkdir()
    before = found(tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        write(tmp_path, "two", b"2")
    assert found(tmp_path) == before
    other = tmp_path / "other"
    other.mkdir()
    (other / "r_pictures").write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match="is no folder"):
        write(other, "two", b"2")
    assert found(other) == {"r_pictures": b"a file"}
