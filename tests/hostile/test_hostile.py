"""Files that change while they are read, full disks and signals: few, more, and very many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.hostile import changing, commands

if TYPE_CHECKING:
    from pathlib import Path

FULL, EVIDENCE = pytest.mark.full, pytest.mark.evidence


@pytest.mark.parametrize(
    "count", [15, pytest.param(60, marks=FULL), pytest.param(5000, marks=EVIDENCE)]
)
def test_a_file_that_changes_is_read_as_it_was_or_refused(count: int, tmp_path: Path) -> None:
    assert list(changing.findings(count, 1, tmp_path)) == []


@pytest.mark.parametrize(
    ("chosen", "ended"),
    [
        pytest.param(commands.QUICK, 3, marks=FULL),
        pytest.param(commands.COMMANDS, 100, marks=EVIDENCE),
    ],
    ids=["one command", "all commands"],
)
def test_a_full_disk_or_a_signal_leaves_the_old_file_or_the_new(
    chosen: tuple[commands.Command, ...], ended: int, tmp_path: Path
) -> None:
    commands.prepare(tmp_path, chosen)
    assert list(commands.full_disks(tmp_path, chosen)) == []
    assert list(commands.signals(ended, 1, tmp_path, chosen)) == []
