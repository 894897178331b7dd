"""Types that many modules name: arrays by what they hold, and what users may give."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

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

Label: TypeAlias = Hashable
TableLike: TypeAlias = "IntoDataFrame | ArrayLike"
LabelsLike: TypeAlias = "IntoSeries | ArrayLike | str"
PriorsLike: TypeAlias = ArrayLike | Mapping[Label, float] | None
CostsLike: TypeAlias = ArrayLike | None
ClassWeight: TypeAlias = Mapping[Label, float] | str | None
CategoricalFeatures: TypeAlias = str | Sequence[str] | Sequence[int] | Sequence[bool] | None
