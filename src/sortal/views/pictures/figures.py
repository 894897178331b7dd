"""Figures of matplotlib as elements of a page and as files."""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.colors import to_rgba
from matplotlib.text import Text

from sortal.views.pictures.svg_elements import cleaned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A point of a figure in pixels of a page.
_PIXELS = 4 / 3


def svg_of(figure: Figure, name: str, alt: str) -> str:
    """One svg element without identifiers that another one has: those it needs begin with `name`.

    Letters are text in the font of the page. Black, grays and white are the page's own colors, so
    that it may be light or dark (`--paper`, or else Canvas, is its background); what an artist with
    the gid "fixed" draws keeps its colors.
    """
    target = io.StringIO()
    options: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "sortal"}
    with mpl.rc_context(options), _quiet(), _as_words(figure), _bare(figure):
        figure.savefig(
            target,
            format="svg",
            facecolor="none",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    return cleaned(target.getvalue(), name, alt, _PIXELS)


def png_of(figure: Figure) -> bytes:
    """The bytes of a PNG file, on white; nothing in it says when or by what it was made."""
    target = io.BytesIO()
    with _quiet():
        figure.savefig(
            target,
            format="png",
            dpi=150,
            bbox_inches="tight",
            facecolor="white",
            metadata={"Software": None},
        )
    return target.getvalue()


@contextmanager
def _quiet() -> Iterator[None]:
    """Letters that the measuring font lacks are no news: the page has other fonts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


@contextmanager
def _as_words(figure: Figure) -> Iterator[None]:
    """Texts say in their gid what matplotlib would lose: how lines are aligned, and a rim.

    With a path effect, letters would be written as outlines.
    """
    before = []
    for text in figure.findobj(Text):
        effects, gid = text.get_path_effects(), text.get_gid()
        before.append((text, effects, gid))
        several = "\n" in text.get_text()
        told = [gid or "", f"align-{text.get_horizontalalignment()}" if several else ""]
        told += ["rim" if effects else ""]
        text.set_gid(" ".join(filter(None, told)) or None)
        text.set_path_effects([])
    try:
        yield
    finally:
        for text, effects, gid in before:
            text.set_path_effects(effects)
            text.set_gid(gid)


@contextmanager
def _bare(figure: Figure) -> Iterator[None]:
    """Axes without a white ground of their own."""
    shown = [ax for ax in figure.axes if ax.patch.get_visible() and _is_white(ax)]
    for ax in shown:
        ax.patch.set_visible(False)
    try:
        yield
    finally:
        for ax in shown:
            ax.patch.set_visible(True)


def _is_white(ax: Axes) -> bool:
    return to_rgba(ax.get_facecolor())[:3] == (1.0, 1.0, 1.0)
