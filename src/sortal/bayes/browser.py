"""Bayes' tables and densities for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.browser import BrowserModel, pack
from sortal.data.table import LARGEST

if TYPE_CHECKING:
    from sortal.bayes.model import BayesModel, JointTable
    from sortal.browser import Ends, Packed

_BITS: Final = {
    "offset": "prior",
    "unit": "Bits",
    "amount": "the weight of evidence of each column, in bits",
}


def describe_bayes(model: BayesModel) -> BrowserModel:
    """Tables by column; None where a column has no such table."""
    n_columns = len(model.schema.columns)
    nothing: list[Packed | None] = [None] * n_columns
    tables, mean, tail, variance = (nothing.copy() for _ in range(4))
    ends: list[Ends] = [None] * n_columns
    for place, j in enumerate(model.categories):
        tables[j] = pack(model.tables[place])
    for place, j in enumerate(model.numbers):
        mean[j], variance[j] = pack(model.mean[place]), pack(model.variance[place])
        tail[j] = pack(model.tails[place])
        deviation = np.sqrt(model.variance[place])
        low, high = model.mean[place] - 2 * deviation, model.mean[place] + 2 * deviation
        ends[j] = float(low.min()), float(high.max())
    numbers = {
        "prior": pack(model.prior),
        "tables": tables,
        "mean": mean,
        "tail": tail,
        "variance": variance,
        "constant": [model.numbers[place] for place in model.constant],
        "joint": None if model.joint is None else _joint(model, model.joint),
    }
    columns = tuple(range(n_columns))
    return BrowserModel(
        "bayes", model.schema, columns, tuple(ends), numbers, _BITS, largest=LARGEST
    )


def _joint(model: BayesModel, joint: JointTable) -> dict[str, Any]:
    return {
        "places": [model.categories[place] for place in joint.places],
        "codes": joint.codes.tolist(),
        "weight": pack(joint.weight),
        "classWeight": pack(joint.class_weight),
        "alpha": joint.alpha,
    }
