"""Types that many modules name: arrays by what they hold, and what users may give."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoSeries

Float: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
Codes: TypeAlias = NDArray[np.int32]
Counts: TypeAlias = NDArray[np.int64]

# Data as JSON has it.
Plain: TypeAlias = "str | bool | int | float | Sequence[Plain] | Mapping[str, Plain] | None"

# --- What users give -----------------------------------------------------------------------------

# A data frame of the library that was asked for, which only the user knows.
Frame: TypeAlias = Any
Label: TypeAlias = Hashable
TableLike: TypeAlias = "IntoDataFrame | ArrayLike"
LabelsLike: TypeAlias = "IntoSeries | ArrayLike | str"
# keys of any kind: to a type checker, a dict by words is no mapping by all that can be a key
PriorsLike: TypeAlias = ArrayLike | Mapping[Any, float] | None
CostsLike: TypeAlias = ArrayLike | Mapping[Any, float] | None
ClassWeight: TypeAlias = Mapping[Any, float] | str | None
CategoricalFeatures: TypeAlias = str | Sequence[str] | Sequence[int] | Sequence[bool] | None
