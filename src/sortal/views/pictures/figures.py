"""Figures of matplotlib as elements of a page and as files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def svg_of(figure: Figure, name: str, alt: str) -> str:
    """One svg element without identifiers that another one has."""
    raise NotImplementedError((figure, name, alt))


def png_of(figure: Figure) -> bytes:
    """The bytes of a PNG file."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=150, bbox_inches="tight")
    return target.getvalue()
