"""Words in pictures. Names of classes and columns come from data: they are shown, not interpreted.

A dollar sign would start a formula, a leading underscore would hide an entry of the legend, and
TeX, where somebody has switched it on, would run commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

LONGEST = 28
_NUMBERS_SHOWN = 4

# Of the attributes that are held fixed (or of priors), so many are named below the title.
_FIXED_SHOWN = 3

# A legend of more entries goes on in a next column.
_LEGEND_ROWS = 24


def shown(name: object, most: int = LONGEST) -> str:
    """A name as it can be put into a picture: one line, not too long, without formulas."""
    one_line = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    return shorten(one_line or "(empty)", most).replace("$", r"\$")


def shorten(text: str, most: int) -> str:
    """The beginning and the end of a long text: names of one family often differ at the end."""
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def class_entries(classes: Iterable[object], counts: Iterable[int]) -> list[str]:
    """Classes for a legend, with how many rows each has."""
    return [f"{shown(name)} ({n})" for name, n in zip(classes, counts, strict=True)]


def vector_text(vector: Iterable[float]) -> str:
    """(−0.551, 0.834); of a long vector the first entries."""
    numbers = [number_text(x) for x in vector]
    more = ["…"] if len(numbers) > _NUMBERS_SHOWN else []
    return f"({', '.join(numbers[:_NUMBERS_SHOWN] + more)})"


def number_text(x: float) -> str:
    """Three digits (of thousands all), with a true minus sign, and none before zero."""
    digits = ".0f" if 1000 <= abs(x) < 1e6 else ".3g"
    text = "∞" if abs(x) == float("inf") else f"{abs(x):{digits}}"
    return f"−{text}" if x < 0 and float(f"{x:.3g}") != 0 else text


def equation_text(name: object, value: object) -> str:
    """age = 42."""
    told = number_text(value) if isinstance(value, int | float) else shown(value, 20)
    return f"{shown(name, 20)} = {told}"


def fixed_text(equations: Sequence[str]) -> str:
    """What is held fixed, for the line below the title; of many the first."""
    return f"at {few_text(equations)}" if equations else ""


def few_text(equations: Sequence[str]) -> str:
    """Some equations; of many the first, and how many more there are."""
    told = equations[:_FIXED_SHOWN]
    more = len(equations) - len(told)
    return f"{', '.join(told)}{f' and {more} more' if more else ''}"


def write_title(ax: Axes, *lines: str) -> None:
    """A title of one or more lines; empty ones are left out."""
    ax.set_title("\n".join(line for line in lines if line), fontsize="medium", usetex=False)


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Names below and beside; already safe to show."""
    ax.set_xlabel(x, usetex=False)
    ax.set_ylabel(y, usetex=False)


def legend_columns(n: int) -> int:
    """Of so many entries a legend is not higher than a picture."""
    return max(1, -(-n // _LEGEND_ROWS))


def write_legend(
    ax: Axes, handles: Sequence[Any], labels: Sequence[str], *, outside: bool, **kw: Any
) -> None:
    """A legend; beside the axes where the figure is ours, else where there is room within them."""
    corner = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    # matplotlib takes a leading underscore as a wish not to be listed
    told = [f" {label}" if label.startswith("_") else label for label in labels]
    place: dict[str, Any] = corner if outside else {"loc": "best"}
    place["ncols"] = legend_columns(len(told))
    legend = ax.legend(handles, told, **(place | {"fontsize": "small"} | kw))
    for text in legend.get_texts():
        text.set_usetex(False)
