"""Words in the boxes of a tree: how wide they may get, and what is left of those too long.

No font is at hand where a drawing is made, and the reader's is not known. Widths are those of
DejaVu Sans, which is wide among the fonts in use, so that words stay inside their boxes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from unicodedata import category, east_asian_width

from sortal.models.conditions import quoted
from sortal.views.lettering import shorten

# Sizes of letters and the room around them, in pixels.
LETTERS: Final = 12
SMALL: Final = 11
TINY: Final = 10
PAD: Final = 8

# In hundredths of the font size.
_GROUPS: Final = {
    36: " ',./:;\\|ijlI-·",
    42: "!()[]ftr",
    56: '"*?_`cJsz',
    65: "0123456789abdeghknopquvxyzEFLPST${}",
    80: "ABCDGHKNOQRUVXYZ&",
    87: "#+<=>~^wM≤≥",
    103: "mW@%…",
}
_BOLD: Final = 1.17

# Of a text that is shortened, so many letters stay in any case.
_LEAST: Final = 4


class _Widths(dict[str, int]):
    """Widths of single signs."""

    def __missing__(self, c: str) -> int:
        """Of a rare sign, by its kind."""
        if category(c) in ("Mn", "Me"):  # drawn over the letter before
            return 0
        if east_asian_width(c) in "WF":
            return 110
        return 80 if c.islower() else 110


_WIDTHS: Final = _Widths({c: width for width, group in _GROUPS.items() for c in group})


@lru_cache(maxsize=4096)
def text_width(text: str, size: int, *, bold: bool = False) -> int:
    """The width of a text in pixels, rather too much than too little; an even number."""
    hundredths = sum(map(_WIDTHS.__getitem__, text))
    return 2 * int(hundredths * size * (_BOLD if bold else 1.0) / 200 + 1)


@lru_cache(maxsize=4096)
def fit(text: str, size: int, room: int, *, bold: bool = False) -> str:
    """The text, shortened in its middle until it is no wider than `room`."""
    most = max(
        min(len(text), 3 * room // size), _LEAST
    )  # more letters have no room, however narrow
    while most > _LEAST and text_width(shorten(text, most), size, bold=bold) > room:
        most -= 1
    return shorten(text, most)


def plain(name: object) -> str:
    """A name on its own, in quotes only if it would not be seen whole without them."""
    text = str(name)
    return text if text.isprintable() and text.strip() == text != "" else quoted(text)


def share_text(share: float) -> str:
    """A share in whole percents; what is neither none nor all is not written as if it were."""
    percent = f"{100 * share:.0f}"
    if percent == "100" and share < 1:
        return "> 99 %"
    return "< 1 %" if percent == "0" and share > 0 else f"{percent} %"
