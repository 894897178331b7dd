"""Pictures are drawn without a screen, and none stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")
