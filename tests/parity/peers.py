"""What is compared with R's MASS and scikit-learn: tables, priors, ways to divide."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pytest
import sklearn
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Table: TypeAlias = tuple[Floats, NDArray[np.str_]]

VERSION = tuple(int(part) for part in re.findall(r"\d+", sklearn.__version__)[:3])
# what scikit-learn divides by
COVARIANCE: Literal["mle", "unbiased"] = "mle" if VERSION >= (1, 9, 1) else "unbiased"

every_table = pytest.mark.parametrize("name", ["iris", "penguins", "unequal"])
every_prior = pytest.mark.parametrize("prior", ["empirical", "equal", "skewed"])
every_method = pytest.mark.parametrize(
    ("method", "covariance"), [("moment", "unbiased"), ("mle", "mle")]
)


@cache
def frozen(name: str) -> dict[str, Any]:
    """The numbers of R; `tools/parity` has what wrote them."""
    text = Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
