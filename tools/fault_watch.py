"""A plugin of pytest: writes down which test runs, and ends a process whose test does not.

What a fault does to a test may be that it crashes or never ends; then no report says which.
"""

from __future__ import annotations

import faulthandler
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 600  # more than any test takes on a busy machine


def note(nodeid: str) -> None:
    Path(os.environ["FAULT_NOTE"]).write_text(nodeid, encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    note(item.nodeid)
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        note(report.nodeid)
