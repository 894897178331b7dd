"""Small public tables to learn and test with, as frames of any eager backend.

Every function takes the name of a narwhals backend ("pandas", "polars" or "pyarrow") and gives
that library's own frame; no other dataframe library is needed on the way.

Short names of sources in the docstrings below:

- Zaki & Meira: M. J. Zaki and W. Meira Jr., *Data Mining and Machine Learning*, chapters 19, 20.
- MSML 603: slides of the course DATA/MSML 603, *Principles of Machine Learning*.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

import narwhals as nw

from sortal.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Frame


__all__ = [
    "discretized_iris",
    "iris",
    "loves_sports",
    "penguins",
    "play_tennis",
    "table_19_3",
    "table_19_4",
    "table_19_5",
    "table_20_1",
]

_Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]

_Columns: TypeAlias = dict[str, list[Any]]

# The bins of Zaki & Meira, Table 19.1: each is closed on the right, so 5.2 is still very short.
_SEPAL_LENGTH_CUTS: Final = (5.2, 6.1, 7.0)

_SEPAL_LENGTH_BINS: Final = ("Very Short", "Short", "Long", "Very Long")


def iris(backend: str = "pandas") -> Frame:
    """150 irises of three species, measured in centimeters.

    Columns: sepal_length, sepal_width, petal_length, petal_width (numbers) and the class,
    species: setosa, versicolor, virginica, 50 rows each, in this order.

    These are the values of the UCI file, which Zaki & Meira use. They are not quite the values
    Fisher published and scikit-learn ships; two setosa rows differ (rows counted from 1):

    ===  ==================  ==================
    row  here (UCI)          Fisher
    ===  ==================  ==================
    35   4.9, 3.1, 1.5, 0.1  4.9, 3.1, 1.5, 0.2
    38   4.9, 3.1, 1.5, 0.1  4.9, 3.6, 1.4, 0.1
    ===  ==================  ==================

    Source: R. A. Fisher (1936), from measurements by E. Anderson; UCI Machine Learning Repository
    (1988), doi:10.24432/C56C76, CC BY 4.0.
    """
    return _load("iris.csv", backend)


def discretized_iris(backend: str = "pandas") -> Frame:
    """The irises with sepal length cut into four bins, and setosa against the rest.

    Columns: sepal_length (Very Short up to 5.2, Short up to 6.1, Long up to 7.0, Very Long above),
    sepal_width (a number, as in `iris`) and the class, species: setosa (50 rows) or other (100).
    Rows are in the order of `iris`.

    Source: the bins are those of Zaki & Meira, Table 19.1 (Example 19.5); computed from `iris`.
    """
    native_backend = _check_backend(backend)
    flowers = _read_columns("iris.csv")
    columns: _Columns = {
        "sepal_length": [_bin_sepal_length(x) for x in flowers["sepal_length"]],
        "sepal_width": flowers["sepal_width"],
        "species": [name if name == "setosa" else "other" for name in flowers["species"]],
    }
    return _build_frame(columns, native_backend).to_native()


def play_tennis(backend: str = "pandas", *, day: bool = False) -> Frame:
    """14 days, their weather, and whether tennis was played.

    Columns: Outlook (Sunny, Overcast, Rain), Temperature (Hot, Mild, Cool), Humidity (High,
    Normal), Wind (Weak, Strong) and the class, PlayTennis: Yes (9 rows) or No (5). With
    ``day=True`` the day's number, Day, comes first; it names the row and is no attribute to
    learn from.

    Source: T. M. Mitchell, *Machine Learning* (1997), after J. R. Quinlan (1986); as in MSML 603.
    """
    return _load("play_tennis.csv", backend, "" if day else "Day")


def loves_sports(backend: str = "pandas") -> Frame:
    """Seven people, what they love and how old they are.

    Columns: LovesOpera, LovesMovies (Yes, No), Age (a whole number of years) and the class,
    LovesSports: Yes (3 rows) or No (4).

    Source: MSML 603, the worked example of Gini impurity and entropy.
    """
    return _load("loves_sports.csv", backend)


def table_19_3(backend: str = "pandas") -> Frame:
    """Six points with an age, a kind of car and a risk.

    Columns: Age (a whole number of years), Car (Sports, Vintage, SUV) and the class, Risk:
    H for high (4 rows) or L for low (2).

    Source: Zaki & Meira, Table 19.3 (chapter 19, Q2).
    """
    return _load("table_19_3.csv", backend)


def table_19_4(backend: str = "pandas", *, instance: bool = False) -> Frame:
    """Nine instances with two binary attributes and a number.

    Columns: a1, a2 (T, F), a3 (a number) and the class, Class: Y (4 rows) or N (5). The number of
    the instance is an identifier, so Instance is given only if asked for.

    Source: Zaki & Meira, Table 19.4 (chapter 19, Q4).
    """
    return _load("table_19_4.csv", backend, "" if instance else "Instance")


def table_19_5(backend: str = "pandas") -> Frame:
    """Eight points of the plane, to be parted by a curve.

    Columns: A, B (numbers) and the class, Class: H (5 rows) or L (3).

    Source: Zaki & Meira, Table 19.5 (chapter 19, Q5).
    """
    return _load("table_19_5.csv", backend)


def table_20_1(backend: str = "pandas") -> Frame:
    """Four points of the plane whose within-class scatter is exactly singular.

    Columns: X1, X2 (numbers) and the class, y: 1 or -1 (whole numbers, two rows each). The
    difference between the two points is the same in both classes, hence the singular scatter.

    Source: Zaki & Meira, Table 20.1 (chapter 20, Q1).
    """
    return _load("table_20_1.csv", backend)


def penguins(backend: str = "pandas") -> Frame:
    """344 penguins of three species, seen near Palmer Station, Antarctica, 2007 to 2009.

    Columns: the class comes first, species: Adelie (152 rows), Gentoo (124), Chinstrap (68); then
    island (Torgersen, Biscoe, Dream), bill_length_mm, bill_depth_mm, flipper_length_mm,
    body_mass_g (numbers), sex (female, male) and year (a whole number).
    Missing values: two rows lack all four measurements, and 11 rows, those two among them, lack the
    sex.

    Source: K. B. Gorman, T. D. Williams and W. R. Fraser (2014), PLoS ONE 9(3), e90081; compiled
    by A. M. Horst, A. P. Hill and K. B. Gorman (2020) as palmerpenguins, CC0.
    """
    return _load("penguins.csv", backend)


def _load(file_name: str, backend: str, left_out: str = "") -> Frame:
    """Read a table of this package into a native frame, without the column left out."""
    native_backend = _check_backend(backend)
    columns = _read_columns(file_name)
    columns.pop(left_out, None)
    return _build_frame(columns, native_backend).to_native()


def _check_backend(backend: str) -> _Backend:
    """The backend's name, known to be one of those allowed."""
    allowed = get_args(_Backend)
    if backend not in allowed:
        names = ", ".join(map(repr, allowed))
        raise ParameterError(f"backend is {backend!r}; it must be one of {names}.")
    return cast("_Backend", backend)


def _read_columns(file_name: str) -> _Columns:
    """The columns of a CSV file; an empty cell is None."""
    path = files("sortal.data") / "tables" / file_name
    names, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return {name: _typed(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}


def _typed(cells: Sequence[str]) -> list[Any]:
    """Whole numbers where all cells are such, else numbers, else words."""
    for kind in (int, float) if all(cells) else (float,):
        with suppress(ValueError):
            return [kind(cell) if cell else None for cell in cells]
    return [cell or None for cell in cells]


def _build_frame(columns: _Columns, backend: _Backend) -> nw.DataFrame[Any]:
    """A frame of these columns.

    No schema is given: the cells are typed already, and before pandas 3 a cast to strings would
    turn a missing value into the word "None".
    """
    return nw.from_dict(columns, backend=backend)


def _bin_sepal_length(length: float) -> str:
    """The bin's name (Zaki & Meira, Table 19.1)."""
    return _SEPAL_LENGTH_BINS[bisect_left(_SEPAL_LENGTH_CUTS, length)]
