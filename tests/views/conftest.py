"""Pictures are drawn without a screen; one page for each module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import pytest

mpl.use("Agg")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page


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
