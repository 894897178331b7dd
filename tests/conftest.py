"""Set before scipy is imported: one of scikit-learn's checks would be skipped without it."""

from __future__ import annotations

import os
import shutil
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

os.environ["SCIPY_ARRAY_API"] = "1"

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session", autouse=True)
def _cores_are_counted_once() -> Iterator[None]:
    """The system takes about as long to say how many there are as a small table to be fitted."""
    from joblib import cpu_count

    counted = cache(lambda _: cpu_count())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sortal.engines.local.cpu_count",
            lambda: counted(os.environ.get("LOKY_MAX_CPU_COUNT")),
        )
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser, where there is one."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: what scripts do cannot be seen")
    pytest.importorskip("playwright", reason="playwright is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        opened = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()
