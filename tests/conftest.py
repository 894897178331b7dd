"""Set before scipy is imported: one of scikit-learn's checks would be skipped without it."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections import Counter
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings

os.environ["SCIPY_ARRAY_API"] = "1"
os.environ["MPLBACKEND"] = "agg"  # pictures are drawn without a screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
# Where a digit may depend on how the processor adds up.
NUMERICAL: Final = {
    *("bayes", "discriminants", "kernels", "neighbors", "trees"),
    *("base", "decision", "evaluation", "modelfile", "native", "records", "summaries"),
    *("contract", "parity", "pins"),
}
DRAWN: Final = {"displays", "drawing"}  # folders in these, where it does not
HERE: Final = Path(__file__).parent
QUIET: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Examples are the same in every run; how long one takes depends on what else the machine does.
for tier, examples in (("quick", 20), ("full", 100), ("evidence", 1000)):
    settings.register_profile(
        tier,
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("quick")


def pytest_configure() -> None:
    """Ctrl-C as at a terminal: a shell has what it starts in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parts = item.path.relative_to(HERE).parts
        if parts[0] in NUMERICAL and DRAWN.isdisjoint(parts):
            item.add_marker("numerical")


def pytest_sessionfinish() -> None:
    """Let go of models that tests share: compiled parts would count as leaked when Python ends."""
    for one in gc.get_objects():
        if type(one) is _lru_cache_wrapper and one.__module__.startswith("tests."):
            one.cache_clear()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a reason for what was skipped, however many tests it concerns."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, times in Counter(one.longrepr[2] for one in skipped).items():
        terminalreporter.write_line(f"SKIPPED [{times}] {reason.removeprefix('Skipped: ')}")


@pytest.fixture(autouse=True)
def _no_figure_stays() -> Iterator[None]:
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="module")
def one_process() -> Iterator[None]:
    """Comparisons run their folds in this process: starting others takes longer than the folds."""
    from tests.one_process import Inside

    from sortal.tasks.compare import workers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "Worker", Inside)
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser, where there is one."""
    if CHROMIUM is None:
        missing = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        missing("what a page does is not seen without Chromium: apt install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        opened = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def _window(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page for the tests of a module, and what it complains of."""
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    context.set_default_timeout(60_000)
    complaints: list[str] = []
    context.on("request", lambda request: complaints.append(f"asked for {request.url}"))
    context.route("**/*", lambda route: route.abort())
    opened = context.new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield opened, complaints
    context.close()


@pytest.fixture
def page(_window: tuple[Page, list[str]]) -> Iterator[Page]:
    """A page that asks nothing from the network and reports no error."""
    opened, complaints = _window
    complaints.clear()
    yield opened
    opened.evaluate("0")  # what was said until now has come
    assert complaints == []
