"""What `python -m tests.hostile` runs in large numbers, in small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.hostile import changing, commands

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_that_changes_is_read_as_it_was_or_refused(tmp_path: Path) -> None:
    assert list(changing.findings(60, 1, tmp_path)) == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which commands have written once."""
    folder = tmp_path_factory.mktemp("written")
    commands.prepare(folder, commands.QUICK)
    return folder


def test_a_full_disk_leaves_what_was_there(written: Path) -> None:
    assert list(commands.full_disks(written, commands.QUICK)) == []


def test_signals_leave_the_old_file_or_the_new(written: Path) -> None:
    assert list(commands.signals(3, 1, written, commands.QUICK)) == []
