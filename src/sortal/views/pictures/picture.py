"""A picture: drawn when it is asked for, with a text instead of it and its data as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal.views.pictures.figures import png_of, svg_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from sortal.models.records import Table
    from sortal.views.parts import Part


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with its title, what it shows in words (`alt`), and its data.

    `name` is made of small letters, digits and hyphens, and is its own in a report. `note` says
    what was left out and the line of code that shows all; `code` is Python that draws it. `part`
    is what a page shows in its place where there is more to do than to look, with `part_note`
    instead of `note`; `in_page` is False where another part shows the same there.
    """

    name: str
    title: str
    alt: str
    draw: Callable[[], Figure]
    table: Table | None = None
    note: str = ""
    code: str = ""
    part: Part | None = None
    part_note: str = ""
    in_page: bool = True

    def svg(self) -> str:
        """An element for a page: colors of its text and axes are those of the page."""
        return svg_of(self.draw(), self.name, self.alt)

    def png(self) -> bytes:
        """A file for papers and repositories, on white."""
        return png_of(self.draw())
