"""A plugin of pytest: writes down which test runs, and ends a process whose test does not.

What a fault does to a test may be that it crashes or never ends; then no report says which.
Without a place for that note, it writes down how long each test took instead.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 600  # more than any test takes on a busy machine


TIMES: Counter[str] = Counter()


def note(nodeid: str) -> None:
    if "FAULT_NOTE" in os.environ:
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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    TIMES[report.nodeid] += report.duration  # type: ignore[assignment]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if "FAULT_TIMES" in os.environ and not hasattr(session.config, "workerinput"):
        Path(os.environ["FAULT_TIMES"]).write_text(json.dumps(TIMES), encoding="utf-8")
