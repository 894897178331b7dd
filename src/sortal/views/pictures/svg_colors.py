"""Colors of a figure for a page that may be light or dark.

Black and grays become the color of the page's text, more or less of it; white becomes the page; a
pale color becomes a strong one that is nearly transparent, which looks the same on white.
"""

from __future__ import annotations

import re
from typing import Final

from sortal.views.palette import COLORS
from sortal.views.pictures.svg_paths import short

PAPER: Final = "var(--paper, Canvas)"
INK: Final = "currentColor"

_HEX: Final = re.compile(r"#[0-9a-f]{6}")
_CLASS_COLORS: Final = frozenset(color.lower() for color in COLORS)

# A color whose least part is above this is a tint of white.
_PALE: Final = 180

# Parts that differ by less make a gray.
_GRAY: Final = 3


def recolored(style: dict[str, str]) -> dict[str, str]:
    """Fill and stroke in colors of the page, and their opacity."""
    found = dict(style)
    for name in ("fill", "stroke"):
        color = found.get(name, "")
        if _HEX.fullmatch(color) and color not in _CLASS_COLORS:
            found[name], share = _of_page(color)
            if share < 1:
                whole = float(found.get(f"{name}-opacity", "1"))
                found[f"{name}-opacity"] = short(whole * share)
    return found


def _of_page(color: str) -> tuple[str, float]:
    """A color that may depend on the page, and how much of it covers what is below."""
    parts = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    least = min(parts)
    if max(parts) - least < _GRAY:
        return (PAPER, 1.0) if least > 253 else (INK, 1 - least / 255)
    if least < _PALE:
        return color, 1.0
    share = 1 - least / 255
    strong = [round((part - least) / share) for part in parts]
    return "#" + "".join(f"{min(part, 255):02x}" for part in strong), share
